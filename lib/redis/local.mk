# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# An index in Redis.

EXTRA_DIST += doc/redis.md lib/redis/libsimidx-redis.map lib/redis/rd_script.lua
if HAVE_REDIS
noinst_LTLIBRARIES += lib/redis/librd.la
lib_LTLIBRARIES += lib/redis/libsimidx-redis.la
include_HEADERS += include/simidx_redis.h
nodist_pkgconfig_DATA += lib/redis/libsimidx-redis.pc
engine_libraries += lib/redis/libsimidx-redis.la
redis_libs = lib/redis/librd.la $(HIREDIS_LIBS)
engine_libs += $(redis_libs)
endif

# The script as strings of C.
lib/redis/rd_script.inc: lib/redis/rd_script.lua
	$(AM_V_GEN)mkdir -p $(@D) && $(SED) -e '/^ *--/d; s/[\\"]/\\&/g; s/.*/"&\\n"/' \
		$(top_srcdir)/lib/redis/rd_script.lua >$@.tmp && mv $@.tmp $@
CLEANFILES += lib/redis/rd_script.inc
$(lib_redis_librd_la_OBJECTS): lib/redis/rd_script.inc

lib_redis_librd_la_SOURCES = \
	lib/redis/rd_check.c \
	lib/redis/rd_check.h \
	lib/redis/rd_engine.c \
	lib/redis/rd_index.c \
	lib/redis/rd_index.h \
	lib/redis/rd_link.c \
	lib/redis/rd_link.h \
	lib/redis/rd_open.c \
	lib/redis/rd_open.h \
	lib/redis/rd_read.c \
	lib/redis/rd_read.h \
	lib/redis/rd_scan.c \
	lib/redis/rd_scan.h \
	lib/redis/rd_script.c \
	lib/redis/rd_script.h \
	lib/redis/rd_tls.c \
	lib/redis/rd_tls.h \
	lib/redis/rd_uri.c \
	lib/redis/rd_uri.h \
	lib/redis/rd_write.c \
	lib/redis/rd_write.h
lib_redis_librd_la_CPPFLAGS = $(AM_CPPFLAGS) -I$(top_builddir)/lib/redis -I$(top_srcdir)/lib/redis \
	$(HIREDIS_CFLAGS)
lib_redis_librd_la_CFLAGS = $(SX_CFLAGS) -pthread -fvisibility=hidden

# The rules for -version-info are those of libsimidx (lib/local.mk).
lib_redis_libsimidx_redis_la_SOURCES =
lib_redis_libsimidx_redis_la_LIBADD = lib/redis/librd.la lib/libsimidx.la $(HIREDIS_LIBS)
lib_redis_libsimidx_redis_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/lib/redis/libsimidx-redis.map
EXTRA_lib_redis_libsimidx_redis_la_DEPENDENCIES = lib/redis/libsimidx-redis.map

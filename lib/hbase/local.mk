# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# An index in HBase: C++, as Thrift is. Calls of the gateway are made by the compiler thrift.

EXTRA_DIST += doc/hbase.md doc/hbase-design.md doc/hbase-load.md lib/hbase/hbase.thrift lib/hbase/libsimidx-hbase.map
if HAVE_HBASE
noinst_LTLIBRARIES += lib/hbase/libhb-gen.la lib/hbase/libhb.la
lib_LTLIBRARIES += lib/hbase/libsimidx-hbase.la
include_HEADERS += include/simidx_hbase.h
nodist_pkgconfig_DATA += lib/hbase/libsimidx-hbase.pc
engine_libraries += lib/hbase/libsimidx-hbase.la
hbase_libs = lib/hbase/libhb.la $(THRIFT_LIBS) $(OPENSSL_LIBS) -lstdc++
engine_libs += $(hbase_libs)
endif

hbase_cppflags = $(AM_CPPFLAGS) -I$(top_builddir)/lib/hbase/gen -I$(top_srcdir)/lib/hbase \
	$(THRIFT_CFLAGS) $(OPENSSL_CFLAGS) $(XXHASH_CFLAGS)
hbase_cxxflags = -std=c++17 $(SX_CXXFLAGS) -pthread -fvisibility=hidden
hbase_generated = \
	lib/hbase/gen/Gateway.cpp \
	lib/hbase/gen/Gateway.h \
	lib/hbase/gen/hbase_types.cpp \
	lib/hbase/gen/hbase_types.h

lib/hbase/gen/stamp: lib/hbase/hbase.thrift
	$(AM_V_GEN)mkdir -p $(@D) && $(THRIFT) --gen cpp:no_skeleton,moveable_types -out $(@D) \
		$(top_srcdir)/lib/hbase/hbase.thrift >/dev/null && touch $@
$(hbase_generated): lib/hbase/gen/stamp
	@:
CLEANFILES += $(hbase_generated) lib/hbase/gen/stamp

# Its warnings are not ours to mend.
nodist_lib_hbase_libhb_gen_la_SOURCES = $(hbase_generated)
lib_hbase_libhb_gen_la_CPPFLAGS = $(hbase_cppflags)
lib_hbase_libhb_gen_la_CXXFLAGS = $(hbase_cxxflags) -w
$(lib_hbase_libhb_gen_la_OBJECTS) $(lib_hbase_libhb_la_OBJECTS): lib/hbase/gen/stamp

lib_hbase_libhb_la_SOURCES = \
	lib/hbase/hb_add.cc \
	lib/hbase/hb_check.cc \
	lib/hbase/hb_check.hh \
	lib/hbase/hb_check_damage.cc \
	lib/hbase/hb_check_writers.cc \
	lib/hbase/hb_engine.cc \
	lib/hbase/hb_engine.hh \
	lib/hbase/hb_failure.cc \
	lib/hbase/hb_failure.hh \
	lib/hbase/hb_lease.cc \
	lib/hbase/hb_open.cc \
	lib/hbase/hb_pool.cc \
	lib/hbase/hb_pool.hh \
	lib/hbase/hb_read.cc \
	lib/hbase/hb_rows.cc \
	lib/hbase/hb_rows.hh \
	lib/hbase/hb_store.cc \
	lib/hbase/hb_store.hh \
	lib/hbase/hb_tls.cc \
	lib/hbase/hb_tls.hh \
	lib/hbase/hb_uri.cc \
	lib/hbase/hb_uri.hh \
	lib/hbase/hb_wire.cc \
	lib/hbase/hb_wire.hh \
	lib/hbase/hb_write.cc \
	lib/hbase/hb_writer.cc
lib_hbase_libhb_la_CPPFLAGS = $(hbase_cppflags)
lib_hbase_libhb_la_CXXFLAGS = $(hbase_cxxflags)
lib_hbase_libhb_la_LIBADD = lib/hbase/libhb-gen.la

# The rules for -version-info are those of libsimidx (lib/local.mk).
lib_hbase_libsimidx_hbase_la_SOURCES =
lib_hbase_libsimidx_hbase_la_LIBADD = lib/hbase/libhb.la lib/libsimidx.la $(THRIFT_LIBS) \
	$(OPENSSL_LIBS) -lstdc++
lib_hbase_libsimidx_hbase_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/lib/hbase/libsimidx-hbase.map
EXTRA_lib_hbase_libsimidx_hbase_la_DEPENDENCIES = lib/hbase/libsimidx-hbase.map

# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# Which rows are near to earlier ones. Without ICU the tool alone has it: texts are refused there.

EXTRA_DIST += lib/dedup/libsimidx-dedup.map
noinst_LTLIBRARIES += lib/dedup/libsd.la
if HAVE_TEXT
lib_LTLIBRARIES += lib/dedup/libsimidx-dedup.la
include_HEADERS += include/simidx_dedup.h
nodist_pkgconfig_DATA += lib/dedup/libsimidx-dedup.pc
else
EXTRA_DIST += include/simidx_dedup.h
endif

lib_dedup_libsd_la_SOURCES = \
	lib/dedup/sd_against.c \
	lib/dedup/sd_against.h \
	lib/dedup/sd_ahead.c \
	lib/dedup/sd_ahead.h \
	lib/dedup/sd_compare.c \
	lib/dedup/sd_compare.h \
	lib/dedup/sd_decide.c \
	lib/dedup/sd_decide.h \
	lib/dedup/sd_dedup.c \
	lib/dedup/sd_first.c \
	lib/dedup/sd_first.h \
	lib/dedup/sd_kept.c \
	lib/dedup/sd_kept.h \
	lib/dedup/sd_known.c \
	lib/dedup/sd_known.h \
	lib/dedup/sd_note.c \
	lib/dedup/sd_note.h \
	lib/dedup/sd_pack.c \
	lib/dedup/sd_pack.h \
	lib/dedup/sd_remember.c \
	lib/dedup/sd_remember.h \
	lib/dedup/sd_row.c \
	lib/dedup/sd_row.h \
	lib/dedup/sd_seen.c \
	lib/dedup/sd_seen.h \
	lib/dedup/sd_seen_file.c \
	lib/dedup/sd_seen_file.h \
	lib/dedup/sd_set_sketch.c \
	lib/dedup/sd_set_sketch.h \
	lib/dedup/sd_shingles.c \
	lib/dedup/sd_shingles.h \
	lib/dedup/sd_spill.c \
	lib/dedup/sd_spill.h \
	lib/dedup/sd_state.h \
	lib/dedup/sd_texts.c \
	lib/dedup/sd_texts.h
lib_dedup_libsd_la_CPPFLAGS = $(lib_cppflags) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS)
lib_dedup_libsd_la_CFLAGS = $(lib_cflags)
lib_dedup_libsd_la_LIBADD = $(ZLIB_LIBS) $(ZSTD_LIBS)

# The rules for -version-info are those of libsimidx (lib/local.mk).
lib_dedup_libsimidx_dedup_la_SOURCES =
lib_dedup_libsimidx_dedup_la_LIBADD = lib/dedup/libsd.la lib/libsx-base.la \
	lib/text/libsimidx-text.la lib/libsimidx.la
lib_dedup_libsimidx_dedup_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/lib/dedup/libsimidx-dedup.map
EXTRA_lib_dedup_libsimidx_dedup_la_DEPENDENCIES = lib/dedup/libsimidx-dedup.map

# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# Built by `make bench`, and by the test that runs each once with little data.
benchmarks = bench/bn_index$(EXEEXT)
EXTRA_PROGRAMS += bench/bn_index
bench_bn_index_SOURCES = bench/bn_index.c bench/bn_util.c bench/bn_util.h
bench_bn_index_LDADD = lib/libsimidx.la -lm

if HAVE_TEXT
benchmarks += bench/bn_text$(EXEEXT)
EXTRA_PROGRAMS += bench/bn_text
endif
bench_bn_text_SOURCES = bench/bn_text.c
bench_bn_text_CPPFLAGS = $(AM_CPPFLAGS) $(ICU_CFLAGS)
bench_bn_text_LDADD = lib/text/libsimidx-text.la lib/libsimidx.la $(ICU_LIBS)

bench: $(benchmarks)
.PHONY: bench

EXTRA_DIST += bench/README.md
CLEANFILES += $(benchmarks)

# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# Built by `make bench`, and by the test that runs each once with little data.
EXTRA_PROGRAMS += bench/bn_index
bench_bn_index_SOURCES = bench/bn_index.c
bench_bn_index_LDADD = lib/libsimidx.la -lm

bench: bench/bn_index$(EXEEXT)
.PHONY: bench

EXTRA_DIST += bench/README.md
CLEANFILES += bench/bn_index$(EXEEXT)

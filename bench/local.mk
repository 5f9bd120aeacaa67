# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# Built by `make bench`, and by the test that runs each once with little data.
bench_programs = \
	bench/bn_check bench/bn_covers bench/bn_index bench/bn_live bench/bn_pairs bench/bn_planner bench/bn_rows \
	bench/bn_search bench/bn_write
if HAVE_HBASE
bench_programs += bench/bn_hbase
endif
if HAVE_REDIS
bench_programs += bench/bn_redis
endif
if HAVE_TEXT
bench_programs += bench/bn_columns bench/bn_text
if HAVE_JSON
if HAVE_ZSTD
bench_programs += bench/bn_dedup bench/bn_dups bench/bn_if_new bench/bn_judge bench/bn_label bench/bn_quality
endif
endif
endif
EXTRA_PROGRAMS += $(bench_programs)

EXTRA_LIBRARIES += bench/libbench.a
bench_libbench_a_SOURCES = \
	bench/bn_arrays.c \
	bench/bn_machine.c \
	bench/bn_near.c \
	bench/bn_near.h \
	bench/bn_options.c \
	bench/bn_options.h \
	bench/bn_own.c \
	bench/bn_own.h \
	bench/bn_pass.c \
	bench/bn_pass.h \
	bench/bn_report.c \
	bench/bn_report.h \
	bench/bn_rival.c \
	bench/bn_rival.h \
	bench/bn_sets.c \
	bench/bn_sets.h \
	bench/bn_util.c \
	bench/bn_util.h

bench_bn_check_SOURCES = bench/bn_check.c
bench_bn_check_LDADD = bench/libbench.a lib/libsimidx.la

bench_bn_covers_SOURCES = bench/bn_covers.c
bench_bn_covers_CPPFLAGS = $(AM_CPPFLAGS) $(lib_cppflags)
bench_bn_covers_LDADD = bench/libbench.a lib/libsx-core.la -lm

bench_bn_index_SOURCES = bench/bn_index.c
bench_bn_index_LDADD = bench/libbench.a lib/libsimidx.la -lm

bench_bn_search_SOURCES = \
	bench/bn_naive.c \
	bench/bn_peer.c \
	bench/bn_scan.c \
	bench/bn_search.c
bench_bn_search_LDADD = bench/libbench.a lib/libsimidx.la

bench_bn_hbase_SOURCES = \
	bench/bn_engine.c \
	bench/bn_engine.h \
	bench/bn_hbase.c \
	bench/bn_hbase_rows.cc \
	bench/bn_hbase_rows.h
bench_bn_hbase_CPPFLAGS = $(hbase_cppflags)
bench_bn_hbase_CXXFLAGS = $(hbase_cxxflags)
bench_bn_hbase_LDADD = bench/libbench.a $(hbase_libs) lib/libsx-core.la
$(bench_bn_hbase_OBJECTS): lib/hbase/gen/stamp

bench_bn_redis_SOURCES = bench/bn_engine.c bench/bn_engine.h bench/bn_redis.c
bench_bn_redis_CPPFLAGS = $(AM_CPPFLAGS) $(HIREDIS_CFLAGS)
bench_bn_redis_LDADD = bench/libbench.a $(redis_libs) lib/libsx-core.la

bench_bn_live_SOURCES = \
	bench/bn_live.c \
	bench/bn_stream.c \
	bench/bn_stream.h
bench_bn_live_LDADD = bench/libbench.a lib/libsimidx.la

bench_bn_write_SOURCES = \
	bench/bn_write.c \
	bench/bn_write.h \
	bench/bn_write_lmdb.c \
	bench/bn_write_own.c \
	bench/bn_write_redis.c
bench_bn_write_CPPFLAGS = $(AM_CPPFLAGS) $(SQLITE_CFLAGS)
bench_bn_write_LDADD = bench/libbench.a lib/libsimidx.la $(LMDB_LIBS) $(SQLITE_LIBS)
if HAVE_SQLITE
bench_bn_write_SOURCES += bench/bn_write_sqlite.c
endif

bench_bn_pairs_SOURCES = \
	bench/bn_pairs.c \
	bench/bn_pairs.h \
	bench/bn_pairs_rivals.c
bench_bn_pairs_CPPFLAGS = $(AM_CPPFLAGS) $(lib_cppflags)
bench_bn_pairs_LDADD = bench/libbench.a lib/libsx-core.la

bench_bn_planner_SOURCES = bench/bn_planner.c
bench_bn_planner_CPPFLAGS = $(AM_CPPFLAGS) $(lib_cppflags)
bench_bn_planner_LDADD = bench/libbench.a lib/libsx-core.la

bench_bn_columns_SOURCES = bench/bn_columns.c
bench_bn_columns_LDADD = bench/libbench.a lib/dedup/libsimidx-dedup.la lib/text/libsimidx-text.la \
	lib/libsimidx.la

bench_bn_rows_SOURCES = bench/bn_rows.c
bench_bn_rows_LDADD = bench/libbench.a lib/libsimidx.la -lm

bench_bn_text_SOURCES = bench/bn_text.c
bench_bn_text_CPPFLAGS = $(AM_CPPFLAGS) $(ICU_CFLAGS)
bench_bn_text_LDADD = bench/libbench.a lib/text/libsimidx-text.la lib/libsimidx.la $(ICU_LIBS)

bench_quality_cppflags = \
	$(AM_CPPFLAGS) -I$(top_srcdir)/bench \
	$(ICU_CFLAGS) $(JANSSON_CFLAGS) $(ZSTD_CFLAGS) $(CRYPTO_CFLAGS)
bench_quality_libs = \
	bench/libbench.a lib/text/libsimidx-text.la lib/libsimidx.la \
	$(ICU_LIBS) $(JANSSON_LIBS) $(ZSTD_LIBS) $(CRYPTO_LIBS) -lm

bench_quality_common = \
	bench/quality/qu_reference.c \
	bench/quality/qu_set.c \
	bench/quality/qu_set.h \
	bench/quality/qu_sketch.c \
	bench/quality/qu_sketch.h

bench_bn_label_SOURCES = $(bench_quality_common) bench/quality/bn_label.c
bench_bn_label_CPPFLAGS = $(bench_quality_cppflags)
bench_bn_label_LDADD = $(bench_quality_libs)

bench_bn_dedup_SOURCES = \
	$(bench_quality_common) \
	bench/quality/bn_dedup.c \
	bench/quality/qu_jaccard.c \
	bench/quality/qu_jaccard.h \
	bench/quality/qu_options.c \
	bench/quality/qu_options.h \
	bench/quality/qu_score.c \
	bench/quality/qu_score.h
bench_bn_dedup_CPPFLAGS = $(bench_quality_cppflags) -I$(top_srcdir)/lib
bench_bn_dedup_LDADD = lib/dedup/libsd.la lib/libsx-base.la $(bench_quality_libs)

bench_bn_dups_SOURCES = bench/quality/bn_dups.c
bench_bn_dups_CPPFLAGS = $(bench_quality_cppflags) -I$(top_srcdir)/lib
bench_bn_dups_LDADD = lib/dedup/libsd.la lib/libsx-base.la $(bench_quality_libs)

bench_bn_judge_SOURCES = \
	$(bench_quality_common) \
	bench/quality/bn_judge.c \
	bench/quality/qu_jaccard.c \
	bench/quality/qu_jaccard.h \
	bench/quality/qu_score.c \
	bench/quality/qu_score.h
bench_bn_judge_CPPFLAGS = $(bench_quality_cppflags) -I$(top_srcdir)/lib
bench_bn_judge_LDADD = lib/dedup/libsd.la lib/libsx-base.la $(bench_quality_libs)

bench_bn_if_new_SOURCES = \
	$(bench_quality_common) \
	bench/quality/bn_if_new.c \
	bench/quality/qu_options.c \
	bench/quality/qu_options.h \
	bench/quality/qu_score.c \
	bench/quality/qu_score.h
bench_bn_if_new_CPPFLAGS = $(bench_quality_cppflags)
bench_bn_if_new_LDADD = $(bench_quality_libs)

bench_bn_quality_SOURCES = \
	$(bench_quality_common) \
	bench/quality/bn_quality.c \
	bench/quality/qu_chance.c \
	bench/quality/qu_chance.h \
	bench/quality/qu_cosine.c \
	bench/quality/qu_cosine.h \
	bench/quality/qu_report.c \
	bench/quality/qu_report.h \
	bench/quality/qu_score.c \
	bench/quality/qu_score.h \
	bench/quality/qu_search.c \
	bench/quality/qu_search.h \
	bench/quality/qu_strangers.c \
	bench/quality/qu_strangers.h
bench_bn_quality_CPPFLAGS = $(bench_quality_cppflags)
bench_bn_quality_LDADD = $(bench_quality_libs)
bench_bn_quality_LDADD += $(engine_libraries)

bench: $(bench_programs:=$(EXEEXT))
.PHONY: bench

EXTRA_DIST += \
	bench/README.md \
	bench/figures.awk \
	bench/figures.goals \
	bench/figures.sh \
	bench/files.sh \
	bench/latency.awk \
	bench/latency.sh \
	bench/loc.sh \
	bench/mih.sh \
	bench/mih/Cargo.toml \
	bench/mih/src/main.rs \
	bench/peers/1e0ng-simhash.py \
	bench/peers/dedup.py \
	bench/peers/faiss.cc \
	bench/peers/minhash.py \
	bench/peers/peer.c \
	bench/peers/peer.h \
	bench/peers/redis.c \
	bench/peers/search.sh \
	bench/peers/sqlite.c \
	bench/peers/table.awk \
	bench/peers/text-dedup.py \
	bench/python.py \
	bench/second_day.py \
	bench/quality/make_set.py \
	bench/quality/plot.awk \
	bench/results/README.md \
	bench/results/latency.jsonl \
	bench/results/peers.jsonl \
	bench/svg.awk
CLEANFILES += $(bench_programs:=$(EXEEXT))

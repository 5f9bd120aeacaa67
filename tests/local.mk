# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# Exported to every test. Scripts skip what needs a part that was not built.
AM_TESTS_ENVIRONMENT = \
	SX_SRCDIR='$(abs_top_srcdir)'; \
	SX_BUILDDIR='$(abs_top_builddir)'; \
	SX_CC='$(CC)'; \
	SX_CXX='$(CXX)'; \
	SX_CFLAGS='$(SX_CFLAGS) $(CFLAGS)'; \
	SX_MAKE='$(MAKE)'; \
	SX_NM='$(NM)'; \
	SX_PKG_CONFIG='$(PKG_CONFIG)'; \
	SX_VERSION='$(VERSION)'; \
	SX_ENGINES='$(SX_ENGINES)'; \
	export SX_SRCDIR SX_BUILDDIR SX_CC SX_CXX SX_CFLAGS SX_MAKE SX_NM SX_PKG_CONFIG SX_VERSION SX_ENGINES;
if HAVE_TEXT
AM_TESTS_ENVIRONMENT += SX_TEXT=1; export SX_TEXT;
endif
if HAVE_STEMMER
AM_TESTS_ENVIRONMENT += SX_STEMMER=1; export SX_STEMMER;
endif
if HAVE_JSON
AM_TESTS_ENVIRONMENT += SX_JSON=1; export SX_JSON;
endif
if HAVE_ZLIB
AM_TESTS_ENVIRONMENT += SX_ZLIB=1; export SX_ZLIB;
endif
if HAVE_ZSTD
AM_TESTS_ENVIRONMENT += SX_ZSTD=1; export SX_ZSTD;
endif

# Scripts run by their first line.
TEST_EXTENSIONS = .sh .txt
# What hangs fails, and the others go on: seconds that one may take; 0 = any.
TEST_LIMIT = 1200
LOG_COMPILER = timeout --foreground -k 9 $(TEST_LIMIT)
SH_LOG_COMPILER = $(LOG_COMPILER)
TXT_LOG_COMPILER = $(LOG_COMPILER) $(srcdir)/tests/transcripts/run.sh

# ---------------------------------------------------------------------------------------------
# Unit tests: one program, linked with all objects of the libraries; and programs of their own
# where calls of the library are made to fail

if ENABLE_TESTS
check_PROGRAMS += tests/unit/run tests/engine/oracle tests/engine/load tests/engine/query \
	tests/engine/dedup tests/fault/each_call tests/fault/exchanged \
	tests/fault/failed_write tests/fault/live_kill tests/fault/live_merge \
	tests/fault/live_processes tests/fault/merge_kill tests/fault/no_memory tests/fault/older_kill \
	tests/fault/open_close
TESTS += tests/unit/run tests/engine/oracle tests/fault/each_call tests/fault/exchanged tests/fault/failed_write \
	tests/fault/live_kill tests/fault/live_merge tests/fault/live_processes \
	tests/fault/merge_kill tests/fault/no_memory tests/fault/older_kill tests/fault/open_close
check_PROGRAMS += tests/fault/damage
TESTS += tests/fault/damage
endif

if CHECK_IS_MISSING
check_DATA += check-is-missing
check-is-missing:
	@echo 'make check: Check 0.13 or later was not found, so the unit tests cannot run.' >&2; \
	echo 'Install it (Debian: check) and configure again, or leave them out: --disable-tests.' >&2; \
	exit 1
endif

tests_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/lib -I$(top_srcdir)/tests $(CHECK_CFLAGS)

if ENABLE_TESTS
check_LIBRARIES += tests/libsupport.a
endif
tests_libsupport_a_SOURCES = \
	tests/support/sxt.c \
	tests/support/sxt.h \
	tests/support/sxt_assert.h \
	tests/support/sxt_batch.h \
	tests/support/sxt_block.h \
	tests/support/sxt_block_rows.h \
	tests/support/sxt_cover.c \
	tests/support/sxt_cover.h \
	tests/support/sxt_entries.c \
	tests/support/sxt_entries.h \
	tests/support/sxt_fixture.c \
	tests/support/sxt_fixture.h \
	tests/support/sxt_fresh.h \
	tests/support/sxt_index.h \
	tests/support/sxt_join.c \
	tests/support/sxt_join.h \
	tests/support/sxt_kill.c \
	tests/support/sxt_kill.h \
	tests/support/sxt_live.c \
	tests/support/sxt_live.h \
	tests/support/sxt_live_content.c \
	tests/support/sxt_lmdb.h \
	tests/support/sxt_live_search.c \
	tests/support/sxt_load.c \
	tests/support/sxt_load.h \
	tests/support/sxt_lookup.h \
	tests/support/sxt_main.c \
	tests/support/sxt_model.c \
	tests/support/sxt_model.h \
	tests/support/sxt_near.h \
	tests/support/sxt_nosync.c \
	tests/support/sxt_plan.h \
	tests/support/sxt_proc.c \
	tests/support/sxt_proc.h \
	tests/support/sxt_query.c \
	tests/support/sxt_query.h \
	tests/support/sxt_repair.c \
	tests/support/sxt_repair.h \
	tests/support/sxt_search.h \
	tests/support/sxt_store.h \
	tests/support/sxt_struct.h \
	tests/support/sxt_table.c \
	tests/support/sxt_table.h \
	tests/support/sxt_table_check.c \
	tests/support/sxt_weights.h
tests_libsupport_a_CPPFLAGS = $(tests_cppflags)

# -u: nothing else would take sxt_nosync.c from the library, as libc has these functions too.
tests_ldflags = $(AM_LDFLAGS) -Wl,-u,fdatasync -Wl,-u,fsync
tests_libs = tests/libsupport.a lib/libsx-core.la $(CHECK_LIBS) -lm

# A new suite is a file in one of these lists. They run in this order, from the lowest layer up.
unit_suites = \
	tests/kernel/kernel_check.c \
	tests/kernel/kernel_check.h \
	tests/unit/t_util.c \
	tests/unit/t_batch_weighted.c \
	tests/unit/t_bits.c \
	tests/unit/t_memtable.c \
	tests/unit/t_near.c \
	tests/unit/t_stop.c \
	tests/unit/t_store.c \
	tests/unit/t_store_model.c \
	tests/unit/t_store_files.c \
	tests/unit/t_store_dirs.c \
	tests/unit/t_store_procs.c \
	tests/unit/t_store_limits.c \
	tests/unit/t_store_threads.c \
	tests/unit/t_verify_forged.c \
	tests/unit/t_write_lock.c \
	tests/unit/t_block.c \
	tests/unit/t_block_hostile.c \
	tests/unit/t_sorter.c \
	tests/unit/t_sketch.c \
	tests/unit/t_page_check.c \
	tests/unit/t_plan.c \
	tests/unit/t_plan_probes.c \
	tests/unit/t_plan_choices.c \
	tests/unit/t_plan_patterns.c \
	tests/unit/t_plan_predict.c \
	tests/unit/t_plan_weights.c \
	tests/unit/t_table.c \
	tests/unit/t_table_merge.c \
	tests/unit/t_table_damage.c \
	tests/unit/t_block_index.c \
	tests/unit/t_block_index_damage.c \
	tests/unit/t_fresh.c \
	tests/unit/t_search_memtable.c \
	tests/unit/t_header.c \
	tests/unit/t_index_oracle.c \
	tests/unit/t_search_beside.c \
	tests/unit/t_search_weighted.c \
	tests/unit/t_search_modes.c \
	tests/unit/t_search_skew.c \
	tests/unit/t_search_damage.c \
	tests/unit/t_repair.c \
	tests/unit/t_repair_claims.c \
	tests/unit/t_repair_cut.c \
	tests/unit/t_repair_fp2.c \
	tests/unit/t_repair_changes.c \
	tests/unit/t_repair_live.c \
	tests/unit/t_repair_options.c \
	tests/unit/t_repair_pages.c \
	tests/unit/t_search_block_index.c \
	tests/unit/t_search_changes.c \
	tests/unit/t_writer_reader.c \
	tests/unit/t_search_explain.c \
	tests/unit/t_index_api.c \
	tests/unit/t_index_args.c \
	tests/unit/t_struct_size.c \
	tests/unit/t_index_batch.c \
	tests/unit/t_index_pages.c \
	tests/unit/t_index_write.c \
	tests/unit/t_merge_due.c \
	tests/unit/t_table_info.c \
	tests/unit/t_index_moved.c \
	tests/unit/t_index_header.c \
	tests/unit/t_index_live.c \
	tests/unit/t_index_meta.c \
	tests/unit/t_index_bad.c \
	tests/unit/t_index_damage.c \
	tests/unit/t_clusters.c \
	tests/unit/t_clusters_order.c \
	tests/unit/t_join.c \
	tests/unit/t_join_delivery.c \
	tests/unit/t_join_memory.c \
	tests/unit/t_loader.c \
	tests/unit/t_loader_labels.c \
	tests/unit/t_live_changes.c \
	tests/unit/t_put_many.c \
	tests/unit/t_live_model.c \
	tests/unit/t_table_exchange.c \
	tests/unit/t_times.c \
	tests/unit/t_times_older.c \
	tests/unit/t_notes.c \
	tests/unit/t_compact.c \
	tests/unit/t_two_writers.c \
	tests/unit/t_open_create.c \
	tests/unit/t_loader_live.c \
	tests/unit/t_loader_procs.c

# Modules of the tools.
unit_tools = \
	tests/unit/t_dd_again.c \
	tests/unit/t_dd_counters.c \
	tests/unit/t_dd_facts.c \
	tests/unit/t_qr_words.c \
	tests/unit/t_tl_number.c \
	tools/query/qr_words.c \
	tests/unit/t_sd_note.c \
	tests/unit/t_sd_first.c \
	tests/unit/t_sd_seen.c \
	tests/unit/t_sd_seen_file.c \
	tests/unit/t_sd_set_sketch.c \
	tests/unit/t_sd_texts.c

unit_text = \
	tests/support/sxt_text.c \
	tests/support/sxt_text.h \
	tests/support/sxt_dedup.c \
	tests/support/sxt_dedup.h \
	tests/unit/t_dedup.c \
	tests/unit/t_dedup_long.c \
	tests/unit/t_dedup_nearest.c \
	tests/unit/t_dedup_refused.c \
	tests/unit/t_dedup_counts.c \
	tests/unit/t_dedup_crowd.c \
	tests/unit/t_dedup_turns.c \
	tests/unit/t_dedup_unsearched.c \
	tests/unit/t_sd_shingles.c \
	tests/unit/t_text.c \
	tests/unit/t_text_ascii.c \
	tests/unit/t_text_long.c \
	tests/unit/t_text_extract.c \
	tests/unit/t_text_hashes.c \
	tests/unit/t_text_least.c \
	tests/unit/t_text_lists.c \
	tests/unit/t_text_profile.c \
	tests/unit/t_text_query.c \
	tests/unit/t_text_struct.c

tests_unit_run_SOURCES = $(unit_suites) $(unit_tools)
tests_unit_run_CPPFLAGS = $(tests_cppflags) -I$(top_srcdir)/tools
tests_unit_run_LDFLAGS = $(tests_ldflags)
tests_unit_run_LDADD = tools/libdedup.a lib/dedup/libsd.la tools/libcommon.a
if HAVE_TEXT
tests_unit_run_SOURCES += $(unit_text)
tests_unit_run_CPPFLAGS += $(ICU_CFLAGS)
tests_unit_run_LDADD += lib/text/libsx-text.la
endif
tests_unit_run_LDADD += $(tests_libs) $(JANSSON_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)

tests_fault_damage_SOURCES = \
	tests/fault/damage.c \
	tests/fault/damage_file.c \
	tests/fault/damage_file.h \
	tests/fault/damage_read.c \
	tests/fault/damage_pages.h \
	tests/fault/damage_run.c \
	tests/fault/damage_run.h \
	tests/fault/damage_sample.c \
	tests/fault/damage_sample.h
tests_fault_damage_CPPFLAGS = $(tests_cppflags)
tests_fault_damage_LDFLAGS = $(tests_ldflags) -Wl,--wrap=mdb_txn_commit
tests_fault_damage_LDADD = $(tests_libs)

tests_fault_each_call_SOURCES = tests/fault/each_call.c
tests_fault_each_call_CPPFLAGS = $(tests_cppflags)
tests_fault_each_call_LDFLAGS = $(tests_ldflags)
tests_fault_each_call_LDADD = $(tests_libs)

# Indexes that engines hold. SIMIDX_TEST_URI=URI runs the suites engine_oracle and engine_twins on another engine.
tests_engine_oracle_SOURCES = \
	tests/engine/crowd.c \
	tests/engine/engines.c \
	tests/engine/engines.h \
	tests/engine/faults.c \
	tests/engine/memory.c \
	tests/engine/memory.h \
	tests/engine/memory_conditions.c \
	tests/engine/memory_file.c \
	tests/engine/memory_store.h \
	tests/engine/memory_write.c \
	tests/engine/older.c \
	tests/engine/oracle.c \
	tests/engine/rejudged.c \
	tests/engine/sides.c \
	tests/engine/sides.h \
	tests/engine/subject.c \
	tests/engine/subject.h \
	tests/engine/twins.c
tests_engine_oracle_CPPFLAGS = $(tests_cppflags)
tests_engine_oracle_LDFLAGS = $(tests_ldflags)
tests_engine_oracle_LDADD = $(tests_libs) $(engine_libs)

# The tools with the engine in memory.
engine_tool = \
	tests/engine/memory.c \
	tests/engine/memory.h \
	tests/engine/memory_conditions.c \
	tests/engine/memory_file.c \
	tests/engine/memory_store.h \
	tests/engine/memory_write.c \
	tests/engine/tool_engines.c
engine_tool_cppflags = $(tests_cppflags) -I$(top_srcdir)/tools
engine_tool_libs = $(tools_libs) tests/libsupport.a lib/libsx-core.la $(CHECK_LIBS)
tests_engine_load_SOURCES = $(engine_tool)
tests_engine_load_CPPFLAGS = $(engine_tool_cppflags)
tests_engine_load_LDADD = tools/libload.a $(engine_tool_libs)
tests_engine_query_SOURCES = $(engine_tool)
tests_engine_query_CPPFLAGS = $(engine_tool_cppflags)
tests_engine_query_LDADD = tools/libquery.a $(engine_tool_libs)
tests_engine_dedup_SOURCES = $(engine_tool) tools/dedup/dd_main.c
tests_engine_dedup_CPPFLAGS = $(engine_tool_cppflags)
tests_engine_dedup_LDADD = tools/libdedup.a lib/dedup/libsd.la $(engine_tool_libs)

tests_fault_exchanged_SOURCES = tests/fault/exchanged.c
tests_fault_exchanged_CPPFLAGS = $(tests_cppflags)
tests_fault_exchanged_LDFLAGS = $(tests_ldflags) -Wl,--wrap=sx_file_check_open,--wrap=sx_store_lock \
	-Wl,--wrap=flock
tests_fault_exchanged_LDADD = $(tests_libs)

tests_fault_failed_write_SOURCES = tests/fault/failed_write.c
tests_fault_failed_write_CPPFLAGS = $(tests_cppflags)
tests_fault_failed_write_LDFLAGS = $(tests_ldflags)
tests_fault_failed_write_LDADD = $(tests_libs)

tests_fault_live_kill_SOURCES = tests/fault/live_kill.c
tests_fault_live_kill_CPPFLAGS = $(tests_cppflags)
tests_fault_live_kill_LDFLAGS = $(tests_ldflags) -Wl,--wrap=mdb_txn_commit
tests_fault_live_kill_LDADD = $(tests_libs)

tests_fault_live_merge_SOURCES = tests/fault/live_merge.c
tests_fault_live_merge_CPPFLAGS = $(tests_cppflags)
tests_fault_live_merge_LDFLAGS = $(tests_ldflags) -Wl,--wrap=sx_store_unlock
tests_fault_live_merge_LDADD = $(tests_libs)

tests_fault_live_processes_SOURCES = tests/fault/live_processes.c
tests_fault_live_processes_CPPFLAGS = $(tests_cppflags)
tests_fault_live_processes_LDFLAGS = $(tests_ldflags)
tests_fault_live_processes_LDADD = $(tests_libs)

tests_fault_merge_kill_SOURCES = tests/fault/merge_kill.c
tests_fault_merge_kill_CPPFLAGS = $(tests_cppflags)
tests_fault_merge_kill_LDFLAGS = $(tests_ldflags) -Wl,--wrap=mdb_txn_commit
tests_fault_merge_kill_LDADD = $(tests_libs)

tests_fault_older_kill_SOURCES = tests/fault/older_kill.c
tests_fault_older_kill_CPPFLAGS = $(tests_cppflags)
tests_fault_older_kill_LDFLAGS = $(tests_ldflags) -Wl,--wrap=mdb_txn_commit
tests_fault_older_kill_LDADD = $(tests_libs)

tests_fault_open_close_SOURCES = tests/fault/open_close.c
tests_fault_open_close_CPPFLAGS = $(tests_cppflags)
tests_fault_open_close_LDFLAGS = $(tests_ldflags) -Wl,--wrap=mdb_env_open,--wrap=mdb_env_close
tests_fault_open_close_LDADD = $(tests_libs)

tests_fault_no_memory_SOURCES = \
	tests/fault/no_memory.c \
	tests/fault/shortage.c \
	tests/fault/shortage.h
tests_fault_no_memory_CPPFLAGS = $(tests_cppflags)
tests_fault_no_memory_LDFLAGS = $(tests_ldflags) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_fault_no_memory_LDADD = $(tests_libs)

# ---------------------------------------------------------------------------------------------
# Calls of the system that fail in the tools. For LD_PRELOAD, so it is only a shared library,
# without sanitizers.

check_LTLIBRARIES += tests/fault/libfail.la
tests_fault_libfail_la_SOURCES = tests/fault/fail.c
tests_fault_libfail_la_CFLAGS = -Wall -Wextra
tests_fault_libfail_la_LDFLAGS = -module -avoid-version -rpath /nowhere
tests_fault_libfail_la_LIBADD = -ldl

TESTS += tests/fault/outcome.sh tests/fault/short_memory.sh
EXTRA_DIST += tests/fault/outcome.sh tests/fault/short_memory.sh

# ---------------------------------------------------------------------------------------------
# The file format: tests/format/README.md

check_PROGRAMS += tests/format/decode tests/format/make_golden
TESTS += tests/format/decode tests/format/golden.sh
EXTRA_DIST += \
	tests/format/README.md \
	tests/format/golden.sh \
	tests/format/golden/bare/data.mdb \
	tests/format/golden/blocks/data.mdb \
	tests/format/golden/deleted/data.mdb \
	tests/format/golden/rows/data.mdb

# Nothing of lib/ here: it stands for a stranger who has only doc/format.md.
tests_format_decode_SOURCES = \
	tests/format/decode.c \
	tests/format/decode.h \
	tests/format/decode_plan.c \
	tests/format/decode_table.c \
	tests/format/golden.h
tests_format_decode_CPPFLAGS = $(AM_CPPFLAGS) $(LMDB_CFLAGS) $(XXHASH_CFLAGS)
tests_format_decode_LDADD = $(LMDB_LIBS) $(XXHASH_LIBS)

tests_format_make_golden_SOURCES = tests/format/make_golden.c tests/format/golden.h
tests_format_make_golden_LDADD = lib/libsimidx.la

# ---------------------------------------------------------------------------------------------
# Kernels of other machines

TESTS += tests/kernel/neon.sh
EXTRA_DIST += tests/kernel/kernel_run.c tests/kernel/neon.sh

# ---------------------------------------------------------------------------------------------
# Scripts

build_tests = \
	tests/build/bench.sh \
	tests/build/bench_large.sh \
	tests/build/check_sh.sh \
	tests/build/claims.sh \
	tests/build/examples.sh \
	tests/build/exports.sh \
	tests/build/headers.sh \
	tests/build/ignored.sh \
	tests/build/install.sh \
	tests/build/layers.sh \
	tests/build/lines.sh \
	tests/build/modules.sh \
	tests/build/paths.sh \
	tests/build/readme.sh \
	tests/build/sizes.sh \
	tests/build/threads.sh \
	tests/build/version.sh

tool_tests = \
	tests/tool/advice.sh \
	tests/tool/advice_guesses.sh \
	tests/tool/advice_inputs.sh \
	tests/tool/advice_typed.sh \
	tests/tool/backup.sh \
	tests/tool/bad_index.sh \
	tests/tool/bad_input.sh \
	tests/tool/binary.sh \
	tests/tool/columns.sh \
	tests/tool/compact.sh \
	tests/tool/compressed.sh \
	tests/tool/bulk.sh \
	tests/tool/bulk_progress.sh \
	tests/tool/bulk_resume.sh \
	tests/tool/bulk_rows.sh \
	tests/tool/bulk_space.sh \
	tests/tool/bulk_text.sh \
	tests/tool/bulk_together.sh \
	tests/tool/create.sh \
	tests/tool/csv.sh \
	tests/tool/csv_texts.sh \
	tests/tool/damaged.sh \
	tests/tool/dedup.sh \
	tests/tool/dedup_against.sh \
	tests/tool/dedup_best.sh tests/tool/dedup_binary.sh \
	tests/tool/dedup_edges.sh \
	tests/tool/dedup_evidence.sh \
	tests/tool/dedup_fps.sh \
	tests/tool/dedup_full.sh \
	tests/tool/dedup_keep.sh \
	tests/tool/dedup_kill.sh \
	tests/tool/dedup_memory.sh tests/tool/dedup_names.sh \
	tests/tool/dedup_notices.sh \
	tests/tool/dedup_output.sh \
	tests/tool/dedup_remember.sh \
	tests/tool/dedup_report.sh \
	tests/tool/dedup_resume.sh \
	tests/tool/dedup_resume_edges.sh \
	tests/tool/dedup_resume_options.sh \
	tests/tool/dedup_seen.sh \
	tests/tool/dedup_stream.sh \
	tests/tool/dedup_summary.sh \
	tests/tool/delete.sh \
	tests/tool/dump.sh \
	tests/tool/empty_texts.sh \
	tests/tool/engine.sh \
	tests/tool/export.sh \
	tests/tool/extractors.sh \
	tests/tool/fields.sh \
	tests/tool/formats.sh \
	tests/tool/found_files.sh \
	tests/tool/full.sh \
	tests/tool/full_disk.sh \
	tests/tool/get.sh \
	tests/tool/guard.sh \
	tests/tool/help.sh \
	tests/tool/idf.sh \
	tests/tool/json_files.sh \
	tests/tool/kill.sh \
	tests/tool/merge_beside.sh \
	tests/tool/mode.sh \
	tests/tool/mode_if_new.sh \
	tests/tool/load_summary.sh \
	tests/tool/looks.sh \
	tests/tool/manual.sh \
	tests/tool/moved.sh \
	tests/tool/moved_load.sh \
	tests/tool/odd_input.sh \
	tests/tool/output.sh \
	tests/tool/pairs.sh \
	tests/tool/plan.sh \
	tests/tool/repair.sh \
	tests/tool/review.sh \
	tests/tool/scan.sh \
	tests/tool/search_modes.sh \
	tests/tool/search_stream.sh \
	tests/tool/search_weights.sh \
	tests/tool/similar.sh \
	tests/tool/static.sh \
	tests/tool/stats.sh \
	tests/tool/slow_stream.sh \
	tests/tool/stop.sh \
	tests/tool/terminal.sh \
	tests/tool/text.sh \
	tests/tool/notes.sh \
	tests/tool/times_load.sh \
	tests/tool/times_query.sh \
	tests/tool/untrusted.sh \
	tests/tool/verify.sh \
	tests/tool/written.sh

# Commands and all that they print; tests/transcripts/run.sh says how they are written.
transcripts = \
	tests/transcripts/dedup-groups.txt \
	tests/transcripts/dedup-odds.txt \
	tests/transcripts/dedup-refusals.txt \
	tests/transcripts/dedup-stream.txt \
	tests/transcripts/full.txt \
	tests/transcripts/get-delete.txt \
	tests/transcripts/help.txt \
	tests/transcripts/load-files.txt \
	tests/transcripts/load-formats.txt \
	tests/transcripts/load-modes.txt \
	tests/transcripts/load-odds.txt \
	tests/transcripts/load-refusals.txt \
	tests/transcripts/load-resume.txt \
	tests/transcripts/pairs-clusters.txt \
	tests/transcripts/query-odds.txt \
	tests/transcripts/review.txt \
	tests/transcripts/search-queries.txt \
	tests/transcripts/search.txt \
	tests/transcripts/stats-verify-copies.txt \
	tests/transcripts/texts.txt \
	tests/transcripts/times.txt

TESTS += $(build_tests) $(tool_tests) $(transcripts) tests/engine/conditions.sh tests/engine/uncommitted.sh \
	tests/unit/word_breaks.sh
EXTRA_DIST += $(build_tests) $(tool_tests) $(transcripts) tests/build/rooms \
	tests/build/sessions.sh \
	tests/engine/conditions.sh tests/engine/uncommitted.sh \
	tests/tool/propose.zsh tests/tool/tool_lib.sh tests/transcripts/run.sh tests/unit/word_breaks.sh

# What the scripts need besides the tools.
check_PROGRAMS += tests/tool/foreign_index tests/tool/linear_scan tests/tool/sequence_rows
tests_tool_foreign_index_LDADD = lib/libsimidx.la

# simidx-query, with something that happens when it has just opened an index.
check_PROGRAMS += tests/tool/moved_query
tests_tool_moved_query_SOURCES = tests/tool/moved_query.c
tests_tool_moved_query_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=simidx_open
tests_tool_moved_query_LDADD = $(tools_simidx_query_LDADD)

# simidx-load, with the same and with something that happens later.
check_PROGRAMS += tests/tool/moved_load
tests_tool_moved_load_SOURCES = tests/tool/moved_load.c tests/tool/moved_query.c
tests_tool_moved_load_CPPFLAGS = $(tools_cppflags)
tests_tool_moved_load_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=simidx_open,--wrap=simidx_get_mark \
	-Wl,--wrap=simidx_loader_add_index,--wrap=tl_text_open_for
tests_tool_moved_load_LDADD = $(tools_simidx_load_LDADD)

# To install, libtool links libraries anew and for a moment puts them in the place of those that
# other tests run with.
tests/build/install.log: $(filter-out tests/build/install.log,$(TEST_LOGS))

# What was not run, and why: whole scripts, and tests of programs.
check-local: check-TESTS
	@for log in $(TEST_LOGS); do \
		sed -n "s|^skipped: |skipped: $${log%.log}: |p" $$log; \
	done | awk '{ print } END { print NR " skipped" }'

# A shell in which scripts run by hand.
test-shell:
	@$(AM_TESTS_ENVIRONMENT) exec "$${SHELL:-/bin/sh}"

# The same tests with SIMIDX_LONG=1, which some of them look at.
check-long:
	SIMIDX_LONG=1 $(MAKE) $(AM_MAKEFLAGS) check TEST_LIMIT=0
.PHONY: check-long test-shell

# ---------------------------------------------------------------------------------------------
# An index in HBase: tests/hbase/README.md

EXTRA_DIST += \
	tests/hbase/Admin.java \
	tests/hbase/README.md \
	tests/hbase/cluster \
	tests/hbase/fake.sh \
	tests/hbase/faults.sh \
	tests/hbase/fetch \
	tests/hbase/gateway_lib.sh \
	tests/hbase/pom.xml \
	tests/hbase/real.sh \
	tests/hbase/transports.sh
if HAVE_HBASE
TESTS += tests/hbase/fake.sh tests/hbase/faults.sh tests/hbase/transports.sh
check_PROGRAMS += tests/hbase/addresses tests/hbase/ask tests/hbase/beside tests/hbase/crash \
	tests/hbase/damage tests/hbase/fake_gateway tests/hbase/left tests/hbase/memory \
	tests/hbase/model tests/hbase/race tests/hbase/unsure tests/hbase/writers
endif

tests_hbase_addresses_SOURCES = tests/hbase/addresses.cc tests/hbase/ht_engine.h
tests_hbase_addresses_CPPFLAGS = $(hbase_test_cppflags) $(hbase_cppflags)
tests_hbase_addresses_CXXFLAGS = $(hbase_cxxflags)
tests_hbase_addresses_LDADD = $(hbase_test_libs)
$(tests_hbase_addresses_OBJECTS): lib/hbase/gen/stamp

tests_hbase_ask_SOURCES = tests/hbase/ask.c tests/hbase/ht_engine.c tests/hbase/ht_engine.h
tests_hbase_ask_CPPFLAGS = $(hbase_test_cppflags)
tests_hbase_ask_LDADD = $(hbase_test_libs)

tests_hbase_beside_SOURCES = \
	tests/hbase/beside.c \
	tests/hbase/ht_engine.c \
	tests/hbase/ht_engine.h \
	tests/hbase/ht_proxy.c \
	tests/hbase/ht_proxy.h \
	tests/hbase/ht_raw.cc \
	tests/hbase/ht_raw.h
tests_hbase_beside_CPPFLAGS = $(hbase_test_cppflags) $(hbase_cppflags)
tests_hbase_beside_CXXFLAGS = $(hbase_cxxflags)
tests_hbase_beside_LDADD = lib/hbase/libhb-gen.la $(hbase_test_libs)
$(tests_hbase_beside_OBJECTS): lib/hbase/gen/stamp

tests_hbase_crash_SOURCES = \
	tests/hbase/crash.c \
	tests/hbase/ht_engine.c \
	tests/hbase/ht_engine.h \
	tests/hbase/ht_proxy.c \
	tests/hbase/ht_proxy.h
tests_hbase_crash_CPPFLAGS = $(hbase_test_cppflags)
tests_hbase_crash_LDADD = $(hbase_test_libs)

tests_hbase_damage_SOURCES = \
	tests/hbase/damage.c \
	tests/hbase/ht_engine.c \
	tests/hbase/ht_engine.h \
	tests/hbase/ht_raw.cc \
	tests/hbase/ht_raw.h
tests_hbase_damage_CPPFLAGS = $(hbase_test_cppflags) $(hbase_cppflags)
tests_hbase_damage_CXXFLAGS = $(hbase_cxxflags)
tests_hbase_damage_LDADD = lib/hbase/libhb-gen.la $(hbase_test_libs)
$(tests_hbase_damage_OBJECTS): lib/hbase/gen/stamp

tests_hbase_fake_gateway_SOURCES = tests/hbase/fake_gateway.cc
tests_hbase_fake_gateway_CPPFLAGS = $(hbase_cppflags)
tests_hbase_fake_gateway_CXXFLAGS = $(hbase_cxxflags)
tests_hbase_fake_gateway_LDADD = lib/hbase/libhb-gen.la $(THRIFT_LIBS) $(OPENSSL_LIBS)
$(tests_hbase_fake_gateway_OBJECTS): lib/hbase/gen/stamp

tests_hbase_left_SOURCES = \
	tests/hbase/ht_engine.c \
	tests/hbase/ht_engine.h \
	tests/hbase/ht_proxy.c \
	tests/hbase/ht_proxy.h \
	tests/hbase/ht_raw.cc \
	tests/hbase/ht_raw.h \
	tests/hbase/left.c
tests_hbase_left_CPPFLAGS = $(hbase_test_cppflags) $(hbase_cppflags)
tests_hbase_left_CXXFLAGS = $(hbase_cxxflags)
tests_hbase_left_LDADD = lib/hbase/libhb-gen.la $(hbase_test_libs)
$(tests_hbase_left_OBJECTS): lib/hbase/gen/stamp

tests_hbase_memory_SOURCES = tests/hbase/ht_engine.c tests/hbase/ht_engine.h tests/hbase/memory.cc
tests_hbase_memory_CPPFLAGS = $(hbase_test_cppflags)
tests_hbase_memory_CXXFLAGS = $(hbase_cxxflags)
tests_hbase_memory_LDADD = $(hbase_test_libs)

tests_hbase_model_SOURCES = tests/hbase/ht_engine.c tests/hbase/ht_engine.h tests/hbase/model.c
tests_hbase_model_CPPFLAGS = $(hbase_test_cppflags)
tests_hbase_model_LDADD = $(hbase_test_libs)

tests_hbase_race_SOURCES = tests/hbase/ht_engine.c tests/hbase/ht_engine.h tests/hbase/race.c
tests_hbase_race_CPPFLAGS = $(hbase_test_cppflags)
tests_hbase_race_LDADD = $(hbase_test_libs)

tests_hbase_unsure_SOURCES = \
	tests/hbase/ht_engine.c \
	tests/hbase/ht_engine.h \
	tests/hbase/ht_proxy.c \
	tests/hbase/ht_proxy.h \
	tests/hbase/ht_raw.cc \
	tests/hbase/ht_raw.h \
	tests/hbase/unsure.c
tests_hbase_unsure_CPPFLAGS = $(hbase_test_cppflags) $(hbase_cppflags)
tests_hbase_unsure_CXXFLAGS = $(hbase_cxxflags)
tests_hbase_unsure_LDADD = lib/hbase/libhb-gen.la $(hbase_test_libs)
$(tests_hbase_unsure_OBJECTS): lib/hbase/gen/stamp

tests_hbase_writers_SOURCES = tests/hbase/ht_engine.c tests/hbase/ht_engine.h tests/hbase/writers.c
tests_hbase_writers_CPPFLAGS = $(hbase_test_cppflags)
tests_hbase_writers_LDADD = $(hbase_test_libs)
hbase_test_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/lib/hbase -I$(top_srcdir)/tests
hbase_test_libs = $(hbase_libs) lib/libsx-core.la

# On a real HBase, if its jars are here.
check-hbase:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS=tests/hbase/real.sh
.PHONY: check-hbase

# ---------------------------------------------------------------------------------------------
# An index in Redis

redis_tests = \
	tests/redis/crash.sh tests/redis/engine.sh tests/redis/faults.sh tests/redis/fleet.sh tests/redis/layout.sh \
	tests/redis/tls.sh
EXTRA_DIST += $(redis_tests) tests/redis/fake.py tests/redis/redis_lib.sh
if HAVE_REDIS
TESTS += $(redis_tests)
endif

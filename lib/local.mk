# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors

# All objects are built once, into libraries that are not installed; the unit tests link these
# and so reach what libsimidx does not export.
noinst_LTLIBRARIES += lib/libsx-base.la lib/libsx-core.la
lib_LTLIBRARIES += lib/libsimidx.la
include_HEADERS += \
	include/simidx.h \
	include/simidx_batch.h \
	include/simidx_check.h \
	include/simidx_engine.h \
	include/simidx_error.h \
	include/simidx_info.h \
	include/simidx_join.h \
	include/simidx_load.h \
	include/simidx_repair.h \
	include/simidx_sketch.h \
	include/simidx_walk.h \
	include/simidx_write.h
nodist_pkgconfig_DATA += lib/libsimidx.pc

lib_cppflags = $(AM_CPPFLAGS) -I$(top_srcdir)/lib
lib_cflags = $(AM_CFLAGS) -fvisibility=hidden

# What libsimidx-text and libsimidx-dedup have a hidden copy of.
lib_libsx_base_la_SOURCES = \
	lib/util/sx_alloc.c \
	lib/util/sx_alloc.h \
	lib/util/sx_bytes.h \
	lib/util/sx_err.c \
	lib/util/sx_err.h \
	lib/util/sx_io.c \
	lib/util/sx_io.h \
	lib/util/sx_pool.c \
	lib/util/sx_pool.h \
	lib/util/sx_spill.c \
	lib/util/sx_spill.h \
	lib/util/sx_struct.h
lib_libsx_base_la_CPPFLAGS = $(lib_cppflags)
lib_libsx_base_la_CFLAGS = $(lib_cflags)

# From the lowest layer up.
lib_libsx_core_la_SOURCES = \
	lib/util/sx_arena.c \
	lib/util/sx_arena.h \
	lib/util/sx_frames.c \
	lib/util/sx_frames.h \
	lib/util/sx_hash.c \
	lib/util/sx_hash.h \
	lib/util/sx_order.h \
	lib/util/sx_sort.c \
	lib/util/sx_sort.h \
	lib/util/sx_sorter.c \
	lib/util/sx_sorter.h \
	lib/util/sx_stop.c \
	lib/util/sx_stop.h \
	lib/util/sx_u64s.h \
	lib/kernel/sx_bits.c \
	lib/kernel/sx_bits.h \
	lib/kernel/sx_kernel.c \
	lib/kernel/sx_kernel.h \
	lib/kernel/sx_kernel_avx2.c \
	lib/kernel/sx_kernel_avx2.h \
	lib/kernel/sx_kernel_avx512.c \
	lib/kernel/sx_kernel_avx512.h \
	lib/kernel/sx_kernel_neon.c \
	lib/kernel/sx_kernel_neon.h \
	lib/kernel/sx_kernel_plain.c \
	lib/kernel/sx_kernel_plain.h \
	lib/kernel/sx_kernel_type.h \
	lib/store/sx_dbi.c \
	lib/store/sx_dbi.h \
	lib/store/sx_dir.c \
	lib/store/sx_dir.h \
	lib/store/sx_env.c \
	lib/store/sx_env.h \
	lib/store/sx_env_copy.c \
	lib/store/sx_env_copy.h \
	lib/store/sx_file_check.c \
	lib/store/sx_file_check.h \
	lib/store/sx_lmdb_pages.h \
	lib/store/sx_lock_file.c \
	lib/store/sx_lock_file.h \
	lib/store/sx_mended.c \
	lib/store/sx_mended.h \
	lib/store/sx_lost_pages.c \
	lib/store/sx_lost_pages.h \
	lib/store/sx_page_check.c \
	lib/store/sx_page_check.h \
	lib/store/sx_page_nodes.c \
	lib/store/sx_page_nodes.h \
	lib/store/sx_pages.c \
	lib/store/sx_pages.h \
	lib/store/sx_store.c \
	lib/store/sx_store.h \
	lib/store/sx_store_handle.h \
	lib/store/sx_txn.c \
	lib/store/sx_txn.h \
	lib/store/sx_write_lock.c \
	lib/store/sx_write_lock.h \
	lib/block/sx_block.c \
	lib/block/sx_block.h \
	lib/block/sx_block_search.c \
	lib/block/sx_block_search.h \
	lib/block/sx_rows.c \
	lib/block/sx_rows.h \
	lib/sketch/sx_sketch.c \
	lib/sketch/sx_sketch.h \
	lib/plan/sx_costs.c \
	lib/plan/sx_costs.h \
	lib/plan/sx_cover.c \
	lib/plan/sx_cover.h \
	lib/plan/sx_cover_table.c \
	lib/plan/sx_cover_table.h \
	lib/plan/sx_patterns.c \
	lib/plan/sx_patterns.h \
	lib/plan/sx_perm.c \
	lib/plan/sx_perm.h \
	lib/plan/sx_plan.c \
	lib/plan/sx_plan.h \
	lib/plan/sx_planner.c \
	lib/plan/sx_predict.c \
	lib/plan/sx_planner.h \
	lib/plan/sx_probes.h \
	lib/plan/sx_weights.c \
	lib/plan/sx_weights.h \
	lib/table/sx_block_index.c \
	lib/table/sx_block_index.h \
	lib/table/sx_block_index_cache.c \
	lib/table/sx_block_index_cache.h \
	lib/table/sx_lookup.c \
	lib/table/sx_lookup.h \
	lib/table/sx_columns.c \
	lib/table/sx_columns.h \
	lib/table/sx_table.c \
	lib/table/sx_table.h \
	lib/table/sx_table_append.c \
	lib/table/sx_table_append.h \
	lib/table/sx_table_merge.c \
	lib/table/sx_table_merge.h \
	lib/table/sx_table_range.c \
	lib/table/sx_table_range.h \
	lib/table/sx_table_walk.c \
	lib/table/sx_table_walk.h \
	lib/fresh/sx_fresh.c \
	lib/fresh/sx_fresh.h \
	lib/fresh/sx_fresh_log.c \
	lib/fresh/sx_fresh_log.h \
	lib/fresh/sx_fresh_query.h \
	lib/fresh/sx_memtable.c \
	lib/fresh/sx_memtable.h \
	lib/fresh/sx_memtable_buckets.c \
	lib/fresh/sx_memtable_buckets.h \
	lib/index/sx_backup.c \
	lib/index/sx_backend.h \
	lib/index/sx_check.c \
	lib/index/sx_doc.h \
	lib/index/sx_documents.c \
	lib/index/sx_documents.h \
	lib/index/sx_header.c \
	lib/index/sx_header.h \
	lib/index/sx_meta.c \
	lib/index/sx_meta.h \
	lib/index/sx_index.c \
	lib/index/sx_index.h \
	lib/index/sx_info.c \
	lib/index/sx_notes.c \
	lib/index/sx_notes.h \
	lib/index/sx_info.h \
	lib/index/sx_schema.c \
	lib/index/sx_schema.h \
	lib/index/sx_snapshot.c \
	lib/index/sx_snapshot.h \
	lib/index/sx_table_info.c \
	lib/index/sx_tables.c \
	lib/index/sx_tables.h \
	lib/index/sx_verify.c \
	lib/index/sx_row_claims.c \
	lib/index/sx_row_claims.h \
	lib/index/sx_verify.h \
	lib/index/sx_version.c \
	lib/index/sx_walk.c \
	lib/index/sx_walk.h \
	lib/local/sx_local.c \
	lib/local/sx_local.h \
	lib/local/sx_local_batch.c \
	lib/local/sx_local_batch.h \
	lib/local/sx_local_find.c \
	lib/local/sx_local_find.h \
	lib/local/sx_local_info.c \
	lib/local/sx_local_info.h \
	lib/local/sx_local_older.c \
	lib/local/sx_local_older.h \
	lib/local/sx_local_reader.c \
	lib/local/sx_local_reader.h \
	lib/local/sx_local_walk.c \
	lib/local/sx_local_walk.h \
	lib/local/sx_local_writer.c \
	lib/local/sx_local_writer.h \
	lib/local/sx_sorted.c \
	lib/local/sx_sorted.h \
	lib/open/sx_check_pages.c \
	lib/open/sx_create.c \
	lib/open/sx_create.h \
	lib/open/sx_holder.c \
	lib/open/sx_holder.h \
	lib/open/sx_open.c \
	lib/open/sx_publish.c \
	lib/open/sx_publish.h \
	lib/remote/sx_engine.c \
	lib/remote/sx_engine.h \
	lib/remote/sx_engine_text.c \
	lib/remote/sx_engine_text.h \
	lib/remote/sx_doc_cache.c \
	lib/remote/sx_doc_cache.h \
	lib/remote/sx_remote.c \
	lib/remote/sx_remote.h \
	lib/remote/sx_remote_batch.c \
	lib/remote/sx_remote_batch.h \
	lib/remote/sx_remote_check.c \
	lib/remote/sx_remote_check.h \
	lib/remote/sx_remote_documents.c \
	lib/remote/sx_remote_documents.h \
	lib/remote/sx_remote_find.c \
	lib/remote/sx_remote_find.h \
	lib/remote/sx_remote_info.c \
	lib/remote/sx_remote_info.h \
	lib/remote/sx_remote_near.c \
	lib/remote/sx_remote_near.h \
	lib/remote/sx_remote_older.c \
	lib/remote/sx_remote_older.h \
	lib/remote/sx_remote_open.c \
	lib/remote/sx_remote_open.h \
	lib/remote/sx_remote_snapshot.c \
	lib/remote/sx_remote_snapshot.h \
	lib/remote/sx_remote_walk.c \
	lib/remote/sx_remote_walk.h \
	lib/remote/sx_remote_writer.c \
	lib/remote/sx_remote_writer.h \
	lib/search/sx_access.c \
	lib/search/sx_access.h \
	lib/search/sx_batch.c \
	lib/search/sx_batch.h \
	lib/search/sx_explain.c \
	lib/search/sx_finding.c \
	lib/search/sx_finding.h \
	lib/search/sx_query.c \
	lib/search/sx_query.h \
	lib/search/sx_reader.c \
	lib/search/sx_reader.h \
	lib/search/sx_search.c \
	lib/search/sx_search.h \
	lib/join/sx_clusters.c \
	lib/join/sx_join.c \
	lib/join/sx_join.h \
	lib/join/sx_join_bucket.c \
	lib/join/sx_join_bucket.h \
	lib/join/sx_join_documents.c \
	lib/join/sx_join_documents.h \
	lib/join/sx_join_find.c \
	lib/join/sx_join_find.h \
	lib/join/sx_join_set.c \
	lib/join/sx_join_set.h \
	lib/join/sx_pairs.c \
	lib/write/sx_ahead.c \
	lib/write/sx_ahead.h \
	lib/write/sx_commit.c \
	lib/write/sx_merge.c \
	lib/write/sx_merge.h \
	lib/write/sx_calls.c \
	lib/write/sx_calls.h \
	lib/write/sx_writer.c \
	lib/write/sx_writer.h \
	lib/write/sx_writer_ask.c \
	lib/write/sx_writer_change.c \
	lib/write/sx_writer_change.h \
	lib/write/sx_writer_older.c \
	lib/load/sx_compact.c \
	lib/load/sx_loader.c \
	lib/load/sx_loader_documents.c \
	lib/load/sx_loader_documents.h \
	lib/load/sx_loader_duplicates.c \
	lib/load/sx_loader_duplicates.h \
	lib/load/sx_loader_repair.c \
	lib/load/sx_loader_repair.h \
	lib/load/sx_loader_space.c \
	lib/load/sx_loader_space.h \
	lib/load/sx_loader_state.c \
	lib/load/sx_loader_state.h \
	lib/load/sx_loader_tables.c \
	lib/load/sx_loader_tables.h \
	lib/repair/sx_repair.c \
	lib/repair/sx_repair_documents.c \
	lib/repair/sx_repair_documents.h \
	lib/repair/sx_repair_fingerprints.c \
	lib/repair/sx_repair_fingerprints.h \
	lib/repair/sx_repair_gather.c \
	lib/repair/sx_repair_gather.h \
	lib/repair/sx_repair_claims.c \
	lib/repair/sx_repair_claims.h \
	lib/repair/sx_repair_notes.c \
	lib/repair/sx_repair_notes.h \
	lib/repair/sx_repair_read.c \
	lib/repair/sx_repair_read.h \
	lib/repair/sx_repair_state.c \
	lib/repair/sx_repair_state.h
lib_libsx_core_la_CPPFLAGS = $(lib_cppflags) $(LMDB_CFLAGS) $(XXHASH_CFLAGS)
lib_libsx_core_la_CFLAGS = $(lib_cflags)
# xxHash is compiled in: lib/util/sx_hash.c.
lib_libsx_core_la_LIBADD = lib/libsx-base.la $(LMDB_LIBS)

# -version-info CURRENT:REVISION:AGE is not the version of the package. At a release:
#   only the code changed                    REVISION + 1
#   functions were added                     CURRENT + 1, REVISION = 0, AGE + 1
#   functions were removed or changed,
#   or a struct without a size field grew    CURRENT + 1, REVISION = 0, AGE = 0
# The SONAME ends in CURRENT - AGE, and so does the name of the node in libsimidx.map.
lib_libsimidx_la_SOURCES =
lib_libsimidx_la_LIBADD = lib/libsx-core.la
lib_libsimidx_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/lib/libsimidx.map
EXTRA_lib_libsimidx_la_DEPENDENCIES = lib/libsimidx.map
EXTRA_DIST += lib/libsimidx.map

if HAVE_TEXT
noinst_LTLIBRARIES += lib/text/libsx-text.la
lib_LTLIBRARIES += lib/text/libsimidx-text.la
include_HEADERS += include/simidx_text.h
nodist_pkgconfig_DATA += lib/text/libsimidx-text.pc
endif

lib_text_libsx_text_la_SOURCES = \
	lib/text/sx_text.c \
	lib/text/sx_text.h \
	lib/text/sx_text_ascii.c \
	lib/text/sx_text_ascii.h \
	lib/text/sx_text_check.c \
	lib/text/sx_text_check.h \
	lib/text/sx_text_features.c \
	lib/text/sx_text_features.h \
	lib/text/sx_text_filter.c \
	lib/text/sx_text_filter.h \
	lib/text/sx_text_grams.c \
	lib/text/sx_text_grams.h \
	lib/text/sx_text_least.c \
	lib/text/sx_text_least.h \
	lib/text/sx_text_lists.c \
	lib/text/sx_text_lists.h \
	lib/text/sx_text_lists_load.c \
	lib/text/sx_text_lists_load.h \
	lib/text/sx_text_normalise.c \
	lib/text/sx_text_normalise.h \
	lib/text/sx_text_open.c \
	lib/text/sx_text_profile.c \
	lib/text/sx_text_profile.h \
	lib/text/sx_text_settings.c \
	lib/text/sx_text_settings.h \
	lib/text/sx_text_stem.c \
	lib/text/sx_text_stem.h \
	lib/text/sx_text_stretch.c \
	lib/text/sx_text_stretch.h \
	lib/text/sx_text_tokens.c \
	lib/text/sx_text_tokens.h \
	lib/text/sx_text_triples.c \
	lib/text/sx_text_triples.h \
	lib/text/sx_text_weight.c \
	lib/text/sx_text_weight.h \
	lib/text/sx_text_words.c \
	lib/text/sx_text_words.h
lib_text_libsx_text_la_CPPFLAGS = $(lib_cppflags) $(ICU_CFLAGS) $(STEMMER_CFLAGS)
lib_text_libsx_text_la_CFLAGS = $(lib_cflags)
lib_text_libsx_text_la_LIBADD = $(ICU_LIBS) $(STEMMER_LIBS)

# The rules for -version-info are those of libsimidx above.
lib_text_libsimidx_text_la_SOURCES =
lib_text_libsimidx_text_la_LIBADD = lib/text/libsx-text.la lib/libsx-base.la lib/libsimidx.la
lib_text_libsimidx_text_la_LDFLAGS = $(AM_LDFLAGS) -version-info 0:0:0 \
	-Wl,--version-script=$(top_srcdir)/lib/text/libsimidx-text.map
EXTRA_lib_text_libsimidx_text_la_DEPENDENCIES = lib/text/libsimidx-text.map
EXTRA_DIST += lib/text/libsimidx-text.map

include lib/dedup/local.mk

# ---------------------------------------------------------------------------------------------
# Engines (CONTRIBUTING.md, "Adding an engine"): each adds what programs that have our objects in them
# link, and its library for others.

engine_libs =
engine_libraries =
include lib/hbase/local.mk
include lib/redis/local.mk

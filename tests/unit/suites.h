/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The suites of the unit tests, from the lowest layer up: X(name) stands for
 * `Suite *suite_name(void)` in t_name.c. Included more than once, so it has no guard. A suite
 * of libsimidx-text stands between the last #if and #endif.
 */

X(util)
X(bits)
X(near)
X(store)
X(store_model)
X(store_files)
X(store_dirs)
X(store_procs)
X(store_limits)
X(store_threads)
X(block)
X(block_hostile)
X(sorter)
X(sketch)
X(plan)
X(plan_probes)
X(plan_choices)
X(plan_patterns)
X(plan_predict)
X(plan_weights)
X(table)
X(table_merge)
X(table_damage)
X(block_index)
X(fresh)
X(search_memtable)
X(header)
X(index_oracle)
X(search_weighted)
X(search_modes)
X(search_damage)
X(search_block_index)
X(search_explain)
X(index_api)
X(index_args)
X(struct_size)
X(index_batch)
X(index_write)
X(index_moved)
X(index_live)
X(index_bad)
X(loader)
X(loader_labels)
X(loader_live)
X(loader_procs)

#if HAVE_TEXT
X(text)
X(text_ascii)
X(text_long)
X(text_extract)
X(text_profile)
X(text_struct)
#endif

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An index and its model, for the suites about searches: random, clustered and equal
 * fingerprints, half of them fresh if wanted.
 */

#ifndef SXT_SEARCH_H
#define SXT_SEARCH_H

#include <stdlib.h>
#include <string.h>

#include "search/sx_reader.h"
#include "support/sxt_query.h"

#define T_SEARCH_LAYOUTS 2
#define T_SEARCH_WIDTHS 4
#define T_SEARCH_COMBINATIONS (SXT_N_PLANS * T_SEARCH_LAYOUTS * T_SEARCH_WIDTHS)

struct t_search {
	const char *plan;
	unsigned bits, layout, flags;
	char *dir, *path;
	sxt_model model;
	size_t merged; /* documents in the tables, the others are fresh */
	sxt_rng rng;
	uint64_t common2; /* all second fingerprints are near to this one */
	simidx *index;
	simidx_reader *reader;
};

static inline uint64_t t_search_mask(unsigned bits)
{
	return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

static inline uint64_t t_search_any(struct t_search *s)
{
	return sxt_rng_u64(&s->rng) & t_search_mask(s->bits);
}

static inline void t_search_add(struct t_search *s, uint64_t fp)
{
	sxt_model_add(&s->model, fp, &s->rng);
	if (s->flags & SIMIDX_CREATE_FP2)
		s->model.at[s->model.n - 1].fp2 = sxt_rng_flip(
			&s->rng, s->common2, 64, (unsigned)sxt_rng_below(&s->rng, 10));
}

/** Combination i of plan, layout and width: a model without documents, and no index yet. */
static inline void t_search_init(struct t_search *s, int i, unsigned flags)
{
	static const unsigned widths[T_SEARCH_WIDTHS] = { 64, 16, 33, 48 };

	memset(s, 0, sizeof(*s));
	s->plan = sxt_plans[i % SXT_N_PLANS];
	s->layout = (unsigned)i / SXT_N_PLANS % T_SEARCH_LAYOUTS;
	s->bits = widths[(unsigned)i / SXT_N_PLANS / T_SEARCH_LAYOUTS % T_SEARCH_WIDTHS];
	s->flags = flags;
	s->dir = sxt_dir_make();
	s->path = sxt_path(s->dir, "index");
	sxt_rng_init(&s->rng, 77000 + (uint64_t)i);
	s->common2 = sxt_rng_u64(&s->rng);
	sxt_model_init(&s->model, s->bits, flags);
}

/** `n` fingerprints: a half random, the others in clusters, some of them equal. */
static inline void t_search_fill(struct t_search *s, size_t n)
{
	uint64_t centre = 0;

	for (size_t i = 0; i < n / 2; i++)
		t_search_add(s, t_search_any(s));
	for (size_t i = 0; i < n - n / 2; i++) {
		if (i % 40 == 0)
			centre = t_search_any(s);
		t_search_add(s, sxt_rng_flip(&s->rng, centre, s->bits, (unsigned)(i % 7)));
	}
	sxt_model_shuffle(&s->model, &s->rng);
}

/** Make the index and a reader. */
static inline void t_search_create(struct t_search *s)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	o.plan = s->plan;
	o.bits = s->bits;
	o.layout = s->layout;
	o.flags = s->flags;
	s->index = sxt_create(s->path, &o);
	s->reader = sxt_reader(s->index);
}

/** Store all documents: the first `merged` in the tables, the others fresh. */
static inline void t_search_store(struct t_search *s, size_t merged)
{
	t_search_create(s);
	s->merged = merged;
	sxt_model_store(&s->model, 0, merged, s->index);
	sxt_merge(s->index);
	if (merged < s->model.n)
		sxt_model_store(&s->model, merged, s->model.n, s->index);
}

static inline void t_search_end(struct t_search *s)
{
	simidx_reader_close(s->reader);
	simidx_close(s->index);
	sxt_model_free(&s->model);
	sxt_remove(s->dir);
	free(s->path);
	free(s->dir);
}

/** A fingerprint near to one that is there, now and then any. */
static inline uint64_t t_search_near(struct t_search *s)
{
	uint64_t fp = t_search_any(s);

	if (s->model.n && sxt_rng_below(&s->rng, 8))
		fp = s->model.at[sxt_rng_below(&s->rng, s->model.n)].fp;
	return sxt_rng_flip(&s->rng, fp, s->bits, (unsigned)sxt_rng_below(&s->rng, 5));
}

/** Have the block indexes made that a reader may have. */
static inline void t_search_make_block_indexes(simidx_reader *reader)
{
	ck_assert_sx(sx_view_renew(&reader->view, &sxt_err), SIMIDX_OK);
	sx_view_expect(&reader->view, SX_BLOCK_INDEX_CACHE_LOOKUPS);
	sx_view_reset(&reader->view);
}

/** Block indexes from the next search on, or none (for the index, and what its readers hold). */
static inline void t_search_block_indexes(struct t_search *s, int on)
{
	s->index->block_index_cache->max_bytes = on ? 0 : SIMIDX_BLOCK_INDEX_NEVER;
	simidx_reader_close(s->reader);
	s->reader = sxt_reader(s->index);
	t_search_make_block_indexes(s->reader);
}

/** Search near to documents, `times` times, and compare with the first n of the model. */
static inline void t_search_some(struct t_search *s, size_t n, simidx_reader *reader,
				 unsigned times)
{
	simidx_query q = SIMIDX_QUERY_INIT;

	for (unsigned i = 0; i < times; i++) {
		q.fp = t_search_near(s);
		q.radius = (unsigned)sxt_rng_below(&s->rng, 6);
		sxt_check_query(&s->model, n, reader, &q, NULL);
	}
}

/** Block indexes of permuted tables that the last search of a reader had. */
static inline unsigned t_search_used_by(const simidx_reader *reader)
{
	unsigned used = 0;

	for (unsigned t = 0; t < sx_reader_index(reader)->schema->plan.n_tables; t++)
		used += reader->view.table[t].blocks != NULL;
	return used;
}

/** Open the index again, with so many bytes for block indexes (simidx_open_options). */
static inline void t_search_open_with(struct t_search *s, uint64_t bytes)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;

	simidx_reader_close(s->reader);
	simidx_close(s->index);
	s->reader = NULL;
	o.block_index_bytes = bytes;
	o.map_size = (uint64_t)1 << 30;
	ck_assert_sx(simidx_open(s->path, &o, &s->index, &sxt_err), SIMIDX_OK);
	s->reader = sxt_reader(s->index);
}

/** The same with all documents, and with block indexes as far as there is room. */
static inline void t_search_some_indexed(struct t_search *s, unsigned times)
{
	t_search_make_block_indexes(s->reader);
	t_search_some(s, s->model.n, s->reader, times);
}

#endif /* SXT_SEARCH_H */

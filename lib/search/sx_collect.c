/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Probes -> candidates -> matching fingerprints, of both tiers.
 */

#include <stdlib.h>
#include <string.h>

#include "block/sx_block_search.h"
#include "search/sx_reader.h"
#include "util/sx_err.h"

#define AT_ONCE 32768 /* candidates, before it is asked whether that is enough */
#define FEW 32
#define FEW_HITS 4 /* among which it pays to look whether what is near is known */
#define DESCENTS 8 /* of LMDB's trees, before the first one is read */
#define SAMPLE 64 /* one search in so many looks whether a page of it is in memory */

/* What a collection is about. */
struct task {
	simidx_reader *r;
	const sx_query *q;
	sx_enough enough;
	simidx_results *out;
	int done; /* enough was found, or too much was read */
};

/* ---- pages ---- */

void sx_collect_pages(simidx_reader *r, const sx_lookup *lookup)
{
	const sx_store *store = r->index->store;
	size_t n = r->watch ? lookup->n : lookup->n > 0;
	int missing = 0;

	if (!r->watch && r->searches % SAMPLE)
		return;
	for (size_t i = 0; i < n; i++) {
		const void *value = lookup->piece[i].value;

		if (!sx_store_is_resident(store, value)) {
			sx_store_will_need(store, value);
			missing = 1;
		}
	}
	if (missing)
		r->watch = SX_WATCH;
	else if (r->watch)
		r->watch--;
}

/* ---- hits ---- */

static int add_hit(simidx_reader *r, const sx_query *q, uint64_t fp, int in_tables,
		   simidx_error *err)
{
	sx_hit *hit;

	if (sx_reserve(&r->hits.at, &r->hits.cap, r->hits.n + 1, sizeof(*r->hits.at)))
		return sx_fail_nomem(err);
	hit = &r->hits.at[r->hits.n++];
	hit->fp = fp;
	/* Its documents are looked up soon. */
	if (in_tables && r->held[SX_SHELF_POSTINGS])
		sx_block_index_hint(r->held[SX_SHELF_POSTINGS]->blocks, fp);
	hit->distance = sx_query_distance(q, fp);
	hit->in_tables = in_tables;
	hit->n_known = SX_UNKNOWN;
	return SIMIDX_OK;
}

/* Keys [from, n) of found->keys, found by a probe, become hits unless another one has them. */
static int take_keys(struct task *task, const sx_probe *probe, size_t from, simidx_error *err)
{
	simidx_reader *r = task->r;
	const sx_perm *perm = &r->index->plan.table[probe->table];
	int rc = SIMIDX_OK;

	for (size_t i = from; !rc && i < r->found.keys.n; i++) {
		uint64_t fp = sx_unpermute(perm, r->found.keys.at[i]);

		if (sx_query_accepts_near(task->q, fp) &&
		    sx_way_is_first(r, task->q, probe, fp))
			rc = add_hit(r, task->q, fp, 1, err);
	}
	return rc;
}

static int ask_enough(struct task *task, size_t hits_before, simidx_error *err)
{
	int rc;

	if (task->done || !task->enough || task->r->hits.n == hits_before)
		return SIMIDX_OK;
	rc = task->enough(task->r, task->q, hits_before, err);
	if (rc > 0)
		task->done = 1;
	return rc < 0 ? rc : SIMIDX_OK;
}

/* Candidates of the tables that may still be compared. */
static uint64_t left_to_compare(const struct task *task)
{
	uint64_t most = task->q->asked->max_candidates;
	uint64_t used = task->out->candidates - task->r->fresh_candidates;

	if (!most)
		return UINT64_MAX;
	return used < most ? most - used : 0;
}

/* The whole `n`, or less and then that is the end. */
static uint64_t allow(struct task *task, uint64_t n)
{
	uint64_t left = left_to_compare(task);

	if (n > left) {
		task->done = 1;
		task->out->truncated |= SIMIDX_CUT_CANDIDATES;
		n = left;
	}
	task->out->candidates += n;
	return n;
}

/* ---- through block indexes ---- */

/*
 * Whether all that is near in a piece are hits already: a near fingerprint is found in most of
 * the tables. Each has an entry here if it is in the piece, so it is enough to count; but not in
 * the middle of a merge, when one table may have fingerprints that the next has not got yet.
 */
static int are_known(const simidx_reader *r, const sx_piece *piece, unsigned t, size_t n)
{
	const sx_perm *perm = &r->index->plan.table[t];
	size_t known = 0;

	if (r->hits.n < n || r->hits.n > FEW_HITS ||
	    r->snapshot.header.state & SX_STATE_MERGING)
		return 0;
	for (size_t i = 0; i < r->hits.n; i++)
		known += (size_t)sx_lookup_has(&r->lookup, piece,
					       sx_permute(perm, r->hits.at[i].fp));
	return known == n;
}

/* How many bits the low bytes of what is near in a piece may differ in; -1: none is near. */
static int left_for_low_bytes(struct task *task, const sx_piece *piece, const sx_probe *probe)
{
	simidx_reader *r = task->r;
	int left = sx_lookup_left(&r->lookup, piece, r->way.permuted[probe->table],
				  task->q->most_bits);
	int light = sx_way_left(r, probe, piece->width);

	return light < left ? light : left;
}

static int filter_piece(struct task *task, const sx_piece *piece, simidx_error *err)
{
	simidx_reader *r = task->r;
	const sx_kernel *kernel = r->index->kernel;
	const sx_probe *probe = &r->probes.at[r->range_probe[piece->range]];
	uint64_t query = r->way.permuted[probe->table];
	unsigned k = task->q->most_bits;
	sx_u64s *keys = &r->found.keys;
	size_t all = (size_t)(piece->to - piece->from), n = (size_t)allow(task, all), near;
	int left = left_for_low_bytes(task, piece, probe);

	if (!n || left < 0)
		return SIMIDX_OK;
	near = sx_lookup_filter(&r->lookup, piece, kernel, n, query, (unsigned)left,
				r->found.entry);
	if (!near || (n == all && are_known(r, piece, probe->table, near)))
		return SIMIDX_OK;
	if (keys->cap < n && sx_reserve(&keys->at, &keys->cap, n, sizeof(*keys->at)))
		return sx_fail_nomem(err);
	keys->n = sx_lookup_complete(&r->lookup, piece, kernel, n, query, k, r->found.entry, near,
				     keys->at);
	return keys->n ? take_keys(task, probe, 0, err) : SIMIDX_OK;
}

static int collect_pieces(struct task *task, simidx_error *err)
{
	simidx_reader *r = task->r;
	sx_lookup *l = &r->lookup;
	int rc = SIMIDX_OK;

	for (; !rc && !task->done && l->n; sx_lookup_find(l)) {
		size_t hits = r->hits.n;

		sx_collect_pages(r, l);
		rc = sx_lookup_locate(l, r->index->kernel, err);
		for (size_t i = 0; !rc && !task->done && i < l->n; i++)
			rc = filter_piece(task, &l->piece[i], err);
		if (!rc)
			rc = ask_enough(task, hits, err);
	}
	task->out->blocks += l->blocks;
	return rc;
}

/* ---- through LMDB's tree ---- */

static int table_cursor(simidx_reader *r, unsigned t, simidx_error *err)
{
	if (!r->cursor[t])
		return sx_cursor_open(r->snapshot.txn, r->index->tables.permuted[t].dbi,
				      &r->cursor[t], err);
	return sx_cursor_renew(r->snapshot.txn, r->cursor[t], err);
}

/* Some of a range from its spot on, up to where r->found is paused. */
static int collect_some(struct task *task, const sx_probe *probe, const sx_spot *spot,
			simidx_error *err)
{
	simidx_reader *r = task->r;
	size_t hits = r->hits.n;
	int rc;

	r->found.keys.n = 0;
	r->found.candidates = r->found.blocks = 0;
	r->found.most = left_to_compare(task);
	r->found.pause = AT_ONCE;
	r->found.is_cut = r->found.is_paused = 0;
	rc = sx_table_near(spot, probe->high, r->way.permuted[probe->table],
			   task->q->most_bits, &r->found, err);
	if (!rc)
		rc = take_keys(task, probe, 0, err);
	task->out->blocks += r->found.blocks;
	task->out->candidates += r->found.candidates;
	if (r->found.is_cut) {
		task->done = 1;
		task->out->truncated |= SIMIDX_CUT_CANDIDATES;
	}
	return rc ? rc : ask_enough(task, hits, err);
}

/*
 * A range is being read that does not end. A block index would have told, and perhaps of a way
 * round: so many blocks of it that were read pay for one. Returns 1 if there is another way now.
 */
static int look_round(struct task *task, unsigned t, uint64_t blocks, simidx_error *err)
{
	simidx_reader *r = task->r;
	int rc;

	r->blocks[t] = sx_shelf_get(&r->snapshot, t, blocks, &r->held[t]);
	rc = r->blocks[t] ? sx_way_reconsider(r, task->q, err) : 0;
	/* This search goes on as it began, also with other ranges of the table. */
	if (!rc)
		r->blocks[t] = NULL;
	return rc;
}

/* Returns 1 if there is another way now, and all is to begin anew. */
static int collect_probe(struct task *task, const sx_probe *probe, const sx_spot *first,
			 simidx_error *err)
{
	simidx_reader *r = task->r;
	unsigned t = probe->table;
	uint64_t before = task->out->blocks, blocks, paid = 0;
	sx_spot spot = *first;
	int rc = collect_some(task, probe, first, err);

	while (!rc && !task->done && r->found.is_paused) {
		spot.low = r->found.next;
		blocks = task->out->blocks - before;
		if (blocks > 2 * paid) {
			rc = look_round(task, t, blocks, err);
			if (rc)
				return rc;
			paid = blocks;
		}
		rc = sx_table_find(&spot, 1, err);
		if (!rc)
			rc = collect_some(task, probe, &spot, err);
	}
	blocks = task->out->blocks - before;
	/* The next query is to know at once. */
	if (!rc && blocks > SX_LOOKUP_PIECES)
		sx_shelf_get(&r->snapshot, t, blocks - paid, &r->held[t]);
	return rc;
}

/*
 * Go down the trees for the next probes without a block index, up to one a table, as each has one
 * cursor. Where they end is fetched for all of them before any is waited for.
 */
static size_t descend(simidx_reader *r, size_t *next, size_t *number, sx_spot *spot, int *rc,
		      simidx_error *err)
{
	uint64_t tables = 0;
	size_t n = 0;

	for (; !*rc && n < DESCENTS && *next < r->probes.n; ++*next) {
		const sx_probe *p = &r->probes.at[*next];

		if (r->blocks[p->table])
			continue;
		if (tables >> p->table & 1)
			break;
		tables |= UINT64_C(1) << p->table;
		*rc = table_cursor(r, p->table, err);
		spot[n].table = &r->index->tables.permuted[p->table];
		spot[n].cursor = r->cursor[p->table];
		spot[n].low = p->low;
		number[n++] = *next;
	}
	if (!*rc)
		*rc = sx_table_find(spot, n, err);
	for (size_t i = 0; !*rc && n > 1 && i < n; i++)
		sx_table_fetch(&spot[i], r->probes.at[number[i]].high);
	return n;
}

static int collect_descents(struct task *task, simidx_error *err)
{
	simidx_reader *r = task->r;
	size_t number[DESCENTS], next = 0;
	sx_spot spot[DESCENTS];
	int rc = SIMIDX_OK;

	while (!rc && !task->done && next < r->probes.n) {
		size_t n = descend(r, &next, number, spot, &rc, err);

		task->out->probes += n;
		for (size_t i = 0; !rc && !task->done && i < n; i++)
			rc = collect_probe(task, &r->probes.at[number[i]], &spot[i], err);
	}
	return rc;
}

/* Begin to look up the probes that have a block index: the first pieces are found. */
static int find_pieces(simidx_reader *r, simidx_error *err)
{
	const sx_probe *probe;
	uint32_t *number;
	sx_range *range;

	if (sx_reserve(&r->range, &r->range_cap, r->probes.n, sizeof(*r->range)) ||
	    sx_reserve(&r->range_probe, &r->probe_cap, r->probes.n, sizeof(*r->range_probe)))
		return sx_fail_nomem(err);
	probe = r->probes.at;
	range = r->range;
	number = r->range_probe;
	for (uint32_t i = 0; i < r->probes.n; i++, probe++) {
		const sx_block_index *d = r->blocks[probe->table];

		if (!d)
			continue;
		*range++ = (sx_range){ d, probe->low, probe->high };
		*number++ = i;
	}
	sx_lookup_begin(&r->lookup, r->range, (size_t)(range - r->range),
			SX_LOOKUP_PIECES);
	sx_lookup_find(&r->lookup);
	return SIMIDX_OK;
}

/*
 * Find the first pieces, unless they were found ahead. When there are more blocks than usual, it
 * is time to look how full they are, and perhaps to go another way.
 */
static int begin_pieces(struct task *task, simidx_error *err)
{
	simidx_reader *r = task->r;
	int rc = r->ahead ? SIMIDX_OK : find_pieces(r, err);

	r->ahead = 0;
	if (rc || r->lookup.n < SX_LOOKUP_PIECES)
		return rc;
	rc = sx_way_reconsider(r, task->q, err);
	return rc > 0 ? find_pieces(r, err) : rc;
}

static int collect_tables(struct task *task, simidx_error *err)
{
	simidx_reader *r = task->r;
	size_t had = r->hits.n;
	int rc;

	/* Each time that there is another way, one more table has a block index. */
	do {
		r->hits.n = had;
		rc = begin_pieces(task, err);
		if (rc)
			return rc;
		task->out->probes += r->lookup.n_ranges;
		rc = collect_pieces(task, err);
		if (!rc && r->lookup.n_ranges < r->probes.n && !task->done)
			rc = collect_descents(task, err);
	} while (rc > 0);
	return rc;
}

/* ---- the fresh tier ---- */

static int has_fresh(const simidx_reader *r)
{
	return !r->forced && r->snapshot.header.next_seq > r->snapshot.header.first_seq;
}

static const sx_probes *fresh_probes(const simidx_reader *r)
{
	return r->index->fresh_plan_is_same ? &r->probes : &r->fresh_probes;
}

static int collect_fresh(struct task *task, simidx_error *err)
{
	simidx_reader *r = task->r;
	sx_fresh_span span = sx_header_fresh(&r->snapshot.header);
	size_t hits = r->hits.n, kept = 0;
	uint64_t candidates = 0;
	int rc;

	rc = sx_fresh_near(&r->index->fresh, r->snapshot.txn, &span, fresh_probes(r), task->q->fp,
			   task->q->most_bits, &r->fresh, &candidates, err);
	r->fresh_candidates += candidates;
	task->out->candidates += candidates;
	for (size_t i = 0; !rc && i < r->fresh.n; i++) {
		sx_fresh_row row = r->fresh.at[i];

		if (!sx_query_accepts(task->q, row.fp))
			continue;
		/* Rows with one fingerprint most often stand together, and may be many. */
		if (r->hits.n == hits || r->hits.at[r->hits.n - 1].fp != row.fp)
			rc = add_hit(r, task->q, row.fp, 0, err);
		r->fresh.at[kept++] = row;
	}
	r->fresh.n = kept;
	return rc ? rc : ask_enough(task, hits, err);
}

/* ---- both ---- */

static int compare_hits(const void *a, const void *b)
{
	const sx_hit *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return y->in_tables - x->in_tables;
}

/* For a handful qsort() takes longer than all else that is done with them. */
static void sort_few(sx_hit *at, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		sx_hit hit = at[i];
		size_t j = i;

		for (; j && compare_hits(&hit, &at[j - 1]) < 0; j--)
			at[j] = at[j - 1];
		at[j] = hit;
	}
}

/* Sort the hits and drop copies; the one of the tables stays. */
static void sort_hits(sx_hits *hits)
{
	size_t n = 0;

	if (hits->n > FEW)
		qsort(hits->at, hits->n, sizeof(*hits->at), compare_hits);
	else
		sort_few(hits->at, hits->n);
	for (size_t i = 0; i < hits->n; i++)
		if (!n || hits->at[i].fp != hits->at[n - 1].fp)
			hits->at[n++] = hits->at[i];
	hits->n = n;
}

void sx_collect_ahead(simidx_reader *r, const sx_query *q)
{
	/* SIMIDX_NEAREST searches by smaller radii first. */
	r->ahead = q->asked->mode != SIMIDX_NEAREST && !sx_way_ahead(r, q) &&
		   !find_pieces(r, NULL);
}

int sx_collect(simidx_reader *r, const sx_query *q, sx_enough enough, simidx_results *out,
	       simidx_error *err)
{
	struct task task = { .r = r, .q = q, .enough = enough, .out = out };
	sx_fresh_span span = sx_header_fresh(&r->snapshot.header);
	int rc;

	r->hits.n = r->fresh.n = 0;
	r->snapshot.has_made = 0;
	r->searches++;
	rc = sx_way_choose(r, q, err);
	if (!rc && has_fresh(r))
		sx_fresh_prefetch(&r->index->fresh, &span, fresh_probes(r));
	if (!rc)
		rc = collect_tables(&task, err);
	if (!rc && !task.done && has_fresh(r))
		rc = collect_fresh(&task, err);
	if (rc)
		return rc;
	sort_hits(&r->hits);
	out->fingerprints = r->hits.n;
	out->complete_to = r->way.complete_to;
	return SIMIDX_OK;
}

int sx_collect_found(simidx_reader *r, const sx_query *q, simidx_results *out, simidx_error *err)
{
	struct task task = { .r = r, .q = q, .out = out };
	int rc = SIMIDX_OK;

	r->fresh.n = 0;
	/* The memtable may look up the probes of the tables. */
	if (has_fresh(r)) {
		rc = sx_way_choose(r, q, err);
		if (!rc)
			rc = collect_fresh(&task, err);
	}
	if (rc)
		return rc;
	sort_hits(&r->hits);
	out->fingerprints = r->hits.n;
	out->complete_to = (int)q->radius;
	return SIMIDX_OK;
}

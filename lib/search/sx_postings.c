/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Documents of the fingerprints that were found: of those in the tables from postings, through
 * the block index where there is one, all of them at once; of fresh rows as they are.
 */

#include <string.h>

#include "search/sx_reader.h"
#include "util/sx_err.h"

#define RUN 8 /* entries from which taking them together is quicker */
#define SOME_ROWS 4096 /* that are read together where there is no block index */
#define PER_PIECE 256 /* documents of a fingerprint in a block, most often more */

/* Documents of which fingerprints, and what becomes of them. */
struct reading {
	simidx_reader *r;
	const sx_query *q;
	size_t from, to;   /* hits */
	uint64_t most;     /* of each fingerprint, 0 = all */
	uint64_t *count;   /* or NULL: they are appended */
	uint64_t had;      /* documents of the fingerprint at hand */
	uint32_t range;    /* its number */
};

static int take_document(struct reading *g, uint64_t id, uint64_t fp, uint64_t fp2,
			 simidx_error *err)
{
	simidx_match match = sx_match_of(g->r->index, id, fp, fp2);

	if (!sx_query_judge(g->q, &match))
		return SIMIDX_OK;
	g->had++;
	if (g->count) {
		++*g->count;
		return SIMIDX_OK;
	}
	return sx_matches_push(&g->r->matches, &match, err);
}

/* Rows that all match because their fingerprint does. */
static int take_all_rows(struct reading *g, const sx_rows *rows, size_t n, uint64_t fp,
			 simidx_error *err)
{
	simidx_match like;

	if (g->most && n > g->most - g->had)
		n = (size_t)(g->most - g->had);
	g->had += n;
	if (g->count) {
		*g->count += n;
		return SIMIDX_OK;
	}
	like = sx_match_of(g->r->index, 0, fp, 0);
	sx_query_judge(g->q, &like);
	return sx_matches_append(&g->r->matches, &like, rows->col[0],
				 rows->n_cols > 1 ? rows->col[1] : NULL, n, err);
}

/* Many entries of one fingerprint: column after column. */
static int take_run(struct reading *g, const sx_block *block, size_t from, size_t n, uint64_t fp,
		    simidx_error *err)
{
	sx_rows *rows = &g->r->rows;

	rows->n = 0;
	if (sx_rows_reserve(rows, n))
		return sx_fail_nomem(err);
	for (unsigned c = 0; c < block->n_cols; c++)
		sx_block_decode_col(block, c, from, n, rows->col[c]);
	return take_all_rows(g, rows, n, fp, err);
}

/* Entries [from, from + n) of a block, all of which have the same fingerprint. */
static int take_entries(struct reading *g, const sx_block *block, size_t from, size_t n,
			uint64_t fp, simidx_error *err)
{
	int rc = SIMIDX_OK;

	if (!g->q->has_fp2 && n >= RUN)
		return take_run(g, block, from, n, fp, err);
	for (size_t i = from; !rc && i < from + n && !(g->most && g->had >= g->most); i++)
		rc = take_document(g, sx_block_col(block, 0, i), fp,
				   block->n_cols > 1 ? sx_block_col(block, 1, i) : 0, err);
	return rc;
}

/* The first rows of `rows`, which have one fingerprint. */
static int take_rows(struct reading *g, const sx_rows *rows, simidx_error *err)
{
	int has_fp2 = rows->n_cols > 1;
	int rc = SIMIDX_OK;

	if (!g->q->has_fp2)
		return rows->n ? take_all_rows(g, rows, rows->n, rows->key[0], err) : SIMIDX_OK;
	for (size_t i = 0; !rc && i < rows->n && !(g->most && g->had >= g->most); i++)
		rc = take_document(g, rows->col[0][i], rows->key[i], has_fp2 ? rows->col[1][i] : 0,
				   err);
	return rc;
}

static int take_piece(struct reading *g, const sx_piece *piece, simidx_error *err)
{
	simidx_reader *r = g->r;
	const sx_block_index *d = r->posting[piece->range].blocks;
	size_t n = (size_t)(piece->to - piece->from);
	const char *wrong;
	sx_block block;

	if (piece->range != g->range)
		g->had = 0;
	g->range = piece->range;
	if (piece->to <= piece->from || (g->most && g->had >= g->most))
		return SIMIDX_OK;
	if (g->count && !g->q->has_fp2) {
		*g->count += n;
		return SIMIDX_OK;
	}
	if (g->most && !g->q->has_fp2 && n > g->most - g->had)
		n = (size_t)(g->most - g->had);
	wrong = sx_block_open(&block, piece->value, d->table->block_size, d->table->n_cols);
	if (wrong)
		return sx_block_index_damaged(d, piece->number, wrong, err);
	return take_entries(g, &block, piece->from, n, r->posting[piece->range].low, err);
}

/* Whether its documents are still to be read from the table. */
static int is_wanted(const sx_hit *hit)
{
	return hit->in_tables && hit->n_known == SX_UNKNOWN;
}

/*
 * Blocks of one fingerprint that are likely to be enough. Its documents may begin at the end of
 * one.
 */
static size_t first_pieces(const struct reading *g)
{
	return g->most && g->most < PER_PIECE * SX_LOOKUP_PIECES
		       ? 2 + (size_t)g->most / PER_PIECE
		       : SX_LOOKUP_PIECES;
}

/*
 * Every piece of all fingerprints, until each has enough: a run of equal ones may lie in
 * thousands of blocks.
 */
static int read_pieces(struct reading *g, const sx_block_index *d, simidx_error *err)
{
	simidx_reader *r = g->r;
	sx_lookup *l = &r->posting_lookup;
	size_t n = 0;
	int rc = SIMIDX_OK;

	if (sx_reserve(&r->posting, &r->posting_cap, g->to - g->from, sizeof(*r->posting)))
		return sx_fail_nomem(err);
	for (size_t i = g->from; i < g->to; i++)
		if (is_wanted(&r->hits.at[i])) {
			r->posting[n].blocks = d;
			r->posting[n].low = r->posting[n].high = r->hits.at[i].fp;
			n++;
		}
	sx_lookup_begin(l, r->posting, n, first_pieces(g));
	g->range = UINT32_MAX;
	for (sx_lookup_find(l); !rc && l->n; sx_lookup_find(l)) {
		sx_collect_pages(r, l);
		rc = sx_lookup_locate_exactly(l, r->index->kernel, err);
		for (size_t i = 0; !rc && i < l->n; i++)
			rc = take_piece(g, &l->piece[i], err);
		if (g->most && g->had >= g->most)
			sx_lookup_leave(l);
	}
	return rc;
}

static int postings_cursor(simidx_reader *r, simidx_error *err)
{
	return r->postings ? sx_cursor_renew(r->snapshot.txn, r->postings, err)
			   : sx_cursor_open(r->snapshot.txn, r->index->tables.postings.dbi,
					    &r->postings, err);
}

/* Go on behind the last of the rows; damaged ones must not lead back. */
static int step_behind(const sx_table *table, const sx_rows *rows, sx_place *low,
		       simidx_error *err)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_place last = { low->key, rows->col[0][rows->n - 1] };
	sx_slice key = { bytes, sx_table_key(table, last, bytes) };

	if (last.col0 < low->col0 || last.col0 == UINT64_MAX)
		return sx_table_damaged(table, key, "its ids are out of order", err);
	low->col0 = last.col0 + 1;
	return SIMIDX_OK;
}

/* The documents of one fingerprint until there are enough, some at a time: there may be millions. */
static int read_run_by_tree(struct reading *g, uint64_t fp, simidx_error *err)
{
	const sx_table *table = &g->r->index->tables.postings;
	sx_place low = { fp, 0 }, high = { fp, UINT64_MAX };
	sx_rows *rows = &g->r->rows;
	uint64_t some;
	int rc;

	g->had = 0;
	do {
		some = SOME_ROWS;
		if (g->most && !g->q->has_fp2 && g->most - g->had < some)
			some = g->most - g->had;
		rows->n = 0;
		rc = sx_table_range(table, g->r->postings, low, high, some, rows, err);
		if (!rc)
			rc = take_rows(g, rows, err);
		if (rc || rows->n < some)
			return rc;
		rc = step_behind(table, rows, &low, err);
	} while (!rc && !(g->most && g->had >= g->most));
	return rc;
}

static int read_by_tree(struct reading *g, simidx_error *err)
{
	int rc = postings_cursor(g->r, err);

	for (size_t i = g->from; !rc && i < g->to; i++)
		if (is_wanted(&g->r->hits.at[i]))
			rc = read_run_by_tree(g, g->r->hits.at[i].fp, err);
	return rc;
}

/* Those that were read beforehand. */
static int take_known(struct reading *g, simidx_error *err)
{
	const simidx_reader *r = g->r;
	int rc = SIMIDX_OK;

	for (size_t i = g->from; !rc && i < g->to; i++) {
		const sx_hit *hit = &r->hits.at[i];

		g->had = 0;
		if (!hit->in_tables || is_wanted(hit))
			continue;
		for (uint32_t k = 0;
		     !rc && k < hit->n_known && !(g->most && g->had >= g->most); k++) {
			const sx_doc *doc = &r->known[hit->known + k];

			rc = take_document(g, doc->id, doc->fp, doc->fp2, err);
		}
	}
	return rc;
}

/*
 * Fresh rows whose fingerprints are among hits [from, to): those of their distances, as hits of
 * one distance come together.
 */
static int take_fresh(struct reading *g, simidx_error *err)
{
	simidx_reader *r = g->r;
	unsigned low = UINT32_MAX, high = 0;
	int rc = SIMIDX_OK;

	for (size_t i = g->from; i < g->to; i++) {
		if (r->hits.at[i].distance < low)
			low = r->hits.at[i].distance;
		if (r->hits.at[i].distance > high)
			high = r->hits.at[i].distance;
	}
	for (size_t i = 0; !rc && i < r->fresh.n; i++) {
		const sx_fresh_row *row = &r->fresh.at[i];
		unsigned distance = sx_query_distance(g->q, row->fp);

		if (distance >= low && distance <= high)
			rc = take_document(g, row->id, row->fp, row->fp2, err);
	}
	return rc;
}

int sx_postings_read(simidx_reader *r, const sx_query *q, size_t from, size_t to, uint64_t most,
		     uint64_t *count, simidx_error *err)
{
	struct reading g = { r, q, from, to, most, count, 0, 0 };
	const sx_block_index *d;
	size_t wanted = 0;
	int rc = SIMIDX_OK;

	if (from == to)
		return SIMIDX_OK;
	for (size_t i = from; i < to; i++)
		wanted += (size_t)is_wanted(&r->hits.at[i]);
	if (r->known)
		rc = take_known(&g, err);
	if (!rc && wanted) {
		d = sx_shelf_get(&r->snapshot, SX_SHELF_POSTINGS, wanted,
				 &r->held[SX_SHELF_POSTINGS]);
		rc = d ? read_pieces(&g, d, err) : read_by_tree(&g, err);
	}
	return rc ? rc : take_fresh(&g, err);
}

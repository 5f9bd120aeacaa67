/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Query -> probes -> candidates -> matching fingerprints -> documents.
 */

#include <stdlib.h>
#include <string.h>

#include "index/sx_fresh_hits.h"
#include "index/sx_reader.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_sort.h"

static int table_cursor(simidx_reader *r, unsigned t, simidx_error *err)
{
	if (!r->cursor[t])
		return sx_cursor_open(r->snapshot.txn, r->index->tables.permuted[t].dbi,
				      &r->cursor[t], err);
	return sx_cursor_renew(r->snapshot.txn, r->cursor[t], err);
}

/* Whether an earlier probe of the same query has found this fingerprint already. */
static int found_earlier(const simidx *index, const sx_cover *cover, unsigned i, uint64_t fp,
			 uint64_t query)
{
	while (i--)
		if (!((fp ^ query) & index->plan.table[cover->table[i]].prefix_mask))
			return 1;
	return 0;
}

/* The range of one table that has the query's prefix. */
static int probe(simidx_reader *r, const simidx_query *q, const sx_cover *cover, unsigned i,
		 simidx_error *err)
{
	unsigned t = cover->table[i];
	const sx_perm *perm = &r->index->plan.table[t];
	uint64_t query = sx_permute(perm, q->fp);
	uint64_t rest = sx_low_bits(perm->bits - perm->prefix_bits);
	int rc = table_cursor(r, t, err);

	r->found.keys.n = 0;
	if (!rc)
		rc = sx_table_near(&r->index->tables.permuted[t], r->cursor[t], query & ~rest,
				   query | rest, query, q->radius, &r->found, err);
	for (size_t h = 0; !rc && h < r->found.keys.n; h++) {
		uint64_t fp = sx_unpermute(perm, r->found.keys.at[h]);

		if (!found_earlier(r->index, cover, i, fp, q->fp) && sx_u64s_push(&r->fps, fp))
			rc = sx_fail_nomem(err);
	}
	return rc;
}

/* All fingerprints within the radius: of the tables into fps, of fresh rows into fresh. */
static int collect(simidx_reader *r, const simidx_query *q, simidx_results *out,
		   simidx_error *err)
{
	const sx_cover *cover = &r->index->cover[q->radius];
	sx_fresh_question question = { SX_ASK_NEAR, q->fp, q->radius };
	int rc = SIMIDX_OK;

	r->fps.n = 0;
	r->fresh.n = 0;
	r->found.candidates = 0;
	for (unsigned i = 0; !rc && i < cover->n; i++)
		rc = probe(r, q, cover, i, err);
	if (!rc)
		rc = sx_fresh_hits(r->index, &r->snapshot, &question, &r->rented, &r->fresh,
				   &r->found.candidates, err);
	out->probes = cover->n;
	out->candidates = r->found.candidates;
	return rc;
}

/* The distinct fingerprints among both, sorted, into found.keys. */
static int distinct(simidx_reader *r, simidx_error *err)
{
	sx_u64s *all = &r->found.keys;

	all->n = 0;
	for (size_t i = 0; i < r->fps.n; i++)
		if (sx_u64s_push(all, r->fps.at[i]))
			return sx_fail_nomem(err);
	for (size_t i = 0; i < r->fresh.n; i++)
		if (sx_u64s_push(all, r->fresh.at[i].fp))
			return sx_fail_nomem(err);
	if (sx_sort_u64(all->at, all->n))
		return sx_fail_nomem(err);
	all->n = sx_unique_u64(all->at, all->n);
	return SIMIDX_OK;
}

/* Without ids a document is a fingerprint, and a copy in both tiers is one. */
static int fingerprints_at(simidx_reader *r, const simidx_query *q, unsigned distance,
			   simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; !rc && i < r->found.keys.n; i++)
		if (simidx_distance(r->found.keys.at[i], q->fp) == distance)
			rc = sx_docs_push(&r->docs, SIMIDX_NO_ID, r->found.keys.at[i], 0, err);
	return rc;
}

/* The documents at one distance, by id; `most` of each fingerprint are enough (0 = all). */
static int documents_at(simidx_reader *r, const simidx_query *q, unsigned distance, uint64_t most,
			simidx_error *err)
{
	size_t from = r->docs.n;
	int rc = SIMIDX_OK;

	if (!sx_has_ids(r->index))
		return fingerprints_at(r, q, distance, err);
	for (size_t i = 0; !rc && i < r->fps.n; i++)
		if (simidx_distance(r->fps.at[i], q->fp) == distance)
			rc = sx_docs_of_postings(&r->snapshot, r->postings, &r->rows, r->fps.at[i],
						 most, &r->docs, err);
	for (size_t i = 0; !rc && i < r->fresh.n; i++) {
		const sx_fresh_row *row = &r->fresh.at[i];

		if (simidx_distance(row->fp, q->fp) == distance)
			rc = sx_docs_push(&r->docs, row->id, row->fp, row->fp2, err);
	}
	if (!rc)
		sx_docs_sort_by_id(&r->docs, from);
	return rc;
}

/* Documents in order of distance, until there is one more than the limit allows. */
static int documents(simidx_reader *r, const simidx_query *q, simidx_results *out,
		     simidx_error *err)
{
	int rc = SIMIDX_OK;

	r->docs.n = 0;
	if (sx_has_ids(r->index))
		rc = r->postings ? sx_cursor_renew(r->snapshot.txn, r->postings, err)
				 : sx_cursor_open(r->snapshot.txn, r->index->tables.postings.dbi,
						  &r->postings, err);
	for (unsigned d = 0; !rc && d <= q->radius; d++) {
		uint64_t most = q->limit ? q->limit - r->docs.n + 1 : 0;

		rc = documents_at(r, q, d, most, err);
		if (q->limit && r->docs.n > q->limit) {
			r->docs.n = (size_t)q->limit;
			out->truncated = 1;
			break;
		}
	}
	return rc;
}

static int search(simidx_reader *r, const simidx_query *q, simidx_results *out, simidx_error *err)
{
	int rc = collect(r, q, out, err);

	if (!rc)
		rc = distinct(r, err);
	if (rc)
		return rc;
	out->fingerprints = r->found.keys.n;
	if (out->fingerprints)
		rc = documents(r, q, out, err);
	else
		r->docs.n = 0;
	if (!rc)
		rc = sx_reader_deliver(r, q->fp, (q->flags & SIMIDX_QUERY_LABELS) != 0, err);
	return rc;
}

static int check_query(const simidx_reader *r, const simidx_query *q, simidx_error *err)
{
	if (q->radius > SIMIDX_MAX_RADIUS)
		return sx_fail(err, SIMIDX_E_RANGE, "radius %u: this version searches 0 to %d",
			       q->radius, SIMIDX_MAX_RADIUS);
	if (q->fp & ~sx_low_bits(r->index->bits))
		return sx_fail(err, SIMIDX_E_RANGE, "the fingerprint has more than %u bits",
			       r->index->bits);
	return SIMIDX_OK;
}

int simidx_search(simidx_reader *r, const simidx_query *q, simidx_results *out, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!r || !q || !out || q->size != sizeof(*q) || out->size != sizeof(*out) ||
	    q->flags & ~SIMIDX_QUERY_LABELS)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_search: bad reader, query, flags or struct size");
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	rc = check_query(r, q, err);
	if (!rc)
		rc = sx_snapshot_renew(&r->snapshot, err);
	if (rc)
		return rc;
	rc = search(r, q, out, err);
	sx_snapshot_reset(&r->snapshot);
	if (rc) {
		r->docs.n = 0;
		return rc;
	}
	out->matches = r->match;
	out->n = r->docs.n;
	return SIMIDX_OK;
}

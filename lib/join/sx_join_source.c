/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_source.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_u64s.h"

#define AT_ONCE 16384               /* entries of a batch: they stay in the second cache */
#define SPILL_BUFFER ((size_t)65536) /* to write a bucket to a temporary file */

/* ---- streams ---- */

static uint64_t permute(const sx_perm *perm, uint64_t fp)
{
	return perm->prefix_mask ? sx_permute(perm, fp) : fp;
}

/* The table that has this order, or NULL. */
static const sx_table *table_of(const simidx *index, const sx_perm *perm)
{
	for (unsigned t = 0; t < index->schema->plan.n_tables; t++) {
		const sx_perm *of = &index->schema->plan.table[t];

		if (!perm->prefix_mask)
			return &index->tables.permuted[0]; /* its order is that of fingerprints */
		if (of->n_leads == perm->n_leads && of->prefix_mask == perm->prefix_mask &&
		    !memcmp(of->lead, perm->lead, perm->n_leads * sizeof(*of->lead)))
			return &index->tables.permuted[t];
	}
	return NULL;
}

static int take_fresh(sx_join_source *s, const sx_perm *perm, simidx_error *err)
{
	const sx_join_input *input = s->input;

	if (!input->n_fresh)
		return SIMIDX_OK;
	s->fresh = sx_realloc(NULL, input->n_fresh, sizeof(*s->fresh));
	if (!s->fresh)
		return sx_fail_nomem(err);
	for (size_t i = 0; i < input->n_fresh; i++)
		s->fresh[i] = permute(perm, input->fresh[i].fp);
	if (sx_sort_u64(s->fresh, input->n_fresh))
		return sx_fail_nomem(err);
	s->n_fresh = sx_unique_u64(s->fresh, input->n_fresh);
	return SIMIDX_OK;
}

/* A stable sort by the prefix is all that is needed: the other bits are in order already. */
static int sort(sx_join_source *s, const sx_perm *perm, const sx_join_space *space,
		simidx_error *err)
{
	static const sx_perm identity;
	uint64_t some[SX_SORTER_SOME], done = 0;
	uint64_t total = sx_join_input_snapshot(s->input)->header.table[0].rows + s->input->n_fresh;
	/* The order of the first table is that of fingerprints. */
	sx_join_source as_stored = { .input = s->input,
				     .table = &s->input->index->tables.permuted[0] };
	sx_join_stream from = { 0 };
	int rc = sx_sorter_new(1, 1, perm->bits - perm->prefix_bits, space->memory, space->dir,
			       &s->sorter, err);

	if (!rc)
		rc = take_fresh(&as_stored, &identity, err);
	if (!rc)
		rc = sx_join_stream_begin(&from, &as_stored, 0, UINT64_MAX, err);
	while (!rc && !(rc = sx_join_stream_more(&from, err))) {
		done += from.n;
		if (space->sorting)
			rc = space->sorting(space->ctx, done, total, err);
		while (!rc && from.at < from.n) {
			size_t n = 0;

			while (n < SX_SORTER_SOME && from.at < from.n)
				some[n++] = sx_permute(perm, from.piece[from.at++]);
			rc = sx_sorter_add_some(s->sorter, some, n, err);
		}
	}
	sx_join_stream_end(&from);
	sx_join_stream_free(&from);
	sx_join_source_end(&as_stored);
	return rc == SIMIDX_E_END ? sx_sorter_finish(s->sorter, space->memory, err) : rc;
}

int sx_join_source_begin(sx_join_source *s, sx_join_input *input, const sx_perm *perm,
			 const sx_join_space *space, pthread_mutex_t *lock, simidx_error *err)
{
	s->input = input;
	s->dir = space->dir;
	s->lock = lock;
	s->table = table_of(input->index, perm);
	return s->table ? take_fresh(s, perm, err) : sort(s, perm, space, err);
}

void sx_join_source_end(sx_join_source *s)
{
	sx_sorter_free(s->sorter);
	sx_spill_free(s->spill);
	free(s->fresh);
	memset(s, 0, sizeof(*s));
}

static void lock(const sx_join_source *s)
{
	if (s->lock)
		pthread_mutex_lock(s->lock);
}

static void unlock(const sx_join_source *s)
{
	if (s->lock)
		pthread_mutex_unlock(s->lock);
}

int sx_join_stream_begin(sx_join_stream *s, const sx_join_source *source, uint64_t from,
			 uint64_t last, simidx_error *err)
{
	sx_sort_key key = { from, 0 };
	int rc;

	s->source = source;
	s->from = from;
	s->last = last;
	s->fresh_at = sx_u64s_below(source->fresh, source->n_fresh, from);
	if (source->sorter)
		return SIMIDX_OK;
	if (source->spill) {
		rc = sx_frames_init(&s->frames, source->spill, 1, SPILL_BUFFER, err);
		sx_frames_seek(&s->frames, 0, sx_spill_size(source->spill));
		return rc;
	}
	lock(source);
	rc = sx_table_walk_begin(&s->walk, sx_join_input_snapshot(source->input)->txn, source->table,
				 from ? &key : NULL, err);
	unlock(source);
	sx_table_walk_share(&s->walk, source->lock);
	return sx_join_input_failed(source->input, rc, err);
}

void sx_join_stream_end(sx_join_stream *s)
{
	sx_join_stream empty = { .merged = s->merged, .merged_cap = s->merged_cap };

	if (s->walk.table) {
		lock(s->source);
		sx_table_walk_end(&s->walk);
		unlock(s->source);
	}
	sx_frames_free(&s->frames);
	*s = empty;
}

void sx_join_stream_free(sx_join_stream *s)
{
	free(s->merged);
	memset(s, 0, sizeof(*s));
}

/* Put the fresh entries between those of a piece; after the last piece all that are left. */
static int merge_fresh(sx_join_stream *s, const uint64_t *key, size_t n, simidx_error *err)
{
	const uint64_t *fresh = s->source->fresh;
	size_t to = s->fresh_at, n_fresh = s->source->n_fresh, i = 0, out = 0;

	while (to < n_fresh && fresh[to] <= s->last && (s->has_ended || fresh[to] <= key[n - 1]))
		to++;
	if (sx_reserve(&s->merged, &s->merged_cap, n + (to - s->fresh_at), sizeof(*s->merged)))
		return sx_fail_nomem(err);
	while (i < n || s->fresh_at < to) {
		uint64_t next = s->fresh_at < to ? fresh[s->fresh_at] : UINT64_MAX;
		int takes_key = i < n && (s->fresh_at == to || key[i] <= next);

		if (takes_key && s->fresh_at < to && key[i] == next)
			s->fresh_at++; /* it is in both */
		s->merged[out++] = takes_key ? key[i++] : fresh[s->fresh_at++];
	}
	s->piece = s->merged;
	s->n = out;
	return SIMIDX_OK;
}

int sx_join_stream_more(sx_join_stream *s, simidx_error *err)
{
	const sx_rows *rows = &s->walk.rows;

	if (s->at < s->n)
		return SIMIDX_OK;
	s->at = s->n = 0;
	if (s->source->sorter)
		return sx_sorter_some(s->source->sorter, &s->piece, &s->n, err);
	if (s->source->spill) {
		int rc = sx_frames_next(&s->frames, err);

		s->piece = s->frames.record;
		s->n = s->frames.n;
		return rc;
	}
	while (!s->has_ended) {
		size_t from = 0, n = 0;
		int rc = sx_table_walk_next(&s->walk, err);

		if (rc && rc != SIMIDX_E_END)
			return sx_join_input_failed(s->source->input, rc, err);
		if (!rc) {
			n = rows->n;
			if (n && rows->key[0] < s->from)
				from = sx_u64s_below(rows->key, n, s->from);
			if (n && rows->key[n - 1] >= s->last) {
				n = s->last == UINT64_MAX ? n : sx_u64s_below(rows->key, n, s->last + 1);
				s->has_ended = 1;
			}
		}
		s->has_ended |= rc == SIMIDX_E_END;
		s->piece = rows->key + from;
		s->n = n - from;
		if (s->fresh_at < s->source->n_fresh && (s->n || s->has_ended)) {
			rc = merge_fresh(s, s->piece, s->n, err);
			if (rc)
				return rc;
		}
		if (s->n)
			return SIMIDX_OK;
	}
	return SIMIDX_E_END;
}

/* ---- batches ---- */

void sx_join_batch_free(sx_join_batch *batch)
{
	free(batch->v);
	free(batch->inputs);
	sx_join_source_end(&batch->spilled[0]);
	sx_join_source_end(&batch->spilled[1]);
	memset(batch, 0, sizeof(*batch));
}

static int reserve(sx_join_batch *b, size_t n, int has_inputs, simidx_error *err)
{
	if (sx_reserve(&b->v, &b->v_cap, n + SX_JOIN_PADDING, sizeof(*b->v)) ||
	    (has_inputs && sx_reserve(&b->inputs, &b->inputs_cap, n, 1)))
		return sx_fail_nomem(err);
	return SIMIDX_OK;
}

/* Spill a bucket: the entries of stream number i that were read into the batch, and its others. */
static int spill_bucket(sx_join_batch *b, size_t from, size_t end, sx_join_stream *s, unsigned i,
		     unsigned shift, int has_inputs, simidx_error *err)
{
	sx_join_source *to = &b->spilled[i];
	uint64_t some[SX_FRAME_RECORDS];
	int rc;

	to->input = s->source->input;
	to->dir = s->source->dir;
	rc = sx_spill_new(to->dir, SPILL_BUFFER, &to->spill, err);
	while (!rc && from < end) {
		size_t n = 0;

		for (; n < SX_FRAME_RECORDS && from < end; from++)
			if (!has_inputs || b->inputs[from] >> i & 1)
				some[n++] = b->v[from];
		rc = sx_frames_write(to->spill, some, n, 1, err);
	}
	while (!rc && !(rc = sx_join_stream_more(s, err))) {
		size_t n = 0;

		while (s->at + n < s->n && !((s->piece[s->at + n] ^ b->large) >> shift))
			n++;
		rc = sx_frames_write(to->spill, s->piece + s->at, n, 1, err);
		s->at += n;
		if (s->at < s->n)
			break;
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* The last bucket is too large: leave it out. */
static int leave_out(sx_join_batch *b, sx_join_stream *streams, unsigned n_streams, unsigned shift,
		     simidx_error *err)
{
	size_t end = b->n;
	int is_sorted = 0, rc = SIMIDX_OK;

	b->has_large = 1;
	b->large = b->v[b->n - 1];
	while (b->n && !((b->v[b->n - 1] ^ b->large) >> shift))
		b->n--;
	for (unsigned i = 0; i < n_streams; i++)
		is_sorted |= streams[i].source->sorter != NULL;
	for (unsigned i = 0; is_sorted && !rc && i < n_streams; i++)
		rc = spill_bucket(b, b->n, end, &streams[i], i, shift, n_streams == 2, err);
	return rc;
}

/* How many of the entries at hand belong to the batch; all of them = there may be more. */
static size_t belonging(const sx_join_batch *b, const sx_join_stream *s, unsigned shift,
			size_t at_once)
{
	size_t here = s->n - s->at, i;

	if (b->n < at_once)
		return here < at_once - b->n ? here : at_once - b->n;
	if (shift == 64)
		return 0;
	for (i = 0; i < here; i++)
		if ((s->piece[s->at + i] ^ b->v[b->n - 1]) >> shift)
			break;
	return i;
}

/* A bucket of no more than half of what there is room for has room after others. */
static size_t entries_at_once(size_t max)
{
	return max / 2 < AT_ONCE ? max / 2 : AT_ONCE;
}

static int read_one(sx_join_batch *b, sx_join_stream *s, unsigned shift, size_t max,
		    simidx_error *err)
{
	size_t at_once = entries_at_once(max);

	for (;;) {
		int rc = sx_join_stream_more(s, err);
		size_t n;

		if (rc)
			return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
		n = belonging(b, s, shift, at_once);
		if (!n)
			return SIMIDX_OK;
		if (b->n + n > max)
			return leave_out(b, s, 1, shift, err);
		rc = reserve(b, b->n + n, 0, err);
		if (rc)
			return rc;
		memcpy(b->v + b->n, s->piece + s->at, n * sizeof(*b->v));
		b->n += n;
		s->at += n;
	}
}

static int read_two(sx_join_batch *b, sx_join_stream *s, unsigned shift, size_t max,
		    simidx_error *err)
{
	size_t at_once = entries_at_once(max);

	for (;;) {
		uint64_t next = UINT64_MAX;
		int has[2];

		for (unsigned i = 0; i < 2; i++) {
			int rc = sx_join_stream_more(&s[i], err);

			if (rc && rc != SIMIDX_E_END)
				return rc;
			has[i] = !rc;
			if (has[i] && s[i].piece[s[i].at] < next)
				next = s[i].piece[s[i].at];
		}
		if (!has[0] && !has[1])
			return SIMIDX_OK;
		if (b->n >= at_once && (shift == 64 || (next ^ b->v[b->n - 1]) >> shift))
			return SIMIDX_OK;
		if (b->n == max)
			return leave_out(b, s, 2, shift, err);
		if (b->n + SX_JOIN_PADDING >= b->v_cap || b->n >= b->inputs_cap) {
			int rc = reserve(b, b->n + AT_ONCE, 1, err);

			if (rc)
				return rc;
		}
		b->v[b->n] = next;
		b->inputs[b->n] = 0;
		for (unsigned i = 0; i < 2; i++) {
			if (!has[i] || s[i].piece[s[i].at] != next)
				continue;
			b->inputs[b->n] |= (uint8_t)(1u << i);
			s[i].at++;
		}
		b->n++;
	}
}

int sx_join_batch_read(sx_join_batch *b, sx_join_stream *streams, unsigned n_streams,
		       unsigned shift, size_t max, simidx_error *err)
{
	int rc;

	b->n = 0;
	b->has_large = 0;
	sx_join_source_end(&b->spilled[0]);
	sx_join_source_end(&b->spilled[1]);
	rc = n_streams == 1 ? read_one(b, streams, shift, max, err)
			    : read_two(b, streams, shift, max, err);
	if (!rc && b->n)
		memset(b->v + b->n, 0, SX_JOIN_PADDING * sizeof(*b->v));
	return rc;
}

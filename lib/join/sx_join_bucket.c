/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_bucket.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_u64s.h"

/* Entries of a batch, but half its room at most: a bucket of the other half has room after them. */
#define AT_ONCE 16384 /* in the second cache */
#define SPILL_BUFFER ((size_t)65536) /* to write a bucket to a temporary file */

/* Marks of entries of two chunks of which pairs are wanted. */
#define FIRST_CHUNK (1u << SX_JOIN_CHUNK_SHIFT)
#define SECOND_CHUNK (2u << SX_JOIN_CHUNK_SHIFT)

/* ---- streams ---- */

static int begin_place(sx_join_stream *s, unsigned i, simidx_error *err)
{
	const sx_join_source *source = s->source;
	const sx_join_order *order = &source->of[i];
	sx_join_place *place = &s->of[i];
	sx_sort_key key = { s->from, 0 };
	int rc;

	place->fresh_at = sx_u64s_below(order->fresh, order->n_fresh, s->from);
	if (order->sorter)
		return SIMIDX_OK;
	if (order->spill) {
		rc = sx_frames_init(&place->frames, order->spill, 1, SPILL_BUFFER, err);
		sx_frames_seek(&place->frames, 0, sx_spill_size(order->spill));
		return rc;
	}
	if (source->lock)
		pthread_mutex_lock(source->lock);
	rc = sx_table_walk_begin(&place->walk, order->input->snapshot.txn, order->table,
				 s->from ? &key : NULL, err);
	if (source->lock)
		pthread_mutex_unlock(source->lock);
	sx_table_walk_share(&place->walk, source->lock);
	return sx_join_failed(order->input, rc, err);
}

int sx_join_stream_begin(sx_join_stream *s, const sx_join_source *source, uint64_t from,
			 uint64_t last, simidx_error *err)
{
	int rc = SIMIDX_OK;

	s->source = source;
	s->from = from;
	s->last = last;
	for (unsigned i = 0; !rc && i < source->n; i++)
		rc = begin_place(s, i, err);
	return rc;
}

void sx_join_stream_end(sx_join_stream *s)
{
	pthread_mutex_t *lock = s->source ? s->source->lock : NULL;

	if (lock)
		pthread_mutex_lock(lock);
	for (unsigned i = 0; i < 2; i++) {
		sx_join_place *place = &s->of[i];
		sx_join_place empty = { .merged = place->merged, .merged_cap = place->merged_cap };

		sx_table_walk_end(&place->walk);
		sx_frames_free(&place->frames);
		*place = empty;
	}
	if (lock)
		pthread_mutex_unlock(lock);
}

void sx_join_stream_free(sx_join_stream *s)
{
	sx_join_stream_end(s);
	free(s->of[0].merged);
	free(s->of[1].merged);
	memset(s, 0, sizeof(*s));
}

/* Put the fresh entries between those of a piece; after the last piece all that are left. */
static int merge_fresh(sx_join_place *s, const sx_join_order *order, uint64_t last,
		       simidx_error *err)
{
	const uint64_t *fresh = order->fresh, *key = s->piece;
	size_t to = s->fresh_at, n_fresh = order->n_fresh, n = s->n, i = 0, out = 0;

	while (to < n_fresh && fresh[to] <= last && (s->has_ended || fresh[to] <= key[n - 1]))
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

/* Read the next piece of the table that has something in the range. */
static int read_table(sx_join_stream *stream, unsigned i, simidx_error *err)
{
	const sx_join_order *order = &stream->source->of[i];
	sx_join_place *s = &stream->of[i];
	const sx_rows *rows = &s->walk.rows;

	while (!s->n && !s->has_ended) {
		int rc = sx_table_walk_next(&s->walk, err);
		size_t from = 0, n = rc ? 0 : rows->n;

		if (rc && rc != SIMIDX_E_END)
			return sx_join_failed(order->input, rc, err);
		s->has_ended = rc == SIMIDX_E_END || (n && rows->key[n - 1] >= stream->last);
		if (n && rows->key[0] < stream->from)
			from = sx_u64s_below(rows->key, n, stream->from);
		if (n && rows->key[n - 1] > stream->last)
			n = sx_u64s_below(rows->key, n, stream->last + 1);
		s->piece = from ? rows->key + from : rows->key;
		s->n = n - from;
		if (s->fresh_at < order->n_fresh && (s->n || s->has_ended) &&
		    merge_fresh(s, order, stream->last, err))
			return SIMIDX_E_NOMEM;
	}
	return s->n ? SIMIDX_OK : SIMIDX_E_END;
}

/* Have an entry of input i at hand. SIMIDX_E_END without setting err; the codes of a walk. */
static int more(sx_join_stream *stream, unsigned i, simidx_error *err)
{
	const sx_join_order *order = &stream->source->of[i];
	sx_join_place *s = &stream->of[i];
	int rc;

	if (s->at < s->n)
		return SIMIDX_OK;
	s->at = s->n = 0;
	if (order->table)
		return read_table(stream, i, err);
	if (order->sorter)
		return sx_sorter_some(order->sorter, &s->piece, &s->n, err);
	rc = sx_frames_next(&s->frames, err);
	s->piece = s->frames.record;
	s->n = s->frames.n;
	return rc;
}

/* ---- sources ---- */

/* The table that has this order, or NULL. */
static const sx_table *table_of(const simidx *index, const sx_perm *perm)
{
	if (!perm)
		return &index->tables.permuted[0]; /* its order is that of fingerprints */
	for (unsigned t = 0; t < index->schema->plan.n_tables; t++) {
		const sx_perm *of = &index->schema->plan.table[t];

		if (of->n_leads == perm->n_leads && of->prefix_mask == perm->prefix_mask &&
		    !memcmp(of->lead, perm->lead, perm->n_leads * sizeof(*of->lead)))
			return &index->tables.permuted[t];
	}
	return NULL;
}

static int take_fresh(sx_join_order *order, const sx_perm *perm, simidx_error *err)
{
	const sx_join_input *in = order->input;

	if (!in->n_fresh)
		return SIMIDX_OK;
	order->fresh = sx_realloc(NULL, in->n_fresh, sizeof(*order->fresh));
	if (!order->fresh)
		return sx_fail_nomem(err);
	for (size_t i = 0; i < in->n_fresh; i++)
		order->fresh[i] = perm ? sx_permute(perm, in->fresh[i].fp) : in->fresh[i].fp;
	if (sx_sort_u64(order->fresh, in->n_fresh))
		return sx_fail_nomem(err);
	order->n_fresh = sx_unique_u64(order->fresh, in->n_fresh);
	return SIMIDX_OK;
}

/* Sort them, from the table that is in the order of fingerprints. A stable sort by the prefix is
   all that is needed: the other bits are in order already. */
static int sort(sx_join_order *order, const sx_join *join, const sx_perm *perm, simidx_error *err)
{
	uint64_t some[SX_SORTER_SOME], done = 0;
	size_t memory = (size_t)join->options.memory / 4;
	sx_join_source stored = { .join = join, .n = 1 };
	sx_join_stream stream = { 0 };
	sx_join_place *from = &stream.of[0];
	int rc = sx_sorter_new(1, 1, perm->bits - perm->prefix_bits, memory, join->options.tmpdir,
			       &order->sorter, err);

	stored.of[0].input = order->input;
	stored.of[0].table = table_of(order->input->index, NULL);
	if (!rc)
		rc = take_fresh(&stored.of[0], NULL, err);
	if (!rc)
		rc = sx_join_stream_begin(&stream, &stored, 0, UINT64_MAX, err);
	while (!rc && !(rc = more(&stream, 0, err))) {
		done += from->n;
		rc = sx_join_tell(join, "sorting fingerprints", done, sx_join_rows(order->input),
				  err);
		while (!rc && from->at < from->n) {
			size_t n = 0;

			while (n < SX_SORTER_SOME && from->at < from->n)
				some[n++] = sx_permute(perm, from->piece[from->at++]);
			rc = sx_sorter_add_some(order->sorter, some, n, err);
		}
	}
	sx_join_stream_free(&stream);
	sx_join_source_end(&stored);
	return rc == SIMIDX_E_END ? sx_sorter_finish(order->sorter, memory, err) : rc;
}

int sx_join_source_begin(sx_join_source *s, const sx_join *join, const sx_perm *perm,
			 pthread_mutex_t *lock, simidx_error *err)
{
	int rc = SIMIDX_OK;

	s->join = join;
	s->n = join->n_inputs;
	s->lock = lock;
	for (unsigned i = 0; !rc && i < s->n; i++) {
		sx_join_order *order = &s->of[i];

		order->input = &join->input[i];
		order->table = table_of(order->input->index, perm);
		s->is_read_once |= !order->table;
		rc = order->table ? take_fresh(order, perm, err) : sort(order, join, perm, err);
	}
	return rc;
}

void sx_join_source_end(sx_join_source *s)
{
	for (unsigned i = 0; i < 2; i++) {
		sx_sorter_free(s->of[i].sorter);
		free(s->of[i].fresh);
	}
	memset(s, 0, sizeof(*s));
}

/* ---- batches ---- */

static void forget_large(sx_join_batch *b)
{
	sx_spill_free(b->spilled[0]);
	sx_spill_free(b->spilled[1]);
	b->spilled[0] = b->spilled[1] = NULL;
	b->has_large = 0;
}

void sx_join_batch_free(sx_join_batch *b)
{
	forget_large(b);
	free(b->v);
	free(b->inputs);
	memset(b, 0, sizeof(*b));
}

static int reserve(sx_join_batch *b, size_t n, int has_inputs, simidx_error *err)
{
	if (sx_reserve(&b->v, &b->v_cap, n + SX_JOIN_PADDING, sizeof(*b->v)) ||
	    (has_inputs && sx_reserve(&b->inputs, &b->inputs_cap, n, 1)))
		return sx_fail_nomem(err);
	return SIMIDX_OK;
}

/* Spill what input number i has of a bucket: entries of the batch up to `end`, and its others. */
static int spill_bucket(sx_join_batch *b, size_t end, sx_join_stream *stream, unsigned i,
			unsigned shift, simidx_error *err)
{
	int has_inputs = stream->source->n == 2;
	sx_join_place *s = &stream->of[i];
	uint64_t some[SX_FRAME_RECORDS];
	int rc = sx_spill_new(stream->source->join->options.tmpdir, SPILL_BUFFER, &b->spilled[i],
			      err);

	for (size_t from = b->n; !rc && from < end;) {
		size_t n = 0;

		for (; n < SX_FRAME_RECORDS && from < end; from++)
			if (!has_inputs || b->inputs[from] >> i & 1)
				some[n++] = b->v[from];
		rc = sx_frames_write(b->spilled[i], some, n, 1, err);
	}
	while (!rc && !(rc = more(stream, i, err))) {
		size_t n = 0;

		while (s->at + n < s->n && !((s->piece[s->at + n] ^ b->large) >> shift))
			n++;
		rc = sx_frames_write(b->spilled[i], s->piece + s->at, n, 1, err);
		s->at += n;
		if (s->at < s->n)
			break;
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* The last bucket is too large: leave it out. */
static int leave_out(sx_join_batch *b, sx_join_stream *stream, unsigned shift, simidx_error *err)
{
	const sx_join_source *source = stream->source;
	size_t end = b->n;
	int rc = SIMIDX_OK;

	b->has_large = 1;
	b->large = b->v[b->n - 1];
	while (b->n && !((b->v[b->n - 1] ^ b->large) >> shift))
		b->n--;
	for (unsigned i = 0; source->is_read_once && !rc && i < source->n; i++)
		rc = spill_bucket(b, end, stream, i, shift, err);
	return rc;
}

/* How many of the entries at hand belong to the batch; all of them = there may be more. */
static size_t belonging(const sx_join_batch *b, const sx_join_place *s, unsigned shift,
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

static int read_one(sx_join_batch *b, sx_join_stream *stream, unsigned shift, size_t max,
		    simidx_error *err)
{
	sx_join_place *s = &stream->of[0];
	size_t at_once = max / 2 < AT_ONCE ? max / 2 : AT_ONCE;

	for (;;) {
		int rc = more(stream, 0, err);
		size_t n;

		if (rc)
			return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
		n = belonging(b, s, shift, at_once);
		if (!n)
			return SIMIDX_OK;
		if (b->n + n > max)
			return leave_out(b, stream, shift, err);
		if (reserve(b, b->n + n, 0, err))
			return SIMIDX_E_NOMEM;
		memcpy(b->v + b->n, s->piece + s->at, n * sizeof(*b->v));
		b->n += n;
		s->at += n;
	}
}

static int read_two(sx_join_batch *b, sx_join_stream *stream, unsigned shift, size_t max,
		    simidx_error *err)
{
	sx_join_place *s = stream->of;
	size_t at_once = max / 2 < AT_ONCE ? max / 2 : AT_ONCE;

	for (;;) {
		uint64_t next = UINT64_MAX;
		int has[2];

		for (unsigned i = 0; i < 2; i++) {
			int rc = s[i].at < s[i].n ? SIMIDX_OK : more(stream, i, err);

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
			return leave_out(b, stream, shift, err);
		if ((b->n + SX_JOIN_PADDING >= b->v_cap || b->n >= b->inputs_cap) &&
		    reserve(b, b->n + AT_ONCE, 1, err))
			return SIMIDX_E_NOMEM;
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

int sx_join_batch_read(sx_join_batch *b, sx_join_stream *stream, unsigned shift, size_t max,
		       simidx_error *err)
{
	int rc;

	b->n = 0;
	forget_large(b);
	rc = stream->source->n == 1 ? read_one(b, stream, shift, max, err)
				    : read_two(b, stream, shift, max, err);
	if (!rc && b->n)
		memset(b->v + b->n, 0, SX_JOIN_PADDING * sizeof(*b->v));
	return rc;
}

/* ---- a bucket without room ---- */

/* Reads the bucket, and joins the entries that have a value of some bits. */
struct large {
	const sx_join_source *source; /* the bucket is what it has in this range: */
	uint64_t from, last;
	sx_join_stream stream;
	sx_join_batch some;  /* entries that were read last */
	size_t at;
	sx_join_batch *room; /* for entries that are joined */
	size_t max;          /* entries that it has room for */
	uint64_t mask, value;
	sx_join_constraint constraint;
	sx_joiner *joiner;
	simidx_error *err;
};

static int begin_large(struct large *l)
{
	l->at = l->some.n = 0;
	sx_join_stream_end(&l->stream);
	return sx_join_stream_begin(&l->stream, l->source, l->from, l->last, l->err);
}

/* Have an entry at hand, if there are more of them. */
static int more_large(struct large *l)
{
	int rc;

	if (l->at < l->some.n)
		return SIMIDX_OK;
	l->at = 0;
	rc = sx_join_batch_read(&l->some, &l->stream, 64, SIZE_MAX, l->err);
	return rc ? rc : sx_joiner_pause(l->joiner);
}

/* Put the next entries with the value behind those that are there, until there are `n` of them. */
static int fill(struct large *l, size_t n)
{
	sx_join_batch *b = l->room;
	int has_inputs = l->source->n == 2, rc = SIMIDX_OK;

	while (!rc && b->n < n && !(rc = more_large(l)) && l->some.n)
		for (; b->n < n && l->at < l->some.n; l->at++) {
			uint64_t x = l->some.v[l->at];

			if ((x & l->mask) != l->value)
				continue;
			b->v[b->n] = x;
			b->inputs[b->n++] = has_inputs ? l->some.inputs[l->at] : 3;
		}
	memset(b->v + b->n, 0, SX_JOIN_PADDING * sizeof(*b->v));
	return rc;
}

/* Count the entries, and see which bits are not alike in all. */
static int survey(struct large *l, uint64_t *n, uint64_t *varies)
{
	uint64_t any = 0;
	int rc = begin_large(l);

	*n = *varies = 0;
	while (!rc && !(rc = more_large(l)) && l->some.n) {
		any = *n ? any : l->some.v[0];
		*n += l->some.n;
		for (; l->at < l->some.n; l->at++)
			*varies |= l->some.v[l->at] ^ any;
	}
	return rc;
}

static int join_room(struct large *l, int has_inputs)
{
	const sx_join_batch *b = l->room;
	sx_join_constraint constraint = l->constraint;

	constraint.agreed |= l->mask;
	sx_joiner_begin(l->joiner, &constraint);
	return sx_joiner_run(l->joiner, b->v, has_inputs ? b->inputs : NULL, b->n);
}

/* Cut them in chunks of which two have room. Each is joined, and then each with each later one. */
static int join_chunks(struct large *l)
{
	sx_join_batch *b = l->room;
	size_t half = l->max / 2, n = half;
	int rc = SIMIDX_OK;

	for (size_t chunk = 0; !rc && n == half; chunk++) {
		rc = begin_large(l);
		for (size_t i = 0; !rc && i <= chunk; i++) {
			b->n = 0;
			rc = fill(l, half);
		}
		n = b->n;
		if (!rc && n)
			rc = join_room(l, l->source->n == 2);
		for (size_t i = 0; i < n; i++)
			b->inputs[i] |= FIRST_CHUNK;
		while (!rc && n == half) {
			b->n = n;
			rc = fill(l, 2 * half);
			if (rc || b->n == n)
				break;
			for (size_t i = n; i < b->n; i++)
				b->inputs[i] |= SECOND_CHUNK;
			rc = join_room(l, 1);
		}
	}
	return rc;
}

static int join_value(struct large *l)
{
	int rc = begin_large(l);

	l->room->n = 0;
	if (!rc)
		rc = fill(l, l->max + 1);
	if (!rc)
		rc = l->room->n > l->max ? join_chunks(l) : join_room(l, l->source->n == 2);
	return rc;
}

/*
 * Some more bits are chosen k + 1 times: a pair within k errors agrees in one of the choices, and
 * the first of these reports it. So the entries are read for each value of each choice. If still
 * too many have one value, they are joined in chunks, which takes time by their square.
 */
static int join_large(struct large *l)
{
	unsigned k = l->constraint.k, width = 1;
	uint64_t n, varies;
	int rc = survey(l, &n, &varies);

	while (n >> width > l->max / 2)
		width++;
	while (width && width * (k + 1) > sx_count_plain(varies))
		width--;
	if (!rc && (!width || n <= l->max))
		return join_value(l);
	for (unsigned i = 0; !rc && i <= k; i++) {
		l->mask = 0;
		for (unsigned bit = 0; bit < width; bit++)
			l->mask |= UINT64_C(1) << (63 - __builtin_clzll(varies & ~l->mask));
		varies &= ~l->mask;
		for (uint64_t value = 0; !rc && !(value >> width); value++) {
			l->value = sx_pdep(value, l->mask);
			rc = join_value(l);
		}
		l->constraint.must[l->constraint.n_must++] = l->mask;
	}
	return rc;
}

int sx_join_large(const sx_join_source *source, sx_join_batch *batch,
		  const sx_join_constraint *constraint, size_t max, sx_joiner *joiner,
		  simidx_error *err)
{
	sx_join_source spilled = { .join = source->join, .n = source->n };
	struct large l = { .source = source->is_read_once ? &spilled : source,
			   .from = batch->large & constraint->agreed, .room = batch, .max = max,
			   .constraint = *constraint, .joiner = joiner, .err = err };
	int rc = reserve(batch, max + 1, 1, err);

	l.last = l.from | (sx_low_bits(constraint->bits) & ~constraint->agreed);
	for (unsigned i = 0; i < source->n; i++)
		spilled.of[i] = (sx_join_order){ .input = source->of[i].input,
						 .spill = batch->spilled[i] };
	if (!rc)
		rc = join_large(&l);
	sx_join_stream_free(&l.stream);
	sx_join_batch_free(&l.some);
	return rc;
}

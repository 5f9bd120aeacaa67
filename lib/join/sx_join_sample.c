/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_sample.h"

#include <stdlib.h>

#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

#define BUCKETS 256       /* that are looked at */
#define BUCKET_ENTRIES 64 /* at least, in an index without skew */
#define MOST_ENTRIES 4096 /* of a bucket with many more */

struct sample {
	const sx_join_task *task;
	unsigned width; /* bits in which those of a bucket agree */
	sx_join_batch batch;
	uint32_t *hits;
	double pairs;
};

/* For one pair that agrees in the first bits there are so many that differ in as many others. */
static double weight_of(unsigned bits, unsigned width, unsigned distance)
{
	double weight = 1;

	for (unsigned i = 0; i < distance; i++)
		weight *= (double)(bits - i) / (double)(bits - width - i);
	return weight;
}

static void count_bucket(struct sample *s)
{
	const sx_join_batch *b = &s->batch;
	const sx_kernel *kernel = sx_join_kernel(s->task);
	unsigned bits = s->task->side[0].index->schema->bits;
	size_t n = b->n < MOST_ENTRIES ? b->n : MOST_ENTRIES;

	for (size_t i = 0; i + 1 < n; i++) {
		size_t found = kernel->near_u64(b->v + i + 1, n - i - 1, b->v[i], s->task->k, s->hits);

		for (size_t h = 0; h < found; h++) {
			size_t j = i + 1 + s->hits[h];
			unsigned x = 3, y = 3;

			if (s->task->n_sides == 2) {
				x = b->sides[i];
				y = b->sides[j];
			}
			if ((x & 1 && y & 2) || (x & 2 && y & 1))
				s->pairs += weight_of(bits, s->width, sx_count_plain(b->v[i] ^ b->v[j]));
		}
	}
}

/* Buckets are taken from as many strips of the same size, anywhere in each. */
static int read_buckets(struct sample *s, const sx_join_source *source, sx_join_stream *stream,
			simidx_error *err)
{
	unsigned shift = s->task->side[0].index->schema->bits - s->width;
	uint64_t all = UINT64_C(1) << s->width, strips = all < BUCKETS ? all : BUCKETS;
	int rc = SIMIDX_OK;

	for (uint64_t i = 0; !rc && i < strips; i++) {
		uint64_t step = all / strips, at = i * step + sx_hash_u64(i) % step;
		uint64_t from = s->width ? at << shift : 0;

		for (unsigned k = 0; !rc && k < s->task->n_sides; k++) {
			sx_join_stream_end(&stream[k]);
			rc = sx_join_stream_begin(&stream[k], &source[k], from, from | sx_low_bits(shift),
						  err);
		}
		if (!rc)
			rc = sx_join_batch_read(&s->batch, stream, s->task->n_sides, 64, SIZE_MAX, err);
		if (!rc)
			count_bucket(s);
	}
	s->pairs *= (double)all / (double)strips;
	return rc;
}

int sx_join_sample(sx_join_task *task, double *pairs, simidx_error *err)
{
	static const sx_perm identity;
	struct sample s = { .task = task };
	sx_join_source source[2] = { { 0 }, { 0 } };
	sx_join_stream stream[2] = { { 0 }, { 0 } };
	uint64_t n = 0;
	int rc = SIMIDX_OK;

	*pairs = 0;
	s.hits = sx_realloc(NULL, MOST_ENTRIES, sizeof(*s.hits));
	if (!s.hits)
		return sx_fail_nomem(err);
	for (unsigned i = 0; !rc && i < task->n_sides; i++) {
		n += sx_join_rows(&task->side[i]);
		rc = sx_join_source_begin(&source[i], &task->side[i], &identity, &task->space, NULL, err);
	}
	while (n >> s.width >= 2 * BUCKET_ENTRIES && s.width < task->side[0].index->schema->bits)
		s.width++;
	if (!rc)
		rc = read_buckets(&s, source, stream, err);
	*pairs = rc ? 0 : s.pairs;
	for (unsigned i = 0; i < 2; i++) {
		sx_join_stream_end(&stream[i]);
		sx_join_stream_free(&stream[i]);
		sx_join_source_end(&source[i]);
	}
	sx_join_batch_free(&s.batch);
	free(s.hits);
	return rc;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "engine/subject.h"

#include <string.h>

const char *const plans[N_PLANS] = { "4x16", "10x26", "16x28", "20x31" };

static uint64_t low_bits(unsigned n)
{
	return n < 64 ? (UINT64_C(1) << n) - 1 : UINT64_MAX;
}

void subject_begin(struct subject *s, const char *plan, unsigned bits, unsigned flags)
{
	memset(s, 0, sizeof(*s));
	s->bits = bits;
	s->flags = flags;
	sxt_rng_init(&s->rng, 91000 + bits + flags);
	s->common2 = sxt_rng_u64(&s->rng);
	sxt_model_init(&s->model, bits, flags);
	s->index = engines_create(engines_uri(), plan, bits, flags);
	s->reader = sxt_reader(s->index);
}

void subject_end(struct subject *s)
{
	simidx_reader_close(s->reader);
	simidx_close(s->index);
	sxt_model_free(&s->model);
}

uint64_t subject_any(struct subject *s)
{
	return sxt_rng_u64(&s->rng) & low_bits(s->bits);
}

void subject_add(struct subject *s, uint64_t fp)
{
	sxt_model_add(&s->model, fp, &s->rng);
	if (s->flags & SIMIDX_CREATE_FP2)
		s->model.at[s->model.n - 1].fp2 = sxt_rng_flip(
			&s->rng, s->common2, 64, (unsigned)sxt_rng_below(&s->rng, 10));
}

void subject_fill(struct subject *s, unsigned n)
{
	uint64_t centre = 0;

	for (unsigned i = 0; i < n; i++) {
		if (i % 32 == 0)
			centre = subject_any(s);
		if (i % 4 == 0)
			subject_add(s, subject_any(s));
		else if (i % 4 == 1)
			subject_add(s, sxt_rng_flip(&s->rng, centre, s->bits, i / 4 % 8));
		else if (i % 4 == 2)
			subject_add(s, i % 3 ? centre
					     : subject_any(s) | low_bits(16) << i % (s->bits - 15));
		else
			subject_add(s, sxt_rng_flip(&s->rng, i % 8 == 3 ? 0 : low_bits(s->bits),
						    s->bits, i / 8 % 5));
	}
	sxt_model_shuffle(&s->model, &s->rng);
}

uint64_t subject_near(struct subject *s, unsigned i)
{
	static const uint64_t special[] = { 0, UINT64_MAX, UINT64_C(0xffff000000000000), 0xffff };
	uint64_t fp = subject_any(s);

	if (i % 8 == 7)
		return special[i / 8 % 4] & low_bits(s->bits);
	if (s->model.n && i % 8)
		fp = s->model.at[sxt_rng_below(&s->rng, s->model.n)].fp;
	return sxt_rng_flip(&s->rng, fp, s->bits, (unsigned)sxt_rng_below(&s->rng, 5));
}

static void choose_weights(struct subject *s, uint8_t weights[64])
{
	unsigned kind = (unsigned)sxt_rng_below(&s->rng, 5);

	for (unsigned b = 0; b < 64; b++) {
		unsigned any = (unsigned)sxt_rng_below(&s->rng, 256);

		weights[b] = (uint8_t)(kind == 0   ? any
				       : kind == 1 ? (any % 3 ? 0 : any % 20)
				       : kind == 2 ? (any % 6 ? 7 : 0)
				       : kind == 3 ? 1 + any % 4
						   : any % 60);
	}
}

simidx_query subject_any_query(struct subject *s, unsigned i, uint8_t weights[64],
			      uint8_t weights2[64])
{
	simidx_query q = SIMIDX_QUERY_INIT;

	q.fp = subject_near(s, i);
	q.radius = (unsigned)sxt_rng_below(&s->rng, 8);
	if (i % 3) {
		choose_weights(s, weights);
		choose_weights(s, weights2);
		q.weights = weights;
		for (q.radius = 0; sxt_rng_below(&s->rng, 5);)
			q.radius += weights[sxt_rng_below(&s->rng, s->bits)];
	}
	if (s->flags & SIMIDX_CREATE_FP2 && i % 2) {
		q.flags = SIMIDX_QUERY_FP2;
		q.fp2 = sxt_rng_flip(&s->rng, s->common2, 64, 2);
		q.weights2 = q.weights ? weights2 : NULL;
		q.radius2 = q.radius + (unsigned)sxt_rng_below(&s->rng, q.weights ? 400 : 14);
	}
	if (!sxt_rng_below(&s->rng, 4))
		q.flags |= SIMIDX_QUERY_TEXT;
	if (!sxt_rng_below(&s->rng, 4))
		q.max_bits = 1 + (unsigned)sxt_rng_below(&s->rng, 8);
	q.flags |= i % 5 ? 0 : SIMIDX_QUERY_LABELS;
	return q;
}

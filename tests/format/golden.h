/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the golden indexes hold, by arithmetic. Part of their content: a change here needs new
 * golden files.
 */

#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

/**
 * One golden index. Documents are put in three parts; the first two are merged, each alone. Then
 * some are deleted, in a commit of its own.
 */
struct golden {
	const char *name;
	const char *plan;
	unsigned bits;
	unsigned is_rows;
	/* 2 without ids, 4 with second fingerprints, 16 with times, 32 with notes */
	unsigned flags;
	unsigned fill;
	const char *profile;
	unsigned n_check_fps;
	unsigned part[3]; /* where the parts end */
	unsigned has_deleted;
};

#define GOLDEN_NO_IDS 2
#define GOLDEN_FP2 4
#define GOLDEN_TIMES 16
#define GOLDEN_NOTES 32

static const struct golden goldens[] = {
	{ "blocks", "4x16", 64, 0, GOLDEN_FP2, 90, "golden v1 bits=64", 3, { 260, 520, 560 }, 0 },
	{ "rows", "10x26", 32, 1, GOLDEN_TIMES, 90, "", 0, { 70, 120, 150 }, 0 },
	{ "bare", "10x26", 45, 0, GOLDEN_NO_IDS, 75, "", 0, { 800, 1400, 1430 }, 0 },
	{ "deleted", "4x16", 64, 0, GOLDEN_FP2 | GOLDEN_TIMES | GOLDEN_NOTES, 90, "", 0,
	  { 100, 200, 230 }, 1 },
};

#define N_GOLDENS (sizeof(goldens) / sizeof(goldens[0]))

#define GOLDEN_MAX_LABEL 3000
#define GOLDEN_MAX_NOTE 5000

struct golden_doc {
	uint64_t id, fp, fp2;
	uint32_t time; /* 0 = unknown */
	unsigned label_size; /* 0 = no label */
	char label[GOLDEN_MAX_LABEL + 1];
	unsigned note_size; /* 0 = no note */
	unsigned char note[GOLDEN_MAX_NOTE];
};

static inline uint64_t golden_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/** Whether document number i is deleted in the end; by its label, if it has one. */
static inline int golden_is_deleted(const struct golden *g, unsigned i)
{
	return g->has_deleted && i % 7 == 5;
}

static inline uint64_t golden_check_fp(unsigned i)
{
	return golden_mix(1000000 + i);
}

/** Document number i: some share fingerprints, some labels are long, ids do not ascend. */
static inline void golden_doc(const struct golden *g, unsigned i, struct golden_doc *d)
{
	memset(d, 0, sizeof(*d));
	d->fp = golden_mix(i % 5 == 4 ? i - 3 : i);
	if (i < 2)
		d->fp = i ? UINT64_MAX : 0;
	d->fp &= UINT64_MAX >> (64 - g->bits);
	d->id = UINT64_MAX;
	if (g->flags & GOLDEN_NO_IDS)
		return;
	d->id = i % 4 == 3 ? 100000 + i : 2 * i;
	if (g->flags & GOLDEN_FP2)
		d->fp2 = golden_mix(2000000 + i);
	if (g->flags & GOLDEN_TIMES)
		d->time = i % 6 == 1 ? 0 : i == 2 ? UINT32_MAX : (uint32_t)golden_mix(3000000 + i);
	if (g->flags & GOLDEN_NOTES && i % 4 == 1)
		d->note_size = i == 33 ? GOLDEN_MAX_NOTE : i % 50 + 1;
	for (unsigned b = 0; b < d->note_size; b++)
		d->note[b] = (unsigned char)golden_mix(4000000 + i + b);
	if (i == 30) {
		d->label_size = GOLDEN_MAX_LABEL;
		memset(d->label, 'x', d->label_size);
	} else if (i % 3 == 0) {
		d->label_size = (unsigned)snprintf(d->label, sizeof(d->label), "doc/%u", i);
	}
}

#endif /* GOLDEN_H */

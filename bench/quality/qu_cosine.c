/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "quality/qu_cosine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bn_util.h"

static uint32_t root_of(uint32_t *root, uint32_t doc)
{
	while (root[doc] != doc)
		doc = root[doc] = root[root[doc]];
	return doc;
}

void qu_kinship_of(struct qu_kinship *kinship, const struct qu_set *set)
{
	size_t i;

	kinship->set = set;
	kinship->next = 0;
	kinship->root = bn_alloc(set->n, sizeof(*kinship->root));
	kinship->kin = bn_alloc(set->n, 1);
	for (i = 0; i < set->n; i++)
		kinship->root[i] = (uint32_t)i;
	for (i = 0; i < set->n_pairs; i++)
		if (set->pairs[i].label != QU_NOT)
			kinship->root[root_of(kinship->root, set->pairs[i].later)] =
				root_of(kinship->root, set->pairs[i].earlier);
	for (i = 0; i < set->n; i++)
		kinship->root[i] = root_of(kinship->root, (uint32_t)i);
}

void qu_kinship_free(struct qu_kinship *kinship)
{
	free(kinship->root);
	free(kinship->kin);
}

void qu_kinship_step(struct qu_kinship *kinship, size_t later)
{
	const struct qu_set *set = kinship->set;
	const struct qu_pair *pair;

	if (!later)
		kinship->next = 0;
	for (size_t i = 0; i < later; i++)
		kinship->kin[i] = kinship->root[i] == kinship->root[later] ? QU_RELATED
									   : QU_UNRELATED;
	for (; kinship->next < set->n_pairs; kinship->next++) {
		pair = &set->pairs[kinship->next];
		if (pair->later != later)
			break;
		kinship->kin[pair->earlier] = pair->label == QU_NOT ? QU_ALIKE : QU_RELATED;
	}
}

/* Which documents have a feature, and how much of each document it is. */
struct posting {
	uint32_t doc;
	float share;
};

struct postings {
	uint64_t *hashes;      /* different ones, ascending */
	size_t n_hashes;
	size_t *start, *end;   /* of each hash's postings; the end moves as documents come */
	struct posting *list;
};

static int compare_hashes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static size_t find(const struct postings *p, uint64_t hash)
{
	const uint64_t *at =
		bsearch(&hash, p->hashes, p->n_hashes, sizeof(hash), compare_hashes);

	return (size_t)(at - p->hashes);
}

/* Features of the first fingerprint, or of the second. */
static const struct qu_features *of(const struct qu_features *features, int second)
{
	return second ? features->second : features;
}

static void open_postings(struct postings *p, const struct qu_features *features, size_t n,
			  int second)
{
	size_t total = 0, i, j;

	for (i = 0; i < n; i++)
		total += of(&features[i], second)->n;
	p->hashes = bn_alloc(total + 1, sizeof(*p->hashes));
	p->list = bn_alloc(total + 1, sizeof(*p->list));
	p->start = bn_alloc(total + 1, sizeof(*p->start));
	p->end = bn_alloc(total + 1, sizeof(*p->end));
	for (i = total = 0; i < n; i++)
		for (j = 0; j < of(&features[i], second)->n; j++)
			p->hashes[total++] = of(&features[i], second)->list[j].hash;
	qsort(p->hashes, total, sizeof(*p->hashes), compare_hashes);
	p->n_hashes = 0;
	for (i = 0; i < total; i++) {
		if (i && p->hashes[i] == p->hashes[p->n_hashes - 1])
			continue;
		p->start[p->n_hashes] = p->end[p->n_hashes] = i;
		p->hashes[p->n_hashes++] = p->hashes[i];
	}
}

static void close_postings(struct postings *p)
{
	free(p->hashes);
	free(p->list);
	free(p->start);
	free(p->end);
}

/* Cosines with all documents before this one; then it joins them. */
static void add_document(struct postings *p, const struct qu_features *f, size_t doc,
			 float *cosine)
{
	double square = 0;
	size_t i, at, which;

	memset(cosine, 0, doc * sizeof(*cosine));
	for (i = 0; i < f->n; i++)
		square += pow(f->list[i].weight, 2);
	for (i = 0; i < f->n; i++) {
		float share = (float)(f->list[i].weight / sqrt(square));

		which = find(p, f->list[i].hash);
		for (at = p->start[which]; at < p->end[which]; at++)
			cosine[p->list[at].doc] += share * p->list[at].share;
		p->list[p->end[which]++] = (struct posting){ (uint32_t)doc, share };
	}
}

static void add_pair(struct qu_cosines *to, float cosine, const size_t group[2])
{
	size_t bin = (size_t)fmin(fmax(cosine, 0) * QU_BINS, QU_BINS - 1);

	to->all[bin]++;
	to->with[group[0]][bin]++;
	if (group[0] != group[1])
		to->with[group[1]][bin]++;
	to->n++;
}

/* Between the points of the grid. */
static float stands_for(const struct qu_same *same, float first, float second)
{
	double x = fmin(fmax(first, 0), 1) * QU_SAME_GRID;
	double y = fmin(fmax(second, 0), 1) * QU_SAME_GRID;
	size_t i = (size_t)fmin(x, QU_SAME_GRID - 1), j = (size_t)fmin(y, QU_SAME_GRID - 1);

	x -= (double)i;
	y -= (double)j;
	return (float)((1 - x) * ((1 - y) * same->of[i][j] + y * same->of[i][j + 1]) +
		       x * ((1 - y) * same->of[i + 1][j] + y * same->of[i + 1][j + 1]));
}

void qu_cosines_of(const struct qu_set *set, const struct qu_features *features,
		   const struct qu_same *same, struct qu_cosines *unrelated,
		   struct qu_cosines *alike)
{
	float *cosine = bn_alloc(set->n, sizeof(*cosine));
	float *second = bn_alloc(set->n, sizeof(*second));
	struct postings postings, postings2;
	struct qu_kinship kinship;
	size_t i, j, group[2];

	memset(unrelated, 0, sizeof(*unrelated));
	memset(alike, 0, sizeof(*alike));
	qu_kinship_of(&kinship, set);
	open_postings(&postings, features, set->n, 0);
	if (same)
		open_postings(&postings2, features, set->n, 1);
	for (i = 0; i < set->n; i++) {
		qu_kinship_step(&kinship, i);
		add_document(&postings, &features[i], i, cosine);
		if (same)
			add_document(&postings2, features[i].second, i, second);
		for (j = 0; same && j < i; j++)
			cosine[j] = stands_for(same, cosine[j], second[j]);
		group[0] = bn_mix(kinship.root[i]) % QU_GROUPS;
		for (j = 0; j < i; j++) {
			group[1] = bn_mix(kinship.root[j]) % QU_GROUPS;
			if (kinship.kin[j] != QU_RELATED)
				add_pair(kinship.kin[j] == QU_ALIKE ? alike : unrelated,
					 cosine[j], group);
		}
	}
	close_postings(&postings);
	if (same)
		close_postings(&postings2);
	qu_kinship_free(&kinship);
	free(cosine);
	free(second);
}

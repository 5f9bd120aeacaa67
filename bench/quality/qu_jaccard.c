/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "quality/qu_jaccard.h"

#include <stdlib.h>

#include "bn_util.h"

struct sd_shingles *qu_shingles_of(const struct qu_set *set)
{
	struct sd_shingles *shingles = bn_alloc(set->n, sizeof(*shingles));
	struct sd_shingler *shingler;
	simidx_error err;

	bn_check(sd_shingler_open(&shingler, &err), &err, "shingles");
	for (size_t i = 0; i < set->n; i++)
		bn_check(sd_shingles_make(shingler, set->docs[i].text, set->docs[i].size,
					  &shingles[i], &err), &err, set->docs[i].id);
	sd_shingler_close(shingler);
	return shingles;
}

void qu_shingles_free(struct sd_shingles *shingles, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sd_shingles_free(&shingles[i]);
	free(shingles);
}

/* All pairs are compared whose numbers of shingles allow it. */
void qu_each_similar(const struct sd_shingles *shingles, size_t n, double similarity,
		     void (*call)(void *ctx, size_t later, size_t earlier), void *ctx)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < i; j++) {
			double a = (double)shingles[i].n, b = (double)shingles[j].n;

			if ((a < b ? a : b) >= similarity * (a < b ? b : a) &&
			    sd_shingles_jaccard(&shingles[i], &shingles[j]) >= similarity)
				call(ctx, i, j);
		}
}

double qu_parse_similarity(const char *text)
{
	char *end;
	double similarity = strtod(text, &end);

	if (end == text || *end || !(similarity > 0) || similarity > 1)
		bn_die("--similarity: expected a number above 0 and at most 1, found '%s'", text);
	return similarity;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "quality/qu_strangers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_text.h>

#include "bn_util.h"
#include "quality/qu_chance.h"
#include "quality/qu_report.h"

/* The usual limits; wider ones, as there is something to count within these; those of if-new. */
static const struct qu_rule plain[] = {
	{ QU_PLAIN, 3, QU_TABLE },  { QU_PLAIN, 5, QU_TABLE },	 { QU_PLAIN, 7, QU_TABLE },
	{ QU_PLAIN, 10, QU_TABLE }, { QU_PLAIN, 14, QU_TABLE },
};
static const struct qu_rule weighted[] = {
	{ QU_WEIGHTS, SIMIDX_TEXT_RADIUS_NO_FP2, QU_TABLE },
	{ QU_WEIGHTS, 90, QU_TABLE },
	{ QU_WEIGHTS, 120, QU_TABLE },
	{ QU_WEIGHTS, 180, QU_TABLE },
	{ QU_WEIGHTS_FP2, SIMIDX_TEXT_RADIUS_IF_NEW_SAME, QU_TABLE },
	{ QU_WEIGHTS_FP2, SIMIDX_TEXT_RADIUS_SAME, QU_TABLE },
	{ QU_WEIGHTS_FP2, SIMIDX_TEXT_RADIUS_IF_NEW, QU_TABLE },
	{ QU_WEIGHTS_FP2, 192, QU_TABLE },
	{ QU_WEIGHTS_FP2, SIMIDX_TEXT_RADIUS, QU_TABLE },
	{ QU_WEIGHTS_FP2, 256, QU_TABLE },
	{ QU_WEIGHTS_FP2, 384, QU_TABLE },
	{ QU_WEIGHTS_FP2, 512, QU_TABLE },
};

#define N_PLAIN (sizeof(plain) / sizeof(*plain))
#define N_WEIGHTED (sizeof(weighted) / sizeof(*weighted))
#define MAX_RULES (N_PLAIN + N_WEIGHTED)

/* What was counted by one rule. */
struct counted {
	uint64_t unrelated, alike;
};

/* What the bits of each byte weigh that differ from a query's. */
struct sums {
	uint16_t of[2][8][256];
};

static void set_sums(struct sums *sums, const struct qu_fp *query)
{
	for (unsigned which = 0; which < 2; which++) {
		const uint8_t *weights = which ? query->weights2 : query->weights;

		for (unsigned i = 0; i < 8; i++)
			for (unsigned byte = 1; byte < 256; byte++)
				sums->of[which][i][byte] =
					(uint16_t)(sums->of[which][i][byte & (byte - 1)] +
						   weights[8 * i + (unsigned)__builtin_ctz(byte)]);
	}
}

static unsigned weigh(uint16_t of[8][256], uint64_t bits)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < 8; i++)
		sum += of[i][bits >> 8 * i & 255];
	return sum;
}

/* One document asks, the other is asked for. */
static void compare(struct sums *sums, const struct qu_fp *asks, const struct qu_fp *other,
		    const struct qu_rule *rules, size_t n_rules, int is_alike,
		    struct counted *to)
{
	unsigned distance[3];

	distance[QU_PLAIN] = simidx_distance(asks->fp, other->fp);
	distance[QU_WEIGHTS] = weigh(sums->of[0], asks->fp ^ other->fp);
	distance[QU_WEIGHTS_FP2] =
		distance[QU_WEIGHTS] + weigh(sums->of[1], asks->fp2 ^ other->fp2);
	for (size_t r = 0; r < n_rules; r++)
		if (distance[rules[r].kind] <= rules[r].limit)
			++*(is_alike ? &to[r].alike : &to[r].unrelated);
}

static void count_pairs(const struct qu_set *set, const struct qu_fp *fps,
			const struct qu_rule *rules, size_t n_rules, struct counted *to)
{
	struct sums *sums = bn_alloc(set->n, sizeof(*sums));
	struct qu_kinship kinship;
	size_t i, j;

	qu_kinship_of(&kinship, set);
	for (i = 0; i < set->n; i++) {
		set_sums(&sums[i], &fps[i]);
		qu_kinship_step(&kinship, i);
		for (j = 0; j < i; j++) {
			int is_alike = kinship.kin[j] == QU_ALIKE;

			if (kinship.kin[j] == QU_RELATED)
				continue;
			compare(&sums[i], &fps[i], &fps[j], rules, n_rules, is_alike, to);
			compare(&sums[j], &fps[j], &fps[i], rules, n_rules, is_alike, to);
		}
	}
	qu_kinship_free(&kinship);
	free(sums);
}

struct figures {
	const struct qu_set *set;
	const char *extractor;
	const struct qu_rule *rules;
	size_t n_rules, n_seeds;
	double documents;
	struct qu_cosines unrelated[2], alike[2]; /* for rules of one fingerprint, and of both */
	struct counted counted[MAX_RULES];
	struct qu_chance chance[MAX_RULES];
};

static void print_value(const char *name, struct qu_expected e)
{
	printf(",\"%s\":%.3g,\"%s_low\":%.3g,\"%s_high\":%.3g", name, e.is, name, e.low, name,
	       e.high);
}

static void print_rule(const struct figures *f, size_t r)
{
	const struct qu_chance *chance = &f->chance[r];
	const struct counted *counted = &f->counted[r];
	const struct qu_cosines *unrelated = &f->unrelated[f->rules[r].kind == QU_WEIGHTS_FP2];
	const struct qu_cosines *is_alike = &f->alike[f->rules[r].kind == QU_WEIGHTS_FP2];
	double asked = 2.0 * (double)f->n_seeds;
	double all_pairs = (double)f->set->n * (double)(f->set->n - 1) / 2;
	double expected = qu_expected_of(unrelated, chance, asked * (double)unrelated->n, 0).is;
	double alike_expected = qu_expected_of(is_alike, chance, asked * (double)is_alike->n, 0).is;
	struct qu_expected seen = qu_expected_of(unrelated, chance, f->documents, 0);
	struct qu_expected wrong = qu_expected_of(unrelated, chance, f->documents, 1);
	struct qu_expected alike = qu_expected_of(
		is_alike, chance, f->documents * (double)is_alike->n / all_pairs, 0);
	double by_bits = f->documents * chance->by_bits;
	char name[80];

	printf("{\"bench\":\"quality\",\"set\":\"%s\",\"extractor\":\"%s\",\"rule\":\"%s\""
	       ",\"limit\":%u,\"seeds\":%zu,\"unrelated\":%llu,\"matched\":%llu"
	       ",\"expected\":%.3g,\"alike\":%llu,\"alike_matched\":%llu"
	       ",\"alike_expected\":%.3g,\"documents\":%.3g,\"by_bits\":%.3g",
	       f->set->name, f->extractor, qu_kind_name(f->rules[r].kind), f->rules[r].limit,
	       f->n_seeds, (unsigned long long)unrelated->n,
	       (unsigned long long)counted->unrelated, expected,
	       (unsigned long long)is_alike->n, (unsigned long long)counted->alike,
	       alike_expected, f->documents, by_bits);
	print_value("seen", seen);
	print_value("wrong", wrong);
	print_value("alike_wrong", alike);
	printf("}\n");
	qu_rule_name(f->extractor, &f->rules[r], name, sizeof(name));
	fprintf(stderr,
		"  %-28s %9llu %9.3g %7llu %8.3g %8.1e %8.1e %8.1e %8.1e..%.1e %8.1e %8.1e..%.1e\n",
		name, (unsigned long long)counted->unrelated, expected,
		(unsigned long long)counted->alike, alike_expected, by_bits, seen.is, wrong.is,
		wrong.low, wrong.high, alike.is, alike.low, alike.high);
}

static void print_figures(const struct figures *f)
{
	fprintf(stderr,
		"\n%s: %llu unrelated pairs, %llu alike, asked both ways under %zu seeds; "
		"wrong matches a query among %.3g documents\n",
		f->set->name, (unsigned long long)f->unrelated[0].n,
		(unsigned long long)f->alike[0].n, f->n_seeds, f->documents);
	fprintf(stderr, "  %-28s %9s %9s %7s %8s %8s %8s %8s %17s %8s %17s\n", "", "unrelated",
		"expected", "alike", "expected", "by bits", "seen", "wrong", "95 %", "alike",
		"95 %");
	for (size_t r = 0; r < f->n_rules; r++)
		print_rule(f, r);
	fflush(stdout);
}

void qu_strangers(const struct qu_set *set, const char *extractor, size_t n_seeds,
		  double documents)
{
	struct qu_features *features = qu_features_of(set, extractor);
	struct qu_fp *fps = bn_alloc(set->n, sizeof(*fps));
	struct figures *f = bn_alloc(1, sizeof(*f));
	struct qu_rule rules[MAX_RULES];
	struct qu_same same;

	memcpy(rules, plain, sizeof(plain));
	memcpy(rules + N_PLAIN, weighted, sizeof(weighted));
	f->set = set;
	f->extractor = extractor;
	f->rules = rules;
	f->n_rules = strcmp(extractor, QU_REFERENCE) ? MAX_RULES : N_PLAIN;
	f->n_seeds = n_seeds;
	f->documents = documents;
	for (size_t seed = n_seeds; seed-- > 0;) {
		qu_fingerprints(features, set->n, seed, fps);
		count_pairs(set, fps, rules, f->n_rules, f->counted);
	}
	qu_chances(fps, set->n, rules, f->n_rules, f->chance);
	qu_cosines_of(set, features, NULL, &f->unrelated[0], &f->alike[0]);
	if (set->n && features->second)
		qu_same_of(fps, set->n, SIMIDX_TEXT_RADIUS, &same);
	qu_cosines_of(set, features, set->n && features->second ? &same : NULL, &f->unrelated[1],
		      &f->alike[1]);
	print_figures(f);
	qu_features_free(features, set->n);
	free(fps);
	free(f);
}

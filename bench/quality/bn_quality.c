/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How well near-duplicates of labelled collections are found. README.md in the folder above
 * says how to read the figures.
 */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_text.h>

#include "bn_options.h"
#include "bn_util.h"
#include "quality/qu_report.h"
#include "quality/qu_strangers.h"

#define MAX_RULES 64
#define MAX_RADIUS 10
#define MAX_SEEDS 1000
#define DOCUMENTS 100000000

/* What --help says of them, with more of the defaults. */
#define EXTRACTORS(more)                                                                  \
	"names of libsimidx-text, and " QU_REFERENCE " (words12" more "); with\n"          \
	"settings: words12:stop=en+zh:stem=english,\n"                                    \
	"tfidf:idf=FILE:top=auto; also weights and grams=1+2"

struct bench {
	const char *extractors, *plan, *dir, *apart;
	uint64_t seeds;
	int sketches, strangers;
	double documents; /* how many the wrong matches are predicted for */
	struct qu_set *sets;
	size_t n_sets;
	struct qu_rule rules[MAX_RULES];
	size_t n_plain, n_rules;
};

static void add_rules(struct bench *b, enum qu_rule_kind kind, unsigned from, unsigned to,
		      unsigned step, unsigned usual)
{
	for (unsigned limit = from; limit <= to; limit += step)
		b->rules[b->n_rules++] = (struct qu_rule){ kind, limit, QU_JSON };
	b->rules[b->n_rules++] = (struct qu_rule){ kind, usual, QU_TABLES };
}

/* Plain ones first: they are all that the reference has. */
static void make_rules(struct bench *b)
{
	for (unsigned k = 1; k <= MAX_RADIUS; k++)
		b->rules[b->n_rules++] =
			(struct qu_rule){ QU_PLAIN, k,
					  k == 3 || k == 7 ? QU_TABLES : QU_TABLE };
	b->n_plain = b->n_rules;
	add_rules(b, QU_WEIGHTS, 15, 120, 15, SIMIDX_TEXT_RADIUS_NO_FP2);
	add_rules(b, QU_WEIGHTS_FP2, 32, 256, 32, SIMIDX_TEXT_RADIUS);
}

static void print_sketches(const struct qu_set *set, const char *extractor,
			   const struct qu_fp *fps)
{
	for (size_t i = 0; i < set->n; i++)
		printf("%s\t%s\t%016llx\t%016llx\n", extractor, set->docs[i].id,
		       (unsigned long long)fps[i].fp, (unsigned long long)fps[i].fp2);
}

static void run_set(const struct bench *b, const struct qu_report *report, size_t which)
{
	const struct qu_set *set = &b->sets[which];
	struct qu_features *features = qu_features_of(set, report->extractor);
	struct qu_fp *fps = bn_alloc(set->n, sizeof(*fps));
	struct qu_result *result = &report->results[which];

	for (size_t seed = 0; seed < report->n_seeds; seed++) {
		qu_fingerprints(features, set->n, seed, fps);
		if (b->sketches) {
			print_sketches(set, report->extractor, fps);
			break;
		}
		qu_report_bits(set, report->extractor, seed, fps);
		qu_search(set, fps, b->dir, b->plan, report->rules, report->n_rules,
			  &result->found[seed * report->n_rules]);
	}
	if (!b->sketches)
		qu_report_set(report, result);
	qu_features_free(features, set->n);
	free(fps);
}

static void run_extractor(const struct bench *b, const char *extractor)
{
	int reference = !strcmp(extractor, QU_REFERENCE);
	struct qu_report report = {
		.extractor = extractor,
		.rules = b->rules,
		.n_rules = reference ? b->n_plain : b->n_rules,
		.n_seeds = b->seeds,
		.n_results = b->n_sets,
	};
	size_t i;

	if (reference)
		qu_reference_check();
	for (i = 0; b->strangers && i < b->n_sets; i++)
		qu_strangers(&b->sets[i], extractor, b->seeds, b->documents);
	if (b->strangers)
		return;
	report.results = bn_alloc(b->n_sets, sizeof(*report.results));
	for (i = 0; i < b->n_sets; i++) {
		struct qu_result *result = &report.results[i];

		result->set = &b->sets[i];
		result->apart = b->apart && bn_listed(b->apart, b->sets[i].name);
		result->found =
			bn_alloc(report.n_seeds * report.n_rules, sizeof(*result->found));
		run_set(b, &report, i);
	}
	if (!b->sketches)
		qu_report_means(&report);
	for (i = 0; i < b->n_sets; i++)
		free(report.results[i].found);
	free(report.results);
}

static int parse(struct bench *b, int argc, char **argv)
{
	uint64_t documents = DOCUMENTS;
	const struct bn_option options[] = {
		{ 'e', "extractors", "LIST", BN_TEXT, &b->extractors,
		  qu_has_reference() ? EXTRACTORS("," QU_REFERENCE) : EXTRACTORS("") },
		{ 's', "seeds", "N", BN_COUNT, &b->seeds, "(3)" },
		{ 'p', "plan", "PLAN", BN_TEXT, &b->plan, "of the indexes (4x16)" },
		{ 'a', "apart", "LIST", BN_TEXT, &b->apart,
		  "collections that are left out of the means" },
		{ 'd', "dir", "DIR", BN_TEXT, &b->dir, "for temporary indexes (/tmp)" },
		{ 0, "sketches", NULL, BN_FLAG, &b->sketches,
		  "only print extractor, id and both fingerprints" },
		{ 0, "unrelated", NULL, BN_FLAG, &b->strangers,
		  "count matches of unrelated documents instead, and\n"
		  "predict how many there are among more of them:" },
		{ 'n', "documents", "N", BN_COUNT, &documents, "(100000000)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		"PREFIX...", 1, INT_MAX,
		"Search labelled collections, PREFIX.jsonl[.zst] and PREFIX.pairs.tsv[.zst].\n",
		options,
	};
	int first = bn_parse(&usage, argc, argv);

	if (b->seeds > MAX_SEEDS)
		bn_die("at most %d seeds", MAX_SEEDS);
	b->documents = (double)documents;
	return first;
}

int main(int argc, char **argv)
{
	struct bench b = {
		.extractors = qu_has_reference() ? "words12," QU_REFERENCE : "words12",
		.plan = "4x16",
		.dir = "/tmp",
		.seeds = 3,
	};
	char *list, *rest, *extractor;
	int first;

	bn_program = "bn_quality";
	first = parse(&b, argc, argv);
	make_rules(&b);
	b.n_sets = (size_t)(argc - first);
	b.sets = bn_alloc(b.n_sets, sizeof(*b.sets));
	for (size_t i = 0; i < b.n_sets; i++)
		qu_set_read(&b.sets[i], argv[first + (int)i]);
	rest = list = strdup(b.extractors);
	while ((extractor = strsep(&rest, ",")))
		run_extractor(&b, extractor);
	free(list);
	for (size_t i = 0; i < b.n_sets; i++)
		qu_set_free(&b.sets[i]);
	free(b.sets);
	return 0;
}

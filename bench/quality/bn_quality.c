/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How well near-duplicates of labelled collections are found. README.md in the folder above
 * says how to read the figures.
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_util.h"
#include "quality/qu_report.h"
#include "quality/qu_strangers.h"

#define MAX_RULES 64
#define MAX_RADIUS 10

struct bench {
	const char *extractors, *plan, *dir, *apart;
	size_t seeds;
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

static void usage(FILE *to)
{
	fprintf(to,
		"usage: bn_quality [OPTIONS] PREFIX...\n"
		"Search labelled collections, PREFIX.jsonl[.zst] and PREFIX.pairs.tsv[.zst].\n"
		"  -e, --extractors LIST  names of libsimidx-text, and " QU_REFERENCE
		" (words12%s); with\n"
		"                         settings: words12:stop=en+zh:stem=english,\n"
		"                         tfidf:idf=FILE:top=auto; also weights and grams=1+2\n"
		"  -s, --seeds N          (3)\n"
		"  -p, --plan PLAN        of the indexes (4x16)\n"
		"  -a, --apart LIST       collections that are left out of the means\n"
		"  -d, --dir DIR          for temporary indexes (/tmp)\n"
		"      --sketches         only print extractor, id and both fingerprints\n"
		"      --unrelated        count matches of unrelated documents instead, and\n"
		"                         predict how many there are among more of them:\n"
		"  -n, --documents N      (100000000)\n"
		"  -h, --help\n",
		qu_has_reference() ? "," QU_REFERENCE : "");
}

static void parse(struct bench *b, int argc, char **argv)
{
	static const struct option options[] = { { "extractors", required_argument, NULL,
						   'e' },
						 { "seeds", required_argument, NULL, 's' },
						 { "plan", required_argument, NULL, 'p' },
						 { "apart", required_argument, NULL, 'a' },
						 { "dir", required_argument, NULL, 'd' },
						 { "sketches", no_argument, NULL, 'S' },
						 { "unrelated", no_argument, NULL, 'U' },
						 { "documents", required_argument, NULL,
						   'n' },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "e:s:p:a:d:n:h", options, NULL)) != -1) {
		switch (c) {
		case 'e':
			b->extractors = optarg;
			break;
		case 's':
			b->seeds = bn_number("seeds", optarg);
			break;
		case 'p':
			b->plan = optarg;
			break;
		case 'a':
			b->apart = optarg;
			break;
		case 'd':
			b->dir = optarg;
			break;
		case 'S':
			b->sketches = 1;
			break;
		case 'U':
			b->strangers = 1;
			break;
		case 'n':
			b->documents = (double)bn_number("documents", optarg);
			break;
		case 'h':
			usage(stdout);
			exit(0);
		default:
			usage(stderr);
			exit(2);
		}
	}
	if (optind == argc || b->seeds > 1000) {
		usage(stderr);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	struct bench b = {
		.extractors = qu_has_reference() ? "words12," QU_REFERENCE : "words12",
		.plan = "4x16",
		.dir = "/tmp",
		.seeds = 3,
		.documents = 1e8,
	};
	char *list, *rest, *extractor;

	bn_program = "bn_quality";
	parse(&b, argc, argv);
	make_rules(&b);
	b.n_sets = (size_t)(argc - optind);
	b.sets = bn_alloc(b.n_sets, sizeof(*b.sets));
	for (size_t i = 0; i < b.n_sets; i++)
		qu_set_read(&b.sets[i], argv[optind + (int)i]);
	rest = list = strdup(b.extractors);
	while ((extractor = strsep(&rest, ",")))
		run_extractor(&b, extractor);
	free(list);
	for (size_t i = 0; i < b.n_sets; i++)
		qu_set_free(&b.sets[i]);
	free(b.sets);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How well near-duplicates of labelled collections are found. --help says how to read
 * the figures.
 */

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

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
	const char *extractors, *plan, *dir, *apart, *text_field;
	uint64_t seeds;
	unsigned probes;
	int sketches, strangers, usual;
	double documents; /* how many the wrong matches are predicted for */
	struct qu_set *sets;
	size_t n_sets;
	struct qu_rule rules[MAX_RULES];
	size_t n_plain, n_rules;
};

/*
 * In an engine a search takes a hundred times as long, so the default limits are all that is tried.
 */
static int is_engine(const struct bench *b)
{
	return strstr(b->dir, "://") != NULL;
}

static int only_usual(const struct bench *b)
{
	return b->usual || is_engine(b);
}

#define DECLARATION(name) int simidx_##name##_add(simidx_error *err);
#define ADD(name) bn_check(simidx_##name##_add(&err), &err, #name);

SX_ENGINES(DECLARATION)

static void add_engines(void)
{
	simidx_error err;

	(void)err;
	SX_ENGINES(ADD)
}

static void add_rules(struct bench *b, enum qu_rule_kind kind, unsigned from, unsigned to,
		      unsigned step, unsigned usual)
{
	if (only_usual(b))
		from = to + 1;
	for (unsigned limit = from; limit <= to; limit += step)
		b->rules[b->n_rules++] = (struct qu_rule){ kind, limit, QU_JSON };
	b->rules[b->n_rules++] = (struct qu_rule){ kind, usual, QU_TABLES };
}

/* Plain ones first: they are all that the reference has. */
static void make_rules(struct bench *b)
{
	for (unsigned k = 1; !only_usual(b) && k <= MAX_RADIUS; k++)
		b->rules[b->n_rules++] =
			(struct qu_rule){ QU_PLAIN, k,
					  k == 3 || k == 7 ? QU_TABLES : QU_TABLE };
	b->n_plain = b->n_rules;
	add_rules(b, QU_WEIGHTS, 15, 120, 15, SIMIDX_TEXT_RADIUS_NO_FP2);
	add_rules(b, QU_WEIGHTS_FP2, 32, 256, 32, SIMIDX_TEXT_RADIUS);
	add_rules(b, QU_WEIGHTS_FP2, 1, 0, 1, SIMIDX_TEXT_RADIUS_SAME);
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
		qu_search(set, fps, b->dir, b->plan, b->probes, report->rules, report->n_rules,
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

/* What is printed, for --help. */
static const char figures[] =
	"\n"
	"A collection is PREFIX.jsonl with a JSON object a line, members \"id\" and \"text\", and\n"
	"PREFIX.pairs.tsv with the columns id1, id2 and label (bn_label makes it); either may end\n"
	"in .zst. Labels: 'near' has to be found, 'not' should not, 'grey' does not count,\n"
	"'near:KIND' is that of a text and an edited version of it; 'edit:KIND' need not be near.\n"
	"Pairs that are not listed are 'not'; but in a collection with 'edit:KIND' only the\n"
	"recall of each kind is measured.\n"
	"A pair is found when its later document finds the earlier one.\n"
	"\n"
	"Rules, and what counts as found:\n"
	"  k             at most \"limit\" bits differ, 1..10\n"
	"  weights       weighted distance of the first fingerprints is at most \"limit\": a text\n"
	"                search in an index made with --no-fp2 (default limit 59)\n"
	"  weights+fp2   weighted distance of both fingerprints: a text search (default limit "
	"232,\n"
	"                or 144 where both were made from the same features)\n"
	"Tables have the radii and default limits, JSON lines all others too.\n"
	"\n"
	"Extractor 1e0ng does what the Python package 1e0ng/simhash does by default (4-grams of\n"
	"characters, MD5), to the bit; it is there if libcrypto was at configure, and has plain\n"
	"radii only. Seeds 0, 1, ... are those of simidx-load --seed. The mean F1 moves by 0.01\n"
	"from one to the next, so compare three at least.\n"
	"\n"
	"Members of the lines:\n"
	"  near, wrong, missed, grey   pairs: near and found; found but not near; near and not\n"
	"                   found; found and grey. Lines with the seed \"mean\" have means of "
	"counts\n"
	"  precision, recall, f1       with _low and _high, a 95 % interval (Wilson's)\n"
	"  candidates       fingerprints compared a query, without the query's own document\n"
	"  uniform, over_uniform   candidates in an index of as many random fingerprints, and the\n"
	"                   ratio of the two. Near-duplicates are candidates too, so small\n"
	"                   collections with many of them have large ratios\n"
	"  bit_set_least, bit_set_most, bit_off_balance   share of documents in which a bit is\n"
	"                   set: least, greatest, mean distance from 1/2\n"
	"  recall           of each 'edit:KIND': share of edited texts that find the text. Of\n"
	"                   each 'near:KIND' it is recall_of_kinds\n"
	"  mean_f1, pooled_f1, most_wrong   set 'all': mean over the sets with 50 near pairs or\n"
	"                   more; F1 of all pairs together; wrong pairs in the worst set. Without\n"
	"                   the sets of --apart\n"
	"\n"
	"--unrelated compares all pairs of documents that have nothing to do with each other: "
	"those\n"
	"that are not listed, nor linked through near and grey pairs. Listed 'not' pairs share\n"
	"something, such as a template, and are called alike. Given the cosine c of the features "
	"of\n"
	"two documents, bits match by chance: without weights each differs with probability\n"
	"acos(c) / pi; with weights, if the query's sum for a bit is z = weight / 32 standard\n"
	"deviations from 0, with the probability of a normal variable below -c z / sqrt(1 - c^2).\n"
	"The weights of 200 queries and the exact cosines of all pairs go in. What an index does\n"
	"not find counts too, so the figures are rather too high.\n"
	"Where the second fingerprint has features of its own, there are two cosines; in place of\n"
	"these the one is taken that would give the same chance within 232 if both were it.\n"
	"  matched, expected   unrelated pairs that match, in both directions under each seed:\n"
	"                   counted, and predicted. They must agree, or the rest means nothing\n"
	"  alike_matched, alike_expected   the same of alike pairs\n"
	"  by_bits          wrong matches a query if documents had nothing in common\n"
	"  seen             if cosines are spread as among the pairs here\n"
	"  wrong, wrong_low, wrong_high   the same with a tail: the 1,000 most alike pairs are\n"
	"                   replaced by a generalised Pareto distribution with their mean and\n"
	"                   variance; 95 % interval of a jackknife over 20 groups of documents\n"
	"  alike_wrong      with alike pairs, if they stay as frequent as here\n";

static int parse(struct bench *b, int argc, char **argv)
{
	uint64_t documents = DOCUMENTS;
	const struct bn_option options[] = {
		{ 'e', "extractors", "LIST", BN_TEXT, &b->extractors,
		  qu_has_reference() ? EXTRACTORS("," QU_REFERENCE) : EXTRACTORS("") },
		{ 's', "seeds", "N", BN_COUNT, &b->seeds, "(3)" },
		{ 'p', "plan", "PLAN", BN_TEXT, &b->plan, "of the indexes (4x16)" },
		{ 'P', "probes", "P", BN_SMALL_0, &b->probes,
		  "of searches by weights; 0: all that it takes to miss nothing\n"
		  "(as simidx-query)" },
		{ 'a', "apart", "LIST", BN_TEXT, &b->apart,
		  "collections that are left out of the means" },
		{ 't', "text-field", "NAME", BN_TEXT, &b->text_field,
		  "member of the rows that has the text (text)" },
		{ 'd', "dir", "DIR", BN_TEXT, &b->dir,
		  "for temporary indexes (/tmp); or the URI of an engine, where\n"
		  "the indexes URI_real and URI_uniform are made anew" },
		{ 'u', "usual", NULL, BN_FLAG, &b->usual,
		  "search with the default limits only, for large collections" },
		{ 0, "sketches", NULL, BN_FLAG, &b->sketches,
		  "only print extractor, id and both fingerprints" },
		{ 0, "unrelated", NULL, BN_FLAG, &b->strangers,
		  "do not search, but predict how many unrelated documents\n"
		  "match among --documents" },
		{ 'n', "documents", "N", BN_COUNT, &documents, "(100000000)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.operands = "PREFIX...",
		.least = 1,
		.most = INT_MAX,
		.about =
			"Measure how well near-duplicates are found in labelled collections. All "
			"documents of a\n"
			"collection go into an index on disk, each is searched for in it, and the "
			"pairs that are\n"
			"found are compared with the labels. Prints a line of JSON for each "
			"collection, rule and\n"
			"seed, and tables on the standard error.\n",
		.options = options,
		.more = figures,
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
		.probes = QU_USUAL,
	};
	char *list, *rest, *extractor;
	int first;

	bn_program = "bn_quality";
	first = parse(&b, argc, argv);
	add_engines();
	make_rules(&b);
	b.n_sets = (size_t)(argc - first);
	b.sets = bn_alloc(b.n_sets, sizeof(*b.sets));
	for (size_t i = 0; i < b.n_sets; i++)
		qu_set_read(&b.sets[i], argv[first + (int)i], b.text_field);
	rest = list = strdup(b.extractors);
	while ((extractor = strsep(&rest, ",")))
		run_extractor(&b, extractor);
	free(list);
	for (size_t i = 0; i < b.n_sets; i++)
		qu_set_free(&b.sets[i]);
	free(b.sets);
	return 0;
}

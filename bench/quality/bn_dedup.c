/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Pairs of near texts in labelled collections, as `simidx-dedup --pairs --all` finds them: an index
 * proposes pairs, the texts themselves are compared. --help says how to read the figures.
 */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_sketch.h>

#include "bn_own.h"
#include "bn_util.h"
#include "dedup/sd_shingles.h"
#include "quality/qu_jaccard.h"
#include "quality/qu_options.h"
#include "quality/qu_score.h"
#include "quality/qu_sketch.h"

#define MAX_RULES 64

struct bench {
	struct qu_options common;
	const char *accepts, *probes;
	unsigned max_bits;
	const char *similarity_text;
	double similarity;
};

/* What is searched, and what came of it. */
struct rule {
	unsigned accept, probes;
	double proposed, confirmed;     /* pairs; confirmed by comparing the texts */
	double wrong, missed;           /* of what was confirmed, by the labels */
	double wrong_fp, missed_fp;     /* the same, if all that is proposed were taken */
	double unfound;                 /* similar by comparison of all pairs, and not proposed */
	double looked_up, candidates;   /* probes and fingerprints compared, a document */
};

struct run {
	const struct bench *bench;
	const struct qu_set *set;
	struct sd_shingles *shingles; /* by document */
	char path[4096];
	simidx *index;
	size_t n_near, n_similar; /* by the labels; by comparison */
};

/* ---- the index ---- */

static void make_index(struct run *run, const struct qu_fp *fps)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer;
	simidx_error err;

	if (snprintf(run->path, sizeof(run->path), "%s/dedup-XXXXXX", run->bench->common.dir) >=
		    (int)sizeof(run->path) || !mkdtemp(run->path))
		bn_die("no folder can be made in %s", run->bench->common.dir);
	create.plan = run->bench->common.plan;
	create.flags = SIMIDX_CREATE_FP2;
	how.durability = SIMIDX_DURABILITY_NORMAL;
	bn_check(simidx_create(run->path, &create, &run->index, &err), &err, run->path);
	bn_check(simidx_writer_open(run->index, &how, &writer, &err), &err, run->path);
	for (size_t i = 0; i < run->set->n; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.id = i;
		doc.fp = fps[i].fp;
		doc.fp2 = fps[i].fp2;
		doc.flags = SIMIDX_DOC_FP2;
		bn_check(simidx_writer_put(writer, &doc, NULL, &err), &err, "put");
	}
	bn_check(simidx_writer_commit(writer, &err), &err, "commit");
	bn_check(simidx_writer_merge(writer, &err), &err, "merge");
	simidx_writer_close(writer);
}

static void remove_index(struct run *run)
{
	simidx_close(run->index);
	bn_own_remove(run->path);
}

static void make_query(const struct run *run, const struct rule *rule, const struct qu_fp *fp,
		       simidx_sketch *sketch, simidx_query *query)
{
	simidx_error err;

	sketch->fp = fp->fp;
	sketch->fp2 = fp->fp2;
	sketch->bits = 64;
	sketch->flags = fp->flags;
	memcpy(sketch->weights, fp->weights, sizeof(sketch->weights));
	memcpy(sketch->weights2, fp->weights2, sizeof(sketch->weights2));
	bn_check(simidx_sketch_query(run->index, sketch, query, &err), &err, "query");
	query->radius = query->radius2 = rule->accept;
	query->probes = rule->probes;
	query->flags &= ~SIMIDX_QUERY_SCAN_SMALL;
	query->max_bits += run->bench->max_bits - SIMIDX_TEXT_BITS;
	if (query->max_bits > SIMIDX_MAX_BITS)
		query->max_bits = SIMIDX_MAX_BITS;
	query->limit = 0;
}

/* ---- what is found ---- */

static void judge(const struct run *run, struct rule *is, size_t later, size_t earlier)
{
	const struct qu_pair *pair = qu_set_find(run->set, later, earlier);
	int is_near = pair && pair->label == QU_NEAR;
	double similarity = sd_shingles_jaccard(&run->shingles[later], &run->shingles[earlier]);

	is->proposed++;
	is->wrong_fp += !is_near;
	is->missed_fp -= is_near;
	if (similarity < run->bench->similarity)
		return;
	is->confirmed++;
	is->unfound--;
	is->wrong += !is_near;
	is->missed -= is_near;
}

/* All documents, each asking for those before it. */
static void search(const struct run *run, const struct qu_fp *fps, struct rule *is)
{
	simidx_reader *reader;
	simidx_error err;

	is->missed = is->missed_fp = (double)run->n_near;
	is->unfound = (double)run->n_similar;
	bn_check(simidx_reader_open(run->index, &reader, &err), &err, "reader");
	for (size_t i = 0; i < run->set->n; i++) {
		simidx_sketch sketch = SIMIDX_SKETCH_INIT;
		simidx_query query = SIMIDX_QUERY_INIT;
		simidx_results results = SIMIDX_RESULTS_INIT;

		make_query(run, is, &fps[i], &sketch, &query);
		bn_check(simidx_reader_search(reader, &query, &results, &err), &err, "search");
		is->looked_up += (double)results.probes / (double)run->set->n;
		is->candidates += (double)results.candidates / (double)run->set->n;
		for (size_t k = 0; k < results.n; k++)
			if (results.matches[k].id < i)
				judge(run, is, i, results.matches[k].id);
	}
	simidx_reader_close(reader);
}

/* ---- reports ---- */

static void add(struct rule *to, const struct rule *from, double share)
{
	to->proposed += from->proposed * share;
	to->confirmed += from->confirmed * share;
	to->wrong += from->wrong * share;
	to->missed += from->missed * share;
	to->wrong_fp += from->wrong_fp * share;
	to->missed_fp += from->missed_fp * share;
	to->unfound += from->unfound * share;
	to->looked_up += from->looked_up * share;
	to->candidates += from->candidates * share;
}

static void print(const struct bench *b, const char *set, const char *seed, double documents,
		  double near, const struct rule *is)
{
	double right = near - is->missed, right_fp = near - is->missed_fp;
	struct qu_score score = qu_score_of(right, is->wrong, is->missed);
	struct qu_score by_fp = qu_score_of(right_fp, is->wrong_fp, is->missed_fp);

	printf("{\"bench\":\"dedup\",\"set\":\"%s\",\"plan\":\"%s\",\"seed\":\"%s\",\"accept\":%u"
	       ",\"probes\":%u,\"documents\":%.0f,\"near\":%.0f,\"proposed\":%.1f"
	       ",\"confirmed\":%.1f,\"wrong\":%.1f,\"missed\":%.1f,\"unfound\":%.1f"
	       ",\"precision\":%.5f,\"recall\":%.5f,\"wrong_fp\":%.1f,\"missed_fp\":%.1f"
	       ",\"precision_fp\":%.5f,\"recall_fp\":%.5f,\"looked_up\":%.1f"
	       ",\"candidates\":%.1f}\n",
	       set, b->common.plan, seed, is->accept, is->probes, documents, near, is->proposed,
	       is->confirmed, is->wrong, is->missed, is->unfound, score.precision.is,
	       score.recall.is, is->wrong_fp, is->missed_fp, by_fp.precision.is, by_fp.recall.is,
	       is->looked_up, is->candidates);
	if (strcmp(seed, "mean") == 0)
		fprintf(stderr, "%-14s %6u %6u %9.1f %9.1f %6.1f %6.1f %7.1f %9.4f %7.4f %9.4f "
				"%7.4f\n",
			set, is->accept, is->probes, is->proposed, is->confirmed, is->wrong,
			is->missed, is->unfound, score.precision.is, score.recall.is,
			by_fp.precision.is, by_fp.recall.is);
}

static struct rule empty_rule(const struct rule *rule)
{
	return (struct rule){ .accept = rule->accept, .probes = rule->probes };
}

static void count(void *n, size_t later, size_t earlier)
{
	(void)later, (void)earlier;
	++*(size_t *)n;
}

static void run_set(const struct bench *b, const struct qu_set *set, struct rule *all,
		    size_t n_rules, double *near)
{
	struct run run = { .bench = b, .set = set, .n_near = set->n_near };
	struct qu_features *features = qu_features_of(set, "words12");
	struct qu_fp *fps = bn_alloc(set->n, sizeof(*fps));
	struct rule mean[MAX_RULES];

	run.shingles = qu_shingles_of(set);
	qu_each_similar(run.shingles, set->n, b->similarity, count, &run.n_similar);
	for (size_t r = 0; r < n_rules; r++)
		mean[r] = empty_rule(&all[r]);
	for (uint64_t seed = 0; seed < b->common.seeds; seed++) {
		char name[24];

		snprintf(name, sizeof(name), "%llu", (unsigned long long)seed);
		qu_fingerprints(features, set->n, seed, fps);
		make_index(&run, fps);
		for (size_t r = 0; r < n_rules; r++) {
			struct rule is = empty_rule(&all[r]);

			search(&run, fps, &is);
			print(b, set->name, name, (double)set->n, (double)set->n_near, &is);
			add(&mean[r], &is, 1 / (double)b->common.seeds);
		}
		remove_index(&run);
	}
	for (size_t r = 0; r < n_rules; r++) {
		print(b, set->name, "mean", (double)set->n, (double)set->n_near, &mean[r]);
		add(&all[r], &mean[r], 1);
	}
	*near += (double)set->n_near;
	qu_shingles_free(run.shingles, set->n);
	qu_features_free(features, set->n);
	free(fps);
}

/* What is printed, for --help. */
static const char figures[] =
	"\n"
	"Collections are those of bn_quality; without edits, which have no other labels. A pair "
	"that\n"
	"was confirmed is wrong unless it is labelled 'near'.\n"
	"\n"
	"Members of the lines; those with the seed \"mean\" have means over the seeds, and the "
	"set\n"
	"'all' has the sums:\n"
	"  near, proposed   pairs by the labels; pairs that the index proposed\n"
	"  confirmed        of these, pairs whose texts are similar\n"
	"  wrong, missed    pairs that were confirmed and are not near; the other way round\n"
	"  unfound          pairs whose texts are similar and that were not proposed\n"
	"  precision, recall  of what was confirmed, by the labels\n"
	"  ..._fp           the same for what was proposed, as if no text were compared\n"
	"  looked_up, candidates  ranges of the tables that were read, and fingerprints compared "
	"in\n"
	"                   them, a document; all documents are in the index\n";

static int parse(struct bench *b, int argc, char **argv)
{
	const struct bn_option options[] = {
		{ 'a', "accept", "A,...", BN_TEXT, &b->accepts,
		  "sums of weights up to which pairs are proposed (256)" },
		{ 0, "probes", "P,...", BN_TEXT, &b->probes,
		  "probes of a search; 0 = as many as find all (256)" },
		{ 0, "max-bits", "N", BN_SMALL, &b->max_bits,
		  "bits of the first fingerprint that may differ (16)" },
		{ 0, "similarity", "S", BN_TEXT, &b->similarity_text, "of texts (0.8)" },
		{ 0 },
	};
	const char *about =
		"Find the pairs of near texts in labelled collections, as 'simidx-dedup --pairs "
		"--all'\n"
		"does: an index proposes pairs by the fingerprints, then the texts are compared. "
		"Each\n"
		"document asks for those before it. Prints a line of JSON for each collection, "
		"seed and\n"
		"way to propose, and a table on the standard error.\n";

	return qu_parse(&b->common, options, about, figures, argc, argv);
}

/* Numbers separated by commas. */
static size_t read_list(const char *what, const char *list, unsigned numbers[MAX_RULES])
{
	size_t n = 0;
	char *end;

	do {
		unsigned long value = strtoul(list, &end, 10);

		if (end == list || (*end && *end != ',') || value > UINT_MAX || n == MAX_RULES)
			bn_die("%s: expected numbers with commas between them, found "
			       "'%s'", what, list);
		numbers[n++] = (unsigned)value;
		list = end + 1;
	} while (*end);
	return n;
}

int main(int argc, char **argv)
{
	struct bench b = { .common = qu_options_init(),
			   .max_bits = SIMIDX_TEXT_BITS,
			   .accepts = "256",
			   .probes = "256",
			   .similarity_text = "0.8" };
	unsigned accepts[MAX_RULES], probes[MAX_RULES];
	struct rule all[MAX_RULES];
	size_t n_accepts, n_probes, n_rules = 0;
	double documents = 0, near = 0;
	int first;

	bn_program = "bn_dedup";
	first = parse(&b, argc, argv);
	n_accepts = read_list("--accept", b.accepts, accepts);
	n_probes = read_list("--probes", b.probes, probes);
	if (n_accepts * n_probes > MAX_RULES)
		bn_die("more than %d ways to propose", MAX_RULES);
	b.similarity = qu_parse_similarity(b.similarity_text);
	for (size_t a = 0; a < n_accepts; a++)
		for (size_t p = 0; p < n_probes; p++)
			all[n_rules++] = (struct rule){ .accept = accepts[a], .probes = probes[p] };
	fprintf(stderr, "%-14s %6s %6s %9s %9s %6s %6s %7s %9s %7s %9s %7s\n", "", "accept",
		"probes", "proposed", "confirmed", "wrong", "missed", "unfound", "precision",
		"recall", "prec. fp", "rec. fp");
	for (int i = first; i < argc; i++) {
		struct qu_set set;

		qu_read_labelled(&set, argv[i], &b.common);
		run_set(&b, &set, all, n_rules, &near);
		documents += (double)set.n;
		qu_set_free(&set);
	}
	for (size_t r = 0; r < n_rules; r++)
		print(&b, "all", "mean", documents, near, &all[r]);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The texts of labelled collections one after another, each stored if it is new: how often that is
 * decided rightly. --help says how to read the figures.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_sketch.h>

#include "bn_own.h"
#include "bn_util.h"
#include "quality/qu_options.h"
#include "quality/qu_score.h"
#include "quality/qu_sketch.h"

#define COMMIT_ROWS 1000 /* it does not matter for what is decided */

struct bench {
	struct qu_options common;
	const char *extractor;
	int no_fp2;
};

/* What was decided, and what the labels say. */
struct decided {
	double dup_right, dup_wrong, dup_missed;
	double grey;   /* not counted */
	double stored;
};

/* A stream of one collection into an index. */
struct stream {
	const struct bench *bench;
	const struct qu_set *set;
	char path[4096];
	simidx *index;
	simidx_writer *writer;
	char *kept;  /* by document: whether it was stored */
	size_t next; /* first listed pair of the document that comes next */
	struct decided is;
};

static void open_stream(struct stream *s, const struct bench *b, const struct qu_set *set)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_error err;

	memset(s, 0, sizeof(*s));
	s->bench = b;
	s->set = set;
	s->kept = bn_alloc(set->n, 1);
	if (snprintf(s->path, sizeof(s->path), "%s/if-new-XXXXXX", b->common.dir) >=
		    (int)sizeof(s->path) ||
	    !mkdtemp(s->path))
		bn_die("no folder can be made in %s", b->common.dir);
	create.plan = b->common.plan;
	create.flags = b->no_fp2 ? 0 : SIMIDX_CREATE_FP2;
	how.durability = SIMIDX_DURABILITY_NORMAL;
	bn_check(simidx_create(s->path, &create, &s->index, &err), &err, s->path);
	bn_check(simidx_writer_open(s->index, &how, &s->writer, &err), &err, s->path);
}

static void close_stream(struct stream *s)
{
	simidx_error err;

	bn_check(simidx_writer_commit(s->writer, &err), &err, "commit");
	simidx_writer_close(s->writer);
	simidx_close(s->index);
	bn_own_remove(s->path);
	free(s->kept);
}

/* Whether the index says that the document is there already. */
static int is_dup(struct stream *s, size_t i, const struct qu_fp *fp)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_error err;
	int rc;

	doc.id = i;
	doc.fp = sketch.fp = fp->fp;
	sketch.bits = 64;
	sketch.flags = fp->flags;
	memcpy(sketch.weights, fp->weights, sizeof(sketch.weights));
	memcpy(sketch.weights2, fp->weights2, sizeof(sketch.weights2));
	sketch.fp2 = fp->fp2;
	if (!s->bench->no_fp2) {
		doc.fp2 = fp->fp2;
		doc.flags = SIMIDX_DOC_FP2;
	}
	bn_check(simidx_sketch_query_if_new(s->index, &sketch, &query, &err), &err, "query");
	rc = simidx_writer_put_if_new(s->writer, &doc, &query, NULL, NULL, &err);
	if (rc != SIMIDX_E_EXISTS)
		bn_check(rc, &err, "put");
	if ((i + 1) % COMMIT_ROWS == 0)
		bn_check(simidx_writer_commit(s->writer, &err), &err, "commit");
	return rc == SIMIDX_E_EXISTS;
}

/* The label of the document beside those that were kept: the nearest one. */
static enum qu_label label_of(struct stream *s, size_t i)
{
	enum qu_label label = QU_NOT;

	for (; s->next < s->set->n_pairs && s->set->pairs[s->next].later == i; s->next++) {
		const struct qu_pair *pair = &s->set->pairs[s->next];

		if (!s->kept[pair->earlier])
			continue;
		if (pair->label == QU_NEAR)
			label = QU_NEAR;
		else if (pair->label == QU_GREY && label != QU_NEAR)
			label = QU_GREY;
	}
	return label;
}

static struct decided run(const struct bench *b, const struct qu_set *set, const struct qu_fp *fps)
{
	struct stream s;

	open_stream(&s, b, set);
	for (size_t i = 0; i < set->n; i++) {
		enum qu_label label = label_of(&s, i);
		int dup = is_dup(&s, i, &fps[i]);

		s.kept[i] = !dup;
		s.is.stored += !dup;
		if (label == QU_GREY)
			s.is.grey++;
		else if (label == QU_NEAR)
			*(dup ? &s.is.dup_right : &s.is.dup_missed) += 1;
		else
			s.is.dup_wrong += dup;
	}
	close_stream(&s);
	return s.is;
}

/* ---- reports ---- */

static void add(struct decided *to, const struct decided *from, double share)
{
	to->dup_right += from->dup_right * share;
	to->dup_wrong += from->dup_wrong * share;
	to->dup_missed += from->dup_missed * share;
	to->grey += from->grey * share;
	to->stored += from->stored * share;
}

static void print(const struct bench *b, const char *set, double documents, const char *seed,
		  const struct decided *d)
{
	struct qu_score score = qu_score_of(d->dup_right, d->dup_wrong, d->dup_missed);

	printf("{\"bench\":\"if-new\",\"set\":\"%s\",\"extractor\":\"%s\",\"fp2\":%s"
	       ",\"plan\":\"%s\",\"seed\":\"%s\",\"documents\":%.0f,\"stored\":%.1f,\"right\":%.1f"
	       ",\"wrong\":%.1f,\"missed\":%.1f,\"grey\":%.1f,\"precision\":%.4f"
	       ",\"precision_low\":%.4f,\"precision_high\":%.4f,\"recall\":%.4f,\"recall_low\":%.4f"
	       ",\"recall_high\":%.4f,\"f1\":%.4f}\n",
	       set, b->extractor, b->no_fp2 ? "false" : "true", b->common.plan, seed, documents,
	       d->stored, d->dup_right, d->dup_wrong, d->dup_missed, d->grey, score.precision.is,
	       score.precision.low, score.precision.high, score.recall.is, score.recall.low,
	       score.recall.high, score.f1.is);
	if (strcmp(seed, "mean") != 0)
		return;
	fprintf(stderr, "%-16s %9.0f %9.1f %8.1f %7.1f %7.1f %7.1f %10.3f %7.3f\n", set, documents,
		d->stored, d->dup_right, d->dup_wrong, d->dup_missed, d->grey, score.precision.is,
		score.recall.is);
}

static void run_set(const struct bench *b, const struct qu_set *set, struct decided *all)
{
	struct qu_features *features = qu_features_of(set, b->extractor);
	struct qu_fp *fps = bn_alloc(set->n, sizeof(*fps));
	struct decided mean = { 0 };

	for (uint64_t seed = 0; seed < b->common.seeds; seed++) {
		struct decided d;
		char name[24];

		qu_fingerprints(features, set->n, seed, fps);
		d = run(b, set, fps);
		snprintf(name, sizeof(name), "%llu", (unsigned long long)seed);
		print(b, set->name, (double)set->n, name, &d);
		add(&mean, &d, 1 / (double)b->common.seeds);
	}
	print(b, set->name, (double)set->n, "mean", &mean);
	add(all, &mean, 1);
	qu_features_free(features, set->n);
	free(fps);
}

/* What is printed, for --help. */
static const char figures[] =
	"\n"
	"Collections are those of bn_quality; without edits, which have no other labels. A "
	"document\n"
	"is a duplicate if one that was stored before it is labelled 'near' to it. One that has "
	"only\n"
	"'grey' ones among them is not counted, whatever is decided.\n"
	"\n"
	"Members of the lines; those with the seed \"mean\" have means over the seeds, and the "
	"set\n"
	"'all' has the sums:\n"
	"  stored           documents that were taken for new\n"
	"  right, wrong, missed   duplicates that were told to be some; others that were; "
	"duplicates\n"
	"                   that were taken for new\n"
	"  grey             not counted\n"
	"  precision        right / (right + wrong), with _low and _high, a 95 % interval "
	"(Wilson's)\n"
	"  recall           right / (right + missed)\n";

static int parse(struct bench *b, int argc, char **argv)
{
	const struct bn_option options[] = {
		{ 'e', "extractor", "NAME", BN_TEXT, &b->extractor, "as of bn_quality (words12)" },
		{ 0, "no-fp2", NULL, BN_FLAG, &b->no_fp2, "without second fingerprints" },
		{ 0 },
	};
	const char *about =
		"Store the texts of labelled collections in their order, each if it is new\n"
		"(simidx_sketch_query_if_new()), and compare what was decided with the labels.\n"
		"Prints a line of JSON for each collection and seed, and a table on the standard\n"
		"error.\n";

	return qu_parse(&b->common, options, about, figures, argc, argv);
}

int main(int argc, char **argv)
{
	struct bench b = { .common = qu_options_init(), .extractor = "words12" };
	struct decided all = { 0 };
	double documents = 0;
	int first;

	bn_program = "bn_if_new";
	first = parse(&b, argc, argv);
	fprintf(stderr, "%-16s %9s %9s %8s %7s %7s %7s %10s %7s\n", "", "documents", "stored",
		"right", "wrong", "missed", "grey", "precision", "recall");
	for (int i = first; i < argc; i++) {
		struct qu_set set;

		qu_read_labelled(&set, argv[i], &b.common);
		run_set(&b, &set, &all);
		documents += (double)set.n;
		qu_set_free(&set);
	}
	print(&b, "all", documents, "mean", &all);
	return 0;
}

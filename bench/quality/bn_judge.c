/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Judges what `simidx-dedup` has printed about a labelled collection, by its labels and by the
 * texts. --help says how.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_options.h"
#include "bn_util.h"
#include "quality/qu_jaccard.h"
#include "quality/qu_score.h"

struct bench {
	const char *text_field, *similarity_text, *pairs, *groups;
	double similarity;
};

struct judge {
	const struct bench *bench;
	struct qu_set set;
	struct sd_shingles *shingles;
	char *is_dropped;     /* by document */
	size_t n_similar, n_both_kept;
};

/* The document of "PATH:LINE". */
static size_t document_of(const struct judge *j, const char *place, const char *path)
{
	const char *colon = place ? strrchr(place, ':') : NULL;
	unsigned long line = colon ? strtoul(colon + 1, NULL, 10) : 0;

	if (!line || line > j->set.n)
		bn_die("%s: not what simidx-dedup has printed about this collection", path);
	return line - 1;
}

static int is_near(const struct judge *j, size_t a, size_t b)
{
	const struct qu_pair *pair = a > b ? qu_set_find(&j->set, a, b)
					   : qu_set_find(&j->set, b, a);

	return pair && pair->label == QU_NEAR;
}

static int is_similar(const struct judge *j, size_t a, size_t b)
{
	return sd_shingles_jaccard(&j->shingles[a], &j->shingles[b]) >= j->bench->similarity;
}

static FILE *open_file(const char *path)
{
	FILE *file = fopen(path, "r");

	if (!file)
		bn_die("%s: cannot open", path);
	return file;
}

/* Lines "SIMILARITY	PLACE	PLACE". */
static void judge_pairs(const struct judge *j)
{
	const char *path = j->bench->pairs;
	FILE *file = open_file(path);
	size_t room = 0, n = 0, near = 0, below = 0;
	struct qu_score score;
	char *line = NULL;

	for (; getline(&line, &room, file) > 0; n++) {
		size_t a, b;

		strtok(line, "\t\n");
		a = document_of(j, strtok(NULL, "\t\n"), path);
		b = document_of(j, strtok(NULL, "\t\n"), path);
		near += (size_t)is_near(j, a, b);
		below += !is_similar(j, a, b);
	}
	free(line);
	fclose(file);
	score = qu_score_of((double)near, (double)(n - near), (double)(j->set.n_near - near));
	printf("{\"bench\":\"judge\",\"set\":\"%s\",\"documents\":%zu,\"near\":%zu,\"similar\":%zu"
	       ",\"pairs\":%zu,\"wrong\":%zu,\"missed\":%zu,\"below\":%zu,\"precision\":%.5f"
	       ",\"recall\":%.5f}\n",
	       j->set.name, j->set.n, j->set.n_near, j->n_similar, n, n - near,
	       j->set.n_near - near, below, score.precision.is, score.recall.is);
}

static void note_similar(void *ctx, size_t later, size_t earlier)
{
	struct judge *j = ctx;

	j->n_similar++;
	if (!j->is_dropped || j->is_dropped[later] || j->is_dropped[earlier])
		return;
	j->n_both_kept++;
	fprintf(stderr, "both kept: %s and %s, similarity %.4f\n", j->set.docs[later].id,
		j->set.docs[earlier].id,
		sd_shingles_jaccard(&j->shingles[later], &j->shingles[earlier]));
}

/*
 * Lines "GROUP SIMILARITY keep or drop PLACE", of which the first of a group is its keeper.
 */
static size_t read_groups(struct judge *j, size_t *below)
{
	const char *path = j->bench->groups;
	FILE *file = open_file(path);
	size_t room = 0, n = 0, keeper = SIZE_MAX;
	char *line = NULL;

	while (getline(&line, &room, file) > 0) {
		const char *decision;
		size_t document;

		strtok(line, "\t\n");
		strtok(NULL, "\t\n");
		decision = strtok(NULL, "\t\n");
		document = document_of(j, strtok(NULL, "\t\n"), path);
		if (strcmp(decision, "keep") == 0) {
			keeper = document;
			continue;
		}
		if (strcmp(decision, "drop") != 0 || keeper == SIZE_MAX || j->is_dropped[document])
			bn_die("%s: not groups of simidx-dedup", path);
		j->is_dropped[document] = 1;
		*below += !is_similar(j, document, keeper);
		n++;
	}
	free(line);
	fclose(file);
	return n;
}

static void judge_groups(struct judge *j)
{
	size_t near_both_kept = 0, below = 0, dropped;

	j->is_dropped = bn_alloc(j->set.n, 1);
	dropped = read_groups(j, &below);
	j->n_similar = 0;
	qu_each_similar(j->shingles, j->set.n, j->bench->similarity, note_similar, j);
	for (size_t i = 0; i < j->set.n_pairs; i++) {
		const struct qu_pair *pair = &j->set.pairs[i];

		near_both_kept += pair->label == QU_NEAR && !j->is_dropped[pair->later] &&
				  !j->is_dropped[pair->earlier];
	}
	printf("{\"bench\":\"judge\",\"set\":\"%s\",\"documents\":%zu,\"dropped\":%zu,\"below\":%zu"
	       ",\"both_kept\":%zu,\"near_both_kept\":%zu}\n",
	       j->set.name, j->set.n, dropped, below, j->n_both_kept, near_both_kept);
	free(j->is_dropped);
}

static const char figures[] =
	"\n"
	"Members of the line about pairs:\n"
	"  near, similar    pairs by the labels; pairs whose texts are similar, of all\n"
	"  pairs            that were printed\n"
	"  wrong, missed    pairs that were printed and are not labelled 'near'; the other way "
	"round\n"
	"  below            pairs that were printed and whose texts are not similar\n"
	"Of the line about groups:\n"
	"  dropped, below   documents; of these not similar to their keepers\n"
	"  both_kept        similar pairs of which no document is dropped; each is told\n"
	"  near_both_kept   the same of pairs that are labelled 'near'\n";

static int parse(struct bench *b, int argc, char **argv)
{
	const struct bn_option options[] = {
		{ 0, "pairs", "FILE", BN_TEXT, &b->pairs, "what simidx-dedup --pairs has printed" },
		{ 0, "groups", "FILE", BN_TEXT, &b->groups, "what simidx-dedup has printed" },
		{ 0, "similarity", "S", BN_TEXT, &b->similarity_text,
		  "as given to simidx-dedup (0.8)" },
		{ 't', "text-field", "NAME", BN_TEXT, &b->text_field,
		  "member of the rows that has the text (text)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.operands = "PREFIX",
		.least = 1,
		.most = 1,
		.about =
			"Judge what 'simidx-dedup' has printed about PREFIX.jsonl.zst, a "
			"collection of\n"
			"bn_quality: all of its texts are compared with all. Prints a line of JSON "
			"about pairs,\n"
			"and one about groups.\n",
		.options = options,
		.more = figures,
	};

	return bn_parse(&usage, argc, argv);
}

int main(int argc, char **argv)
{
	struct bench b = { .similarity_text = "0.8" };
	struct judge j = { .bench = &b };
	int first;

	bn_program = "bn_judge";
	first = parse(&b, argc, argv);
	b.similarity = qu_parse_similarity(b.similarity_text);
	qu_set_read(&j.set, argv[first], b.text_field);
	if (j.set.is_of_edits)
		bn_die("%s: a collection of edits", j.set.name);
	j.shingles = qu_shingles_of(&j.set);
	if (b.pairs) {
		qu_each_similar(j.shingles, j.set.n, b.similarity, note_similar, &j);
		judge_pairs(&j);
	}
	if (b.groups)
		judge_groups(&j);
	qu_shingles_free(j.shingles, j.set.n);
	qu_set_free(&j.set);
	return 0;
}

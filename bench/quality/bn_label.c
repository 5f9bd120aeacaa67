/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Label the pairs of a collection for bn_quality: by the Jaccard index of their word shingles,
 * which is counted for every pair that shares one.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_options.h"
#include "bn_util.h"
#include "quality/qu_sketch.h"

struct limits {
	unsigned words;             /* in a shingle */
	unsigned near, grey, least; /* percent */
};

struct entry {
	uint64_t shingle;
	uint32_t doc;
};

/* The documents that have a shingle, for all shingles of all documents. */
struct lists {
	struct entry *entries; /* by shingle, then by document */
	size_t n;
	size_t *list_of; /* shingles in the order of the documents: where their lists begin */
	size_t *first;   /* by document: its first one in list_of; and one after the last */
};

static int by_shingle(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->shingle != y->shingle)
		return x->shingle < y->shingle ? -1 : 1;
	return x->doc < y->doc ? -1 : x->doc > y->doc;
}

static void lists_make(struct lists *lists, const struct qu_features *shingles, size_t n_docs)
{
	size_t *next = bn_alloc(n_docs + 1, sizeof(*next));
	size_t at = 0, i, j;

	lists->first = bn_alloc(n_docs + 1, sizeof(*lists->first));
	for (i = 0; i < n_docs; i++)
		lists->first[i + 1] = lists->first[i] + shingles[i].n;
	lists->n = lists->first[n_docs];
	lists->entries = bn_alloc(lists->n + 1, sizeof(*lists->entries));
	lists->list_of = bn_alloc(lists->n + 1, sizeof(*lists->list_of));
	for (i = 0; i < n_docs; i++)
		for (j = 0; j < shingles[i].n; j++)
			lists->entries[at++] =
				(struct entry){ shingles[i].list[j].hash, (uint32_t)i };
	qsort(lists->entries, lists->n, sizeof(*lists->entries), by_shingle);
	memcpy(next, lists->first, n_docs * sizeof(*next));
	for (i = j = 0; i < lists->n; i++) {
		if (lists->entries[i].shingle != lists->entries[j].shingle)
			j = i;
		lists->list_of[next[lists->entries[i].doc]++] = j;
	}
	free(next);
}

static void lists_free(struct lists *lists)
{
	free(lists->entries);
	free(lists->list_of);
	free(lists->first);
}

/* How many shingles each earlier document shares with this one. */
static void count_shared(const struct lists *lists, size_t doc, uint32_t *shared)
{
	memset(shared, 0, doc * sizeof(*shared));
	for (size_t i = lists->first[doc]; i < lists->first[doc + 1]; i++)
		for (size_t at = lists->list_of[i]; lists->entries[at].doc < doc; at++)
			shared[lists->entries[at].doc]++;
}

/* Texts with the same shingles are grey: every search finds them, so they would flatter all. */
static const char *label_of(const struct limits *limits, size_t shared, size_t all)
{
	if (shared == all)
		return "grey";
	if (100 * shared >= limits->near * all)
		return "near";
	return 100 * shared >= limits->grey * all ? "grey" : "not";
}

/* The kind of edit that made one of two documents from the other, or NULL: see --help. */
static const char *kind_of(const char *id1, const char *id2)
{
	size_t n1 = strlen(id1), n2 = strlen(id2), n = n1 < n2 ? n1 : n2;
	const char *copy = n1 < n2 ? id2 : id1;

	return !strncmp(id1, id2, n) && copy[n] == '~' ? copy + n + 1 : NULL;
}

static void print_pair(const char *id1, const char *id2, const char *label, double jaccard)
{
	const char *kind = *label == 'n' && label[1] == 'e' ? kind_of(id1, id2) : NULL;

	printf("%s\t%s\t%s%s%s\t%.6f\n", id1, id2, label, kind ? ":" : "", kind ? kind : "",
	       jaccard);
}

static void print_pairs(const struct qu_set *set, const struct lists *lists,
			const struct limits *limits)
{
	uint32_t *shared = bn_alloc(set->n, sizeof(*shared));
	size_t same = 0, near = 0;

	printf("#id1\tid2\tlabel\tjaccard\n");
	for (size_t doc = 0; doc < set->n; doc++) {
		size_t own = lists->first[doc + 1] - lists->first[doc];

		count_shared(lists, doc, shared);
		for (size_t i = 0; i < doc; i++) {
			size_t all = own + lists->first[i + 1] - lists->first[i] - shared[i];
			const char *label;

			if (!shared[i] || 100 * (uint64_t)shared[i] < limits->least * all)
				continue;
			label = label_of(limits, shared[i], all);
			same += shared[i] == all;
			near += *label == 'n' && label[1] == 'e';
			print_pair(set->docs[i].id, set->docs[doc].id, label,
				   (double)shared[i] / (double)all);
		}
	}
	fprintf(stderr, "%s: documents %zu, near pairs %zu, pairs with equal shingles %zu\n",
		set->name, set->n, near, same);
	free(shared);
}

/* What is printed, for --help. */
static const char figures[] =
	"\nOutput: id1, id2, label and Jaccard index, separated by tabs. Pairs with equal\n"
	"shingles are 'grey': every search finds them, so they would flatter the figures.\n"
	"A document whose id is another one's, '~' and KIND is an edited copy of that, as\n"
	"make_set.py writes it; if the two are near, they have the label 'near:KIND'.\n"
	"It takes about 40 bytes of memory a word, and a step for each shingle that two\n"
	"documents share: 8,000 news items take a second, 100,000 passages of make_set.py a\n"
	"minute.\n";

int main(int argc, char **argv)
{
	struct limits limits = { .words = 5, .near = 80, .grey = 30, .least = 10 };
	const char *text_field = NULL;
	const struct bn_option options[] = {
		{ 't', "text-field", "NAME", BN_TEXT, &text_field,
		  "member of the rows that has the text (text)" },
		{ 'w', "words", "N", BN_SMALL, &limits.words, "in a shingle, up to 16 (5)" },
		{ 'n', "near", "PERCENT", BN_SMALL, &limits.near,
		  "pairs with this Jaccard index or more are near (80)" },
		{ 'g', "grey", "PERCENT", BN_SMALL, &limits.grey,
		  "with this or more they do not count (30)" },
		{ 'l', "least", "PERCENT", BN_SMALL, &limits.least,
		  "with less they are not listed; all others are 'not' (10)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.operands = "PREFIX",
		.least = 1,
		.most = 1,
		.about =
			"Label a collection for bn_quality. Reads PREFIX.jsonl or "
			"PREFIX.jsonl.zst, one\n"
			"JSON object a line with the members \"text\" and, if it has a name, "
			"\"id\"; prints\n"
			"what PREFIX.pairs.tsv has to contain.\n"
			"The label of a pair comes from the Jaccard index of its word shingles: of "
			"all runs\n"
			"of N words that at least one of the two texts has, the share that both "
			"have. It is\n"
			"counted for every pair. Words are those of libsimidx-text: after NFKC and "
			"case\n"
			"folding, between the word boundaries of ICU.\n",
		.options = options,
		.more = figures,
	};
	struct qu_features *shingles;
	struct lists lists = { 0 };
	struct qu_set set;
	char extractor[32];

	bn_program = "bn_label";
	bn_parse(&usage, argc, argv);
	if (limits.words > 16)
		bn_die("words: at most 16");
	if (limits.least > limits.grey || limits.grey > limits.near || limits.near > 100)
		bn_die("expected least <= grey <= near <= 100");
	qu_set_read_docs(&set, argv[argc - 1], text_field);
	snprintf(extractor, sizeof(extractor), "words1:grams=%u", limits.words);
	shingles = qu_features_of(&set, extractor);
	lists_make(&lists, shingles, set.n);
	print_pairs(&set, &lists, &limits);
	lists_free(&lists);
	qu_features_free(shingles, set.n);
	qu_set_free(&set);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Label the pairs of a collection for bn_quality: by the Jaccard index of their word shingles,
 * which is counted for every pair that can have --least.
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

/* The documents that have a shingle: a run of entries. */
struct group {
	size_t first;
	uint32_t n;
};

/* The shingles of all documents as numbers: the rarer, the lower. Those of one document alone have
 * none. */
struct sets {
	uint32_t *numbers; /* of a document ascending */
	size_t *first;     /* by document: its first one in `numbers`; and one after the last */
	size_t n_numbers;  /* different ones */
};

/* The documents that have a number in their prefix. */
struct lists {
	uint32_t *last; /* by number: its last item, from 1; 0 = none */
	struct item {
		uint32_t doc, before; /* the item before it, from 1; 0 = none */
	} *items;
	size_t n;
	uint32_t *found, *found_by; /* documents; by document: the one that has found it, from 1 */
	size_t n_found;
};

static int by_shingle(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->shingle != y->shingle)
		return x->shingle < y->shingle ? -1 : 1;
	return x->doc < y->doc ? -1 : x->doc > y->doc;
}

static int by_size(const void *a, const void *b)
{
	const struct group *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Returns entries by shingle, and sets *n to their number. */
static struct entry *entries_of(const struct qu_features *shingles, size_t n_docs, size_t *n)
{
	struct entry *entries;
	size_t i, j;

	for (*n = i = 0; i < n_docs; i++)
		*n += shingles[i].n;
	entries = bn_alloc(*n + 1, sizeof(*entries));
	for (*n = i = 0; i < n_docs; i++)
		for (j = 0; j < shingles[i].n; j++)
			entries[(*n)++] =
				(struct entry){ shingles[i].list[j].hash, (uint32_t)i };
	qsort(entries, *n, sizeof(*entries), by_shingle);
	return entries;
}

/* Returns groups by their size, those of one document left out; sets *n_groups. */
static struct group *groups_of(const struct entry *entries, size_t n, size_t *n_groups)
{
	struct group *groups = bn_alloc(n / 2 + 1, sizeof(*groups));
	size_t i, j;

	*n_groups = 0;
	for (i = 0; i < n; i = j) {
		for (j = i + 1; j < n && entries[j].shingle == entries[i].shingle; j++)
			continue;
		if (j - i > 1)
			groups[(*n_groups)++] = (struct group){ i, (uint32_t)(j - i) };
	}
	qsort(groups, *n_groups, sizeof(*groups), by_size);
	return groups;
}

static void sets_make(struct sets *sets, const struct qu_features *shingles, size_t n_docs)
{
	size_t *next = bn_alloc(n_docs + 1, sizeof(*next)), n, i, j;
	struct entry *entries = entries_of(shingles, n_docs, &n);
	struct group *groups = groups_of(entries, n, &sets->n_numbers);

	if (n >= UINT32_MAX)
		bn_die("2^32 shingles or more");
	sets->first = bn_alloc(n_docs + 1, sizeof(*sets->first));
	for (i = 0; i < sets->n_numbers; i++)
		for (j = 0; j < groups[i].n; j++)
			sets->first[entries[groups[i].first + j].doc + 1]++;
	for (i = 0; i < n_docs; i++)
		sets->first[i + 1] += sets->first[i];
	sets->numbers = bn_alloc(sets->first[n_docs] + 1, sizeof(*sets->numbers));
	memcpy(next, sets->first, n_docs * sizeof(*next));
	for (i = 0; i < sets->n_numbers; i++)
		for (j = 0; j < groups[i].n; j++)
			sets->numbers[next[entries[groups[i].first + j].doc]++] = (uint32_t)i;
	free(groups);
	free(entries);
	free(next);
}

static size_t count_shared(const struct sets *sets, size_t one, size_t other)
{
	size_t i = sets->first[one], j = sets->first[other], n = 0;

	while (i < sets->first[one + 1] && j < sets->first[other + 1]) {
		uint32_t a = sets->numbers[i], b = sets->numbers[j];

		n += a == b;
		i += a <= b;
		j += b <= a;
	}
	return n;
}

/*
 * Where the prefix of a document of n shingles ends. Two documents whose Jaccard index is `least`
 * percent or more share as much of the shingles of each, so they share one of all but the most
 * frequent ones of each: Chaudhuri, Ganti, Kaushik, "A primitive operator for similarity joins in
 * data cleaning" (ICDE 2006).
 */
static size_t prefix_end(const struct sets *sets, size_t doc, size_t n, unsigned least)
{
	size_t rest = (least * n + 99) / 100, end = sets->first[doc + 1];

	rest -= rest > 0;
	return end - sets->first[doc] > rest ? end - rest : sets->first[doc];
}

/* Find the documents before this one that share one of its prefix, ascending, and list it. */
static void find(struct lists *lists, const struct sets *sets, size_t doc, size_t end)
{
	uint32_t *last;

	lists->n_found = 0;
	for (size_t i = sets->first[doc]; i < end; i++) {
		last = &lists->last[sets->numbers[i]];
		for (uint32_t at = *last; at; at = lists->items[at].before) {
			uint32_t other = lists->items[at].doc;

			lists->found[lists->n_found] = other;
			lists->n_found += lists->found_by[other] != doc + 1;
			lists->found_by[other] = (uint32_t)doc + 1;
		}
		lists->items[++lists->n] = (struct item){ (uint32_t)doc, *last };
		*last = (uint32_t)lists->n;
	}
	qsort(lists->found, lists->n_found, sizeof(*lists->found), ascending);
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

static void print_pairs(const struct qu_set *set, const struct qu_features *shingles,
			const struct sets *sets, const struct limits *limits)
{
	struct lists lists = {
		.last = bn_alloc(sets->n_numbers + 1, sizeof(*lists.last)),
		.items = bn_alloc(sets->first[set->n] + 1, sizeof(*lists.items)),
		.found = bn_alloc(set->n + 1, sizeof(*lists.found)),
		.found_by = bn_alloc(set->n + 1, sizeof(*lists.found_by)),
	};
	size_t same = 0, near = 0;

	printf("#id1\tid2\tlabel\tjaccard\n");
	for (size_t doc = 0; doc < set->n; doc++) {
		size_t own = shingles[doc].n;

		find(&lists, sets, doc, prefix_end(sets, doc, own, limits->least));
		for (size_t i = 0; i < lists.n_found; i++) {
			size_t other = lists.found[i], shared = count_shared(sets, doc, other);
			size_t all = own + shingles[other].n - shared;
			const char *label = label_of(limits, shared, all);

			if (100 * shared < limits->least * all)
				continue;
			same += shared == all;
			near += *label == 'n' && label[1] == 'e';
			print_pair(set->docs[other].id, set->docs[doc].id, label,
				   (double)shared / (double)all);
		}
	}
	fprintf(stderr, "%s: documents %zu, near pairs %zu, pairs with equal shingles %zu\n",
		set->name, set->n, near, same);
	free(lists.last);
	free(lists.items);
	free(lists.found);
	free(lists.found_by);
}

/* What is printed, for --help. */
static const char figures[] =
	"\nOutput: id1, id2, label and Jaccard index, separated by tabs. Pairs with equal\n"
	"shingles are 'grey': every search finds them, so they would flatter the figures.\n"
	"A document whose id is another one's, '~' and KIND is an edited copy of that, as\n"
	"make_set.py writes it; if the two are near, they have the label 'near:KIND'.\n"
	"Documents are compared if they share one of their rarer shingles, of which more\n"
	"count the lower --least is. It takes about 60 bytes of memory a word. 8,000 news\n"
	"items take a second, 100,000 passages of make_set.py a minute.\n";

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
	struct sets sets;
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
	sets_make(&sets, shingles, set.n);
	print_pairs(&set, shingles, &sets, &limits);
	free(sets.numbers);
	free(sets.first);
	qu_features_free(shingles, set.n);
	qu_set_free(&set);
	return 0;
}

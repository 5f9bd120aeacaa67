/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An independent answer to what simidx-query prints: every query against every document.
 * Shares nothing with the library or the tools.
 *
 *   linear_scan documents N SEED          documents as tsv, in clusters, ids ascending
 *   linear_scan queries N SEED FILE       fingerprints, half of them near to documents
 *   linear_scan search K FILE < queries   what "search -k K -" has to print
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct document {
	uint64_t id;
	uint64_t fp;
	char label[32];
};

struct hit {
	int distance;
	const struct document *document;
};

static uint64_t state;

/* xorshift64*: any generator will do, as long as it is the same everywhere. */
static uint64_t next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

static uint64_t flip(uint64_t fp, unsigned flips)
{
	while (flips-- > 0)
		fp ^= UINT64_C(1) << (next_random() >> 58);
	return fp;
}

/* A third is random, a third 0..6 flips from an earlier one, the rest in one 16-bit prefix. */
static void make_documents(uint64_t n)
{
	uint64_t *fps = calloc(n + 1, sizeof(*fps));
	uint64_t i, id = 0;

	if (!fps)
		exit(2);
	for (i = 0; i < n; i++) {
		fps[i] = next_random();
		if (i > 0 && i % 3 == 1)
			fps[i] = flip(fps[next_random() % i], (unsigned)(next_random() % 7));
		else if (i % 3 == 2)
			fps[i] |= UINT64_C(0xffff) << 48;
		id += 1 + next_random() % 3;
		printf("%" PRIu64 "\t%016" PRIx64 "\t", id, fps[i]);
		if (i % 5 == 0)
			printf("label-%" PRIu64, i);
		putchar('\n');
	}
	free(fps);
}

static size_t read_documents(const char *path, struct document **out)
{
	FILE *file = fopen(path, "r");
	struct document *documents = NULL;
	size_t n = 0, room = 0;
	char line[256], *tab;

	if (!file)
		exit(2);
	while (fgets(line, sizeof(line), file)) {
		if (n == room) {
			room = room ? 2 * room : 1024;
			documents = realloc(documents, room * sizeof(*documents));
			if (!documents)
				exit(2);
		}
		documents[n].id = strtoull(line, &tab, 10);
		documents[n].fp = strtoull(tab + 1, &tab, 16);
		tab[strcspn(tab, "\n")] = '\0';
		snprintf(documents[n].label, sizeof(documents[n].label), "%s", tab + 1);
		n++;
	}
	fclose(file);
	*out = documents;
	return n;
}

static void make_queries(uint64_t n, const char *path)
{
	struct document *documents;
	size_t n_documents = read_documents(path, &documents);
	uint64_t i, fp;

	for (i = 0; i < n; i++) {
		fp = next_random();
		if (i % 2 == 0)
			fp = flip(documents[fp % n_documents].fp, (unsigned)(i / 2 % 5));
		printf("%016" PRIx64 "\n", fp);
	}
	free(documents);
}

static int compare_hits(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->document->id < y->document->id ? -1 : x->document->id > y->document->id;
}

static void search(int k, const char *path)
{
	struct document *documents;
	size_t n = read_documents(path, &documents), hits, i;
	struct hit *found = calloc(n + 1, sizeof(*found));
	char line[64];
	uint64_t fp;

	if (!found)
		exit(2);
	while (fgets(line, sizeof(line), stdin)) {
		fp = strtoull(line, NULL, 16);
		for (i = hits = 0; i < n; i++) {
			found[hits].distance = __builtin_popcountll(fp ^ documents[i].fp);
			found[hits].document = &documents[i];
			hits += found[hits].distance <= k;
		}
		qsort(found, hits, sizeof(*found), compare_hits);
		for (i = 0; i < hits; i++)
			printf("%016" PRIx64 "\t%" PRIu64 "\t%016" PRIx64 "\t%d\t%s\n", fp,
			       found[i].document->id, found[i].document->fp, found[i].distance,
			       found[i].document->label);
	}
	free(found);
	free(documents);
}

int main(int argc, char **argv)
{
	if (argc == 4 && strcmp(argv[1], "documents") == 0) {
		state = strtoull(argv[3], NULL, 10);
		make_documents(strtoull(argv[2], NULL, 10));
	} else if (argc == 5 && strcmp(argv[1], "queries") == 0) {
		state = strtoull(argv[3], NULL, 10);
		make_queries(strtoull(argv[2], NULL, 10), argv[4]);
	} else if (argc == 4 && strcmp(argv[1], "search") == 0) {
		search(atoi(argv[2]), argv[3]);
	} else {
		return 2;
	}
	return ferror(stdout) || fflush(stdout) ? 2 : 0;
}

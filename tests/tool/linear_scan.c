/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An independent answer to what simidx-query prints: every query against every document.
 * Shares nothing with the library or the tools.
 *
 *   linear_scan documents N SEED          documents as tsv, in clusters, ids ascending
 *   linear_scan queries N SEED FILE       fingerprints, half of them near to documents
 *   linear_scan pairs, doubles            the same with a second fingerprint each, that of a
 *                                         document as its label
 *   linear_scan search K FILE < queries   what "search -k K -" has to print
 *   linear_scan stream N SEED             documents to come: tsv without ids, of which three of ten
 *                                         are 0..3 flips from an earlier one of the others
 *   linear_scan replay FILE               what "--mode if-new --emit all" has to print of these
 *   linear_scan near RADIUS RADIUS2 BITS WEIGHTS FILE < queries
 *                                         the same by weights: up to RADIUS and in BITS bits,
 *                                         with those of the second fingerprint, which are the
 *                                         labels, up to RADIUS2 (-1: without). WEIGHTS is a
 *                                         file of 64 or 128 numbers, "-" for all 1; a query
 *                                         may have its second fingerprint after it. The sum
 *                                         of the weights is a column at the end
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

/* What is near. */
struct rule {
	long radius;
	long radius2;
	int bits;
	int is_plain;       /* all weights are 1 */
	int weights[128];
};

struct hit {
	long weighted;
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

/*
 * A third is random, a third 0..6 flips from an earlier one, the rest in one 16-bit prefix.
 * Second fingerprints, which take the place of labels, move likewise.
 */
static void make_documents(uint64_t n, int with_second)
{
	uint64_t *fps = calloc(n + 1, sizeof(*fps)), *seconds = calloc(n + 1, sizeof(*fps));
	uint64_t i, from, id = 0;

	if (!fps || !seconds)
		exit(2);
	for (i = 0; i < n; i++) {
		fps[i] = next_random();
		if (with_second)
			seconds[i] = next_random();
		if (i > 0 && i % 3 == 1) {
			from = next_random() % i;
			fps[i] = flip(fps[from], (unsigned)(next_random() % 7));
			if (with_second)
				seconds[i] = flip(seconds[from], (unsigned)(next_random() % 12));
		} else if (i % 3 == 2) {
			fps[i] |= UINT64_C(0xffff) << 48;
		}
		id += 1 + next_random() % 3;
		printf("%" PRIu64 "\t%016" PRIx64 "\t", id, fps[i]);
		if (with_second)
			printf("%016" PRIx64, seconds[i]);
		else if (i % 5 == 0)
			printf("label-%" PRIu64, i);
		putchar('\n');
	}
	free(fps);
	free(seconds);
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
		/* The id may be empty; strtoull() passes over a tab. */
		tab = line;
		documents[n].id = *line == '\t' ? 0 : strtoull(line, &tab, 10);
		documents[n].fp = strtoull(tab + 1, &tab, 16);
		tab[strcspn(tab, "\n")] = '\0';
		snprintf(documents[n].label, sizeof(documents[n].label), "%s", tab + 1);
		n++;
	}
	fclose(file);
	*out = documents;
	return n;
}

static void make_queries(uint64_t n, const char *path, int with_second)
{
	struct document *documents;
	size_t n_documents = read_documents(path, &documents);
	uint64_t i, fp, second;

	for (i = 0; i < n; i++) {
		fp = next_random();
		second = strtoull(documents[fp % n_documents].label, NULL, 16);
		if (i % 2 == 0)
			fp = flip(documents[fp % n_documents].fp, (unsigned)(i / 2 % 5));
		printf("%016" PRIx64, fp);
		if (with_second)
			printf(" %016" PRIx64, flip(second, (unsigned)(i / 2 % 9)));
		putchar('\n');
	}
	free(documents);
}

static int compare_hits(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->weighted != y->weighted)
		return x->weighted < y->weighted ? -1 : 1;
	return x->document->id < y->document->id ? -1 : x->document->id > y->document->id;
}

static void read_weights(const char *path, struct rule *rule)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "r") : NULL;
	int i;

	rule->is_plain = !file;
	for (i = 0; i < 128; i++)
		rule->weights[i] = 1;
	for (i = 0; file && i < 128 && fscanf(file, "%d", &rule->weights[i]) == 1; i++)
		;
	if (file)
		fclose(file);
	else if (strcmp(path, "-"))
		exit(2);
}

static long weigh(const struct rule *rule, uint64_t differ, int first)
{
	long sum = 0;

	if (rule->is_plain)
		return __builtin_popcountll(differ);
	for (; differ; differ &= differ - 1)
		sum += rule->weights[first + __builtin_ctzll(differ)];
	return sum;
}

static int is_near(const struct rule *rule, uint64_t fp, uint64_t fp2, struct hit *hit)
{
	const struct document *d = hit->document;

	hit->distance = __builtin_popcountll(fp ^ d->fp);
	if (hit->distance > rule->bits || (rule->is_plain && hit->distance > rule->radius))
		return 0;
	hit->weighted = weigh(rule, fp ^ d->fp, 0);
	if (hit->weighted > rule->radius)
		return 0;
	if (rule->radius2 < 0)
		return 1;
	hit->weighted += weigh(rule, fp2 ^ strtoull(d->label, NULL, 16), 64);
	return hit->weighted <= rule->radius2;
}

static void search(const struct rule *rule, const char *path, int shows_weight)
{
	struct document *documents;
	size_t n = read_documents(path, &documents), hits, i;
	struct hit *found = calloc(n + 1, sizeof(*found));
	char line[64], *rest;
	uint64_t fp, fp2;

	if (!found)
		exit(2);
	while (fgets(line, sizeof(line), stdin)) {
		fp = strtoull(line, &rest, 16);
		fp2 = strtoull(rest, NULL, 16);
		for (i = hits = 0; i < n; i++) {
			found[hits].document = &documents[i];
			hits += (size_t)is_near(rule, fp, fp2, &found[hits]);
		}
		qsort(found, hits, sizeof(*found), compare_hits);
		for (i = 0; i < hits; i++) {
			printf("%016" PRIx64 "\t%" PRIu64 "\t%016" PRIx64 "\t%d\t%s", fp,
			       found[i].document->id, found[i].document->fp, found[i].distance,
			       found[i].document->label);
			if (shows_weight)
				printf("\t%ld", found[i].weighted);
			putchar('\n');
		}
	}
	free(found);
	free(documents);
}

static void make_stream(uint64_t n)
{
	uint64_t *fps = calloc(n + 1, sizeof(*fps));

	if (!fps)
		exit(2);
	for (uint64_t i = 0; i < n; i++) {
		fps[i] = next_random();
		if (i >= 10 && i % 10 < 3)
			fps[i] = flip(fps[fps[i] % (i / 10) * 10 + 3 + fps[i] % 7],
				      (unsigned)(next_random() % 4));
		printf("\t%016" PRIx64 "\tu%" PRIu64 "\n", fps[i], i);
	}
	free(fps);
}

/* Documents that were kept. Of fingerprints that differ in at most 3 bits, one of the four pieces
 * of 16 bits is equal: so it is enough to compare with those that share a piece. */
struct kept {
	struct document *document;
	uint32_t *next[4];
	uint32_t head[4][65536]; /* place + 1 */
};

static unsigned piece(uint64_t fp, int i)
{
	return fp >> 16 * i & 0xffff;
}

/* The nearest within 3 bits, then the one with the smallest id; or NULL. */
static const struct document *find_nearest(const struct kept *kept, uint64_t fp, int *distance)
{
	const struct document *best = NULL;

	*distance = 4;
	for (int i = 0; i < 4; i++) {
		for (uint32_t at = kept->head[i][piece(fp, i)]; at; at = kept->next[i][at - 1]) {
			const struct document *d = &kept->document[at - 1];
			int differ = __builtin_popcountll(fp ^ d->fp);

			if (differ < *distance ||
			    (best && differ == *distance && d->id < best->id)) {
				*distance = differ;
				best = d;
			}
		}
	}
	return best;
}

static void replay(const char *path)
{
	static struct kept kept;
	struct document *documents;
	size_t n = read_documents(path, &documents), id = 0;
	int distance;

	kept.document = calloc(n + 1, sizeof(*documents));
	for (int i = 0; i < 4; i++)
		kept.next[i] = calloc(n + 1, sizeof(**kept.next));
	for (size_t i = 0; i < n && kept.document; i++) {
		struct document *d = &documents[i];
		const struct document *best = find_nearest(&kept, d->fp, &distance);

		if (best) {
			printf("dup\t%s:%zu\t%s\t%" PRIu64 "\t%d\t%d\t%s\n", path, i + 1, d->label,
			       best->id, distance, distance, best->label);
			continue;
		}
		printf("new\t%s:%zu\t%s\t%zu\t\t\t\n", path, i + 1, d->label, id);
		d->id = id++;
		kept.document[d->id] = *d;
		for (int k = 0; k < 4; k++) {
			kept.next[k][d->id] = kept.head[k][piece(d->fp, k)];
			kept.head[k][piece(d->fp, k)] = (uint32_t)d->id + 1;
		}
	}
	for (int i = 0; i < 4; i++)
		free(kept.next[i]);
	free(kept.document);
	free(documents);
}

int main(int argc, char **argv)
{
	struct rule rule;

	if (argc == 4 && (!strcmp(argv[1], "documents") || !strcmp(argv[1], "pairs"))) {
		state = strtoull(argv[3], NULL, 10);
		make_documents(strtoull(argv[2], NULL, 10), !strcmp(argv[1], "pairs"));
	} else if (argc == 5 && (!strcmp(argv[1], "queries") || !strcmp(argv[1], "doubles"))) {
		state = strtoull(argv[3], NULL, 10);
		make_queries(strtoull(argv[2], NULL, 10), argv[4], !strcmp(argv[1], "doubles"));
	} else if (argc == 4 && strcmp(argv[1], "stream") == 0) {
		state = strtoull(argv[3], NULL, 10);
		make_stream(strtoull(argv[2], NULL, 10));
	} else if (argc == 3 && strcmp(argv[1], "replay") == 0) {
		replay(argv[2]);
	} else if (argc == 4 && strcmp(argv[1], "search") == 0) {
		rule.radius = atoi(argv[2]);
		rule.radius2 = -1;
		rule.bits = 64;
		read_weights("-", &rule);
		search(&rule, argv[3], 0);
	} else if (argc == 7 && strcmp(argv[1], "near") == 0) {
		rule.radius = atol(argv[2]);
		rule.radius2 = atol(argv[3]);
		rule.bits = atoi(argv[4]);
		read_weights(argv[5], &rule);
		search(&rule, argv[6], 1);
	} else {
		return 2;
	}
	return ferror(stdout) || fflush(stdout) ? 2 : 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All pairs of near documents: the library, its method on sorted arrays in memory, and block
 * sorting. Linked with private parts of the library, which the arrays are joined by.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_join.h>

#include "bn_options.h"
#include "bn_own.h"
#include "bn_pairs.h"
#include "bn_util.h"

#define MAX_ROUNDS 64
#define MAX_CONTESTANTS 32

struct bench;

struct contestant {
	char name[32];
	unsigned threads;
	void (*find)(struct bench *b, struct contestant *c, struct bn_found *found);
	simidx *index;                 /* of the library */
	char dir[4096];
	int is_first;                  /* that uses this directory */
	struct bn_join_arrays *arrays;
	int beside;                    /* the arrays of its plan, or -1 */
	unsigned blocks;
	double seconds[MAX_ROUNDS], ratio[MAX_ROUNDS];
	double predicted;              /* seconds of one thread; 0 = it does not say */
	double memory;                 /* bytes at the most; 0 = it was not looked at */
};

struct bench {
	struct bn_set set;
	struct bn_docs docs;
	const char *name, *plans, *kernels, *only, *dir;
	uint64_t documents, memory;
	unsigned radius, rounds, threads;
	int keep;
	struct contestant contestant[MAX_CONTESTANTS];
	unsigned n;
};

/* ---- the library ---- */

/* Bytes of memory that are neither files nor shared with another process. */
static double private_memory(void)
{
	unsigned long long size = 0, resident = 0, shared = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	if (!file || fscanf(file, "%llu %llu %llu", &size, &resident, &shared) != 3)
		bn_die("/proc/self/statm cannot be read");
	fclose(file);
	return (double)(resident - shared) * (double)sysconf(_SC_PAGESIZE);
}

struct finding {
	struct contestant *c;
	struct bn_found *found;
	int looks; /* at memory */
};

static int note_plan(void *ctx, const simidx_join_info *info)
{
	((struct finding *)ctx)->c->predicted = info->seconds;
	return 0;
}

static void look_at_memory(struct finding *f)
{
	double now = private_memory();

	if (now > f->c->memory)
		f->c->memory = now;
}

static void note_progress(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	(void)phase;
	(void)done;
	(void)total;
	look_at_memory(ctx);
}

static int take_groups(void *ctx, const simidx_pair_group *groups, size_t n)
{
	struct finding *f = ctx;

	for (size_t i = 0; i < n; i++) {
		const simidx_pair_group *g = &groups[i];

		bn_found_add(f->found, g->fp_a, g->fp_b, g->n_a, g->ids_b ? g->n_b : g->n_a,
			     g->ids_a[0], g->ids_b ? g->ids_b[0] : g->ids_a[0]);
	}
	if (f->looks)
		look_at_memory(f);
	return 0;
}

static void join_index(struct bench *b, struct contestant *c, struct bn_found *found, int looks)
{
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	struct finding f = { c, found, looks };
	simidx_error err;

	o.radius = b->radius;
	o.threads = c->threads;
	o.memory = b->memory;
	o.tmpdir = b->dir;
	o.planned = note_plan;
	o.progress = looks ? note_progress : NULL;
	o.ctx = &f;
	taker.groups = take_groups;
	bn_check(simidx_pairs(c->index, NULL, &o, &taker, &err), &err, c->name);
}

static void find_own(struct bench *b, struct contestant *c, struct bn_found *found)
{
	join_index(b, c, found, 0);
}

static void measure_memory(struct bench *b, struct contestant *c)
{
	struct bn_found found = { 0 };
	double before = private_memory();

	join_index(b, c, &found, 1);
	c->memory -= before;
}

static void find_arrays(struct bench *b, struct contestant *c, struct bn_found *found)
{
	(void)b;
	bn_join_arrays_find(c->arrays, found);
}

static void find_blocks(struct bench *b, struct contestant *c, struct bn_found *found)
{
	bn_sort_blocks(&b->docs, c->blocks, b->radius, found);
}

/* ---- contestants ---- */

static struct contestant *add(struct bench *b, const char *name)
{
	struct contestant *c = &b->contestant[b->n];

	if (b->n == MAX_CONTESTANTS)
		bn_die("too many contestants");
	snprintf(c->name, sizeof(c->name), "%s", name);
	c->threads = 1;
	c->beside = -1;
	b->n++;
	return c;
}

/* The library, with one kernel; NULL = the best one. */
static void add_own(struct bench *b, const char *plan, const char *kernel, unsigned threads,
		    int arrays, int is_first)
{
	char name[32], reason[BN_REASON];
	struct contestant *c;

	snprintf(name, sizeof(name), "simidx-%s%s%s", plan, kernel ? "-" : "",
		 kernel ? kernel : "");
	c = add(b, name);
	c->find = find_own;
	c->threads = threads;
	c->beside = arrays;
	c->is_first = is_first;
	snprintf(c->dir, sizeof(c->dir), "%s/pairs-%s-%s-%llu", b->dir, plan, b->name,
		 (unsigned long long)b->documents);
	if (is_first && access(c->dir, F_OK) &&
	    bn_own_load(c->dir, plan, SIMIDX_LAYOUT_BLOCKS, b->set.fp, b->documents,
			(uint64_t)1 << 30, reason))
		bn_die("%s", reason);
	bn_own_open(c->dir, kernel, &c->index);
}

static void add_plan(struct bench *b, const char *plan)
{
	char name[32], list[256], *kernel, *rest = NULL;
	struct contestant *c;
	int arrays = -1;

	if (bn_listed(b->only, "arrays")) {
		snprintf(name, sizeof(name), "arrays-%s", plan);
		arrays = (int)b->n;
		c = add(b, name);
		c->arrays = bn_join_arrays_new(&b->docs, plan, b->radius);
		c->find = find_arrays;
		c->beside = arrays;
	}
	if (!bn_listed(b->only, "simidx"))
		return;
	add_own(b, plan, NULL, 1, arrays, 1);
	if (b->threads > 1)
		add_own(b, plan, NULL, b->threads, arrays, 0);
	snprintf(list, sizeof(list), "%s", b->kernels ? b->kernels : "");
	for (kernel = strtok_r(list, ",", &rest); kernel; kernel = strtok_r(NULL, ",", &rest))
		add_own(b, plan, kernel, 1, arrays, 0);
}

static void make_contestants(struct bench *b)
{
	char list[256], *plan, *rest = NULL;

	bn_set_make(&b->set, b->name, b->documents, 1, 1);
	if (!b->only || strcmp(b->only, "simidx"))
		bn_docs_make(&b->docs, &b->set);
	snprintf(list, sizeof(list), "%s", b->plans);
	for (plan = strtok_r(list, ",", &rest); plan; plan = strtok_r(NULL, ",", &rest))
		add_plan(b, plan);
	for (unsigned blocks = b->radius + 1; blocks <= b->radius + 2; blocks++) {
		char name[32];
		struct contestant *c;

		snprintf(name, sizeof(name), "blocks-%u", blocks);
		if (!bn_listed(b->only, name))
			continue;
		c = add(b, name);
		c->find = find_blocks;
		c->blocks = blocks;
		for (unsigned i = 0; i < b->n; i++)
			if (c->beside < 0 && b->contestant[i].arrays)
				c->beside = (int)i;
	}
	free(b->set.fp);
	b->set.fp = NULL;
}

static void free_contestants(struct bench *b)
{
	for (unsigned i = 0; i < b->n; i++) {
		struct contestant *c = &b->contestant[i];

		simidx_close(c->index);
		if (c->arrays)
			bn_join_arrays_free(c->arrays);
		if (c->is_first && !b->keep)
			bn_own_remove(c->dir);
	}
	bn_docs_free(&b->docs);
	bn_set_free(&b->set);
}

/* ---- figures ---- */

static void print(const struct bench *b, struct contestant *c, const struct bn_found *found)
{
	double median = bn_quantile(c->seconds, b->rounds, 0.5);

	printf("{\"bench\":\"pairs\",\"set\":\"%s\",\"documents\":%llu,\"radius\":%u,"
	       "\"contestant\":\"%s\",\"threads\":%u,\"seconds\":%.4f,\"low\":%.4f,\"high\":%.4f",
	       b->name, (unsigned long long)b->documents, b->radius, c->name, c->threads, median,
	       c->seconds[0], c->seconds[b->rounds - 1]);
	if (c->beside >= 0)
		printf(",\"over_arrays\":%.3f", bn_quantile(c->ratio, b->rounds, 0.5));
	if (c->index)
		printf(",\"predicted_seconds\":%.4f,\"memory_mb\":%.1f", c->predicted,
		       c->memory / 1e6);
	printf(",\"groups\":%llu,\"pairs\":%llu,", (unsigned long long)found->groups,
	       (unsigned long long)found->pairs);
	bn_print_machine();
	printf("}\n");
	fprintf(stderr, "  %-18s %u %9.3f", c->name, c->threads, median);
	if (c->beside >= 0)
		fprintf(stderr, " %7.2f", bn_quantile(c->ratio, b->rounds, 0.5));
	if (c->index)
		fprintf(stderr, "   predicted %.3f, %.0f MB", c->predicted, c->memory / 1e6);
	fprintf(stderr, "\n");
}

/* Status 1 if two find different pairs. */
static int measure(struct bench *b)
{
	struct bn_found first = { 0 };

	for (unsigned i = 0; i < b->n; i++)
		if (b->contestant[i].index)
			measure_memory(b, &b->contestant[i]);
	for (unsigned round = 0; round < b->rounds; round++)
		for (unsigned i = 0; i < b->n; i++) {
			struct contestant *c = &b->contestant[i];
			struct bn_found found = { 0 };
			double start = bn_seconds();

			c->find(b, c, &found);
			c->seconds[round] = bn_seconds() - start;
			if (c->beside >= 0)
				c->ratio[round] = c->seconds[round] /
						  b->contestant[c->beside].seconds[round];
			if (!round && !i)
				first = found;
			if (memcmp(&found, &first, sizeof(found))) {
				fprintf(stderr, "%s finds %llu pairs, not %llu\n", c->name,
					(unsigned long long)found.pairs,
					(unsigned long long)first.pairs);
				return 1;
			}
		}
	fprintf(stderr,
		"%s, %llu documents, radius %u: %llu pairs, %llu of fingerprints\n"
		"  contestant      threads  seconds  over arrays\n",
		b->name, (unsigned long long)b->documents, b->radius,
		(unsigned long long)first.pairs, (unsigned long long)first.groups);
	for (unsigned i = 0; i < b->n; i++)
		print(b, &b->contestant[i], &first);
	return 0;
}

/* What is printed, for --help. */
static const char figures[] =
	"\n"
	"Contestants:\n"
	"  simidx-PLAN  simidx_pairs(), which delivers pairs in order, with their documents;\n"
	"               simidx-PLAN-KERNEL with this kernel\n"
	"  arrays-PLAN  the same method in one thread on sorted arrays in memory\n"
	"  blocks-B     for each choice of B - K of B blocks, permute, sort, and compare what "
	"agrees\n"
	"               in these\n"
	"Figures:\n"
	"  seconds             median of the rounds, by the clock; low and high are the least and\n"
	"                      the greatest\n"
	"  over_arrays         seconds / those of the arrays, median of the rounds\n"
	"  predicted_seconds   what the library tells before it begins, of one thread\n"
	"  memory_mb           memory of its own that it takes at the most\n"
	"  groups, pairs       of fingerprints, and of documents\n"
	"All must find the same, or the program ends with status 1.\n";

int main(int argc, char **argv)
{
	struct bench *b = bn_alloc(1, sizeof(*b));
	const struct bn_option options[] = {
		{ 'n', "documents", "N", BN_COUNT, &b->documents, "(1000000)" },
		{ 's', "set", "NAME", BN_TEXT, &b->name,
		  "copies, skewed, prefix2, clustered, uniform, hot16,\n"
		  "hot5m, equal, blocks3 (copies)" },
		{ 'p', "plan", "PLAN,...", BN_TEXT, &b->plans, "(4x16)" },
		{ 'x', "kernel", "NAME,...", BN_TEXT, &b->kernels,
		  "simidx with the best kernel, and again with these, such as avx2" },
		{ 'k', "radius", "K", BN_SMALL, &b->radius, "1 to 7 (3)" },
		{ 't', "threads", "N", BN_SMALL, &b->threads,
		  "simidx with 1 thread, and again with N (1)" },
		{ 'm', "memory", "SIZE", BN_BYTES, &b->memory,
		  "that simidx may use, such as 1G (256M)" },
		{ 'o', "only", "NAME,...", BN_TEXT, &b->only,
		  "simidx, arrays, blocks-B (all; of blocks, K + 1 and K + 2)" },
		{ 'r', "rounds", "N", BN_SMALL, &b->rounds, "(5)" },
		{ 'd', "dir", "DIR", BN_TEXT, &b->dir, "where the index is built (.)" },
		{ 'K', "keep", NULL, BN_FLAG, &b->keep,
		  "leave the index, and use one that is there" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.about = "How long it takes to find all pairs of near documents. Contestants take "
			 "turns.\n"
			 "Prints JSON lines, and a table on the standard error.\n",
		.options = options,
		.more = figures,
	};
	int code;

	bn_program = "bn_pairs";
	b->documents = 1000000;
	b->name = "copies";
	b->plans = "4x16";
	b->radius = 3;
	b->threads = 1;
	b->memory = (uint64_t)256 << 20;
	b->rounds = 5;
	b->dir = ".";
	bn_parse(&usage, argc, argv);
	if (b->rounds > MAX_ROUNDS || b->radius > 7)
		bn_die("at most %d rounds, and radius 7", MAX_ROUNDS);
	make_contestants(b);
	code = measure(b);
	free_contestants(b);
	free(b);
	return code;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Search a set of documents with the library and with what it competes with, in turns. All
 * answers are compared. --help says how to read the figures.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_options.h"
#include "bn_pass.h"
#include "bn_report.h"
#include "bn_rival.h"
#include "bn_util.h"

#define MAX_ROWS_DOCUMENTS 10000000
#define SINGLE "single" /* the passes "mean" and "times" */

struct bench {
	struct bn_setup setup;
	uint64_t documents, queries;
	unsigned rounds;
	const char *set, *plans, *simd, *only, *works;
	char *peers;
	struct bn_set data;
	struct bn_rival rival[BN_MAX_RIVALS];
	unsigned n_rivals;
	char names[512]; /* the works, cut at the commas */
	const char *work[BN_MAX_WORKS];
	unsigned n_works;
	struct bn_report report;
};

/* Whether --only has it: by its whole name, without what follows @, or by its first word. */
static int is_wanted(const struct bench *b, const char *name)
{
	char part[64];

	if (bn_listed(b->only, name))
		return 1;
	snprintf(part, sizeof(part), "%.*s", (int)strcspn(name, "@"), name);
	if (bn_listed(b->only, part))
		return 1;
	snprintf(part, sizeof(part), "%.*s", (int)strcspn(name, "@-"), name);
	return bn_listed(b->only, part);
}

static void skipped(const char *name, const char *reason)
{
	printf("{\"bench\":\"search\",\"contestant\":\"%s\",\"skipped\":\"%s\"}\n", name,
	       reason);
	fprintf(stderr, "  %-22s skipped: %s\n", name, reason);
}

/* Take in what was just made in rival[n_rivals]. */
static void add(struct bench *b, const char *name, int made, const char *reason)
{
	const struct bn_rival *rival = &b->rival[b->n_rivals];

	if (made) {
		skipped(name, reason);
		return;
	}
	printf("{\"bench\":\"search\",\"set\":\"%s\",\"documents\":%llu,\"contestant\":\"%s\""
	       ",\"build_s\":%.3f,\"bytes_per_document\":%.2f}\n",
	       b->data.name, (unsigned long long)b->data.n, rival->name, rival->build_s,
	       rival->bytes);
	fprintf(stderr, "  %-22s %9.2f s to build %11.2f bytes a document\n", rival->name,
		rival->build_s, rival->bytes);
	if (++b->n_rivals == BN_MAX_RIVALS)
		bn_die("too many contestants");
}

static struct bn_rival *next(struct bench *b)
{
	return &b->rival[b->n_rivals];
}

/* Arrays differ by plan alone, so each is made once. */
static void add_arrays(struct bench *b, const char *plan, enum bn_simd simd)
{
	char name[64], reason[BN_REASON];

	snprintf(name, sizeof(name), "arrays-%s@%s", plan, bn_simd_name(simd));
	if (!bn_listed(b->plans, plan) || !is_wanted(b, name))
		return;
	for (unsigned i = 0; i < b->n_rivals; i++) {
		const struct bn_rival *made = &b->rival[i];

		if (!strncmp(made->name, "arrays-", 7) && !strcmp(made->plan, plan)) {
			bn_arrays_again(made, simd, next(b));
			add(b, name, 0, NULL);
			return;
		}
	}
	add(b, name, bn_arrays_make(&b->setup, plan, simd, next(b), reason), reason);
}

static void add_level(struct bench *b, enum bn_simd simd)
{
	static const char *const plans[] = { "4x16", "3x22", "2x32", "10x26" };
	char name[64], reason[BN_REASON];

	snprintf(name, sizeof(name), "scan@%s", bn_simd_name(simd));
	if (is_wanted(b, name))
		add(b, name, bn_scan_make(&b->setup, simd, next(b), reason), reason);
	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++)
		add_arrays(b, plans[i], simd);
}

/* The index of a rival that was just made, searched in other ways. */
static void add_again(struct bench *b, const struct bn_rival *made)
{
	char name[64];

	for (int level = 0; b->simd && level < BN_SIMD_LEVELS; level++) {
		enum bn_simd simd = (enum bn_simd)level;

		if (!bn_simd_usable(simd) || !bn_listed(b->simd, bn_simd_name(simd)))
			continue;
		bn_own_again(&b->setup, made, simd, next(b));
		add(b, next(b)->name, 0, NULL);
	}
	snprintf(name, sizeof(name), "onephase-%s", made->plan);
	if (bn_listed(b->works, "cold") && is_wanted(b, name)) {
		bn_own_one_by_one(&b->setup, made, next(b));
		add(b, name, 0, NULL);
	}
}

static void add_own(struct bench *b)
{
	static const char *const plans[] = { "auto",  "4x16",  "3x22", "2x32",
					     "10x26", "16x28", "20x31" };
	char name[64], reason[BN_REASON];

	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++) {
		if (!bn_listed(b->plans, plans[i]))
			continue;
		snprintf(name, sizeof(name), "simidx-%s", plans[i]);
		if (is_wanted(b, name)) {
			struct bn_rival *own = next(b);

			add(b, name,
			    bn_own_make(&b->setup, plans[i], SIMIDX_LAYOUT_BLOCKS, own,
					reason),
			    reason);
			if (own != next(b))
				add_again(b, own);
		}
	}
	if (!is_wanted(b, "rows-4x16") || !bn_listed(b->plans, "4x16"))
		return;
	snprintf(reason, sizeof(reason), "up to %d documents only", MAX_ROWS_DOCUMENTS);
	if (b->documents > MAX_ROWS_DOCUMENTS)
		skipped("rows-4x16", reason);
	else
		add(b, "rows-4x16",
		    bn_own_make(&b->setup, "4x16", SIMIDX_LAYOUT_ROWS, next(b), reason),
		    reason);
}

static void add_peers(struct bench *b)
{
	char name[BN_NAME], reason[BN_REASON];

	for (char *at = strtok(b->peers, ","); at; at = strtok(NULL, ",")) {
		bn_peer_name(at, name);
		if (is_wanted(b, name))
			add(b, name, bn_peer_make(&b->setup, at, next(b), reason), reason);
	}
}

static void add_rivals(struct bench *b)
{
	char reason[BN_REASON];

	fprintf(stderr, "%s, %llu documents\n", b->data.name, (unsigned long long)b->data.n);
	/* Before anything is big: these are forked. */
	add_peers(b);
	for (int level = 0; level < BN_SIMD_LEVELS; level++) {
		int best = (enum bn_simd)level == bn_simd_best();

		if (!bn_simd_usable((enum bn_simd)level))
			continue;
		if (b->simd ? bn_listed(b->simd, bn_simd_name((enum bn_simd)level)) : best)
			add_level(b, (enum bn_simd)level);
	}
	add_own(b);
	if (is_wanted(b, "probes"))
		add(b, "probes", bn_probes_make(&b->setup, next(b), reason), reason);
	if (is_wanted(b, "neighbours"))
		add(b, "neighbours", bn_neighbours_make(&b->setup, next(b), reason), reason);
}

/* The arrays of the same plan and instruction set; what has none is compared with the best 4x16. */
static int arrays_of(const struct bench *b, const struct bn_rival *rival)
{
	enum bn_simd simd = rival->simd_set ? rival->simd : bn_simd_best();
	const char *plan = *rival->plan ? rival->plan : "4x16";

	for (unsigned i = 0; i < b->n_rivals; i++) {
		const struct bn_rival *other = &b->rival[i];

		if (!strncmp(other->name, "arrays-", 7) && simd == other->simd &&
		    !strcmp(plan, other->plan))
			return (int)i;
	}
	return -1;
}

static void begin_report(struct bench *b, unsigned class)
{
	struct bn_report *report = &b->report;

	memset(report, 0, sizeof(*report));
	report->bench = "search";
	report->set = b->data.name;
	report->class = b->data.classes[class].name;
	report->documents = b->data.n;
	report->rounds = b->rounds;
	report->n_rivals = b->n_rivals;
	report->n_works = b->n_works;
	report->mih = report->base_work = report->base_rival = -1;
	for (unsigned i = 0; i < b->n_rivals; i++) {
		report->rival[i] = b->rival[i].name;
		report->arrays[i] = arrays_of(b, &b->rival[i]);
		if (!strcmp(b->rival[i].name, "mih-rs"))
			report->mih = (int)i;
	}
	for (unsigned w = 0; w < b->n_works; w++) {
		report->work[w] = b->work[w];
		if (!strcmp(b->work[w], SINGLE))
			report->base_work = (int)w;
	}
	bn_report_begin(report);
}

static int is_p50(const char *work)
{
	return !strcmp(work, "swept") || !strcmp(work, "cold");
}

static void measure(struct bench *b, unsigned class, unsigned w, unsigned r,
		    const struct bn_truth *truth)
{
	const char *work = b->work[w];
	struct bn_rival *rival = &b->rival[r];
	uint64_t n = b->data.classes[class].n, limit = 0;
	struct bn_figures mean, times;

	if (!strncmp(rival->name, "onephase-", 9) && strcmp(work, "cold"))
		return;
	if (!strncmp(work, "limit-", 6)) {
		if (!rival->limit || !class) /* only answers of the hot class are that long */
			return;
		limit = bn_number("limit", work + 6);
		work = SINGLE;
	}
	if (!strcmp(work, SINGLE)) {
		bn_pass_run(rival, "mean", &b->data, class, limit, truth, &mean);
		bn_pass_run(rival, "times", &b->data, class, limit, truth, &times);
		mean.p50_us = times.p50_us;
		mean.p99_us = times.p99_us;
	} else if (bn_pass_applies(rival, work, n)) {
		bn_pass_run(rival, work, &b->data, class, limit, truth, &mean);
	} else {
		return;
	}
	if (rival->max_queries && rival->max_queries < n)
		n = rival->max_queries;
	bn_report_add(&b->report, w, r, is_p50(work) ? mean.p50_us : mean.mean_us, mean.p50_us,
		      mean.p99_us, (double)mean.sum.n / (double)n);
}

static void measure_class(struct bench *b, unsigned class, struct bn_truth *truth)
{
	begin_report(b, class);
	for (unsigned r = 0; r < b->n_rivals; r++)
		if (!b->rival[r].pass)
			bn_pass_check(&b->rival[r], &b->data, class, truth);
	for (unsigned r = 0; r < b->n_rivals; r++)
		if (b->rival[r].pass)
			bn_pass_check(&b->rival[r], &b->data, class, truth);
	for (unsigned round = 0; round < b->rounds; round++)
		for (unsigned w = 0; w < b->n_works; w++)
			for (unsigned r = 0; r < b->n_rivals; r++)
				if (strcmp(b->work[w], "cold"))
					measure(b, class, w, r, truth);
	/* Afterwards, as it leaves nothing warm. */
	for (unsigned round = 0; round < b->rounds; round++)
		for (unsigned w = 0; w < b->n_works; w++)
			for (unsigned r = 0; r < b->n_rivals; r++)
				if (!strcmp(b->work[w], "cold"))
					measure(b, class, w, r, truth);
	bn_report_print(&b->report);
	bn_report_end(&b->report);
}

/* What is printed, for --help. */
static const char figures[] =
	"\n"
	"Contestants (--only takes whole names, names without the part after '@', or their\n"
	"beginnings up to '-'):\n"
	"  simidx-PLAN       the library, blocks layout, for each plan that it can search\n"
	"  simidx-PLAN@SIMD  the same index with the instruction set forced; 'scalar' counts\n"
	"                    bits with an instruction, as the arrays do\n"
	"  onephase-PLAN     for 'cold' alone: the same index, but each page is read when it is\n"
	"                    needed, none ahead\n"
	"  rows-4x16         the library, rows layout: one key an entry; up to 10^7 documents\n"
	"  arrays-PLAN@SIMD  the same tables as sorted arrays in memory, with ids, all probes of\n"
	"                    a query under way at once: a practical lower bound\n"
	"  scan@SIMD         compares with every fingerprint in an array; 500 queries\n"
	"  probes            looks each neighbour of the query up in a hash table of all\n"
	"                    fingerprints (43,745 neighbours within 3 bits); 200 queries\n"
	"  neighbours        a hash table of all neighbours of all documents, one look-up;\n"
	"                    569 kB a document, so it is built for up to 10,000 documents\n"
	"  NAME              a program that --peers lists, without its folder and what follows a\n"
	"                    dot; a process of its own. bench/peers/search.sh builds some, such\n"
	"                    as mih-rs, an exact index in memory\n"
	"\n"
	"Sets; all come from the seed:\n"
	"  uniform    random fingerprints\n"
	"  clustered  30 % in clusters of 20\n"
	"  hot16      1 % begin with the same 16 bits\n"
	"  hot5m      5 million begin with the same 16 bits, but at most every other one\n"
	"  equal      2 % are one fingerprint\n"
	"  blocks3    1 %, at most 30,000, agree in the first three groups of 16 bits\n"
	"Half of the queries are stored fingerprints with 0..3 bits flipped. Queries of the\n"
	"last four sets are measured in two classes: 'hot', those that meet what is crowded\n"
	"(1,000 of them, 200 of 'equal'), and 'other'.\n"
	"\n"
	"Works, and what \"us\" is in their lines:\n"
	"  single      one query after the other: mean CPU time, also of a server, if there is\n"
	"              one; p50_us and p99_us by the clock\n"
	"  batch-N     N queries in one call: mean CPU time of the process\n"
	"  weighted-N  one after the other by weights as texts have them, N probes each, up to "
	"the\n"
	"              distance of a text in an index without second fingerprints\n"
	"  text-N      the same up to that of an index with them\n"
	"  swept       64 MiB of other memory are written before each of 200 queries: p50\n"
	"  cold        200 queries, before each all pages of the file leave memory: p50. Needs a\n"
	"              file system whose files can leave memory, so not tmpfs\n"
	"  threads-N   N threads share the queries: clock time by queries\n"
	"  limit-N     'hot' class only: at most N documents a query\n"
	"\n"
	"Members of the lines (in the table: /arrays, /mih-rs, /base):\n"
	"  us, us_min, us_max, p50_us, p99_us   median, least and greatest of the rounds\n"
	"  matches        documents found a query\n"
	"  over_arrays    time over that of the arrays of the same plan and instruction set;\n"
	"                 without a plan, of 4x16 with the best instruction set\n"
	"  over_mih       time over that of mih-rs\n"
	"  over_base      time over that of the same contestant's 'single'\n"
	"  over_..._min, over_..._max   least and greatest of the rounds\n"
	"  build_s, bytes_per_document   to build it; memory or file\n";

static void parse(struct bench *b, int argc, char **argv)
{
	const char *peers = "";
	const struct bn_option options[] = {
		{ 'n', "documents", "N", BN_COUNT, &b->documents, "to store (1000000)" },
		{ 'q', "queries", "N", BN_COUNT, &b->queries, "distinct queries (100000)" },
		{ 'k', "radius", "K", BN_SMALL_0, &b->setup.radius, "(3)" },
		{ 's', "set", "NAME", BN_TEXT, &b->set,
		  "uniform, clustered, hot16, hot5m, equal, blocks3\n(uniform)" },
		{ 'p', "plan", "LIST", BN_TEXT, &b->plans,
		  "auto, 4x16, 3x22, 2x32, 10x26, 16x28, 20x31 (4x16,3x22)" },
		{ 'x', "simd", "LIST", BN_TEXT, &b->simd,
		  "of rivals, and of the library besides the best one: scalar,\n"
		  "avx2, avx512 (the best one)" },
		{ 'w', "work", "LIST", BN_TEXT, &b->works,
		  "single, batch-N, weighted-N, text-N, swept,\nthreads-N, cold, limit-N" },
		{ 'o', "only", "LIST", BN_TEXT, &b->only,
		  "contestants, such as simidx, arrays-4x16, mih-rs (all)" },
		{ 'r', "rounds", "N", BN_SMALL, &b->rounds, "(5)" },
		{ 'd', "dir", "DIR", BN_TEXT, &b->setup.dir, "where indexes are built (.)" },
		{ 'K', "keep", NULL, BN_FLAG, &b->setup.keep,
		  "leave them there, and use those that are" },
		{ 'm', "memory", "SIZE", BN_BYTES, &b->setup.memory,
		  "of the loader, such as 4G (1G)" },
		{ 'P', "peers", "LIST", BN_TEXT, &peers,
		  "programs that take part, such as bench/mih.sh builds" },
		{ 'S', "seed", "N", BN_COUNT, &b->setup.seed, "(1)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.about =
			"Search an index at rest, in turns with other programs that answer the "
			"same\n"
			"queries. Prints a line of JSON for each kind of work and contestant, and "
			"a table\n"
			"on the standard error. Ends with status 1 if two contestants differ in an "
			"answer.\n",
		.options = options,
		.more = figures,
	};

	bn_parse(&usage, argc, argv);
	b->peers = bn_alloc(strlen(peers) + 1, 1);
	strcpy(b->peers, peers);
	snprintf(b->names, sizeof(b->names), "%s", b->works);
	for (char *at = strtok(b->names, ","); at; at = strtok(NULL, ",")) {
		if (b->n_works == BN_MAX_WORKS)
			bn_die("too many kinds of work");
		b->work[b->n_works++] = at;
	}
}

int main(int argc, char **argv)
{
	struct bench *b = bn_alloc(1, sizeof(*b));
	struct bn_truth truth;

	bn_program = "bn_search";
	b->documents = 1000000;
	b->queries = 100000;
	b->rounds = 5;
	b->set = "uniform";
	b->plans = "4x16,3x22";
	b->works = "single,batch-1000,batch-100000,swept,threads-1,threads-2,limit-100,cold";
	b->setup.radius = SIMIDX_DEFAULT_RADIUS;
	b->setup.seed = 1;
	b->setup.dir = ".";
	b->setup.set = &b->data;
	parse(b, argc, argv);
	printf("{\"bench\":\"search\",");
	bn_print_machine();
	printf(",\"radius\":%u,\"queries\":%llu,\"rounds\":%u,\"seed\":%llu}\n",
	       b->setup.radius, (unsigned long long)b->queries, b->rounds,
	       (unsigned long long)b->setup.seed);
	bn_set_make(&b->data, b->set, b->documents, b->queries, b->setup.seed);
	add_rivals(b);
	bn_truth_make(&truth, &b->data);
	for (unsigned class = 0; class < b->data.n_classes; class ++)
		measure_class(b, class, &truth);
	bn_truth_free(&truth);
	while (b->n_rivals)
		bn_rival_destroy(&b->rival[--b->n_rivals]);
	bn_set_free(&b->data);
	free(b->peers);
	free(b);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What SIMIDX_OPEN_CHECK costs: the first queries of new handles, with and without it in turns. */

#include <stdio.h>
#include <stdlib.h>

#include "bn_options.h"
#include "bn_sets.h"
#include "bn_util.h"

#define MAX_ROUNDS 100

static uint64_t documents = 1000000, queries = 10000;
static unsigned radius = SIMIDX_DEFAULT_RADIUS, rounds = 20;

/* Microseconds a query, from the first one of a handle on. Matches are added to *found. */
static double run(const char *path, unsigned flags, const uint64_t *fp, uint64_t *found)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_reader *reader;
	simidx_error err;
	simidx *index;
	double began;

	how.flags = SIMIDX_OPEN_READ_ONLY | flags;
	bn_check(simidx_open(path, &how, &index, &err), &err, path);
	bn_check(simidx_reader_open(index, &reader, &err), &err, path);
	query.radius = radius;
	began = bn_cpu_seconds();
	for (uint64_t i = 0; i < queries; i++) {
		query.fp = fp[i];
		bn_check(simidx_reader_search(reader, &query, &results, &err), &err, path);
		*found += results.n;
	}
	began = bn_cpu_seconds() - began;
	simidx_reader_close(reader);
	simidx_close(index);
	return 1e6 * began / (double)queries;
}

int main(int argc, char **argv)
{
	const struct bn_option options[] = {
		{ 'n', "documents", "N", BN_COUNT, &documents, "that the index has (1000000)" },
		{ 'q', "queries", "N", BN_COUNT, &queries, "of each handle (10000)" },
		{ 'k', "radius", "K", BN_SMALL, &radius, "(3)" },
		{ 'r', "rounds", "N", BN_SMALL, &rounds, "(20)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.operands = "INDEX", .least = 1, .most = 1,
		.about = "What it costs that searches check the blocks that they read. In each "
			 "round two\n"
			 "handles are opened, one of them with SIMIDX_OPEN_CHECK, in turns the "
			 "first, and\n"
			 "asked the same queries. INDEX is one of the set uniform, which "
			 "bench/bn_search\n"
			 "--keep has left. Prints a line of JSON.\n",
		.options = options,
		.more = "us, checked_us: CPU time of a query, the median of the rounds. ratio: "
			"that of\n"
			"checked queries by that of the others, the median of the rounds; min, "
			"max.\n",
	};
	double plain[MAX_ROUNDS], checked[MAX_ROUNDS], ratio[MAX_ROUNDS];
	uint64_t found[2] = { 0, 0 };
	struct bn_set set;
	int at;

	bn_program = "bn_check";
	at = bn_parse(&usage, argc, argv);
	if (rounds > MAX_ROUNDS || radius > SIMIDX_MAX_RADIUS)
		bn_die("at most %d rounds, and radius %d", MAX_ROUNDS, SIMIDX_MAX_RADIUS);
	bn_set_make(&set, "uniform", documents, rounds * queries, 1);
	/* So that the pages are in memory. */
	run(argv[at], 0, set.query, &(uint64_t){ 0 });
	for (unsigned i = 0; i < rounds; i++) {
		const uint64_t *fp = set.query + i * queries;

		if (i % 2)
			checked[i] = run(argv[at], SIMIDX_OPEN_CHECK, fp, &found[1]);
		plain[i] = run(argv[at], 0, fp, &found[0]);
		if (i % 2 == 0)
			checked[i] = run(argv[at], SIMIDX_OPEN_CHECK, fp, &found[1]);
		ratio[i] = checked[i] / plain[i];
	}
	if (found[0] != found[1])
		bn_die("%llu matches, and %llu when checked", (unsigned long long)found[0],
		       (unsigned long long)found[1]);
	printf("{\"bench\":\"check\",\"documents\":%llu,\"queries\":%llu,\"radius\":%u,\"us\":%.3f"
	       ",\"checked_us\":%.3f,\"ratio\":%.3f",
	       (unsigned long long)documents, (unsigned long long)queries, radius,
	       bn_quantile(plain, rounds, 0.5), bn_quantile(checked, rounds, 0.5),
	       bn_quantile(ratio, rounds, 0.5));
	printf(",\"min\":%.3f,\"max\":%.3f}\n", bn_quantile(ratio, rounds, 0),
	       bn_quantile(ratio, rounds, 1));
	bn_set_free(&set);
	return 0;
}

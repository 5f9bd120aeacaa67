/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An index in HBase: how fast documents are stored and found through one gateway. Fingerprints are
 * random. Each line is a JSON object:
 *   rows     bare rows, as many as the documents have in the tables of the plan: what the gateway
 *            takes
 *   load     the documents, as a writer stores them, by commits of COMMIT documents
 *   scans    queries that nothing is near to, so that a search ends with its scans
 *   search   queries that are stored ones with up to 3 bits changed, so that documents are looked
 *            up, too
 *   batches  of 100 and of 1,000 of these queries
 *
 * Usage: bn_hbase URI PLAN DOCUMENTS QUERIES [COMMIT]
 *   the index is made anew, unless DOCUMENTS is 0: then one that this program has made is searched;
 *   COMMIT is 1000 where it is not given
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_hbase.h>
#include <simidx_info.h>

#include "bn_engine.h"
#include "bn_hbase_rows.h"
#include "bn_util.h"

#define COMMIT 1000

static simidx_error err;

/* Bare rows go into an index of their own, which load() replaces. */
static void put_rows(const char *uri, const char *plan, uint64_t documents)
{
	uint64_t rows = 0;
	double begin, seconds;

	simidx_close(bn_engine_create(uri, plan));
	begin = bn_seconds();
	bn_check(bn_hbase_rows(uri, documents, bn_engine_fp, &rows, &err), &err, "rows");
	seconds = bn_seconds() - begin;
	printf("{\"work\":\"rows\",\"plan\":\"%s\",\"rows\":%llu,\"seconds\":%.1f,"
	       "\"rows_per_second\":%.0f}\n",
	       plan, (unsigned long long)rows, seconds, (double)rows / seconds);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index;
	uint64_t documents;

	bn_program = "bn_hbase";
	if (argc != 5 && argc != 6)
		bn_die("usage: bn_hbase URI PLAN DOCUMENTS QUERIES [COMMIT]");
	documents = strcmp(argv[3], "0") == 0 ? 0 : bn_number("DOCUMENTS", argv[3]);
	bn_check(simidx_hbase_add(&err), &err, "hbase");
	if (documents > 0) {
		put_rows(argv[1], argv[2], documents);
		bn_engine_load(argv[1], argv[2], documents,
			       argc > 5 ? bn_number("COMMIT", argv[5]) : COMMIT);
	}
	bn_check(simidx_open(argv[1], NULL, &index, &err), &err, "open");
	bn_check(simidx_get_info(index, &info, &err), &err, "info");
	bn_engine_search(index, argv[2], info.documents, (size_t)bn_number("QUERIES", argv[4]));
	simidx_close(index);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One use of an index, for scripts: ask URI [WORD...], which are done in this order.
 *   create, truncate   make it (otherwise it is only opened)
 *   put N              store documents 0 to N-1
 *   find N             documents 0 to N-1 must be there
 *   rows N             each hundredth of them must have its rows
 *   check N            a check must find N problems
 *   sleep MS           do nothing
 *   wait               until a line can be read
 * Prints the milliseconds that each has taken, or the name and the text of the error, and ends with
 * 2.
 */

#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hb_engine.hh"
#include "hbase/ht_engine.h"

static ht_doc document(uint64_t id)
{
	uint64_t state = id;

	return ht_document(id, ht_random(&state));
}

static int put(void *state, uint64_t n)
{
	uint64_t next;
	int code = hb_engine()->reserve_ids(state, 0, n, &next, &ht_err);

	if (code)
		return code;
	for (uint64_t at = 0; at < n; at += 500) {
		ht_doc docs[500];
		size_t k = 0;

		while (k < 500 && at + k < n) {
			docs[k] = document(at + k);
			k++;
		}
		code = ht_write(state, NULL, docs, k, NULL, SIMIDX_DURABILITY_NORMAL);
		if (code)
			return code;
	}
	return 0;
}

static enum simidx_engine_next see(void *ctx, size_t i, const simidx_match *m)
{
	*(uint64_t *)ctx += m->id == i && m->fp == document(i).fp;
	return SIMIDX_ENGINE_ON;
}

static int find(void *state, uint64_t n)
{
	uint64_t *id = calloc(n + 1, sizeof(*id)), found = 0;
	int code;

	HT_CHECK(id);
	for (uint64_t i = 0; i < n; i++)
		id[i] = i;
	code = hb_engine()->find_ids(state, id, n, see, &found, NULL, &ht_err);
	free(id);
	HT_CHECK(code || found == n);
	return code;
}

static void tell(int code, const char *what, const struct timespec *from)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (code) {
		printf("%s %s: %s\n", what, simidx_error_name(code), ht_err.text);
		exit(2);
	}
	printf("%s %ld\n", what,
	       (now.tv_sec - from->tv_sec) * 1000 + (now.tv_nsec - from->tv_nsec) / 1000000);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	simidx_engine_open how;
	struct timespec from;
	void *state;
	int i = 2;

	HT_CHECK(argc > 1);
	memset(&how, 0, sizeof(how));
	how.size = sizeof(how);
	how.n_tables = HT_TABLES;
	how.description = "asked";
	how.description_size = 5;
	if (i < argc && strcmp(argv[i], "create") == 0)
		how.flags = SIMIDX_OPEN_CREATE;
	else if (i < argc && strcmp(argv[i], "truncate") == 0)
		how.flags = SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE;
	i += how.flags != 0;
	clock_gettime(CLOCK_MONOTONIC, &from);
	tell(hb_engine()->open(argv[1], &how, &state, &ht_err), "open", &from);
	for (; i < argc; i++) {
		const char *word = argv[i];

		clock_gettime(CLOCK_MONOTONIC, &from);
		if (strcmp(word, "wait") == 0) {
			int c;
			while ((c = getchar()) != EOF && c != '\n')
				;
		} else {
			HT_CHECK(i + 1 < argc);
			uint64_t n = strtoull(argv[++i], NULL, 10);
			if (strcmp(word, "put") == 0)
				tell(put(state, n), word, &from);
			else if (strcmp(word, "find") == 0)
				tell(find(state, n), word, &from);
			else if (strcmp(word, "rows") == 0)
				for (uint64_t id = 0; id < n; id += 100) {
					ht_doc doc = document(id);
					HT_CHECK(ht_has_rows(state, &doc));
				}
			else if (strcmp(word, "check") == 0)
				HT_CHECK(ht_check(state, 0, NULL) == n);
			else
				usleep((useconds_t)n * 1000);
		}
	}
	hb_engine()->close(state);
	return 0;
}

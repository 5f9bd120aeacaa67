/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What several writers, and repairs beside them, do to each other: writers URI PID. PID is that of
 * the gateway, which is stopped at the end.
 */

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hb_engine.hh"
#include "hbase/ht_engine.h"

#define LABEL 65000

static int info(void *state, uint64_t *documents)
{
	simidx_engine_info info;
	int code;

	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	code = hb_engine()->info(state, &info, &ht_err);
	*documents = info.documents;
	return code;
}

/*
 * Each document has LABEL bytes in the journal, which may have 128 MiB: 2,064 documents fit at
 * most.
 */
static void large(const char *uri)
{
	static char label[LABEL];
	enum { FIT = 1200, TOO_MANY = 2100 };
	ht_doc *doc = calloc(TOO_MANY, sizeof(*doc));
	void *state = ht_open(uri, SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE), *other;
	uint64_t n;

	HT_CHECK(doc);
	memset(label, 'x', LABEL);
	for (uint64_t i = 0; i < TOO_MANY; i++) {
		doc[i] = ht_document(i, i * 0x123456789abcdefu);
		doc[i].label = label;
		doc[i].label_size = LABEL;
	}
	HT_CODE(ht_write(state, NULL, doc, TOO_MANY, NULL, 0), SIMIDX_E_RANGE);
	HT_CODE(info(state, &n), SIMIDX_OK);
	HT_CHECK(n == 0);
	/* More than an answer may have: the rows of writers must not be read whole. */
	HT_CODE(ht_write(state, NULL, doc, FIT, NULL, 0), SIMIDX_OK);
	HT_CODE(info(state, &n), SIMIDX_OK);
	HT_CHECK(n == FIT);
	other = ht_open(uri, 0);
	doc[FIT].label = NULL;
	HT_CODE(ht_write(other, NULL, doc + FIT, 1, NULL, 0), SIMIDX_OK);
	HT_CHECK(ht_is_stored(other, &doc[FIT]) && ht_is_stored(other, &doc[FIT - 1]));
	hb_engine()->close(other);
	hb_engine()->close(state);
	free(doc);
}

/* The old handle has its number for a minute, and must see at once that it is of no use. */
static void replaced(const char *uri)
{
	void *old = ht_open(uri, SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE), *fresh;
	ht_doc one = ht_document(1, 0x1111), two = ht_document(2, 0x2222);
	uint64_t n;

	HT_CODE(ht_write(old, NULL, &one, 1, NULL, 0), SIMIDX_OK);
	fresh = ht_open(uri, SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE);
	HT_CODE(info(old, &n), SIMIDX_E_MOVED);
	HT_CODE(ht_write(old, NULL, &two, 1, NULL, 0), SIMIDX_E_MOVED);
	two.there = 0;
	HT_CHECK(ht_is_stored(fresh, &two));
	HT_CHECK(ht_check(fresh, 0, NULL) == 0);
	hb_engine()->close(old);
	hb_engine()->close(fresh);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Leases are not given back to a gateway that is gone: closing must not wait for it. */
static void gone(const char *uri, pid_t gateway)
{
	void *state = ht_open(uri, SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE);
	ht_doc one = ht_document(1, 0x1111);
	simidx_engine_probe probe[2] = { { 0x12340000, 0 }, { 0x56780000, 0 } };
	void *other = ht_open(uri, 0);
	double begin;

	HT_CODE(ht_write(state, NULL, &one, 1, NULL, 0), SIMIDX_OK);
	HT_CODE(hb_engine()->lease(state, &probe[0], 1, 0, &ht_err), SIMIDX_OK);
	HT_CODE(hb_engine()->lease(other, &probe[1], 1, 0, &ht_err), SIMIDX_OK);
	HT_CHECK(kill(gateway, SIGSTOP) == 0);
	begin = seconds();
	hb_engine()->close(state);
	HT_CHECK(seconds() - begin < 6); /* 2 s for the leases and 2 s for the number */
	begin = seconds();
	HT_CODE(hb_engine()->release(other, &ht_err), SIMIDX_E_IO); /* of a commit or a rollback */
	HT_CHECK(seconds() - begin < 4);
	kill(gateway, SIGCONT);
	hb_engine()->close(other);
}

int main(int argc, char **argv)
{
	HT_CHECK(argc == 3);
	large(argv[1]);
	replaced(argv[1]);
	gone(argv[1], (pid_t)atoi(argv[2]));
	printf("writers: all held\n");
	return 0;
}

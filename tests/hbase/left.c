/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a writer that is gone has left, and who completes it: left PORT TABLE TABLE QUERY. PORT is
 * that of a gateway on this machine, QUERY the program simidx-query. Handles reach the gateway
 * through a proxy each, which can refuse to store a row of the index.
 */

#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hb_engine.hh"
#include "hbase/ht_engine.h"
#include "hbase/ht_proxy.h"
#include "hbase/ht_raw.h"

static int gateway;
static const char *table, *query;

/* A handle, and what its proxy does. */
struct handle {
	volatile int refuses;      /* to store the row below */
	unsigned char key[21];
	volatile int n_claims;     /* requests that may take a number, or give one back */
	void *state;
};

static enum ht_verdict judge(void *ctx, const char *name, const char *data, size_t n)
{
	struct handle *h = ctx;

	if (!name)
		return HT_CUT;
	h->n_claims += strcmp(name, "checkAndPut") == 0;
	if (h->refuses && strcmp(name, "putMultiple") == 0 &&
	    memmem(data, n, h->key, sizeof(h->key)))
		return HT_CUT;
	return HT_PASS;
}

static void make_uri(char uri[200], int port, const char *options)
{
	snprintf(uri, 200, "hbase://127.0.0.1:%d/%s?regions=1&connections=1&%s", port, table,
		 options);
}

/* A handle that refuses the row of a document in the first table, if there is one. */
static struct handle *handle(const char *options, unsigned flags, const ht_doc *refused)
{
	struct handle *h = calloc(1, sizeof(*h));
	uint32_t prefix[HT_TABLES];
	char uri[200];

	HT_CHECK(h);
	if (refused) {
		ht_prefixes(NULL, refused->fp, prefix);
		ht_raw_row(0, prefix[0], refused->fp, refused->id, h->key);
		h->refuses = 1;
	}
	make_uri(uri, ht_proxy(gateway, judge, h), options);
	h->state = ht_open(uri, flags);
	return h;
}

/* Open the index, and have ids for all that is stored here. */
static void open_once(unsigned flags)
{
	char uri[200];
	uint64_t next;
	void *state;

	make_uri(uri, gateway, "lease=60");
	state = ht_open(uri, flags);
	HT_CODE(hb_engine()->reserve_ids(state, 0, 100, &next, &ht_err), SIMIDX_OK);
	hb_engine()->close(state);
}

/* An index that is empty. */
static void anew(void)
{
	open_once(SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE);
}

/*
 * A writer that is not closed, and so seems to be gone when its time has passed: only its journal
 * is stored.
 */
static struct handle *leave(const char *options, const ht_doc *doc)
{
	struct handle *h = handle(options, 0, doc);

	HT_CODE(ht_write(h->state, NULL, doc, 1, NULL, 0), SIMIDX_E_UNKNOWN);
	return h;
}

static void *reader(void)
{
	char uri[200];

	make_uri(uri, gateway, "timeout=5");
	return ht_open(uri, SIMIDX_OPEN_READ_ONLY);
}

static uint64_t count(void *state)
{
	simidx_engine_info info = { .size = sizeof(info) };

	HT_CODE(hb_engine()->info(state, &info, &ht_err), SIMIDX_OK);
	return info.documents;
}

/* How many batches are left. It is looked at as of now, by somebody who looks nothing up. */
static uint64_t n_left(void)
{
	void *state = reader();
	uint64_t n = ht_check(state, 0, NULL);

	HT_CHECK(ht_check(state, 0, NULL) == n);
	hb_engine()->close(state);
	return n;
}

static int find_any(void *state)
{
	ht_doc none = ht_document(99, 0x9999);

	none.there = 0;
	return ht_is_stored(state, &none);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Descriptions and checks change nothing, as often as they are made; a look-up completes it. */
static void checks_change_nothing(void)
{
	ht_doc doc = ht_document(1, 0x1111222233334444);
	struct handle *a;
	void *r;

	anew();
	a = leave("lease=1&write-timeout=0.5", &doc);
	usleep(2200000);
	r = reader();
	HT_CHECK(count(r) == 0 && count(r) == 0 && n_left() == 1);
	HT_CHECK(ht_check(r, 0, NULL) == 1 && ht_check(r, 0, NULL) == 1 && n_left() == 1);
	HT_CHECK(ht_is_stored(r, &doc) && ht_has_rows(r, &doc));
	HT_CHECK(count(r) == 1 && ht_check(r, 0, NULL) == 0 && n_left() == 0);
	hb_engine()->close(r);
	hb_engine()->close(a->state);
}

static int run(const char *command, const char *more)
{
	char text[1000], uri[200];
	int status;

	make_uri(uri, gateway, "timeout=5");
	snprintf(text, sizeof(text), "'%s' %s '%s' %s", query, command, uri, more);
	status = system(text);
	HT_CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* The same by the tool, in which stats counts what a search would find. */
static void tools_change_nothing(void)
{
	static const char load[] = "printf '0000000000000001\\n' | "
				   "'%.*sload' -q -F lines --create truncate '%s' -";
	ht_doc doc = ht_document(1, 0x1111222233334444);
	char text[1000], uri[200];
	struct handle *a;

	make_uri(uri, gateway, "lease=60");
	HT_CHECK(strlen(query) > 5);
	snprintf(text, sizeof(text), load, (int)strlen(query) - 5, query, uri);
	HT_CHECK(system(text) == 0);
	open_once(0);
	a = leave("lease=1&write-timeout=0.5", &doc);
	usleep(2200000);
	HT_CHECK(run("repair --dry-run", ">/dev/null 2>&1") != 0);
	HT_CHECK(run("verify", "2>&1 | grep -q 'has not finished a batch of 1 document'") == 0);
	HT_CHECK(run("verify", ">/dev/null 2>&1") != 0 && n_left() == 1);
	HT_CHECK(run("stats", "| grep -qx 'documents  *2'") == 0);
	HT_CHECK(run("dump", "| wc -l | grep -qx 2") == 0 && n_left() == 0);
	HT_CHECK(run("verify", ">/dev/null 2>&1") == 0);
	hb_engine()->close(a->state);
}

/* Where the clock of a reader is ahead by the lease of a writer, the writer goes on. */
static void clock_that_is_ahead(void)
{
	ht_doc doc = ht_document(1, 0x1111222233334444);
	struct handle *a;
	void *r;

	anew();
	a = leave("lease=4&write-timeout=0.5", &doc);
	usleep(4200000); /* by the reader's clock its time has passed, but not by so much */
	r = reader();
	HT_CHECK(find_any(r) && n_left() == 1);
	hb_engine()->close(r);
	usleep(4000000);
	r = reader();
	HT_CHECK(find_any(r) && n_left() == 0);
	hb_engine()->close(r);
	hb_engine()->close(a->state);
}

/*
 * Of two batches the first one cannot be stored. The other one is, nobody waits for the whole time,
 * and the next one does not try again at once.
 */
static void batch_that_cannot_be_finished(void)
{
	ht_doc doc[2] = { ht_document(1, 0x1111222233334444), ht_document(2, 0x5555666677778888) };
	struct handle *a, *b, *r;
	double begin;

	anew();
	/* Who begins after another one has left something completes it, so both begin before. */
	a = handle("lease=2&write-timeout=0.5", 0, &doc[0]);
	HT_CODE(ht_begin(a->state), SIMIDX_OK);
	b = leave("lease=2&write-timeout=0.5", &doc[1]);
	HT_CODE(ht_write(a->state, NULL, &doc[0], 1, NULL, 0), SIMIDX_E_UNKNOWN);
	usleep(4200000);
	HT_CHECK(n_left() == 2);
	/* Without a limit of its own it could take half of this, and half of that for one batch. */
	r = handle("timeout=120", SIMIDX_OPEN_READ_ONLY, &doc[0]);
	begin = now();
	HT_CHECK(ht_is_stored(r->state, &doc[1]) && ht_has_rows(r->state, &doc[1]));
	HT_CHECK(now() - begin < 10);
	HT_CHECK(n_left() == 1 && count(r->state) == 1);
	hb_engine()->close(r->state);
	r = handle("timeout=30", SIMIDX_OPEN_READ_ONLY, &doc[0]);
	HT_CHECK(find_any(r->state) && r->n_claims == 0);
	hb_engine()->close(r->state);
	/* A writer does it. */
	r = handle("lease=60", 0, NULL);
	HT_CODE(ht_begin(r->state), SIMIDX_OK);
	HT_CHECK(ht_is_stored(r->state, &doc[0]) && count(r->state) == 2 && n_left() == 0);
	hb_engine()->close(r->state);
	hb_engine()->close(a->state);
	hb_engine()->close(b->state);
}

int main(int argc, char **argv)
{
	HT_CHECK(argc == 5);
	gateway = atoi(argv[1]);
	ht_raw_gateway(gateway);
	table = argv[2];
	query = argv[4];
	checks_change_nothing();
	clock_that_is_ahead();
	batch_that_cannot_be_finished();
	table = argv[3]; /* one that tools can read */
	tools_change_nothing();
	printf("left: all held\n");
	return 0;
}

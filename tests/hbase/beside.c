/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Repairs beside a writer, and leases of writers that stop: beside PORT TABLE. PORT is that of a
 * gateway on this machine. Handles that are to be stopped reach it through a proxy each, which
 * holds one of their requests.
 */

#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "hb_engine.hh"
#include "hbase/ht_engine.h"
#include "hbase/ht_proxy.h"
#include "hbase/ht_raw.h"

static int gateway;
static const char *table;
/* What requests have that put to a table, or scan it: its name, and what follows it. */
static char docs[100], put_docs[100], put_index[100], scan_index[100];

/* A handle, and what holds it. */
struct held {
	ht_holder *holder;
	void *state;
	pthread_t thread;
	ht_doc before, after;
	int code;                   /* of the write */
	simidx_engine_check check;
};

static void make_uri(char uri[200], int port, const char *options)
{
	snprintf(uri, 200, "hbase://127.0.0.1:%d/%s?regions=1&%s", port, table, options);
}

static void *direct(unsigned flags, const char *options)
{
	char uri[200];

	make_uri(uri, gateway, options);
	return ht_open(uri, flags);
}

/* An empty index, in which the ids of tests are free to be used. */
static void *anew(const char *options)
{
	void *state = direct(SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE, options);
	uint64_t next;

	HT_CODE(hb_engine()->reserve_ids(state, 0, 100, &next, &ht_err), SIMIDX_OK);
	return state;
}

static struct held *held(const char *options)
{
	struct held *h = calloc(1, sizeof(*h));
	char uri[200], all[100];
	int port;

	HT_CHECK(h);
	h->holder = ht_holder_new(gateway, &port);
	snprintf(all, sizeof(all), "connections=1&%s", options);
	make_uri(uri, port, all);
	h->state = ht_open(uri, 0);
	return h;
}

static void put_away(struct held *h)
{
	hb_engine()->close(h->state);
	free(h);
}

static void *write_it(void *arg)
{
	struct held *h = arg;

	h->code = ht_write(h->state, &h->before, &h->after, 1, NULL, 0);
	return NULL;
}

static void *repair_it(void *arg)
{
	struct held *h = arg;

	ht_check(h->state, SIMIDX_ENGINE_MEND, &h->check);
	return NULL;
}

static void begin(struct held *h, void *(*work)(void *))
{
	HT_CHECK(pthread_create(&h->thread, NULL, work, h) == 0);
}

static void end(struct held *h)
{
	ht_let_go(h->holder);
	HT_CHECK(pthread_join(h->thread, NULL) == 0);
}

static uint64_t count(void *state, uint64_t *labels)
{
	simidx_engine_info info = { .size = sizeof(info) };

	HT_CODE(hb_engine()->info(state, &info, &ht_err), SIMIDX_OK);
	if (labels)
		*labels = info.labels;
	return info.documents;
}

/* The key of a document's row in a table. */
static void row_key(const ht_doc *doc, unsigned t, unsigned char key[21])
{
	uint32_t prefix[HT_TABLES];

	ht_prefixes(NULL, doc->fp, prefix);
	ht_raw_row(t, prefix[t], doc->fp, doc->id, key);
}

static void remove_row(const ht_doc *doc, unsigned t)
{
	unsigned char key[21];

	row_key(doc, t, key);
	ht_raw_remove(table, key, sizeof(key), "");
}

static void put_row(const ht_doc *doc, unsigned t)
{
	unsigned char key[21];

	row_key(doc, t, key);
	ht_raw_put(table, key, sizeof(key), "", "", 0);
}

/* Whose a lease or a number is, and until when. */
static void put_owner(const void *row, size_t size, int64_t until)
{
	unsigned char value[24];

	memset(value, 'x', sizeof(value));
	for (int i = 0; i < 8; i++)
		value[i] = (unsigned char)(until >> (56 - 8 * i));
	ht_raw_put(docs, row, size, "o", value, sizeof(value));
}

/* ---- repairs ---- */

/*
 * The writer has chosen its timestamp and not yet written its journal. What a repair stores
 * meanwhile is later, and must not hide what the writer stores.
 */
static void change_beside_repair(int replaces)
{
	static char label[] = "one";
	void *empty = anew("lease=60"), *other;
	struct held *w = held("lease=60");
	uint64_t found;

	hb_engine()->close(empty);
	w->before = ht_document(1, 0x1111222233334444);
	w->before.label = label;
	w->before.label_size = 3;
	HT_CODE(ht_write(w->state, NULL, &w->before, 1, NULL, 0), SIMIDX_OK);
	w->after = ht_document(1, 0x5555666677778888);
	w->after.there = replaces;
	remove_row(&w->before, 0);
	other = direct(0, "lease=60");
	HT_CHECK(!ht_has_rows(other, &w->before));

	ht_hold(w->holder, NULL, NULL, 1);
	begin(w, write_it);
	ht_await(w->holder);
	found = ht_check(other, SIMIDX_ENGINE_MEND, &w->check);
	HT_CHECK(found == 1 && w->check.mended == 1 && ht_has_rows(other, &w->before));
	end(w);
	HT_CODE(w->code, SIMIDX_OK);
	HT_CHECK(ht_is_stored(other, &w->after));
	HT_CHECK(!replaces || ht_has_rows(other, &w->after));

	/* What the repair has put is of no use now; the next one removes it. */
	hb_engine()->close(w->state);
	ht_check(other, SIMIDX_ENGINE_MEND, NULL);
	HT_CHECK(ht_check(other, 0, NULL) == 0 && ht_is_stored(other, &w->after));
	HT_CHECK(!ht_has_rows(other, &w->before));
	free(w);
	hb_engine()->close(other);
}

/* A writer comes and goes between the moments at which a repair reads documents and counts. */
static void counts_beside_writers(void)
{
	void *w = anew("lease=60");
	struct held *r = held("lease=60");
	ht_doc doc[30];

	for (unsigned i = 0; i < 30; i++)
		doc[i] = ht_document(i, i * 0x0123456789abcdef);
	HT_CODE(ht_write(w, NULL, doc, 20, NULL, 0), SIMIDX_OK);
	hb_engine()->close(w);
	ht_hold(r->holder, "getScannerResults", scan_index, 1);
	begin(r, repair_it);
	ht_await(r->holder);
	w = direct(0, "lease=60");
	HT_CODE(ht_write(w, NULL, doc + 20, 10, NULL, 0), SIMIDX_OK);
	hb_engine()->close(w);
	end(r);
	HT_CHECK(r->check.problems == 0);
	HT_CHECK(count(r->state, NULL) == 30);
	HT_CHECK(ht_check(r->state, 0, NULL) == 0);
	put_away(r);
}

/*
 * A writer has stored rows of the index, and not yet the document. `early`: it had its number and
 * had chosen its timestamp before the repair began; else it comes after the repair has looked for
 * batches.
 */
static void rows_beside_repair(int early)
{
	struct held *w, *r;

	hb_engine()->close(anew("lease=60"));
	w = held("lease=60");
	r = held("lease=60");
	if (early) {
		w->after = ht_document(7, 0x7777000077770000);
		HT_CODE(ht_write(w->state, NULL, &w->after, 1, NULL, 0), SIMIDX_OK);
		ht_hold(w->holder, NULL, NULL, 1);
	} else {
		ht_hold(w->holder, "putMultiple", put_docs, 1);
	}
	w->after = ht_document(8, 0x8888000088880000);
	ht_hold(r->holder, "getScannerResults", early ? scan_index : NULL, early ? 1 : 2);
	if (early) {
		begin(w, write_it);
		ht_await(w->holder);
		usleep(5000); /* the repair is to begin in a later millisecond */
	}
	begin(r, repair_it);
	ht_await(r->holder);
	if (early) {
		ht_hold(w->holder, "putMultiple", put_docs, 1);
		ht_let_go(w->holder);
	} else {
		begin(w, write_it);
	}
	ht_await(w->holder);
	end(r);
	HT_CHECK(r->check.problems == 0);
	end(w);
	HT_CODE(w->code, SIMIDX_OK);
	HT_CHECK(ht_is_stored(r->state, &w->after) && ht_has_rows(r->state, &w->after));
	put_away(w);
	HT_CHECK(ht_check(r->state, 0, NULL) == 0);
	put_away(r);
}

/*
 * A writer whose clock is behind begins when the repair has seen that the tables differ: a label
 * that it has stored, and with `rows` rows of the index, seem to be older than the repair. What has
 * been there for an hour goes, and what is from a time to come, too, unless somebody is at work.
 */
static void clock_that_is_behind(int is_at_work, unsigned rows)
{
	static const char label[] = "lxxxxxxxxxxxxxxxx";
	struct held *r;
	ht_doc old = ht_document(5, 0x1000200030004000), ahead = ht_document(6, 0x1000200030004000);
	ht_doc fresh = ht_document(0x4142434445464748, 0x1000200030004001);
	uint64_t left;

	hb_engine()->close(anew("lease=60"));
	r = held("lease=60");
	ht_raw_clock(-3600000);
	if (rows)
		put_row(&old, 0);
	ht_raw_put(docs, label, 17, "ABCDEFGX", "1", 1);
	ht_raw_clock(3600000);
	if (rows)
		put_row(&ahead, 0);
	/* Each send has four of 256 ranges, and the table is read twice. */
	ht_hold(r->holder, "getScannerResults", scan_index, 256 / 4 + 1);
	begin(r, repair_it);
	ht_await(r->holder);
	ht_raw_clock(-5000);
	if (is_at_work)
		put_owner("w\0\7", 3, ht_raw_now() + 60000);
	for (unsigned t = 0; t < HT_TABLES * rows; t++)
		put_row(&fresh, t);
	ht_raw_put(docs, label, 17, "ABCDEFGH", "1", 1);
	end(r);
	ht_raw_clock(0);
	HT_CHECK(r->check.mended == r->check.problems);
	HT_CHECK(r->check.problems == (is_at_work ? rows + 1 : 3 * rows + 2));
	HT_CHECK(ht_has_rows(r->state, &fresh) == (is_at_work && rows));
	/* The writer has ended, before the row of its document. */
	if (is_at_work)
		put_owner("w\0\7", 3, 1);
	left = is_at_work ? rows * (1 + HT_TABLES) + 1 : rows * (HT_TABLES - 1);
	HT_CHECK(ht_check(r->state, SIMIDX_ENGINE_MEND, NULL) == left);
	HT_CHECK(ht_check(r->state, 0, NULL) == 0);
	put_away(r);
}

/*
 * A batch that was cut off is finished, although the row of a document of it has been damaged
 * since.
 */
static void damaged_in_a_batch(void)
{
	void *other = anew("lease=1");
	struct held *w = held("lease=1");
	unsigned char key[10];

	w->before = ht_document(1, 0x1111);
	HT_CODE(ht_write(w->state, NULL, &w->before, 1, NULL, 0), SIMIDX_OK);
	w->after = ht_document(1, 0x2222);
	ht_hold(w->holder, "putMultiple", put_index, 1);
	begin(w, write_it);
	ht_await(w->holder);
	ht_raw_document(1, key);
	ht_raw_put(docs, key, sizeof(key), "", "what is this", 12);
	usleep(1100000);
	ht_check(other, SIMIDX_ENGINE_MEND, NULL);
	HT_CHECK(ht_check(other, 0, NULL) == 0 && ht_is_stored(other, &w->after));
	end(w);
	HT_CHECK(ht_check(other, 0, NULL) == 0 && ht_is_stored(other, &w->after));
	put_away(w);
	hb_engine()->close(other);
}

/* ---- leases ---- */

static const simidx_engine_probe probe[] = { { 0x00010000, 0 },
					     { 0x00020000, 0 },
					     { 0x00030000, 1 } };

static int lease(void *state, int i, int wait_ms)
{
	return hb_engine()->lease(state, &probe[i], 1, wait_ms, &ht_err);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Who has leases does not wait, as the other one may wait for them; and keeps those it has. */
static void leases_of_two(void)
{
	void *a = anew("lease=60"), *b = direct(0, "lease=60"), *c = direct(0, "lease=60");
	double start = seconds();

	HT_CODE(lease(a, 0, 0), SIMIDX_OK);
	HT_CODE(lease(b, 1, 0), SIMIDX_OK);
	HT_CODE(lease(a, 1, -1), SIMIDX_E_BUSY);
	HT_CODE(lease(b, 0, -1), SIMIDX_E_BUSY);
	HT_CHECK(seconds() - start < 5);
	HT_CODE(lease(c, 0, 0), SIMIDX_E_BUSY);
	HT_CODE(lease(a, 0, 0), SIMIDX_OK); /* its own */
	HT_CODE(hb_engine()->release(a, &ht_err), SIMIDX_OK);
	HT_CODE(lease(b, 0, -1), SIMIDX_OK);
	HT_CODE(hb_engine()->release(b, &ht_err), SIMIDX_OK);
	HT_CODE(lease(c, 0, 0), SIMIDX_OK);
	HT_CODE(lease(c, 1, 0), SIMIDX_OK);
	hb_engine()->close(a);
	hb_engine()->close(b);
	hb_engine()->close(c);
}

/* Leases of a transaction that lasts longer than they do are renewed by it. */
static void long_transaction(void)
{
	void *a = anew("lease=1"), *b = direct(0, "lease=1");

	HT_CODE(lease(a, 0, 0), SIMIDX_OK);
	for (int i = 0; i < 3; i++) {
		usleep(600000);
		HT_CODE(lease(a, 1 + i % 2, 0), SIMIDX_OK);
	}
	HT_CODE(lease(b, 0, 0), SIMIDX_E_BUSY);
	HT_CODE(hb_engine()->release(a, &ht_err), SIMIDX_OK);
	HT_CODE(lease(b, 0, 0), SIMIDX_OK);
	hb_engine()->close(a);
	hb_engine()->close(b);
}

static void *lease_two(void *arg)
{
	struct held *h = arg;
	simidx_error err;

	h->code = hb_engine()->lease(h->state, probe, 2, 20000, &err);
	return NULL;
}

/* So are those that a writer has while it waits for another one. */
static void long_wait(void)
{
	void *a = anew("lease=60"), *b = direct(0, "lease=60");
	struct held *w = held("lease=2");

	HT_CODE(lease(a, 1, 0), SIMIDX_OK);
	begin(w, lease_two);
	usleep(3500000);
	HT_CODE(lease(b, 0, 0), SIMIDX_E_BUSY);
	HT_CODE(hb_engine()->release(a, &ht_err), SIMIDX_OK);
	HT_CHECK(pthread_join(w->thread, NULL) == 0);
	HT_CODE(w->code, SIMIDX_OK);
	HT_CODE(ht_write(w->state, NULL, NULL, 0, NULL, 0), SIMIDX_OK);
	put_away(w);
	hb_engine()->close(a);
	hb_engine()->close(b);
}

/*
 * A writer with a lease stops for good after its journal. The next one that gets the lease must
 * find what the writer has begun to store.
 */
static void lease_of_one_killed(void)
{
	void *other = anew("lease=1");
	struct held *w = held("lease=1");

	HT_CODE(lease(w->state, 0, 0), SIMIDX_OK);
	w->after = ht_document(1, 0x0001000200030004);
	ht_hold(w->holder, "putMultiple", put_index, 1);
	begin(w, write_it);
	ht_await(w->holder);
	HT_CODE(lease(other, 0, 20000), SIMIDX_OK);
	HT_CHECK(ht_is_stored(other, &w->after) && ht_has_rows(other, &w->after));
	end(w);
	HT_CHECK(ht_check(other, 0, NULL) == 0);
	put_away(w);
	hb_engine()->close(other);
}

/* A writer with a lease stops before its journal, and goes on when the lease is another's. */
static void lease_of_one_slow(void)
{
	void *other = anew("lease=60");
	struct held *w = held("lease=1");
	ht_doc near = ht_document(2, 0x0001000200030005);

	/* It has a number of its own, so that it has no need for the writer's. */
	HT_CODE(ht_write(other, NULL, NULL, 0, NULL, 0), SIMIDX_OK);
	HT_CODE(lease(w->state, 0, 0), SIMIDX_OK);
	w->after = ht_document(1, 0x0001000200030004);
	HT_CODE(ht_write(w->state, NULL, NULL, 0, NULL, 0), SIMIDX_OK);
	ht_hold(w->holder, NULL, NULL, 1);
	begin(w, write_it);
	ht_await(w->holder);
	HT_CODE(lease(other, 0, 20000), SIMIDX_OK);
	HT_CODE(ht_write(other, NULL, &near, 1, NULL, 0), SIMIDX_OK);
	end(w);
	HT_CODE(w->code, SIMIDX_E_STATE);
	w->after.there = 0;
	HT_CHECK(ht_is_stored(other, &w->after) && ht_is_stored(other, &near));
	HT_CHECK(ht_check(other, 0, NULL) == 0);
	put_away(w);
	hb_engine()->close(other);
}

/*
 * A clock that was ahead for a moment must not keep a prefix, or the number of a writer, for ever.
 */
static void lease_of_a_time_to_come(void)
{
	void *state = anew("lease=60");
	int64_t hour = 3600000; /* the longest lease */

	put_owner("e\1\0\1\0\0", 6, ht_raw_now() + 2 * hour);
	put_owner("w\0\0", 3, ht_raw_now() + 2 * hour);
	HT_CODE(lease(state, 0, 0), SIMIDX_OK);
	HT_CODE(hb_engine()->release(state, &ht_err), SIMIDX_OK);
	put_owner("e\1\0\1\0\0", 6, ht_raw_now() + hour);
	HT_CODE(lease(state, 0, 0), SIMIDX_E_BUSY);
	hb_engine()->close(state);
}

/* One that takes over a batch and fails must not put a batch of its own in the place of it. */
static void batch_that_is_taken_over(void)
{
	void *other = anew("lease=1");
	struct held *w = held("lease=1"), *next = held("lease=60&write-timeout=1");

	w->after = ht_document(1, 0x1111);
	ht_hold(w->holder, "putMultiple", put_index, 1);
	begin(w, write_it);
	ht_await(w->holder);
	usleep(1100000);
	next->after = ht_document(2, 0x2222);
	ht_hold(next->holder, "putMultiple", put_index, 1);
	begin(next, write_it);
	HT_CHECK(pthread_join(next->thread, NULL) == 0);
	HT_CODE(next->code, SIMIDX_E_IO);
	ht_let_go(next->holder);
	HT_CODE(ht_write(next->state, NULL, &next->after, 1, NULL, 0), SIMIDX_OK);
	HT_CHECK(ht_is_stored(other, &w->after) && ht_is_stored(other, &next->after));
	end(w);
	HT_CHECK(ht_check(other, 0, NULL) == 0);
	put_away(w);
	put_away(next);
	hb_engine()->close(other);
}

int main(int argc, char **argv)
{
	HT_CHECK(argc == 3);
	gateway = atoi(argv[1]);
	table = argv[2];
	/* After the name of the table comes another field: a list, or a struct. */
	snprintf(docs, sizeof(docs), "%s_docs", table);
	snprintf(put_docs, sizeof(put_docs), "%s_docs\x0f", table);
	snprintf(put_index, sizeof(put_index), "%s\x0f", table);
	snprintf(scan_index, sizeof(scan_index), "%s\x0c", table);
	ht_raw_gateway(gateway);
	change_beside_repair(0);
	change_beside_repair(1);
	counts_beside_writers();
	rows_beside_repair(0);
	rows_beside_repair(1);
	for (int is_at_work = 0; is_at_work < 2; is_at_work++) {
		clock_that_is_behind(is_at_work, 0);
		clock_that_is_behind(is_at_work, 1);
	}
	damaged_in_a_batch();
	leases_of_two();
	long_transaction();
	long_wait();
	lease_of_one_killed();
	lease_of_one_slow();
	lease_of_a_time_to_come();
	batch_that_is_taken_over();
	printf("beside: all held\n");
	return 0;
}

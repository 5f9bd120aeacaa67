/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Batches whose journal is there while the rest cannot be stored: what others, and the writer itself,
 * find and do until it can: unsure PORT TABLE. PORT is that of a gateway on this machine. Handles reach it
 * through a proxy each, which can refuse to store rows of the index, as a region does whose server
 * is gone.
 */

#include <string.h>
#include <unistd.h>

#include <simidx_admin.h>
#include <simidx_write.h>

#include "hb_engine.hh"
#include "hbase/ht_engine.h"
#include "hbase/ht_proxy.h"

static int gateway;
static const char *table;
static char put_index[100]; /* what a request has that puts to the table of the index */

/* A handle, and what its proxy does. */
struct handle {
	volatile int refuses; /* to store rows of the index */
	void *state;
};

static enum ht_verdict refuse(void *ctx, const char *name, const char *data, size_t n)
{
	const struct handle *h = ctx;
	int puts = name && strcmp(name, "putMultiple") == 0 && memmem(data, n, put_index, strlen(put_index));

	return h->refuses && puts ? HT_CUT : HT_PASS;
}

static void make_uri(char uri[200], int port, const char *options)
{
	snprintf(uri, 200, "hbase://127.0.0.1:%d/%s?regions=1&connections=1&%s", port, table, options);
}

static void anew(void)
{
	char uri[200];
	uint64_t next;
	void *state;

	make_uri(uri, gateway, "lease=60");
	state = ht_open(uri, SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE);
	HT_CODE(hb_engine()->reserve_ids(state, 0, 100, &next, &ht_err), SIMIDX_OK);
	hb_engine()->close(state);
}

static struct handle *handle(const char *options)
{
	struct handle *h = calloc(1, sizeof(*h));
	char uri[200];

	HT_CHECK(h);
	make_uri(uri, ht_proxy(gateway, refuse, h), options);
	h->state = ht_open(uri, 0);
	return h;
}

static void *reader(void)
{
	char uri[200];

	make_uri(uri, gateway, "timeout=5");
	return ht_open(uri, SIMIDX_OPEN_READ_ONLY);
}

static int put(struct handle *h, const ht_doc *doc, const char *mark)
{
	return ht_write(h->state, NULL, doc, 1, mark, 0);
}

/* Store what was begun, and nothing else. */
static int finish(struct handle *h)
{
	return ht_write(h->state, NULL, NULL, 0, NULL, 0);
}

/* A commit of which only the journal is stored. */
static void put_half(struct handle *h, const ht_doc *doc, const char *mark)
{
	h->refuses = 1;
	HT_CODE(put(h, doc, mark), SIMIDX_E_UNKNOWN);
}

static int lease(struct handle *h, int wait_ms)
{
	static const simidx_engine_probe probe = { 0x00010000, 0 };

	return hb_engine()->lease(h->state, &probe, 1, wait_ms, &ht_err);
}

/* A transaction with a lease that ends so. */
static void end_half(struct handle *h, const ht_doc *doc)
{
	HT_CODE(lease(h, 0), SIMIDX_OK);
	put_half(h, doc, NULL);
	HT_CODE(hb_engine()->release(h->state, &ht_err), SIMIDX_OK);
}

static uint64_t count(void *state)
{
	simidx_engine_info info = { .size = sizeof(info) };

	HT_CODE(hb_engine()->info(state, &info, &ht_err), SIMIDX_OK);
	return info.documents;
}

static int has_mark(void *state, const char *text)
{
	void *mark;
	size_t size;
	int same;

	HT_CODE(hb_engine()->get_mark(state, &mark, &size, &ht_err), SIMIDX_OK);
	same = size == strlen(text) && (!size || memcmp(mark, text, size) == 0);
	free(mark);
	return same;
}

static int is_sound(void *state, uint64_t documents)
{
	return count(state) == documents && ht_check(state, 0, NULL) == 0;
}

/* ---- marks and counts ---- */

/*
 * A load that goes on after the mark must not store again what is in the journal. Who looks at the number of
 * documents in order to know whether a commit is stored, has to see those of the journal.
 */
static void mark_of_a_journal(void)
{
	struct handle *a, *b;
	ht_doc doc[3] = { ht_document(1, 0x1111), ht_document(2, 0x2222), ht_document(3, 0x3333) };
	void *r;

	anew();
	a = handle("lease=60&write-timeout=0.5");
	b = handle("lease=60");
	r = reader();
	HT_CHECK(has_mark(r, ""));
	HT_CODE(put(a, &doc[0], "one"), SIMIDX_OK);
	HT_CHECK(has_mark(r, "one"));
	put_half(a, &doc[1], "two");
	HT_CHECK(has_mark(r, "two") && has_mark(a->state, "two") && count(r) == 2);
	doc[1].there = 0;
	HT_CHECK(ht_is_stored(r, &doc[1]));
	/* One that is stored later counts, and stays when the earlier one is stored at last. */
	usleep(5000);
	HT_CODE(put(b, &doc[2], "three"), SIMIDX_OK);
	HT_CHECK(has_mark(r, "three") && count(r) == 3);
	a->refuses = 0;
	HT_CODE(finish(a), SIMIDX_OK);
	doc[1].there = 1;
	HT_CHECK(has_mark(r, "three") && ht_is_stored(r, &doc[1]) && is_sound(a->state, 3));
	hb_engine()->close(a->state);
	hb_engine()->close(b->state);
	hb_engine()->close(r);
}

/* ---- leases ---- */

/* What a lease was for is not stored yet, so nobody else gets it when the transaction ends. */
static void leases_until_it_is_stored(void)
{
	struct handle *a, *b;
	ht_doc doc = ht_document(1, 0x0001000200030004);

	anew();
	a = handle("lease=60&write-timeout=0.5");
	b = handle("lease=60");
	end_half(a, &doc);
	HT_CODE(lease(b, 0), SIMIDX_E_BUSY);
	a->refuses = 0;
	HT_CODE(finish(a), SIMIDX_OK);
	HT_CODE(lease(b, 0), SIMIDX_OK);
	HT_CHECK(ht_has_rows(b->state, &doc) && is_sound(b->state, 1));
	hb_engine()->close(a->state);
	hb_engine()->close(b->state);
}

/* The same where the writer is closed: who takes the lease over finishes the batch. */
static void leases_of_one_closed(void)
{
	struct handle *a, *b;
	ht_doc doc = ht_document(1, 0x0001000200030004);

	anew();
	a = handle("lease=2&write-timeout=0.5");
	b = handle("lease=60");
	end_half(a, &doc);
	hb_engine()->close(a->state);
	HT_CODE(lease(b, 20000), SIMIDX_OK);
	HT_CHECK(ht_has_rows(b->state, &doc) && is_sound(b->state, 1));
	hb_engine()->close(b->state);
}

/* One that cannot finish the batch of a writer that is gone does not get its lease, however often it asks. */
static void lease_that_cannot_be_taken_over(void)
{
	struct handle *a, *b;
	ht_doc doc = ht_document(1, 0x0001000200030004), other = ht_document(2, 0xffff);

	anew();
	a = handle("lease=1&write-timeout=0.5");
	b = handle("lease=60&write-timeout=0.5");
	HT_CODE(put(b, &other, NULL), SIMIDX_OK); /* so that it has a number of its own */
	HT_CODE(lease(a, 0), SIMIDX_OK);
	put_half(a, &doc, NULL);
	b->refuses = 1;
	usleep(1100000);
	HT_CODE(lease(b, 20000), SIMIDX_E_IO);
	HT_CODE(lease(b, 20000), SIMIDX_E_IO);
	b->refuses = 0;
	HT_CODE(lease(b, 0), SIMIDX_OK);
	HT_CHECK(ht_has_rows(b->state, &doc) && is_sound(b->state, 2));
	hb_engine()->close(a->state);
	hb_engine()->close(b->state);
}

/* ---- the next transaction ---- */

static int put_text(simidx_writer *w, uint64_t fp, const char *label)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.fp = fp;
	doc.label = label;
	doc.label_size = strlen(label);
	return simidx_writer_put(w, &doc, NULL, &ht_err);
}

/*
 * A label whose document is in the journal is taken, and the document can be deleted as any other: what
 * is looked up is what will be there.
 */
static void transaction_after_it(void)
{
	struct handle *h = calloc(1, sizeof(*h));
	simidx_create_options options = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_info about = SIMIDX_INFO_INIT;
	char uri[200];
	simidx *index;
	simidx_writer *w;

	HT_CHECK(h);
	make_uri(uri, ht_proxy(gateway, refuse, h), "write-timeout=0.5");
	HT_CODE(simidx_engine_add(hb_engine(), &ht_err), SIMIDX_OK);
	options.plan = "4x16";
	options.flags = SIMIDX_CREATE_TRUNCATE;
	HT_CODE(simidx_create(uri, &options, &index, &ht_err), SIMIDX_OK);
	HT_CODE(simidx_writer_open(index, NULL, &w, &ht_err), SIMIDX_OK);
	HT_CODE(put_text(w, 0x1111, "one"), SIMIDX_OK);
	HT_CODE(simidx_writer_commit(w, &ht_err), SIMIDX_OK);
	HT_CODE(put_text(w, 0x2222, "two"), SIMIDX_OK);
	h->refuses = 1;
	HT_CODE(simidx_writer_commit(w, &ht_err), SIMIDX_E_UNKNOWN);
	/* As long as it cannot be stored, nothing else can begin. */
	HT_CODE(put_text(w, 0x2222, "two"), SIMIDX_E_IO);
	h->refuses = 0;
	HT_CODE(put_text(w, 0x2222, "two"), SIMIDX_E_DUPLICATE);
	HT_CODE(simidx_writer_delete_label(w, "two", 3, &ht_err), SIMIDX_OK);
	HT_CODE(simidx_writer_commit(w, &ht_err), SIMIDX_OK);
	HT_CODE(simidx_get_info(index, &about, &ht_err), SIMIDX_OK);
	HT_CHECK(about.documents == 1 && about.labels == 1);
	HT_CODE(simidx_verify(index, NULL, NULL, NULL, &ht_err), SIMIDX_OK);
	simidx_writer_close(w);
	simidx_close(index);
}

int main(int argc, char **argv)
{
	HT_CHECK(argc == 3);
	gateway = atoi(argv[1]);
	table = argv[2];
	/* After the name of the table comes another field, a list. */
	snprintf(put_index, sizeof(put_index), "%s\x0f", table);
	mark_of_a_journal();
	leases_until_it_is_stored();
	leases_of_one_closed();
	lease_that_cannot_be_taken_over();
	transaction_after_it();
	printf("unsure: all held\n");
	return 0;
}

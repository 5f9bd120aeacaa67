/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Batches whose journal is there while the rest cannot be stored: what others, and the writer
 * itself, find and do until it can: unsure PORT TABLE. PORT is that of a gateway on this machine.
 * Handles reach it through a proxy each, which can refuse to store rows of the index, as a region
 * does whose server is gone.
 */

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_write.h>

#include "hb_engine.hh"
#include "hbase/ht_engine.h"
#include "hbase/ht_proxy.h"
#include "hbase/ht_raw.h"

static int gateway;
static const char *table;
static char put_index[100]; /* what a request has that puts to the table of the index */

/* What requests have that store a journal, or change a lease: a column, and the beginning of a
   key. */
static const char journal_bytes[] = "\0\0\0\1j", lease_bytes[] = "\0\0\0\6e";
static const char owner_bytes[] = "\0\0\0\1o"; /* of a number, too */

/* A handle, and what its proxy does. */
struct handle {
	volatile int refuses;        /* to store rows of the index */
	volatile int refuses_leases; /* to change them */
	const char *volatile holds;  /* requests that have these 5 bytes, until this is NULL */
	volatile int n_held;         /* requests that were */
	volatile int n_late;         /* of these, that are answered now */
	void *state;
};

static int has(const char *data, size_t n, const char bytes[5])
{
	return memmem(data, n, bytes, 5) != NULL;
}

static enum ht_verdict judge(void *ctx, const char *name, const char *data, size_t n)
{
	struct handle *h = ctx;
	enum ht_verdict verdict = HT_PASS;

	if (!name) {
		h->n_late++;
		return HT_CUT;
	}
	if (strcmp(name, "putMultiple") == 0 && memmem(data, n, put_index, strlen(put_index)))
		return h->refuses ? HT_CUT : HT_PASS;
	if (strcmp(name, "checkAndPut") != 0)
		return HT_PASS;
	if (h->refuses_leases && has(data, n, lease_bytes))
		return HT_CUT;
	for (const char *held; (held = h->holds) != NULL && has(data, n, held); usleep(1000)) {
		h->n_held += verdict == HT_PASS;
		verdict = HT_CUT_ANSWER;
	}
	return verdict;
}

static void make_uri(char uri[200], int port, const char *options)
{
	snprintf(uri, 200, "hbase://127.0.0.1:%d/%s?regions=1&connections=1&%s", port, table,
		 options);
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
	make_uri(uri, ht_proxy(gateway, judge, h), options);
	h->state = ht_open(uri, 0);
	return h;
}

/* An empty index with two handles; options of the first one. */
static void two(struct handle **a, struct handle **b, const char *options)
{
	anew();
	*a = handle(options);
	*b = handle("lease=60");
}

static void close_two(struct handle *a, struct handle *b)
{
	hb_engine()->close(a->state);
	hb_engine()->close(b->state);
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
	return ht_begin(h->state);
}

/* Let requests go that were held, when nobody waits for them any more, and wait until they are
   answered. */
static void arrive(struct handle *h)
{
	h->holds = NULL;
	while (h->n_late == 0)
		usleep(1000);
}

/* A commit of which only the journal is stored. */
static void put_half(struct handle *h, const ht_doc *doc, const char *mark)
{
	h->refuses = 1;
	HT_CODE(put(h, doc, mark), SIMIDX_E_UNKNOWN);
}

static int lease_prefix(struct handle *h, uint32_t prefix, int wait_ms)
{
	simidx_engine_probe probe = { prefix, 0 };

	return hb_engine()->lease(h->state, &probe, 1, wait_ms, &ht_err);
}

static int lease(struct handle *h, int wait_ms)
{
	return lease_prefix(h, 0x00010000, wait_ms);
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

/* A load that goes on after the mark must not store again what is in the journal. What look-ups
   need not find yet is not counted yet. */
static void mark_of_a_journal(void)
{
	struct handle *a, *b;
	ht_doc doc[3] = { ht_document(1, 0x1111), ht_document(2, 0x2222), ht_document(3, 0x3333) };
	void *r;

	two(&a, &b, "lease=60&write-timeout=0.5");
	r = reader();
	HT_CHECK(has_mark(r, ""));
	HT_CODE(put(a, &doc[0], "one"), SIMIDX_OK);
	HT_CHECK(has_mark(r, "one"));
	put_half(a, &doc[1], "two");
	HT_CHECK(has_mark(r, "two") && has_mark(a->state, "two") && count(r) == 1);
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
	close_two(a, b);
	hb_engine()->close(r);
}

/*
 * A handle finishes what others have begun before its first batch, so that it finds what the mark
 * tells of. The other one is not hurt by it.
 */
static void journal_of_another(void)
{
	struct handle *a, *b;
	ht_doc doc = ht_document(1, 0x1111);

	two(&a, &b, "lease=60&write-timeout=0.5");
	put_half(a, &doc, "one");
	HT_CODE(finish(b), SIMIDX_OK);
	HT_CHECK(ht_is_stored(b->state, &doc) && ht_has_rows(b->state, &doc) &&
		 has_mark(b->state, "one"));
	a->refuses = 0;
	HT_CODE(finish(a), SIMIDX_OK);
	HT_CHECK(is_sound(a->state, 1));
	close_two(a, b);
}

/* The journal of a load that was killed is on its way while another load goes on after the mark. It
   must not arrive any more, whether the time of the first one has passed or not. */
static void journal_on_its_way(int has_expired)
{
	struct handle *a, *b;
	ht_doc doc[3] = { ht_document(1, 0x1111), ht_document(2, 0x2222), ht_document(3, 0x3333) };

	two(&a, &b, has_expired ? "lease=1&write-timeout=0.5" : "lease=60&write-timeout=0.5");
	HT_CODE(put(a, &doc[0], "one"), SIMIDX_OK);
	a->holds = journal_bytes;
	HT_CODE(put(a, &doc[1], "two"), SIMIDX_E_UNKNOWN);
	if (has_expired)
		usleep(1100000);
	HT_CODE(ht_resume(b->state), SIMIDX_OK);
	HT_CHECK(has_mark(b->state, "one"));
	HT_CODE(put(b, &doc[2], "three"), SIMIDX_OK);
	arrive(a);
	doc[1].there = 0;
	HT_CHECK(has_mark(b->state, "three") && ht_is_stored(b->state, &doc[1]) &&
		 is_sound(b->state, 2));
	/* If it was only slow, it can go on. */
	HT_CODE(finish(a), SIMIDX_OK);
	HT_CHECK(is_sound(a->state, 2));
	close_two(a, b);
}

/* Who goes on after the mark shuts out writers that set it, and no others. */
static void marks_are_shut_out(void)
{
	struct handle *a, *b, *c;
	ht_doc doc[4] = { ht_document(1, 0x1111), ht_document(2, 0x2222), ht_document(3, 0x3333),
			  ht_document(4, 0x4444) };

	two(&a, &b, "lease=60");
	c = handle("lease=60");
	HT_CODE(put(a, &doc[0], "one"), SIMIDX_OK);
	HT_CODE(put(b, &doc[1], NULL), SIMIDX_OK);
	HT_CODE(ht_resume(c->state), SIMIDX_OK);
	HT_CODE(put(b, &doc[2], NULL), SIMIDX_OK);
	for (int i = 0; i < 3; i++)
		HT_CODE(put(a, &doc[3], "two"), SIMIDX_E_STATE);
	/* its first one, but it began before that */
	HT_CODE(put(b, &doc[3], "two"), SIMIDX_E_STATE);
	HT_CHECK(has_mark(c->state, "one") && is_sound(c->state, 3));
	HT_CODE(put(a, &doc[3], NULL), SIMIDX_OK);
	HT_CODE(ht_resume(a->state), SIMIDX_OK);
	HT_CODE(put(c, &doc[3], "two"), SIMIDX_E_STATE);
	HT_CHECK(has_mark(c->state, "one") && is_sound(c->state, 4));
	close_two(a, b);
	hb_engine()->close(c->state);
}

/* So are those that have not had their number for a while, and take another one. */
static void marks_are_shut_out_later(void)
{
	struct handle *a, *b;
	ht_doc doc[2] = { ht_document(1, 0x1111), ht_document(2, 0x2222) };

	two(&a, &b, "lease=2");
	HT_CODE(put(a, &doc[0], "one"), SIMIDX_OK);
	usleep(1200000);
	HT_CODE(ht_resume(b->state), SIMIDX_OK);
	HT_CODE(put(a, &doc[1], "two"), SIMIDX_E_STATE);
	doc[1].there = 0;
	HT_CHECK(has_mark(b->state, "one") && ht_is_stored(b->state, &doc[1]) &&
		 is_sound(b->state, 1));
	close_two(a, b);
}

/* Of two that go on, the later one does, also where the first one has not stored anything yet. */
static void two_go_on(void)
{
	struct handle *a, *b;
	ht_doc doc = ht_document(1, 0x1111);

	two(&a, &b, "lease=60");
	HT_CODE(ht_resume(a->state), SIMIDX_OK);
	HT_CODE(ht_resume(b->state), SIMIDX_OK);
	HT_CODE(put(a, &doc, "one"), SIMIDX_E_STATE);
	HT_CODE(put(b, &doc, "one"), SIMIDX_OK);
	HT_CHECK(is_sound(b->state, 1));
	close_two(a, b);
}

/* Nobody is shut out only because another one has got its number when its time had passed. */
static void marks_after_a_while(void)
{
	struct handle *a, *b;
	ht_doc doc[3] = { ht_document(1, 0x1111), ht_document(2, 0x2222), ht_document(3, 0x3333) };

	two(&a, &b, "lease=1");
	HT_CODE(put(a, &doc[0], "one"), SIMIDX_OK);
	usleep(1200000);
	HT_CODE(put(b, &doc[1], NULL), SIMIDX_OK);
	HT_CODE(put(a, &doc[2], "two"), SIMIDX_OK);
	HT_CHECK(has_mark(b->state, "two") && is_sound(b->state, 3));
	close_two(a, b);
}

static void *finish_it(void *arg)
{
	HT_CODE(finish(arg), SIMIDX_OK);
	return NULL;
}

/* The same where another one is at the same, and does not come to its end. */
static void journal_that_another_finishes(void)
{
	struct handle *a, *b, *c;
	ht_doc doc = ht_document(1, 0x1111);
	pthread_t thread;

	two(&a, &b, "lease=1&write-timeout=0.5");
	c = handle("lease=60&write-timeout=0.5");
	put_half(a, &doc, NULL);
	usleep(1200000);
	b->holds = owner_bytes;
	HT_CHECK(pthread_create(&thread, NULL, finish_it, b) == 0);
	while (b->n_held == 0)
		usleep(1000);
	c->refuses = 1;
	HT_CODE(finish(c), SIMIDX_E_IO); /* it has taken the number */
	b->holds = NULL;
	HT_CHECK(pthread_join(thread, NULL) == 0);
	HT_CHECK(ht_is_stored(b->state, &doc) && ht_has_rows(b->state, &doc) &&
		 is_sound(b->state, 1));
	hb_engine()->close(c->state);
	close_two(a, b);
}

/* One that is closed when it could not be finished is finished by the next one at once. */
static void batch_of_one_closed(void)
{
	struct handle *a, *b;
	ht_doc doc = ht_document(1, 0x1111);

	two(&a, &b, "lease=60&write-timeout=0.5");
	HT_CODE(finish(b), SIMIDX_OK);
	put_half(a, &doc, NULL);
	HT_CODE(finish(a), SIMIDX_E_IO);
	hb_engine()->close(a->state);
	ht_check(b->state, SIMIDX_ENGINE_MEND, NULL);
	HT_CHECK(ht_has_rows(b->state, &doc) && is_sound(b->state, 1));
	hb_engine()->close(b->state);
}

/* After it is closed, too, nothing of it arrives. */
static void journal_of_one_closed(void)
{
	struct handle *a, *b;
	ht_doc doc = ht_document(1, 0x1111);

	two(&a, &b, "lease=60&write-timeout=0.5");
	a->holds = journal_bytes;
	HT_CODE(put(a, &doc, NULL), SIMIDX_E_UNKNOWN);
	hb_engine()->close(a->state);
	arrive(a);
	doc.there = 0;
	HT_CODE(finish(b), SIMIDX_OK);
	HT_CHECK(ht_is_stored(b->state, &doc) && is_sound(b->state, 0));
	hb_engine()->close(b->state);
}

/* ---- leases ---- */

/* A request for a lease that arrives when others have had it meanwhile takes nothing, also where
   the clock of the one who has sent it is ahead: by what it has seen, here. */
static void lease_on_its_way(void)
{
	struct handle *a, *b;
	char docs[100];

	anew();
	snprintf(docs, sizeof(docs), "%s_docs", table);
	ht_raw_clock(10000);
	ht_raw_put(docs, "e\1\0\2\0\0", 6, "o", "free", 4);
	ht_raw_clock(0);
	a = handle("lease=60&write-timeout=0.5");
	b = handle("lease=60");
	HT_CODE(lease_prefix(a, 0x00020000, 0), SIMIDX_OK);
	HT_CODE(hb_engine()->release(a->state, &ht_err), SIMIDX_OK);
	HT_CODE(lease(b, 0), SIMIDX_OK);
	HT_CODE(hb_engine()->release(b->state, &ht_err), SIMIDX_OK);
	a->holds = lease_bytes;
	HT_CODE(lease(a, 0), SIMIDX_E_IO);
	HT_CODE(lease(b, 0), SIMIDX_OK);
	HT_CODE(hb_engine()->release(b->state, &ht_err), SIMIDX_OK);
	arrive(a);
	HT_CODE(lease(b, 0), SIMIDX_OK);
	close_two(a, b);
}

/* One that could not be given back is given back with the next batch. */
static void lease_that_is_kept(void)
{
	struct handle *a, *b;

	two(&a, &b, "lease=60&write-timeout=0.5");
	HT_CODE(lease(a, 0), SIMIDX_OK);
	a->refuses_leases = 1;
	HT_CODE(hb_engine()->release(a->state, &ht_err), SIMIDX_E_IO);
	HT_CODE(lease(b, 0), SIMIDX_E_BUSY);
	a->refuses_leases = 0;
	HT_CODE(finish(a), SIMIDX_OK);
	HT_CODE(lease(b, 0), SIMIDX_OK);
	close_two(a, b);
}

/* The same where its renewal has failed and arrives later. */
static void lease_whose_renewal_is_late(void)
{
	struct handle *a, *b;

	two(&a, &b, "lease=2&write-timeout=0.5");
	HT_CODE(lease(a, 0), SIMIDX_OK);
	usleep(1100000);
	a->holds = lease_bytes;
	HT_CODE(lease_prefix(a, 0x00020000, 0), SIMIDX_E_IO);
	arrive(a);
	HT_CODE(lease(b, 0), SIMIDX_E_BUSY);
	HT_CODE(hb_engine()->release(a->state, &ht_err), SIMIDX_OK);
	HT_CODE(lease(b, 0), SIMIDX_OK);
	close_two(a, b);
}

/* What a lease was for is not stored yet, so nobody else gets it when the transaction ends. */
static void leases_until_it_is_stored(void)
{
	struct handle *a, *b;
	ht_doc doc = ht_document(1, 0x0001000200030004);

	two(&a, &b, "lease=60&write-timeout=0.5");
	end_half(a, &doc);
	HT_CODE(lease(b, 0), SIMIDX_E_BUSY);
	a->refuses = 0;
	HT_CODE(finish(a), SIMIDX_OK);
	HT_CODE(lease(b, 0), SIMIDX_OK);
	HT_CHECK(ht_has_rows(b->state, &doc) && is_sound(b->state, 1));
	close_two(a, b);
}

/* The same where the writer is closed: who takes the lease over finishes the batch. */
static void leases_of_one_closed(void)
{
	struct handle *a, *b;
	ht_doc doc = ht_document(1, 0x0001000200030004);

	two(&a, &b, "lease=2&write-timeout=0.5");
	end_half(a, &doc);
	hb_engine()->close(a->state);
	HT_CODE(lease(b, 20000), SIMIDX_OK);
	HT_CHECK(ht_has_rows(b->state, &doc) && is_sound(b->state, 1));
	hb_engine()->close(b->state);
}

/* One that cannot finish the batch of a writer that is gone does not get its lease, however often
   it asks. */
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
	close_two(a, b);
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

/* A label whose document is in the journal is taken, and the document can be deleted as any other:
   what is looked up is what will be there. */
static void transaction_after_it(void)
{
	struct handle *h = calloc(1, sizeof(*h));
	simidx_create_options options = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_info about = SIMIDX_INFO_INIT;
	char uri[200];
	simidx *index;
	simidx_writer *w;

	HT_CHECK(h);
	make_uri(uri, ht_proxy(gateway, judge, h), "write-timeout=0.5");
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
	ht_raw_gateway(gateway);
	table = argv[2];
	/* After the name of the table comes another field, a list. */
	snprintf(put_index, sizeof(put_index), "%s\x0f", table);
	mark_of_a_journal();
	journal_of_another();
	journal_on_its_way(0);
	journal_on_its_way(1);
	marks_are_shut_out();
	marks_are_shut_out_later();
	two_go_on();
	marks_after_a_while();
	journal_that_another_finishes();
	batch_of_one_closed();
	journal_of_one_closed();
	lease_on_its_way();
	lease_that_is_kept();
	lease_whose_renewal_is_late();
	leases_until_it_is_stored();
	leases_of_one_closed();
	lease_that_cannot_be_taken_over();
	transaction_after_it();
	printf("unsure: all held\n");
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The functions of the engine against a model in memory: model URI [SEED [faulty]]. The index at
 * the URI is made anew. With `faulty`, round trips are not counted, as some are made twice.
 */

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hb_engine.hh"
#include "hbase/ht_engine.h"

#define IDS 300
#define SAME 5000 /* rows of one prefix: more than a page */

static uint64_t seed;
static int faulty;
static ht_doc model[IDS];

static char *make_label(size_t *size, uint64_t number)
{
	static const size_t sizes[] = { 0, 5, 40, 200, 60000 };
	char *label;

	*size = sizes[ht_random(&seed) % 5];
	/* Only one document may have the shortest ones: the number makes others different. */
	if (*size < 40 && number > 0)
		*size = 40;
	label = malloc(*size + 32);
	HT_CHECK(label);
	memset(label, 'a', *size);
	if (*size >= 40)
		snprintf(label, 32, "%c%c%" PRIu64 "/", 0xff, 1, number);
	return label;
}

/* Fingerprints of few different blocks, so that prefixes have many rows, and of all ones. */
static uint64_t make_fp(void)
{
	static const uint64_t blocks[] = { 0, 0xffff, 0x00ff, 0xff00, 0x0a00, 0x1234 };
	uint64_t fp = 0;

	for (int i = 0; i < 4; i++)
		fp = fp << 16 | blocks[ht_random(&seed) % 6];
	return fp;
}

static void change_some(void *state)
{
	static uint64_t labels;
	ht_doc before[50], after[50];
	size_t n = 0;

	for (size_t i = 0; i < 50; i++) {
		size_t at = ht_random(&seed) % IDS, k = 0;

		while (k < n && after[k].id != model[at].id)
			k++;
		if (k < n)
			continue;
		before[n] = after[n] = model[at];
		switch (ht_random(&seed) % 4) {
		case 0:
			after[n].there = 0;
			after[n].label = NULL;
			break;
		case 1: /* the same fingerprint again, with another label */
			if (!after[n].there)
				after[n].fp = make_fp();
			after[n].there = 1;
			after[n].label = make_label(&after[n].label_size, labels++);
			break;
		default:
			after[n].there = 1;
			after[n].fp = make_fp();
			after[n].flags = (unsigned)(ht_random(&seed) % 3);
			after[n].fp2 = after[n].flags == SIMIDX_DOC_FP2 ? ht_random(&seed) : 0;
			after[n].label = labels % 3 ? make_label(&after[n].label_size, labels)
						    : NULL;
			labels++;
		}
		n++;
	}
	HT_CODE(ht_write(state, before, after, n, NULL, SIMIDX_DURABILITY_NORMAL), SIMIDX_OK);
	for (size_t i = 0; i < n; i++) {
		if (before[i].label && before[i].label != after[i].label)
			free(before[i].label);
		for (size_t k = 0; k < IDS; k++)
			if (model[k].id == after[i].id)
				model[k] = after[i];
	}
}

/* ---------------------------------------------------------------------------------------------
 * Comparing
 */

struct seen {
	uint64_t *id;
	size_t n, room;
	uint64_t last;
};

static enum simidx_engine_next see(void *ctx, size_t i, const simidx_match *m)
{
	struct seen *seen = ctx;

	HT_CHECK(i == 0 && seen->n < seen->room);
	HT_CHECK(seen->n == 0 || m->id > seen->last);
	seen->last = m->id;
	seen->id[seen->n++] = m->id;
	return SIMIDX_ENGINE_ON;
}

static void check_walk(void *state, size_t step)
{
	uint64_t ids[IDS + SAME], from = 0;
	struct seen seen = { ids, 0, IDS + SAME, 0 };
	size_t there = 0;

	for (;;) {
		size_t before = seen.n;
		HT_CODE(hb_engine()->walk(state, from, step, see, &seen, NULL, &ht_err), SIMIDX_OK);
		HT_CHECK(seen.n - before <= step);
		if (seen.n - before < step)
			break;
		from = seen.last + 1;
	}
	for (size_t i = 0; i < IDS; i++)
		there += (size_t)model[i].there;
	HT_CHECK(seen.n == there);
}

struct label_seen {
	const ht_doc *doc;
	int n;
};

static enum simidx_engine_next see_label(void *ctx, size_t i, const simidx_match *m)
{
	struct label_seen *seen = ctx;

	HT_CHECK(i == 1 && m->id == seen->doc->id);
	seen->n++;
	return SIMIDX_ENGINE_ON;
}

static void check_model(void *state)
{
	simidx_engine_info info;
	uint64_t documents = 0, labels = 0;

	for (size_t i = 0; i < IDS; i++) {
		HT_CHECK(ht_is_stored(state, &model[i]));
		documents += (uint64_t)model[i].there;
		if (!model[i].there)
			continue;
		HT_CHECK(ht_has_rows(state, &model[i]));
		if (model[i].label) {
			struct label_seen seen = { &model[i], 0 };
			simidx_engine_bytes label[2] = { { "is not there", 12 },
							 { model[i].label, model[i].label_size } };
			simidx_engine_cost cost = { 0, 0, 0 };

			labels++;
			HT_CODE(hb_engine()->find_labels(state, label, 2, see_label, &seen, &cost,
							 &ht_err),
				SIMIDX_OK);
			HT_CHECK(seen.n == 1 && cost.bytes > 0);
			HT_CHECK(faulty || cost.round_trips == 2);
		}
	}
	memset(&info, 0, sizeof(info));
	info.size = sizeof(info);
	HT_CODE(hb_engine()->info(state, &info, &ht_err), SIMIDX_OK);
	HT_CHECK(info.documents == documents && info.labels == labels);
	HT_CHECK(info.description_size == 26 && memcmp(info.description,
						       "a "
						       "description\0with",
						       18) == 0);
}

/*
 * Each row of the prefix, by the model, is delivered once, and no other one of a living document.
 */
struct scan_seen {
	uint64_t prefix_fp;
	size_t n[IDS], others;
};

static enum simidx_engine_next see_rows(void *ctx, size_t probe, const uint64_t *fp,
					const uint64_t *id, size_t n)
{
	struct scan_seen *seen = ctx;

	HT_CHECK(probe == 0);
	for (size_t i = 0; i < n; i++) {
		HT_CHECK(fp[i] >> 48 == seen->prefix_fp >> 48);
		for (size_t k = 0; k < IDS; k++)
			if (model[k].id == id[i] && model[k].there && model[k].fp == fp[i])
				seen->n[k]++;
	}
	return SIMIDX_ENGINE_ON;
}

static void check_scan(void *state, uint64_t fp)
{
	simidx_engine_probe probe = { (uint32_t)(fp >> 48) << 16, 0 };
	struct scan_seen seen;

	memset(&seen, 0, sizeof(seen));
	seen.prefix_fp = fp;
	HT_CODE(hb_engine()->scan(state, &probe, 1, see_rows, &seen, NULL, NULL, &ht_err),
		SIMIDX_OK);
	for (size_t i = 0; i < IDS; i++)
		HT_CHECK(seen.n[i] == (size_t)(model[i].there && model[i].fp >> 48 == fp >> 48));
}

/* ---------------------------------------------------------------------------------------------
 * The rest
 */

struct many {
	size_t n, calls;
	enum simidx_engine_next next;
};

static enum simidx_engine_next count_many(void *ctx, size_t probe, const uint64_t *fp,
					  const uint64_t *id, size_t n)
{
	struct many *many = ctx;

	(void)probe, (void)fp, (void)id;
	many->n += n;
	many->calls++;
	return many->next;
}

/* More rows in a prefix than one answer has, and callers that have seen enough. */
static void check_pages(void *state)
{
	ht_doc *docs = calloc(SAME, sizeof(*docs));
	simidx_engine_probe probe[2] = { { 0xabcd0000, 0 }, { 0xffff0000, 1 } };
	struct many many = { 0, 0, SIMIDX_ENGINE_ON };
	simidx_engine_cost cost = { 0, 0, 0 };
	uint64_t first;

	HT_CHECK(docs);
	HT_CODE(hb_engine()->reserve_ids(state, SAME, 1000000, &first, &ht_err), SIMIDX_OK);
	HT_CHECK(first == 1000000);
	for (size_t i = 0; i < SAME; i++) {
		docs[i].id = first + i;
		docs[i].fp = 0xabcdffffffffffffu - i;
		docs[i].there = 1;
	}
	for (size_t i = 0; i < SAME; i += 1000)
		HT_CODE(ht_write(state, NULL, docs + i, 1000, NULL, SIMIDX_DURABILITY_NORMAL),
			SIMIDX_OK);
	HT_CODE(hb_engine()->scan(state, probe, 1, count_many, &many, NULL, &cost, &ht_err),
		SIMIDX_OK);
	HT_CHECK(many.n == SAME && many.calls == 2);
	HT_CHECK(faulty || (cost.round_trips == 2 && cost.requests == 2));
	memset(&many, 0, sizeof(many));
	many.next = SIMIDX_ENGINE_NEXT_PROBE;
	HT_CODE(hb_engine()->scan(state, probe, 1, count_many, &many, NULL, NULL, &ht_err),
		SIMIDX_OK);
	HT_CHECK(many.calls == 1 && many.n < SAME);
	memset(&many, 0, sizeof(many));
	many.next = SIMIDX_ENGINE_END;
	HT_CODE(hb_engine()->scan(state, probe, 2, count_many, &many, NULL, NULL, &ht_err),
		SIMIDX_OK);
	HT_CHECK(many.calls == 1);
	/* What was left unread must not come as an answer to the next question. */
	check_scan(state, make_fp());

	ht_doc *gone = calloc(SAME, sizeof(*gone));
	HT_CHECK(gone);
	for (size_t i = 0; i < SAME; i++)
		gone[i].id = docs[i].id;
	for (size_t i = 0; i < SAME; i += 1000)
		HT_CODE(ht_write(state, docs + i, gone + i, 1000, NULL, SIMIDX_DURABILITY_NORMAL),
			SIMIDX_OK);
	memset(&many, 0, sizeof(many));
	HT_CODE(hb_engine()->scan(state, probe, 1, count_many, &many, NULL, NULL, &ht_err),
		SIMIDX_OK);
	HT_CHECK(many.n == 0);
	free(docs);
	free(gone);
}

static void check_ids_and_marks(void *state, const char *uri)
{
	void *other = ht_open(uri, 0);
	uint64_t a, b, c;
	void *mark;
	size_t size;

	HT_CODE(hb_engine()->reserve_ids(state, 10, 0, &a, &ht_err), SIMIDX_OK);
	HT_CODE(hb_engine()->reserve_ids(other, 5, 0, &b, &ht_err), SIMIDX_OK);
	HT_CHECK(b == a + 10);
	HT_CODE(hb_engine()->reserve_ids(state, 0, b + 100, &c, &ht_err), SIMIDX_OK);
	HT_CHECK(c == b + 100);
	HT_CODE(hb_engine()->reserve_ids(other, 1, 0, &c, &ht_err), SIMIDX_OK);
	HT_CHECK(c == b + 100);

	HT_CODE(hb_engine()->get_mark(state, &mark, &size, &ht_err), SIMIDX_OK);
	HT_CHECK(!mark && size == 0);
	HT_CODE(ht_write(state, NULL, NULL, 0, "first", SIMIDX_DURABILITY_FULL), SIMIDX_OK);
	HT_CODE(ht_write(other, NULL, NULL, 0, "second one", SIMIDX_DURABILITY_FULL), SIMIDX_OK);
	HT_CODE(hb_engine()->get_mark(state, &mark, &size, &ht_err), SIMIDX_OK);
	HT_CHECK(size == 10 && memcmp(mark, "second one", 10) == 0);
	free(mark);
	hb_engine()->close(other);
}

static void check_leases(void *state, const char *uri)
{
	simidx_engine_probe probe[4] = {
		{ 0x10000, 0 }, { 0x20000, 1 }, { 0xffff0000, 2 }, { 0, 3 }
	};
	char quick[1000];
	void *other = ht_open(uri, 0), *brief;

	HT_CODE(hb_engine()->lease(state, probe, 4, 0, &ht_err), SIMIDX_OK);
	HT_CODE(hb_engine()->lease(other, probe + 2, 1, 50, &ht_err), SIMIDX_E_BUSY);
	/* The first of them is free, and is given back when the second one is not got. */
	probe[0].prefix = 0x30000;
	HT_CODE(hb_engine()->lease(other, probe, 2, 50, &ht_err), SIMIDX_E_BUSY);
	HT_CODE(hb_engine()->lease(state, probe, 1, 0, &ht_err), SIMIDX_OK);
	HT_CODE(hb_engine()->release(state, &ht_err), SIMIDX_OK);
	HT_CODE(hb_engine()->lease(other, probe, 4, 0, &ht_err), SIMIDX_OK);
	HT_CODE(hb_engine()->release(other, &ht_err), SIMIDX_OK);

	/* One that expires is taken over, and a write of the former holder refused. */
	snprintf(quick, sizeof(quick), "%s%clease=1", uri, strchr(uri, '?') ? '&' : '?');
	brief = ht_open(quick, 0);
	HT_CODE(hb_engine()->lease(brief, probe, 4, 0, &ht_err), SIMIDX_OK);
	HT_CODE(hb_engine()->lease(other, probe, 4, 5000, &ht_err), SIMIDX_OK);
	HT_CODE(ht_write(brief, NULL, NULL, 0, "late", 0), SIMIDX_E_STATE);
	HT_CODE(hb_engine()->release(brief, &ht_err), SIMIDX_E_STATE);
	HT_CODE(hb_engine()->release(other, &ht_err), SIMIDX_OK);
	hb_engine()->close(brief);
	hb_engine()->close(other);
}

/* A child gets SIMIDX_E_FORK, and closing the handle there does not disturb the parent. */
static void check_fork(void *state)
{
	pid_t child = fork();
	int status;

	HT_CHECK(child >= 0);
	if (child == 0) {
		simidx_engine_info info;
		info.size = sizeof(info);
		int code = hb_engine()->info(state, &info, &ht_err);
		hb_engine()->close(state);
		_exit(code == SIMIDX_E_FORK ? 0 : 1);
	}
	HT_CHECK(waitpid(child, &status, 0) == child && status == 0);
	HT_CHECK(ht_is_stored(state, &model[0]));
}

int main(int argc, char **argv)
{
	simidx_engine_open how;
	simidx_engine_check check;
	void *state, *again;
	uint64_t first;

	HT_CHECK(argc >= 2);
	seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	faulty = argc > 3;
	memset(&how, 0, sizeof(how));
	how.size = sizeof(how);
	for (size_t i = 0; i < IDS; i++)
		model[i].id = i == 1 ? SIMIDX_MAX_ID - 1000 : i * 977;

	state = ht_open(argv[1], SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE);
	check_ids_and_marks(state, argv[1]);
	for (int round = 0; round < 12; round++) {
		change_some(state);
		if (round % 4 == 3)
			check_model(state);
		check_scan(state, make_fp());
		check_walk(state, round % 2 ? 7 : 1000);
	}
	check_pages(state);
	check_leases(state, argv[1]);
	check_fork(state);

	again = ht_open(argv[1], SIMIDX_OPEN_CREATE);
	check_model(again);
	/* The next id is below the largest one, until somebody says so. */
	HT_CHECK(ht_check(again, 0, &check) == 1);
	HT_CODE(hb_engine()->reserve_ids(again, 0, SIMIDX_MAX_ID - 999, &first, &ht_err),
		SIMIDX_OK);
	HT_CHECK(ht_check(again, 0, &check) == 0);
	HT_CHECK(check.documents > 0 && check.rows == check.documents * HT_TABLES);
	hb_engine()->close(again);
	how.flags = SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_MUST_CREATE;
	how.n_tables = 1;
	HT_CODE(hb_engine()->open(argv[1], &how, &again, &ht_err), SIMIDX_E_EXISTS);
	HT_CHECK(!again);
	how.flags = SIMIDX_OPEN_READ_ONLY;
	HT_CODE(hb_engine()->open(argv[1], &how, &again, &ht_err), SIMIDX_OK);
	HT_CODE(ht_write(again, NULL, NULL, 0, "no", 0), SIMIDX_E_READ_ONLY);
	hb_engine()->close(again);
	hb_engine()->close(state);
	puts("model: all as it should be");
	return 0;
}

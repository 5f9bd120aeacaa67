/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Any changes of an index that an engine holds, and the same changes of an index in a directory:
 * they must come to the same, and so must all that is asked of both.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>
#include <simidx_walk.h>

#include "engine/subject.h"
#include "index/sx_index.h"

/* The index of the engine, and one in a directory. */
struct twins {
	struct subject s;
	char *dir;
	simidx *local;
	simidx_writer *w[2];
	simidx_reader *pending[2], *reader[2];
	uint64_t next_id;
};

static void begin_twins(struct twins *t, const char *plan, unsigned flags)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	char *path;

	memset(t, 0, sizeof(*t));
	subject_begin(&t->s, plan, 64, flags);
	t->dir = sxt_dir_make();
	path = sxt_path(t->dir, "index");
	o.plan = plan;
	o.flags = flags;
	t->local = sxt_create(path, &o);
	t->local->tuning.batch_sorted_from = 1; /* few queries are looked up together there, too */
	free(path);
	for (int i = 0; i < 2; i++) {
		simidx *index = i ? t->local : t->s.index;

		t->w[i] = sxt_writer(index, i ? 40 : 0);
		sxt_must_ok(simidx_writer_reader(t->w[i], &t->pending[i], &sxt_err));
		t->reader[i] = sxt_reader(index);
	}
}

static void end_twins(struct twins *t)
{
	for (int i = 0; i < 2; i++) {
		simidx_writer_close(t->w[i]);
		simidx_reader_close(t->reader[i]);
	}
	simidx_close(t->local);
	subject_end(&t->s);
	sxt_remove(t->dir);
	free(t->dir);
}

static int same_match(const simidx_match *a, const simidx_match *b)
{
	return a->id == b->id && a->fp == b->fp && a->fp2 == b->fp2 && a->flags == b->flags &&
	       a->time == b->time &&
	       a->distance == b->distance && a->weighted_distance == b->weighted_distance &&
	       a->distance2 == b->distance2 && a->label_size == b->label_size &&
	       !(a->label_size && memcmp(a->label, b->label, a->label_size));
}

static void compare_search(simidx_reader *const reader[2], const simidx_query *q)
{
	simidx_results r[2];

	for (int i = 0; i < 2; i++) {
		r[i] = (simidx_results)SIMIDX_RESULTS_INIT;
		sxt_must_ok(simidx_reader_search(reader[i], q, &r[i], &sxt_err));
	}
	sxt_must_eq(r[0].n, r[1].n);
	sxt_must_eq((unsigned)r[0].truncated, (unsigned)r[1].truncated);
	for (size_t i = 0; i < r[0].n; i++)
		sxt_must(same_match(&r[0].matches[i], &r[1].matches[i]));
}

static void compare_walks(struct twins *t)
{
	simidx_walk *walk[2];
	simidx_match m[2];
	int rc;

	sxt_must_ok(simidx_walk_open(t->s.index, &walk[0], &sxt_err));
	sxt_must_ok(simidx_walk_open(t->local, &walk[1], &sxt_err));
	do {
		rc = simidx_walk_next(walk[0], &m[0], &sxt_err);
		sxt_must_eq(rc, simidx_walk_next(walk[1], &m[1], NULL));
		sxt_must(rc || same_match(&m[0], &m[1]));
	} while (!rc);
	sxt_must_eq(rc, SIMIDX_E_END);
	simidx_walk_close(walk[0]);
	simidx_walk_close(walk[1]);
}

/* A fingerprint that is often near to one that is there, and now and then 0. */
static simidx_doc any_doc(struct twins *t, char label[16])
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	sxt_rng *rng = &t->s.rng;

	doc.fp = sxt_rng_flip(rng, sxt_rng_below(rng, 12) * UINT64_C(0x9e3779b97f4a7c15), 64,
			      (unsigned)sxt_rng_below(rng, 6));
	if (t->s.flags & SIMIDX_CREATE_FP2) {
		doc.fp2 = sxt_rng_flip(rng, t->s.common2, 64, (unsigned)sxt_rng_below(rng, 5));
		doc.flags = SIMIDX_DOC_FP2;
	}
	if (t->s.flags & SIMIDX_CREATE_TIMES) {
		doc.time = (uint32_t)sxt_rng_below(rng, 20);
		doc.flags |= SIMIDX_DOC_TIME;
	}
	if (sxt_rng_below(rng, 2)) {
		doc.label = label;
		doc.label_size = (size_t)snprintf(label, 16, "label %u",
						  (unsigned)sxt_rng_below(rng, 60));
	}
	if (!sxt_rng_below(rng, 3))
		doc.id = sxt_rng_below(rng, 150);
	return doc;
}

static int change(struct twins *t, int i, unsigned what, const simidx_doc *doc,
		  const simidx_query *q, uint64_t *id, simidx_match *blocker)
{
	simidx_writer *w = t->w[i];

	*id = SIMIDX_NO_ID;
	switch (what) {
	case 0:
		return simidx_writer_put(w, doc, id, &sxt_err);
	case 1:
		return simidx_writer_replace(w, doc, id, &sxt_err);
	case 2:
		return simidx_writer_delete_id(w, doc->id % 150, &sxt_err);
	case 3:
		return simidx_writer_delete_label(w, doc->label, doc->label_size, &sxt_err);
	case 4:
		if (t->s.flags & SIMIDX_CREATE_TIMES)
			return simidx_writer_touch(w, doc->id % 150, doc->time, &sxt_err);
		/* fall through */
	default:
		return simidx_writer_put_if_new(w, doc, q, id, blocker, &sxt_err);
	}
}

#define MOST 40 /* changes between two commits */

/* Changes that are going to be made. */
struct planned {
	size_t n;
	unsigned what[MOST];
	simidx_doc doc[MOST];
	simidx_query query[MOST];
	char label[MOST][16];
	uint8_t weights[MOST][64];
};

/* Those that put a document if it is new are known ahead, all of them or some, or none. */
static void plan(struct twins *t, struct planned *p, size_t n)
{
	unsigned ahead = (unsigned)sxt_rng_below(&t->s.rng, 4);
	unsigned alike = (unsigned)sxt_rng_below(&t->s.rng, 5); /* the radius of all; 4: any */
	simidx_query known[MOST];
	simidx_doc doc[MOST];
	size_t n_known = 0;

	p->n = n;
	for (size_t i = 0; i < n; i++) {
		simidx_query *q = &p->query[i];

		p->what[i] = (unsigned)sxt_rng_below(&t->s.rng, 6);
		p->doc[i] = any_doc(t, p->label[i]);
		*q = (simidx_query)SIMIDX_QUERY_INIT;
		q->fp = p->doc[i].fp;
		q->radius = alike < 4 ? alike : (unsigned)sxt_rng_below(&t->s.rng, 4);
		q->flags = SIMIDX_QUERY_LABELS;
		if (alike == 4 && !sxt_rng_below(&t->s.rng, 3)) {
			for (unsigned b = 0; b < 64; b++)
				p->weights[i][b] = (uint8_t)(1 + sxt_rng_below(&t->s.rng, 9));
			q->weights = p->weights[i];
			q->radius = (unsigned)sxt_rng_below(&t->s.rng, 12);
		}
		if (ahead == 1 ? i % 3 : ahead) {
			known[n_known] = *q;
			doc[n_known++] = p->doc[i];
		}
	}
	for (int i = 0; ahead && i < 2; i++)
		sxt_must_ok(simidx_writer_prefetch_if_new(t->w[i], doc, known, n_known, &sxt_err));
}

/* One change to both; it must come to the same. */
static void change_both(struct twins *t, const struct planned *p, size_t at)
{
	simidx_match blocker[2];
	simidx_query q = p->query[at];
	unsigned what = p->what[at];
	uint64_t id[2];
	simidx_doc doc = p->doc[at];
	int rc[2];

	/* So that both choose the same ids; and half of the look-ups come from there. */
	if (doc.id == SIMIDX_NO_ID || doc.id % 2)
		sxt_must_ok(simidx_writer_prefetch(t->w[0], &doc, 1, &sxt_err));
	memset(blocker, 0, sizeof(blocker));
	for (int i = 0; i < 2; i++)
		rc[i] = change(t, i, what, &doc, &q, &id[i], &blocker[i]);
	if (rc[0] != rc[1] || id[0] != id[1] || !same_match(&blocker[0], &blocker[1]))
		ck_abort_msg("change %u comes to %d id %ld, and in a directory to %d id %ld: "
			     "%s", what,
			     rc[0], (long)id[0], rc[1], (long)id[1], sxt_err.text);
	if (!rc[0] && id[0] != SIMIDX_NO_ID && id[0] >= t->next_id)
		t->next_id = id[0] + 1;
}

static void look_up_both(struct twins *t, simidx_reader *const reader[2])
{
	uint64_t id = sxt_rng_below(&t->s.rng, 160);
	simidx_match m[2];
	char label[16];
	int rc[2], size = snprintf(label, sizeof(label), "label %u", (unsigned)(id % 60));

	for (int i = 0; i < 2; i++)
		rc[i] = simidx_reader_find_id(reader[i], id, &m[i], NULL);
	sxt_must_eq(rc[0], rc[1]);
	sxt_must(rc[0] || same_match(&m[0], &m[1]));
	for (int i = 0; i < 2; i++)
		rc[i] = simidx_reader_find_label(reader[i], label, (size_t)size, &m[i], NULL);
	sxt_must_eq(rc[0], rc[1]);
	sxt_must(rc[0] || same_match(&m[0], &m[1]));
}

static void ask_both(struct twins *t, simidx_reader *const reader[2])
{
	uint8_t weights[64], weights2[64];

	for (unsigned i = 0; i < 3; i++) {
		simidx_query q = subject_any_query(&t->s, i, weights, weights2);
		char label[16];

		q.fp = any_doc(t, label).fp;
		q.limit = sxt_rng_below(&t->s.rng, 4);
		if (t->s.flags & SIMIDX_CREATE_TIMES)
			q.newer_than = (uint32_t)sxt_rng_below(&t->s.rng, 22);
		compare_search(reader, &q);
	}
	look_up_both(t, reader);
}

/* Delete what is old in both, which commits. */
static void delete_older_both(struct twins *t)
{
	uint32_t time = (uint32_t)sxt_rng_below(&t->s.rng, 12);
	uint64_t n[2];

	for (int i = 0; i < 2; i++)
		sxt_must_ok(simidx_writer_delete_older(t->w[i], time, NULL, NULL, &n[i], &sxt_err));
	sxt_must_eq(n[0], n[1]);
}

/* Commit or take back, and look at what is there. */
static void end_both(struct twins *t)
{
	simidx_info info[2] = { SIMIDX_INFO_INIT, SIMIDX_INFO_INIT };
	unsigned char mark[4] = { 1, 2, 3, (unsigned char)t->next_id };
	int rolls_back = !sxt_rng_below(&t->s.rng, 4);
	size_t n;

	for (int i = 0; i < 2; i++) {
		if (rolls_back) {
			simidx_writer_rollback(t->w[i]);
			continue;
		}
		sxt_must_ok(simidx_writer_set_mark(t->w[i], mark, sizeof(mark), &sxt_err));
		sxt_commit(t->w[i]);
	}
	sxt_must_eq(simidx_writer_stored(t->w[0]), simidx_writer_stored(t->w[1]));
	for (int i = 0; i < 2; i++)
		sxt_must_ok(simidx_get_info(i ? t->local : t->s.index, &info[i], &sxt_err));
	sxt_must_eq(info[0].documents, info[1].documents);
	sxt_must_eq(info[0].labels, info[1].labels);
	sxt_must_ge(info[0].next_id, info[1].next_id);
	if (!rolls_back) {
		sxt_must_ok(simidx_get_mark(t->s.index, mark, sizeof(mark), &n, &sxt_err));
		sxt_must_eq(n, 4);
		sxt_must_eq(mark[2], 3);
	}
	/* An engine gives no id twice, not even one that was taken back. */
	sxt_must_ok(simidx_writer_reserve_ids(t->w[1], info[0].next_id, &sxt_err));
	sxt_commit(t->w[1]);
	ask_both(t, t->reader);
	compare_walks(t);
}

static const unsigned kinds[] = { 0, SIMIDX_CREATE_FP2, SIMIDX_CREATE_FP2 | SIMIDX_CREATE_TIMES };

#define N_KINDS 3

START_TEST(test_changes_equal_those_in_a_directory)
{
	unsigned n = sxt_is_long() ? 60 : 14;
	struct twins t;

	if (kinds[_i / N_PLANS] & SIMIDX_CREATE_TIMES && !engines_keep_times())
		return;
	begin_twins(&t, plans[_i % N_PLANS], kinds[_i / N_PLANS]);
	for (unsigned i = 0; i < n; i++) {
		struct planned p;

		plan(&t, &p, 1 + (size_t)sxt_rng_below(&t.s.rng, MOST));
		for (size_t j = 0; j < p.n; j++) {
			change_both(&t, &p, j);
			if (j % 8 == 7)
				ask_both(&t, t.pending);
		}
		end_both(&t);
		if (t.s.flags & SIMIDX_CREATE_TIMES && i % 3 == 2) {
			delete_older_both(&t);
			compare_walks(&t);
		}
	}
	sxt_check_sound(t.s.index);
	end_twins(&t);
}
END_TEST

/* What was searched for ahead found a document that is deleted before the answer is used. */
START_TEST(test_deleted_after_it_was_found_ahead)
{
	simidx_query q[2] = { SIMIDX_QUERY_INIT, SIMIDX_QUERY_INIT };
	simidx_doc doc[2] = { SIMIDX_DOC_INIT, SIMIDX_DOC_INIT };
	struct twins t;
	uint64_t id;

	begin_twins(&t, plans[0], 0);
	for (int i = 0; i < 2; i++) {
		doc[0].fp = 7;
		sxt_must_ok(simidx_writer_put(t.w[i], &doc[0], &id, &sxt_err));
		sxt_commit(t.w[i]);
		/* Both are looked up when the first one is decided. */
		doc[0].fp = q[0].fp = UINT64_MAX;
		doc[1].fp = q[1].fp = 7;
		sxt_must_ok(simidx_writer_prefetch_if_new(t.w[i], doc, q, 2, &sxt_err));
		sxt_must_ok(simidx_writer_put_if_new(t.w[i], &doc[0], &q[0], NULL, NULL, &sxt_err));
		sxt_must_ok(simidx_writer_delete_id(t.w[i], id, &sxt_err));
		sxt_must_ok(simidx_writer_put_if_new(t.w[i], &doc[1], &q[1], NULL, NULL, &sxt_err));
		sxt_commit(t.w[i]);
	}
	compare_walks(&t);
	end_twins(&t);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_deleted_after_it_was_found_ahead, 0, 1 },
	{ &test_changes_equal_those_in_a_directory, 0, N_KINDS * N_PLANS },
};

SXT_SUITE(engine_twins, engines_add, NULL);

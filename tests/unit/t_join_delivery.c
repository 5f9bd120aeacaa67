/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How a join delivers what it has found: many documents of few fingerprints, labels, where the
 * caller stops it; and arguments that it refuses.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_join.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_index.h"
#include "support/sxt_join.h"

static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 1401);
}

struct heard {
	simidx_join_info found;
	uint64_t groups, pairs, stops, stop_at, sorts;
};

static int hear_groups(void *ctx, const simidx_pair_group *groups, size_t n)
{
	struct heard *h = ctx;

	h->groups += n;
	for (size_t i = 0; i < n; i++)
		h->pairs += groups[i].ids_b ? groups[i].n_a * groups[i].n_b
					    : groups[i].n_a * (groups[i].n_a - 1) / 2;
	return 0;
}

static int hear_found(void *ctx, const simidx_join_info *info)
{
	((struct heard *)ctx)->found = *info;
	return 0;
}

static int hear_stop(void *ctx)
{
	struct heard *h = ctx;

	return ++h->stops == h->stop_at;
}

/*
 * 100,000 documents have one fingerprint, two others are one bit off: three groups, 5 * 10^9 pairs.
 */
START_TEST(test_many_documents_of_one_fingerprint)
{
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	const uint64_t n = 100000;
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	struct heard heard = { .stop_at = 0 };

	for (uint64_t i = 0; i < n + 1; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.fp = i < n ? 0x1234567 : 0x1234566;
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
	sxt_merge(index);
	o.memory = (uint64_t)16 << 20;
	o.tmpdir = t_dir;
	o.found = hear_found;
	o.ctx = &heard;
	taker.groups = hear_groups;
	ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_OK);
	sxt_must_eq(heard.groups, 2);
	sxt_must_eq(heard.found.groups, 2);
	sxt_must_eq(heard.found.pairs, n * (n - 1) / 2 + n);
	sxt_must_eq(heard.pairs, heard.found.pairs);
	sxt_must_eq(heard.found.fingerprint_pairs, 2);
	simidx_close(index);
}
END_TEST

/*
 * 524,288 ids are what a chunk of pairs has room for in 16 MiB, or half as many of each of two
 * indexes: here one pair of fingerprints has more, so that it is all of a chunk.
 */
START_TEST(test_more_documents_than_a_chunk)
{
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	const uint64_t n = 140000, more = 400000;
	char *path = sxt_path(t_dir, "other");
	simidx *index[2] = { sxt_create(t_path, NULL), sxt_create(path, NULL) };
	struct heard heard = { .stop_at = 0 };

	for (unsigned s = 0; s < 2; s++) {
		simidx_writer *writer = sxt_writer(index[s], 0);

		for (uint64_t i = 0; i < 2 * n; i++) {
			simidx_doc doc = SIMIDX_DOC_INIT;

			doc.fp = i < n ? 1 : 3;
			sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
		}
		for (uint64_t i = 0; s && i < more; i++) {
			simidx_doc doc = SIMIDX_DOC_INIT;

			doc.fp = 3;
			sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
		}
		sxt_commit(writer);
		simidx_writer_close(writer);
	}
	o.memory = (uint64_t)16 << 20;
	o.tmpdir = t_dir;
	o.found = hear_found;
	o.ctx = &heard;
	taker.groups = hear_groups;
	/* Fingerprints 1 and 1, 1 and 3, 3 and 1, 3 and 3. */
	ck_assert_sx(simidx_pairs(index[0], index[1], &o, &taker, &sxt_err), SIMIDX_OK);
	sxt_must_eq(heard.groups, 4);
	sxt_must_eq(heard.pairs, 2 * n * (2 * n + more));
	sxt_must_eq(heard.found.pairs, heard.pairs);
	/* One index: each with each other one. */
	heard = (struct heard){ .stop_at = 0 };
	ck_assert_sx(simidx_pairs(index[1], NULL, &o, &taker, &sxt_err), SIMIDX_OK);
	sxt_must_eq(heard.groups, 3);
	sxt_must_eq(heard.pairs, (2 * n + more) * (2 * n + more - 1) / 2);
	simidx_close(index[0]);
	simidx_close(index[1]);
	free(path);
}
END_TEST

/* ---- labels ---- */

struct labelled {
	simidx *index;
	char text[256]; /* what was delivered */
};

static void note_label(struct labelled *l, uint64_t id, const char *label, size_t size)
{
	size_t used = strlen(l->text);

	sxt_must(!label == !size);
	sxt_must(snprintf(l->text + used, sizeof(l->text) - used, "%d=%.*s ", (int)id, (int)size,
			  label ? label : "") > 0);
}

static int take_labelled_pairs(void *ctx, const simidx_pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		note_label(ctx, pairs[i].id_a, pairs[i].label_a, pairs[i].label_size_a);
		note_label(ctx, pairs[i].id_b, pairs[i].label_b, pairs[i].label_size_b);
	}
	return 0;
}

static int take_labelled_members(void *ctx, const simidx_member *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		note_label(ctx, members[i].id, members[i].label, members[i].label_size);
	return 0;
}

/* Meanwhile a document gets another label, another one goes, and all is merged. */
static int change_labels(void *ctx, const simidx_join_info *info)
{
	struct labelled *l = ctx;
	simidx_writer *writer = sxt_writer(l->index, 0);

	(void)info;
	sxt_must_ok(simidx_writer_delete_id(writer, 2, &sxt_err));
	sxt_must_ok(simidx_writer_delete_id(writer, 1, &sxt_err));
	sxt_must_ok(t_put(writer, 1, 5, "new"));
	sxt_commit(writer);
	simidx_writer_close(writer);
	sxt_merge(l->index);
	return 0;
}

/* Number _i: of pairs, of pairs of two indexes, of clusters. */
START_TEST(test_labels_are_of_the_snapshot)
{
	static const char *const want[] = { "1=one 2=two 2=two 3= 1=one 3= ",
					    "2=two 4=four 1=one 4=four 3= 4=four ",
					    "1=one 2=two 3= " };
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	char *path = sxt_path(t_dir, "other");
	simidx *index = sxt_create(t_path, NULL), *other = sxt_create(path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);
	struct labelled l = { .index = index };

	sxt_must_ok(t_put(writer, 1, 7, "one"));
	sxt_must_ok(t_put(writer, 3, 7, NULL));
	sxt_commit(writer);
	simidx_writer_close(writer);
	sxt_merge(index);
	writer = sxt_writer(index, 0);
	sxt_must_ok(t_put(writer, 2, 6, "two"));
	sxt_commit(writer);
	simidx_writer_close(writer);
	writer = sxt_writer(other, 0);
	sxt_must_ok(t_put(writer, 4, 4, "four"));
	sxt_commit(writer);
	simidx_writer_close(writer);
	o.flags = SIMIDX_JOIN_LABELS;
	o.tmpdir = t_dir;
	o.found = change_labels;
	o.ctx = &l;
	taker.pairs = take_labelled_pairs;
	if (_i == 2)
		sxt_must_ok(simidx_clusters(index, &o, NULL, take_labelled_members, &sxt_err));
	else
		sxt_must_ok(simidx_pairs(index, _i ? other : NULL, &o, &taker, &sxt_err));
	ck_assert_str_eq(l.text, want[_i]);
	simidx_close(index);
	simidx_close(other);
	free(path);
}
END_TEST

/* ---- stops and refusals ---- */

static void hear_progress(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	struct heard *h = ctx;

	sxt_must_le(done, total);
	h->sorts += !strcmp(phase, "sorting fingerprints");
}

/* Wherever the caller says stop. The plan has no table for one of the parts, which is sorted. */
START_TEST(test_stopped)
{
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 601, 64, 0, &rng);
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;
	struct heard heard = { .stop_at = 0 };
	uint64_t all;

	create.plan = "3x22";
	index = sxt_create(t_path, &create);
	index->tuning.join.method = 1; /* a small index is scanned otherwise */
	sxt_join_store(&docs, 0, docs.n, index);
	taker.groups = hear_groups;
	o.stop = hear_stop;
	o.progress = hear_progress;
	o.found = hear_found;
	o.ctx = &heard;
	o.tmpdir = t_dir;
	o.threads = 1;
	ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_OK);
	all = heard.stops;
	sxt_must_gt(heard.sorts, 0);
	sxt_must_gt(all, 3);
	for (uint64_t at = 1; at <= all; at++) {
		heard = (struct heard){ .stop_at = at };
		sxt_must_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_E_STOPPED);
		sxt_must_eq(heard.stops, at);
	}
	simidx_close(index);
	free(docs.at);
}
END_TEST

struct planned {
	simidx_join_info info;
};

static int hear_planned(void *ctx, const simidx_join_info *info)
{
	((struct planned *)ctx)->info = *info;
	return 1; /* that is all */
}

/* Without ids a document is a fingerprint, however often it was put. */
START_TEST(test_documents_without_ids)
{
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	simidx *index = t_numbered(t_path, 4, SIMIDX_CREATE_NO_IDS);
	simidx_writer *writer = sxt_writer(index, 0);
	struct planned planned;

	for (unsigned i = 0; i < 3; i++)
		sxt_must_eq(t_put(writer, SIMIDX_NO_ID, 0, NULL), SIMIDX_OK);
	sxt_commit(writer);
	simidx_writer_close(writer);
	sxt_merge(index);
	taker.groups = hear_groups;
	o.planned = hear_planned;
	o.ctx = &planned;
	ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_E_STOPPED);
	ck_assert_uint_eq(planned.info.documents, 4);
	ck_assert_uint_eq(planned.info.documents, t_info(index).documents);
	simidx_close(index);
}
END_TEST

/* What the profile says of second fingerprints decides how far both may differ. */
START_TEST(test_default_of_both_fingerprints)
{
	static const char *const profile[] = { "w v1", "w v1 fp2=triples",
					       "w v1 fp2=triples stem=x", "w fp2=triples4" };
	static const unsigned want[] = { 16, 20, 20, 16 };
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	struct planned planned;
	simidx *index;

	create.flags = SIMIDX_CREATE_FP2;
	create.profile = profile[_i];
	index = sxt_create(t_path, &create);
	taker.groups = hear_groups;
	o.flags = SIMIDX_JOIN_FP2;
	o.planned = hear_planned;
	o.ctx = &planned;
	ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_E_STOPPED);
	ck_assert_uint_eq(planned.info.radius2, want[_i]);
	o.radius2 = 18;
	ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_E_STOPPED);
	ck_assert_uint_eq(planned.info.radius2, 18);
	simidx_close(index);
}
END_TEST

/* What is told is what is used. */
START_TEST(test_limits)
{
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	simidx *index = sxt_create(t_path, NULL);
	struct planned planned;

	taker.groups = hear_groups;
	o.planned = hear_planned;
	o.ctx = &planned;
	for (unsigned threads = 255; threads < 300; threads++) {
		o.threads = threads;
		ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_E_STOPPED);
		sxt_must_eq(planned.info.threads, threads < 256 ? threads : 256);
	}
	o.memory = (UINT64_C(1) << 46) + 1;
	ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_E_ARG);
	ck_assert_str_eq(sxt_err.text, "a join works in 16 MiB to 64 TiB of memory");
	simidx_close(index);
}
END_TEST

START_TEST(test_bad_arguments)
{
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT, nobody = SIMIDX_PAIRS_TAKER_INIT;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	char *path = sxt_path(t_dir, "other");
	simidx *index = sxt_create(t_path, NULL), *other;

	create.bits = 32;
	other = sxt_create(path, &create);
	taker.groups = hear_groups;
	ck_assert_sx(simidx_pairs(NULL, NULL, &o, &taker, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_pairs(index, index, &o, &taker, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_pairs(index, NULL, &o, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_pairs(index, NULL, &o, &nobody, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_pairs(index, other, &o, &taker, &sxt_err), SIMIDX_E_MISMATCH);
	o.radius = 33;
	ck_assert_sx(simidx_pairs(other, NULL, &o, &taker, &sxt_err), SIMIDX_E_RANGE);
	o.radius = 3;
	o.flags = 8;
	ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_E_ARG);
	o.flags = 0;
	o.memory = 1;
	ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_E_ARG);
	o.memory = 0;
	o.size = 8;
	ck_assert_sx(simidx_pairs(index, NULL, &o, &taker, &sxt_err), SIMIDX_E_ARG);
	simidx_close(index);
	simidx_close(other);
	free(path);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_many_documents_of_one_fingerprint, 0, 1 },
	{ &test_more_documents_than_a_chunk, 0, 1 },
	{ &test_labels_are_of_the_snapshot, 0, 3 },
	{ &test_stopped, 0, 1 },
	{ &test_documents_without_ids, 0, 1 },
	{ &test_default_of_both_fingerprints, 0, 4 },
	{ &test_limits, 0, 1 },
	{ &test_bad_arguments, 0, 1 },
};

SXT_SUITE(join_delivery, set_up, sxt_tear_down);

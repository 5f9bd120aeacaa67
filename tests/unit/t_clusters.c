/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Clusters, against the definition: each document compared with each, one after another.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/sxt_fixture.h"
#include "support/sxt_join.h"
#include "support/sxt_struct.h"
#include "util/sx_alloc.h"

static sxt_rng rng;

static void set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&rng, 1410);
}

/* ---- the index, and what was taken ---- */

struct taken {
	simidx_member *at;
	size_t n, cap;
	simidx_join_info found;
};

static int take(void *ctx, const simidx_member *members, size_t n)
{
	struct taken *t = ctx;

	sxt_must(n > 0 && n <= 65536);
	sxt_must(!sx_reserve(&t->at, &t->cap, t->n + n, sizeof(*t->at)));
	memcpy(t->at + t->n, members, n * sizeof(*members));
	t->n += n;
	return 0;
}

static int found(void *ctx, const simidx_join_info *info)
{
	((struct taken *)ctx)->found = *info;
	return 0;
}

static uint64_t length_of(uint64_t id)
{
	return id * 37 % 11; /* many are equally long */
}

/* The label of a document, "" for those that have none. */
static void label_of(uint64_t id, char label[16])
{
	label[0] = 0;
	if (id % 3)
		sxt_must(snprintf(label, 16, "%x", (unsigned)(id * 2654435761u % 100003)) < 16);
}

static int tell_length(void *ctx, uint64_t id, const char *label, size_t size, uint64_t *length)
{
	(void)ctx;
	sxt_must(!label && !size); /* nobody has asked for it */
	*length = length_of(id);
	return 0;
}

static simidx *make(const char *path, const sxt_join_docs *docs)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer *writer;
	simidx *index;

	o.plan = "4x16";
	o.flags = docs->flags;
	index = sxt_create(path, &o);
	writer = sxt_writer(index, 0);
	for (size_t i = 0; i < docs->n; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;
		char label[16];

		doc.fp = docs->at[i].fp;
		if (!(docs->flags & SIMIDX_CREATE_NO_IDS)) {
			doc.id = docs->at[i].id;
			label_of(doc.id, label);
			doc.label = label[0] ? label : NULL;
			doc.label_size = strlen(label);
		}
		if (docs->flags & SIMIDX_CREATE_FP2) {
			doc.fp2 = docs->at[i].fp2;
			doc.flags = SIMIDX_DOC_FP2;
		}
		sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
	return index;
}

static struct taken run(simidx *index, unsigned flags, unsigned threads,
			const simidx_clusters_options *clusters)
{
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	struct taken t = { 0 };

	o.flags = flags;
	o.radius = 3;
	o.threads = threads;
	o.memory = (uint64_t)16 << 20;
	o.tmpdir = t_dir;
	o.found = found;
	o.ctx = &t;
	sxt_must_ok(simidx_clusters(index, &o, clusters, take, &sxt_err));
	sxt_must_eq(t.found.members, t.n);
	return t;
}

/* ---- the definition ---- */

static const sxt_join_docs *docs_of; /* for qsort() */
static unsigned keep_of;

static uint64_t name_of(const sxt_join_doc *doc)
{
	return docs_of->flags & SIMIDX_CREATE_NO_IDS ? doc->fp : doc->id;
}

static int by_merit(const void *a, const void *b)
{
	const sxt_join_doc *x = a, *y = b;
	uint64_t id_x = name_of(x), id_y = name_of(y);
	char label_x[16], label_y[16];
	int order = 0;

	switch (keep_of) {
	case SIMIDX_KEEP_LARGEST_ID:
		return id_x > id_y ? -1 : id_x < id_y;
	case SIMIDX_KEEP_SMALLEST_LABEL:
		label_of(id_x, label_x);
		label_of(id_y, label_y);
		order = !label_x[0] - !label_y[0];
		order = order ? order : strcmp(label_x, label_y);
		break;
	case SIMIDX_KEEP_LONGEST:
		order = (int)length_of(id_y) - (int)length_of(id_x);
	}
	return order ? order : id_x < id_y ? -1 : id_x > id_y;
}

static int are_near(const sxt_join_doc *a, const sxt_join_doc *b, unsigned flags)
{
	unsigned d = (unsigned)__builtin_popcountll(a->fp ^ b->fp);
	unsigned d2 = (unsigned)__builtin_popcountll(a->fp2 ^ b->fp2);

	return d <= 3 && (!(flags & SIMIDX_JOIN_FP2) || d + d2 <= 16);
}

static int by_cluster(const void *a, const void *b)
{
	const simidx_member *x = a, *y = b;

	if (x->cluster != y->cluster)
		return x->cluster < y->cluster ? -1 : 1;
	if (x->is_keeper != y->is_keeper)
		return x->is_keeper ? -1 : 1;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

/* The members of clusters by the leader of each document; docs are in the order of merit. */
static struct taken members_of(const sxt_join_docs *docs, const size_t *leader)
{
	struct taken t = { .at = sx_calloc(docs->n + 1, sizeof(*t.at)) };

	for (size_t i = 0; i < docs->n; i++) {
		uint64_t least = UINT64_MAX;
		size_t n = 0, keeper = docs->n;

		for (size_t j = 0; j < docs->n; j++) {
			if (leader[j] != leader[i])
				continue;
			keeper = keeper < j ? keeper : j;
			least = name_of(&docs->at[j]) < least ? name_of(&docs->at[j]) : least;
			n++;
		}
		if (n < 2)
			continue;
		t.at[t.n++] = (simidx_member){
			least, docs->flags & SIMIDX_CREATE_NO_IDS ? SIMIDX_NO_ID : docs->at[i].id,
			docs->at[i].fp,
			(unsigned)__builtin_popcountll(docs->at[i].fp ^ docs->at[keeper].fp),
			keeper == i, NULL, 0
		};
		t.found.clusters += keeper == i;
	}
	qsort(t.at, t.n, sizeof(*t.at), by_cluster);
	return t;
}

static struct taken expect(const sxt_join_docs *docs, unsigned flags, unsigned link)
{
	size_t *leader = sx_calloc(docs->n, sizeof(*leader));
	int changed = 1;
	struct taken t;

	for (size_t i = 0; i < docs->n; i++)
		leader[i] = i;
	for (size_t i = 0; link == SIMIDX_LINK_STAR && i < docs->n; i++)
		for (size_t j = i + 1; leader[i] == i && j < docs->n; j++)
			if (leader[j] == j && are_near(&docs->at[i], &docs->at[j], flags))
				leader[j] = i;
	while (link == SIMIDX_LINK_SINGLE && changed) {
		changed = 0;
		for (size_t i = 0; i < docs->n; i++)
			for (size_t j = 0; j < i; j++) {
				size_t low = leader[i] < leader[j] ? leader[i] : leader[j];

				if (leader[i] == leader[j] ||
				    !are_near(&docs->at[i], &docs->at[j], flags))
					continue;
				leader[i] = leader[j] = low;
				changed = 1;
			}
	}
	t = members_of(docs, leader);
	free(leader);
	return t;
}

static void check_same(const struct taken *a, const struct taken *b)
{
	sxt_must_eq(a->n, b->n);
	sxt_must_eq(a->found.clusters, b->found.clusters);
	sxt_must(!memcmp(a->at, b->at, a->n * sizeof(*a->at)));
}

/* Equal fingerprints without ids are one document. */
static void drop_repeats(sxt_join_docs *docs)
{
	size_t n = 0;

	for (size_t i = 0; i < docs->n; i++) {
		size_t j = 0;

		while (j < n && docs->at[j].fp != docs->at[i].fp)
			j++;
		if (j == n)
			docs->at[n++] = docs->at[i];
	}
	docs->n = n;
}

/* ---- tests ---- */

/* Rule number _i: each kind of set and link, with second fingerprints and without, without ids. */
START_TEST(test_clusters_by_definition)
{
	static const unsigned flags[] = { 0, SIMIDX_CREATE_FP2, SIMIDX_CREATE_NO_IDS };

	for (unsigned f = 0; f < 3; f++)
		for (unsigned kind = 0; kind < SXT_JOIN_KINDS; kind++) {
			sxt_join_docs docs = sxt_join_make(kind, 401, 64, flags[f], &rng);
			unsigned fp2 = flags[f] == SIMIDX_CREATE_FP2 ? SIMIDX_JOIN_FP2 : 0;
			char name[8] = { 'i', (char)('0' + kind), (char)('0' + f), 0 };
			simidx_clusters_options o = SIMIDX_CLUSTERS_OPTIONS_INIT;
			char *path = sxt_path(t_dir, name);
			simidx *index;

			if (f == 2 && _i >= SIMIDX_KEEP_SMALLEST_LABEL) {
				free(docs.at);
				free(path);
				continue;
			}
			o.keep = (unsigned)_i;
			o.length = tell_length;
			index = make(path, &docs);
			if (kind)
				sxt_merge(index);
			docs_of = &docs;
			keep_of = o.keep;
			qsort(docs.at, docs.n, sizeof(*docs.at), by_merit);
			if (f == 2)
				drop_repeats(&docs);
			for (o.link = 0; o.link <= SIMIDX_LINK_SINGLE; o.link++) {
				struct taken want = expect(&docs, fp2, o.link);
				struct taken one = run(index, fp2, 1, &o);
				struct taken two = run(index, fp2, 2, &o);

				sxt_must_gt(want.n, 5);
				check_same(&one, &want);
				check_same(&two, &want);
				free(want.at);
				free(one.at);
				free(two.at);
			}
			simidx_close(index);
			free(docs.at);
			free(path);
		}
}
END_TEST

/* Fingerprints that are still in the tables, but of which all documents are deleted. */
START_TEST(test_deleted_documents)
{
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 401, 64, 0, &rng);
	simidx_clusters_options o = SIMIDX_CLUSTERS_OPTIONS_INIT;
	simidx *index = make(t_path, &docs);
	simidx_writer *writer;
	size_t left = 0;

	sxt_merge(index);
	writer = sxt_writer(index, 0);
	for (size_t i = 0; i < docs.n; i++)
		if (docs.at[i].fp % 3)
			docs.at[left++] = docs.at[i];
		else
			sxt_must_ok(simidx_writer_delete_id(writer, docs.at[i].id, &sxt_err));
	sxt_must_gt(docs.n - left, 50);
	docs.n = left;
	sxt_commit(writer);
	simidx_writer_close(writer);
	docs_of = &docs;
	for (o.keep = 0; o.keep <= SIMIDX_KEEP_LARGEST_ID; o.keep++) {
		keep_of = o.keep;
		qsort(docs.at, docs.n, sizeof(*docs.at), by_merit);
		for (o.link = 0; o.link <= SIMIDX_LINK_SINGLE; o.link++) {
			struct taken want = expect(&docs, 0, o.link);
			struct taken got = run(index, 0, 2, &o);

			sxt_must_gt(want.n, 5);
			check_same(&got, &want);
			free(want.at);
			free(got.at);
		}
	}
	simidx_close(index);
	free(docs.at);
}
END_TEST

/*
 * At most _i documents: each once, near to its keeper in a star; equal ones are in one if they fit.
 */
START_TEST(test_maximum_size)
{
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 401, 64, 0, &rng);
	simidx_clusters_options o = SIMIDX_CLUSTERS_OPTIONS_INIT;
	uint8_t seen[401];
	simidx *index;

	for (size_t i = 0; i < 50; i++) /* more of one fingerprint than a cluster may have */
		docs.at[i].fp = docs.at[0].fp;
	index = make(t_path, &docs);
	o.max_size = (uint64_t)_i;
	for (o.link = 0; o.link <= SIMIDX_LINK_SINGLE; o.link++) {
		struct taken one = run(index, 0, 1, &o), two = run(index, 0, 2, &o);
		uint64_t n = 0, clusters = 0;
		size_t equal = 0;

		check_same(&one, &two);
		memset(seen, 0, sizeof(seen));
		for (size_t i = 0; i < one.n; i++) {
			const simidx_member *m = &one.at[i];

			n = m->is_keeper ? 1 : n + 1;
			clusters += m->is_keeper;
			sxt_must_le(n, o.max_size);
			sxt_must_eq(m->cluster, one.at[i - (n - 1)].cluster);
			sxt_must(!seen[m->id]++);
			sxt_must_eq(m->distance,
				    (unsigned)__builtin_popcountll(m->fp ^ one.at[i - (n - 1)].fp));
			if (o.link == SIMIDX_LINK_STAR)
				sxt_must_le(m->distance, 3);
			/* The cluster of two or more. */
			sxt_must(!m->is_keeper ||
				 (i + 1 < one.n && !one.at[i + 1].is_keeper));
			equal += m->fp == docs.at[0].fp;
		}
		sxt_must_eq(clusters, one.found.clusters);
		/* All of them, but for one that may be left over. */
		sxt_must_ge(equal, 49);
		free(one.at);
		free(two.at);
	}
	simidx_close(index);
	free(docs.at);
}
END_TEST

/* A size that no cluster reaches changes nothing. */
START_TEST(test_size_that_is_not_reached)
{
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 401, 64, 0, &rng);
	simidx *index = make(t_path, &docs);

	for (unsigned link = 0; link <= SIMIDX_LINK_SINGLE; link++) {
		simidx_clusters_options o = SIMIDX_CLUSTERS_OPTIONS_INIT;
		struct taken want, got;

		o.link = link;
		want = run(index, 0, 1, &o);
		o.max_size = docs.n;
		got = run(index, 0, 1, &o);
		sxt_must_gt(want.n, 5);
		check_same(&got, &want);
		free(want.at);
		free(got.at);
	}
	simidx_close(index);
	free(docs.at);
}
END_TEST

/* ---- lengths ---- */

struct asked {
	size_t n, end; /* documents asked for; the one at which that ends, 0 = none */
	struct taken taken;
};

static int check_label(void *ctx, uint64_t id, const char *label, size_t size, uint64_t *length)
{
	struct asked *a = ctx;
	char own[16];

	label_of(id, own);
	sxt_must_eq(size, strlen(own));
	sxt_must(own[0] ? label && !memcmp(label, own, size) : !label);
	*length = length_of(id);
	return ++a->n == a->end;
}

static int take_asked(void *ctx, const simidx_member *members, size_t n)
{
	return take(&((struct asked *)ctx)->taken, members, n);
}

/* Who tells lengths is given the labels if these are asked for, and can end the join. */
START_TEST(test_lengths_of_labels)
{
	sxt_join_docs docs = sxt_join_make(1, 401, 64, 0, &rng);
	simidx_clusters_options c = SIMIDX_CLUSTERS_OPTIONS_INIT;
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	simidx *index = make(t_path, &docs);
	struct asked all = { 0 };
	struct taken want;

	c.keep = SIMIDX_KEEP_LONGEST;
	c.length = tell_length;
	want = run(index, 0, 1, &c);
	sxt_must_gt(want.n, 5);
	c.length = check_label;
	o.flags = SIMIDX_JOIN_LABELS;
	o.tmpdir = t_dir;
	o.ctx = &all;
	ck_assert_sx(simidx_clusters(index, &o, &c, take_asked, &sxt_err), SIMIDX_OK);
	sxt_must_ge(all.n, want.n);
	sxt_must_eq(all.taken.n, want.n);
	for (size_t i = 0; i < want.n; i++) {
		sxt_must_eq(all.taken.at[i].id, want.at[i].id);
		sxt_must_eq(all.taken.at[i].is_keeper, want.at[i].is_keeper);
	}
	for (size_t end = 1; end <= all.n; end += all.n / 7) {
		struct asked some = { .end = end };

		o.ctx = &some;
		ck_assert_sx(simidx_clusters(index, &o, &c, take_asked, &sxt_err),
			     SIMIDX_E_STOPPED);
		sxt_must_eq(some.n, end);
		sxt_must_eq(some.taken.n, 0);
	}
	free(want.at);
	free(all.taken.at);
	simidx_close(index);
	free(docs.at);
}
END_TEST

START_TEST(test_bad_arguments)
{
	simidx_clusters_options o = SIMIDX_CLUSTERS_OPTIONS_INIT;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	char *path = sxt_path(t_dir, "other");
	simidx *index = sxt_create(t_path, NULL), *bare;
	struct taken t = { 0 };

	create.flags = SIMIDX_CREATE_NO_IDS;
	bare = sxt_create(path, &create);
	ck_assert_sx(simidx_clusters(index, NULL, NULL, NULL, &sxt_err), SIMIDX_E_ARG);
	ck_assert_sx(simidx_clusters(NULL, NULL, NULL, take, &sxt_err), SIMIDX_E_ARG);
	o.max_size = 1;
	ck_assert_sx(simidx_clusters(index, NULL, &o, take, &sxt_err), SIMIDX_E_ARG);
	o.max_size = 0;
	o.keep = SIMIDX_KEEP_LONGEST;
	ck_assert_sx(simidx_clusters(index, NULL, &o, take, &sxt_err), SIMIDX_E_ARG);
	o.keep = SIMIDX_KEEP_SMALLEST_LABEL;
	ck_assert_sx(simidx_clusters(bare, NULL, &o, take, &sxt_err), SIMIDX_E_UNSUPPORTED);
	o.keep = 4;
	ck_assert_sx(simidx_clusters(index, NULL, &o, take, &sxt_err), SIMIDX_E_ARG);
	o.keep = 0;
	o.link = 2;
	ck_assert_sx(simidx_clusters(index, NULL, &o, take, &sxt_err), SIMIDX_E_ARG);
	o.link = 0;
	t = run(index, 0, 2, &o);
	sxt_must_eq(t.n, 0);
	simidx_close(index);
	simidx_close(bare);
	free(path);
}
END_TEST

/* Structs of other sizes: see t_struct_size.c. */

static int take_groups(void *ctx, const simidx_pair_group *groups, size_t n)
{
	(void)groups;
	*(size_t *)ctx += n;
	return 0;
}

static int take_members(void *ctx, const simidx_member *members, size_t n)
{
	(void)members;
	*(size_t *)ctx += n;
	return 0;
}

static simidx *db;
static size_t n_taken;

static int call_pairs(const void *given)
{
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;

	taker.groups = take_groups;
	return simidx_pairs(db, NULL, given, &taker, &sxt_err);
}

static int call_pairs_taker(const void *given)
{
	simidx_join_options join = SIMIDX_JOIN_OPTIONS_INIT;

	join.threads = 1;
	join.ctx = &n_taken;
	return simidx_pairs(db, NULL, &join, given, &sxt_err);
}

static int call_clusters(const void *given)
{
	simidx_join_options join = SIMIDX_JOIN_OPTIONS_INIT;

	join.threads = 1;
	join.ctx = &n_taken;
	return simidx_clusters(db, &join, given, take_members, &sxt_err);
}

START_TEST(test_sizes_of_joins)
{
	static const simidx_clusters_options clusters = SIMIDX_CLUSTERS_OPTIONS_INIT;
	simidx_pairs_taker taker = SIMIDX_PAIRS_TAKER_INIT;
	simidx_join_options join = SIMIDX_JOIN_OPTIONS_INIT;
	sxt_join_docs docs = sxt_join_make(SXT_JOIN_CLUSTERED, 100, 64, 0, &rng);

	db = sxt_create(t_path, NULL);
	sxt_join_store(&docs, 0, docs.n, db);
	join.threads = 1;
	join.ctx = &n_taken;
	taker.groups = take_groups;
	t_try_in(call_pairs, &join, sizeof(join), sizeof(join));
	t_try_in(call_pairs_taker, &taker, sizeof(taker), sizeof(taker));
	t_try_in(call_clusters, &clusters, sizeof(clusters), sizeof(size_t));
	ck_assert_uint_gt(n_taken, 0);
	simidx_close(db);
	free(docs.at);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_clusters_by_definition, 0, 4 },
	{ &test_deleted_documents, 0, 1 },
	{ &test_maximum_size, 2, 12 },
	{ &test_size_that_is_not_reached, 0, 1 },
	{ &test_lengths_of_labels, 0, 1 },
	{ &test_bad_arguments, 0, 1 },
	{ &test_sizes_of_joins, 0, 1 },
};

SXT_SUITE(clusters, set_up, sxt_tear_down);

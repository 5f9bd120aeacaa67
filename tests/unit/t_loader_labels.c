/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bulk loader with more shared labels and ids than it holds in memory, and with labels that
 * have the same hash.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_sketch.h>
#include <simidx_walk.h>

#include "support/sxt_index.h"
#include "support/sxt_load.h"

/* Sorters have 8 MiB each here, half of it for records of up to 40 bytes: they spill. */
#define N 150000
#define NOBODY UINT32_MAX

struct row {
	uint32_t id, label; /* label N: none */
};

/* Pairs, chains of ids and labels, one label that many have and one id that many have. */
static struct row *make_rows(void)
{
	struct row *row = calloc(N, sizeof(*row));

	ck_assert_ptr_nonnull(row);
	for (uint32_t i = 0; i < N; i++) {
		row[i].id = i * 7919 % N;
		row[i].label = (uint32_t)sxt_rng_below(&sxt_load_rng, N * 2 / 3);
		if (sxt_rng_below(&sxt_load_rng, 4) == 0)
			row[i].id = (uint32_t)sxt_rng_below(&sxt_load_rng, N);
		if (sxt_rng_below(&sxt_load_rng, 8) == 0)
			row[i].label = N;
		if (i % 20 == 3)
			row[i].label = 5;
		if (i % 20 == 9)
			row[i].id = 11;
	}
	return row;
}

/* Who has each id at last, the rows put one after another. Returns how many were left out. */
static uint64_t put_all(const struct row *row, unsigned policy, uint32_t *of_id)
{
	uint32_t *of_label = malloc(N * sizeof(*of_label));
	uint64_t left_out = 0;

	for (uint32_t i = 0; i < N; i++)
		of_id[i] = of_label[i] = NOBODY;
	for (uint32_t i = 0; i < N; i++) {
		uint32_t holders[2] = { of_id[row[i].id],
					row[i].label < N ? of_label[row[i].label] : NOBODY };

		if (policy != SIMIDX_DUPLICATES_LAST &&
		    (holders[0] != NOBODY || holders[1] != NOBODY)) {
			left_out++;
			continue;
		}
		for (int k = 0; k < 2; k++) {
			const struct row *old = &row[holders[k]];

			if (holders[k] == NOBODY || (k && holders[1] == holders[0]))
				continue;
			left_out++;
			of_id[old->id] = NOBODY;
			if (old->label < N)
				of_label[old->label] = NOBODY;
		}
		of_id[row[i].id] = i;
		if (row[i].label < N)
			of_label[row[i].label] = i;
	}
	free(of_label);
	return left_out;
}

static void load(simidx_loader *loader, const struct row *row)
{
	char label[16];

	for (uint64_t i = 0; i < N; i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.id = row[i].id;
		doc.fp = simidx_feature_hash(&i, sizeof(i));
		if (row[i].label < N) {
			doc.label_size = (size_t)snprintf(label, sizeof(label), "%u", row[i].label);
			doc.label = label;
		}
		sxt_must(!simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
}

START_TEST(test_many_labels)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	uint32_t *of_id = malloc(N * sizeof(*of_id));
	struct row *row = make_rows();
	uint64_t left_out = put_all(row, (unsigned)_i, of_id), n = 0;
	simidx_loader *loader = sxt_loader(&create, (unsigned)_i, NULL);
	simidx_loader_report report;
	simidx_match match;
	simidx_walk *walk;
	simidx *index;

	load(loader, row);
	sxt_load_finish(loader, &report);
	ck_assert_uint_eq(report.left_out, left_out);
	ck_assert_uint_eq(report.duplicates, left_out);
	ck_assert_uint_eq(report.documents, N - left_out);
	index = sxt_open(sxt_load_path, 0);
	sxt_check_sound(index);
	ck_assert_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_OK);
	while (!simidx_walk_next(walk, &match, NULL)) {
		uint64_t i = match.id < N ? of_id[match.id] : NOBODY;
		char label[16];

		sxt_must_ne(i, NOBODY);
		sxt_must_eq(match.fp, simidx_feature_hash(&i, sizeof(i)));
		snprintf(label, sizeof(label), "%u", row[i].label);
		sxt_must_eq((match.label != NULL), (row[i].label < N));
		sxt_must(!match.label || (match.label_size == strlen(label) &&
					  !memcmp(match.label, label, match.label_size)));
		n++;
	}
	ck_assert_uint_eq(n, N - left_out);
	simidx_walk_close(walk);
	simidx_close(index);
	free(row);
	free(of_id);
}
END_TEST

/* It is asked in each of the long passes, and nothing is left of a load that is stopped. */
START_TEST(test_stop_while_labels_are_sorted)
{
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	struct row *row = make_rows();
	uint64_t step = 1, calls = 0;

	for (uint64_t at = 0; at <= calls; at += step) {
		sxt_heard heard;
		simidx_loader *loader = sxt_loader(&create, SIMIDX_DUPLICATES_FIRST, &heard);
		int rc;

		load(loader, row);
		heard.stop_at = at;
		rc = simidx_loader_finish(loader, NULL, &sxt_err);
		simidx_loader_close(loader);
		ck_assert_int_eq(rc, at ? SIMIDX_E_STOPPED : SIMIDX_OK);
		ck_assert_int_eq(access(sxt_load_path, F_OK), at ? -1 : 0);
		ck_assert_int_eq(sxt_load_hidden(), 0);
		if (at)
			continue;
		/* Labels, who has the ids, judging, documents; and about as many in the tables. */
		calls = heard.calls;
		ck_assert_uint_ge(calls, 4 * (N / 65536) + 4);
		step = sxt_is_long() ? 1 : 5;
		sxt_remove(sxt_load_path);
	}
	free(row);
}
END_TEST

/* Three labels with one hash, some of them more than once, and two documents without any. */
START_TEST(test_labels_of_the_same_hash)
{
	static const struct {
		const char *bytes;
		size_t size;
	} label[] = {
		{ "kgooaaaa", 8 },
		{ "\x1d\x73\x11\x14\x65\xe6\x49", 7 },
		{ "\xb7\x21\xa9\x2d\x7b\x5f", 6 },
		{ NULL, 0 },
	};
	static const unsigned rows[] = { 0, 3, 1, 1, 2, 0, 2, 1, 3, 2, 2 };
	static const uint64_t first[] = { 0, 1, 2, 4, 8 }, last[] = { 1, 5, 7, 8, 10 };
	const uint64_t *stay = _i == SIMIDX_DUPLICATES_LAST ? last : first;
	simidx_create_options create = sxt_create_of(&sxt_forms[0]);
	simidx_loader *loader = sxt_loader(&create, (unsigned)_i, NULL);
	simidx_loader_report report;
	simidx_match match;
	simidx_walk *walk;
	simidx *index;

	for (int i = 1; i < 3; i++)
		ck_assert_uint_eq(simidx_feature_hash(label[i].bytes, label[i].size),
				  simidx_feature_hash(label[0].bytes, label[0].size));
	for (uint64_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		simidx_doc doc = SIMIDX_DOC_INIT;

		doc.id = i;
		doc.fp = i * i;
		doc.label = label[rows[i]].bytes;
		doc.label_size = label[rows[i]].size;
		ck_assert_sx(simidx_loader_put(loader, &doc, NULL, &sxt_err), SIMIDX_OK);
	}
	sxt_load_finish(loader, &report);
	ck_assert_uint_eq(report.duplicates, 6);
	index = sxt_open(sxt_load_path, 0);
	sxt_check_sound(index);
	ck_assert_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_OK);
	for (int i = 0; i < 5; i++) {
		ck_assert_sx(simidx_walk_next(walk, &match, &sxt_err), SIMIDX_OK);
		ck_assert_uint_eq(match.id, stay[i]);
		ck_assert_uint_eq(match.label_size, label[rows[match.id]].size);
	}
	ck_assert_int_eq(simidx_walk_next(walk, &match, NULL), SIMIDX_E_END);
	simidx_walk_close(walk);
	simidx_close(index);
}
END_TEST

/* Two indexes that share a label or an id, and nothing is put. */
START_TEST(test_labels_of_indexes_alone)
{
	static const struct {
		unsigned policy, n;
		uint64_t stay[5];
	} cases[] = {
		{ SIMIDX_DUPLICATES_REJECT, 5, { 1, 2, 5, 4, 7 } },
		{ SIMIDX_DUPLICATES_FIRST, 5, { 1, 2, 5, 4, 7 } },
		{ SIMIDX_DUPLICATES_LAST, 5, { 3, 2, 6, 4, 7 } },
	};
	static const char *const labels[] = { "in both", "first", "again", "second", NULL };
	simidx *index = sxt_create(sxt_load_path, NULL), *other = sxt_create(sxt_load_other, NULL);
	simidx_writer *writer = sxt_writer(index, 0), *writer2 = sxt_writer(other, 0);
	sxt_heard heard;
	simidx_loader_report report;
	simidx_loader *loader;
	simidx_reader *reader;
	simidx_match match;

	ck_assert_int_eq(t_put(writer, 1, 1, "in both"), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer, 2, 2, "first"), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer, 5, 5, "again"), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer, 7, 7, NULL), SIMIDX_OK);
	sxt_commit(writer);
	ck_assert_int_eq(t_put(writer2, 3, 3, "in both"), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer2, 4, 4, "second"), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer2, 6, 6, "again"), SIMIDX_OK);
	ck_assert_int_eq(t_put(writer2, 7, 17, NULL), SIMIDX_OK);
	sxt_commit(writer2);
	simidx_writer_close(writer2);
	simidx_writer_close(writer);
	simidx_close(index);
	loader = sxt_loader(NULL, cases[_i].policy, &heard);
	ck_assert_sx(simidx_loader_add_index(loader, other, &sxt_err), SIMIDX_OK);
	sxt_load_finish(loader, &report);
	ck_assert_uint_eq(report.documents, cases[_i].n);
	ck_assert_uint_eq(report.distinct, cases[_i].n);
	ck_assert_uint_eq(report.duplicates, 3);
	ck_assert_uint_eq(report.left_out, 0);
	ck_assert_uint_eq(heard.n, 0);
	index = sxt_open(sxt_load_path, 0);
	reader = sxt_reader(index);
	for (unsigned i = 0; i < cases[_i].n; i++) {
		uint64_t id = cases[_i].stay[i];

		if (labels[i])
			sxt_must_ok(simidx_reader_find_label(reader, labels[i], strlen(labels[i]),
							     &match, &sxt_err));
		else
			sxt_must_ok(simidx_reader_find_id(reader, id, &match, &sxt_err));
		ck_assert_uint_eq(match.id, id);
		ck_assert_uint_eq(match.fp,
				  id == 7 && cases[_i].policy == SIMIDX_DUPLICATES_LAST ? 17 : id);
	}
	ck_assert_uint_eq(t_info(index).labels, 4);
	ck_assert_uint_eq(t_info(index).next_id, 8);
	sxt_check_sound(index);
	simidx_reader_close(reader);
	simidx_close(index);
	simidx_close(other);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_many_labels, 0, 3 },
	{ &test_stop_while_labels_are_sorted, 0, 1 },
	{ &test_labels_of_the_same_hash, 0, 3 },
	{ &test_labels_of_indexes_alone, 0, 3 },
};

SXT_SUITE(loader_labels, sxt_load_set_up, sxt_load_tear_down);

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An index that lives, against a model of it: random changes of all kinds with commits, rollbacks
 * and merges between them, in all plans and layouts; what is there and what is found, compared.
 */

#include <simidx_check.h>
#include <simidx_load.h>
#include <simidx_repair.h>
#include <simidx_walk.h>
#include <stdlib.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_live.h"

static const unsigned kinds[] = { 0, SIMIDX_CREATE_NO_IDS, SIMIDX_CREATE_FP2, SIMIDX_CREATE_TIMES,
				  SIMIDX_CREATE_NOTES,
				  SIMIDX_CREATE_FP2 | SIMIDX_CREATE_TIMES | SIMIDX_CREATE_NOTES };

#define KINDS 6
#define LAYOUTS 2
#define VARIANTS (SXT_N_PLANS * LAYOUTS * KINDS)

/* 10^6 steps in long runs, over all variants; 2 * 10^4 in others. */
static unsigned steps(void)
{
	return (sxt_is_long() ? 1000000 : 20000) / VARIANTS + 1;
}

static void set_options(int variant, simidx_create_options *o)
{
	*o = (simidx_create_options)SIMIDX_CREATE_OPTIONS_INIT;
	o->plan = sxt_plans[variant % SXT_N_PLANS];
	o->layout = (unsigned)(variant / SXT_N_PLANS) % LAYOUTS;
	o->flags = kinds[variant / SXT_N_PLANS / LAYOUTS];
	o->bits = variant % 5 ? 64 : 40;
}

/* Merges and deletions in small transactions, and batches that are sorted. */
static void make_small(simidx *index)
{
	index->tuning.merge_blocks = 2;
	index->tuning.merge_rows = 50;
	index->tuning.batch_sorted_from = 20;
	index->tuning.older_deleted = 3;
	index->tuning.older_seen = 10;
}

struct subject {
	sxt_live live;
	simidx *index;
	simidx_reader *reader;
	simidx_writer *writer;
};

static void open_all(struct subject *s, unsigned step)
{
	make_small(s->index);
	s->reader = sxt_reader(s->index);
	s->writer = sxt_writer(s->index, step % 3 ? 300 : 0);
}

static void close_all(struct subject *s)
{
	simidx_writer_close(s->writer);
	simidx_reader_close(s->reader);
	simidx_close(s->index);
}

static void check(struct subject *s, unsigned searches)
{
	sxt_live_asked reader = sxt_live_reader(&s->live, s->reader);

	sxt_live_check_searches(&s->live, &reader, searches);
	sxt_live_check_batch(&s->live, &reader, 30);
}

/* The writer finds what is pending; others do not. */
static void check_pending(struct subject *s)
{
	sxt_live_asked asked;
	simidx_reader *reader;

	sxt_must_ok(simidx_writer_reader(s->writer, &reader, &sxt_err));
	sxt_must_ok(simidx_writer_begin(s->writer, &sxt_err));
	asked = sxt_live_writer(&s->live, reader);
	sxt_live_check_searches(&s->live, &asked, 3);
	sxt_live_check_batch(&s->live, &asked, 21);
	sxt_live_check_notes(&s->live, &asked);
	asked = sxt_live_reader(&s->live, s->reader);
	sxt_live_check_searches(&s->live, &asked, 1);
}

static void check_content(struct subject *s)
{
	check(s, 30);
	sxt_live_check_content(&s->live, s->index);
}

static void check_at(const struct subject *s, const char *path)
{
	simidx *index = sxt_open(path, 0);

	sxt_live_check_content(&s->live, index);
	simidx_close(index);
}

static void see_loss(void *ctx, const simidx_loss *loss)
{
	(void)ctx;
	sxt_fail("repair tells of a sound index: %s", loss->text);
}

static simidx_doc doc_of(const sxt_live *live, const simidx_match *match)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.id = live->flags & SIMIDX_CREATE_NO_IDS ? SIMIDX_NO_ID : match->id;
	doc.fp = match->fp;
	doc.fp2 = match->fp2;
	doc.time = match->time;
	doc.flags = live->flags & SIMIDX_CREATE_FP2 ? SIMIDX_DOC_FP2 : 0;
	doc.flags |= live->flags & SIMIDX_CREATE_TIMES ? SIMIDX_DOC_TIME : 0;
	doc.label = match->label;
	doc.label_size = match->label_size;
	return doc;
}

static void put_all(struct subject *s, simidx_loader *loader)
{
	simidx_match match;
	simidx_walk *walk;
	simidx_doc doc;
	int rc;

	sxt_must_ok(simidx_walk_open(s->index, &walk, &sxt_err));
	while (!(rc = simidx_walk_next(walk, &match, &sxt_err))) {
		doc = doc_of(&s->live, &match);
		if (s->live.flags & SIMIDX_CREATE_NOTES)
			sxt_must_ok(simidx_walk_note(walk, &doc.note, &doc.note_size, &sxt_err));
		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	sxt_must_eq(rc, SIMIDX_E_END);
	simidx_walk_close(walk);
	if (!(s->live.flags & SIMIDX_CREATE_NO_IDS))
		sxt_must_ok(simidx_loader_reserve_ids(loader, s->live.stored.next_id, &sxt_err));
}

/* An index that a loader makes of another one, as a whole and document by document. */
static void check_loaded(struct subject *s, int variant, int by_document)
{
	char *path = sxt_path(t_dir, "loaded");
	simidx_create_options o;
	simidx_loader *loader;

	set_options(variant, &o);
	sxt_must_ok(simidx_loader_open(path, &o, NULL, &loader, &sxt_err));
	if (by_document)
		put_all(s, loader);
	else
		sxt_must_ok(simidx_loader_add_index(loader, s->index, &sxt_err));
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	check_at(s, path);
	sxt_remove(path);
	free(path);
}

/* Copies of all kinds, and the index rebuilt in its place, have what is stored. */
static void check_copies(struct subject *s, int variant)
{
	char *backup = sxt_path(t_dir, "backup"), *repaired = sxt_path(t_dir, "repaired");
	simidx_loader *loader;

	sxt_must_ok(simidx_backup(s->index, backup, &sxt_err));
	check_at(s, backup);
	check_loaded(s, variant, 0);
	check_loaded(s, variant, 1);
	close_all(s);
	sxt_must_ok(simidx_compact(t_path, NULL, NULL, NULL, &sxt_err));
	check_at(s, t_path);
	sxt_must_ok(simidx_repair(t_path, repaired, NULL, see_loss, NULL, NULL, &sxt_err));
	check_at(s, repaired);
	sxt_must_ok(simidx_loader_open(t_path, NULL, NULL, &loader, &sxt_err));
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
	sxt_remove(backup);
	sxt_remove(repaired);
	free(backup);
	free(repaired);
	s->index = sxt_open(t_path, 0);
	open_all(s, 0);
	sxt_live_check_content(&s->live, s->index);
}

START_TEST(test_random_changes_equal_the_model)
{
	struct subject s;
	simidx_create_options o;
	unsigned n = steps();

	set_options(_i, &o);
	sxt_live_init(&s.live, o.bits, o.flags, sxt_is_long() ? 5000 >> _i % 4 : 150,
		      7000 + 2 * (uint64_t)_i);
	s.index = sxt_create(t_path, &o);
	open_all(&s, 1);
	for (unsigned i = 0; i < n; i++) {
		enum sxt_live_step step = sxt_live_step(&s.live, s.writer);

		if (step == SXT_LIVE_CHANGE && !sxt_rng_below(&s.live.asks, 10))
			check_pending(&s);
		if (step == SXT_LIVE_COMMIT && sxt_rng_below(&s.live.asks, 2))
			check(&s, 3);
		if (step != SXT_LIVE_CHANGE && !sxt_rng_below(&s.live.asks, 12))
			sxt_must_ok(simidx_writer_merge(s.writer, &sxt_err));
		if (o.flags & SIMIDX_CREATE_TIMES && !sxt_rng_below(&s.live.asks, 50))
			sxt_live_delete_older(&s.live, s.writer);
		if (step != SXT_LIVE_CHANGE && !sxt_rng_below(&s.live.asks, 40)) {
			close_all(&s);
			s.index = sxt_open(t_path, 0);
			open_all(&s, i);
		}
		if (i % 3000 == 100)
			check_content(&s);
		if (i % 6000 == 200) {
			simidx_writer_rollback(s.writer);
			sxt_live_roll_back(&s.live);
			check_copies(&s, _i);
		}
	}
	sxt_live_commit(&s.live, s.writer);
	check_content(&s);
	sxt_must_ok(simidx_writer_merge(s.writer, &sxt_err));
	check_content(&s);
	close_all(&s);
	sxt_live_free(&s.live);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_random_changes_equal_the_model, 0, VARIANTS },
};

SXT_SUITE(live_model, sxt_set_up_path, sxt_tear_down);

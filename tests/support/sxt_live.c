/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx.h>

#define LABELS 4 /* times as many labels as documents: they are met again and are free again */

static int has_ids(const sxt_live *live)
{
	return !(live->flags & SIMIDX_CREATE_NO_IDS);
}

void sxt_live_init(sxt_live *live, unsigned bits, unsigned flags, size_t max, uint64_t stream)
{
	memset(live, 0, sizeof(*live));
	live->bits = bits;
	live->flags = flags;
	live->max = max;
	sxt_rng_init(&live->rng, stream);
	sxt_rng_init(&live->asks, stream + 1);
	for (size_t i = 0; i < sizeof(live->centre) / sizeof(live->centre[0]); i++)
		live->centre[i] = sxt_rng_u64(&live->rng) >> (64 - bits);
}

void sxt_live_free(sxt_live *live)
{
	free(live->stored.at);
	free(live->now.at);
	memset(live, 0, sizeof(*live));
}

/* ---- sets of documents ---- */

static void reserve(sxt_live_set *set, size_t n)
{
	if (n <= set->cap)
		return;
	set->cap = 2 * n + 64;
	set->at = realloc(set->at, set->cap * sizeof(*set->at));
	if (!set->at)
		exit(EXIT_FAILURE);
}

static void copy(sxt_live_set *to, const sxt_live_set *from)
{
	reserve(to, from->n);
	if (from->n)
		memcpy(to->at, from->at, from->n * sizeof(*to->at));
	to->n = from->n;
	to->next_id = from->next_id;
}

/* Number of the document with an id, or n. */
static size_t find_id(const sxt_live_set *set, uint64_t id)
{
	size_t i = 0;

	while (i < set->n && set->at[i].id != id)
		i++;
	return i;
}

static size_t find_label(const sxt_live_set *set, const sxt_live_doc *like)
{
	size_t i = 0;

	while (i < set->n && (set->at[i].label_size != like->label_size ||
			      memcmp(set->at[i].label, like->label, like->label_size)))
		i++;
	return i;
}

static size_t find_fp(const sxt_live_set *set, uint64_t fp)
{
	size_t i = 0;

	while (i < set->n && set->at[i].fp != fp)
		i++;
	return i;
}

static void add(sxt_live *live, const sxt_live_doc *doc)
{
	sxt_live_set *set = &live->now;

	/* Without ids a fingerprint is there or is not. */
	if (!has_ids(live) && find_fp(set, doc->fp) < set->n)
		return;
	reserve(set, set->n + 1);
	set->at[set->n++] = *doc;
	if (has_ids(live) && doc->id >= set->next_id)
		set->next_id = doc->id + 1;
}

/* ---- random documents ---- */

uint64_t sxt_live_fp(const sxt_live *live, const sxt_live_set *set, sxt_rng *rng)
{
	uint64_t fp = live->centre[sxt_rng_below(rng, 16)];

	switch (sxt_rng_below(rng, 8)) {
	case 0: /* many documents have the same */
		return live->centre[0];
	case 1:
		return sxt_rng_below(rng, 4) ? sxt_rng_u64(rng) >> (64 - live->bits) : 0;
	case 2:
	case 3:
		if (set->n)
			fp = set->at[sxt_rng_below(rng, set->n)].fp;
		return sxt_rng_flip(rng, fp, live->bits, (unsigned)sxt_rng_below(rng, 4));
	default:
		return sxt_rng_flip(rng, fp, live->bits, (unsigned)sxt_rng_below(rng, 7));
	}
}

uint32_t sxt_live_time(sxt_rng *rng)
{
	switch (sxt_rng_below(rng, 8)) {
	case 0:
		return 0;
	case 1: /* the future, and what a signed number does not hold */
		return UINT32_MAX - (uint32_t)sxt_rng_below(rng, 2);
	default:
		return 1 + (uint32_t)sxt_rng_below(rng, 100);
	}
}

static int has_times(const sxt_live *live)
{
	return (live->flags & SIMIDX_CREATE_TIMES) != 0;
}

static int has_notes(const sxt_live *live)
{
	return (live->flags & SIMIDX_CREATE_NOTES) != 0;
}

#define MAX_NOTE 9000 /* bytes: some pages */

const void *sxt_live_note(uint32_t note, size_t *size)
{
	static unsigned char bytes[MAX_NOTE];
	sxt_rng rng;

	*size = !note ? 0 : note % 8 ? note % 60 + 1 : note % MAX_NOTE + 1;
	sxt_rng_init(&rng, note);
	for (size_t i = 0; i < *size; i++)
		bytes[i] = (unsigned char)sxt_rng_u64(&rng);
	return note ? bytes : NULL;
}

static void choose_label(sxt_live *live, sxt_live_doc *doc)
{
	memset(doc->label, 0, sizeof(doc->label));
	doc->label_size = (size_t)snprintf(doc->label, sizeof(doc->label), "label %u",
					   (unsigned)sxt_rng_below(&live->rng, LABELS * live->max));
}

static void choose_doc(sxt_live *live, sxt_live_doc *doc)
{
	memset(doc, 0, sizeof(*doc));
	doc->id = SIMIDX_NO_ID;
	doc->fp = sxt_live_fp(live, &live->now, &live->rng);
	/* Second fingerprints are near to each other where the first ones are. */
	if (live->flags & SIMIDX_CREATE_FP2)
		doc->fp2 = sxt_rng_flip(&live->rng, doc->fp * UINT64_C(0x9e3779b97f4a7c15), 64,
					(unsigned)sxt_rng_below(&live->rng, 4));
	if (has_times(live))
		doc->time = sxt_live_time(&live->rng);
	if (!has_ids(live))
		return;
	if (!sxt_rng_below(&live->rng, 4))
		doc->id = sxt_rng_below(&live->rng, live->now.next_id + 3);
	if (sxt_rng_below(&live->rng, 2))
		choose_label(live, doc);
	if (has_notes(live) && sxt_rng_below(&live->rng, 2))
		doc->note = (uint32_t)sxt_rng_below(&live->rng, 100000);
}

static simidx_doc given(const sxt_live *live, const sxt_live_doc *doc)
{
	simidx_doc d = SIMIDX_DOC_INIT;

	d.id = doc->id;
	d.fp = doc->fp;
	d.fp2 = doc->fp2;
	d.time = doc->time;
	d.flags = live->flags & SIMIDX_CREATE_FP2 ? SIMIDX_DOC_FP2 : 0;
	d.flags |= has_times(live) ? SIMIDX_DOC_TIME : 0;
	if (doc->label_size) {
		d.label = doc->label;
		d.label_size = doc->label_size;
	}
	d.note = sxt_live_note(doc->note, &d.note_size);
	return d;
}

/* ---- changes ---- */

/* Whether nobody else than number `self` has the id or label of a document. */
static int is_free(const sxt_live *live, const sxt_live_doc *doc, size_t self)
{
	const sxt_live_set *set = &live->now;
	size_t i;

	if (!has_ids(live))
		return 1;
	i = doc->id != SIMIDX_NO_ID ? find_id(set, doc->id) : set->n;
	if (i < set->n && i != self)
		return 0;
	i = doc->label_size ? find_label(set, doc) : set->n;
	return i == set->n || i == self;
}

static void put(sxt_live *live, simidx_writer *writer)
{
	sxt_live_doc doc;
	simidx_doc d;
	uint64_t id;
	int code;

	choose_doc(live, &doc);
	d = given(live, &doc);
	code = is_free(live, &doc, live->now.n) ? SIMIDX_OK : SIMIDX_E_DUPLICATE;
	if (code == SIMIDX_OK && has_ids(live) && doc.id == SIMIDX_NO_ID)
		doc.id = live->now.next_id;
	if (writer) {
		sxt_must_sx(simidx_writer_put(writer, &d, &id, &sxt_err), code);
		sxt_must_eq(id, code == SIMIDX_OK ? doc.id : SIMIDX_NO_ID);
	}
	if (code)
		return;
	add(live, &doc);
	live->changes++;
}

static void put_if_new(sxt_live *live, simidx_writer *writer)
{
	const sxt_live_doc *blocker;
	int code = SIMIDX_OK;
	simidx_match match;
	simidx_query query;
	sxt_live_doc doc;
	unsigned weighted;
	uint64_t id;
	simidx_doc d;

	choose_doc(live, &doc);
	d = given(live, &doc);
	blocker = sxt_live_choose_blocker(live, &query, doc.fp, doc.fp2, &weighted);
	if (!is_free(live, &doc, live->now.n))
		code = SIMIDX_E_DUPLICATE;
	else if (blocker)
		code = SIMIDX_E_EXISTS;
	if (has_ids(live) && doc.id == SIMIDX_NO_ID)
		doc.id = live->now.next_id;
	if (writer) {
		sxt_must_sx(simidx_writer_put_if_new(writer, &d, &query, &id, &match, &sxt_err),
			    code);
		sxt_must_eq(id, code ? SIMIDX_NO_ID : doc.id);
		sxt_must(code != SIMIDX_E_EXISTS || (sxt_live_is_doc(live, blocker, &match, 1) &&
						     match.weighted_distance == weighted));
	}
	if (code)
		return;
	add(live, &doc);
	live->changes++;
}

static void delete(sxt_live *live, simidx_writer *writer)
{
	sxt_live_set *set = &live->now;
	int by_label = (int)sxt_rng_below(&live->rng, 2), code = SIMIDX_OK;
	sxt_live_doc doc;
	size_t i;

	choose_doc(live, &doc);
	if (!doc.label_size)
		choose_label(live, &doc);
	doc.id = sxt_rng_below(&live->rng, set->next_id + 1);
	/* Mostly one that is there. */
	if (set->n && sxt_rng_below(&live->rng, 8)) {
		i = sxt_rng_below(&live->rng, set->n);
		doc = set->at[i];
		by_label = by_label && doc.label_size;
	}
	i = by_label ? find_label(set, &doc) : find_id(set, doc.id);
	if (!has_ids(live))
		code = SIMIDX_E_UNSUPPORTED;
	else if (i == set->n)
		code = SIMIDX_E_NOT_FOUND;
	if (writer && by_label)
		sxt_must_sx(simidx_writer_delete_label(writer, doc.label, doc.label_size, &sxt_err),
			    code);
	else if (writer)
		sxt_must_sx(simidx_writer_delete_id(writer, doc.id, &sxt_err), code);
	if (code)
		return;
	set->at[i] = set->at[--set->n];
	live->changes++;
}

/* A document that takes the place of another one: a new one, or that one with something changed. */
static void choose_replacement(sxt_live *live, sxt_live_doc *doc)
{
	sxt_live_set *set = &live->now;
	sxt_live_doc old;

	choose_doc(live, doc);
	if (!set->n || !sxt_rng_below(&live->rng, 8))
		return;
	old = set->at[sxt_rng_below(&live->rng, set->n)];
	switch (sxt_rng_below(&live->rng, 6)) {
	case 0: /* the fingerprint, by label where there is one */
		doc->id = old.label_size ? SIMIDX_NO_ID : old.id;
		doc->label_size = old.label_size;
		memcpy(doc->label, old.label, sizeof(old.label));
		break;
	case 1: /* the label alone */
		old.label_size = doc->label_size;
		memcpy(old.label, doc->label, sizeof(old.label));
		*doc = old;
		break;
	case 2: /* the second fingerprint, the time or the note alone */
		if (has_notes(live) && doc->fp % 3)
			old.note = doc->note;
		else if (has_times(live) && doc->fp % 2)
			old.time = doc->time;
		else
			old.fp2 = doc->fp2;
		*doc = old;
		break;
	case 3: /* nothing */
		*doc = old;
		break;
	default:
		doc->id = old.id;
	}
}

static void replace(sxt_live *live, simidx_writer *writer)
{
	sxt_live_set *set = &live->now;
	int code = SIMIDX_OK;
	uint64_t id, want;
	sxt_live_doc doc;
	simidx_doc d;
	size_t i;

	choose_replacement(live, &doc);
	d = given(live, &doc);
	i = doc.id != SIMIDX_NO_ID ? find_id(set, doc.id)
				   : doc.label_size ? find_label(set, &doc) : set->n;
	if (!has_ids(live))
		code = SIMIDX_E_UNSUPPORTED;
	else if (doc.id == SIMIDX_NO_ID && !doc.label_size)
		code = SIMIDX_E_ARG;
	else if (!is_free(live, &doc, i))
		code = SIMIDX_E_DUPLICATE;
	if (doc.id == SIMIDX_NO_ID)
		doc.id = i < set->n ? set->at[i].id : set->next_id;
	want = code ? SIMIDX_NO_ID : doc.id;
	if (writer) {
		sxt_must_sx(simidx_writer_replace(writer, &d, &id, &sxt_err), code);
		sxt_must_eq(id, want);
	}
	if (code)
		return;
	if (i < set->n)
		set->at[i] = doc;
	else
		add(live, &doc);
	live->changes++;
}

static void touch(sxt_live *live, simidx_writer *writer)
{
	sxt_live_set *set = &live->now;
	uint32_t time = sxt_live_time(&live->rng);
	uint64_t id = sxt_rng_below(&live->rng, set->next_id + 1);
	size_t i = find_id(set, id);
	int code = i < set->n ? SIMIDX_OK : SIMIDX_E_NOT_FOUND;

	if (writer)
		sxt_must_sx(simidx_writer_touch(writer, id, time, &sxt_err), code);
	if (code)
		return;
	if (set->at[i].time < time)
		set->at[i].time = time;
	live->changes++;
}

/* ---- steps ---- */

static void before_commit(sxt_live *live, simidx_writer *writer)
{
	live->commits++;
	if (live->before_commit)
		live->before_commit(live);
	if (!writer)
		return;
	sxt_must_eq(simidx_writer_pending(writer), live->changes);
	sxt_must_ok(simidx_writer_set_mark(writer, &live->commits, sizeof(live->commits),
					   &sxt_err));
}

void sxt_live_commit(sxt_live *live, simidx_writer *writer)
{
	before_commit(live, writer);
	if (writer) {
		sxt_commit(writer);
		sxt_must_eq(simidx_writer_pending(writer), 0);
	}
	copy(&live->stored, &live->now);
	live->changes = 0;
}

void sxt_live_delete_older(sxt_live *live, simidx_writer *writer)
{
	sxt_live_set *set = &live->now;
	uint32_t time = sxt_live_time(&live->rng);
	uint64_t n = 0, deleted;

	for (size_t i = 0; i < set->n; i++) {
		if (set->at[i].time && set->at[i].time < time) {
			set->at[i--] = set->at[--set->n];
			n++;
		}
	}
	before_commit(live, writer);
	if (writer) {
		sxt_must_ok(
			simidx_writer_delete_older(writer, time, NULL, NULL, &deleted, &sxt_err));
		sxt_must_eq(deleted, n);
		sxt_must_eq(simidx_writer_pending(writer), 0);
	}
	copy(&live->stored, set);
	live->changes = 0;
}

void sxt_live_roll_back(sxt_live *live)
{
	copy(&live->now, &live->stored);
	live->changes = 0;
}

enum sxt_live_step sxt_live_step(sxt_live *live, simidx_writer *writer)
{
	unsigned kind = (unsigned)sxt_rng_below(&live->rng, 100);
	/* The number of documents goes up and down. */
	unsigned puts = live->now.n < live->max / 2 ? 60 : live->now.n < live->max ? 35 : 10;

	if (kind >= 97) {
		if (writer)
			simidx_writer_rollback(writer);
		sxt_live_roll_back(live);
		return SXT_LIVE_ROLLBACK;
	}
	if (kind >= 91) {
		sxt_live_commit(live, writer);
		return SXT_LIVE_COMMIT;
	}
	if (kind < puts && kind % 3)
		put_if_new(live, writer);
	else if (kind < puts)
		put(live, writer);
	else if (has_times(live) && kind % 5 == 0)
		touch(live, writer);
	else if (kind % 2)
		delete(live, writer);
	else
		replace(live, writer);
	return SXT_LIVE_CHANGE;
}

simidx *sxt_live_make(sxt_live *live, const sxt_variant *variant, unsigned steps, uint64_t stream)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer *writer;
	simidx *index;

	o.plan = variant->plan;
	o.layout = variant->layout;
	o.flags = variant->flags;
	index = sxt_create(t_path, &o);
	sxt_live_init(live, 64, o.flags, 1600, stream);
	writer = sxt_writer(index, 0);
	for (unsigned i = 0; i < steps; i++)
		sxt_live_step(live, writer);
	sxt_live_commit(live, writer);
	simidx_writer_close(writer);
	return index;
}

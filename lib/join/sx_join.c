/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "index/sx_documents.h"
#include "kernel/sx_bits.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_pool.h"
#include "util/sx_struct.h"

#define LEAST_MEMORY ((uint64_t)16 << 20)
#define DEFAULT_MEMORY ((uint64_t)256 << 20)
#define MOST_MEMORY ((uint64_t)1 << 46)
#define TEXT_RADIUS 7
#define MANY_TEXTS 100000000 /* above, the usual radius */

/* Nanoseconds a fingerprint. */
#define COST_READ 4.0   /* from a table */
#define COST_SORT 20.0  /* for a part that no table has */

/* ---- options ---- */

/* What the machine has is enough: sorters allocate their share before they know how much comes. */
static uint64_t limit_memory(uint64_t memory)
{
	long pages = sysconf(_SC_PHYS_PAGES);
	uint64_t all = pages > 0 ? (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE) : memory;

	if (all < LEAST_MEMORY)
		all = LEAST_MEMORY;
	return memory < all ? memory : all;
}

static int read_options(sx_join *join, const simidx_join_options *given, simidx_error *err)
{
	static const simidx_join_options defaults = SIMIDX_JOIN_OPTIONS_INIT;
	simidx_join_options own;
	const simidx_join_options *o = given ? given : &defaults;

	o = sx_struct_read(o, SX_STRUCT_TO(simidx_join_options, ctx), &own, sizeof(own));
	if (!o)
		return sx_fail(err, SIMIDX_E_ARG, "the options of the join have a bad size");
	join->options = *o;
	if (o->flags & ~(SIMIDX_JOIN_TEXT | SIMIDX_JOIN_FP2 | SIMIDX_JOIN_LABELS))
		return sx_fail(err, SIMIDX_E_ARG, "unknown flags of a join: %#x", o->flags);
	if (o->memory && (o->memory < LEAST_MEMORY || o->memory > MOST_MEMORY))
		return sx_fail(err, SIMIDX_E_ARG, "a join works in 16 MiB to 64 TiB of memory");
	join->options.memory = limit_memory(o->memory ? o->memory : DEFAULT_MEMORY);
	join->options.tmpdir = o->tmpdir ? o->tmpdir : "/tmp";
	return SIMIDX_OK;
}

static const char *profile_of(const simidx *index)
{
	return index->schema->profile.text ? index->schema->profile.text : "";
}

static int check_indexes(const simidx *index, const simidx *other, simidx_error *err)
{
	int rc;

	if (!index)
		return sx_fail(err, SIMIDX_E_ARG, "there is no index to join");
	rc = sx_index_need(index, SX_HAS_TABLES, err);
	if (!rc && other)
		rc = sx_index_need(other, SX_HAS_TABLES, err);
	if (rc || !other)
		return rc;
	if (index == other)
		return sx_fail(err, SIMIDX_E_ARG,
			       "an index is not joined with itself as another one");
	if (index->schema->bits != other->schema->bits)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "fingerprints of %u bits are not joined with those of %u",
			       index->schema->bits, other->schema->bits);
	if (strcmp(profile_of(index), profile_of(other)))
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "texts become fingerprints in different ways in both indexes");
	return SIMIDX_OK;
}

/* The radii that are used, and how many threads. */
static int choose_radii(sx_join *join, simidx_error *err)
{
	const simidx_join_options *o = &join->options;
	const uint64_t tuned = sx_join_tuned(join)->many_texts;
	unsigned bits = join->input[0].index->schema->bits;
	simidx_join_info *info = &join->info;
	int has_fp2 = 1, has_triples = 1;

	info->size = sizeof(*info);
	for (unsigned i = 0; i < join->n_inputs; i++) {
		info->documents += sx_header_documents(&join->input[i].snapshot.header);
		has_fp2 &= join->input[i].index->schema->has_fp2;
		has_triples &= sx_schema_has_triples(join->input[i].index->schema);
	}
	info->radius = o->radius;
	if (o->radius == SIMIDX_JOIN_DEFAULT_RADIUS)
		info->radius = o->flags & SIMIDX_JOIN_TEXT &&
					       info->documents <= (tuned ? tuned : MANY_TEXTS)
				       ? TEXT_RADIUS
				       : SIMIDX_DEFAULT_RADIUS;
	if (info->radius > bits)
		return sx_fail(err, SIMIDX_E_RANGE, "a radius of %u for fingerprints of %u bits",
			       info->radius, bits);
	info->radius2 = SIMIDX_JOIN_NO_RADIUS2;
	if (o->flags & SIMIDX_JOIN_FP2 && has_fp2)
		info->radius2 = o->radius2 != SIMIDX_JOIN_DEFAULT_RADIUS ? o->radius2
				: has_triples ? SIMIDX_JOIN_TRIPLES_RADIUS2
					      : SIMIDX_JOIN_DEFAULT_RADIUS2;
	info->threads = sx_pool_threads(o->threads);
	return SIMIDX_OK;
}

/* ---- inputs ---- */

/* Compare where two rows are pointed to. */
static int compare_rows(const void *a, const void *b)
{
	const sx_fresh_row *x = *(const sx_fresh_row *const *)a;
	const sx_fresh_row *y = *(const sx_fresh_row *const *)b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x < y ? -1 : x > y; /* the newer one last */
}

static int compare_docs(const void *a, const void *b)
{
	const sx_join_doc *x = a, *y = b;

	if (x->fp != y->fp)
		return x->fp < y->fp ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Of the rows with one id, the last one says what has become of the document. */
static void take_rows(sx_join_input *input, const sx_fresh_row *const *order, size_t n)
{
	int has_ids = input->index->schema->has_ids;

	for (size_t i = 0; i < n; i++) {
		const sx_fresh_row *row = order[i];

		if (has_ids && i + 1 < n && order[i + 1]->id == row->id)
			continue;
		if (has_ids)
			input->touched[input->n_touched++] = row->id;
		if (!sx_fresh_is_delete(row))
			input->fresh[input->n_fresh++] = (sx_join_doc){ row->fp, row->id,
								      row->values.of[SX_FP2] };
	}
	qsort(input->fresh, input->n_fresh, sizeof(*input->fresh), compare_docs);
	if (has_ids)
		return;
	n = input->n_fresh;
	input->n_fresh = 0;
	for (size_t i = 0; i < n; i++)
		if (!i || input->fresh[i].fp != input->fresh[i - 1].fp)
			input->fresh[input->n_fresh++] = input->fresh[i];
}

static int load_fresh(sx_join_input *input, simidx_error *err)
{
	const sx_header *h = &input->snapshot.header;
	const sx_fresh_row **order;
	sx_fresh_rows rows = { 0 };
	int rc = sx_fresh_log_load(input->snapshot.txn, &input->index->fresh->log,
				   h->first_seq, h->next_seq, &rows, err);

	if (rc || !rows.n) {
		free(rows.at);
		return rc;
	}
	order = sx_realloc(NULL, rows.n, sizeof(*order));
	input->fresh = sx_realloc(NULL, rows.n, sizeof(*input->fresh));
	input->touched = sx_realloc(NULL, rows.n, sizeof(*input->touched));
	if (order && input->fresh && input->touched) {
		for (size_t i = 0; i < rows.n; i++)
			order[i] = &rows.at[i];
		qsort(order, rows.n, sizeof(*order), compare_rows);
		take_rows(input, order, rows.n);
	}
	if (!order || !input->fresh || !input->touched)
		rc = sx_fail_nomem(err);
	free(order);
	free(rows.at);
	return rc;
}

static int begin_input(sx_join_input *input, const simidx *index, int is_of_two, simidx_error *err)
{
	int rc;

	input->is_of_two = is_of_two;
	input->index = index;
	rc = sx_snapshot_begin(&input->snapshot, index, err);
	if (!rc)
		rc = load_fresh(input, err);
	return sx_join_failed(input, rc, err);
}

static void end_input(sx_join_input *input)
{
	if (input->index && !sx_store_check_fork(input->index->store, NULL))
		sx_snapshot_end(&input->snapshot);
	free(input->fresh);
	free(input->touched);
}

int sx_join_failed(const sx_join_input *input, int rc, simidx_error *err)
{
	const char *path = sx_store_path(input->index->store);
	char text[sizeof(err->text)];

	if (!rc || rc == SIMIDX_E_END || rc == SIMIDX_E_NOMEM || !input->is_of_two || !err)
		return rc;
	if (!strncmp(err->text, path, strlen(path)))
		return rc;
	memcpy(text, err->text, sizeof(text));
	err->text[0] = '\0';
	if (snprintf(err->text, sizeof(err->text), "%s: %s", path, text) < 0)
		memcpy(err->text, text, sizeof(text));
	return rc;
}

int sx_join_label(const sx_join_input *input, uint64_t id, const char **label, size_t *size,
		  simidx_error *err)
{
	const sx_snapshot *s = &input->snapshot;
	sx_slice found = { NULL, 0 };
	int rc = SIMIDX_E_NOT_FOUND;

	if (id != SIMIDX_NO_ID && s->header.labels)
		rc = sx_documents_label(s->txn, &input->index->tables, id, &found, err);
	if (!rc)
		rc = sx_documents_label_check(s, id, found, err);
	*label = rc ? NULL : found.data;
	*size = rc ? 0 : found.size;
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : sx_join_failed(input, rc, err);
}

uint64_t sx_join_rows(const sx_join_input *input)
{
	return input->snapshot.header.table[0].rows + input->n_fresh;
}

/* ---- method: parts ---- */

static int by_width(const void *a, const void *b)
{
	const sx_join_part *x = a, *y = b;

	if (x->is_stored != y->is_stored)
		return x->is_stored - y->is_stored;
	if (x->width != y->width)
		return x->width < y->width ? -1 : 1;
	/* A table has the highest of the other bits next. The part of the highest is done first,
	   and its pairs must differ in all later ones. */
	return x->mask > y->mask ? -1 : x->mask < y->mask;
}

/*
 * Cut the widest parts in halves until there are enough. Returns 0, or -1 where bits are too few.
 */
static int cut_halves(uint64_t *mask, unsigned *n, unsigned want)
{
	while (*n < want) {
		unsigned widest = 0, width;
		uint64_t low = 0, rest;

		for (unsigned i = 1; i < *n; i++)
			if (sx_count_plain(mask[i]) > sx_count_plain(mask[widest]))
				widest = i;
		width = sx_count_plain(mask[widest]);
		if (width < 2)
			return -1;
		rest = mask[widest];
		for (unsigned i = 0; i < width / 2; i++, rest &= rest - 1)
			low |= rest & -rest;
		mask[widest] &= ~low;
		mask[(*n)++] = low;
	}
	return 0;
}

/* The different leads of a plan's tables, of each the first. */
static unsigned leads_of(const sx_plan *plan, uint64_t *mask)
{
	unsigned n = 0;

	for (unsigned t = 0; t < plan->n_tables && n < SX_JOIN_MAX_PARTS; t++) {
		unsigned i = 0;

		while (i < n && mask[i] != plan->table[t].lead[0])
			i++;
		if (i == n)
			mask[n++] = plan->table[t].lead[0];
	}
	return n;
}

/* An order in which the part comes first. */
static void choose_order(sx_join_part *part, const sx_plan *plan)
{
	for (unsigned t = 0; t < plan->n_tables; t++) {
		if (sx_perm_leading_mask(&plan->table[t], part->width) != part->mask)
			continue;
		part->perm = plan->table[t];
		part->is_stored = 1;
		return;
	}
	/* It cannot fail: the part is a mask of 1 to 32 of the f bits. */
	sx_perm_init(&part->perm, plan->bits, &part->mask, 1);
}

unsigned sx_join_cut(const sx_plan *plan, unsigned k, int by_leads,
		     sx_join_part parts[SX_JOIN_MAX_PARTS])
{
	uint64_t mask[SX_JOIN_MAX_PARTS];
	sx_join_part all[SX_JOIN_MAX_PARTS];
	unsigned n, want = k + 1;
	sx_plan four;

	/* It is known and possible for every f. */
	sx_plan_make(&four, "4x16", plan->bits, NULL);
	n = leads_of(by_leads ? plan : &four, mask);
	memset(all, 0, sizeof(all));
	if (cut_halves(mask, &n, want))
		return 0;
	for (unsigned i = 0; i < n; i++) {
		all[i].mask = mask[i];
		all[i].width = sx_count_plain(mask[i]);
		if (all[i].width > SX_MAX_PREFIX_BITS)
			return 0;
		choose_order(&all[i], plan);
	}
	qsort(all, n, sizeof(*all), by_width);
	memcpy(parts, all + n - want, want * sizeof(*parts));
	return want;
}

sx_join_constraint sx_join_constraint_of(const sx_join_part *parts, unsigned n, unsigned p,
					 unsigned k)
{
	const sx_join_part *part = &parts[p];
	sx_join_constraint constraint = { .bits = part->perm.bits, .k = k };

	constraint.agreed = sx_low_bits(part->width) << (constraint.bits - part->width);
	for (unsigned i = p + 1; i < n; i++)
		constraint.must[constraint.n_must++] = sx_permute(&part->perm, parts[i].mask);
	return constraint;
}

/* ---- method: the choice ---- */

/* The plan by which parts are cut: that of the larger index, whose tables have them in order. */
static const sx_plan *plan_of(const sx_join *join)
{
	const sx_join_input *in = join->input;
	int second = join->n_inputs == 2 && sx_join_rows(&in[1]) > sx_join_rows(&in[0]);

	return &in[second].index->schema->plan;
}

/* Cut into parts, and say how long n fingerprints take: below 0 = they cannot be cut like this. */
static void cut_parts(const sx_join *join, int by_leads, double n, sx_join_method *m)
{
	unsigned k = join->info.radius;
	double cost;

	m->n_parts = sx_join_cut(plan_of(join), k, by_leads, m->part);
	cost = m->n_parts ? 0 : -1;
	for (unsigned p = 0; p < m->n_parts; p++) {
		sx_join_constraint c = sx_join_constraint_of(m->part, m->n_parts, p, k);
		double buckets = (double)(UINT64_C(1) << m->part[p].width);

		cost += buckets * sx_join_set_cost(sx_join_kernel(join), &c, (size_t)(n / buckets));
		cost += n * (m->part[p].is_stored ? COST_READ : COST_READ + COST_SORT);
	}
	m->seconds = cost / 1e9;
}

/* What takes least time for as many fingerprints as there are. */
static void choose_method(sx_join *join)
{
	const sx_join_tuning *tuning = sx_join_tuned(join);
	unsigned bits = join->input[0].index->schema->bits, k = join->info.radius;
	sx_join_constraint all = { .bits = bits, .k = 1, .agreed = UINT64_MAX };
	sx_join_method *m = &join->method, leads = { 0 };
	double n = 0, scan;

	if (!k)
		return;
	for (unsigned i = 0; i < join->n_inputs; i++)
		n += (double)sx_join_rows(&join->input[i]);
	/* What 2^20 are compared for, times as often. */
	scan = n * n / 2 * sx_join_set_cost(sx_join_kernel(join), &all, 1 << 20) / 549755813888e9;
	m->scans = k > SX_JOIN_MAX_RADIUS || k >= bits;
	if (!m->scans) {
		cut_parts(join, 0, n, m);
		cut_parts(join, 1, n, &leads);
		if (leads.n_parts && (tuning->cut ? tuning->cut == 1 : leads.seconds < m->seconds))
			*m = leads;
		m->scans = tuning->method ? tuning->method == 2 : scan < m->seconds;
	}
	if (m->scans)
		m->seconds = scan;
}

/* ---- a join ---- */

int sx_join_begin(sx_join *join, const simidx *index, const simidx *other,
		  const simidx_join_options *options, simidx_error *err)
{
	const simidx_join_options *o = &join->options;
	int rc = read_options(join, options, err);

	if (!rc)
		rc = check_indexes(index, other, err);
	if (rc)
		return rc;
	join->n_inputs = other ? 2 : 1;
	for (unsigned i = 0; !rc && i < join->n_inputs; i++)
		rc = begin_input(&join->input[i], i ? other : index, other != NULL, err);
	if (!rc)
		rc = choose_radii(join, err);
	if (rc)
		return rc;
	choose_method(join);
	join->info.method = join->method.scans ? SIMIDX_JOIN_SCAN : SIMIDX_JOIN_BLOCKS;
	join->info.seconds = join->method.seconds;
	return o->planned && o->planned(o->ctx, &join->info) ? sx_join_stopped(err) : SIMIDX_OK;
}

void sx_join_end(sx_join *join)
{
	end_input(&join->input[0]);
	end_input(&join->input[1]);
}

int sx_join_stopped(simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_STOPPED, "stopped by the caller");
}

int sx_join_ask(const sx_join *join, simidx_error *err)
{
	const simidx_join_options *o = &join->options;

	return o->stop && o->stop(o->ctx) ? sx_join_stopped(err) : SIMIDX_OK;
}

int sx_join_tell(const sx_join *join, const char *phase, uint64_t done, uint64_t total,
		 simidx_error *err)
{
	const simidx_join_options *o = &join->options;

	if (o->progress)
		o->progress(o->ctx, phase, done < total ? done : total, total);
	return sx_join_ask(join, err);
}

int sx_join_found(const sx_join *join, simidx_error *err)
{
	const simidx_join_options *o = &join->options;

	return o->found && o->found(o->ctx, &join->info) ? sx_join_stopped(err) : SIMIDX_OK;
}

int sx_join_sorter(const sx_join *join, unsigned words, unsigned keys, sx_sorter **out,
		   simidx_error *err)
{
	const simidx_join_options *o = &join->options;

	return sx_sorter_new(words, keys, 0, (size_t)o->memory / 4, o->tmpdir, out, err);
}

int sx_join_sorted(const sx_join *join, sx_sorter *sorter, simidx_error *err)
{
	return sx_sorter_finish(sorter, (size_t)join->options.memory / 4, err);
}

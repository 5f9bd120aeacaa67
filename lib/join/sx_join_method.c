/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_method.h"

#include <stdlib.h>
#include <string.h>

#include "kernel/sx_bits.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

/* Nanoseconds a fingerprint. */
#define COST_READ 4.0   /* from a table */
#define COST_SORT 20.0  /* for a part that no table has */

/* ---- parts ---- */

static int by_width(const void *a, const void *b)
{
	const sx_join_part *x = a, *y = b;

	if (x->is_stored != y->is_stored)
		return x->is_stored - y->is_stored;
	if (x->width != y->width)
		return x->width < y->width ? -1 : 1;
	/* Each table has the highest of the other bits next: the pairs of those are found last. */
	return x->mask > y->mask ? -1 : x->mask < y->mask;
}

/* Cut the widest parts in halves until there are enough. Returns 0, or -1 where bits are too few. */
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

/* ---- the choice ---- */

int sx_join_ask(const sx_join_task *task, simidx_error *err)
{
	if (task->stop && task->stop(task->ctx))
		return sx_fail(err, SIMIDX_E_STOPPED, "stopped by the caller");
	return SIMIDX_OK;
}

const sx_kernel *sx_join_kernel(const sx_join_task *task)
{
	return task->input[0].index->kernel;
}

uint64_t sx_join_rows(const sx_join_input *input)
{
	return sx_join_input_snapshot(input)->header.table[0].rows + input->n_fresh;
}

const sx_plan *sx_join_plan(const sx_join_task *task)
{
	int second = task->n_inputs == 2 && sx_join_rows(&task->input[1]) > sx_join_rows(&task->input[0]);

	return &task->input[second].index->schema->plan;
}

/* Nanoseconds that n fingerprints take, part by part; below 0 = they cannot be cut like this. */
static double cost_of_parts(const sx_join_task *task, int by_leads, double n)
{
	sx_join_part parts[SX_JOIN_MAX_PARTS];
	unsigned n_parts = sx_join_cut(sx_join_plan(task), task->k, by_leads, parts);
	double cost = n_parts ? 0 : -1;

	for (unsigned p = 0; p < n_parts; p++) {
		sx_join_constraint constraint = sx_join_constraint_of(parts, n_parts, p, task->k);
		double buckets = (double)(UINT64_C(1) << parts[p].width);

		cost += buckets * sx_join_set_cost(sx_join_kernel(task), &constraint, (size_t)(n / buckets));
		cost += n * (parts[p].is_stored ? COST_READ : COST_READ + COST_SORT);
	}
	return cost;
}

sx_join_method sx_join_choose(const sx_join_task *task)
{
	sx_join_constraint all = { .bits = task->input[0].index->schema->bits, .k = 1 };
	const sx_join_tuning *tuning = sx_join_tuned(task);
	double n = 0, scan, blocks, leads;
	int by_leads;

	for (unsigned s = 0; s < task->n_inputs; s++)
		n += (double)sx_join_rows(&task->input[s]);
	/* What 2^20 are compared for, times as often. */
	all.agreed = UINT64_MAX;
	scan = n * n / 2 * sx_join_set_cost(sx_join_kernel(task), &all, 1 << 20) / 549755813888.0;
	if (!task->k)
		return (sx_join_method){ 0, 0, 0 };
	if (task->k > SX_JOIN_MAX_RADIUS || task->k >= all.bits)
		return (sx_join_method){ 1, 0, scan / 1e9 };
	blocks = cost_of_parts(task, 0, n);
	leads = cost_of_parts(task, 1, n);
	by_leads = leads >= 0 && (tuning->cut ? tuning->cut == 1 : leads < blocks);
	blocks = by_leads ? leads : blocks;
	if (tuning->method ? tuning->method == 2 : scan < blocks)
		return (sx_join_method){ 1, 0, scan / 1e9 };
	return (sx_join_method){ 0, by_leads, blocks / 1e9 };
}

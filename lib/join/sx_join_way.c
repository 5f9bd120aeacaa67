/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "join/sx_join_way.h"

#include "util/sx_err.h"

/* Nanoseconds a fingerprint. */
#define COST_READ 4.0   /* from a table */
#define COST_SORT 20.0  /* for a part that no table has */

int sx_join_ask(const sx_join_task *task, simidx_error *err)
{
	if (task->stop && task->stop(task->ctx))
		return sx_fail(err, SIMIDX_E_STOPPED, "stopped by the caller");
	return SIMIDX_OK;
}

const sx_kernel *sx_join_kernel(const sx_join_task *task)
{
	return task->side[0].index->kernel;
}

uint64_t sx_join_rows(const sx_join_side *side)
{
	return sx_join_side_snapshot(side)->header.table[0].rows + side->n_fresh;
}

const sx_plan *sx_join_plan(const sx_join_task *task)
{
	int second = task->n_sides == 2 && sx_join_rows(&task->side[1]) > sx_join_rows(&task->side[0]);

	return &task->side[second].index->schema->plan;
}

/* Nanoseconds that n fingerprints take, part by part; below 0 = they cannot be cut like this. */
static double cost_of_parts(const sx_join_task *task, int by_leads, double n)
{
	sx_join_part parts[SX_JOIN_MAX_PARTS];
	unsigned n_parts = sx_join_cut(sx_join_plan(task), task->k, by_leads, parts);
	double cost = n_parts ? 0 : -1;

	for (unsigned p = 0; p < n_parts; p++) {
		sx_join_shape shape = sx_join_shape_of(parts, n_parts, p, task->k);
		double buckets = (double)(UINT64_C(1) << parts[p].width);

		cost += buckets * sx_join_set_cost(sx_join_kernel(task), &shape, (size_t)(n / buckets));
		cost += n * (parts[p].is_stored ? COST_READ : COST_READ + COST_SORT);
	}
	return cost;
}

sx_join_way sx_join_choose(const sx_join_task *task)
{
	sx_join_shape all = { .bits = task->side[0].index->schema->bits, .k = 1 };
	const sx_join_tuning *tuning = sx_join_tuned(task);
	double n = 0, scan, blocks, leads;
	int by_leads;

	for (unsigned s = 0; s < task->n_sides; s++)
		n += (double)sx_join_rows(&task->side[s]);
	/* What 2^20 are compared for, times as often. */
	all.agreed = UINT64_MAX;
	scan = n * n / 2 * sx_join_set_cost(sx_join_kernel(task), &all, 1 << 20) / 549755813888.0;
	if (!task->k)
		return (sx_join_way){ 0, 0, 0 };
	if (task->k > SX_JOIN_MAX_RADIUS || task->k >= all.bits)
		return (sx_join_way){ 1, 0, scan / 1e9 };
	blocks = cost_of_parts(task, 0, n);
	leads = cost_of_parts(task, 1, n);
	by_leads = leads >= 0 && (tuning->cut ? tuning->cut == 1 : leads < blocks);
	blocks = by_leads ? leads : blocks;
	if (tuning->method ? tuning->method == 2 : scan < blocks)
		return (sx_join_way){ 1, 0, scan / 1e9 };
	return (sx_join_way){ 0, by_leads, blocks / 1e9 };
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is known of a plan without an index: sizes and speeds to expect, and prefixes.
 */

#include <string.h>

#include <simidx_info.h>

#include "plan/sx_planner.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

#define FILL 90

/* Bytes that the largest of the ids 0..documents takes. */
static unsigned id_bytes(uint64_t documents)
{
	unsigned n = 1;

	while (n < 8 && documents >> (8 * n))
		n++;
	return n;
}

/* Of postings a fingerprint and an id, of docs an id of a third of a byte and a fingerprint. */
static double other_bytes(unsigned bits, uint64_t documents)
{
	double docs = (bits + 7) / 8 + 0.35;

	return sx_costs_row_bytes(bits, documents, FILL) +
	       (id_bytes(documents) + docs) * 100.0 / FILL;
}

int simidx_plan_predict(unsigned i, unsigned bits, uint64_t documents, unsigned radius,
			simidx_prediction *out, simidx_error *err)
{
	simidx_prediction own, *to;
	sx_prediction p;
	sx_plan plan;
	int rc;

	sx_err_clear(err);
	to = sx_struct_begin(out, sizeof(size_t), &own, sizeof(own));
	if (!to)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_plan_predict: out: bad struct size");
	if (radius > bits)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_plan_predict: radius %u: fingerprints have %u bits", radius,
			       bits);
	if (!sx_plan_name(i))
		return sx_fail(err, SIMIDX_E_END, "there are no more plans");
	rc = sx_plan_make(&plan, sx_plan_name(i), bits, err);
	if (rc)
		return rc;
	sx_planner_predict(&plan, documents, radius, FILL, &p);
	to->plan = sx_plan_name(i);
	to->n_tables = plan.n_tables;
	to->is_auto = strcmp(to->plan, sx_plan_auto(documents)) == 0;
	to->table_bytes = p.document_bytes;
	to->bytes = p.document_bytes + other_bytes(bits, documents);
	to->probes = (double)p.cover.probes;
	to->candidates = (double)p.cover.candidates;
	to->microseconds = p.cover.ns / 1000;
	sx_struct_end(out, to, sizeof(*to));
	return SIMIDX_OK;
}

int simidx_plan_prefixes(const char *name, unsigned bits, const uint64_t *fp, size_t n,
			 uint32_t *prefix, size_t room, unsigned *n_tables, simidx_error *err)
{
	sx_plan plan;
	int rc;

	sx_err_clear(err);
	if (n_tables)
		*n_tables = 0;
	if (!name || (n && (!fp || !prefix)))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_plan_prefixes: a pointer is NULL");
	if (!strcmp(name, "auto"))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_plan_prefixes: \"auto\" is no certain "
						  "plan");
	rc = sx_plan_make(&plan, name, bits, err);
	if (rc)
		return rc;
	if (n_tables)
		*n_tables = plan.n_tables;
	if (room / plan.n_tables < n)
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_plan_prefixes: no room for %u prefixes of each of %zu "
			       "fingerprints",
			       plan.n_tables, n);
	for (size_t i = 0; i < n; i++)
		if (fp[i] & ~sx_low_bits(bits))
			return sx_fail(err, SIMIDX_E_RANGE, "fingerprint %zu has more than %u bits",
				       i, bits);
	for (size_t i = 0; i < n; i++)
		sx_plan_prefixes(&plan, fp[i], prefix + i * plan.n_tables);
	return SIMIDX_OK;
}

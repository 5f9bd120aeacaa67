/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What an index of some size would be like, for choosing its plan.
 */

#include <simidx_admin.h>

#include "plan/sx_planner.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

#define FILL 90

/* Bytes that the largest of so many ids takes. */
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
	to->table_bytes = p.document_bytes;
	to->bytes = p.document_bytes + other_bytes(bits, documents);
	to->probes = (double)p.cover.probes;
	to->candidates = (double)p.cover.candidates;
	to->microseconds = p.cover.ns / 1000;
	sx_struct_end(out, to, sizeof(*to));
	return SIMIDX_OK;
}

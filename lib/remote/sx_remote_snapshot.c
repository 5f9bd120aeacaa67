/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_snapshot.h"

#include <string.h>

#define MAX_AGE 1.0 /* seconds, of what an engine says of itself */

/*
 * The planner thinks of no fewer rows: an engine may know of fewer documents than it has, and a
 * walk over very many would cost far more than probes of a few.
 */
#define LEAST_ROWS 10000

/* All its documents are in the tables. */
static int ask(sx_snapshot *s, double max_age, simidx_error *err)
{
	simidx_engine_info info;
	sx_header *h = &s->header;
	int rc = sx_engine_info(s->index->engine, max_age, &info, err);

	if (rc)
		return rc;
	memset(h, 0, sizeof(*h));
	h->documents = info.documents;
	h->labels = info.labels;
	h->next_id = info.next_id;
	for (unsigned t = 0; t < s->index->schema->plan.n_tables; t++)
		h->table[t].rows = info.documents > LEAST_ROWS ? info.documents : LEAST_ROWS;
	for (unsigned i = 0; i < SX_COUNT_OTHERS; i++)
		h->other[i].rows = info.documents;
	s->id = 1;
	return SIMIDX_OK;
}

static int begin(sx_snapshot *s, simidx_error *err)
{
	return ask(s, MAX_AGE, err);
}

static int begin_write(sx_snapshot *s, int no_meta_sync, simidx_error *err)
{
	(void)no_meta_sync; /* the batch says how it is stored */
	return ask(s, 0, err);
}

const sx_backend_snapshot sx_remote_snapshot = { begin, begin, begin_write };

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_local.h"

#include "index/sx_verify.h"
#include "local/sx_local_batch.h"
#include "local/sx_local_find.h"
#include "local/sx_local_info.h"
#include "local/sx_local_reader.h"
#include "local/sx_local_walk.h"
#include "local/sx_local_writer.h"

static int check(const simidx *index, unsigned flags,
		 void (*problem)(void *ctx, const simidx_problem *problem), void *ctx,
		 simidx_verify_report *out, simidx_error *err)
{
	(void)flags; /* it mends nothing */
	return sx_verify(index, problem, ctx, out, err);
}

const sx_backend sx_local_backend = {
	.capabilities = SX_HAS_TABLES,
	.scan = "scan of t01",
	.nearest_step = 1,
	.place = &sx_local_info,
	.snapshot = &sx_local_snapshot,
	.bulk = &sx_local_bulk,
	.document = &sx_local_find,
	.writer = &sx_local_writer,
	.walk = &sx_local_walks,
	.search_new = sx_local_search_new,
	.search_free = sx_local_search_free,
	.near = sx_local_near,
	.documents = sx_local_documents,
	.labels = sx_local_labels,
	.check = check,
};

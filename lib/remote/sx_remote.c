/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote.h"

#include "remote/sx_remote_batch.h"
#include "remote/sx_remote_check.h"
#include "remote/sx_remote_documents.h"
#include "remote/sx_remote_find.h"
#include "remote/sx_remote_info.h"
#include "remote/sx_remote_snapshot.h"
#include "remote/sx_remote_walk.h"
#include "remote/sx_remote_writer.h"

/* A wait for an answer costs more than the probes of some bits more. */
#define NEAREST_STEP 4

const sx_backend sx_remote_backend = {
	.capabilities = SX_CAN_MEND,
	.scan = "walk over all documents",
	.nearest_step = NEAREST_STEP,
	.place = &sx_remote_info,
	.snapshot = &sx_remote_snapshot,
	.bulk = &sx_remote_bulk,
	.document = &sx_remote_find,
	.writer = &sx_remote_writer,
	.walk = &sx_remote_walks,
	.search_new = sx_remote_search_new,
	.search_free = sx_remote_search_free,
	.near = sx_remote_near,
	.documents = sx_remote_documents,
	.labels = sx_remote_labels,
	.check = sx_remote_check,
};

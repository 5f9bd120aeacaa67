/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_walk.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_err.h"

int simidx_walk_open(simidx *index, simidx_walk **out, simidx_error *err)
{
	simidx_walk *w;
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_walk_open: out is NULL");
	*out = NULL;
	if (!index)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_walk_open: index is NULL");
	w = sx_calloc(1, sizeof(*w));
	if (!w)
		return sx_fail_nomem(err);
	w->index = index;
	rc = index->backend->walk->open(index, &w->walk, err);
	if (rc)
		free(w);
	else
		*out = w;
	return rc;
}

void simidx_walk_close(simidx_walk *w)
{
	if (!w)
		return;
	w->index->backend->walk->close(w->walk);
	free(w);
}

int simidx_walk_note(simidx_walk *w, const void **note, size_t *size, simidx_error *err)
{
	sx_slice found = { NULL, 0 };
	int rc;

	sx_err_clear(err);
	if (note)
		*note = NULL;
	if (size)
		*size = 0;
	if (!w || !note || !size)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_walk_note: walk, note or size is NULL");
	rc = sx_index_check_fork(w->index, err);
	if (!rc && !w->index->schema->has_notes)
		rc = sx_fail(err, SIMIDX_E_MISMATCH, "the index keeps no notes");
	if (!rc)
		rc = w->index->backend->walk->note(w->walk, &found, err);
	if (rc)
		return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
	*note = found.data;
	*size = found.size;
	return SIMIDX_OK;
}

int simidx_walk_next(simidx_walk *w, simidx_match *out, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (out)
		memset(out, 0, sizeof(*out));
	if (!w || !out)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_walk_next: walk or out is NULL");
	rc = sx_index_check_fork(w->index, err);
	if (!rc)
		rc = w->index->backend->walk->next(w->walk, out, err);
	return rc == SIMIDX_E_END ? sx_fail(err, rc, "there are no more documents") : rc;
}

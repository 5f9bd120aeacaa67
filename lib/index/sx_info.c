/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <simidx_info.h>
#include <simidx_write.h>

#include "index/sx_info.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

void sx_info_describe(const simidx *index, const sx_header *h, simidx_info *out)
{
	out->bits = index->schema->bits;
	out->layout = index->schema->layout;
	out->flags = index->schema->flags;
	out->fill = index->schema->fill;
	out->n_tables = index->schema->plan.n_tables;
	out->format_major = index->schema->format_major;
	out->format_minor = index->schema->format_minor;
	out->plan = index->schema->plan.name;
	out->profile = index->schema->profile.text;
	out->check_fps = index->schema->profile.check_fps;
	out->n_check_fps = index->schema->profile.n_check_fps;
	out->distinct = h->table[0].rows;
	out->fresh_rows = h->next_seq - h->first_seq;
	out->documents = sx_header_documents(h);
	out->next_id = index->schema->has_ids ? h->next_id : SIMIDX_NO_ID;
	out->labels = h->labels;
	out->notes = h->notes;
	out->rejudges = out->reserved = 0;
	out->durability = NULL;
	/* Each that is put adds a row and a document; a deletion adds a row and takes one away. */
	out->puts = index->schema->has_ids ? h->next_seq + h->documents : UINT64_MAX;
}

int simidx_get_info(simidx *index, simidx_info *out, simidx_error *err)
{
	simidx_info own, *info;
	int rc;

	sx_err_clear(err);
	info = sx_struct_begin(out, sizeof(size_t), &own, sizeof(own));
	if (!index || !info)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_get_info: bad index or struct size");
	rc = index->backend->place->info(index, info, err);
	sx_struct_end(out, info, sizeof(*info));
	return rc;
}

/* ---- the mark ---- */

int simidx_get_mark(simidx *index, void *buffer, size_t size, size_t *n, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (n)
		*n = 0;
	if (!index || !n || (!buffer && size))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_get_mark: index, buffer or n is NULL");
	rc = index->backend->place->get_mark(index, buffer, size, n, err);
	return rc == SIMIDX_E_NOT_FOUND ? sx_fail(err, rc, "no mark is stored") : rc;
}

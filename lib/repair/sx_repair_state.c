/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "repair/sx_repair_state.h"

#include <stdarg.h>
#include <stdio.h>

#include "util/sx_err.h"

#define PROGRESS_READ 4096

void sx_repair_tell(sx_repair *r, simidx_loss *loss, const char *format, ...)
{
	uint64_t *const counts[] = { [SIMIDX_LOSS_DAMAGE] = &r->report.damaged,
				     [SIMIDX_LOSS_DOCUMENT] = &r->report.named,
				     [SIMIDX_LOSS_FP2] = &r->report.unknown_fp2,
				     [SIMIDX_LOSS_LABEL] = &r->report.labels_lost,
				     [SIMIDX_LOSS_DOUBT] = &r->report.doubts,
				     [SIMIDX_LOSS_RECORD] = &r->report.records_lost,
				     [SIMIDX_LOSS_CHANGES] = &r->report.changes_lost,
				     [SIMIDX_LOSS_TIME] = &r->report.times_lost,
				     [SIMIDX_LOSS_NOTE] = &r->report.notes_lost };
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	loss->text = text;
	loss->bits = sx_repair_header(r)->bits;
	++*counts[loss->kind];
	if (r->callback)
		r->callback(r->ctx, loss);
}

void sx_repair_tell_damage(sx_repair *r, const char *table, const char *text)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_DAMAGE, .table = table, .id = SIMIDX_NO_ID };

	sx_repair_tell(r, &loss, "%s", text);
}

void sx_repair_tell_record(sx_repair *r, const char *text)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_RECORD, .table = "meta", .id = SIMIDX_NO_ID };

	sx_repair_tell(r, &loss, "%s", text);
}

void sx_repair_free_sorters(sx_repair *r)
{
	sx_sorter_free(r->documents);
	sx_sorter_free(r->labels);
	sx_sorter_free(r->hashes);
	sx_sorter_free(r->fingerprints);
	sx_sorter_free(r->changes);
	sx_spill_free(r->label_bytes);
	r->documents = r->labels = r->hashes = r->fingerprints = r->changes = NULL;
	r->label_bytes = NULL;
}

int sx_repair_progress(sx_repair *r, const char *phase)
{
	const simidx_repair_options *o = r->options;

	if (++r->read % PROGRESS_READ)
		return SIMIDX_OK;
	if (o->progress)
		o->progress(o->ctx, phase, r->read, 0);
	if (o->stop && o->stop(o->ctx))
		return sx_fail(r->err, SIMIDX_E_STOPPED, "stopped; nothing was made");
	return SIMIDX_OK;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "repair/sx_repair_fingerprints.h"

#include "repair/sx_repair_gather.h"

/* The next fingerprint that a table has; NULL after the last one. */
static int next(sx_repair *r, const uint64_t **fp)
{
	int rc = sx_sorter_next(r->fingerprints, fp, r->err);

	if (rc)
		*fp = NULL;
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

int sx_repair_put_fingerprints(sx_repair *r)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_DOUBT, .id = SIMIDX_NO_ID,
			     .flags = SIMIDX_LOSS_HAS_FP };
	uint64_t distinct = 0, expected = r->is_header_old ? 0 : sx_repair_header(r)->table[0].rows;
	simidx_doc doc = SIMIDX_DOC_INIT;
	const uint64_t *fp = NULL;
	unsigned times;
	int rc = sx_repair_gather_fingerprints(r);

	if (!rc)
		rc = simidx_loader_expect(r->loader, sx_sorter_count(r->fingerprints) / r->n_joined,
					  0, r->err);
	if (!rc)
		rc = next(r, &fp);
	while (!rc && fp) {
		doc.fp = loss.fp = fp[0];
		for (times = 0; !rc && fp && fp[0] == doc.fp; times++)
			rc = next(r, &fp);
		distinct++;
		/*
		 * Rows of these tables have no checksum, and one that has changed is in one alone.
		 */
		if (times == 1 && r->n_joined > 1 &&
		    sx_repair_old(r)->schema->layout == SIMIDX_LAYOUT_ROWS)
			sx_repair_tell(r, &loss,
				       "one table alone has this fingerprint; it is kept");
		if (!rc)
			rc = simidx_loader_put(r->loader, &doc, NULL, r->err);
		if (!rc)
			rc = sx_repair_progress(r, "joining");
	}
	if (r->n_joined > 1 && expected > distinct)
		r->report.documents_lost = expected - distinct;
	return rc ? rc : sx_repair_put_fresh(r);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_row.h"

#include <string.h>

int in_sketch_row(const struct in_row *row, unsigned bits, simidx_text *text,
		  unsigned flags, simidx_sketch *out, simidx_error *err)
{
	memset(out, 0, sizeof(*out));
	out->size = sizeof(*out);
	switch (row->kind) {
	case IN_TEXT:
		return simidx_text_fingerprint(text, row->text, row->text_size, flags, out, err);
	case IN_FEATURES:
		return simidx_sketch_make(row->features, row->n_features, bits, flags, out,
					    err);
	default:
		out->fp = row->fp;
		out->fp2 = row->fp2;
		return SIMIDX_OK;
	}
}

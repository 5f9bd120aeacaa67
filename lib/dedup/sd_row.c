/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_row.h"

#include <stdlib.h>
#include <string.h>

static size_t features_bytes(const simidx_dedup_row *row)
{
	return row->n_features * sizeof(*row->features);
}

size_t sd_row_bytes(const simidx_dedup_row *row)
{
	return features_bytes(row) + row->text_size + row->label_size + row->extra_size;
}

static const void *copy(char **to, const void *bytes, size_t size)
{
	char *at = *to;

	if (size)
		memcpy(at, bytes, size);
	*to += size;
	return at;
}

char *sd_row_copy(simidx_dedup_row *to, const simidx_dedup_row *from)
{
	char *bytes = malloc(sd_row_bytes(from) + 1), *at = bytes;

	if (!bytes)
		return NULL;
	*to = *from;
	/* First, as what malloc() gives is aligned, and features are 16 bytes long. */
	to->features = copy(&at, from->features, features_bytes(from));
	to->extra = copy(&at, from->extra, from->extra_size);
	to->text = copy(&at, from->text, from->text_size);
	to->label = copy(&at, from->label, from->label_size);
	return bytes;
}

int sd_row_sketch_bytes(const simidx_dedup_row *row, unsigned flags, simidx_sketch *sketch,
			simidx_error *err)
{
	const simidx_feature all = { simidx_feature_hash(row->text, row->text_size), 1, 0 };

	return simidx_sketch_make(&all, 1, SIMIDX_DEFAULT_BITS, flags, sketch, err);
}

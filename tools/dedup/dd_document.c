/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_document.h"

#include <stdlib.h>
#include <string.h>

static size_t features_bytes(const struct dd_document *document)
{
	return document->n_features * sizeof(*document->features);
}

size_t dd_document_bytes(const struct dd_document *document)
{
	return features_bytes(document) + document->text_size + document->label_size +
	       document->kept_size;
}

static const char *copy(char **to, const char *bytes, size_t size)
{
	char *at = *to;

	if (size)
		memcpy(at, bytes, size);
	*to += size;
	return at;
}

char *dd_document_copy(struct dd_document *to, const struct dd_document *from)
{
	char *bytes = malloc(dd_document_bytes(from) + 1), *at = bytes;

	if (!bytes)
		return NULL;
	*to = *from;
	/* First, as what malloc() gives is aligned. */
	to->features = (const void *)copy(&at, (const void *)from->features, features_bytes(from));
	to->text = copy(&at, from->text, from->text_size);
	to->label = copy(&at, from->label, from->label_size);
	to->kept = copy(&at, from->kept, from->kept_size);
	return bytes;
}

int dd_document_sketch_bytes(const struct dd_document *document, unsigned flags,
			     simidx_sketch *sketch, simidx_error *err)
{
	const simidx_feature all = { simidx_feature_hash(document->text, document->text_size), 1,
				     0 };

	return simidx_sketch_make(&all, 1, SIMIDX_DEFAULT_BITS, flags, sketch, err);
}

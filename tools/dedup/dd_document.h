/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A document of the inputs.
 */

#ifndef DD_DOCUMENT_H
#define DD_DOCUMENT_H

#include <simidx_sketch.h>

#include "dedup/dd_texts.h"

/** A document, with what is needed of it until it is decided. */
struct dd_document {
	uint64_t number;       /* among all documents, from 1 */
	uint32_t file;         /* as dd_files_meet() numbers it */
	uint64_t line;         /* 0 = it is the whole file */
	struct dd_place place; /* of its text */
	uint64_t fp;           /* if it is a bare one */
	const simidx_feature *features;
	size_t n_features;
	const char *text, *label, *kept; /* kept: its line as it came */
	size_t text_size, label_size, kept_size;
	/* set when it is decided: it has no bytes or features, and nothing can be near to it */
	int is_empty;
};

/** Bytes that it points to. */
size_t dd_document_bytes(const struct dd_document *document);

/**
 * Copy a document with all that it points to.
 *
 * @return what the copy points to, for the caller to free; NULL: out of memory
 */
char *dd_document_copy(struct dd_document *to, const struct dd_document *from);

/**
 * Make the sketch of a text without words. All its bytes are one feature: it is near to the same
 * bytes alone. Returns what simidx_sketch_make() does.
 */
int dd_document_sketch_bytes(const struct dd_document *document, unsigned flags,
			     simidx_sketch *sketch, simidx_error *err);

#endif /* DD_DOCUMENT_H */

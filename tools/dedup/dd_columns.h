/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How a document and a similarity are written, in columns and in JSON.
 */

#ifndef DD_COLUMNS_H
#define DD_COLUMNS_H

#include "common/tl_json.h"
#include "common/tl_number.h"
#include <simidx_dedup.h>

#include <stdio.h>

/** A path, escaped, and unless it is 0 the line, as FILE:LINE. */
void dd_columns_path(FILE *out, const char *path, uint64_t line);

/** The same as two members of an object, of which the line may be missing. */
void dd_columns_json_path(struct tl_json *json, const char *path, uint64_t line,
			  const char *path_key, const char *line_key);

/** How similar a document is to another one. */
struct dd_similarity {
	double value;   /* as simidx_dedup_near.similarity */
	unsigned flags; /* SIMIDX_DEDUP_ESTIMATE, SIMIDX_DEDUP_EQUAL */
};

/**
 * A similarity: "same" for texts of the same bytes, percent with one decimal, an estimate as "~83",
 * "fp", or for bare fingerprints bits. Valid as what tl_count() returns.
 */
const char *dd_columns_similarity(enum simidx_dedup_kind kind, struct dd_similarity similarity);

/** As members: "similarity", null for fp, and "estimate" or "same" if it is that; or "distance". */
void dd_columns_json_similarity(struct tl_json *json, enum simidx_dedup_kind kind,
				struct dd_similarity similarity);

/** A document of an index: its label, escaped, or if that is NULL its id. */
void dd_columns_document(FILE *out, const char *label, size_t size, uint64_t id);

#endif /* DD_COLUMNS_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_columns.h"

#include "common/tl_escape.h"

#include <inttypes.h>
#include <string.h>

void dd_columns_path(FILE *out, const char *path, uint64_t line)
{
	tl_put_escaped(out, path, strlen(path));
	if (line)
		fprintf(out, ":%" PRIu64, line);
}

void dd_columns_json_path(struct tl_json *json, const char *path, uint64_t line,
			  const char *path_key, const char *line_key)
{
	tl_json_bytes(json, path_key, path, strlen(path));
	if (line)
		tl_json_unsigned(json, line_key, line);
}

/* Percent with one decimal, rounded down, so that of sets that were compared only equal ones have
   100.0. */
static double percent(double similarity)
{
	return (double)(uint64_t)(similarity * 1000 + 1e-9) / 10;
}

const char *dd_columns_similarity(enum simidx_dedup_kind kind, struct dd_similarity similarity)
{
	char *out = tl_number_room();

	if (kind != SIMIDX_DEDUP_FINGERPRINTS && similarity.value < 0)
		return "fp";
	if (kind != SIMIDX_DEDUP_FINGERPRINTS && similarity.flags & SIMIDX_DEDUP_EQUAL)
		return "same";
	if (kind == SIMIDX_DEDUP_FINGERPRINTS)
		snprintf(out, TL_NUMBER_SIZE, "%.0f", similarity.value);
	else if (similarity.flags & SIMIDX_DEDUP_ESTIMATE)
		snprintf(out, TL_NUMBER_SIZE, "~%u", (unsigned)percent(similarity.value));
	else
		snprintf(out, TL_NUMBER_SIZE, "%.1f", percent(similarity.value));
	return out;
}

void dd_columns_json_similarity(struct tl_json *json, enum simidx_dedup_kind kind,
				struct dd_similarity similarity)
{
	if (kind == SIMIDX_DEDUP_FINGERPRINTS)
		tl_json_unsigned(json, "distance", (uint64_t)similarity.value);
	else if (similarity.value < 0)
		tl_json_null(json, "similarity");
	else if (similarity.flags & SIMIDX_DEDUP_ESTIMATE)
		tl_json_unsigned(json, "similarity", (uint64_t)percent(similarity.value));
	else
		tl_json_real(json, "similarity", percent(similarity.value));
	if (similarity.flags & SIMIDX_DEDUP_ESTIMATE)
		tl_json_bool(json, "estimate", 1);
	if (similarity.flags & SIMIDX_DEDUP_EQUAL)
		tl_json_bool(json, "same", 1);
}

void dd_columns_document(FILE *out, const char *label, size_t size, uint64_t id)
{
	if (label)
		tl_put_escaped(out, label, size);
	else
		fprintf(out, "id %" PRIu64, id);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>
#include <string.h>

#include "index/sx_header.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

/* Length of the text and number of check_fps, 4 bytes each; the text; the check_fps; the checksum. */
#define FIXED_SIZE 8
#define CHECKSUM_SIZE 8

static const sx_slice profile_key = { "profile", 7 };

int sx_profile_write(sx_txn *txn, sx_dbi meta, const char *text, const uint64_t *check_fps,
		     size_t n_check_fps, simidx_error *err)
{
	size_t length = strlen(text);
	size_t size = FIXED_SIZE + length + 8 * n_check_fps;
	unsigned char *bytes = sx_calloc(1, size + CHECKSUM_SIZE);
	sx_slice value = { bytes, size + CHECKSUM_SIZE };
	int rc;

	if (!bytes)
		return sx_fail_nomem(err);
	sx_store_le32(bytes, (uint32_t)length);
	sx_store_le32(bytes + 4, (uint32_t)n_check_fps);
	memcpy(bytes + FIXED_SIZE, text, length);
	for (size_t i = 0; i < n_check_fps; i++)
		sx_store_le64(bytes + FIXED_SIZE + length + 8 * i, check_fps[i]);
	sx_store_le64(bytes + size, sx_hash(bytes, size));
	rc = sx_dbi_put(txn, meta, profile_key, value, err);
	free(bytes);
	return rc;
}

static int is_sound(sx_slice value)
{
	const unsigned char *bytes = value.data;
	size_t length, n_check_fps;

	if (value.size < FIXED_SIZE + CHECKSUM_SIZE)
		return 0;
	length = sx_load_le32(bytes);
	n_check_fps = sx_load_le32(bytes + 4);
	return length <= SX_MAX_PROFILE && n_check_fps <= SX_MAX_CHECK_FPS &&
	       value.size == FIXED_SIZE + length + 8 * n_check_fps + CHECKSUM_SIZE &&
	       sx_load_le64(bytes + value.size - 8) == sx_hash(bytes, value.size - 8);
}

int sx_profile_read(sx_txn *txn, sx_dbi meta, sx_profile *out, simidx_error *err)
{
	const unsigned char *bytes;
	size_t length;
	sx_slice value;
	int rc;

	memset(out, 0, sizeof(*out));
	rc = sx_dbi_get(txn, meta, profile_key, &value, err);
	if (rc && rc != SIMIDX_E_NOT_FOUND)
		return rc;
	if (rc || !is_sound(value))
		return sx_fail(err, SIMIDX_E_CORRUPT, "the profile record is %s",
			       rc ? "missing" : "damaged");
	bytes = value.data;
	length = sx_load_le32(bytes);
	out->n_check_fps = sx_load_le32(bytes + 4);
	out->text = sx_calloc(length + 1, 1);
	out->check_fps = sx_calloc(out->n_check_fps, sizeof(*out->check_fps));
	if (!out->text || !out->check_fps) {
		sx_profile_free(out);
		return sx_fail_nomem(err);
	}
	memcpy(out->text, bytes + FIXED_SIZE, length);
	for (size_t i = 0; i < out->n_check_fps; i++)
		out->check_fps[i] = sx_load_le64(bytes + FIXED_SIZE + length + 8 * i);
	return SIMIDX_OK;
}

void sx_profile_free(sx_profile *profile)
{
	free(profile->text);
	free(profile->check_fps);
	memset(profile, 0, sizeof(*profile));
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <string.h>

#include <simidx_admin.h>

#include "index/sx_index.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

#define CHECKSUM_SIZE 8

static const sx_slice mark_key = { "mark", 4 };

int sx_mark_write(sx_txn *txn, sx_dbi meta, const void *data, size_t size, simidx_error *err)
{
	unsigned char bytes[SIMIDX_MAX_MARK + CHECKSUM_SIZE];
	sx_slice value = { bytes, size + CHECKSUM_SIZE };

	memcpy(bytes, data, size);
	sx_store_le64(bytes + size, sx_hash(bytes, size));
	return sx_dbi_put(txn, meta, mark_key, value, err);
}

int sx_mark_read(sx_txn *txn, sx_dbi meta, sx_slice *out, simidx_error *err)
{
	const unsigned char *bytes;
	int rc = sx_dbi_get(txn, meta, mark_key, out, err);

	if (rc)
		return rc;
	bytes = out->data;
	if (out->size <= CHECKSUM_SIZE || out->size > SIMIDX_MAX_MARK + CHECKSUM_SIZE ||
	    sx_load_le64(bytes + out->size - CHECKSUM_SIZE) !=
		    sx_hash(bytes, out->size - CHECKSUM_SIZE))
		return sx_fail(err, SIMIDX_E_CORRUPT, "the mark record is damaged");
	out->size -= CHECKSUM_SIZE;
	return SIMIDX_OK;
}

int simidx_get_mark(simidx *index, void *buffer, size_t size, size_t *n, simidx_error *err)
{
	sx_snapshot snapshot = { 0 };
	sx_slice mark;
	int rc;

	sx_err_clear(err);
	if (n)
		*n = 0;
	if (!index || !n || (!buffer && size))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_get_mark: index, buffer or n is NULL");
	rc = sx_snapshot_begin(&snapshot, index, err);
	if (!rc)
		rc = sx_mark_read(snapshot.txn, index->tables.meta, &mark, err);
	if (!rc) {
		*n = mark.size;
		memcpy(buffer, mark.data, mark.size < size ? mark.size : size);
	}
	sx_snapshot_end(&snapshot);
	return rc == SIMIDX_E_NOT_FOUND ? sx_fail(err, rc, "no mark is stored") : rc;
}

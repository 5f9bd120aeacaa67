/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "local/sx_local_info.h"

#include <string.h>

#include "index/sx_info.h"
#include "index/sx_snapshot.h"

static const char *path(const simidx *index)
{
	return sx_store_path(index->store);
}

static const char *holder(const simidx *index)
{
	(void)index;
	return "a directory";
}

static void close_info(const simidx *index)
{
	sx_store_close(index->store);
}

static int check_fork(const simidx *index, simidx_error *err)
{
	return sx_store_check_fork(index->store, err);
}

static int get_info(const simidx *index, simidx_info *out, simidx_error *err)
{
	sx_snapshot s;
	int rc = sx_snapshot_begin(&s, index, err);

	if (rc)
		return rc;
	sx_info_describe(index, &s.header, out);
	out->page_bytes = sx_store_page_size(index->store);
	out->snapshot = s.id;
	rc = sx_dbi_usage(s.txn, &out->file_bytes, &out->used_bytes, err);
	sx_snapshot_end(&s);
	return rc;
}

static int get_mark(const simidx *index, void *buffer, size_t size, size_t *n, simidx_error *err)
{
	sx_slice mark;
	sx_snapshot s;
	int rc = sx_snapshot_begin(&s, index, err);

	if (!rc)
		rc = sx_meta_read_mark(s.txn, &index->tables.meta, &mark, err);
	if (!rc) {
		*n = mark.size;
		if (size)
			memcpy(buffer, mark.data, mark.size < size ? mark.size : size);
	}
	sx_snapshot_end(&s);
	return rc;
}

const sx_backend_place sx_local_info = { path, holder, close_info, check_fork, get_info, get_mark };

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "remote/sx_remote_info.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_info.h"
#include "index/sx_snapshot.h"
#include "util/sx_err.h"

static const char *path(const simidx *index)
{
	return index->engine->uri;
}

static const char *holder(const simidx *index)
{
	return index->engine->calls->name;
}

static void close_info(const simidx *index)
{
	sx_engine_close(index->engine);
}

static int check_fork(const simidx *index, simidx_error *err)
{
	return sx_engine_check_fork(index->engine, err);
}

static int get_info(const simidx *index, simidx_info *out, simidx_error *err)
{
	simidx_engine_info info;
	sx_snapshot s;
	int rc = sx_engine_info(index->engine, 0, &info, err);

	if (!rc)
		rc = sx_snapshot_begin(&s, index, err);
	if (rc)
		return rc;
	sx_info_describe(index, &s.header, out);
	out->distinct = 0; /* not known */
	out->puts = UINT64_MAX;
	out->file_bytes = out->used_bytes = info.bytes;
	out->rejudges = (info.capabilities & SIMIDX_ENGINE_CONDITIONS) != 0;
	out->durability = info.durability;
	sx_snapshot_end(&s);
	return SIMIDX_OK;
}

static int get_mark(const simidx *index, void *buffer, size_t size, size_t *n, simidx_error *err)
{
	void *mark;
	int rc = sx_engine_check_fork(index->engine, err);

	if (!rc)
		rc = sx_engine_get_mark(index->engine, &mark, n, err);
	if (rc)
		return rc;
	if (*n > SIMIDX_MAX_MARK) {
		rc = sx_fail(err, SIMIDX_E_CORRUPT,
			     "%s: its mark has %zu bytes; there are %d at most",
			     index->engine->uri, *n, SIMIDX_MAX_MARK);
		*n = 0;
	}
	if (size && *n)
		memcpy(buffer, mark, *n < size ? *n : size);
	if (!*n && !rc)
		rc = SIMIDX_E_NOT_FOUND;
	free(mark);
	return rc;
}

const sx_backend_place sx_remote_info = { path,       holder,   close_info,
					  check_fork, get_info, get_mark };

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "open/sx_holder.h"

#include "local/sx_local.h"
#include "remote/sx_remote.h"

int sx_holder_find(const char *path, sx_holder *out, simidx_error *err)
{
	int rc = sx_engine_find(path, &out->engine, err);

	out->backend = out->engine ? &sx_remote_backend : &sx_local_backend;
	return rc;
}

int sx_holder_need(const char *path, enum sx_capability capability, const char *function,
		   simidx_error *err)
{
	sx_holder holder;
	int rc = sx_holder_find(path, &holder, err);

	if (rc || holder.backend->capabilities & capability)
		return rc;
	return sx_index_refuse(capability, holder.engine ? holder.engine->name : "a directory",
			       path, function, err);
}

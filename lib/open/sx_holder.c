/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "open/sx_holder.h"

#include "local/sx_local.h"
#include "remote/sx_remote.h"

int sx_holder_find(const char *path, sx_holder *out, simidx_error *err)
{
	const simidx_engine *engine;
	int rc = sx_engine_find(path, &engine, err);

	*out = (sx_holder){ &sx_local_backend, NULL, "a directory" };
	if (!rc && engine)
		*out = (sx_holder){ &sx_remote_backend, engine, engine->name };
	return rc;
}

int sx_holder_need(const char *path, enum sx_capability capability, simidx_error *err)
{
	sx_holder holder;
	int rc = sx_holder_find(path, &holder, err);

	if (rc || holder.backend->capabilities & capability)
		return rc;
	return sx_index_refuse(capability, holder.name, err);
}

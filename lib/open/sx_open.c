/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Opening an index, which may be made first.
 */

#include "open/sx_create.h"
#include "local/sx_local.h"
#include "open/sx_holder.h"
#include "remote/sx_remote_open.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

/* An index that was made may be moved away before it is opened, but not so often. */
#define MAX_CREATIONS 100

static int is_missing(int rc)
{
	return rc == SIMIDX_E_NOT_FOUND || rc == SIMIDX_E_NOT_INDEX;
}

/*
 * Make what is not there and open it. The path has a whole index from one moment on; who finds that
 * another process was first opens what that one has made. An empty directory is no index, and is
 * replaced. If something is in the way twice, and is still no index, it is something else.
 */
static int open_or_create(const char *path, const simidx_open_options *options, simidx **out,
			  simidx_error *err)
{
	int made = SIMIDX_OK, rc = sx_index_open(path, &sx_local_backend, options, out, err);

	for (int i = 0; is_missing(rc) && i < MAX_CREATIONS; i++) {
		if (made == SIMIDX_E_EXISTS && rc == SIMIDX_E_NOT_INDEX)
			break;
		made = simidx_create(path, options->create, out, err);
		if (made && made != SIMIDX_E_EXISTS)
			return made;
		/* The options to open it may say more than simidx_create() knows of. */
		simidx_close(*out);
		*out = NULL;
		sx_err_clear(err);
		rc = sx_index_open(path, &sx_local_backend, options, out, err);
	}
	return rc;
}

int simidx_open(const char *path, const simidx_open_options *options, simidx **out,
		simidx_error *err)
{
	static const simidx_open_options defaults = SIMIDX_OPEN_OPTIONS_INIT;
	const unsigned allowed = SIMIDX_OPEN_READ_ONLY | SIMIDX_OPEN_STATIC | SIMIDX_OPEN_FORCE |
			       SIMIDX_OPEN_UNTRUSTED | SIMIDX_OPEN_CHECK | SIMIDX_OPEN_CREATE;
	const unsigned only_reads = SIMIDX_OPEN_READ_ONLY | SIMIDX_OPEN_STATIC;
	simidx_create_options own_create;
	const simidx_create_options *create = NULL;
	sx_holder holder;
	simidx_open_options own;
	int creates, rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_open: out is NULL");
	*out = NULL;
	options = sx_struct_read(options ? options : &defaults, sizeof(size_t), &own, sizeof(own));
	if (!path || !options || options->flags & ~allowed)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_open: bad path, options size or flags");
	creates = (options->flags & SIMIDX_OPEN_CREATE) != 0;
	if (options->create)
		create = sx_struct_read(options->create, sizeof(size_t), &own_create,
					sizeof(own_create));
	if ((creates && options->flags & only_reads) ||
	    (options->create && (!creates || !create)) ||
	    (create && create->flags & SIMIDX_CREATE_TRUNCATE))
		return sx_fail(err, SIMIDX_E_ARG,
			       "simidx_open: SIMIDX_OPEN_CREATE does not go with these options");
	rc = sx_holder_find(path, &holder, err);
	if (rc)
		return rc;
	if (holder.engine) {
		rc = create ? sx_create_check(path, create, err) : SIMIDX_OK;
		return rc ? rc
			  : sx_remote_open(holder.engine, path, options, create,
					   creates ? SIMIDX_OPEN_CREATE : 0, out, err);
	}
	return creates ? open_or_create(path, options, out, err)
		       : sx_index_open(path, &sx_local_backend, options, out, err);
}

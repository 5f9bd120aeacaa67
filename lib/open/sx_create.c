/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "open/sx_create.h"

#include <stdlib.h>
#include <string.h>

#include "local/sx_local.h"
#include "open/sx_holder.h"
#include "open/sx_publish.h"
#include "remote/sx_remote_open.h"
#include "store/sx_dir.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

#define DEFAULT_FILL 90

int sx_create_check(const char *path, const simidx_create_options *o, simidx_error *err)
{
	const unsigned allowed = SIMIDX_CREATE_TRUNCATE | SIMIDX_CREATE_FORCE | sx_schema_flags();

	if (!path || !*path || !o || o->flags & ~allowed)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_create: bad path, options size or flags");
	if (o->layout > SIMIDX_LAYOUT_ROWS)
		return sx_fail(err, SIMIDX_E_ARG, "layout %u is unknown", o->layout);
	if (o->fill && (o->fill < 50 || o->fill > 100))
		return sx_fail(err, SIMIDX_E_ARG, "fill is %u; it may be 50 to 100 percent",
			       o->fill);
	if (!sx_header_can_have(o->flags))
		return sx_fail(err, SIMIDX_E_ARG,
			       "second fingerprints, times and notes belong to documents: they "
			       "need ids");
	if (o->n_check_fps > SX_MAX_CHECK_FPS || (o->n_check_fps && !o->check_fps) ||
	    (o->profile && strlen(o->profile) > SX_MAX_PROFILE))
		return sx_fail(err, SIMIDX_E_ARG,
			       "the profile is too long or has too many check texts");
	return SIMIDX_OK;
}

int sx_create_like(const simidx *old, unsigned flags, simidx_create_options *out, simidx_error *err)
{
	*out = (simidx_create_options)SIMIDX_CREATE_OPTIONS_INIT;
	out->bits = old->schema->bits;
	out->layout = old->schema->layout;
	out->flags = old->schema->flags;
	if (flags & SIMIDX_OPEN_FORCE)
		out->flags |= SIMIDX_CREATE_FORCE;
	out->fill = old->schema->fill;
	out->plan = old->schema->plan.name;
	out->profile = old->schema->profile.text;
	out->check_fps = old->schema->profile.check_fps;
	out->n_check_fps = old->schema->profile.n_check_fps;
	return sx_store_mode(old->store, &out->mode, err);
}

static int make_header(const simidx_create_options *o, sx_header *h, simidx_error *err)
{
	unsigned bits = o->bits ? o->bits : SIMIDX_DEFAULT_BITS;
	const char *plan = o->plan && strcmp(o->plan, "auto") ? o->plan : sx_plan_auto(o->expect);
	int rc = sx_plan_make(&h->plan, plan, bits, err);

	if (rc)
		return rc;
	h->major = SX_FORMAT_MAJOR;
	h->minor = SX_FORMAT_MINOR;
	h->bits = bits;
	h->layout = o->layout;
	h->fill = o->fill ? o->fill : DEFAULT_FILL;
	h->flags = o->flags & sx_schema_flags();
	return SIMIDX_OK;
}

/* Tables, header and profile of a new index, in one transaction. What never changes comes first. */
static int fill_store(sx_store *store, sx_header *h, const simidx_create_options *o,
		      simidx_error *err)
{
	const sx_profile profile = { (char *)(o->profile ? o->profile : ""),
				     (uint64_t *)o->check_fps, o->n_check_fps };
	simidx *index = sx_index_new(&sx_local_backend, 0);
	sx_schema *schema = NULL;
	sx_txn *txn = NULL;
	int rc = index ? sx_schema_of_header(h, &schema, err) : sx_fail_nomem(err);

	if (rc) {
		simidx_close(index);
		return rc;
	}
	index->store = store;
	sx_index_set_schema(index, schema);
	h->page_size = (uint32_t)sx_store_page_size(store);
	sx_dbi_lock(store);
	rc = sx_txn_begin_write(store, 0, &txn, err);
	if (!rc)
		rc = sx_meta_create(txn, &index->tables.meta, h, &profile, err);
	if (!rc)
		rc = sx_index_open_tables(index, txn, 1, err);
	if (!rc)
		rc = sx_meta_write_header(txn, &index->tables.meta, h, err);
	if (rc)
		sx_txn_abort(txn);
	else
		rc = sx_txn_commit(txn, err);
	sx_dbi_unlock(store);
	index->store = NULL; /* it stays open */
	simidx_close(index);
	return rc;
}

int sx_create_build(const char *dir, int lock_fd, const simidx_create_options *o, sx_store **out,
		    simidx_error *err)
{
	sx_store_options how = { .map_size = o->map_size,
				 .mode = o->mode ? o->mode : SX_PUBLISH_MODE,
				 .flags = o->flags & SIMIDX_CREATE_FORCE ? SX_STORE_FORCE : 0 };
	sx_header *h = sx_calloc(1, sizeof(*h));
	int rc = h ? make_header(o, h, err) : sx_fail_nomem(err);

	*out = NULL;
	if (!rc)
		rc = sx_store_create(dir, &how, out, err);
	if (!rc) {
		sx_store_adopt_lock(*out, lock_fd);
		rc = fill_store(*out, h, o, err);
		if (rc)
			sx_store_unlock(*out);
	} else {
		sx_dir_unlock(lock_fd);
	}
	if (rc) {
		sx_store_close(*out);
		*out = NULL;
	}
	free(h);
	return rc;
}

int simidx_create(const char *path, const simidx_create_options *options, simidx **out,
		  simidx_error *err)
{
	static const simidx_create_options defaults = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_create_options own;
	sx_holder holder;
	sx_store *store = NULL;
	simidx *index = NULL;
	char *dir = NULL;
	int lock_fd, rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_create: out is NULL");
	*out = NULL;
	options = sx_struct_read(options ? options : &defaults, sizeof(size_t), &own, sizeof(own));
	rc = sx_create_check(path, options, err);
	if (!rc)
		rc = sx_holder_find(path, &holder, err);
	if (rc)
		return rc;
	if (holder.engine)
		return sx_remote_open(holder.engine, path, NULL, options,
				      SIMIDX_OPEN_CREATE | (options->flags & SIMIDX_CREATE_TRUNCATE
								    ? SIMIDX_ENGINE_TRUNCATE
								    : SIMIDX_ENGINE_MUST_CREATE),
				      out, err);
	rc = sx_dir_prepare(path, &dir, &lock_fd, err);
	if (!rc)
		rc = sx_create_build(dir, lock_fd, options, &store, err);
	/* All that can fail comes first: when it is in its place, it has succeeded. */
	if (!rc)
		rc = sx_store_set_path(store, path, err);
	if (!rc)
		rc = sx_index_open_store(store, &sx_local_backend, 0, &index, err);
	else
		sx_store_close(store);
	if (!rc)
		rc = sx_publish(dir, path, options, 0, err);
	if (index)
		sx_store_unlock(index->store);
	if (rc)
		simidx_close(index);
	else
		*out = index;
	if (rc && rc != SIMIDX_E_UNKNOWN)
		sx_dir_remove(dir);
	free(dir);
	return rc;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_repair(): open an index as far as that can be done, begin a new one like it, and fill
 * that with what is sound.
 */

#include <stdlib.h>
#include <string.h>

#include <simidx_repair.h>

#include "open/sx_create.h"
#include "load/sx_loader_repair.h"
#include "local/sx_local.h"
#include "open/sx_holder.h"
#include "repair/sx_repair_documents.h"
#include "repair/sx_repair_fingerprints.h"
#include "repair/sx_repair_notes.h"
#include "repair/sx_repair_read.h"
#include "store/sx_dir.h"
#include "store/sx_mended.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"
#include "util/sx_struct.h"

#define DEFAULT_MEMORY ((uint64_t)1 << 30)
#define MIN_MEMORY ((uint64_t)128 << 20)

static int check_options(const simidx_repair_options *o, simidx_error *err)
{
	if (!o || o->flags & ~(SIMIDX_OPEN_STATIC | SIMIDX_OPEN_FORCE))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_repair: bad options");
	if (o->memory && o->memory < MIN_MEMORY)
		return sx_fail(err, SIMIDX_E_ARG, "repairing needs at least %d MiB of memory",
			       (int)(MIN_MEMORY >> 20));
	return SIMIDX_OK;
}

/* LMDB needs two meta pages. Where one is damaged, a copy is read that has both. */
static int open_store(sx_repair *r, const char *path, const char *destination, sx_store **store)
{
	unsigned force = r->options->flags & SIMIDX_OPEN_FORCE ? SX_STORE_FORCE : 0;
	unsigned is_static = r->options->flags & SIMIDX_OPEN_STATIC ? SX_STORE_STATIC : 0;
	/* The map is as small as can be: LMDB reads nothing, and the memory may be limited. */
	sx_store_options how = { .flags = SX_STORE_READ_ONLY | force | is_static, .map_size = 1 };
	simidx_error refused = { 0 };
	int rc = sx_store_open(path, &how, store, &refused), mended = SIMIDX_E_NOT_FOUND;
	simidx_loss loss = { .kind = SIMIDX_LOSS_DOUBT, .table = "tables", .id = SIMIDX_NO_ID };

	if (rc == SIMIDX_E_CORRUPT)
		mended = sx_store_open_mended(path, destination, force, store, r->err);
	/* Or it was cut too short to be opened for anything else. */
	how.flags |= SX_STORE_CUT;
	if (rc == SIMIDX_E_CORRUPT && mended == SIMIDX_E_NOT_FOUND &&
	    !sx_store_open(path, &how, store, NULL)) {
		sx_repair_tell_damage(r, "tables", refused.text);
		return SIMIDX_OK;
	}
	if (mended == SIMIDX_OK) {
		sx_repair_tell_damage(r, "tables", refused.text);
		sx_repair_tell(r, &loss,
			       "if this was the header page of the last commit, that commit is "
			       "lost");
		return SIMIDX_OK;
	}
	if (mended != SIMIDX_E_NOT_FOUND)
		return mended;
	if (rc && r->err)
		*r->err = refused;
	return rc;
}

/*
 * What the index is, by the first header that is sound. The transaction is a snapshot alone: LMDB
 * is not asked for anything in it.
 */
static int open_old(sx_repair *r, const char *path, const char *destination)
{
	sx_profile profile = { 0 };
	sx_schema *schema = NULL;
	sx_store *store;
	int rc = open_store(r, path, destination, &store);

	if (rc)
		return rc;
	rc = sx_txn_begin_read(store, &r->txn, r->err);
	if (!rc)
		rc = sx_repair_read_meta(r, &profile);
	if (!rc && sx_repair_header(r)->page_size != sx_store_page_size(store))
		rc = sx_fail(r->err, SIMIDX_E_CORRUPT,
			     "header: another page size than the file has");
	if (!rc && sx_repair_header(r)->state & SX_STATE_SUPERSEDED)
		rc = sx_store_check_path(store, r->err);
	if (!rc)
		rc = sx_schema_of_header(&r->header, &schema, r->err);
	if (rc) {
		sx_meta_free_profile(&profile);
		sx_txn_abort(r->txn);
		r->txn = NULL;
		sx_store_close(store);
		return rc;
	}
	schema->profile = profile;
	return sx_index_describe(store, &sx_local_backend, schema, &r->old, r->err);
}

/* The loader has one context for all that it calls. */
static void tell_progress(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	const simidx_repair_options *o = ((sx_repair *)ctx)->options;

	if (o->progress)
		o->progress(o->ctx, phase, done, total);
}

static int ask_stop(void *ctx)
{
	const simidx_repair_options *o = ((sx_repair *)ctx)->options;

	return o->stop && o->stop(o->ctx);
}

/* The last resort: two documents have one label, which sx_repair_documents.c should have seen. */
static void note_rejected(void *ctx, uint64_t row, const char *reason)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_DOCUMENT, .id = SIMIDX_NO_ID };

	(void)row;
	sx_repair_tell(ctx, &loss, "%s", reason);
}

/* A loader of an index that is like the old one, and gives no id again. */
static int begin_new(sx_repair *r, const char *destination)
{
	simidx_create_options create;
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	int rc = sx_create_like(r->old, r->options->flags, &create, r->err);

	if (rc)
		return rc;
	o.memory = r->memory;
	o.tmpdir = r->options->tmpdir;
	o.threads = r->options->threads;
	o.wait_ms = 0;
	o.progress = tell_progress;
	o.stop = ask_stop;
	o.rejected = note_rejected;
	o.ctx = r;
	rc = simidx_loader_open(destination, &create, &o, &r->loader, r->err);
	if (rc)
		return rc;
	r->tmpdir = sx_loader_temporary(r->loader);
	if (r->mark.size)
		rc = simidx_loader_set_mark(r->loader, r->mark.bytes, r->mark.size, r->err);
	return rc;
}

static void tell_old_pages(sx_repair *r)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_DOUBT, .table = "free pages", .id = SIMIDX_NO_ID };

	if (r->has_old_pages)
		sx_repair_tell(r, &loss,
			       "the list of free pages is damaged, so what is old cannot be told "
			       "from what is not: documents that were deleted may be there again, "
			       "and others, with their labels and notes, may be as they were "
			       "before");
}

static int repair(sx_repair *r, const char *path, const char *destination)
{
	simidx_loader_report made = SIMIDX_LOADER_REPORT_INIT;
	int rc = sx_dir_check_outside(destination, path, r->err);

	if (!rc)
		rc = open_old(r, path, destination);
	if (!rc)
		rc = begin_new(r, destination);
	if (!rc)
		rc = sx_repair_old(r)->schema->has_ids ? sx_repair_put_documents(r)
					: sx_repair_put_fingerprints(r);
	if (!rc && r->is_header_old && !sx_loader_rows(r->loader))
		rc = sx_fail(r->err, SIMIDX_E_CORRUPT,
			     "neither the header of the last commit nor any document is left");
	tell_old_pages(r);
	/* What the sorters have is not needed while the tables are built. */
	sx_repair_free_sorters(r);
	sx_repair_free_notes(r);
	if (!rc)
		rc = simidx_loader_finish(r->loader, &made, r->err);
	r->report.documents = rc ? 0 : made.documents;
	return rc;
}

int simidx_repair(const char *path, const char *destination, const simidx_repair_options *options,
		  void (*callback)(void *ctx, const simidx_loss *loss), void *ctx,
		  simidx_repair_report *out, simidx_error *err)
{
	static const simidx_repair_options defaults = SIMIDX_REPAIR_OPTIONS_INIT;
	simidx_repair_options own;
	simidx_repair_report own_report;
	sx_repair *r;
	int rc;

	sx_err_clear(err);
	if (!path || !destination ||
	    (out && !sx_struct_begin(out, sizeof(size_t), &own_report, sizeof(own_report))))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_repair: no path, or bad struct size");
	options = sx_struct_read(options ? options : &defaults, sizeof(size_t), &own, sizeof(own));
	rc = check_options(options, err);
	if (!rc)
		rc = sx_holder_need(path, SX_HAS_TABLES, err);
	if (rc)
		return rc;
	r = sx_calloc(1, sizeof(*r));
	if (!r)
		return sx_fail_nomem(err);
	r->options = options;
	r->callback = callback;
	r->ctx = ctx;
	r->err = err;
	r->memory = (size_t)((options->memory ? options->memory : DEFAULT_MEMORY) / 2);
	rc = repair(r, path, destination);
	if (out)
		sx_struct_end(out, &r->report, sizeof(r->report));
	simidx_loader_close(r->loader);
	sx_txn_abort(r->txn);
	simidx_close(r->old);
	free(r);
	return rc;
}

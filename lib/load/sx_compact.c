/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_compact(): a loader builds the index anew from its documents, so that the new file has
 * nothing of those that were deleted. What goes into it and what comes out of it is verified,
 * because the old file is removed.
 */

#include <string.h>

#include <simidx_check.h>
#include <simidx_info.h>

#include "open/sx_create.h"
#include "index/sx_verify.h"
#include "load/sx_loader_state.h"
#include "open/sx_holder.h"
#include "store/sx_dir.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

struct compact {
	const char *path, *destination; /* NULL: in place */
	const simidx_compact_options *options;
	simidx *source; /* where the destination is another place, else NULL */
	simidx_loader *loader;
	simidx_compact_report report;
	simidx_error *err;
};

static int check_options(const simidx_compact_options *o, const char *destination,
			 simidx_error *err)
{
	unsigned allowed = SIMIDX_OPEN_FORCE | (destination ? SIMIDX_OPEN_STATIC : 0);

	if (!o || o->flags & ~allowed || o->wait_ms < -1)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_compact: bad options");
	return SIMIDX_OK;
}

static simidx_loader_options loader_options(const simidx_compact_options *o)
{
	simidx_loader_options l = SIMIDX_LOADER_OPTIONS_INIT;

	l.memory = o->memory;
	l.tmpdir = o->tmpdir;
	l.threads = o->threads;
	l.wait_ms = o->wait_ms;
	l.flags = (o->flags & SIMIDX_OPEN_FORCE) | SIMIDX_OPEN_UNTRUSTED;
	l.progress = o->progress;
	l.stop = o->stop;
	l.ctx = o->ctx;
	return l;
}

/* The loader of a rebuild has locked what is at the path, and keeps the lock until it is closed. */
static int begin_in_place(struct compact *c)
{
	simidx_loader_options l = loader_options(c->options);

	l.plan = c->options->plan;
	l.fill = c->options->fill;
	return simidx_loader_open(c->path, NULL, &l, &c->loader, c->err);
}

static int copy_mark(struct compact *c)
{
	char mark[SIMIDX_MAX_MARK];
	size_t n;
	int rc = simidx_get_mark(c->source, mark, sizeof(mark), &n, c->err);

	if (rc == SIMIDX_E_NOT_FOUND) {
		sx_err_clear(c->err);
		return SIMIDX_OK;
	}
	return rc ? rc : simidx_loader_set_mark(c->loader, mark, n, c->err);
}

static int begin_elsewhere(struct compact *c)
{
	simidx_loader_options l = loader_options(c->options);
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_create_options create;
	int rc;

	how.flags = SIMIDX_OPEN_READ_ONLY | SIMIDX_OPEN_UNTRUSTED | c->options->flags;
	rc = simidx_open(c->path, &how, &c->source, c->err);
	if (!rc)
		rc = sx_dir_check_outside(c->destination, c->path, c->err);
	if (!rc)
		rc = simidx_get_info(c->source, &info, c->err);
	if (!rc)
		rc = sx_create_like(c->source, c->options->flags, &create, c->err);
	if (rc)
		return rc;
	create.expect = info.documents;
	if (c->options->plan)
		create.plan = c->options->plan;
	if (c->options->fill)
		create.fill = c->options->fill;
	rc = simidx_loader_open(c->destination, &create, &l, &c->loader, c->err);
	if (!rc)
		rc = simidx_loader_add_index(c->loader, c->source, c->err);
	return rc ? rc : copy_mark(c);
}

static int compact(struct compact *c)
{
	const simidx_compact_options *o = c->options;
	simidx_loader_report made = SIMIDX_LOADER_REPORT_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	int rc = c->destination ? begin_elsewhere(c) : begin_in_place(c);
	simidx *old;

	if (rc)
		return rc;
	old = c->destination ? c->source : c->loader->target.old;
	c->loader->verifies = 1;
	rc = simidx_get_info(old, &info, c->err);
	if (!rc)
		rc = simidx_loader_expect(c->loader, 0, 0, c->err);
	if (!rc) {
		simidx_set_progress(old, o->progress, o->ctx);
		rc = sx_verify_sound(old, "nothing has changed, as the index has", o->stop, o->ctx,
				     c->err);
	}
	if (!rc)
		rc = simidx_loader_finish(c->loader, &made, c->err);
	c->report.documents = made.documents;
	c->report.old_bytes = info.file_bytes;
	c->report.new_bytes = c->loader->new_bytes;
	return rc;
}

int simidx_compact(const char *path, const char *destination, const simidx_compact_options *options,
		   simidx_compact_report *out, simidx_error *err)
{
	static const simidx_compact_options defaults = SIMIDX_COMPACT_OPTIONS_INIT;
	simidx_compact_options own;
	simidx_compact_report own_report;
	struct compact c = { .path = path, .destination = destination, .err = err };
	int rc;

	sx_err_clear(err);
	if (!path ||
	    (out && !sx_struct_begin(out, sizeof(size_t), &own_report, sizeof(own_report))))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_compact: no path, or bad struct size");
	c.options = sx_struct_read(options ? options : &defaults, sizeof(size_t), &own,
				   sizeof(own));
	rc = sx_holder_need(path, SX_HAS_TABLES, err);
	if (!rc)
		rc = check_options(c.options, destination, err);
	if (!rc)
		rc = compact(&c);
	if (out && !rc)
		sx_struct_end(out, &c.report, sizeof(c.report));
	simidx_loader_close(c.loader);
	simidx_close(c.source);
	return rc;
}

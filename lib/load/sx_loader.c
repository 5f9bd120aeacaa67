/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The public functions of the bulk loader (simidx_load.h), and the order of its steps.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "local/sx_local.h"
#include "local/sx_local_walk.h"
#include "open/sx_create.h"
#include "index/sx_documents.h"
#include "open/sx_publish.h"
#include "index/sx_verify.h"
#include "index/sx_walk.h"
#include "load/sx_loader_documents.h"
#include "load/sx_loader_duplicates.h"
#include "load/sx_loader_space.h"
#include "load/sx_loader_tables.h"
#include "open/sx_holder.h"
#include "store/sx_dir.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

#define DEFAULT_MEMORY ((uint64_t)1 << 30)
#define MIN_MEMORY ((uint64_t)64 << 20)

/* How long to wait at a time, so that the caller can end it. */
#define WAIT_SLICE_MS 50

/* ---- other builders and writers ---- */

/* What others may be in the way of: SIMIDX_E_BUSY after `wait_ms` milliseconds. */
typedef int attempt_fn(simidx_loader *l, int wait_ms, simidx_error *err);

/* Attempt it until the time is over. */
static int retry_while_busy(simidx_loader *l, attempt_fn *attempt, simidx_error *err)
{
	for (;;) {
		int ms = l->wait_ms < 0 || l->wait_ms > WAIT_SLICE_MS ? WAIT_SLICE_MS : l->wait_ms;
		int rc = attempt(l, ms, err);
		char phase[sizeof(err->text) + 16];

		if (rc != SIMIDX_E_BUSY || !ms)
			return rc;
		snprintf(phase, sizeof(phase), "waiting: %s", err ? err->text : "another process");
		sx_err_clear(err);
		rc = sx_loader_progress(l, phase, 0, 0, err);
		if (rc)
			return rc;
		if (l->wait_ms > 0)
			l->wait_ms -= ms;
	}
}

/* One builder at a time for a path: the others would have worked for nothing. */
static int claim(simidx_loader *l, int wait_ms, simidx_error *err)
{
	const struct timespec pause = { .tv_nsec = wait_ms * 1000000L };
	int rc = sx_dir_claim(l->target.path, &l->target.dir, &l->target.claim_fd, err);

	if (rc == SIMIDX_E_BUSY)
		nanosleep(&pause, NULL);
	return rc;
}

static int lock_old(simidx_loader *l, int wait_ms, simidx_error *err)
{
	int rc = sx_publish_lock_old(l->target.path, l->options.flags, wait_ms, &l->target.old,
				     err);

	l->target.locked = !rc;
	return rc;
}

/* ---- open ---- */

static int copy_create(simidx_loader *l, const simidx_create_options *create, simidx_error *err)
{
	simidx_create_options *own = &l->target.create;
	uint64_t *check_fps = sx_calloc(create->n_check_fps, sizeof(*check_fps));

	*own = *create;
	own->plan = strdup(create->plan ? create->plan : "auto");
	own->profile = strdup(create->profile ? create->profile : "");
	own->check_fps = check_fps;
	if (!own->plan || !own->profile || !check_fps)
		return sx_fail_nomem(err);
	if (create->n_check_fps)
		memcpy(check_fps, create->check_fps, create->n_check_fps * sizeof(*check_fps));
	return SIMIDX_OK;
}

static int copy_mark(simidx_loader *l, simidx_error *err)
{
	sx_mark *mark = &l->output.mark;
	int rc = simidx_get_mark(l->target.old, mark->bytes, sizeof(mark->bytes), &mark->size, err);

	if (rc != SIMIDX_E_NOT_FOUND)
		return rc;
	sx_err_clear(err);
	return SIMIDX_OK;
}

/* Take the index at the path as the first source, locked against other writers. */
static int open_old(simidx_loader *l, simidx_error *err)
{
	simidx_create_options create;
	simidx_info info = SIMIDX_INFO_INIT;
	int rc = retry_while_busy(l, lock_old, err);

	if (!rc)
		rc = copy_mark(l, err);
	if (!rc)
		rc = simidx_get_info(l->target.old, &info, err);
	if (!rc)
		rc = sx_create_like(l->target.old, l->options.flags, &create, err);
	if (rc)
		return rc;
	create.expect = info.documents;
	if (l->options.plan)
		create.plan = l->options.plan;
	if (l->options.fill)
		create.fill = l->options.fill;
	l->target.is_merge = 1;
	if (info.puts != UINT64_MAX)
		l->target.next_seq = info.puts - info.documents;
	rc = sx_create_check(l->target.path, &create, err);
	if (!rc)
		rc = copy_create(l, &create, err);
	return rc ? rc : simidx_loader_add_index(l, l->target.old, err);
}

/*
 * A sorter that is finished keeps half of its memory or less. So there is never more in use at
 * once than l->memory: at most half by by_fp or by what finds shared labels, a quarter by by_id
 * (half while it is filled and sorted, when by_fp is empty), and the rest for labels.
 */
static int prepare_sorters(simidx_loader *l, simidx_error *err)
{
	const simidx *index = l->target.index;
	unsigned n_values = index->schema->columns.n;
	const char *dir = sx_loader_tmpdir(l);
	size_t half = l->memory / 2, eighth = l->memory / 8;
	int rc;

	/* Documents and labels come in the order of ids, which a stable sort keeps. */
	rc = sx_sorter_new(1 + index->tables.postings.n_cols, 1, 0, half, dir, &l->output.by_fp,
			   err);
	if (rc || !index->schema->has_ids)
		return rc;
	rc = sx_sorter_new(3 + n_values, 1, 0, half, dir, &l->input.by_id, err);
	if (!rc)
		rc = sx_sorter_new(3, 1, 0, eighth, dir, &l->input.label_rows, err);
	if (!rc)
		rc = sx_sorter_new(5, 1, 0, eighth, dir, &l->input.label_hashes, err);
	if (!rc)
		rc = sx_sorter_new(2, 1, 0, eighth, dir, &l->output.by_label, err);
	if (!rc && index->schema->has_notes)
		rc = sx_sorter_new(4, 1, 0, eighth / 2, dir, &l->input.note_rows, err);
	return rc;
}

static int open_new(simidx_loader *l, simidx_error *err)
{
	sx_store *store = NULL;
	int lock_fd = l->target.claim_fd, rc;

	l->target.claim_fd = -1;
	rc = sx_create_build(l->target.dir, lock_fd, &l->target.create, &store, err);
	if (!rc)
		rc = sx_index_open_store(store, &sx_local_backend, 0, &l->target.index, err);
	return rc ? rc : prepare_sorters(l, err);
}

/* First the claim, so that no loader waits for it while it holds the lock of the index. */
static int begin(simidx_loader *l, const simidx_create_options *create, simidx_error *err)
{
	int rc = retry_while_busy(l, claim, err);

	if (rc)
		return rc;
	if (create && !(create->flags & SIMIDX_CREATE_TRUNCATE) && !sx_dir_is_free(l->target.path))
		return sx_fail(err, SIMIDX_E_EXISTS, "%s exists", l->target.path);
	/* The exchange asks again; but what is there now should not cost the whole work. */
	rc = sx_dir_check_own(l->target.path, err);
	if (rc)
		return rc;
	rc = create ? copy_create(l, create, err) : open_old(l, err);
	return rc ? rc : open_new(l, err);
}

static int check_loader_options(const simidx_loader_options *o, int has_create, simidx_error *err)
{
	if (!o || o->duplicates > SIMIDX_DUPLICATES_LAST || o->wait_ms < -1 ||
	    o->flags & ~(SIMIDX_OPEN_FORCE | SIMIDX_OPEN_UNTRUSTED) ||
	    (has_create && (o->plan || o->fill)))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_loader_open: bad options");
	if (o->memory && o->memory < MIN_MEMORY)
		return sx_fail(err, SIMIDX_E_ARG, "loading needs at least %d MiB of memory",
			       (int)(MIN_MEMORY >> 20));
	return SIMIDX_OK;
}

int simidx_loader_open(const char *path, const simidx_create_options *create,
		       const simidx_loader_options *options, simidx_loader **out,
		       simidx_error *err)
{
	static const simidx_loader_options defaults = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader_options own;
	simidx_create_options own_create;
	simidx_loader *l;
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_loader_open: out is NULL");
	*out = NULL;
	if (!path)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_loader_open: path is NULL");
	options = sx_struct_read(options ? options : &defaults, sizeof(size_t), &own, sizeof(own));
	rc = sx_holder_need(path, SX_HAS_TABLES, err);
	if (!rc)
		rc = check_loader_options(options, create != NULL, err);
	if (!rc && create) {
		create = sx_struct_read(create, sizeof(size_t), &own_create, sizeof(own_create));
		rc = sx_create_check(path, create, err);
	}
	if (rc)
		return rc;
	l = sx_calloc(1, sizeof(*l));
	if (!l)
		return sx_fail_nomem(err);
	l->options = *options;
	l->wait_ms = options->wait_ms;
	l->unknown_fp2 = SX_UNKNOWN_FP2;
	l->now = sx_documents_now();
	l->target.claim_fd = -1;
	l->memory = (size_t)(options->memory ? options->memory : DEFAULT_MEMORY);
	l->target.path = strdup(path);
	l->target.tmpdir = options->tmpdir ? strdup(options->tmpdir) : NULL;
	if (!l->target.path || (options->tmpdir && !l->target.tmpdir))
		rc = sx_fail_nomem(err);
	if (!rc)
		rc = begin(l, create, err);
	if (rc)
		simidx_loader_close(l);
	else
		*out = l;
	return rc;
}

static void close_new(simidx_loader *l)
{
	if (l->target.index)
		sx_store_unlock(l->target.index->store);
	simidx_close(l->target.index);
	l->target.index = NULL;
}

void simidx_loader_close(simidx_loader *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->sources.n; i++)
		simidx_walk_close(l->sources.walk[i]);
	close_new(l);
	sx_dir_unlock(l->target.claim_fd);
	/* After a success it is not there any more. */
	if (!l->is_unknown)
		sx_dir_remove(l->target.dir);
	sx_sorter_free(l->input.by_id);
	sx_sorter_free(l->input.label_rows);
	sx_sorter_free(l->input.label_hashes);
	sx_sorter_free(l->input.rejected);
	sx_sorter_free(l->input.note_rows);
	sx_sorter_free(l->output.by_fp);
	sx_sorter_free(l->output.by_label);
	sx_spill_free(l->input.label_bytes);
	sx_spill_free(l->input.note_bytes);
	sx_spill_free(l->output.distinct);
	sx_spill_free(l->output.spill);
	if (l->target.locked)
		sx_store_unlock(l->target.old->store);
	simidx_close(l->target.old);
	free((char *)l->target.create.plan);
	free((char *)l->target.create.profile);
	free((uint64_t *)l->target.create.check_fps);
	free(l->target.dir);
	free(l->target.path);
	free(l->target.tmpdir);
	free(l);
}

/* ---- adding ---- */

/* What one index has and another one does not, by flags. */
static const char *name_columns(uint32_t flags)
{
	return flags & SIMIDX_CREATE_NO_IDS ? "other columns (ids)"
	       : flags & SIMIDX_CREATE_FP2  ? "other columns (second fingerprints)"
	       : flags & SIMIDX_CREATE_TIMES ? "other columns (times)"
					     : "other columns (notes)";
}

int simidx_loader_add_index(simidx_loader *l, simidx *source, simidx_error *err)
{
	const simidx_create_options *c;
	const char *what = NULL;
	simidx_info info = SIMIDX_INFO_INIT;
	uint32_t differs;
	int rc;

	sx_err_clear(err);
	if (!l || !source || l->sources.n == SX_MAX_SOURCES)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_loader_add_index: bad loader or source");
	rc = sx_loader_check_open(l, err);
	if (!rc)
		rc = sx_index_need(source, SX_HAS_TABLES, err);
	if (rc)
		return rc;
	if (l->n_rows)
		return sx_fail(err, SIMIDX_E_STATE,
			       "simidx_loader_add_index: documents have been put already");
	c = &l->target.create;
	differs = (c->flags ^ source->schema->flags) & sx_schema_flags();
	if ((c->bits ? c->bits : SIMIDX_DEFAULT_BITS) != source->schema->bits)
		what = "another number of bits";
	else if (differs)
		what = name_columns(differs);
	else if (strcmp(c->profile, source->schema->profile.text) ||
		 c->n_check_fps != source->schema->profile.n_check_fps ||
		 memcmp(c->check_fps, source->schema->profile.check_fps,
			c->n_check_fps * sizeof(uint64_t)))
		what = "another profile";
	if (what)
		return sx_fail(err, SIMIDX_E_MISMATCH, "%s: it has %s",
			       sx_store_path(source->store), what);
	rc = simidx_get_info(source, &info, err);
	if (rc)
		return rc;
	if (info.next_id != SIMIDX_NO_ID && info.next_id > l->next_id)
		l->next_id = info.next_id;
	/* All that lack it get what stands for it in the first source that has such documents. */
	if (source->schema->has_unknown_fp2 && !l->has_unknown_fp2) {
		l->has_unknown_fp2 = 1;
		l->unknown_fp2 = source->schema->unknown_fp2;
	}
	l->sources.index[l->sources.n] = source;
	rc = simidx_walk_open(source, &l->sources.walk[l->sources.n], err);
	if (rc)
		return rc;
	sx_local_walk_spare_memory(l->sources.walk[l->sources.n++]->walk);
	l->sources.documents += info.documents;
	l->sources.labels += info.labels;
	l->sources.bytes_apart += sx_loader_bytes_apart(source);
	return SIMIDX_OK;
}

static int check_put(const simidx_loader *l, const simidx_doc *doc, simidx_error *err)
{
	int rc = sx_loader_check_open(l, err);

	return rc ? rc : sx_documents_check(l->target.index, doc, err);
}

static int put(simidx_loader *l, const simidx_doc *doc, uint64_t *id, simidx_error *err)
{
	uint64_t given = doc->id == SIMIDX_NO_ID ? l->next_id : doc->id;
	uint64_t record[3 + SX_MAX_COLUMNS] = { given, l->n_rows, doc->fp };
	sx_values values = sx_documents_values(l->target.index, doc, l->unknown_fp2, l->now);
	int rc;

	l->has_unknown_fp2 |= (doc->flags & SIMIDX_DOC_FP2_UNKNOWN) != 0;
	sx_values_put(&l->target.index->schema->columns, &values, record + 3);
	if (!l->input.by_id)
		return sx_sorter_add(l->output.by_fp, &doc->fp, err);
	rc = sx_sorter_add(l->input.by_id, record, err);
	if (!rc && doc->label)
		rc = sx_loader_put_label(l, doc, given, err);
	if (!rc && doc->note)
		rc = sx_loader_put_note(l, doc, given, err);
	if (rc)
		return rc;
	if (given >= l->next_id)
		l->next_id = given + 1;
	if (id)
		*id = given;
	return SIMIDX_OK;
}

int simidx_loader_put(simidx_loader *l, const simidx_doc *given, uint64_t *id, simidx_error *err)
{
	simidx_doc own;
	const simidx_doc *doc;
	int rc;

	sx_err_clear(err);
	if (id)
		*id = SIMIDX_NO_ID;
	if (!l || !given)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_loader_put: loader or doc is NULL");
	doc = sx_struct_read(given, SX_STRUCT_TO(simidx_doc, fp), &own, sizeof(own));
	rc = check_put(l, doc, err);
	if (!rc && l->input.by_id && doc->id == SIMIDX_NO_ID && l->next_id > SIMIDX_MAX_ID)
		rc = sx_fail(err, SIMIDX_E_RANGE, "there is no id above the largest one");
	if (!rc) {
		rc = put(l, doc, id, err);
		l->broken = rc != SIMIDX_OK;
	}
	l->n_rows++; /* documents that are refused count, too */
	return rc;
}

int simidx_loader_set_mark(simidx_loader *l, const void *data, size_t size, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!l)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_loader_set_mark: loader is NULL");
	rc = sx_loader_check_open(l, err);
	if (rc)
		return rc;
	return sx_meta_set_mark(&l->output.mark, data, size, "simidx_loader_set_mark", err);
}

int simidx_loader_reserve_ids(simidx_loader *l, uint64_t next_id, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!l)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_loader_reserve_ids: loader is NULL");
	rc = sx_loader_check_open(l, err);
	if (!rc)
		rc = sx_documents_check_next_id(l->target.index, next_id, err);
	if (!rc && next_id > l->next_id)
		l->next_id = next_id;
	return rc;
}

/* ---- finish ---- */

/*
 * LMDB's header pages take turns. By this commit both lead to the index: if either is damaged, the
 * other one has everything, and not an index without documents.
 */
static int write_header_again(simidx_loader *l, simidx_error *err)
{
	sx_txn *txn;
	int rc = sx_txn_begin_write(l->target.index->store, 0, &txn, err);

	if (rc)
		return rc;
	rc = sx_meta_write_header(txn, &l->target.index->tables.meta, &l->output.header, err);
	if (!rc)
		return sx_txn_commit(txn, err);
	sx_txn_abort(txn);
	return rc;
}

static int write_header(simidx_loader *l, simidx_error *err)
{
	const simidx_loader_report *report = &l->output.report;
	sx_txn *txn = l->output.txn;
	int rc;

	l->output.header.next_id = l->next_id;
	/* Numbers of rows go on, so that simidx_info.puts grows by what has come and stays. */
	if (l->target.is_merge)
		l->output.header.first_seq = l->output.header.next_seq =
			l->target.next_seq + report->duplicates - report->left_out;
	if (l->has_unknown_fp2) {
		l->output.header.flags |= SX_FLAG_UNKNOWN_FP2;
		l->output.header.unknown_fp2 = l->unknown_fp2;
	}
	rc = sx_meta_write_header(txn, &l->target.index->tables.meta, &l->output.header, err);
	if (!rc)
		rc = sx_meta_write_mark(txn, &l->target.index->tables.meta, &l->output.mark, err);
	if (rc)
		return rc;
	l->output.txn = NULL;
	sx_store_defer_sync(l->target.index->store, 0);
	rc = sx_txn_commit(txn, err);
	return rc ? rc : write_header_again(l, err);
}

static int build(simidx_loader *l, simidx_error *err)
{
	uint64_t n = l->sources.documents + sx_sorter_count(sx_loader_put_sorter(l));
	sx_loader_output *out = &l->output;
	simidx *index = l->target.index;
	int rc = sx_loader_check_space(l, err);

	if (!rc)
		rc = sx_loader_progress(l, "documents", 0, n, err);
	sx_store_defer_sync(index->store, 1);
	if (!rc)
		rc = sx_txn_begin_write(index->store, 0, &out->txn, err);
	if (!rc)
		rc = sx_meta_read_header(out->txn, &index->tables.meta, &out->header, err);
	if (!rc && l->input.by_id)
		rc = sx_loader_find_rejected(l, err);
	if (!rc)
		rc = sx_loader_write_documents(l, err);
	if (!rc)
		rc = sx_loader_write_tables(l, err);
	return rc ? rc : write_header(l, err);
}

/* What is to take the place of an index that is going to be removed. */
static int verify_new(simidx_loader *l, simidx_error *err)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index = l->target.index;
	int rc;

	simidx_set_progress(index, l->options.progress, l->options.ctx);
	rc = sx_verify_sound(index, "nothing has changed, as the new index has", l->options.stop,
			     l->options.ctx, err);
	if (!rc)
		rc = simidx_get_info(index, &info, err);
	l->new_bytes = info.file_bytes;
	return rc;
}

static int publish_new(simidx_loader *l, int wait_ms, simidx_error *err)
{
	return sx_publish(l->target.dir, l->target.path, &l->target.create, wait_ms, err);
}

/*
 * The new index stays locked until it is in its place, or others would think it abandoned. One that
 * it is to replace may be at work.
 */
static int publish(simidx_loader *l, simidx_error *err)
{
	sx_loader_target *t = &l->target;
	int rc = sx_loader_check_stop(l, err);

	if (!rc && !t->is_merge)
		return retry_while_busy(l, publish_new, err);
	if (!rc)
		rc = sx_store_check_path(t->old->store, err);
	return rc ? rc : sx_publish_exchange(t->old, t->dir, t->path, t->create.mode, err);
}

int simidx_loader_finish(simidx_loader *l, simidx_loader_report *report, simidx_error *err)
{
	simidx_loader_report own;
	int rc;

	sx_err_clear(err);
	if (!l || (report && !sx_struct_begin(report, sizeof(size_t), &own, sizeof(own))))
		return sx_fail(err, SIMIDX_E_ARG, "simidx_loader_finish: bad loader or report");
	rc = sx_loader_check_open(l, err);
	if (rc)
		return rc;
	l->broken = 1; /* once only, whatever comes of it */
	l->wait_ms = l->options.wait_ms;
	rc = build(l, err);
	sx_txn_abort(l->output.txn);
	l->output.txn = NULL;
	l->output.report.documents = l->output.header.documents;
	l->output.report.distinct = l->output.n_distinct;
	if (!rc && l->verifies)
		rc = verify_new(l, err);
	if (!rc)
		rc = publish(l, err);
	l->is_unknown = rc == SIMIDX_E_UNKNOWN;
	close_new(l);
	if (!rc && report)
		sx_struct_end(report, &l->output.report, sizeof(l->output.report));
	return rc;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>

#include "dedup/sd_against.h"
#include "dedup/sd_ahead.h"
#include "dedup/sd_compare.h"
#include "dedup/sd_decide.h"
#include "dedup/sd_known.h"
#include "dedup/sd_remember.h"
#include "dedup/sd_state.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_pool.h"
#include "util/sx_struct.h"

#define ALL_FLAGS                                                                             \
	(SIMIDX_DEDUP_NO_VERIFY | SIMIDX_DEDUP_COMPARE_ALL | SIMIDX_DEDUP_PAIRS |              \
	 SIMIDX_DEDUP_LASTING | SIMIDX_DEDUP_NEAREST)

/* The longest text (simidx_text.h). */
#define MOST_TEXT ((size_t)1 << 30)

/* ---- life ---- */

static int is_lasting(const simidx_dedup *dedup)
{
	return (dedup->options.flags & SIMIDX_DEDUP_LASTING) != 0;
}

static int check_options(const simidx_dedup_options *options, simidx_error *err)
{
	if (!options)
		return sx_fail(err, SIMIDX_E_ARG, "options.size was not set");
	if (options->kind < SIMIDX_DEDUP_TEXTS || options->kind > SIMIDX_DEDUP_FINGERPRINTS)
		return sx_fail(err, SIMIDX_E_ARG, "%d is no kind of rows", options->kind);
	if (options->flags & ~ALL_FLAGS)
		return sx_fail(err, SIMIDX_E_ARG, "unknown flags: %#x",
			       options->flags & ~ALL_FLAGS);
	if (options->flags & SIMIDX_DEDUP_NEAREST && options->flags & SIMIDX_DEDUP_PAIRS)
		return sx_fail(err, SIMIDX_E_ARG, "of pairs all are told, not the nearest");
	if (!(options->similarity > 0 && options->similarity <= 1))
		return sx_fail(err, SIMIDX_E_ARG,
			       "a similarity is above 0 and at most 1, not %g",
			       options->similarity);
	if (!options->threads || options->threads > SX_POOL_MAX_THREADS)
		return sx_fail(err, SIMIDX_E_ARG, "threads are 1 to %d, not %u",
			       SX_POOL_MAX_THREADS, options->threads);
	if (!options->batch_rows)
		return sx_fail(err, SIMIDX_E_ARG, "a batch has at least one row");
	if (options->remember < SIMIDX_DEDUP_FINGERPRINT || options->remember > SIMIDX_DEDUP_TEXT)
		return sx_fail(err, SIMIDX_E_ARG, "nothing is remembered by %d", options->remember);
	if (options->remember && (options->kind != SIMIDX_DEDUP_TEXTS ||
				  options->flags & SIMIDX_DEDUP_NO_VERIFY))
		return sx_fail(err, SIMIDX_E_ARG,
			       "where texts are not compared, none is remembered");
	if (options->n_against && (!options->against || options->flags & SIMIDX_DEDUP_PAIRS))
		return sx_fail(err, SIMIDX_E_ARG, "%s",
			       options->against ? "pairs are of rows, not of other indexes" :
						  "against is NULL");
	if (!options->calls.decided)
		return sx_fail(err, SIMIDX_E_ARG, "nobody hears of the decisions");
	return SIMIDX_OK;
}

/* The index has notes where texts are to be remembered, and none by another rule. */
static int look_at_notes(simidx_dedup *dedup, simidx *index, simidx_error *err)
{
	simidx_info info = SIMIDX_INFO_INIT;
	int rc = simidx_get_info(index, &info, err);

	if (rc)
		return rc;
	dedup->has_notes = (info.flags & SIMIDX_CREATE_NOTES) != 0;
	if (dedup->options.remember && !dedup->has_notes)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index keeps no notes, so no texts are remembered in it");
	return dedup->has_notes && dedup->verifies ? sd_check_notes(index, err) : SIMIDX_OK;
}

static int open_thread(simidx_dedup *dedup, simidx *index, unsigned number, simidx_error *err)
{
	struct sd_thread *thread = &dedup->thread[number];
	int rc = sd_kept_thread(dedup->kept, &thread->reader, &thread->text, err);

	if (!rc)
		rc = sd_against_open(&dedup->options, &thread->against, err);
	if (rc || !dedup->verifies)
		return rc;
	if (dedup->has_notes)
		rc = simidx_reader_open(index, &thread->notes, err);
	if (rc)
		return rc;
	thread->texts = sd_texts_reader_open(dedup->texts, number);
	return thread->texts ? sd_shingler_open(&thread->shingler, err) : sx_fail_nomem(err);
}

static int open_parts(simidx_dedup *dedup, simidx *index, simidx_error *err)
{
	const simidx_dedup_options *options = &dedup->options;
	int rc;

	dedup->item = sx_calloc(options->batch_rows, sizeof(*dedup->item));
	dedup->filling.item = sx_calloc(options->batch_rows, sizeof(*dedup->filling.item));
	dedup->fp = sx_calloc(options->batch_rows, sizeof(*dedup->fp));
	dedup->kept_at = sx_calloc(options->batch_rows, sizeof(*dedup->kept_at));
	dedup->thread = sx_calloc(options->threads, sizeof(*dedup->thread));
	dedup->texts = sd_texts_open(options);
	if (!dedup->item || !dedup->filling.item || !dedup->fp || !dedup->kept_at ||
	    !dedup->thread || !dedup->texts)
		return sx_fail_nomem(err);
	rc = sd_kept_open(index, dedup->writer, options, &dedup->kept, err);
	if (!rc)
		rc = look_at_notes(dedup, index, err);
	if (!rc)
		rc = sd_against_check(options, index, err);
	if (!rc)
		rc = sd_known_open(dedup, index, err);
	for (unsigned i = 0; !rc && i < options->threads; i++)
		rc = open_thread(dedup, index, i, err);
	return rc;
}

int simidx_dedup_open(simidx *index, simidx_writer *writer, const simidx_dedup_options *given,
		      simidx_dedup **out, simidx_error *err)
{
	simidx_dedup_options own;
	const simidx_dedup_options *options =
		sx_struct_read(given, sizeof(own), &own, sizeof(own));
	simidx_dedup *dedup;
	const char *tmpdir;
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "out is NULL");
	*out = NULL;
	if (!index || !writer)
		return sx_fail(err, SIMIDX_E_ARG, "%s is NULL", index ? "writer" : "index");
	rc = check_options(options, err);
	if (rc)
		return rc;
	dedup = sx_calloc(1, sizeof(*dedup));
	if (!dedup)
		return sx_fail_nomem(err);
	dedup->options = *options;
	dedup->writer = writer;
	dedup->verifies = options->kind == SIMIDX_DEDUP_TEXTS &&
			  !(options->flags & SIMIDX_DEDUP_NO_VERIFY);
	tmpdir = options->tmpdir ? options->tmpdir : getenv("TMPDIR");
	dedup->tmpdir = strdup(tmpdir && *tmpdir ? tmpdir : "/tmp");
	dedup->options.tmpdir = dedup->tmpdir;
	rc = dedup->tmpdir ? open_parts(dedup, index, err) : sx_fail_nomem(err);
	if (rc)
		simidx_dedup_close(dedup);
	else
		*out = dedup;
	return rc;
}

/* Empty n rows. */
static void clear(struct sd_item *item, size_t n)
{
	for (; n; n--, item++) {
		free(item->bytes);
		free(item->found);
		free(item->full);
		free(item->beside);
		sd_shingles_free(&item->set);
		memset(item, 0, sizeof(*item));
	}
}

void simidx_dedup_close(simidx_dedup *dedup)
{
	if (!dedup)
		return;
	if (dedup->is_begun) {
		atomic_store(&dedup->is_closing, 1);
		if (dedup->ahead.is_beside)
			sd_ahead_end(dedup, NULL);
		simidx_writer_rollback(dedup->writer);
		clear(dedup->item, dedup->n);
	}
	if (dedup->filling.item)
		clear(dedup->filling.item, dedup->filling.n);
	for (unsigned i = 0; dedup->thread && i < dedup->options.threads; i++) {
		struct sd_thread *thread = &dedup->thread[i];

		simidx_text_close(thread->text);
		simidx_reader_close(thread->reader);
		simidx_reader_close(thread->notes);
		sd_against_close(&dedup->options, thread->against);
		sd_packer_free(&thread->packer);
		sd_unpacker_free(&thread->unpacker);
		sd_texts_reader_close(thread->texts);
		sd_shingler_close(thread->shingler);
		sd_shingles_free(&thread->own);
		sd_shingles_free(&thread->other);
	}
	sd_texts_close(dedup->texts);
	sd_known_close(dedup);
	sd_kept_close(dedup->kept);
	free(dedup->item);
	free(dedup->filling.item);
	free(dedup->fp);
	free(dedup->kept_at);
	free(dedup->thread);
	free(dedup->match);
	free(dedup->near);
	free(dedup->tmpdir);
	free(dedup);
}

/* ---- counts ---- */

/* What the threads have counted so far. */
static void count(simidx_dedup *dedup)
{
	simidx_dedup_counts *counts = &dedup->counts;

	counts->empty = counts->foreign = counts->changed = counts->unread = 0;
	counts->too_long = counts->unsearched = 0;
	for (unsigned i = 0; i < dedup->options.threads; i++) {
		const struct sd_thread *thread = &dedup->thread[i];

		counts->empty += thread->n_empty;
		counts->foreign += thread->n_foreign;
		counts->too_long += thread->n_too_long;
		counts->unsearched += thread->n_unsearched;
		if (thread->texts)
			sd_texts_count(thread->texts, &counts->changed, &counts->unread);
	}
}

void simidx_dedup_count(const simidx_dedup *dedup, simidx_dedup_counts *out)
{
	simidx_dedup_counts own, *counts = sx_struct_begin(out, sizeof(own), &own, sizeof(own));
	size_t size;

	if (!dedup || !counts)
		return;
	size = counts->size;
	*counts = dedup->counts;
	counts->size = size;
	sx_struct_end(out, counts, sizeof(own));
}

int simidx_dedup_text(simidx_dedup *dedup, const simidx_dedup_near *near, const char **text,
		      size_t *size, simidx_error *err)
{
	struct sd_thread *thread;
	simidx_reader *notes;
	int rc = SIMIDX_E_NOT_FOUND;

	sx_err_clear(err);
	if (!dedup || !near || !text || !size)
		return sx_fail(err, SIMIDX_E_ARG, "a parameter is NULL");
	*text = "";
	*size = 0;
	if (!dedup->verifies)
		return sx_fail(err, rc, "texts are not compared");
	thread = &dedup->thread[0];
	if (near->keeper == SIMIDX_DEDUP_AGAINST && near->against < dedup->options.n_against)
		notes = sd_against_notes(thread->against, near->against);
	else if (near->keeper == SIMIDX_DEDUP_EARLIER)
		notes = dedup->has_notes ? thread->notes : NULL;
	else if (near->keeper < dedup->n_before + dedup->n_kept)
		return sd_texts_get(thread->texts, near->keeper, text, size, err);
	else
		return sx_fail(err, SIMIDX_E_ARG, "there is no such document");
	if (notes)
		rc = sd_note_get_text(thread, notes, near->id, text, size, err);
	if (rc == SIMIDX_E_NOT_FOUND)
		return sx_fail(err, rc, "the text is not remembered");
	return rc;
}

const char *simidx_dedup_problem(const simidx_dedup *dedup)
{
	return dedup ? sd_texts_problem(dedup->texts) : NULL;
}

void simidx_dedup_limit(simidx_dedup *dedup, uint64_t bytes)
{
	if (dedup)
		dedup->limit = bytes;
}

/* ---- batches ---- */

/* Nobody knows yet which rows are going to be kept: an index on another machine is asked for the
   labels of all of them, once. */
static int expect(simidx_dedup *dedup, simidx_error *err)
{
	simidx_doc *doc;
	size_t n = 0;
	int rc;

	if (!is_lasting(dedup))
		return SIMIDX_OK;
	doc = sx_calloc(dedup->n + 1, sizeof(*doc));
	if (!doc)
		return sx_fail_nomem(err);
	for (size_t i = 0; i < dedup->n; i++) {
		const struct sd_item *item = &dedup->item[i];

		if (sd_is_empty(item))
			continue;
		doc[n] = (simidx_doc)SIMIDX_DOC_INIT;
		doc[n].label = item->row.label_size ? item->row.label : NULL;
		doc[n++].label_size = item->row.label_size;
	}
	rc = simidx_writer_prefetch(dedup->writer, doc, n, err);
	free(doc);
	return rc;
}

static int decide_all(simidx_dedup *dedup, int is_complete, simidx_error *err)
{
	const simidx_dedup_calls *calls = &dedup->options.calls;
	simidx_reader *reader;
	int rc = sd_ahead_end(dedup, err);

	sd_compare_begin(dedup, &dedup->thread[0], 1, 0);
	if (!rc && !is_lasting(dedup))
		rc = simidx_writer_begin(dedup->writer, err);
	if (!rc)
		rc = expect(dedup, err);
	if (!rc)
		rc = simidx_writer_reader(dedup->writer, &reader, err);
	for (size_t i = 0; !rc && i < dedup->n; i++)
		rc = sd_decide(dedup, reader, &dedup->item[i], err);
	count(dedup);
	if (!rc && calls->committing)
		rc = calls->committing(calls->ctx, is_complete);
	return rc;
}

/*
 * Take the rows that were added as the batch at hand. Others may write to a lasting index, so what
 * is searched ahead is searched in the transaction, which ends in the same call. That of a private
 * one begins later: between calls there is none, as it would be of the thread that has begun it.
 */
static int begin_batch(simidx_dedup *dedup, simidx_error *err)
{
	struct sd_item *empty = dedup->item;
	int rc = is_lasting(dedup) ? simidx_writer_begin(dedup->writer, err) : SIMIDX_OK;

	dedup->failed = rc != 0;
	if (rc)
		return rc;
	dedup->item = dedup->filling.item;
	dedup->n = dedup->filling.n;
	dedup->filling = (struct sd_filling){ .item = empty };
	dedup->bytes = dedup->limit;
	dedup->is_begun = 1;
	sd_ahead_begin(dedup);
	return SIMIDX_OK;
}

/* Decide about the batch at hand, if there is one, and commit. */
static int end_batch(simidx_dedup *dedup, int is_complete, simidx_error *err)
{
	int rc;

	if (!dedup->is_begun)
		return SIMIDX_OK;
	rc = decide_all(dedup, is_complete, err);
	if (!rc)
		rc = sd_known_write(dedup, err);
	if (rc)
		simidx_writer_rollback(dedup->writer);
	else
		rc = simidx_writer_commit(dedup->writer, err);
	if (rc == SIMIDX_E_NO_SPACE)
		sd_known_drop_file(dedup);
	dedup->failed = rc != 0;
	clear(dedup->item, dedup->n);
	dedup->n_before += dedup->n_kept;
	dedup->n = dedup->n_kept = 0;
	dedup->is_begun = 0;
	return rc;
}

int simidx_dedup_flush(simidx_dedup *dedup, int is_complete, simidx_error *err)
{
	int rc;

	sx_err_clear(err);
	if (!dedup)
		return sx_fail(err, SIMIDX_E_ARG, "dedup is NULL");
	if (dedup->failed)
		return sx_fail(err, SIMIDX_E_STATE, "an earlier call has failed");
	rc = end_batch(dedup, 0, err);
	if (!rc)
		rc = begin_batch(dedup, err);
	return rc ? rc : end_batch(dedup, is_complete, err);
}

/* The rows that were added are a batch: decide about the one before it. */
static int turn(simidx_dedup *dedup, simidx_error *err)
{
	int rc = end_batch(dedup, 0, err);

	if (!rc)
		rc = begin_batch(dedup, err);
	return rc || dedup->ahead.is_beside ? rc : end_batch(dedup, 0, err);
}

static int check_row(const simidx_dedup *dedup, const simidx_dedup_row *row, simidx_error *err)
{
	if (!row)
		return sx_fail(err, SIMIDX_E_ARG, "row.size was not set");
	if ((row->text_size && !row->text) || (row->n_features && !row->features) ||
	    (row->label_size && !row->label) || (row->extra_size && !row->extra))
		return sx_fail(err, SIMIDX_E_ARG, "a row has a size without bytes");
	if (row->text_size > MOST_TEXT)
		return sx_fail(err, SIMIDX_E_RANGE, "a text has at most 2^30 bytes");
	if (row->flags & ~(SIMIDX_DEDUP_PLACED | SIMIDX_DEDUP_ASK))
		return sx_fail(err, SIMIDX_E_ARG, "unknown flags of a row: %#x",
			       row->flags & ~(SIMIDX_DEDUP_PLACED | SIMIDX_DEDUP_ASK));
	if (row->flags & SIMIDX_DEDUP_ASK && dedup->options.flags & SIMIDX_DEDUP_PAIRS)
		return sx_fail(err, SIMIDX_E_ARG, "of pairs all are told, so none is asked about");
	if (!(row->flags & SIMIDX_DEDUP_PLACED))
		return SIMIDX_OK;
	if (!dedup->options.calls.read_text)
		return sx_fail(err, SIMIDX_E_ARG, "a row has a place, and nobody can read there");
	if (row->place.offset >> 48)
		return sx_fail(err, SIMIDX_E_RANGE, "a place is below 2^48");
	return SIMIDX_OK;
}

/* A text of more bytes than a batch has is decided at once, so it need not be copied. */
static int add_long(simidx_dedup *dedup, const simidx_dedup_row *row, simidx_error *err)
{
	struct sd_filling *filling = &dedup->filling;
	simidx_dedup_row rest = *row;
	int rc = filling->n ? turn(dedup, err) : SIMIDX_OK;

	if (!rc)
		rc = end_batch(dedup, 0, err);
	if (rc)
		return rc;
	rest.text_size = 0;
	filling->item[0].bytes = sd_row_copy(&filling->item[0].row, &rest);
	if (!filling->item[0].bytes)
		return sx_fail_nomem(err);
	filling->item[0].row.text = row->text;
	filling->item[0].row.text_size = row->text_size;
	filling->n = 1;
	rc = begin_batch(dedup, err);
	return rc ? rc : end_batch(dedup, 0, err);
}

int simidx_dedup_add(simidx_dedup *dedup, const simidx_dedup_row *given, simidx_error *err)
{
	simidx_dedup_row own;
	const simidx_dedup_row *row = sx_struct_read(given, sizeof(own), &own, sizeof(own));
	struct sd_filling *filling;
	struct sd_item *item;
	size_t bytes;
	int rc;

	sx_err_clear(err);
	if (!dedup)
		return sx_fail(err, SIMIDX_E_ARG, "dedup is NULL");
	if (dedup->failed)
		return sx_fail(err, SIMIDX_E_STATE, "an earlier call has failed");
	rc = check_row(dedup, row, err);
	if (rc)
		return rc;
	/* Somebody may wait for the decisions, and rows come slowly. */
	if (dedup->ahead.is_beside && atomic_load(&dedup->ahead.is_done))
		rc = end_batch(dedup, 0, err);
	if (rc)
		return rc;
	filling = &dedup->filling;
	bytes = sd_row_bytes(row);
	if (row->text_size > dedup->options.batch_bytes)
		return add_long(dedup, row, err);
	if (filling->n == dedup->options.batch_rows ||
	    (filling->n && filling->bytes + bytes > dedup->options.batch_bytes))
		rc = turn(dedup, err);
	if (rc)
		return rc;
	item = &filling->item[filling->n];
	item->bytes = sd_row_copy(&item->row, row);
	if (!item->bytes)
		return sx_fail_nomem(err);
	filling->n++;
	filling->bytes += bytes;
	return SIMIDX_OK;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_target.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "load/ld_fit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_check.h>

/* A load that makes an index ends with everything merged; until then, merge rarely. */
#define FIRST_LOAD_THRESHOLD 1000000

/* Temporary space for a document while an index is built, in bytes, about. */
#define SPILL_A_DOCUMENT 40

#define WAIT_SLICE_MS 200

int ld_target_fail(const struct ld_target *target, const simidx_error *err)
{
	/* That a signal has ended the wait for others is told at the end. */
	if (err->code == SIMIDX_E_STOPPED)
		return TL_TROUBLE;
	return tl_index_error(ld_from_blamed(target->options, err), err);
}

/*
 * Learn now that texts cannot be handled as the options say. Returns SIMIDX_E_MOVED, without a
 * message, when the index has been exchanged for another one.
 */
static int fit_text(struct ld_target *target, simidx *like, const char *path)
{
	simidx_error err;
	int rc;

	if (!tl_text_is_given(&target->options->text))
		return 0;
	simidx_text_close(target->text);
	rc = tl_text_open_for(like, &target->options->text, &target->text, &err);
	return rc && rc != SIMIDX_E_MOVED ? tl_index_error(path, &err) : rc;
}

/* Returns as fit_text(). */
static int open_once(struct ld_target *target)
{
	const struct ld_options *options = target->options;
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_info info;
	simidx_error err;
	int rc;

	simidx_close(target->index);
	free(target->profile);
	target->profile = NULL;
	how.flags = ld_open_flags(options);
	if (tl_path_open(options->index, &how, &target->index, &info, &err))
		return ld_target_fail(target, &err);
	target->bits = info.bits;
	target->flags = info.flags;
	target->documents = info.documents;
	target->next_id = info.next_id;
	target->used_bytes = info.used_bytes;
	target->rejudges = (int)info.rejudges;
	target->profile = strdup(info.profile);
	if (!target->profile)
		return tl_error("out of memory");
	rc = ld_fit_options(options, &info);
	if (!rc)
		rc = ld_fit_extractor(options, options->index, &info);
	return rc ? rc : fit_text(target, target->index, options->index);
}

static int open_existing(struct ld_target *target)
{
	int rc;

	do
		rc = open_once(target);
	while (rc == SIMIDX_E_MOVED);
	return rc;
}

int ld_target_grows(const struct ld_target *target)
{
	return target->options->mode == LD_ADD || target->options->mode == LD_IF_NEW;
}

static void close_writer(struct ld_target *target)
{
	uint64_t committed = simidx_writer_stored(target->writer);

	target->committed += committed;
	if (ld_target_grows(target))
		target->documents += committed;
	simidx_writer_close(target->writer);
	target->writer = NULL;
	if (target->state == LD_INSERTING)
		target->state = LD_CLOSED;
}

/*
 * Open what is at the path now, in place of what was there. What has been read was read for an
 * index of that kind; of one that was not there when we began only the bits matter as yet.
 */
static int anew(struct ld_target *target)
{
	unsigned bits = target->bits, flags = target->flags;
	char *profile = target->profile;
	simidx *old = target->index;
	uint64_t documents, next_id = target->next_id;
	int rc, has_less;

	close_writer(target);
	documents = target->documents;
	target->index = NULL;
	target->profile = NULL;
	rc = open_existing(target);
	if (!rc && (bits != target->bits ||
		    (profile && (flags != target->flags || strcmp(profile, target->profile) != 0))))
		rc = tl_error("%s: an index of another kind has been put there meanwhile",
			      target->options->index);
	/* Others may have deleted documents, unless there are no ids to delete them by. */
	has_less = flags & SIMIDX_CREATE_NO_IDS ? target->documents < documents
						: target->next_id < next_id;
	if (!rc && target->committed && has_less)
		rc = tl_error("%s: has been replaced meanwhile, and documents that were stored "
			      "are not there any more",
			      target->options->index);
	simidx_close(old);
	free(profile);
	return rc;
}

/* Learn now, not after an hour of reading, that texts cannot be handled so. */
static int try_extractor(struct ld_target *target)
{
	simidx_error err;

	/* With --from, how is what the first of them says. */
	if (!tl_text_is_given(&target->options->text) || target->options->from.n)
		return 0;
	if (tl_text_open(&target->options->text, target->bits, &target->text, &err))
		return tl_index_error(NULL, &err);
	return 0;
}

/* A new index is like the first one that is taken over, where no option says otherwise. */
static int take_after_source(struct ld_target *target)
{
	const struct ld_options *options = target->options;
	int rc;

	do {
		if (!options->bits)
			target->bits = target->from.first.bits;
		if (ld_fit_times(options, options->from.at[0], target->from.first.flags) ||
		    ld_fit_extractor(options, options->from.at[0], &target->from.first))
			return TL_TROUBLE;
		rc = fit_text(target, target->from.index[0], options->from.at[0]);
	} while (rc == SIMIDX_E_MOVED && !(rc = ld_from_again(&target->from, 0)));
	return rc;
}

int ld_target_open(struct ld_target *target, const struct ld_options *options)
{
	simidx_error err;
	int missing, rc;

	memset(target, 0, sizeof(*target));
	target->options = options;
	missing = tl_path_is_missing(options->index, &err);
	/* Who does not answer is not asked a second time. */
	if (err.code == SIMIDX_E_IO)
		return tl_index_error(options->index, &err);
	target->bits = options->bits ? options->bits : SIMIDX_DEFAULT_BITS;
	target->how = (simidx_loader_options)SIMIDX_LOADER_OPTIONS_INIT;
	target->how.memory = options->memory;
	target->how.tmpdir = options->tmpdir;
	target->how.threads = options->threads;
	target->how.duplicates = options->duplicates;
	target->how.wait_ms = options->wait_ms;
	target->how.flags = ld_open_flags(options);
	if (missing && options->mode != LD_DELETE && !options->merge_only &&
	    ld_fit_parent(options->index))
		return TL_TROUBLE;
	if (!missing && options->create == LD_CREATE_MUST)
		return tl_error("%s: exists already; without --create documents are added to it",
				options->index);
	if (!missing && options->create == LD_CREATE_TRUNCATE && ld_fit_replaced(options))
		return TL_TROUBLE;
	if (ld_fit_sources(options))
		return TL_TROUBLE;
	/* What is merged or deleted must be there. */
	if (options->create == LD_CREATE_IF_MISSING &&
	    (!missing || options->merge_only || options->mode == LD_DELETE))
		rc = open_existing(target);
	else
		rc = try_extractor(target);
	if (!rc)
		rc = ld_from_open(&target->from, options);
	if (!rc && !target->index && options->from.n)
		rc = take_after_source(target);
	if (!rc && !target->index && !options->from.n)
		rc = ld_fit_new_times(options);
	if (!rc && options->radius > (int)target->bits)
		rc = tl_usage_error("--radius %d: a fingerprint of the index has %u bits",
				    options->radius, target->bits);
	return rc;
}

/* ---- loader and writer ---- */

/*
 * Open a loader of a new index, or with NULL of what is there and all that comes: about so many
 * documents; 0 = not known. Where another load was quicker, its index is open then.
 */
static int load(struct ld_target *target, const simidx_create_options *create, uint64_t rows)
{
	simidx_error err;
	int rc = simidx_loader_open(target->options->index, create, &target->how,
				    &target->loader, &err);

	/* Another load may have been quicker: then this one adds to what is there. */
	if (rc == SIMIDX_E_EXISTS && create && target->options->create == LD_CREATE_IF_MISSING)
		return anew(target);
	if (rc)
		return ld_target_fail(target, &err);
	rc = ld_from_add(&target->from, target->loader);
	if (!rc && simidx_loader_expect(target->loader, rows, 0, &err))
		rc = ld_target_fail(target, &err);
	return rc;
}

/* What the options say of a new index, and what it is like where they do not say. */
static int describe(struct ld_target *target, int of_texts, simidx_create_options *create,
		    char made_by[TL_FEATURES_PROFILE_SIZE])
{
	const struct ld_options *options = target->options;
	simidx_error err;

	create->bits = target->bits;
	create->plan = options->plan;
	create->expect = options->expect;
	create->fill = options->fill;
	create->mode = options->permissions;
	if (options->layout >= 0)
		create->layout = (unsigned)options->layout;
	if (options->create == LD_CREATE_TRUNCATE)
		create->flags |= SIMIDX_CREATE_TRUNCATE;
	if (options->no_ids > 0)
		create->flags |= SIMIDX_CREATE_NO_IDS;
	if (options->times)
		create->flags |= SIMIDX_CREATE_TIMES;
	if (options->force)
		create->flags |= SIMIDX_CREATE_FORCE;
	if (options->fp2 >= 0 ? options->fp2
			      : (of_texts || options->features_by || target->has_fp2) &&
					options->no_ids <= 0 &&
					!options->from.n && !target->like)
		create->flags |= SIMIDX_CREATE_FP2;
	if (options->from.n) {
		ld_from_describe(options, &target->from.first, create);
	} else if (target->like) {
		ld_from_describe(options, target->like, create);
		if (!create->expect)
			create->expect = target->like->documents;
	} else if (of_texts) {
		if (!target->text &&
		    tl_text_open(&options->text, target->bits, &target->text, &err))
			return ld_target_fail(target, &err);
		create->profile = simidx_text_profile(target->text);
		create->check_fps = simidx_text_check_fps(target->text, &create->n_check_fps);
	} else if (options->features_by) {
		tl_features_profile(options->features_by, made_by);
		create->profile = made_by;
	}
	return 0;
}

/* An empty index was made, or there is the one that another load has made meanwhile. */
static int take_made(struct ld_target *target, int rc, const simidx_error *err)
{
	if (rc && !(rc == SIMIDX_E_EXISTS && target->options->create == LD_CREATE_IF_MISSING))
		return ld_target_fail(target, err);
	target->is_new = !rc;
	return anew(target);
}

/* An empty index for a writer. Made by a loader, so that other loaders are waited for. */
static int make_empty(struct ld_target *target)
{
	simidx_error err;
	int rc = simidx_loader_finish(target->loader, NULL, &err);

	simidx_loader_close(target->loader);
	target->loader = NULL;
	return take_made(target, rc, &err);
}

/* An empty index of an engine. */
static int make_with_engine(struct ld_target *target, const simidx_create_options *create)
{
	simidx_error err;
	simidx *index;
	int rc = simidx_create(target->options->index, create, &index, &err);

	simidx_close(index);
	return take_made(target, rc, &err);
}

int ld_target_create(struct ld_target *target, int of_texts)
{
	const struct ld_options *options = target->options;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	char made_by[TL_FEATURES_PROFILE_SIZE];
	simidx_error err;
	int inserts = options->write == LD_WRITE_INSERT ||
		      (options->write == LD_WRITE_AUTO && options->merge == LD_MERGE_NEVER);
	int rc = describe(target, of_texts, &create, made_by);

	if (tl_index_nearest(options->index) && tl_path_is_missing(options->index, &err))
		tl_notice("%s: a new index; is %s meant?", options->index,
			  tl_index_nearest(options->index));
	if (!rc && tl_path_is_uri(options->index))
		rc = make_with_engine(target, &create);
	else if (!rc)
		rc = load(target, &create, target->like ? target->like->documents : 0);
	if (!rc && target->loader && inserts)
		rc = make_empty(target);
	if (rc || (target->index && !target->is_new)) {
		/* The extractor follows from what is there. */
		simidx_text_close(target->text);
		target->text = NULL;
		return rc;
	}
	target->is_new = 1;
	if (!target->loader)
		return 0;
	target->state = LD_BUILDING;
	target->flags = create.flags & (SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_FP2 |
					SIMIDX_CREATE_TIMES | SIMIDX_CREATE_NOTES);
	target->profile = strdup(create.profile ? create.profile : "");
	return target->profile ? 0 : tl_error("out of memory");
}

int ld_target_insert(struct ld_target *target)
{
	const struct ld_options *options = target->options;
	simidx_writer_options writer = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_error err;

	target->changes = 0;
	writer.rejudged = target->rejudged;
	writer.rejudged_ctx = target->rejudged_ctx;
	writer.durability = options->durability;
	/* A moment at a time, so that a signal ends the waiting. */
	writer.wait_ms = options->wait_ms < 0 || options->wait_ms > WAIT_SLICE_MS ?
				 WAIT_SLICE_MS :
				 options->wait_ms;
	if (options->merge == LD_MERGE_NEVER)
		writer.merge = SIMIDX_MERGE_NEVER;
	else if (options->merge == LD_MERGE_BESIDE)
		writer.merge = SIMIDX_MERGE_BESIDE;
	if (target->is_new && options->mode == LD_ADD)
		writer.merge_threshold = FIRST_LOAD_THRESHOLD;
	if (simidx_writer_open(target->index, &writer, &target->writer, &err))
		return ld_target_fail(target, &err);
	simidx_set_progress(target->index, target->how.progress, target->how.ctx);
	target->state = LD_INSERTING;
	return 0;
}

int ld_target_rebuild(struct ld_target *target, uint64_t rows)
{
	uint64_t all, bytes;
	double growth = 1;
	int rc;

	close_writer(target);
	all = target->documents + rows;
	if (target->documents)
		growth = (double)all / (double)target->documents;
	bytes = (uint64_t)((double)target->used_bytes * growth);
	if (all * SPILL_A_DOCUMENT > target->options->memory)
		bytes += all * SPILL_A_DOCUMENT;
	tl_notice("%s: rebuilding: needs about %llu MB%s", target->options->index,
		  (unsigned long long)bytes / 1000000 + 1,
		  rows ? "" : " and what the new documents take");
	rc = load(target, NULL, rows);
	/* Others may have put another index there before the loader locked it. */
	if (!rc)
		rc = anew(target);
	if (!rc)
		target->state = LD_BUILDING;
	return rc;
}

int ld_target_show(struct ld_target *target, uint64_t stored)
{
	int rc;

	simidx_loader_close(target->loader);
	target->loader = NULL;
	target->state = LD_CLOSED;
	target->committed += stored;
	rc = anew(target);
	if (!rc)
		rc = ld_target_insert(target);
	target->has_inserted |= !rc;
	return rc;
}

int ld_target_extractor(struct ld_target *target, simidx_text **text)
{
	const struct ld_options *options = target->options;
	simidx_error err;
	int rc;

	if (!target->index && !options->from.n && !tl_features_is_text(target->profile))
		return tl_error("%s: is going to hold bare fingerprints, as the first row is "
				"one; --extractor makes an index of texts",
				options->index);
	do {
		if (target->text)
			rc = simidx_text_clone(target->text, text, &err);
		else if (target->index)
			rc = tl_text_open_for(target->index, &options->text, text, &err);
		else
			rc = tl_text_open_for(target->from.index[0], &options->text, text, &err);
	} while (target->index && ld_target_again(target, rc, &err));
	return rc ? ld_target_fail(target, &err) : 0;
}

int ld_target_is_bare(const struct ld_target *target)
{
	if (target->options->features_by)
		return 1;
	return target->state != LD_CLOSED && !target->text && !tl_features_is_text(target->profile);
}

static int waits(struct ld_target *target, const simidx_error *err)
{
	char phase[sizeof(err->text) + 16];
	double now = tl_seconds();

	if (!target->waiting_since)
		target->waiting_since = now;
	snprintf(phase, sizeof(phase), "waiting: %s", err->text);
	if (target->how.progress)
		target->how.progress(target->how.ctx, phase, 0, 0);
	return !tl_stop_requested() &&
	       (target->options->wait_ms < 0 ||
		(now - target->waiting_since) * 1000 < target->options->wait_ms);
}

int ld_target_again(struct ld_target *target, int rc, const simidx_error *err)
{
	if (rc == SIMIDX_E_BUSY)
		return waits(target, err);
	target->waiting_since = 0;
	return rc == SIMIDX_E_MOVED && !anew(target) && !ld_target_insert(target);
}

int ld_target_describe(struct ld_target *target, simidx_info *info)
{
	simidx_error err;
	int rc;

	while ((rc = simidx_get_info(target->index, info, &err)) == SIMIDX_E_MOVED)
		if (anew(target))
			return TL_TROUBLE;
	return rc ? ld_target_fail(target, &err) : 0;
}

/*
 * Begin a transaction and end it. From then on nothing comes any more that a load which was killed
 * has sent, and what it has stored is seen for certain.
 */
static int begin_and_end(struct ld_target *target, simidx_error *err)
{
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_writer *writer;
	int rc;

	o.flags = SIMIDX_WRITER_RESUME;
	o.wait_ms = target->options->wait_ms ? WAIT_SLICE_MS : 0;
	rc = simidx_writer_open(target->index, &o, &writer, err);
	if (!rc)
		rc = simidx_writer_begin(writer, err);
	simidx_writer_close(writer);
	if (!rc)
		rc = simidx_get_info(target->index, &info, err);
	if (!rc) {
		target->documents = info.documents;
		target->next_id = info.next_id;
	}
	return rc;
}

int ld_target_resume(struct ld_target *target)
{
	simidx_error err;
	int rc;

	do
		rc = begin_and_end(target, &err);
	while ((rc == SIMIDX_E_BUSY && waits(target, &err)) ||
	       (rc == SIMIDX_E_MOVED && !anew(target)));
	target->waiting_since = 0;
	return rc ? ld_target_fail(target, &err) : 0;
}

int ld_target_mark(struct ld_target *target, void *bytes, size_t size, size_t *n, simidx_error *err)
{
	int rc;

	do
		rc = simidx_get_mark(target->index, bytes, size, n, err);
	while (rc == SIMIDX_E_MOVED && !anew(target));
	return rc;
}

uint64_t ld_target_others(const struct ld_target *target)
{
	return (target->index ? target->documents : 0) + ld_from_documents(&target->from);
}

uint64_t ld_target_stored(const struct ld_target *target)
{
	return target->committed + simidx_writer_stored(target->writer);
}

const char *ld_target_way(const struct ld_target *target)
{
	if (!target->loader)
		return target->index ? "insert" : "nothing";
	if (target->is_new)
		return "build";
	return target->has_inserted ? "insert, rebuild" : "rebuild";
}

void ld_target_release(struct ld_target *target)
{
	simidx_writer_close(target->writer);
	simidx_loader_close(target->loader);
	simidx_close(target->index);
	target->writer = NULL;
	target->loader = NULL;
	target->index = NULL;
}

void ld_target_close(struct ld_target *target)
{
	ld_target_release(target);
	ld_from_close(&target->from);
	free(target->profile);
	simidx_text_close(target->text);
	memset(target, 0, sizeof(*target));
}

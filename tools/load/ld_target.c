/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_target.h"

#include "common/tl_msg.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A load that makes an index ends with everything merged; until then, merge rarely. */
#define FIRST_LOAD_THRESHOLD 1000000

/* Temporary space for a document while an index is built, in bytes, about. */
#define SPILL_A_DOCUMENT 40

#define WAIT_SLICE_MS 200

/* The library waits for other writers a moment at a time, so that a signal ends the waiting. */
static int wait_slice(const struct ld_options *options)
{
	return options->wait_ms < 0 || options->wait_ms > WAIT_SLICE_MS ? WAIT_SLICE_MS
									 : options->wait_ms;
}

static int fail(const struct ld_target *target, const simidx_error *err)
{
	return tl_index_error(target->options->index, err);
}

/* Nothing at the path, or an empty directory: simidx_create() takes both. */
static int is_missing(const char *path)
{
	struct stat status;
	const struct dirent *entry;
	DIR *directory;
	int missing = 1;

	if (lstat(path, &status))
		return 1;
	directory = opendir(path);
	if (!directory)
		return 0;
	while (missing && (entry = readdir(directory)) != NULL)
		missing = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	closedir(directory);
	return missing;
}

static const char *layout_name(unsigned layout)
{
	return layout == SIMIDX_LAYOUT_ROWS ? "rows" : "blocks";
}

/* An option that was given must say what the index is. */
static int check_options(const struct ld_options *options, const simidx_info *info)
{
	const char *path = options->index;
	int has_fp2 = (info->flags & SIMIDX_CREATE_FP2) != 0;
	int has_no_ids = (info->flags & SIMIDX_CREATE_NO_IDS) != 0;

	if (options->bits && options->bits != info->bits)
		return tl_error("%s: has fingerprints of %u bits, not of %u", path, info->bits,
				options->bits);
	if (options->plan && strcmp(options->plan, "auto") != 0 &&
	    strcmp(options->plan, info->plan) != 0)
		return tl_error("%s: has the plan %s, not %s", path, info->plan,
				options->plan);
	if (options->layout >= 0 && (unsigned)options->layout != info->layout)
		return tl_error("%s: has the layout %s, not %s", path,
				layout_name(info->layout),
				layout_name((unsigned)options->layout));
	if (options->no_ids > 0 && !has_no_ids)
		return tl_error("%s: has ids, so --ids none does not fit", path);
	if (options->fp2 >= 0 && options->fp2 != has_fp2)
		return tl_error("%s: has %ssecond fingerprints, so --%s does not fit", path,
				has_fp2 ? "" : "no ", options->fp2 ? "fp2" : "no-fp2");
	return 0;
}

/* The profile begins with the name of the extractor that made the index. */
static int check_extractor(const struct ld_options *options, const simidx_info *info)
{
	size_t length = strcspn(info->profile, " ");

	if (!options->extractor)
		return 0;
	if (length == 0)
		return tl_error("%s: holds bare fingerprints, so --extractor %s does not fit",
				options->index, options->extractor);
	if (strlen(options->extractor) == length &&
	    strncmp(options->extractor, info->profile, length) == 0)
		return 0;
	return tl_error("%s: was made by the extractor %.*s, not by %s", options->index,
			(int)length, info->profile, options->extractor);
}

static int open_existing(struct ld_target *target)
{
	simidx_open_options options = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;
	int rc;

	if (target->options->force)
		options.flags |= SIMIDX_OPEN_FORCE;
	if (simidx_open(target->options->index, &options, &target->index, &err) ||
	    simidx_get_info(target->index, &info, &err))
		return fail(target, &err);
	target->bits = info.bits;
	target->flags = info.flags;
	target->documents = info.documents;
	target->used_bytes = info.used_bytes;
	rc = check_options(target->options, &info);
	return rc ? rc : check_extractor(target->options, &info);
}

/* Learn now, not after an hour of reading, that an extractor is not known. */
static int try_extractor(struct ld_target *target)
{
	simidx_error err;

	if (!target->options->extractor)
		return 0;
	if (tl_text_open(target->options->extractor, target->bits, &target->text, &err))
		return tl_error("--extractor: %s", err.text);
	return 0;
}

/* Only an index may be replaced: learn now if it is something else. */
static int check_replaced(const struct ld_options *options)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_error err;
	simidx *index;

	if (options->force)
		how.flags |= SIMIDX_OPEN_FORCE;
	if (simidx_open(options->index, &how, &index, &err))
		return tl_index_error(options->index, &err);
	simidx_close(index);
	return 0;
}

static int open_sources(struct ld_target *target)
{
	const struct ld_options *options = target->options;
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_error err;

	how.flags = SIMIDX_OPEN_READ_ONLY | (options->force ? SIMIDX_OPEN_FORCE : 0);
	target->from = calloc(options->n_from + 1, sizeof(*target->from));
	if (!target->from)
		return tl_error("out of memory");
	for (size_t i = 0; i < options->n_from; i++)
		if (simidx_open(options->from[i], &how, &target->from[i], &err))
			return tl_index_error(options->from[i], &err);
	return 0;
}

/* A new index is like the first one that is taken over, where no option says otherwise. */
static int take_after_source(struct ld_target *target)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;

	if (simidx_get_info(target->from[0], &info, &err))
		return tl_index_error(target->options->from[0], &err);
	if (!target->options->bits)
		target->bits = info.bits;
	return 0;
}

int ld_target_open(struct ld_target *target, const struct ld_options *options)
{
	int missing = is_missing(options->index);
	int rc;

	memset(target, 0, sizeof(*target));
	target->options = options;
	target->bits = options->bits ? options->bits : SIMIDX_DEFAULT_BITS;
	target->how = (simidx_loader_options)SIMIDX_LOADER_OPTIONS_INIT;
	target->how.memory = options->memory;
	target->how.tmpdir = options->tmpdir;
	target->how.threads = options->threads;
	target->how.duplicates = options->duplicates;
	target->how.wait_ms = wait_slice(options);
	target->how.flags = options->force ? SIMIDX_OPEN_FORCE : 0;
	if (!missing && options->create == LD_CREATE_MUST)
		return tl_error("%s: exists already", options->index);
	if (!missing && options->create == LD_CREATE_TRUNCATE && check_replaced(options))
		return TL_TROUBLE;
	if (!missing && options->create == LD_CREATE_IF_MISSING)
		rc = open_existing(target);
	else
		rc = try_extractor(target);
	if (!rc)
		rc = open_sources(target);
	if (!rc && !target->index && options->n_from)
		rc = take_after_source(target);
	return rc;
}

/* ---- a new index ---- */

/* What the options leave open is as in the first index that is taken over. */
static int fill_from_source(struct ld_target *target, simidx_create_options *create)
{
	const struct ld_options *options = target->options;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;

	if (simidx_get_info(target->from[0], &info, &err))
		return tl_index_error(options->from[0], &err);
	if (options->layout < 0)
		create->layout = info.layout;
	if (!create->plan)
		create->plan = info.plan;
	if (!create->fill)
		create->fill = info.fill;
	if (options->no_ids < 0)
		create->flags |= info.flags & SIMIDX_CREATE_NO_IDS;
	if (options->fp2 < 0)
		create->flags |= info.flags & SIMIDX_CREATE_FP2;
	create->profile = info.profile;
	create->probes = info.probes;
	create->n_probes = info.n_probes;
	return 0;
}

static int fill_create(struct ld_target *target, int of_texts, simidx_create_options *create)
{
	const struct ld_options *options = target->options;
	simidx_error err;

	create->bits = target->bits;
	create->plan = options->plan;
	create->fill = options->fill;
	if (options->layout >= 0)
		create->layout = (unsigned)options->layout;
	if (options->create == LD_CREATE_TRUNCATE)
		create->flags |= SIMIDX_CREATE_TRUNCATE;
	if (options->no_ids > 0)
		create->flags |= SIMIDX_CREATE_NO_IDS;
	if (options->force)
		create->flags |= SIMIDX_CREATE_FORCE;
	if (options->fp2 >= 0 ? options->fp2
			      : of_texts && options->no_ids <= 0 && !options->n_from)
		create->flags |= SIMIDX_CREATE_FP2;
	if (options->n_from)
		return fill_from_source(target, create);
	if (of_texts) {
		if (!target->text && tl_text_open(NULL, target->bits, &target->text, &err))
			return fail(target, &err);
		tl_text_describe(target->text, create);
	}
	return 0;
}

/* ---- loader and writer ---- */

static int add_sources(struct ld_target *target)
{
	simidx_error err;

	for (size_t i = 0; i < target->options->n_from; i++)
		if (simidx_loader_add_index(target->loader, target->from[i], &err))
			return fail(target, &err);
	return 0;
}

static int open_loader(struct ld_target *target, const simidx_create_options *create)
{
	simidx_error err;

	int rc;

	do
		rc = simidx_loader_open(target->options->index, create, &target->how,
					&target->loader, &err);
	while (rc == SIMIDX_E_BUSY && ld_target_waits(target));
	target->waiting_since = 0;
	return rc ? fail(target, &err) : add_sources(target);
}

/* Into a new index: with a loader, unless it is to grow commit by commit. */
static int create_index(struct ld_target *target, int of_texts)
{
	const struct ld_options *options = target->options;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	int inserts = options->mode == LD_MODE_INSERT ||
		      (options->mode == LD_MODE_AUTO && options->merge == LD_MERGE_NEVER &&
		       !options->n_from && options->duplicates != SIMIDX_DUPLICATES_LAST);
	simidx_error err;
	int rc = fill_create(target, of_texts, &create);

	if (!rc && !inserts)
		rc = open_loader(target, &create);
	else if (!rc)
		rc = simidx_create(options->index, &create, &target->index, &err);
	/* Another load may have been quicker: then this one adds to what is there. */
	if (inserts && rc == SIMIDX_E_EXISTS && options->create == LD_CREATE_IF_MISSING)
		return open_existing(target);
	if (inserts && rc < 0)
		rc = fail(target, &err);
	target->flags = create.flags & (SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_FP2);
	target->created = 1;
	target->of_texts = of_texts;
	return rc;
}

static int open_writer(struct ld_target *target)
{
	const struct ld_options *options = target->options;
	simidx_writer_options writer = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_error err;

	writer.durability = options->durability;
	writer.wait_ms = wait_slice(options);
	if (options->merge == LD_MERGE_NEVER)
		writer.merge = SIMIDX_MERGE_NEVER;
	if (target->created)
		writer.merge_threshold = FIRST_LOAD_THRESHOLD;
	if (simidx_writer_open(target->index, &writer, &target->writer, &err))
		return fail(target, &err);
	if (tl_progress_wanted())
		simidx_set_progress(target->index, tl_progress_phase, NULL);
	return 0;
}

int ld_target_rebuild(struct ld_target *target, uint64_t rows)
{
	uint64_t all = target->documents + rows, bytes = 0;
	double growth = target->documents ? (double)all / (double)target->documents : 1;

	simidx_writer_close(target->writer);
	target->writer = NULL;
	bytes = (uint64_t)((double)target->used_bytes * growth);
	if (all * SPILL_A_DOCUMENT > target->options->memory)
		bytes += all * SPILL_A_DOCUMENT;
	tl_notice("%s: rebuilding: needs about %llu MB%s", target->options->index,
		  (unsigned long long)bytes / 1000000 + 1,
		  rows ? "" : " and what the new documents take");
	return open_loader(target, NULL);
}

/* Documents of the indexes that are taken over. */
static uint64_t documents_from(const struct ld_target *target)
{
	uint64_t n = 0;

	for (size_t i = 0; i < target->options->n_from; i++) {
		simidx_info info = SIMIDX_INFO_INIT;

		if (!simidx_get_info(target->from[i], &info, NULL))
			n += info.documents;
	}
	return n;
}

static int open_sink(struct ld_target *target, int is_text)
{
	const struct ld_options *options = target->options;

	if (!target->index)
		return create_index(target, is_text || options->extractor);
	if (options->mode == LD_MODE_REBUILD || options->n_from ||
	    options->duplicates == SIMIDX_DUPLICATES_LAST)
		return ld_target_rebuild(target, documents_from(target));
	return 0;
}

int ld_target_extractor(struct ld_target *target, struct tl_text **text)
{
	simidx *like = target->index;
	simidx_error err;
	int rc;

	if (!like && target->options->n_from)
		like = target->from[0];
	if (!like && !target->of_texts)
		return tl_error("%s: is going to hold bare fingerprints, as the first row is "
				"one; --extractor makes an index of texts",
				target->options->index);
	if (like)
		rc = tl_text_open_for(like, text, &err);
	else
		rc = tl_text_open(target->options->extractor, target->bits, text, &err);
	return rc ? fail(target, &err) : 0;
}

int ld_target_prepare(struct ld_target *target, const struct in_row *row)
{
	int is_text = row && row->kind == IN_TEXT;
	int rc = 0;

	if (!target->writer && !target->loader)
		rc = open_sink(target, is_text);
	if (!rc && is_text && !target->text)
		rc = ld_target_extractor(target, &target->text);
	if (!rc && !target->writer && !target->loader)
		rc = open_writer(target);
	return rc;
}

int ld_target_is_bare(const struct ld_target *target)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *like = target->index;

	if (target->text || (!target->writer && !target->loader))
		return 0;
	if (!like && target->options->n_from)
		like = target->from[0];
	if (!like)
		return !target->of_texts;
	return !simidx_get_info(like, &info, NULL) && !*info.profile;
}

int ld_target_waits(struct ld_target *target)
{
	double now = tl_seconds();

	if (!target->waiting_since)
		target->waiting_since = now;
	return !tl_stop_requested() &&
	       (target->options->wait_ms < 0 ||
		(now - target->waiting_since) * 1000 < target->options->wait_ms);
}

int ld_target_put(struct ld_target *target, const simidx_doc *doc, simidx_error *err)
{
	int rc;

	if (target->loader)
		return simidx_loader_put(target->loader, doc, NULL, err);
	do
		rc = simidx_put(target->writer, doc, NULL, err);
	while (rc == SIMIDX_E_BUSY && ld_target_waits(target));
	target->waiting_since = 0;
	return rc;
}

void ld_target_tmpdir(const struct ld_options *options, char *out, size_t size)
{
	const char *end = options->index + strlen(options->index);

	if (options->tmpdir) {
		snprintf(out, size, "%s", options->tmpdir);
		return;
	}
	while (end > options->index + 1 && end[-1] == '/')
		end--;
	while (end > options->index && end[-1] != '/')
		end--;
	if (end == options->index)
		snprintf(out, size, ".");
	else
		snprintf(out, size, "%.*s", (int)(end - options->index), options->index);
}

void ld_target_close(struct ld_target *target)
{
	simidx_writer_close(target->writer);
	simidx_loader_close(target->loader);
	simidx_close(target->index);
	for (size_t i = 0; target->from && i < target->options->n_from; i++)
		simidx_close(target->from[i]);
	free(target->from);
	tl_text_close(target->text);
	memset(target, 0, sizeof(*target));
}

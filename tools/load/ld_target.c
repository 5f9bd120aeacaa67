/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_target.h"

#include "common/tl_msg.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

/* A load that makes an index ends with everything merged; until then, merge rarely. */
#define FIRST_LOAD_THRESHOLD 1000000

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

int ld_target_open(struct ld_target *target, const struct ld_options *options)
{
	int missing = is_missing(options->index);

	memset(target, 0, sizeof(*target));
	target->options = options;
	target->bits = options->bits ? options->bits : SIMIDX_DEFAULT_BITS;
	if (!missing && options->create == LD_CREATE_IF_MISSING)
		return open_existing(target);
	if (!missing && options->create == LD_CREATE_MUST)
		return tl_error("%s: exists already", options->index);
	return try_extractor(target);
}

static int create_index(struct ld_target *target, int of_texts)
{
	const struct ld_options *options = target->options;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_error err;

	create.bits = target->bits;
	create.plan = options->plan;
	if (options->layout >= 0)
		create.layout = (unsigned)options->layout;
	if (options->create == LD_CREATE_TRUNCATE)
		create.flags |= SIMIDX_CREATE_TRUNCATE;
	if (options->no_ids > 0)
		create.flags |= SIMIDX_CREATE_NO_IDS;
	if (options->force)
		create.flags |= SIMIDX_CREATE_FORCE;
	if (options->fp2 >= 0 ? options->fp2 : of_texts && options->no_ids <= 0)
		create.flags |= SIMIDX_CREATE_FP2;
	if (of_texts) {
		if (!target->text && tl_text_open(NULL, target->bits, &target->text, &err))
			return fail(target, &err);
		tl_text_describe(target->text, &create);
	}
	if (simidx_create(options->index, &create, &target->index, &err))
		return fail(target, &err);
	target->flags = create.flags & (SIMIDX_CREATE_NO_IDS | SIMIDX_CREATE_FP2);
	target->created = 1;
	return 0;
}

static int open_writer(struct ld_target *target)
{
	const struct ld_options *options = target->options;
	simidx_writer_options writer = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_error err;

	writer.durability = options->durability;
	writer.wait_ms = options->wait_ms;
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

int ld_target_prepare(struct ld_target *target, const struct in_row *row)
{
	int is_text = row && row->kind == IN_TEXT;
	simidx_error err;
	int rc = 0;

	if (!target->index)
		rc = create_index(target, is_text || target->options->extractor);
	if (!rc && is_text && !target->text &&
	    tl_text_open_for(target->index, &target->text, &err))
		rc = fail(target, &err);
	if (!rc && !target->writer)
		rc = open_writer(target);
	return rc;
}

void ld_target_close(struct ld_target *target)
{
	simidx_writer_close(target->writer);
	simidx_close(target->index);
	tl_text_close(target->text);
	memset(target, 0, sizeof(*target));
}

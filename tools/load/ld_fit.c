/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_fit.h"

#include "common/tl_features.h"
#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

static const char *layout_name(unsigned layout)
{
	return layout == SIMIDX_LAYOUT_ROWS ? "rows" : "blocks";
}

int ld_fit_options(const struct ld_options *options, const simidx_info *info)
{
	const char *path = options->index;
	int has_fp2 = (info->flags & SIMIDX_CREATE_FP2) != 0;
	int has_no_ids = (info->flags & SIMIDX_CREATE_NO_IDS) != 0;
	char data[PATH_MAX];
	struct stat status;

	if (options->bits && options->bits != info->bits)
		return tl_error("%s: has fingerprints of %u bits, not of %u: leave --bits out",
				path, info->bits, options->bits);
	if (options->plan && strcmp(options->plan, "auto") != 0 &&
	    strcmp(options->plan, info->plan) != 0)
		return tl_error("%s: has the plan %s, not %s; simidx-query compact --plan changes "
				"it", path, info->plan, options->plan);
	if (options->layout >= 0 && (unsigned)options->layout != info->layout)
		return tl_error("%s: has the layout %s, not %s: leave --layout out", path,
				layout_name(info->layout),
				layout_name((unsigned)options->layout));
	if (options->fill && options->fill != info->fill)
		return tl_error("%s: has blocks filled to %u %%, not to %u", path, info->fill,
				options->fill);
	snprintf(data, sizeof(data), "%s/" TL_DATA_FILE, path);
	if (options->permissions && !stat(data, &status) &&
	    (status.st_mode & 0777) != options->permissions)
		return tl_error("%s: its files have the permissions %o, not %o", path,
				(unsigned)status.st_mode & 0777, options->permissions);
	if (options->no_ids > 0 && !has_no_ids)
		return tl_error("%s: has ids, so --ids none does not fit", path);
	if (has_no_ids && (options->mode == LD_REPLACE || options->mode == LD_DELETE))
		return tl_error("%s: has no ids, so --mode %s does not fit", path,
				options->mode == LD_REPLACE ? "replace" : "delete");
	if (options->fp2 >= 0 && options->fp2 != has_fp2)
		return tl_error("%s: has %ssecond fingerprints, so --%s does not fit", path,
				has_fp2 ? "" : "no ", options->fp2 ? "fp2" : "no-fp2");
	return ld_fit_times(options, path, info->flags);
}

int ld_fit_times(const struct ld_options *options, const char *path, unsigned flags)
{
	const char *option = options->times		? "--times"
			     : options->inputs.columns.time ? "--time"
			     : options->touch		    ? "--touch"
							    : NULL;

	if (!option || flags & SIMIDX_CREATE_TIMES)
		return 0;
	return tl_error("%s: keeps no times, so %s does not fit; an index that is made with "
			"--times keeps them", path, option);
}

int ld_fit_new_times(const struct ld_options *options)
{
	const char *option = options->inputs.columns.time ? "--time" : "--touch";

	if (options->times || (!options->inputs.columns.time && !options->touch))
		return 0;
	return tl_usage_error("%s: a new index keeps times with --times only", option);
}

/* The profile begins with the name of the extractor that made the index, or tells who else made
 * the features. */
int ld_fit_extractor(const struct ld_options *options, const char *path, const simidx_info *info)
{
	size_t length = strcspn(info->profile, " ");

	/* Indexes that are only taken over, and full dumps, say themselves what they hold. */
	if ((options->features_by ||
	     (ld_has_inputs(options) && options->inputs.format != &in_format_full)) &&
	    tl_features_fit(path, info, options->features_by))
		return TL_TROUBLE;
	if (!options->text.how.extractor)
		return 0;
	if (length == 0)
		return tl_error("%s: holds bare fingerprints, so --extractor %s does not fit",
				path, options->text.how.extractor);
	if (strlen(options->text.how.extractor) == length &&
	    strncmp(options->text.how.extractor, info->profile, length) == 0)
		return 0;
	return tl_error("%s: was made by the extractor %.*s, not by %s: leave --extractor out",
			path, (int)length, info->profile, options->text.how.extractor);
}

int ld_fit_sources(const struct ld_options *options)
{
	for (size_t i = 0; i < options->from.n; i++)
		if (tl_path_is_uri(options->from.at[i]))
			return tl_error(
				"--from %s: not from an index that an engine holds; 'simidx-query "
				"dump --format full' and -F full take its documents over",
				options->from.at[i]);
	for (size_t i = 0; i < options->from.n; i++)
		if (tl_path_is_same(options->from.at[i], options->index))
			return tl_error("--from %s: is the index itself", options->from.at[i]);
	return 0;
}

int ld_fit_replaced(const struct ld_options *options)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_error err;
	simidx *index;

	/* At the end the library will not trust it either. */
	how.flags = ld_open_flags(options) | SIMIDX_OPEN_UNTRUSTED;
	if (simidx_open(options->index, &how, &index, &err)) {
		tl_index_error(options->index, &err);
		if (err.code == SIMIDX_E_VERSION || err.code == SIMIDX_E_CORRUPT)
			tl_notice("%s: only an index that can be read is replaced: remove this one "
				  "first, if nothing of it is needed",
				  options->index);
		return TL_TROUBLE;
	}
	simidx_close(index);
	return 0;
}

int ld_fit_parent(const char *path)
{
	char parent[PATH_MAX], word[TL_PATH_WORD_SIZE];

	if (tl_path_is_uri(path))
		return 0;
	tl_path_parent(path, parent, sizeof(parent));
	if (tl_path_is_directory(parent))
		return 0;
	if (access(parent, F_OK) == 0)
		return tl_error("%s: cannot be made, as %s is a file", path, parent);
	return tl_error("%s: cannot be made, as there is no directory %s: mkdir -p %s", path,
			parent, tl_path_word(parent, word));
}

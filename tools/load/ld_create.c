/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_create.h"

#include "common/tl_features.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <string.h>

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
			      : (of_texts || options->features_by) && options->no_ids <= 0 &&
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
	return ld_target_anew(target);
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

int ld_create(struct ld_target *target, int of_texts)
{
	const struct ld_options *options = target->options;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	char made_by[TL_FEATURES_PROFILE_SIZE];
	int inserts = options->write == LD_WRITE_INSERT ||
		      (options->write == LD_WRITE_AUTO && options->merge == LD_MERGE_NEVER);
	int rc = describe(target, of_texts, &create, made_by);

	if (!rc && tl_path_is_uri(options->index))
		rc = make_with_engine(target, &create);
	else if (!rc)
		rc = ld_target_load(target, &create, target->like ? target->like->documents : 0);
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

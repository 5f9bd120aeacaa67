/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_full.h"

#include "common/tl_msg.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is of the same kind ---- */

/* What documents have or not, by the flags of their index. */
static const struct part {
	unsigned flag;
	const char *words[2]; /* without the flag, and with it */
} parts[] = {
	{ SIMIDX_CREATE_NO_IDS, { "ids", "no ids" } },
	{ SIMIDX_CREATE_FP2, { "no second fingerprints", "second fingerprints" } },
	{ SIMIDX_CREATE_TIMES, { "no times", "times" } },
	{ SIMIDX_CREATE_NOTES, { "no notes", "notes" } },
};
enum { IDS, FP2 };

static const char *words_of(const struct part *part, const simidx_info *info)
{
	return part->words[(info->flags & part->flag) != 0];
}

/* What the documents are made from, short enough for a message. */
static int profile_length(const simidx_info *info)
{
	return *info->profile ? (int)strnlen(info->profile, 200) : (int)strlen("bare fingerprints");
}

static const char *profile_words(const simidx_info *info)
{
	return *info->profile ? info->profile : "bare fingerprints";
}

/* Whether documents of a dump can go where others are; `other` is where. With a message if not. */
static int fit(const simidx_info *dump, const simidx_info *there, const char *place,
	       const char *other)
{
	if (dump->bits != there->bits)
		return tl_error("%s: the dump has fingerprints of %u bits, and %s of %u", place,
				dump->bits, other, there->bits);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if ((dump->flags ^ there->flags) & parts[i].flag)
			return tl_error("%s: the dump has %s, and %s %s", place,
					words_of(&parts[i], dump), other,
					words_of(&parts[i], there));
	if (strcmp(dump->profile, there->profile))
		return tl_error("%s: the dump is of '%.*s', and %s of '%.*s'", place,
				profile_length(dump), profile_words(dump), other,
				profile_length(there), profile_words(there));
	if (dump->n_check_fps != there->n_check_fps ||
	    memcmp(dump->check_fps, there->check_fps, dump->n_check_fps * sizeof(*dump->check_fps)))
		return tl_error("%s: the texts of the dump have become fingerprints in another way "
				"than those of %s: the fingerprints of the check texts "
				"differ", place, other);
	return 0;
}

/* A new index may store its documents in another way, but they are what they are. */
static int fit_options(const struct ld_options *options, const simidx_info *dump, const char *place)
{
	int has_ids = !(dump->flags & SIMIDX_CREATE_NO_IDS);
	int has_fp2 = (dump->flags & SIMIDX_CREATE_FP2) != 0;

	if (options->bits && options->bits != dump->bits)
		return tl_error("%s: the dump has fingerprints of %u bits, so --bits %u does not "
				"fit",
				place, dump->bits, options->bits);
	if (options->no_ids >= 0 && options->no_ids == has_ids)
		return tl_error("%s: the dump has %s, so --ids %s does not "
				"fit", place, words_of(&parts[IDS], dump),
				has_ids ? "none" : "auto");
	if (options->fp2 >= 0 && options->fp2 != has_fp2)
		return tl_error("%s: the dump has %s, so --%s does not fit", place,
				words_of(&parts[FP2], dump), options->fp2 ? "fp2" : "no-fp2");
	if (options->times && !(dump->flags & SIMIDX_CREATE_TIMES))
		return tl_error("%s: the dump has no times, so --times does not fit", place);
	return 0;
}

/* ---- first lines ---- */

/* Keep what the first of them says. */
static int keep_info(struct ld_full *full, const simidx_info *info)
{
	uint64_t *check_fps = calloc(info->n_check_fps + 1, sizeof(*check_fps));
	char *profile = strdup(info->profile), *plan = info->plan ? strdup(info->plan) : NULL;

	if (!check_fps || !profile || (info->plan && !plan)) {
		free(check_fps);
		free(profile);
		free(plan);
		return tl_error("out of memory");
	}
	memcpy(check_fps, info->check_fps, info->n_check_fps * sizeof(*check_fps));
	full->info = *info;
	full->info.profile = profile;
	full->info.plan = plan;
	full->info.check_fps = check_fps;
	return 0;
}

/* An index that is there, or that of --from which comes first, which a new one is made like. */
static int fit_index(struct ld_target *target, const simidx_info *dump, const char *place)
{
	simidx_info info = SIMIDX_INFO_INIT;
	int rc;

	if (!target->index && target->from.index && target->options->from.n)
		return fit(dump, &target->from.first, place, target->options->from.at[0]);
	if (!target->index)
		return fit_options(target->options, dump, place);
	rc = ld_target_describe(target, &info);
	return rc ? rc : fit(dump, &info, place, target->options->index);
}

int ld_full_begin(struct ld_full *full, struct ld_target *target, const struct in_head *head,
		  const char *place)
{
	const simidx_info *info = &head->info;
	int rc = fit_index(target, info, place);

	if (!rc && full->info.profile)
		rc = fit(info, &full->info, place, "the dump before it");
	else if (!rc)
		rc = keep_info(full, info);
	if (rc)
		return rc;
	if (!target->index)
		target->bits = info->bits;
	target->like = &full->info;
	if (info->next_id != SIMIDX_NO_ID && info->next_id > full->next_id)
		full->next_id = info->next_id;
	if (head->mark_size) {
		memcpy(full->mark, head->mark, head->mark_size);
		full->mark_size = head->mark_size;
	}
	return 0;
}

/* ---- the end ---- */

int ld_full_reserve(const struct ld_full *full, struct ld_target *target, simidx_error *err)
{
	if (!full->next_id)
		return 0;
	if (target->loader)
		return simidx_loader_reserve_ids(target->loader, full->next_id, err);
	return simidx_writer_reserve_ids(target->writer, full->next_id, err);
}

void ld_full_free(struct ld_full *full)
{
	free((char *)full->info.profile);
	free((char *)full->info.plan);
	free((uint64_t *)full->info.check_fps);
	memset(full, 0, sizeof(*full));
}

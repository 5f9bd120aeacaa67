/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_against.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_text.h>

/* What the index of what is kept is, or is going to be. */
struct own {
	char profile[4096];
	unsigned bits;
};

/* It is not made yet, so that nothing is left if another one is refused. What is wrong with it is
   told when it is opened to be written. */
static int look_at_own(const struct dd_options *options, enum simidx_dedup_kind kind,
		       struct own *own)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_info info;
	simidx_error err;
	simidx *handle;
	simidx_text *text;

	how.flags = SIMIDX_OPEN_READ_ONLY | dd_trust_flags(options, options->index);
	if (options->index && !tl_path_open(options->index, &how, &handle, &info, &err)) {
		snprintf(own->profile, sizeof(own->profile), "%s", info.profile);
		own->bits = info.bits;
		simidx_close(handle);
		return 0;
	}
	own->profile[0] = '\0';
	own->bits = kind == SIMIDX_DEDUP_FINGERPRINTS ? options->bits : SIMIDX_DEFAULT_BITS;
	if (kind != SIMIDX_DEDUP_TEXTS)
		return 0;
	if (simidx_text_open(NULL, &text, &err))
		return tl_error("%s", err.text);
	snprintf(own->profile, sizeof(own->profile), "%s", simidx_text_profile(text));
	simidx_text_close(text);
	return 0;
}

/* The same things as simidx_dedup_open(), but with the path. */
static int check(const char *path, const simidx_info *info, const struct own *own,
		 const struct dd_options *options, enum simidx_dedup_kind kind)
{
	if (info->flags & SIMIDX_CREATE_NO_IDS)
		return tl_error("%s: has no ids, so its documents cannot be named", path);
	if (strcmp(info->profile, own->profile) != 0)
		return tl_error("%s: has the profile '%s', and what is compared with it '%s'", path,
				*info->profile ? info->profile : "none",
				*own->profile ? own->profile : "none");
	if (kind != SIMIDX_DEDUP_FINGERPRINTS && !(info->flags & SIMIDX_CREATE_FP2))
		return tl_error("%s: has no second fingerprints", path);
	if (kind == SIMIDX_DEDUP_FINGERPRINTS && info->flags & SIMIDX_CREATE_FP2)
		return tl_error("%s: holds more than bare fingerprints", path);
	if (info->bits != own->bits)
		return tl_error("%s: its fingerprints have %u bits, and not %u", path, info->bits,
				own->bits);
	if (info->documents && !(info->flags & SIMIDX_CREATE_NOTES) &&
	    kind == SIMIDX_DEDUP_TEXTS && !options->no_verify)
		tl_notice("%s: its documents are compared by their fingerprints only", path);
	return 0;
}

static int open_one(struct dd_against *against, size_t i, const struct own *own,
		    enum simidx_dedup_kind kind)
{
	const struct dd_options *options = against->options;
	const char *path = options->against.at[i];
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_info info;
	simidx_error err;

	how.flags = SIMIDX_OPEN_READ_ONLY | dd_trust_flags(options, path);
	if (tl_path_open(path, &how, &against->handle[i], &info, &err))
		return tl_index_error(path, &err);
	if (check(path, &info, own, options, kind))
		return TL_TROUBLE;
	return simidx_reader_open(against->handle[i], &against->reader[i], &err) ?
		       tl_index_error(path, &err) :
		       0;
}

struct dd_against *dd_against_open(const struct dd_options *options, enum simidx_dedup_kind kind)
{
	struct dd_against *against = tl_alloc(sizeof(*against));
	struct own own;
	int code;

	if (!against)
		return NULL;
	against->options = options;
	code = look_at_own(options, kind, &own);
	for (size_t i = 0; !code && i < options->against.n; i++)
		code = open_one(against, i, &own, kind);
	if (!code)
		return against;
	dd_against_close(against);
	return NULL;
}

void dd_against_close(struct dd_against *against)
{
	if (!against)
		return;
	for (size_t i = 0; i < against->options->against.n; i++) {
		simidx_reader_close(against->reader[i]);
		simidx_close(against->handle[i]);
	}
	free(against);
}

const char *dd_against_blamed(const struct dd_against *against, simidx_error *err)
{
	simidx_error whole = *err;
	size_t i;
	int n = 0;

	if (!against || sscanf(err->text, "index %zu: %n", &i, &n) != 1 || !n ||
	    i >= against->options->against.n)
		return NULL;
	snprintf(err->text, sizeof(err->text), "%s", whole.text + n);
	return against->options->against.at[i];
}

const char *dd_against_label(struct dd_against *against, unsigned i, uint64_t id, size_t *size)
{
	simidx_match match;

	*size = 0;
	if (simidx_reader_find_id(against->reader[i], id, &match, NULL) || !match.label)
		return NULL;
	*size = match.label_size;
	return match.label;
}

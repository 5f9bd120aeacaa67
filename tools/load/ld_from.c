/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_from.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <stdlib.h>
#include <string.h>

int ld_from_again(struct ld_from *from, size_t i)
{
	const struct ld_options *options = from->options;
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_info info;
	simidx_error err;

	simidx_close(from->index[i]);
	from->index[i] = NULL;
	how.flags = SIMIDX_OPEN_READ_ONLY | ld_open_flags(options);
	if (tl_path_open(options->from.at[i], &how, &from->index[i], &info, &err))
		return tl_index_error(options->from.at[i], &err);
	if (!i)
		from->first = info;
	return 0;
}

int ld_from_open(struct ld_from *from, const struct ld_options *options)
{
	from->options = options;
	from->index = calloc(options->from.n + 1, sizeof(simidx *));
	if (!from->index)
		return tl_error("out of memory");
	for (size_t i = 0; i < options->from.n; i++)
		if (ld_from_again(from, i))
			return TL_TROUBLE;
	return 0;
}

void ld_from_close(struct ld_from *from)
{
	for (size_t i = 0; from->index && i < from->options->from.n; i++)
		simidx_close(from->index[i]);
	free(from->index);
	memset(from, 0, sizeof(*from));
}

uint64_t ld_from_documents(const struct ld_from *from)
{
	uint64_t n = 0;

	for (size_t i = 0; i < from->options->from.n; i++) {
		simidx_info info = SIMIDX_INFO_INIT;

		if (!simidx_get_info(from->index[i], &info, NULL))
			n += info.documents;
	}
	return n;
}

int ld_from_add(struct ld_from *from, simidx_loader *loader)
{
	simidx_error err;
	int rc;

	for (size_t i = 0; i < from->options->from.n; i++) {
		while ((rc = simidx_loader_add_index(loader, from->index[i], &err)) ==
		       SIMIDX_E_MOVED)
			if (ld_from_again(from, i))
				return TL_TROUBLE;
		if (rc)
			return tl_index_error(from->options->index, &err);
	}
	return 0;
}

const char *ld_from_blamed(const struct ld_options *options, const simidx_error *err)
{
	for (size_t i = 0; i < options->from.n; i++) {
		size_t length = strlen(options->from.at[i]);

		if (strncmp(err->text, options->from.at[i], length) == 0 &&
		    err->text[length] == ':')
			return options->from.at[i];
	}
	return options->index;
}

void ld_from_describe(const struct ld_options *options, const simidx_info *info,
		      simidx_create_options *create)
{
	if (options->layout < 0)
		create->layout = info->layout;
	if (!create->plan)
		create->plan = info->plan;
	if (!create->fill)
		create->fill = info->fill;
	if (options->no_ids < 0)
		create->flags |= info->flags & SIMIDX_CREATE_NO_IDS;
	if (options->fp2 < 0)
		create->flags |= info->flags & SIMIDX_CREATE_FP2;
	create->flags |= info->flags & (SIMIDX_CREATE_TIMES | SIMIDX_CREATE_NOTES);
	create->profile = info->profile;
	create->check_fps = info->check_fps;
	create->n_check_fps = info->n_check_fps;
}

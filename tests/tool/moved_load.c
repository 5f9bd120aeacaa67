/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * For simidx-load, linked with --wrap for these: the shell command SX_WHEN_USED is run before an
 * index that was opened is asked for its mark or its extractor, or taken over. Once only.
 */

#include <stdlib.h>

#include <simidx_load.h>

#include "common/tl_text_options.h"

int __real_simidx_get_mark(simidx *index, void *buffer, size_t size, size_t *n,
			   simidx_error *err);
int __wrap_simidx_get_mark(simidx *index, void *buffer, size_t size, size_t *n,
			   simidx_error *err);
int __real_simidx_loader_add_index(simidx_loader *loader, simidx *source, simidx_error *err);
int __wrap_simidx_loader_add_index(simidx_loader *loader, simidx *source, simidx_error *err);

int __real_tl_text_open_for(simidx *index, const struct tl_text_options *options,
			    simidx_text **out, simidx_error *err);
int __wrap_tl_text_open_for(simidx *index, const struct tl_text_options *options,
			    simidx_text **out, simidx_error *err);

static void about_to_use(void)
{
	const char *command = getenv("SX_WHEN_USED");

	if (!command)
		return;
	if (system(command) != 0)
		abort();
	unsetenv("SX_WHEN_USED");
}

int __wrap_simidx_get_mark(simidx *index, void *buffer, size_t size, size_t *n,
			   simidx_error *err)
{
	about_to_use();
	return __real_simidx_get_mark(index, buffer, size, n, err);
}

int __wrap_simidx_loader_add_index(simidx_loader *loader, simidx *source, simidx_error *err)
{
	about_to_use();
	return __real_simidx_loader_add_index(loader, source, err);
}

int __wrap_tl_text_open_for(simidx *index, const struct tl_text_options *options,
			    simidx_text **out, simidx_error *err)
{
	about_to_use();
	return __real_tl_text_open_for(index, options, out, err);
}

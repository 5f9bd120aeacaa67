/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx-query, and moved_load too, linked with --wrap=simidx_open: each time an index has been
 * opened it runs the shell command SX_WHEN_OPEN, with the number of the opening in SX_OPENING
 * (from 1).
 */

#include <stdio.h>
#include <stdlib.h>

#include <simidx.h>

int __real_simidx_open(const char *path, const simidx_open_options *options, simidx **out,
		       simidx_error *err);
int __wrap_simidx_open(const char *path, const simidx_open_options *options, simidx **out,
		       simidx_error *err);

int __wrap_simidx_open(const char *path, const simidx_open_options *options, simidx **out,
		       simidx_error *err)
{
	static unsigned openings;
	const char *command = getenv("SX_WHEN_OPEN");
	int rc = __real_simidx_open(path, options, out, err);
	char number[16];

	if (rc || !command)
		return rc;
	snprintf(number, sizeof(number), "%u", ++openings);
	setenv("SX_OPENING", number, 1);
	if (system(command) != 0)
		abort();
	return rc;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Makes an index of texts as another installation would: foreign_index PATH PROFILE PROBE.
 */

#include <simidx.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	simidx_create_options options = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_error err;
	simidx *index;
	uint64_t check_fp;

	if (argc != 4)
		return 2;
	check_fp = strtoull(argv[3], NULL, 16);
	options.flags = SIMIDX_CREATE_FP2;
	options.profile = argv[2];
	options.check_fps = &check_fp;
	options.n_check_fps = 1;
	if (simidx_create(argv[1], &options, &index, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	simidx_close(index);
	return 0;
}

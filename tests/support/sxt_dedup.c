/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_dedup.h"

#include <stdlib.h>

#include <simidx_text.h>

#include "support/sxt.h"

void sxt_dedup_index(const char *dir, const char *name, int kind, unsigned flags, simidx **index,
		     simidx_writer **writer)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_text *text = NULL;
	char *path = sxt_path(dir, name);

	how.flags = SIMIDX_OPEN_CREATE;
	how.create = &create;
	create.flags = flags;
	if (kind != SIMIDX_DEDUP_FINGERPRINTS)
		create.flags |= SIMIDX_CREATE_FP2;
	if (kind == SIMIDX_DEDUP_TEXTS) {
		ck_assert_int_eq(simidx_text_open(NULL, &text, NULL), SIMIDX_OK);
		create.profile = simidx_text_profile(text);
		create.check_fps = simidx_text_check_fps(text, &create.n_check_fps);
	}
	ck_assert_int_eq(simidx_open(path, &how, index, NULL), SIMIDX_OK);
	ck_assert_int_eq(simidx_writer_open(*index, NULL, writer, NULL), SIMIDX_OK);
	simidx_text_close(text);
	free(path);
}

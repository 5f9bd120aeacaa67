/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Structs of simidx_text.h in another size, as in t_struct_size.c. */

#include <stdlib.h>

#include <simidx_text.h>

#include "support/sxt_model.h"
#include "support/sxt_struct.h"

T_ENDS_WITH(simidx_text_options, idf_name);

static simidx *db; /* made with the settings of `text` */
static simidx_text *text;

static int call_text_open(const void *given)
{
	simidx_text *other;
	int rc = simidx_text_open(given, &other, &sxt_err);

	simidx_text_close(other);
	return rc;
}

static int call_text_open_for(const void *given)
{
	simidx_text *other;
	int rc = simidx_text_open_for(db, given, &other, &sxt_err);

	simidx_text_close(other);
	return rc;
}

static int out_fingerprint(void *out)
{
	return simidx_text_fingerprint(text, "a rose is a rose", 16,
				       SIMIDX_SKETCH_FP2 | SIMIDX_SKETCH_WEIGHTS, out, &sxt_err);
}

START_TEST(test_sizes_of_text_structs)
{
	static const simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	char *dir = sxt_dir_make(), *path = sxt_path(dir, "index");

	ck_assert_sx(simidx_text_open(NULL, &text, &sxt_err), SIMIDX_OK);
	t_try_in(call_text_open, &options, sizeof(options), sizeof(size_t));
	T_TRY_OUT(out_fingerprint, simidx_sketch, SIMIDX_SKETCH_INIT,
		  SX_STRUCT_TO(simidx_sketch, fp));
	create.profile = simidx_text_profile(text);
	create.check_fps = simidx_text_check_fps(text, &create.n_check_fps);
	db = sxt_create(path, &create);
	t_try_in(call_text_open_for, &options, sizeof(options), sizeof(size_t));
	simidx_close(db);
	simidx_text_close(text);
	sxt_remove(dir);
	free(path);
	free(dir);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_sizes_of_text_structs, 0, 1 },
};

SXT_SUITE(text_struct, NULL, NULL);

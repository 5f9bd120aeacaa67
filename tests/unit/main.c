/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Runs every suite of suites.h. Check's own variables choose and describe: CK_RUN_SUITE,
 * CK_RUN_CASE, CK_VERBOSITY, CK_FORK=no for a debugger, CK_TIMEOUT_MULTIPLIER, ...
 */

#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/sxt.h"

#define X(name) Suite *suite_##name(void);
#include "suites.h"
#undef X

int main(void)
{
	SRunner *runner = srunner_create(NULL);
	int failed;

#define X(name) srunner_add_suite(runner, suite_##name());
#include "suites.h"
#undef X
	sxt_start();
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	if (failed)
		printf("SIMIDX_SEED=%" PRIu64 " repeats this run\n", sxt_seed());
	srunner_free(runner);
	sxt_finish();
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

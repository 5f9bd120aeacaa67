/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Runs every suite of suites.h. Check's own variables choose and describe: CK_RUN_SUITE,
 * CK_RUN_CASE, CK_VERBOSITY, CK_FORK=no for a debugger, CK_TIMEOUT_MULTIPLIER, ...
 *
 * Each suite runs in a process of its own: Check keeps what tests report, and as each test is a
 * copy of the process, hundreds of megabytes of that made the last ones slow.
 */

#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/sxt.h"

#define X(name) Suite *suite_##name(void);
#include "suites.h"
#undef X

static const struct {
	const char *name;
	Suite *(*make)(void);
} suites[] = {
#define X(name) { #name, suite_##name },
#include "suites.h"
#undef X
};

static int run(Suite *(*make)(void))
{
	SRunner *runner = srunner_create(make());
	int failed;

	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed;
}

/* Returns whether a test failed. */
static int run_apart(Suite *(*make)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int failed = run(make);

		fflush(stdout);
		_exit(failed ? EXIT_FAILURE : EXIT_SUCCESS);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return !WIFEXITED(status) || WEXITSTATUS(status);
}

int main(void)
{
	const char *only = getenv("CK_RUN_SUITE"), *forks = getenv("CK_FORK");
	int failed = 0, found = 0;

	sxt_start();
	for (size_t i = 0; i < sizeof(suites) / sizeof(*suites); i++) {
		if (only && strcmp(only, suites[i].name))
			continue;
		found = 1;
		failed |= forks && !strcmp(forks, "no") ? run(suites[i].make) != 0
							: run_apart(suites[i].make);
	}
	if (!found)
		printf("no suite is called '%s'\n", only);
	if (failed)
		printf("SIMIDX_SEED=%" PRIu64 " repeats this run\n", sxt_seed());
	sxt_finish();
	return failed || !found ? EXIT_FAILURE : EXIT_SUCCESS;
}

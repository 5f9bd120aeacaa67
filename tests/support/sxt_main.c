/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The main program of all tests in C: it runs the suites that are linked with it, several at the
 * same time, each in a process of its own. The output of a suite is printed whole, in the order
 * of the suites; then what was skipped and why, and how to repeat what failed.
 *
 *   CK_RUN_SUITE=name    only this suite
 *   CK_RUN_CASE=test     only this test
 *   CK_FORK=no           everything in this process, one after the other, for a debugger
 *   SIMIDX_JOBS=n        processes at the same time; otherwise what make -j says, or all CPUs
 *   SIMIDX_SEED=n        random numbers of an earlier run
 *   SIMIDX_LONG=1        long tests
 *
 * Check's other variables work too (CK_VERBOSITY, CK_DEFAULT_TIMEOUT, ...).
 */

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sxt.h"

/* What came of a suite; in memory that is shared with the process that runs it. */
struct outcome {
	int ran; /* it came to its end */
	int checks, failed;
};

static sxt_suite *first_suite, **end_of_suites = &first_suite;

void sxt_suite_add(sxt_suite *suite)
{
	*end_of_suites = suite;
	end_of_suites = &suite->next;
}

/* ------------------------------------------------------------------------------------------
 * One suite
 */

static const char *name_of(const sxt_test *test)
{
	return (*test->test)->name;
}

/* A test case of Check for each test, so that CK_RUN_CASE chooses one test. */
static Suite *make(const sxt_suite *from)
{
	Suite *suite = suite_create(from->name);

	for (size_t i = 0; i < from->n_tests; i++) {
		const sxt_test *test = &from->tests[i];
		TCase *tc = tcase_create(name_of(test));

		if (from->set_up)
			tcase_add_checked_fixture(tc, from->set_up, from->tear_down);
		tcase_add_loop_test(tc, *test->test, test->from, test->to);
		suite_add_tcase(suite, tc);
	}
	return suite;
}

/* A line for each test that failed, however many of its rounds did. */
static void print_repeats(const sxt_suite *suite, SRunner *runner)
{
	TestResult **failures = srunner_failures(runner);
	const char *before = "";

	for (int i = 0; i < srunner_ntests_failed(runner); i++) {
		const char *name = tr_tcname(failures[i]);

		if (strcmp(name, before))
			printf("Repeat: SIMIDX_SEED=%" PRIu64
			       " CK_RUN_SUITE=%s CK_RUN_CASE=%s %s\n",
			       sxt_seed(), suite->name, name, program_invocation_name);
		before = name;
	}
	free(failures);
}

static void run(const sxt_suite *suite, struct outcome *outcome)
{
	SRunner *runner = srunner_create(make(suite));

	sxt_running = suite->name;
	srunner_run_all(runner, CK_ENV);
	outcome->checks = srunner_ntests_run(runner);
	outcome->failed = srunner_ntests_failed(runner);
	outcome->ran = 1;
	print_repeats(suite, runner);
	fflush(stdout);
	srunner_free(runner);
}

/* ------------------------------------------------------------------------------------------
 * Many suites
 */

/* A suite that was chosen to run. */
struct job {
	const sxt_suite *suite;
	struct outcome *outcome;
	FILE *output;
	pid_t pid;
	int status, has_ended;
};

static struct job *jobs;
static size_t n_jobs, n_printed;

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static int is_chosen(const sxt_suite *suite)
{
	const char *name = getenv("CK_RUN_SUITE"), *test = getenv("CK_RUN_CASE");

	if (name && strcmp(name, suite->name))
		return 0;
	for (size_t i = 0; i < suite->n_tests; i++) {
		if (!test || !strcmp(test, name_of(&suite->tests[i])))
			return 1;
	}
	return 0;
}

static void choose_jobs(void)
{
	struct outcome *outcomes;
	size_t n = 0;

	for (sxt_suite *suite = first_suite; suite; suite = suite->next)
		n++;
	jobs = calloc(n + 1, sizeof(*jobs));
	outcomes = mmap(NULL, (n + 1) * sizeof(*outcomes), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!jobs || outcomes == MAP_FAILED)
		die("no memory");
	for (sxt_suite *suite = first_suite; suite; suite = suite->next) {
		if (!is_chosen(suite))
			continue;
		jobs[n_jobs].suite = suite;
		jobs[n_jobs].outcome = &outcomes[n_jobs];
		n_jobs++;
	}
}

static unsigned number_of_processes(void)
{
	const char *given = getenv("SIMIDX_JOBS"), *flags = getenv("MAKEFLAGS");
	unsigned n = 0;
	cpu_set_t set;

	if (!given && flags && (given = strstr(flags, " -j")))
		given += 3;
	if (given)
		n = (unsigned)strtoul(given, NULL, 10);
	if (!n && !sched_getaffinity(0, sizeof(set), &set))
		n = (unsigned)CPU_COUNT(&set);
	return n ? n : 1;
}

static void start(struct job *job)
{
	job->output = tmpfile();
	if (!job->output)
		die("tmpfile");
	fflush(NULL);
	job->pid = fork();
	if (job->pid < 0)
		die("fork");
	if (job->pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (dup2(fileno(job->output), STDOUT_FILENO) < 0 ||
	    dup2(fileno(job->output), STDERR_FILENO) < 0)
		die("dup2");
	run(job->suite, job->outcome);
	_exit(EXIT_SUCCESS);
}

static void print_output(const struct job *job)
{
	char piece[4096];
	size_t n;

	rewind(job->output);
	while ((n = fread(piece, 1, sizeof(piece), job->output)))
		fwrite(piece, 1, n, stdout);
	fclose(job->output);
	if (WIFSIGNALED(job->status))
		printf("suite %s was ended by signal %d\n", job->suite->name,
		       WTERMSIG(job->status));
	else if (!job->outcome->ran)
		printf("suite %s ended early\n", job->suite->name);
	fflush(stdout);
}

static void wait_for_one(void)
{
	int status;
	pid_t pid;

	do
		pid = wait(&status);
	while (pid < 0 && errno == EINTR);
	if (pid < 0)
		die("wait");
	for (size_t i = 0; i < n_jobs; i++) {
		if (jobs[i].pid != pid)
			continue;
		jobs[i].status = status;
		jobs[i].has_ended = 1;
	}
	for (; n_printed < n_jobs && jobs[n_printed].has_ended; n_printed++)
		print_output(&jobs[n_printed]);
}

static void run_all(void)
{
	const char *forks = getenv("CK_FORK");
	size_t n_running = 0, most = number_of_processes();

	for (size_t i = 0; i < n_jobs; i++) {
		if (forks && !strcmp(forks, "no")) {
			run(jobs[i].suite, jobs[i].outcome);
			continue;
		}
		if (n_running == most) {
			wait_for_one();
			n_running--;
		}
		start(&jobs[i]);
		n_running++;
	}
	for (; n_running; n_running--)
		wait_for_one();
}

int main(void)
{
	int checks = 0, failed = 0;
	size_t skipped;

	sxt_start();
	choose_jobs();
	if (!n_jobs)
		printf("no such suite (CK_RUN_SUITE) or test (CK_RUN_CASE)\n");
	run_all();
	for (size_t i = 0; i < n_jobs; i++) {
		checks += jobs[i].outcome->checks;
		failed += jobs[i].outcome->failed + !jobs[i].outcome->ran;
	}
	skipped = sxt_print_skipped();
	printf("%zu suites, %d checks, %d failed, %zu skipped; SIMIDX_SEED=%" PRIu64 "\n", n_jobs,
	       checks, failed, skipped, sxt_seed());
	sxt_finish();
	free(jobs);
	return failed || !checks ? EXIT_FAILURE : EXIT_SUCCESS;
}

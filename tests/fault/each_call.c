/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Each call of the system that the tools make fails, one after the other, in small runs of each
 * command (fail.c is preloaded into them). After each failure:
 *
 *  - the tool has ended by itself, in time, with 0 or 2 and a message that tells the truth, unless
 *    it was killed in place of the call;
 *  - the index opens, is sound, and holds what a whole commit has made: what was there before, or
 *    what the command was to make;
 *  - a load that is resumed, or the same command again, brings it to exactly that.
 *
 * A short run takes the calls that store something, a long one all, and more ways to fail.
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <simidx_check.h>
#include <simidx_walk.h>

#include "support/sxt_fixture.h"
#include "support/sxt_model.h"
#include "util/sx_hash.h"

#define FIRST 700 /* documents of the index that is there */
#define MORE 100  /* documents of the input */
#define LIMIT_MS 30000
#define MAX_ARGS 14
#define MAX_TOLD 10 /* exceptions of a command that are printed */

extern char **environ;

/* ------------------------------------------------------------------------------------------
 * Commands
 */

enum start { NOTHING, MERGED, FRESH, ROWS, BEGUN };

static const struct command {
	const char *name;
	const char *args[MAX_ARGS]; /* "%x" is x in the directory of the test */
	enum start start;           /* what "%ix" is: ROWS is FRESH in the rows layout; BEGUN is a
				     load that failed before its first row */
	const char *makes;          /* what it makes or changes; NULL: it only asks */
} commands[] = {
	{ "first load", { "simidx-load", "-q", "%ix", "-F", "lines", "%more" }, NOTHING, "%ix" },
	{ "first load, by insertion",
	  { "simidx-load", "-q", "--write", "insert", "%ix", "-F", "lines", "%more" },
	  NOTHING, "%ix" },
	{ "insert",
	  { "simidx-load", "-q", "--write", "insert", "--merge", "never", "%ix", "-F", "lines",
	    "%more" },
	  MERGED, "%ix" },
	{ "insert and merge",
	  { "simidx-load", "-q", "--write", "insert", "--merge", "always", "%ix", "-F", "lines",
	    "%more" },
	  FRESH, "%ix" },
	{ "insert and merge, in rows",
	  { "simidx-load", "-q", "--write", "insert", "--merge", "always", "%ix", "-F", "lines",
	    "%more" },
	  ROWS, "%ix" },
	{ "rebuild",
	  { "simidx-load", "-q", "--write", "rebuild", "%ix", "-F", "lines", "%more" },
	  FRESH, "%ix" },
	{ "resume", { "simidx-load", "-q", "--resume", "%ix", "-F", "lines", "%more" },
	  BEGUN, "%ix" },
	{ "take over", { "simidx-load", "-q", "--from", "%ix", "%new" }, FRESH, "%new" },
	{ "compact", { "simidx-query", "compact", "%ix" }, FRESH, "%ix" },
	{ "compact elsewhere", { "simidx-query", "compact", "%ix", "%new" }, FRESH, "%new" },
	{ "backup", { "simidx-query", "backup", "%ix", "%new" }, FRESH, "%new" },
	{ "repair", { "simidx-query", "repair", "%ix", "%new" }, FRESH, "%new" },
	{ "search", { "simidx-query", "search", "%ix", "-k", "64", "--limit", "5", "1234" },
	  FRESH, NULL },
	{ "get", { "simidx-query", "get", "%ix", "--label", "label-5" }, FRESH, NULL },
	{ "dump", { "simidx-query", "dump", "%ix" }, FRESH, NULL },
	{ "stats", { "simidx-query", "stats", "%ix" }, FRESH, NULL },
	{ "verify", { "simidx-query", "verify", "%ix" }, FRESH, NULL },
};

#define N_COMMANDS ((int)(sizeof(commands) / sizeof(commands[0])))

/* ------------------------------------------------------------------------------------------
 * Ways to fail
 */

/* The calls that store something come first. */
static const char *const calls[] = { "write", "sync",	  "rename", "truncate", "allocate",
				     "open",  "read", "mmap",	 "lock",     "close" };
#define N_CALLS (sizeof(calls) / sizeof(calls[0]))
#define N_STORING 5

static const struct way {
	const char *how;
	int error;
	const char *calls; /* of which this is known; NULL = all */
	int in_short_runs;
} ways[] = {
	{ "once", EIO, NULL, 1 },
	{ "gone", EIO, "write", 1 },
	{ "kill", EIO, NULL, 1 },
	{ "late", EIO, "write", 0 },
	{ "on", EIO, NULL, 0 },
	{ "short", EIO, "read write", 0 },
	{ "once", ENOSPC, "write sync truncate allocate open", 0 },
	{ "on", ENOSPC, "write sync truncate allocate open", 0 },
	{ "once", EINTR, "read lock allocate open", 0 },
};

#define N_WAYS (sizeof(ways) / sizeof(ways[0]))

/* ------------------------------------------------------------------------------------------
 * Running a tool
 */

struct result {
	int status; /* of the exit; 1000 + the signal that ended it */
	char *out, *err;
};

static void free_result(struct result *r)
{
	free(r->out);
	free(r->err);
}

static char *expand(const char *word)
{
	return word[0] == '%' ? sxt_path(t_dir, word + 1) : strdup(word);
}

static int wait_for(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = 500000 };
	int status = 0, waited = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		nanosleep(&pause, NULL);
		if (++waited == 2 * LIMIT_MS)
			kill(pid, SIGKILL);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void run(const char *const *args, struct result *r)
{
	char *argv[MAX_ARGS + 1] = { NULL };
	char *out = sxt_path(t_dir, "out"), *err = sxt_path(t_dir, "err"), *program;
	posix_spawn_file_actions_t files;
	pid_t pid;
	int n = 0;

	sxt_must(asprintf(&program, "%s/tools/%s", getenv("SX_BUILDDIR"), args[0]) > 0);
	for (; n < MAX_ARGS && args[n]; n++)
		argv[n] = expand(args[n]);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	sxt_must(!posix_spawn(&pid, program, &files, NULL, argv, environ));
	posix_spawn_file_actions_destroy(&files);
	r->status = wait_for(pid);
	r->out = sxt_file_read(out, NULL);
	r->err = sxt_file_read(err, NULL);
	while (n)
		free(argv[--n]);
	free(program);
	free(out);
	free(err);
}

static char *library, *counts;

/* Have call number `at` fail; 0 = none does, and the calls are counted. */
static void run_with_fault(const char *const *args, const char *call, long at,
			   const struct way *way, struct result *r)
{
	char number[32];

	setenv("FAIL_CALL", call, 1);
	setenv("FAIL_HOW", way->how, 1);
	sprintf(number, "%ld", at);
	setenv("FAIL_AT", number, 1);
	sprintf(number, "%d", way->error);
	setenv("FAIL_ERRNO", number, 1);
	if (!at)
		setenv("FAIL_COUNTS", counts, 1);
	setenv("LD_PRELOAD", library, 1);
	run(args, r);
	unsetenv("LD_PRELOAD");
	unsetenv("FAIL_COUNTS");
}

static long count_of(const char *text, const char *call)
{
	size_t n = strlen(call);

	while (text && (strncmp(text, call, n) != 0 || text[n] != ' ')) {
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return text ? atol(text + n) : 0;
}

/* ------------------------------------------------------------------------------------------
 * What is there
 */

struct content {
	int is_there;
	char wrong[sizeof(((simidx_error *)0)->text)]; /* why it is no sound index; "" = it is */
	uint64_t n, digest;
};

static uint64_t hash_of(const simidx_match *m)
{
	uint64_t numbers[] = { m->id, m->fp, m->fp2,
			       m->label ? sx_hash(m->label, m->label_size) : 0 };

	return sx_hash(numbers, sizeof(numbers));
}

static struct content look(const char *path)
{
	struct content c = { .wrong = "" };
	simidx *index = NULL;
	simidx_walk *walk = NULL;
	simidx_match match;
	simidx_error err;
	struct stat st;
	int rc;

	c.is_there = !lstat(path, &st);
	if (!c.is_there)
		return c;
	rc = simidx_open(path, NULL, &index, &err);
	if (!rc)
		rc = simidx_verify(index, NULL, NULL, NULL, &err);
	if (!rc)
		rc = simidx_walk_open(index, &walk, &err);
	while (!rc && !(rc = simidx_walk_next(walk, &match, &err))) {
		c.n++;
		c.digest += hash_of(&match);
	}
	if (rc != SIMIDX_E_END)
		snprintf(c.wrong, sizeof(c.wrong), "%s", err.text);
	simidx_walk_close(walk);
	simidx_close(index);
	return c;
}

static int is_same(const struct content *a, const struct content *b)
{
	return !a->wrong[0] && !b->wrong[0] && a->is_there == b->is_there && a->n == b->n &&
	       a->digest == b->digest;
}

/* ------------------------------------------------------------------------------------------
 * The scene
 */

static unsigned char *start_data; /* data.mdb */
static size_t start_size;
static sxt_rng rng;

static void write_lines(const char *name, int n, int with_labels)
{
	char *path = sxt_path(t_dir, name);
	FILE *file = fopen(path, "w");

	sxt_must(file != NULL);
	for (int i = 0; i < n; i++) {
		uint64_t fp = sxt_rng_u64(&rng);

		if (with_labels)
			fprintf(file, "%d\t%016llx\tlabel-%d\n", i, (unsigned long long)fp, i);
		else
			fprintf(file, "%016llx\n", (unsigned long long)fp);
	}
	sxt_must(!fclose(file));
	free(path);
}

static void must_run(const char *const *args)
{
	struct result r;

	run(args, &r);
	sxt_must_eq(r.status, 0);
	free_result(&r);
}

/* Make %ix as a command finds it, and keep its bytes. */
static void make_start(enum start start)
{
	static const char *const load[] = { "simidx-load", "-q", "%ix", "%first.tsv", NULL };
	static const char *const rows[] = { "simidx-load", "-q",     "--layout", "rows",
					    "%ix",	   "%first.tsv", NULL };
	static const char *const add[] = { "simidx-load", "-q", "--write", "insert", "--merge",
					   "never", "%ix", "-F", "lines", "%some", NULL };
	static const char *const begin[] = { "simidx-load", "-q", "--write", "insert", "--merge",
					     "never", "%ix", "-F", "lines", "%more", NULL };
	static const struct way on = { "on", EIO, NULL, 0 };
	struct result r;
	char *path = sxt_path(t_path, "data.mdb");

	if (start != NOTHING)
		must_run(start == ROWS ? rows : load);
	if (start == FRESH || start == ROWS || start == BEGUN)
		must_run(add);
	if (start == BEGUN) { /* its third write is the first one of the rows' commit */
		run_with_fault(begin, "write", 3, &on, &r);
		sxt_must_eq(r.status, 2);
		free_result(&r);
	}
	if (start != NOTHING)
		start_data = sxt_file_read(path, &start_size);
	free(path);
}

/* Back to the start, whatever is there. */
static void restore(void)
{
	char *path = sxt_path(t_path, "data.mdb"), *victim;
	struct dirent *entry;
	DIR *dir = opendir(t_dir);

	sxt_must(dir != NULL);
	while ((entry = readdir(dir)) != NULL) {
		if (strcmp(entry->d_name, "ix") != 0 && strcmp(entry->d_name, "new") != 0 &&
		    strncmp(entry->d_name, ".simidx-", 8) != 0)
			continue;
		victim = sxt_path(t_dir, entry->d_name);
		sxt_remove(victim);
		free(victim);
	}
	closedir(dir);
	if (start_data) {
		sxt_must(!mkdir(t_path, 0700));
		sxt_file_write(path, start_data, start_size);
	}
	free(path);
}

static void set_up(void)
{
	const char *asan = getenv("ASAN_OPTIONS");
	char *dir, *options;

	sxt_set_up_path();
	/* A sanitizer need not be loaded first, and what it finds is no exit status of a tool. */
	sxt_must(asprintf(&options, "%s:verify_asan_link_order=0:exitcode=99", asan ? asan : "") >
		 0);
	setenv("ASAN_OPTIONS", options, 1);
	free(options);
	sxt_rng_init(&rng, 1);
	dir = t_path;
	t_path = sxt_path(t_dir, "ix");
	free(dir);
	counts = sxt_path(t_dir, "counts");
	if (!getenv("SX_BUILDDIR") ||
	    asprintf(&library, "%s/tests/fault/.libs/libfail.so", getenv("SX_BUILDDIR")) < 0)
		library = NULL;
	write_lines("first.tsv", FIRST, 1);
	write_lines("some", MORE, 0);
	write_lines("more", MORE, 0);
}

static void tear_down(void)
{
	free(library);
	free(counts);
	free(start_data);
	sxt_tear_down();
}

/* ------------------------------------------------------------------------------------------
 * The judgement
 */

/* Content that is allowed, and what a run without failures prints. */
struct expected {
	struct content before, after;
	struct content index; /* of %ix, where a command makes another one */
	char *out;
};

static int says(const struct result *r, const char *text)
{
	return strstr(r->err, text) != NULL;
}

/* The number that follows a text, such as 1,234; -1 = it does not say. */
static long told(const struct result *r, const char *text)
{
	const char *p = strstr(r->err, text);
	long n = 0;

	if (!p)
		return -1;
	for (p += strlen(text); *p == ',' || (*p >= '0' && *p <= '9'); p++)
		n = *p == ',' ? n : 10 * n + (*p - '0');
	return n;
}

/* What is wrong with a result, or NULL. `now` is what is there that the command was to make. */
static const char *judge(const struct command *c, const struct result *r, const struct expected *e,
			 const struct content *now)
{
	int is_unknown = says(r, "is stored is not known") || says(r, "is in its place, but");
	long holds = told(r, ": holds "), committed = told(r, ": of this input ");

	if (r->status >= 1000)
		return "a signal, or no end";
	/* A page that cannot be read, as of a bad sector, is damage for those who look for it. */
	if (r->status == 1 && (strcmp(c->name, "verify") == 0 || strcmp(c->name, "backup") == 0) &&
	    (strstr(r->out, " cannot be read: ") || says(r, " cannot be read: ")))
		return is_same(now, &e->before) ? NULL : "damage, and a copy is there";
	/* A repair does without it, and lists what is lost by that. */
	if (r->status == 1 && strcmp(c->name, "repair") == 0 && says(r, "; lost: "))
		return now->is_there && !now->wrong[0] ? NULL : "not sound";
	if (r->status == 1 && c->makes && says(r, "/more"))
		return is_same(now, &e->before) || is_same(now, &e->after) ? NULL : "not whole";
	if (r->status != 0 && r->status != 2)
		return "exit status";
	if (r->status == 2 && !r->err[0])
		return "no message";
	if (!c->makes)
		return r->status == 0 && strcmp(r->out, e->out) != 0 ? "another answer" : NULL;
	if (now->wrong[0])
		return now->wrong;
	/* A load by insertion into a new index first makes an empty one. */
	if (!is_same(now, &e->before) && !is_same(now, &e->after) && (e->before.is_there || now->n))
		return "not the content of a commit";
	if (r->status == 0)
		return is_same(now, &e->after) ? NULL : "success, and it is not there";
	if (says(r, "nothing has changed") || says(r, "nothing was stored"))
		return is_same(now, &e->before) ? NULL : "something has changed";
	if (is_unknown)
		return NULL;
	if (holds >= 0)
		return (uint64_t)holds == now->n ? NULL : "another number of documents";
	if (committed >= 0)
		return (uint64_t)committed == now->n - e->before.n ? NULL
								   : "another number of rows";
	return now->n == e->before.n ? NULL : "stored, and it does not say so";
}

/* A process that was killed leaves nothing half done at the path of what it makes. */
static const char *judge_killed(const struct command *c, const struct expected *e,
				const struct content *now)
{
	if (!c->makes)
		return NULL;
	if (now->wrong[0])
		return now->wrong;
	/* A load by insertion into a new index first makes an empty one. */
	if (!is_same(now, &e->before) && !is_same(now, &e->after) && (e->before.is_there || now->n))
		return "not the content of a commit";
	return NULL;
}

/* What a builder that has failed or was killed has left beside the index. */
static int has_leftovers(void)
{
	const struct dirent *entry;
	DIR *dir = opendir(t_dir);
	int found = 0;

	sxt_must(dir != NULL);
	while ((entry = readdir(dir)) != NULL)
		found |= strncmp(entry->d_name, ".simidx-", 8) == 0;
	closedir(dir);
	return found;
}

/* Go on with the load, or compact again: then all is there, once. */
static const char *judge_resumed(const struct command *c, const struct expected *e)
{
	static const char *const resume[] = { "simidx-load", "-q", "--resume", "%ix", "-F",
					      "lines", "%more", NULL };
	int loads = strcmp(c->args[0], "simidx-load") == 0;
	struct result r;
	struct content now;
	int status;

	if (!c->makes || strcmp(c->makes, "%ix") != 0)
		return NULL;
	run(loads ? resume : c->args, &r);
	status = r.status;
	free_result(&r);
	now = look(t_path);
	if (status)
		return "cannot be resumed";
	if (!loads && has_leftovers())
		return "what was left beside it stays";
	return is_same(&now, &e->after) ? NULL : "not all there, once";
}

static void tell(const struct command *c, const char *call, long at, const struct way *way,
		 const struct result *r, const char *what)
{
	printf("%s: %s %ld, %s, %s: %s (exit %d)\n%s", c->name, call, at, way->how,
	       strerror(way->error), what, r->status, r->err);
}

/* Let one call fail. Returns 1 for an exception. */
static int try_one(const struct command *c, const char *call, long at, const struct way *way,
		   const struct expected *e, int tells)
{
	char *made = c->makes ? expand(c->makes) : NULL;
	struct content now = { .wrong = "" }, index;
	struct result r;
	const char *what;

	restore();
	run_with_fault(c->args, call, at, way, &r);
	if (made)
		now = look(made);
	if (strcmp(way->how, "kill") == 0 && r.status == 1000 + SIGKILL)
		what = judge_killed(c, e, &now);
	else
		what = judge(c, &r, e, &now);
	if (!what && (!made || strcmp(c->makes, "%ix") != 0)) {
		index = look(t_path);
		what = is_same(&index, &e->index) ? NULL : "the index has changed";
	}
	/* An input that cannot be opened is rejected, and done with. */
	if (!what && r.status != 1)
		what = judge_resumed(c, e);
	if (what && tells)
		tell(c, call, at, way, &r, what);
	free_result(&r);
	free(made);
	return what != NULL;
}

START_TEST(test_each_call_fails)
{
	const struct command *c = &commands[_i];
	const struct way *none = &ways[0];
	struct expected e = { .out = NULL };
	char *made = c->makes ? expand(c->makes) : NULL, *counted;
	long points = 0, exceptions = 0;
	struct result r;

	if (!library || access(library, R_OK)) {
		free(made);
		sxt_skip("no shared library was built to make calls fail");
	}
	make_start(c->start);
	e.index = look(t_path);
	if (made)
		e.before = look(made);
	restore();
	run_with_fault(c->args, "none", 0, none, &r);
	ck_assert_int_eq(r.status, 0);
	e.out = strdup(r.out);
	free_result(&r);
	if (made)
		e.after = look(made);
	ck_assert_str_eq(e.after.wrong, "");
	counted = sxt_file_read(counts, NULL);
	sxt_remove(counts);
	for (size_t k = 0; k < (sxt_is_long() ? N_CALLS : N_STORING); k++) {
		long n = count_of(counted, calls[k]);

		for (size_t w = 0; w < N_WAYS; w++) {
			if ((!sxt_is_long() && !ways[w].in_short_runs) ||
			    (ways[w].calls && !strstr(ways[w].calls, calls[k])))
				continue;
			for (long at = 1; at <= n; at++, points++)
				exceptions += try_one(c, calls[k], at, &ways[w], &e,
						      exceptions < MAX_TOLD);
		}
	}
	printf("%s: %ld points, %ld exceptions\n", c->name, points, exceptions);
	fflush(stdout);
	ck_assert_int_eq(exceptions, 0);
	free(counted);
	free(e.out);
	free(made);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_each_call_fails, 0, N_COMMANDS },
};

SXT_SUITE(each_call, set_up, tear_down);

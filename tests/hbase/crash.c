/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A writer is killed just before and just after each of its requests that change something: crash
 * PORT TABLE [BATCHES [LOAD]]. PORT is that of a gateway on this machine. The writer reaches it
 * through this process, which passes bytes on, knows the requests by their names, and kills it.
 * Afterwards no batch may be half there, none that the writer knew to be stored may be missing, and
 * nothing may be left for a check to find that has mended once. A dry run before that must change
 * nothing. LOAD is the program simidx-load: then the making and the replacing of an index are
 * killed, too, and it must be able to make one there.
 */

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hb_engine.hh"
#include "hbase/ht_engine.h"
#include "hbase/ht_proxy.h"

#define DOCS 24
#define VERSIONS 4

static char direct[200], proxied[200];

/* What the proxy is to do. */
static volatile int cut_at;    /* number of the request; 0 = never */
static volatile int cut_after; /* let it through, and cut before the answer */
static volatile int requests;  /* that were seen */
static volatile pid_t victim;

static enum ht_verdict at_request(void *ctx, const char *name, const char *data, size_t n)
{
	(void)ctx;
	(void)data;
	(void)n;
	if (name && (!ht_is_change(name) || ++requests != cut_at))
		return HT_PASS;
	if (name && cut_after)
		return HT_CUT_ANSWER;
	kill(victim, SIGKILL);
	return HT_CUT;
}

/* Version v of all documents: what each batch makes of them. In 0 none is there. */
static void make_version(ht_doc *doc, int v)
{
	static char labels[VERSIONS + 1][DOCS][20];

	for (uint64_t i = 0; i < DOCS; i++) {
		memset(&doc[i], 0, sizeof(doc[i]));
		doc[i].id = i * 1000 + 5;
		doc[i].there = v > 0 && (i + (uint64_t)v) % 5 != 0;
		doc[i].fp = (i % 3 == 0 ? 1 : (uint64_t)v) * 0x1111222233334444u + i;
		if (i % 2 && doc[i].there) {
			doc[i].label = labels[v][i];
			snprintf(doc[i].label, sizeof(labels[v][i]),
				 "label %d "
				 "%d",
				 (int)i, i % 4 == 1 ? 0 : v);
			doc[i].label_size = strlen(doc[i].label);
		}
	}
}

static void write_version(void *state, int v)
{
	ht_doc before[DOCS], after[DOCS];
	char mark[20];

	make_version(before, v - 1);
	make_version(after, v);
	snprintf(mark, sizeof(mark), "%d", v);
	HT_CODE(ht_write(state, before, after, DOCS, mark, SIMIDX_DURABILITY_NORMAL), SIMIDX_OK);
}

static int stored_version(void *state)
{
	void *mark;
	size_t size;
	int v;

	HT_CODE(hb_engine()->get_mark(state, &mark, &size, &ht_err), SIMIDX_OK);
	v = mark ? *(char *)mark - '0' : 0;
	free(mark);
	return v;
}

/* The version whose documents are all there; -1: none. */
static int whole_version(void *state)
{
	for (int v = 0; v <= VERSIONS; v++) {
		ht_doc doc[DOCS];
		int whole = 1;

		make_version(doc, v);
		for (int i = 0; i < DOCS && whole; i++)
			whole = ht_is_stored(state, &doc[i]);
		if (whole)
			return v;
	}
	return -1;
}

/* Write all versions through the proxy, and tell of each that is stored. */
static void writer(int pipe_fd, int last)
{
	void *state = ht_open(proxied, 0);

	for (int v = 1; v <= last; v++) {
		char told = (char)v;
		write_version(state, v);
		HT_CHECK(write(pipe_fd, &told, 1) == 1);
	}
	hb_engine()->close(state);
	_exit(0);
}

/* How many documents a version has. */
static uint64_t count_version(int v)
{
	ht_doc doc[DOCS];
	uint64_t n = 0;

	make_version(doc, v);
	for (int i = 0; i < DOCS; i++)
		n += (uint64_t)doc[i].there;
	return n;
}

/*
 * A handle that only reads counts a batch when it is stored. After twice the time of a writer that
 * was killed, its first look-up completes the batch, and what it counts is what look-ups find.
 */
static void read_after_kill(int acknowledged, int after_its_time)
{
	simidx_engine_info info = { .size = sizeof(info) };
	void *state = ht_open(direct, SIMIDX_OPEN_READ_ONLY);
	int v;

	if (after_its_time)
		HT_CHECK(whole_version(state) == stored_version(state) &&
			 ht_check(state, 0, NULL) == 0);
	HT_CODE(hb_engine()->info(state, &info, &ht_err), SIMIDX_OK);
	v = whole_version(state);
	if (after_its_time)
		HT_CHECK(v == stored_version(state));
	else if (info.documents == count_version(acknowledged))
		v = acknowledged;
	HT_CHECK(v == acknowledged || v == acknowledged + 1);
	HT_CHECK(info.documents == count_version(v));
	hb_engine()->close(state);
}

/* Returns whether the writer came to its end. */
static int kill_one(int number, int after, int last)
{
	int ends[2], status, acknowledged = 0, v;
	uint64_t next;
	char told;
	void *state;

	state = ht_open(direct, SIMIDX_OPEN_CREATE | SIMIDX_ENGINE_TRUNCATE);
	HT_CODE(hb_engine()->reserve_ids(state, 0, DOCS * 1000, &next, &ht_err), SIMIDX_OK);
	hb_engine()->close(state);
	requests = 0;
	cut_at = number;
	cut_after = after;
	HT_CHECK(pipe(ends) == 0);
	victim = fork();
	HT_CHECK(victim >= 0);
	if (victim == 0) {
		/* The proxy is in the parent: it knows its child before the first byte comes. */
		close(ends[0]);
		writer(ends[1], last);
	}
	close(ends[1]);
	while (read(ends[0], &told, 1) == 1)
		acknowledged = told;
	close(ends[0]);
	HT_CHECK(waitpid(victim, &status, 0) == victim);
	if (WIFEXITED(status)) {
		HT_CHECK(WEXITSTATUS(status) == 0 && acknowledged == last);
		return 1;
	}
	read_after_kill(acknowledged, 0);
	usleep(1100000); /* the number of the writer is free after a second */
	if (number % 3 == 0) {
		usleep(1000000); /* and one that only reads takes it after another one */
		read_after_kill(acknowledged, 1);
	}

	state = ht_open(direct, 0);
	uint64_t found = ht_check(state, 0, NULL);
	HT_CHECK(ht_check(state, 0, NULL) == found);
	if (number % 2) {
		simidx_engine_check check;
		uint64_t mended = ht_check(state, SIMIDX_ENGINE_MEND, &check);
		HT_CHECK(mended == found && check.mended == found);
	} else {
		/* The next writer does it as well. */
		HT_CODE(ht_write(state, NULL, NULL, 0, NULL, 0), SIMIDX_OK);
	}
	HT_CHECK(ht_check(state, 0, NULL) == 0);
	v = whole_version(state);
	HT_CHECK(v == stored_version(state));
	HT_CHECK(v >= acknowledged && v <= acknowledged + 1);
	/* And the index goes on as if nothing had been. */
	if (v < VERSIONS) {
		write_version(state, v + 1);
		HT_CHECK(whole_version(state) == v + 1);
		HT_CHECK(ht_check(state, 0, NULL) == 0);
	}
	hb_engine()->close(state);
	return 0;
}

/* ---- making an index ---- */

static int gateway;

static void name_index(char uri[200], int port, const char *name)
{
	snprintf(uri, 200,
		 "hbase://127.0.0.1:%d/%s?lease=1&connections=1&regions=1&durability=sync", port,
		 name);
}

/* One document by the tool, which is made for indexes that are there and for those that are not. */
static void load_one(const char *load, const char *mode, const char *uri)
{
	char command[1000];

	snprintf(command, sizeof(command),
		 "printf '00000000000000ff\\n' | '%s' -q -F lines --create %s '%s' -", load, mode,
		 uri);
	HT_CHECK(system(command) == 0);
}

static void check_one(const char *uri)
{
	ht_doc doc = ht_document(0, 0xff);
	void *state = ht_open(uri, 0);

	HT_CHECK(ht_is_stored(state, &doc) && ht_has_rows(state, &doc));
	HT_CHECK(ht_check(state, 0, NULL) == 0);
	doc.id = 1;
	doc.there = 0;
	HT_CHECK(ht_is_stored(state, &doc));
	hb_engine()->close(state);
}

/*
 * Kill one that makes an index, or replaces one with documents 0 and 1, before a request of this
 * number: that is the same as after the one before it. Returns whether it came to its end.
 */
static int kill_making(int proxy, int number, int replaces, const char *load)
{
	static const char *const modes[] = { "if-missing", "must", "truncate" };
	char name[40], uri[200], far[200];
	int status;

	snprintf(name, sizeof(name), "made_%d_%d", number, replaces);
	name_index(uri, gateway, name);
	name_index(far, proxy, name);
	if (replaces) {
		load_one(load, "truncate", uri);
		load_one(load, "if-missing", uri);
	}
	requests = 0;
	cut_at = number;
	cut_after = 0;
	victim = fork();
	HT_CHECK(victim >= 0);
	if (victim == 0) {
		simidx_create_options options = SIMIDX_CREATE_OPTIONS_INIT;
		simidx *index;
		options.plan = "4x16";
		options.flags = replaces ? SIMIDX_CREATE_TRUNCATE : 0;
		HT_CODE(simidx_engine_add(hb_engine(), &ht_err), SIMIDX_OK);
		HT_CODE(simidx_create(far, &options, &index, &ht_err), SIMIDX_OK);
		simidx_close(index);
		_exit(0);
	}
	HT_CHECK(waitpid(victim, &status, 0) == victim);
	cut_at = 0;
	if (WIFEXITED(status)) {
		HT_CHECK(WEXITSTATUS(status) == 0);
		return 1;
	}
	load_one(load, replaces ? "truncate" : modes[number % 3], uri);
	check_one(uri);
	return 0;
}

static void kill_all_making(int proxy, const char *load)
{
	for (int replaces = 0; replaces <= 1; replaces++) {
		int number = 1;

		while (!kill_making(proxy, number, replaces, load))
			number++;
		/* Two tables, the description, and the layout before and after it. */
		HT_CHECK(number - 1 >= 5 + 5 * replaces);
	}
}

int main(int argc, char **argv)
{
	int proxy, last, kills = 0;

	HT_CHECK(argc >= 3);
	gateway = atoi(argv[1]);
	last = argc > 3 ? atoi(argv[3]) : 2;
	HT_CHECK(last >= 1 && last < VERSIONS);
	proxy = ht_proxy(gateway, at_request, NULL);
	snprintf(direct, sizeof(direct),
		 "hbase://127.0.0.1:%d/%s?lease=1&regions=1&durability=sync", gateway, argv[2]);
	snprintf(proxied, sizeof(proxied),
		 "hbase://127.0.0.1:%d/%s?lease=1&connections=1&durability=sync", proxy, argv[2]);
	for (int number = 1; !kill_one(number, 0, last); number++) {
		HT_CHECK(!kill_one(number, 1, last));
		kills += 2;
	}
	/* Taking a number, then four to seven requests a batch: see doc/hbase-design.md. */
	HT_CHECK(kills >= 2 * (1 + 4 * last));
	if (argc > 4)
		kill_all_making(proxy, argv[4]);
	printf("crash: %d kills, nothing lost\n", kills);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <simidx_repair.h>

#include "damage_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <simidx_batch.h>
#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_load.h>
#include <simidx_walk.h>

#include "index/sx_index.h"

#define MAP_SIZE ((uint64_t)1 << 28)
#define MOST_MEMORY ((rlim_t)1 << 30) /* address space */
#define MOST_SECONDS 10    /* of CPU time */
#define MOST_WAITING 60    /* by the clock: other processes may be at work */
#define FREE_ID 10         /* dmg_sample leaves it out */
#define NEW_ID ((uint64_t)1 << 40)
#define N_NEW 6
#define LOADER_MEMORY ((uint64_t)64 << 20)
#define REPAIR_MEMORY ((uint64_t)128 << 20)

const char *const dmg_op_names[DMG_N_OPS] = {
#define NAME(name) #name,
	DMG_OPS(NAME)
#undef NAME
};

/* In a child: what it does. */
static dmg_result *result;
static const dmg_place *place;
static sxt_rng rng;
static simidx_error err;

/* Notes the first failure. Returns whether the call succeeded. */
static int ok(int rc, const char *stage)
{
	result->stage = rc && !result->code ? stage : result->stage;
	if (rc && !result->code) {
		result->code = rc;
		snprintf(result->text, sizeof(result->text), "%s", err.text);
	}
	return !rc;
}

static simidx *open_index(const char *path, const char *stage)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	simidx *index;

	o.flags = place->open_flags;
	o.map_size = MAP_SIZE;
	return ok(simidx_open(path, &o, &index, &err), stage) ? index : NULL;
}

/* ------------------------------------------------------------------------------------------
 * Reading
 */

static void see_problem(void *ctx, const simidx_problem *problem)
{
	(void)ctx;
	if (!result->text[0])
		snprintf(result->text, sizeof(result->text), "%s: %s", problem->table,
			 problem->text);
}

static void verify(simidx *index)
{
	ok(simidx_verify(index, see_problem, NULL, NULL, &err), "verify");
}

/* One document by its id and by its label. */
static int get_one(simidx_reader *reader, size_t i)
{
	const dmg_doc *doc = &place->sample->docs[i];
	simidx_match match;
	int rc = simidx_reader_find_id(reader, doc->id, &match, &err);

	if (rc && rc != SIMIDX_E_NOT_FOUND)
		return ok(rc, "find_id");
	result->commits &= rc || dmg_is_doc(place->sample, doc, &match, 1)
				   ? dmg_commits_with(place->sample, i, !rc)
				   : 0;
	if (!doc->label)
		return 1;
	rc = simidx_reader_find_label(reader, doc->label, doc->label_size, &match, &err);
	if (rc && rc != SIMIDX_E_NOT_FOUND)
		return ok(rc, "find_label");
	result->commits &= rc || dmg_is_doc(place->sample, doc, &match, 1)
				   ? dmg_commits_with(place->sample, i, !rc)
				   : 0;
	return 1;
}

static void get(simidx *index)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_reader *reader;
	simidx_match match;
	size_t n = place->sample->n_docs;
	int rc;

	if (!ok(simidx_get_info(index, &info, &err), "get_info") || !dmg_has_ids(place->sample))
		return;
	if (!ok(simidx_reader_open(index, &reader, &err), "reader_open"))
		return;
	/* Every second one is among the last, which may be fresh. */
	for (unsigned i = 0; i < 24; i++)
		if (!get_one(reader, i % 2 ? n - 1 - sxt_rng_below(&rng, n / 8)
					   : sxt_rng_below(&rng, n)))
			break;
	rc = simidx_reader_find_id(reader, FREE_ID, &match, &err);
	if (rc != SIMIDX_E_NOT_FOUND && ok(rc, "find_id"))
		result->commits = 0;
	simidx_reader_close(reader);
}

/* Answers of a batch come from several threads. */
static int deliver(void *ctx, size_t i, const simidx_results *results)
{
	uint64_t commits = dmg_commits_of_answer(place->sample, place->sample->queries[i],
						 SIMIDX_DEFAULT_RADIUS, results, 0);

	(void)ctx;
	__atomic_fetch_and(&result->commits, commits, __ATOMIC_RELAXED);
	return 0;
}

static void search_batch(simidx *index, simidx_reader *reader)
{
	simidx_batch_options o = SIMIDX_BATCH_OPTIONS_INIT;
	simidx_query queries[DMG_QUERIES];

	for (unsigned i = 0; i < DMG_QUERIES; i++) {
		queries[i] = (simidx_query)SIMIDX_QUERY_INIT;
		queries[i].fp = place->sample->queries[i];
	}
	/* Half of the batches are sorted. */
	index->tuning.batch_sorted_from = sxt_rng_below(&rng, 2) ? 2 : SIZE_MAX;
	o.threads = 1 + (unsigned)sxt_rng_below(&rng, 2);
	o.deliver = deliver;
	ok(simidx_reader_search_batch(reader, queries, DMG_QUERIES, &o, &err), "search_batch");
}

static void search(simidx *index)
{
	simidx_reader *reader;

	if (!ok(simidx_reader_open(index, &reader, &err), "reader_open"))
		return;
	for (unsigned i = 0; i < 4; i++) {
		simidx_results results = SIMIDX_RESULTS_INIT;
		simidx_query query = SIMIDX_QUERY_INIT;

		query.fp = place->sample->queries[i];
		query.radius = i < 3 ? SIMIDX_DEFAULT_RADIUS : place->sample->form->bits / 3;
		query.flags = SIMIDX_QUERY_LABELS;
		if (!ok(simidx_reader_search(reader, &query, &results, &err),
			i < 3 ? "search" : "scan"))
			break;
		result->commits &= dmg_commits_of_answer(place->sample, query.fp, query.radius,
							 &results, 1);
	}
	search_batch(index, reader);
	simidx_reader_close(reader);
}

/* The commits of what a walk delivers, less documents that were put: `n_new`, of this sum. */
static int walk(simidx *index, size_t n_new, uint64_t sum_new, uint64_t *commits)
{
	uint64_t n = 0, sum = 0, last = 0;
	simidx_match match;
	simidx_walk *w;
	int rc = simidx_walk_open(index, &w, &err);

	*commits = dmg_all_commits(place->sample);
	while (!rc && !(rc = simidx_walk_next(w, &match, &err))) {
		dmg_doc doc = { match.id, match.fp, match.flags & SIMIDX_MATCH_FP2 ? match.fp2 : 0,
				match.flags & SIMIDX_MATCH_LABEL ? match.label : NULL,
				match.label_size };
		uint64_t key = dmg_has_ids(place->sample) ? match.id : match.fp;

		if (n && key <= last)
			*commits = 0;
		last = key;
		sum += dmg_doc_hash(&doc);
		n++;
	}
	simidx_walk_close(w);
	if (rc != SIMIDX_E_END)
		return rc;
	*commits &= n < n_new ? 0 : dmg_commits_of_sum(place->sample, n - n_new, sum - sum_new);
	return SIMIDX_OK;
}

static void dump(simidx *index)
{
	uint64_t commits;

	if (ok(walk(index, 0, 0, &commits), "walk"))
		result->commits = commits;
}

/* ------------------------------------------------------------------------------------------
 * Writing
 */

/* Verify and dump what there is now. */
static void look_after(const char *path, size_t n_new, uint64_t sum_new)
{
	simidx *index = open_index(path, "open again");

	result->has_after = 1;
	if (!index) {
		result->verify_after = result->dump_after = result->code;
		return;
	}
	result->verify_after = simidx_verify(index, see_problem, NULL, NULL, &err);
	ok(result->verify_after, "verify again");
	result->dump_after = walk(index, n_new, sum_new, &result->commits_after);
	ok(result->dump_after, "walk again");
	simidx_close(index);
}

static void backup(simidx *index)
{
	int made = ok(simidx_backup(index, place->copy, &err), "backup");

	simidx_close(index);
	if (made)
		look_after(place->copy, 0, 0);
}

/* New document number i, with an id of its own or the next one; `label` has room for its label. */
static simidx_doc new_doc(unsigned i, char label[32])
{
	const dmg_sample *s = place->sample;
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.fp = s->docs[i].fp ^ 0x1234;
	if (dmg_has_ids(s) && i % 2)
		doc.id = NEW_ID + i;
	if (dmg_has_ids(s)) {
		doc.label = label;
		doc.label_size = (size_t)snprintf(label, 32, "new-%u", i);
	}
	if (s->form->flags & SIMIDX_CREATE_FP2) {
		doc.flags = SIMIDX_DOC_FP2;
		doc.fp2 = i;
	}
	return doc;
}

static uint64_t hash_of_new(const simidx_doc *doc, uint64_t id)
{
	dmg_doc hashed = { dmg_has_ids(place->sample) ? id : SIMIDX_NO_ID, doc->fp, doc->fp2,
			   doc->label, doc->label_size };

	return dmg_doc_hash(&hashed);
}

/* Put and commit two documents, and merge if told to. Adds what was stored to a sum. */
static int put_two(simidx *index, unsigned from, int merges, uint64_t *sum, size_t *n)
{
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer;
	uint64_t added = 0;
	int good;

	o.durability = SIMIDX_DURABILITY_NORMAL;
	o.merge = SIMIDX_MERGE_NEVER;
	if (!ok(simidx_writer_open(index, &o, &writer, &err), "writer_open"))
		return 0;
	good = 1;
	for (unsigned i = from; good && i < from + 2; i++) {
		char label[32];
		simidx_doc doc = new_doc(i, label);
		uint64_t id;

		good = ok(simidx_writer_put(writer, &doc, &id, &err), "put");
		added += hash_of_new(&doc, id);
	}
	if (good)
		good = ok(simidx_writer_commit(writer, &err), "commit");
	if (simidx_writer_stored(writer)) {
		*n += 2;
		*sum += added;
	}
	if (good && merges)
		good = ok(simidx_writer_merge(writer, &err), "merge");
	simidx_writer_close(writer);
	return good;
}

static void insert(simidx *index, int merges)
{
	uint64_t sum = 0;
	size_t n = 0;

	for (unsigned i = 0; i < N_NEW && put_two(index, i, merges, &sum, &n); i += 2)
		;
	simidx_close(index);
	look_after(place->index, n, sum);
}

/* An index of what is there and two documents more takes its place. */
static void rebuild(void)
{
	simidx_loader_options o = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader *loader;
	uint64_t sum = 0;
	int good = 1;

	o.memory = LOADER_MEMORY;
	o.threads = 1;
	o.flags = place->open_flags;
	if (!ok(simidx_loader_open(place->index, NULL, &o, &loader, &err), "loader_open"))
		return;
	for (unsigned i = 0; good && i < 2; i++) {
		char label[32];
		simidx_doc doc = new_doc(i, label);
		uint64_t id;

		good = ok(simidx_loader_put(loader, &doc, &id, &err), "loader_put");
		sum += hash_of_new(&doc, id);
	}
	if (good)
		good = ok(simidx_loader_finish(loader, NULL, &err), "loader_finish");
	simidx_loader_close(loader);
	look_after(place->index, good ? 2 : 0, good ? sum : 0);
}

/* In place, or as a copy. What fails leaves the damaged file as it was. */
static void compact(void)
{
	int in_place = (int)sxt_rng_below(&rng, 2);
	simidx_compact_options o = SIMIDX_COMPACT_OPTIONS_INIT;
	char *path = sxt_path(place->index, "data.mdb");
	void *now;
	size_t size;

	o.memory = LOADER_MEMORY;
	o.threads = 1;
	o.plan = sxt_rng_below(&rng, 2) ? "auto" : NULL;
	if (ok(simidx_compact(place->index, in_place ? NULL : place->copy, &o, NULL, &err),
	       "compact")) {
		look_after(in_place ? place->index : place->copy, 0, 0);
	} else {
		now = sxt_file_read(path, &size);
		sxt_must(size == place->size && !memcmp(now, place->data, size));
		free(now);
	}
	free(path);
}

/*
 * Whether a document of an index that was repaired is one that was put, but for a second
 * fingerprint or a label that it lost.
 */
static int is_left_of_doc(const simidx_match *match)
{
	size_t i = dmg_find_doc(place->sample, match->id, match->fp);
	simidx_match whole = *match;

	if (i == place->sample->n_docs)
		return 0;
	if (place->sample->form->flags & SIMIDX_CREATE_FP2 && !(match->flags & SIMIDX_MATCH_FP2)) {
		whole.fp2 = place->sample->docs[i].fp2;
		whole.flags |= SIMIDX_MATCH_FP2;
	}
	return dmg_is_doc(place->sample, &place->sample->docs[i], &whole,
			  (match->flags & SIMIDX_MATCH_LABEL) != 0);
}

/* Whether a walk over an index that was repaired delivers nothing but such documents. */
static int is_left_of_docs(simidx *index)
{
	simidx_match match;
	simidx_walk *w;
	int rc = simidx_walk_open(index, &w, &err);

	while (!rc && !(rc = simidx_walk_next(w, &match, &err)) && is_left_of_doc(&match))
		;
	simidx_walk_close(w);
	return rc == SIMIDX_E_END;
}

/*
 * Where repair tells of a loss, what is left must be right; of what it doubts nothing is expected
 * here. Where it tells of nothing, look_after() has judged.
 */
static void repair(void)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	simidx_repair_options o = SIMIDX_REPAIR_OPTIONS_INIT;
	simidx *index;

	o.memory = REPAIR_MEMORY;
	o.threads = 1;
	if (!ok(simidx_repair(place->index, place->copy, &o, NULL, NULL, &report, &err), "repair"))
		return;
	look_after(place->copy, 0, 0);
	if (!report.documents_lost && !report.damaged && !report.named && !report.unknown_fp2 &&
	    !report.labels_lost && !report.doubts && !report.changes_lost)
		return;
	index = open_index(place->copy, "open repaired");
	if (!index)
		return;
	result->commits_after = report.doubts || is_left_of_docs(index)
					? dmg_all_commits(place->sample)
					: 0;
	simidx_close(index);
}

/* ------------------------------------------------------------------------------------------
 * Processes
 */

static void do_op(enum dmg_op op)
{
	simidx *index;

	switch (op) {
	case DMG_OP_rebuild: rebuild(); return;
	case DMG_OP_compact: compact(); return;
	case DMG_OP_repair: repair(); return;
	default: break;
	}
	index = open_index(place->index, "open");
	if (!index)
		return;
	switch (op) {
	case DMG_OP_verify: verify(index); break;
	case DMG_OP_get: get(index); break;
	case DMG_OP_search: search(index); break;
	case DMG_OP_dump: dump(index); break;
	case DMG_OP_backup: backup(index); return;
	case DMG_OP_insert: insert(index, 0); return;
	default: insert(index, 1); return;
	}
	simidx_close(index);
}

static void limit(int what, rlim_t most)
{
	struct rlimit r = { most, most };

	setrlimit(what, &r);
}

/* What ends a process that hangs is a signal that it sends to itself. */
static void set_limits(void)
{
	struct itimerval cpu = { { 0, 0 }, { MOST_SECONDS, 0 } };

	setitimer(ITIMER_PROF, &cpu, NULL);
	alarm(MOST_WAITING);
	limit(RLIMIT_CORE, 0);
	if (!DMG_HAS_ASAN) /* which takes terabytes of addresses */
		limit(RLIMIT_AS, MOST_MEMORY);
}

static void put_file(const char *dir, const char *name, const void *data, size_t size)
{
	char *path = sxt_path(dir, name);

	if (data)
		sxt_file_write(path, data, size);
	else
		unlink(path);
	free(path);
}

/* What a process that was killed has left there is gone. */
static void empty_dir(const dmg_place *p)
{
	sxt_remove(p->dir);
	sxt_must(!mkdir(p->dir, 0700) && !mkdir(p->index, 0700));
}

void dmg_place_make(dmg_place *p, const char *dir)
{
	p->dir = dir;
	p->index = sxt_path(dir, "index");
	p->copy = sxt_path(dir, "copy");
	p->printed = sxt_path(dir, "printed");
	p->shared = mmap(NULL, sizeof(*p->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	sxt_must(p->shared != MAP_FAILED);
	empty_dir(p);
}

static void run_child(dmg_place *p, enum dmg_op op)
{
	int fd = open(p->printed, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sxt_must(fd >= 0 && dup2(fd, STDERR_FILENO) >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
	set_limits();
	do_op(op);
	_exit(0);
}

/* The line that says why, if there is one. */
static void read_printed(dmg_place *p, char *text, size_t room)
{
	char *printed = sxt_file_read(p->printed, NULL), *from = strstr(printed, "ERROR:");

	from = from ? from : strstr(printed, "runtime error:");
	from = from ? from : printed;
	snprintf(text, room, "%.*s", (int)strcspn(from, "\n"), from);
	free(printed);
}

void dmg_run(dmg_place *p, enum dmg_op op, sxt_rng random, dmg_result *out)
{
	int status;
	pid_t pid;

	put_file(p->index, "data.mdb", p->data, p->size);
	put_file(p->index, "lock.mdb", NULL, 0);
	put_file(p->index, "write.lock", NULL, 0);
	if (op == DMG_OP_backup || op == DMG_OP_compact || op == DMG_OP_repair)
		sxt_remove(p->copy);
	memset(p->shared, 0, sizeof(*p->shared));
	p->shared->commits = dmg_all_commits(p->sample);
	p->shared->stage = "";
	place = p;
	result = p->shared;
	rng = random;
	fflush(NULL);
	pid = fork();
	sxt_must(pid >= 0);
	if (!pid)
		run_child(p, op);
	while (waitpid(pid, &status, 0) < 0)
		sxt_must(errno == EINTR);
	*out = *p->shared;
	if (WIFSIGNALED(status)) {
		out->number = WTERMSIG(status);
		out->end = out->number == SIGPROF || out->number == SIGALRM ? DMG_HANG : DMG_SIGNAL;
	} else if (WEXITSTATUS(status)) {
		out->number = WEXITSTATUS(status);
		out->end = DMG_STATUS;
	}
	if (out->end) {
		read_printed(p, out->text, sizeof(out->text));
		empty_dir(p);
	}
}

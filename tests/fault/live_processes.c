/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Many processes at one index, of which some are killed at any moment: one changes in all ways,
 * commits and merges; one merges in the background; four read. Whatever a reader sees is the
 * content of one commit: its digest is that of a commit that was the last one when it looked, or
 * became so while it did. A writer that is stopped in the midst of something makes no reader wait.
 * The file does not grow with the number of commits.
 *
 * A short run takes seconds, a long one a minute for each form of an index.
 */

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include <simidx_info.h>
#include <simidx_walk.h>

#include "index/sx_index.h"
#include "support/sxt_fixture.h"
#include "support/sxt_live.h"
#include "util/sx_hash.h"

#define READERS 4
#define MAX_COMMITS ((uint64_t)1 << 21)
#define MAX_DOCUMENTS 800
#define LIMIT_SECONDS 60 /* for what takes moments, when it does not block */

/*
 * A page that a transaction has replaced is used again when no reader has a snapshot from before.
 * So the file has what the documents take, and what is replaced while one reader has one snapshot:
 * here some ten pages a transaction. Readers that are killed do not tell how long they had theirs.
 */
#define MOST_BYTES(span) (((uint64_t)4 << 20) + (span) * 32 * 4096)

static struct shared {
	atomic_int stop;
	atomic_uint_fast64_t committed;      /* the last commit that has returned */
	atomic_uint_fast64_t rounds[READERS]; /* whole contents that each has read */
	atomic_uint_fast64_t merges;
	atomic_uint_fast64_t span[READERS];  /* most transactions while a reader had a snapshot */
	uint64_t digests[MAX_COMMITS];       /* of the content of each commit, set before it */
} *shared;

static sxt_live live;

static const sxt_variant forms[] = {
	{ "4x16", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_FP2 },
	{ "3x22", SIMIDX_LAYOUT_ROWS, 0 },
	{ "10x26", SIMIDX_LAYOUT_BLOCKS, SIMIDX_CREATE_NO_IDS },
};

#define N_FORMS ((int)(sizeof(forms) / sizeof(forms[0])))

static void set_up(void)
{
	sxt_set_up_path();
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	sxt_must(shared != MAP_FAILED);
}

static void tear_down(void)
{
	munmap(shared, sizeof(*shared));
	sxt_live_free(&live);
	sxt_tear_down();
}

static void pause_ms(unsigned ms)
{
	const struct timespec t = { ms / 1000, (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ------------------------------------------------------------------------------------------
 * Contents
 */

static uint64_t hash_of(uint64_t id, uint64_t fp, uint64_t fp2, const char *label,
			size_t label_size)
{
	uint64_t numbers[] = { id, fp, fp2, label_size ? sx_hash(label, label_size) : 0 };

	return sx_hash(numbers, sizeof(numbers));
}

static uint64_t hash_of_match(const simidx_match *m)
{
	return hash_of(m->id, m->fp, m->fp2, m->label, m->label_size);
}

static void publish_digest(const sxt_live *l)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < l->now.n; i++) {
		const sxt_live_doc *doc = &l->now.at[i];

		sum += hash_of(doc->id, doc->fp, doc->fp2, doc->label, doc->label_size);
	}
	sxt_must_lt(l->commits, MAX_COMMITS);
	shared->digests[l->commits] = sum;
}

static uint64_t mark_of(simidx *index)
{
	uint64_t mark = 0;
	size_t n;

	sxt_must_ok(simidx_get_mark(index, &mark, sizeof(mark), &n, &sxt_err));
	return mark;
}

static uint64_t transaction_of(simidx *index)
{
	simidx_info info = SIMIDX_INFO_INIT;

	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	return info.snapshot;
}

/* ------------------------------------------------------------------------------------------
 * Who is at the index
 */

static uint64_t walk_digest(simidx *index)
{
	uint64_t sum = 0;
	simidx_walk *walk;
	simidx_match match;
	int rc;

	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	while (!(rc = simidx_walk_next(walk, &match, &sxt_err)))
		sum += hash_of_match(&match);
	if (rc != SIMIDX_E_END)
		sxt_fail("a walk ends with %s", sxt_err.text);
	simidx_walk_close(walk);
	return sum;
}

/* All documents, by a search that everything is near enough for. */
static uint64_t search_digest(simidx_reader *reader)
{
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	uint64_t sum = 0;

	query.radius = SIMIDX_MAX_RADIUS;
	query.flags = SIMIDX_QUERY_LABELS;
	sxt_must_ok(simidx_reader_search(reader, &query, &results, &sxt_err));
	for (size_t i = 0; i < results.n; i++)
		sum += hash_of_match(&results.matches[i]);
	return sum;
}

static int is_digest_of(uint64_t digest, uint64_t first, uint64_t last)
{
	for (uint64_t i = first; i <= last; i++)
		if (shared->digests[i] == digest)
			return 1;
	return 0;
}

static int read_on(sxt_proc *me, void *ctx)
{
	unsigned number = *(unsigned *)ctx;
	uint64_t last = 0;
	simidx *index = sxt_open(t_path, SIMIDX_OPEN_READ_ONLY);
	simidx_reader *reader = sxt_reader(index);

	(void)me;
	for (uint64_t round = 0; !atomic_load(&shared->stop); round++) {
		uint64_t returned = atomic_load(&shared->committed), first = mark_of(index);
		uint64_t digest, began = transaction_of(index), span;

		/* Never back, and what has returned can be seen. */
		sxt_must_ge(first, last);
		sxt_must_ge(first, returned);
		digest = round % 2 ? walk_digest(index) : search_digest(reader);
		last = mark_of(index);
		span = transaction_of(index) - began;
		if (span > atomic_load(&shared->span[number]))
			atomic_store(&shared->span[number], span);
		if (!is_digest_of(digest, first, last))
			sxt_fail("%s: no commit from %llu to %llu has this content",
				 round % 2 ? "walk" : "search", (unsigned long long)first,
				 (unsigned long long)last);
		atomic_fetch_add(&shared->rounds[number], 1);
	}
	simidx_reader_close(reader);
	simidx_close(index);
	return 0;
}

static int change_on(sxt_proc *me, void *ctx)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(index, 300);

	(void)me, (void)ctx;
	index->tuning.merge_blocks = 2;
	index->tuning.merge_rows = 100;
	while (!atomic_load(&shared->stop)) {
		if (sxt_live_step(&live, writer) != SXT_LIVE_COMMIT)
			continue;
		atomic_store(&shared->committed, live.commits);
		if (!sxt_rng_below(&live.asks, 50))
			sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	}
	simidx_writer_close(writer);
	simidx_close(index);
	return 0;
}

static int merge_on(sxt_proc *me, void *ctx)
{
	simidx *index = sxt_open(t_path, 0);

	(void)me, (void)ctx;
	index->tuning.merge_blocks = 1;
	index->tuning.merge_rows = 50;
	while (!atomic_load(&shared->stop)) {
		sxt_merge(index);
		atomic_fetch_add(&shared->merges, 1);
		pause_ms(2);
	}
	simidx_close(index);
	return 0;
}

/* ------------------------------------------------------------------------------------------
 * One writes, one merges, four read
 */

static struct {
	sxt_proc writer, merger, reader[READERS];
	unsigned number[READERS];
	uint64_t largest; /* size of the file */
} scene;

static void make_index(const sxt_variant *form, uint64_t stream)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_writer *writer;
	simidx *index;

	o.plan = form->plan;
	o.layout = form->layout;
	o.flags = form->flags;
	index = sxt_create(t_path, &o);
	sxt_live_init(&live, 64, o.flags, MAX_DOCUMENTS, stream);
	live.before_commit = publish_digest;
	writer = sxt_writer(index, 0);
	for (unsigned i = 0; i < 1000; i++)
		sxt_live_step(&live, writer);
	sxt_live_commit(&live, writer);
	simidx_writer_close(writer);
	simidx_close(index);
}

static void start_reader(unsigned i)
{
	scene.number[i] = i;
	sxt_proc_start(&scene.reader[i], read_on, &scene.number[i]);
}

/*
 * Bring the model to the last commit that is there. Of a writer that was killed when its commit was
 * on the disk and the other processes not told, the next transaction that writes tells them.
 */
static void follow(void)
{
	simidx *index = sxt_open(t_path, 0);
	simidx_writer *writer = sxt_writer(index, 0);
	uint64_t mark;

	sxt_must_ok(simidx_writer_begin(writer, &sxt_err));
	simidx_writer_close(writer);
	mark = mark_of(index);

	/* A commit that has returned is there. */
	sxt_must_ge(mark, atomic_load(&shared->committed));
	sxt_must_ge(mark, live.commits);
	while (live.commits < mark)
		sxt_live_step(&live, NULL);
	sxt_live_roll_back(&live);
	simidx_close(index);
}

/* While the writer stands still, wherever that is, each reader reads on. */
static void stop_writer(void)
{
	uint64_t before[READERS];
	double until = seconds() + LIMIT_SECONDS;

	sxt_must(!kill(scene.writer.pid, SIGSTOP));
	for (unsigned i = 0; i < READERS; i++)
		before[i] = atomic_load(&shared->rounds[i]);
	for (unsigned i = 0; i < READERS; i++)
		while (atomic_load(&shared->rounds[i]) < before[i] + 2) {
			sxt_must(!waitpid(scene.reader[i].pid, NULL, WNOHANG));
			sxt_must(seconds() < until);
			pause_ms(1);
		}
	sxt_must(!kill(scene.writer.pid, SIGCONT));
}

/* Nobody has ended by itself before. */
static void kill_process(sxt_proc *proc)
{
	sxt_must(!waitpid(proc->pid, NULL, WNOHANG));
	sxt_proc_kill(proc);
}

static void disturb(sxt_rng *rng)
{
	unsigned i = (unsigned)sxt_rng_below(rng, READERS);

	switch (sxt_rng_below(rng, 4)) {
	case 0:
		kill_process(&scene.reader[i]);
		start_reader(i);
		break;
	case 1:
		kill_process(&scene.writer);
		follow();
		sxt_proc_start(&scene.writer, change_on, NULL);
		break;
	case 2:
		kill_process(&scene.merger);
		sxt_proc_start(&scene.merger, merge_on, NULL);
		break;
	default:
		stop_writer();
	}
}

static uint64_t longest_span(void)
{
	uint64_t longest = 0;

	for (unsigned i = 0; i < READERS; i++)
		if (atomic_load(&shared->span[i]) > longest)
			longest = atomic_load(&shared->span[i]);
	return longest;
}

static void note_size(void)
{
	struct stat st;

	sxt_must(!stat(t_data, &st));
	if ((uint64_t)st.st_size > scene.largest)
		scene.largest = (uint64_t)st.st_size;
}

START_TEST(test_each_snapshot_is_one_commit)
{
	double until = seconds() + (sxt_is_long() ? 60 : 1);
	simidx *index;
	sxt_rng rng;

	sxt_rng_init(&rng, 9600 + (uint64_t)_i);
	make_index(&forms[_i], 9610 + 2 * (uint64_t)_i);
	sxt_proc_start(&scene.writer, change_on, NULL);
	sxt_proc_start(&scene.merger, merge_on, NULL);
	for (unsigned i = 0; i < READERS; i++)
		start_reader(i);
	do {
		pause_ms((unsigned)sxt_rng_below(&rng, 100));
		disturb(&rng);
		note_size();
	} while (seconds() < until);
	stop_writer();
	atomic_store(&shared->stop, 1);
	ck_assert_int_eq(sxt_proc_finish(&scene.writer), 0);
	ck_assert_int_eq(sxt_proc_finish(&scene.merger), 0);
	for (unsigned i = 0; i < READERS; i++) {
		ck_assert_int_eq(sxt_proc_finish(&scene.reader[i]), 0);
		ck_assert_uint_gt(atomic_load(&shared->rounds[i]), 2);
	}
	ck_assert_uint_gt(atomic_load(&shared->merges), 0);
	note_size();
	follow();
	index = sxt_open(t_path, 0);
	sxt_live_check_content(&live, index);
	sxt_merge(index);
	sxt_live_check_content(&live, index);
	simidx_close(index);
	printf("form %d: %llu commits, %llu background merges, %llu contents read, largest file "
	       "%llu bytes, span %llu\n",
	       _i, (unsigned long long)live.commits,
	       (unsigned long long)atomic_load(&shared->merges),
	       (unsigned long long)(atomic_load(&shared->rounds[0]) +
				    atomic_load(&shared->rounds[1]) +
				    atomic_load(&shared->rounds[2]) +
				    atomic_load(&shared->rounds[3])),
	       (unsigned long long)scene.largest, (unsigned long long)longest_span());
	fflush(stdout);
	ck_assert_uint_lt(scene.largest, MOST_BYTES(longest_span()));
}
END_TEST

static const sxt_test tests[] = {
	{ &test_each_snapshot_is_one_commit, 0, N_FORMS },
};

SXT_SUITE(live_processes, set_up, tear_down);

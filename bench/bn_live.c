/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An index that changes, beside one with the same documents that does not, and beside arrays in
 * memory: with fresh rows, right after merges, under a stream of commits. --help says
 * how to read the figures.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simidx_sketch.h>

#include "bn_options.h"
#include "bn_own.h"
#include "bn_pass.h"
#include "bn_report.h"
#include "bn_stream.h"
#include "bn_util.h"

#define COMMIT_ROWS 1000

/* LIVE and APART are one index: LIVE has the handle that writes, APART is as another process. */
enum { ARRAYS, STATIC, LIVE, APART, RIVALS };
enum { HALF, FULL, FULL_TEXT, FIRST_WINDOW, LAST_WINDOW = FIRST_WINDOW + 2, STREAM, STREAM_CPU,
       WORKS };

/* Queries after a merge are told apart by how many there have been since. */
static const uint64_t window_end[] = { 0, 1, 1000, 10000 };

struct bench {
	struct bn_setup setup; /* of the index that does not change */
	const char *set, *plan;
	uint64_t documents, queries, threshold;
	unsigned rounds, seconds, per_second, writer_cpu, probes;
	int in_process;
	double stream_s; /* the seconds, or how many the stream needs */
	char live_dir[4096];

	struct bn_set data; /* what is in the live index by now: data.n grows */
	uint64_t *all;      /* its documents, and those to come */
	uint64_t n_all;
	struct bn_rival rival[RIVALS];
	void *session[RIVALS];
	simidx_writer *writer;
	struct bn_truth truth; /* of the documents at the beginning */
	struct bn_report report;
	struct bn_stream stream;
};

static void put(struct bench *b, uint64_t n)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_error err;

	for (uint64_t i = 1; i <= n; i++) {
		doc.fp = b->all[b->data.n++];
		bn_check(simidx_writer_put(b->writer, &doc, NULL, &err), &err, "put");
		if (i % COMMIT_ROWS == 0 || i == n)
			bn_check(simidx_writer_commit(b->writer, &err), &err, "commit");
	}
}

/* The live index must answer as arrays with the same documents do. */
static void check_live(struct bench *b)
{
	struct bn_setup setup = b->setup;
	struct bn_rival arrays;
	struct bn_truth truth;
	char reason[BN_REASON];

	setup.set = &b->data;
	bn_truth_make(&truth, &b->data);
	if (bn_arrays_make(&setup, "4x16", bn_simd_best(), &arrays, reason))
		bn_die("arrays: %s", reason);
	bn_pass_check(&arrays, &b->data, 0, &truth);
	bn_pass_check(&b->rival[LIVE], &b->data, 0, &truth);
	bn_rival_destroy(&arrays);
	bn_truth_free(&truth);
}

/* Mean CPU time of some of the queries, into the report. */
static void measure(struct bench *b, unsigned work, unsigned rival, uint64_t first, uint64_t n)
{
	const struct bn_rival *r = &b->rival[rival];
	const struct bn_class *class = &b->data.classes[0];
	double start = bn_cpu_seconds(), us;
	uint64_t found = 0;

	for (uint64_t i = first; i < first + n; i++)
		found += r->search(b->session[rival], b->data.query[i % class->n]).n;
	us = (bn_cpu_seconds() - start) * 1e6 / (double)n;
	bn_report_add(&b->report, work, rival, us, 0, 0, (double)found / (double)n);
}

/* Searches with as many fresh rows as there are now. */
static void measure_fresh(struct bench *b, unsigned work)
{
	check_live(b);
	for (unsigned round = 0; round < b->rounds; round++)
		for (unsigned r = 0; r <= LIVE; r++)
			measure(b, work, r, 0, b->data.classes[0].n);
}

/* Searches as for texts with two fingerprints, with and without fresh rows. */
static void measure_texts(struct bench *b, unsigned work)
{
	for (unsigned round = 0; round < b->rounds; round++)
		for (unsigned r = STATIC; r <= LIVE; r++) {
			void *plain = b->session[r];

			b->session[r] = b->rival[r].open(&b->rival[r]);
			b->rival[r].weigh(b->session[r], SIMIDX_TEXT_RADIUS, b->probes);
			measure(b, work, r, 0, b->data.classes[0].n);
			b->rival[r].close(b->session[r]);
			b->session[r] = plain;
		}
}

static void measure_merged(struct bench *b)
{
	static const unsigned order[2][RIVALS] = { { LIVE, APART, STATIC, ARRAYS },
						   { APART, LIVE, STATIC, ARRAYS } };
	unsigned windows = LAST_WINDOW - FIRST_WINDOW + 1;
	simidx_error err;

	for (unsigned round = 0; round < b->rounds; round++) {
		if (round)
			put(b, COMMIT_ROWS);
		bn_check(simidx_writer_merge(b->writer, &err), &err, "merge");
		/*
		 * Each has its own queries, or the next one would find their blocks in the caches.
		 */
		for (unsigned i = 0; i < RIVALS; i++)
			for (unsigned w = 0, r = order[round % 2][i]; w < windows; w++)
				measure(b, FIRST_WINDOW + w, r,
					(round * RIVALS + i) * window_end[windows] + window_end[w],
					window_end[w + 1] - window_end[w]);
	}
	check_live(b);
}

static void print_stream(const struct bench *b, const struct bn_flow *flow)
{
	const struct bn_job *job = b->stream.job;

	printf("{\"bench\":\"live\",\"set\":\"%s\",\"documents\":%llu,\"work\":\"stream\""
	       ",\"writer\":\"%s\",\"commits\":%llu,\"rows\":%llu,\"per_second\":%.1f"
	       ",\"merges\":%llu,\"late\":%llu,\"commit_mean_ms\":%.2f,\"commit_max_ms\":%.2f"
	       ",\"queries\":%llu,\"query_p999_us\":%.1f,\"query_max_us\":%.1f,\"over_100us\":%llu"
	       ",\"over_1ms\":%llu,\"over_10ms\":%llu,\"over_100us_share\":%.4f"
	       ",\"disturbed\":%llu}\n",
	       b->data.name, (unsigned long long)b->documents, b->in_process ? "thread" : "process",
	       (unsigned long long)job->commits, (unsigned long long)job->rows, job->per_second,
	       (unsigned long long)job->merges, (unsigned long long)job->late,
	       job->commit_s * 1e3 / (double)job->commits, job->longest_s * 1e3,
	       (unsigned long long)flow->queries, flow->p999_us, flow->slow_max_us,
	       (unsigned long long)flow->slow[0], (unsigned long long)flow->slow[1],
	       (unsigned long long)flow->slow[2],
	       flow->slow_us / (flow->mean_us * (double)flow->queries),
	       (unsigned long long)flow->disturbed);
}

/* Queries while nothing is written, for a tenth of the time that the stream takes. */
static void flow_static(struct bench *b, struct bn_flow *flow)
{
	for (unsigned r = ARRAYS; r <= STATIC; r++)
		bn_flow_run(&b->rival[r], &b->data.classes[0], b->data.query, b->truth.answer,
			    b->stream_s / 10, NULL, &flow[r]);
}

static void report_flow(struct bench *b, unsigned rival, const struct bn_flow *x,
			const struct bn_flow *y)
{
	bn_report_add(&b->report, STREAM, rival, (x->mean_us + y->mean_us) / 2,
		      (x->p50_us + y->p50_us) / 2, (x->p99_us + y->p99_us) / 2, y->matches);
	bn_report_add(&b->report, STREAM_CPU, rival, (x->cpu_us + y->cpu_us) / 2, 0, 0,
		      y->matches);
}

/* From a half full tier of fresh rows on, so that a merge falls into the middle. */
static void measure_stream(struct bench *b)
{
	struct bn_flow before[RIVALS], after[RIVALS], live;
	struct bn_job *job = b->stream.job;

	put(b, b->threshold / 2);
	simidx_writer_close(b->writer);
	b->writer = NULL;
	job->threshold = b->threshold;
	snprintf(job->dir, sizeof(job->dir), "%s", bn_own_dir(&b->rival[LIVE]));
	job->index = b->in_process ? bn_own_index(&b->rival[LIVE]) : NULL;
	memcpy(job->fp, b->all + b->data.n, job->commits * job->rows * sizeof(*job->fp));
	flow_static(b, before);
	bn_stream_start(&b->stream);
	bn_flow_run(&b->rival[LIVE], &b->data.classes[0], b->data.query, b->truth.answer, 0,
		    job, &live);
	bn_stream_end(&b->stream);
	flow_static(b, after);
	for (unsigned r = ARRAYS; r <= STATIC; r++)
		report_flow(b, r, &before[r], &after[r]);
	report_flow(b, LIVE, &live, &live);
	print_stream(b, &live);
	b->data.n += job->commits * job->rows;
	check_live(b);
}

/* The set, and documents of the same kind that come later. */
static void make_documents(struct bench *b)
{
	uint64_t more = b->threshold + b->threshold / 2 + (uint64_t)b->rounds * COMMIT_ROWS +
			b->stream.job->commits * COMMIT_ROWS;
	struct bn_set later;

	bn_set_make(&b->data, b->set, b->documents, b->queries, b->setup.seed);
	bn_set_make(&later, b->set, more, 1, b->setup.seed + 1);
	b->n_all = b->documents + more;
	b->all = bn_alloc(b->n_all, sizeof(*b->all));
	memcpy(b->all, b->data.fp, b->documents * sizeof(*b->all));
	memcpy(b->all + b->documents, later.fp, more * sizeof(*b->all));
	bn_set_free(&later);
	free(b->data.fp);
	b->data.fp = b->all;
}

static void make_rivals(struct bench *b)
{
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	struct bn_setup live = b->setup;
	char reason[BN_REASON];
	simidx_error err;

	snprintf(b->live_dir, sizeof(b->live_dir), "%s/bench-live-%ld", b->setup.dir,
		 (long)getpid());
	if (mkdir(b->live_dir, 0700))
		bn_die("%s: %s", b->live_dir, strerror(errno));
	live.dir = b->live_dir;
	live.keep = 0;
	if (bn_arrays_make(&b->setup, b->plan, bn_simd_best(), &b->rival[ARRAYS], reason) &&
	    bn_arrays_make(&b->setup, "4x16", bn_simd_best(), &b->rival[ARRAYS], reason))
		bn_die("arrays: %s", reason);
	if (bn_own_make(&b->setup, b->plan, SIMIDX_LAYOUT_BLOCKS, &b->rival[STATIC], reason) ||
	    bn_own_make(&live, b->plan, SIMIDX_LAYOUT_BLOCKS, &b->rival[LIVE], reason))
		bn_die("%s: %s", b->plan, reason);
	bn_own_again(&live, &b->rival[LIVE], bn_simd_best(), &b->rival[APART]);
	how.merge = SIMIDX_MERGE_NEVER;
	bn_check(simidx_writer_open(bn_own_index(&b->rival[LIVE]), &how, &b->writer, &err), &err,
		 "writer");
	bn_truth_make(&b->truth, &b->data);
	for (unsigned r = 0; r < RIVALS; r++) {
		bn_pass_check(&b->rival[r], &b->data, 0, &b->truth);
		b->session[r] = b->rival[r].open(&b->rival[r]);
	}
}

static void begin_report(struct bench *b)
{
	static const char *const works[WORKS] = {
		"fresh-half",    "fresh-full",        "text-full", "merged-0-1",
		"merged-1-1000", "merged-1000-10000", "stream",    "stream-cpu",
	};
	struct bn_report *report = &b->report;

	memset(report, 0, sizeof(*report));
	report->bench = "live";
	report->set = b->data.name;
	report->class = b->data.classes[0].name;
	report->documents = b->documents;
	report->rounds = b->rounds;
	report->n_rivals = RIVALS;
	report->n_works = WORKS;
	report->mih = report->base_work = -1;
	report->base_rival = STATIC;
	report->rival[ARRAYS] = b->rival[ARRAYS].name;
	report->rival[STATIC] = "static";
	report->rival[LIVE] = "live";
	report->rival[APART] = "apart";
	report->arrays[ARRAYS] = -1;
	memcpy(report->work, works, sizeof(works));
	bn_report_begin(report);
}

static void clean_up(struct bench *b)
{
	for (unsigned r = 0; r < RIVALS; r++)
		b->rival[r].close(b->session[r]);
	for (unsigned r = RIVALS; r-- > 0;) /* the one that removes the live index behind APART */
		bn_rival_destroy(&b->rival[r]);
	rmdir(b->live_dir);
	bn_truth_free(&b->truth);
	bn_report_end(&b->report);
	bn_stream_free(&b->stream);
	bn_set_free(&b->data);
}

/* What is printed, for --help. */
static const char figures[] =
	"\n"
	"Contestants:\n"
	"  live    the index that changes, through the handle that changes it\n"
	"  apart   the same through another handle: a merge is as one of another process\n"
	"  static  the same documents in an index that does not change\n"
	"  arrays  sorted arrays in memory\n"
	"\n"
	"Works, and what \"us\" is in their lines:\n"
	"  fresh-half, fresh-full   with half as many fresh rows as a merge waits for, and with "
	"as\n"
	"              many: mean CPU time\n"
	"  text-full   the same as fresh-full by weights as texts with two fingerprints have them\n"
	"  merged-A-B  queries number A to B after a merge, of --threshold rows in the first "
	"round\n"
	"              and 1,000 in later ones; each contestant has its own queries: mean CPU "
	"time\n"
	"  stream      queries without a pause while another process commits 1,000 documents\n"
	"              --commits times a second, with one merge on the way: mean, p50_us and "
	"p99_us\n"
	"              by the clock. 'static' and the arrays are measured before and after it\n"
	"  stream-cpu  the same queries, CPU time of the thread: look at this one on a machine "
	"that\n"
	"              others use\n"
	"\n"
	"Members of the lines: as of bn_search; over_base is the time over that of 'static'. The\n"
	"line with \"writer\" counts commits and merges, how long commits took, how many began\n"
	"late; how many queries took 100 us, 1 ms and 10 ms or more by themselves, the longest,\n"
	"and their share of the time. 'disturbed' are queries of 100 us or more in which the\n"
	"thread lost the CPU to others: they count in the mean alone.\n"
	"Answers are compared with arrays of all documents at each stage; during the stream, no\n"
	"query may find less than at the beginning.\n";

static void parse(struct bench *b, int argc, char **argv)
{
	const struct bn_option options[] = {
		{ 'n', "documents", "N", BN_COUNT, &b->documents, "at the beginning (1000000)" },
		{ 'q', "queries", "N", BN_COUNT, &b->queries, "distinct queries (100000)" },
		{ 's', "set", "NAME", BN_TEXT, &b->set,
		  "uniform, clustered, hot16, equal, blocks3 (uniform)" },
		{ 'p', "plan", "PLAN", BN_TEXT, &b->plan, "(4x16)" },
		{ 't', "threshold", "N", BN_COUNT, &b->threshold,
		  "fresh rows before a merge (N / 16, 65536 to 1000000)" },
		{ 'c', "commits", "N", BN_SMALL, &b->per_second,
		  "of 1000 documents a second in the stream (10)" },
		{ 'T', "seconds", "N", BN_SMALL, &b->seconds,
		  "of the stream (what one merge needs)" },
		{ 'i', "in-process", NULL, BN_FLAG, &b->in_process,
		  "the stream is written by a thread, not by a process" },
		{ 'w', "writer-cpu", "N", BN_SMALL_0, &b->writer_cpu,
		  "where the stream is written, if not where bn_live runs" },
		{ 'P', "probes", "N", BN_SMALL, &b->probes, "of text-full (64)" },
		{ 'r', "rounds", "N", BN_SMALL, &b->rounds, "(5)" },
		{ 'd', "dir", "DIR", BN_TEXT, &b->setup.dir, "where indexes are built (.)" },
		{ 'K', "keep", NULL, BN_FLAG, &b->setup.keep,
		  "leave the one that does not change there, and use it if it is,\n"
		  "be it from bn_search" },
		{ 'S', "seed", "N", BN_COUNT, &b->setup.seed, "(1)" },
		{ 0 },
	};
	const struct bn_usage usage = {
		.about =
			"Search an index that changes, beside one that does not. Prints a line of "
			"JSON for\n"
			"each kind of work and contestant, and a table on the standard error.\n",
		.options = options,
		.more = figures,
	};

	bn_parse(&usage, argc, argv);
	if (!b->threshold) {
		b->threshold = b->documents / 16 < 65536 ? 65536 : b->documents / 16;
		b->threshold = b->threshold > 1000000 ? 1000000 : b->threshold;
	}
	/* A little more than the half of the tier that is free, and as much after the merge. */
	b->stream_s = b->seconds;
	if (!b->seconds)
		b->stream_s = (double)b->threshold / COMMIT_ROWS / b->per_second + 1;
}

int main(int argc, char **argv)
{
	struct bench *b = bn_alloc(1, sizeof(*b));
	uint64_t commits;

	bn_program = "bn_live";
	b->documents = 1000000;
	b->queries = 100000;
	b->rounds = 5;
	b->per_second = 10;
	b->writer_cpu = BN_ANY_CPU;
	b->probes = SIMIDX_TEXT_PROBES;
	b->set = "uniform";
	b->plan = "4x16";
	b->setup.radius = SIMIDX_DEFAULT_RADIUS;
	b->setup.seed = 1;
	b->setup.dir = ".";
	b->setup.set = &b->data;
	parse(b, argc, argv);
	commits = (uint64_t)(b->stream_s * b->per_second);
	bn_stream_make(&b->stream, commits * COMMIT_ROWS, b->in_process);
	b->stream.job->commits = commits;
	b->stream.job->rows = COMMIT_ROWS;
	b->stream.job->per_second = b->per_second;
	b->stream.job->cpu = b->writer_cpu;
	printf("{\"bench\":\"live\",");
	bn_print_machine();
	printf(",\"plan\":\"%s\",\"queries\":%llu,\"rounds\":%u,\"threshold\":%llu"
	       ",\"seed\":%llu}\n",
	       b->plan, (unsigned long long)b->queries, b->rounds, (unsigned long long)b->threshold,
	       (unsigned long long)b->setup.seed);
	fflush(stdout);
	make_documents(b);
	make_rivals(b);
	begin_report(b);
	put(b, b->threshold / 2);
	measure_fresh(b, HALF);
	put(b, b->threshold - b->threshold / 2);
	measure_fresh(b, FULL);
	measure_texts(b, FULL_TEXT);
	measure_merged(b);
	measure_stream(b);
	bn_report_print(&b->report);
	clean_up(b);
	free(b);
	return 0;
}

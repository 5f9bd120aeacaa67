/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "bn_pass.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <simidx_sketch.h>

#include "bn_util.h"

#define SWEEP ((size_t)64 << 20)
#define FEW 200 /* queries with cold caches or from disk */
#define MAX_THREADS 64
#define MAX_STAYED 0.01

void bn_truth_make(struct bn_truth *truth, const struct bn_set *set)
{
	truth->answer = bn_alloc(set->n_queries, sizeof(*truth->answer));
	truth->known = bn_alloc(set->n_classes, sizeof(*truth->known));
}

void bn_truth_free(struct bn_truth *truth)
{
	free(truth->answer);
	free(truth->known);
}

static uint64_t queries_of(const struct bn_rival *rival, const struct bn_class *class)
{
	return rival->max_queries && rival->max_queries < class->n ? rival->max_queries
								   : class->n;
}

static _Noreturn void differs(const struct bn_rival *rival, const struct bn_set *set,
			      uint64_t query, uint64_t found, uint64_t expected)
{
	fflush(stdout);
	fprintf(stderr,
		"%s: %s finds %llu documents for query %llu (%016llx) or after it, or not "
		"the same ones as others, who find %llu\n",
		bn_program, rival->name, (unsigned long long)found, (unsigned long long)query,
		(unsigned long long)set->query[query], (unsigned long long)expected);
	exit(1);
}

/* Another process tells one sum for many queries. */
static void check_remote(struct bn_rival *rival, const struct bn_set *set, unsigned class,
			 const struct bn_truth *truth)
{
	const struct bn_class *of = &set->classes[class];
	uint64_t n = queries_of(rival, of);
	struct bn_sum expected = { 0, 0 };
	struct bn_figures figures;

	/* It may be the only contestant. */
	if (!truth->known[class])
		return;
	if (n > truth->known[class])
		n = truth->known[class];
	for (uint64_t i = 0; i < n; i++) {
		expected.n += truth->answer[of->first + i].n;
		expected.sum += truth->answer[of->first + i].sum;
	}
	rival->pass(rival, "check", of->first, n, &figures);
	if (figures.sum.n != expected.n || figures.sum.sum != expected.sum)
		differs(rival, set, of->first, figures.sum.n, expected.n);
}

void bn_pass_check(struct bn_rival *rival, const struct bn_set *set, unsigned class,
		   struct bn_truth *truth)
{
	const struct bn_class *of = &set->classes[class];
	uint64_t n = queries_of(rival, of);
	void *session;

	if (rival->pass) {
		check_remote(rival, set, class, truth);
		return;
	}
	session = rival->open(rival);
	for (uint64_t i = of->first; i < of->first + n; i++) {
		struct bn_hits hits = rival->search(session, set->query[i]);
		struct bn_sum sum = { 0, 0 };

		bn_sum_add(&sum, i, &hits);
		if (i - of->first >= truth->known[class])
			truth->answer[i] = sum;
		else if (sum.n != truth->answer[i].n || sum.sum != truth->answer[i].sum)
			differs(rival, set, i, sum.n, truth->answer[i].n);
	}
	if (n > truth->known[class])
		truth->known[class] = n;
	rival->close(session);
}

/* Number N of "name-N", or 0. */
static uint64_t number_of(const char *work, const char *name)
{
	size_t n = strlen(name);

	return !strncmp(work, name, n) && work[n] == '-' ? bn_number(name, work + n + 1) : 0;
}

/* Some file systems have nowhere else to keep a file. */
static int can_chill(struct bn_rival *rival)
{
	void *session;
	double stayed;

	if (!rival->chill)
		return 0;
	session = rival->open(rival);
	stayed = rival->chill(session);
	rival->close(session);
	if (stayed > MAX_STAYED)
		fprintf(stderr, "%s: %.0f %% of it stay in memory, so no cold figures\n",
			rival->name, stayed * 100);
	return stayed <= MAX_STAYED;
}

int bn_pass_applies(struct bn_rival *rival, const char *work, uint64_t queries)
{
	uint64_t batch = number_of(work, "batch");

	if (batch)
		return rival->batch && batch <= queries;
	if (number_of(work, "weighted") || number_of(work, "text"))
		return rival->weigh != NULL;
	if (number_of(work, "threads"))
		return !rival->pass && !rival->max_queries;
	if (!strcmp(work, "cold"))
		return can_chill(rival);
	return strcmp(work, "swept") || !rival->max_queries;
}

static void sweep(void)
{
	static unsigned char *memory;

	if (!memory)
		memory = bn_alloc(SWEEP, 1);
	for (size_t i = 0; i < SWEEP; i += 64)
		memory[i]++;
}

/* Of this thread and of what works for it elsewhere. */
static double cpu_seconds(const struct bn_rival *rival, void *session)
{
	return bn_cpu_seconds() + (rival->elsewhere ? rival->elsewhere(session) : 0);
}

static void pass_mean(const struct bn_rival *rival, void *session, const uint64_t *fp,
		      uint64_t n, struct bn_figures *out)
{
	double start = cpu_seconds(rival, session);

	for (uint64_t i = 0; i < n; i++)
		out->sum.n += rival->search(session, fp[i]).n;
	out->mean_us = (cpu_seconds(rival, session) - start) * 1e6 / (double)n;
}

static void pass_times(const struct bn_rival *rival, void *session, const uint64_t *fp,
		       uint64_t n, const char *work, struct bn_figures *out)
{
	int swept = !strcmp(work, "swept"), cold = !strcmp(work, "cold");
	double *us = bn_alloc(n, sizeof(*us)), total = 0;

	for (uint64_t i = 0; i < n; i++) {
		double start;

		if (swept)
			sweep();
		if (cold) {
			rival->chill(session);
			/* What every query reads, such as a root, is in memory on any system. */
			rival->search(session, ~fp[i]);
		}
		start = bn_seconds();
		out->sum.n += rival->search(session, fp[i]).n;
		us[i] = (bn_seconds() - start) * 1e6;
		total += us[i];
	}
	out->mean_us = total / (double)n;
	out->p50_us = bn_quantile(us, n, 0.5);
	out->p99_us = bn_quantile(us, n, 0.99);
	free(us);
}

static double process_cpu_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void pass_batch(const struct bn_rival *rival, void *session, const uint64_t *fp,
		       uint64_t n, uint64_t first, uint64_t batch, struct bn_figures *out)
{
	double start = process_cpu_seconds();

	for (uint64_t i = 0; i < n; i += batch)
		rival->batch(session, fp + i, n - i < batch ? n - i : batch, first + i,
			     &out->sum);
	out->mean_us = (process_cpu_seconds() - start) * 1e6 / (double)n;
}

struct part {
	pthread_t thread;
	pthread_barrier_t *begin;
	const struct bn_rival *rival;
	void *session;
	const uint64_t *fp;
	uint64_t n, found;
	double start, end;
};

static void *run_part(void *opaque)
{
	struct part *part = opaque;

	pthread_barrier_wait(part->begin);
	part->start = bn_seconds();
	for (uint64_t i = 0; i < part->n; i++)
		part->found += part->rival->search(part->session, part->fp[i]).n;
	part->end = bn_seconds();
	return NULL;
}

static void pass_threads(struct bn_rival *rival, const uint64_t *fp, uint64_t n,
			 uint64_t threads, struct bn_figures *out)
{
	struct part parts[MAX_THREADS];
	pthread_barrier_t begin;
	double start = 0, end = 0;

	if (threads > MAX_THREADS)
		bn_die("at most %d threads", MAX_THREADS);
	pthread_barrier_init(&begin, NULL, (unsigned)threads);
	for (uint64_t i = 0; i < threads; i++) {
		uint64_t from = n * i / threads, to = n * (i + 1) / threads;

		parts[i] = (struct part){ .begin = &begin,
					  .rival = rival,
					  .fp = fp + from,
					  .n = to - from,
					  .session = rival->open(rival) };
	}
	for (uint64_t i = 0; i < threads; i++)
		if (pthread_create(&parts[i].thread, NULL, run_part, &parts[i]))
			bn_die("no thread");
	for (uint64_t i = 0; i < threads; i++) {
		pthread_join(parts[i].thread, NULL);
		rival->close(parts[i].session);
		out->sum.n += parts[i].found;
		start = !i || parts[i].start < start ? parts[i].start : start;
		end = parts[i].end > end ? parts[i].end : end;
	}
	pthread_barrier_destroy(&begin);
	out->mean_us = (end - start) * 1e6 / (double)n;
}

static void run_here(struct bn_rival *rival, const char *work, const uint64_t *fp, uint64_t n,
		     uint64_t first, uint64_t limit, struct bn_figures *out)
{
	uint64_t batch = number_of(work, "batch"), text = number_of(work, "text");
	uint64_t weighted = text ? text : number_of(work, "weighted");
	void *session = rival->open(rival);

	if (limit)
		rival->limit(session, limit);
	if (weighted)
		rival->weigh(session, text ? SIMIDX_TEXT_RADIUS : SIMIDX_TEXT_RADIUS_NO_FP2,
			     (unsigned)weighted);
	if (batch)
		pass_batch(rival, session, fp, n, first, batch, out);
	else if (!strcmp(work, "mean") || weighted)
		pass_mean(rival, session, fp, n, out);
	else
		pass_times(rival, session, fp, n, work, out);
	rival->close(session);
}

static int is_few(const char *work)
{
	return !strcmp(work, "swept") || !strcmp(work, "cold");
}

void bn_pass_run(struct bn_rival *rival, const char *work, const struct bn_set *set,
		 unsigned class, uint64_t limit, const struct bn_truth *truth,
		 struct bn_figures *out)
{
	const struct bn_class *of = &set->classes[class];
	uint64_t n = queries_of(rival, of), threads = number_of(work, "threads");
	const uint64_t *fp = set->query + of->first;
	struct bn_sum expected = { 0, 0 };

	memset(out, 0, sizeof(*out));
	if (is_few(work) && n > FEW)
		n = FEW;
	if (rival->pass)
		rival->pass(rival, work, of->first, n, out);
	else if (threads)
		pass_threads(rival, fp, n, threads, out);
	else
		run_here(rival, work, fp, n, of->first, limit, out);
	if (number_of(work, "weighted") || number_of(work, "text") || truth->known[class] < n)
		return;
	for (uint64_t i = 0; i < n; i++) {
		const struct bn_sum *answer = &truth->answer[of->first + i];

		expected.n += limit && answer->n > limit ? limit : answer->n;
		expected.sum += answer->sum;
	}
	if (out->sum.n != expected.n ||
	    (number_of(work, "batch") && out->sum.sum != expected.sum))
		differs(rival, set, of->first, out->sum.n, expected.n);
}

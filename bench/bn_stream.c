/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "bn_stream.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <simidx_info.h>

#include "bn_own.h"
#include "bn_util.h"

#define SAMPLE_OF 8 /* one of so many queries goes into the quantiles */
#define MAX_SAMPLES 4000000
#define CHECK_EVERY 65536 /* queries between two looks whether the other process lives */

static size_t job_size(uint64_t documents)
{
	return sizeof(struct bn_job) + (size_t)documents * sizeof(uint64_t);
}

static void wait_until(double when)
{
	double left = when - bn_seconds();
	struct timespec pause = { (time_t)left, (long)((left - (double)(time_t)left) * 1e9) };

	if (left > 0)
		nanosleep(&pause, NULL);
}

static void commit(simidx *index, simidx_writer *writer, struct bn_job *job, uint64_t number)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_error err;
	double start = bn_seconds(), took;

	for (uint64_t i = 0; i < job->rows; i++) {
		doc.fp = job->fp[number * job->rows + i];
		bn_check(simidx_writer_put(writer, &doc, NULL, &err), &err, "put");
	}
	bn_check(simidx_writer_commit(writer, &err), &err, "commit");
	took = bn_seconds() - start;
	job->commit_s += took;
	job->longest_s = took > job->longest_s ? took : job->longest_s;
	bn_check(simidx_get_info(index, &info, &err), &err, "info");
	job->merges += info.fresh_rows < job->rows;
}

/* Away from the thread that measures. */
static void move_to(unsigned cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		bn_die("CPU %u: %s", cpu, strerror(errno));
}

static void write_all(struct bn_job *job)
{
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	double start = bn_seconds(), pace = 1 / job->per_second;
	simidx_writer *writer;
	simidx *index = job->index;
	simidx_error err;

	if (job->cpu != BN_ANY_CPU)
		move_to(job->cpu);
	if (!index)
		bn_own_open(job->dir, NULL, &index);
	how.merge_threshold = job->threshold;
	bn_check(simidx_writer_open(index, &how, &writer, &err), &err, "writer");
	for (uint64_t i = 0; i < job->commits; i++) {
		double due = start + (double)i * pace;

		job->late += bn_seconds() > due + pace;
		wait_until(due);
		commit(index, writer, job, i);
	}
	simidx_writer_close(writer);
	if (!job->index)
		simidx_close(index);
	__atomic_store_n(&job->ended, 1, __ATOMIC_RELEASE);
}

static void *write_in_thread(void *job)
{
	write_all(job);
	return NULL;
}

static _Noreturn void write_in_process(struct bn_job *job, int go)
{
	char byte;

	/* Nothing to read: the other end was closed, there is no job. */
	if (read(go, &byte, 1) == 1)
		write_all(job);
	_exit(0);
}

void bn_stream_make(struct bn_stream *stream, uint64_t documents, int in_process)
{
	int ends[2];
	pid_t pid;

	memset(stream, 0, sizeof(*stream));
	stream->job = mmap(NULL, job_size(documents), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stream->job == MAP_FAILED || pipe(ends))
		bn_die("mmap, pipe: %s", strerror(errno));
	stream->job->n_fp = documents;
	stream->in_process = in_process;
	stream->go = ends[1];
	if (!in_process) {
		pid = fork();
		if (pid < 0)
			bn_die("fork: %s", strerror(errno));
		if (!pid) {
			close(ends[1]);
			write_in_process(stream->job, ends[0]);
		}
		stream->job->pid = pid;
	}
	close(ends[0]);
}

void bn_stream_start(struct bn_stream *stream)
{
	if (stream->in_process) {
		if (pthread_create(&stream->thread, NULL, write_in_thread, stream->job))
			bn_die("no thread");
	} else if (write(stream->go, "", 1) != 1) {
		bn_die("the writing process is gone");
	}
}

void bn_stream_end(struct bn_stream *stream)
{
	int status = 0;

	close(stream->go);
	if (stream->in_process)
		pthread_join(stream->thread, NULL);
	else if (waitpid(stream->job->pid, &status, 0) < 0 || status)
		bn_die("the writing process failed");
}

void bn_stream_free(struct bn_stream *stream)
{
	munmap(stream->job, job_size(stream->job->n_fp));
}

/* Whether there is nothing to wait for any more. */
static int has_ended(const struct bn_job *job, uint64_t queries)
{
	siginfo_t info = { 0 };

	if (__atomic_load_n(&job->ended, __ATOMIC_ACQUIRE))
		return 1;
	return queries % CHECK_EVERY == 0 && job->pid &&
	       !waitid(P_PID, (id_t)job->pid, &info, WEXITED | WNOHANG | WNOWAIT) &&
	       info.si_pid;
}

/* How often this thread had to wait although it had work. */
static long waits(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : usage.ru_nivcsw;
}

/* Those that somebody else took the CPU from are not slow by themselves. */
static void note_slow(struct bn_flow *flow, double us, long *waited)
{
	long now;

	if (us < 100)
		return;
	now = waits();
	if (now != *waited) {
		*waited = now;
		flow->disturbed++;
		return;
	}
	flow->slow_us += us;
	flow->slow_max_us = us > flow->slow_max_us ? us : flow->slow_max_us;
	for (unsigned i = 0; i < BN_SLOW && us >= 100; i++, us /= 10)
		flow->slow[i]++;
}

void bn_flow_run(struct bn_rival *rival, const struct bn_class *class, const uint64_t *query,
		 const struct bn_sum *least, double seconds, const struct bn_job *job,
		 struct bn_flow *out)
{
	double *sample = bn_alloc(MAX_SAMPLES, sizeof(*sample)), start, before, now, cpu;
	void *session = rival->open(rival);
	size_t samples = 0;
	long waited = waits();

	memset(out, 0, sizeof(*out));
	cpu = bn_cpu_seconds();
	start = now = bn_seconds();
	while (!job || !has_ended(job, out->queries)) {
		uint64_t i = class->first + out->queries % class->n;
		struct bn_hits hits;
		double us;

		if (seconds > 0 && now - start >= seconds)
			break;
		before = bn_seconds();
		hits = rival->search(session, query[i]);
		now = bn_seconds();
		if (hits.n < least[i].n)
			bn_die("%s misses documents of query %llu", rival->name,
			       (unsigned long long)i);
		us = (now - before) * 1e6;
		out->mean_us += us;
		out->matches += (double)hits.n;
		note_slow(out, us, &waited);
		if (out->queries++ % SAMPLE_OF == 0 && samples < MAX_SAMPLES)
			sample[samples++] = us;
	}
	if (out->queries) {
		out->cpu_us = (bn_cpu_seconds() - cpu) * 1e6 / (double)out->queries;
		out->mean_us /= (double)out->queries;
		out->matches /= (double)out->queries;
	}
	out->p50_us = bn_quantile(sample, samples, 0.5);
	out->p99_us = bn_quantile(sample, samples, 0.99);
	out->p999_us = bn_quantile(sample, samples, 0.999);
	rival->close(session);
	free(sample);
}

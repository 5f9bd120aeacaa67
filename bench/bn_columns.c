/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The calls of which the Python package is made, by a program in C on the same arrays: what Python
 * adds is the difference. bench/python.py writes the arrays and runs both.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simidx_batch.h>
#include <simidx_dedup.h>
#include <simidx_text.h>

#include "bn_util.h"


static const char usage[] =
	"Usage: bn_columns search INDEX QUERIES RADIUS THREADS\n"
	"       bn_columns dedup DIR OFFSETS BYTES THREADS\n"
	"\n"
	"search: finds what is near to each number of 64 bits of the file QUERIES in an index.\n"
	"dedup: leaves out near-duplicates of texts, in an index in the new directory DIR. Text i\n"
	"is in the file BYTES, from the number of 32 bits i of the file OFFSETS to the next one.\n"
	"Prints the CPU time of all threads, without reading the files, and what was found.\n";

static double cpu_of_all(void)
{
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
	       (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* A file in memory, all of it read. */
static void *read_all(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	char *bytes;

	if (fd < 0 || fstat(fd, &st))
		bn_die("%s: %s", path, strerror(errno));
	*size = (size_t)st.st_size;
	bytes = bn_alloc(*size + 1, 1);
	for (size_t at = 0; at < *size;) {
		ssize_t n = read(fd, bytes + at, *size - at);

		if (n <= 0)
			bn_die("%s: %s", path, n ? strerror(errno) : "it became shorter");
		at += (size_t)n;
	}
	close(fd);
	return bytes;
}

/* ---- searching ---- */

/* What was found, a column each. */
struct found {
	pthread_mutex_t lock;
	uint32_t *count; /* of each query */
	uint64_t *ids;
	uint32_t *distances;
	size_t n, room;
};

static int deliver(void *ctx, size_t i, const simidx_results *results)
{
	struct found *found = ctx;

	found->count[i] += (uint32_t)results->n;
	if (!results->n)
		return 0;
	pthread_mutex_lock(&found->lock);
	if (found->n + results->n > found->room) {
		found->room = 2 * (found->n + results->n);
		found->ids = realloc(found->ids, found->room * sizeof(*found->ids));
		found->distances = realloc(found->distances,
					   found->room * sizeof(*found->distances));
		if (!found->ids || !found->distances)
			bn_die("memory is short");
	}
	for (size_t k = 0; k < results->n; k++, found->n++) {
		found->ids[found->n] = results->matches[k].id;
		found->distances[found->n] = results->matches[k].distance;
	}
	pthread_mutex_unlock(&found->lock);
	return 0;
}

static void search(char **argv)
{
	simidx_batch_options how = SIMIDX_BATCH_OPTIONS_INIT;
	struct found found = { .lock = PTHREAD_MUTEX_INITIALIZER };
	simidx_reader *reader = NULL;
	simidx_query *queries;
	simidx *index = NULL;
	uint64_t *fps, sum = 0;
	simidx_error err;
	double before;
	size_t n;

	fps = read_all(argv[1], &n);
	n /= sizeof(*fps);
	bn_check(simidx_open(argv[0], NULL, &index, &err), &err, argv[0]);
	how.threads = (unsigned)bn_number("THREADS", argv[3]);
	how.deliver = deliver;
	how.ctx = &found;
	before = cpu_of_all();
	found.count = calloc(n + 1, sizeof(*found.count));
	queries = calloc(n + 1, sizeof(*queries));
	if (!found.count || !queries)
		bn_die("memory is short");
	for (size_t i = 0; i < n; i++) {
		queries[i] = (simidx_query)SIMIDX_QUERY_INIT;
		queries[i].fp = fps[i];
		queries[i].radius = (unsigned)bn_number("RADIUS", argv[2]);
	}
	bn_check(simidx_reader_open(index, &reader, &err), &err, "reader");
	bn_check(simidx_reader_search_batch(reader, queries, n, &how, &err), &err, "search");
	simidx_reader_close(reader);
	free(queries);
	before = cpu_of_all() - before;
	for (size_t i = 0; i < found.n; i++)
		sum += found.ids[i];
	printf("{\"bench\":\"columns\",\"work\":\"search\",\"queries\":%zu,\"found\":%zu,"
	       "\"sum\":%llu,\"cpu_s\":%.3f}\n",
	       n, found.n, (unsigned long long)sum, before);
	free(found.count);
	free(found.ids);
	free(found.distances);
	free(fps);
	simidx_close(index);
}

/* ---- removing near-duplicates ---- */

struct kept {
	size_t at, n;
	uint64_t sum; /* of the numbers of rows that stay */
};

static int note(void *ctx, const simidx_dedup_row *row, const simidx_dedup_near *near, size_t n)
{
	struct kept *kept = ctx;

	(void)row;
	(void)near;
	kept->n += !n;
	kept->sum += n ? 0 : kept->at;
	kept->at++;
	return 0;
}

static void dedup(char **argv)
{
	simidx_text_options options = SIMIDX_TEXT_OPTIONS_INIT;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_dedup_options how = SIMIDX_DEDUP_OPTIONS_INIT;
	struct kept kept = { .n = 0 };
	simidx_writer *writer = NULL;
	simidx_dedup *dedup = NULL;
	simidx_text *text = NULL;
	simidx *index = NULL;
	int32_t *offsets;
	simidx_error err;
	double before;
	size_t n, size;
	char *bytes;

	offsets = read_all(argv[1], &n);
	bytes = read_all(argv[2], &size);
	n = n / sizeof(*offsets) - 1;
	before = cpu_of_all();
	bn_check(simidx_text_open(&options, &text, &err), &err, "extractor");
	create.profile = simidx_text_profile(text);
	create.check_fps = simidx_text_check_fps(text, &create.n_check_fps);
	create.flags = SIMIDX_CREATE_FP2;
	bn_check(simidx_create(argv[0], &create, &index, &err), &err, argv[0]);
	bn_check(simidx_writer_open(index, NULL, &writer, &err), &err, "writer");
	how.threads = (unsigned)bn_number("THREADS", argv[3]);
	how.calls.decided = note;
	how.calls.ctx = &kept;
	bn_check(simidx_dedup_open(index, writer, &how, &dedup, &err), &err, "dedup");
	for (size_t i = 0; i < n; i++) {
		simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;

		row.text = bytes + offsets[i];
		row.text_size = (size_t)(offsets[i + 1] - offsets[i]);
		bn_check(simidx_dedup_add(dedup, &row, &err), &err, "add");
	}
	bn_check(simidx_dedup_flush(dedup, 1, &err), &err, "flush");
	simidx_dedup_close(dedup);
	simidx_writer_close(writer);
	before = cpu_of_all() - before;
	printf("{\"bench\":\"columns\",\"work\":\"dedup\",\"rows\":%zu,\"kept\":%zu,\"sum\":%llu,"
	       "\"cpu_s\":%.3f}\n",
	       n, kept.n, (unsigned long long)kept.sum, before);
	simidx_text_close(text);
	simidx_close(index);
	free(offsets);
	free(bytes);
}

int main(int argc, char **argv)
{
	bn_program = "bn_columns";
	if (argc == 2 && strcmp(argv[1], "--help") == 0) {
		fputs(usage, stdout);
		return 0;
	}
	if (argc != 6 || (strcmp(argv[1], "search") != 0 && strcmp(argv[1], "dedup") != 0))
		bn_die("see --help");
	if (argv[1][0] == 's')
		search(argv + 2);
	else
		dedup(argv + 2);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The main program of drivers in C and C++: reads the documents and queries, has the index built,
 * and answers the lines of bench/bn_search, as bn_peer.c describes.
 */

#include "peer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bn_pass.h"
#include "bn_util.h"

/* The pages are shared with the other contestants, as long as nobody writes to them. */
static void read_set(const char *path, struct bn_set *set)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	uint64_t *words;

	if (fd < 0 || fstat(fd, &st))
		bn_die("%s: %s", path, strerror(errno));
	words = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (words == MAP_FAILED)
		bn_die("%s: %s", path, strerror(errno));
	close(fd);
	set->n = words[0];
	set->n_queries = words[1];
	set->fp = words + 2;
	set->query = set->fp + set->n;
	set->classes[0].name = "all";
	set->n_classes = 1;
}

/* Memory of this process alone, without what is mapped from files. */
static double own_bytes(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[128];
	double kb = 0;

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "RssAnon: %lf", &kb) == 1)
			break;
	if (status)
		fclose(status);
	return kb * 1024;
}

static void check(struct bn_rival *rival, const struct bn_set *set, struct bn_figures *out)
{
	const struct bn_class *of = &set->classes[0];
	void *session = rival->open(rival);

	memset(out, 0, sizeof(*out));
	for (uint64_t i = of->first; i < of->first + of->n; i++) {
		struct bn_hits hits = rival->search(session, set->query[i]);

		bn_sum_add(&out->sum, i, &hits);
	}
	rival->close(session);
}

int main(int argc, char **argv)
{
	struct bn_set set = { 0 };
	struct bn_setup setup = { .set = &set };
	struct bn_rival rival = { 0 };
	struct bn_figures out;
	struct bn_truth truth;
	unsigned long long first, n;
	char line[256], work[64];
	double start, before;

	bn_program = argv[0];
	if (argc != 3)
		bn_die("usage: %s FILE RADIUS", argv[0]);
	read_set(argv[1], &set);
	setup.dir = argv[1];
	setup.radius = (unsigned)bn_number("RADIUS", argv[2]);
	before = own_bytes();
	start = bn_seconds();
	peer_make(&setup, &rival);
	rival.build_s = bn_seconds() - start;
	if (rival.bytes <= 0)
		rival.bytes = (own_bytes() - before) / (double)set.n;
	printf("{\"build_s\":%.3f,\"bytes\":%.2f,\"max_queries\":%llu}\n", rival.build_s,
	       rival.bytes, (unsigned long long)rival.max_queries);
	fflush(stdout);
	bn_truth_make(&truth, &set);
	while (fgets(line, sizeof(line), stdin)) {
		if (sscanf(line, "%63s %llu %llu", work, &first, &n) != 3 ||
		    first > set.n_queries || n > set.n_queries - first)
			bn_die("not understood: %s", line);
		set.classes[0].first = first;
		set.classes[0].n = n;
		if (strcmp(work, "check"))
			bn_pass_run(&rival, work, &set, 0, 0, &truth, &out);
		else
			check(&rival, &set, &out);
		printf("{\"mean_us\":%.4f,\"p50_us\":%.4f,\"p99_us\":%.4f,\"n\":%llu"
		       ",\"sum\":\"%llx\"}\n",
		       out.mean_us, out.p50_us, out.p99_us, (unsigned long long)out.sum.n,
		       (unsigned long long)out.sum.sum);
		fflush(stdout);
	}
	bn_truth_free(&truth);
	bn_rival_destroy(&rival);
	return 0;
}

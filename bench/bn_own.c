/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* The library as a rival: an index on disk, a reader for each session. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <simidx_batch.h>
#include <simidx_info.h>
#include <simidx_load.h>

#include "bn_own.h"
#include "bn_util.h"

#define POOL 1024 /* weights of different queries */

struct own {
	char dir[4096];
	char *file; /* the data file, as the kernel calls it */
	simidx *index;
	unsigned radius;
	int keep;
	int one_by_one;    /* pages are read when they are needed, not ahead and together */
	simidx_query *batch; /* room for batch_cap; kept, as getting new memory takes time */
	size_t batch_cap;
};

struct session {
	struct own *own;
	simidx_reader *reader;
	simidx_query query;
	simidx_results results;
	uint8_t (*weights)[64]; /* POOL of them, or NULL */
	size_t next;            /* of them */
};

/* Where the answers to a batch go. */
struct batch {
	uint64_t first;
	struct bn_sum *sum;
};

/* Instead of libc's, for the library as well. */
static int is_one_by_one;

int madvise(void *at, size_t size, int advice)
{
	if (is_one_by_one && advice == MADV_WILLNEED)
		return 0;
	return (int)syscall(SYS_madvise, at, size, advice);
}

void bn_own_open(const char *dir, const char *kernel, simidx **index)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_error err;

	how.kernel = kernel;
	bn_check(simidx_open(dir, &how, index, &err), &err, "open");
}

void bn_own_remove(const char *dir)
{
	DIR *list = opendir(dir);
	struct dirent *entry;

	if (!list && errno == ENOENT)
		return;
	if (!list)
		bn_die("%s: %s", dir, strerror(errno));
	while ((entry = readdir(list)))
		if (entry->d_name[0] != '.' && unlinkat(dirfd(list), entry->d_name, 0))
			bn_die("%s/%s: %s", dir, entry->d_name, strerror(errno));
	closedir(list);
	if (rmdir(dir))
		bn_die("%s: %s", dir, strerror(errno));
}

int bn_own_load(const char *dir, const char *plan, unsigned layout, const uint64_t *fp,
		uint64_t n, uint64_t memory, char *reason)
{
	simidx_create_options how = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_loader_options loading = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loader *loader;
	simidx_error err;
	int rc;

	how.plan = plan;
	how.layout = layout;
	how.expect = n; /* what "auto" goes by */
	loading.memory = memory;
	rc = simidx_loader_open(dir, &how, &loading, &loader, &err);
	if (rc == SIMIDX_E_UNSUPPORTED || rc == SIMIDX_E_ARG) {
		snprintf(reason, BN_REASON, "%.*s", BN_REASON - 1, err.text);
		return -1;
	}
	bn_check(rc, &err, "loader");
	for (uint64_t i = 0; i < n; i++) {
		doc.fp = fp[i];
		bn_check(simidx_loader_put(loader, &doc, NULL, &err), &err, "put");
	}
	bn_check(simidx_loader_finish(loader, NULL, &err), &err, "finish");
	simidx_loader_close(loader);
	return 0;
}

const char *bn_own_dir(const struct bn_rival *rival)
{
	return ((const struct own *)rival->self)->dir;
}

simidx *bn_own_index(const struct bn_rival *rival)
{
	return ((const struct own *)rival->self)->index;
}

static struct bn_hits own_search(void *opaque, uint64_t fp)
{
	struct session *session = opaque;
	simidx_error err;

	session->query.fp = fp;
	is_one_by_one = session->own->one_by_one;
	if (session->weights)
		session->query.weights = session->weights[session->next++ % POOL];
	bn_check(simidx_reader_search(session->reader, &session->query, &session->results, &err),
		 &err, "search");
	return bn_own_hits(&session->results);
}

struct bn_hits bn_own_hits(const simidx_results *results)
{
	struct bn_hits hits = { NULL, sizeof(simidx_match), results->n };

	if (results->n)
		hits.ids = &results->matches[0].id;
	return hits;
}

static int own_deliver(void *ctx, size_t i, const simidx_results *results)
{
	const struct batch *batch = ctx;
	struct bn_hits hits = bn_own_hits(results);

	bn_sum_add(batch->sum, batch->first + i, &hits);
	return 0;
}

/* In one thread, as single queries are, which it is compared with. */
static void own_batch(void *opaque, const uint64_t *fp, size_t n, uint64_t first,
		      struct bn_sum *sum)
{
	struct session *session = opaque;
	struct own *own = session->own;
	simidx_batch_options how = SIMIDX_BATCH_OPTIONS_INIT;
	struct batch batch = { first, sum };
	simidx_error err;

	if (own->batch_cap < n) {
		free(own->batch);
		own->batch = bn_alloc(n, sizeof(*own->batch));
		own->batch_cap = n;
	}
	for (size_t i = 0; i < n; i++) {
		own->batch[i] = session->query;
		own->batch[i].fp = fp[i];
	}
	how.threads = 1;
	how.deliver = own_deliver;
	how.ctx = &batch;
	bn_check(simidx_reader_search_batch(session->reader, own->batch, n, &how, &err), &err,
		 "batch");
}

static void own_limit(void *opaque, uint64_t n)
{
	((struct session *)opaque)->query.limit = n;
}

/*
 * Each bit of a fingerprint is the sign of a sum that is about normally distributed; its weight is
 * 32 times what that is in standard deviations.
 */
static uint8_t any_weight(uint64_t *random)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++)
		sum += (double)(bn_random(random) >> 11) / 9007199254740992.;
	return (uint8_t)(32 * (sum < 0 ? -sum : sum) + 0.5);
}

static void own_weigh(void *opaque, unsigned radius, unsigned probes)
{
	struct session *session = opaque;
	uint64_t random = 1;

	session->weights = bn_alloc(POOL, sizeof(*session->weights));
	for (size_t i = 0; i < POOL; i++)
		for (unsigned b = 0; b < 64; b++)
			session->weights[i][b] = any_weight(&random);
	session->query.radius = radius;
	session->query.max_bits = 14;
	session->query.probes = probes;
}

static void *own_open(struct bn_rival *rival)
{
	struct own *own = rival->self;
	struct session *session = bn_alloc(1, sizeof(*session));
	simidx_error err;

	session->own = own;
	session->query = (simidx_query)SIMIDX_QUERY_INIT;
	session->query.radius = own->radius;
	session->results = (simidx_results)SIMIDX_RESULTS_INIT;
	bn_check(simidx_reader_open(own->index, &session->reader, &err), &err, "reader");
	return session;
}

static void own_close(void *opaque)
{
	struct session *session = opaque;

	simidx_reader_close(session->reader);
	free(session->weights);
	free(session);
}

/*
 * Have this process no longer refer to pages of a file, or the kernel would keep them. And have
 * the kernel read what is asked for alone, as it does for files that are larger than memory;
 * otherwise the first query would bring in most of a small file.
 */
static void let_go(const char *path)
{
	char line[4400], found[4200];
	unsigned long long from, to;
	FILE *maps = fopen("/proc/self/maps", "r");

	if (!maps)
		bn_die("/proc/self/maps: %s", strerror(errno));
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%llx %*s %*s %*s %*s %4190[^\n]", &from, &to, found) ==
			    3 &&
		    !strcmp(found, path) &&
		    (madvise((void *)(uintptr_t)from, (size_t)(to - from), MADV_DONTNEED) ||
		     madvise((void *)(uintptr_t)from, (size_t)(to - from), MADV_RANDOM)))
			bn_die("%s: madvise: %s", path, strerror(errno));
	fclose(maps);
}

/* Share of a file that is in memory. */
static double resident(int fd, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page, in = 0;
	unsigned char *map = bn_alloc(pages, 1);
	void *at = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (at == MAP_FAILED || mincore(at, size, map))
		bn_die("mincore: %s", strerror(errno));
	for (size_t i = 0; i < pages; i++)
		in += map[i] & 1;
	munmap(at, size);
	free(map);
	return (double)in / (double)pages;
}

static double own_chill(void *opaque)
{
	struct session *session = opaque;
	const struct own *own = session->own;
	struct stat st;
	double stayed;
	int fd = open(own->file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) || fdatasync(fd))
		bn_die("%s: %s", own->file, strerror(errno));
	let_go(own->file);
	if (posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED))
		bn_die("%s: not dropped", own->file);
	stayed = resident(fd, (size_t)st.st_size);
	close(fd);
	return stayed;
}

static void own_destroy(struct bn_rival *rival)
{
	struct own *own = rival->self;

	simidx_close(own->index);
	if (!own->keep)
		bn_own_remove(own->dir);
	free(own->file);
	free(own->batch);
	free(own);
}

/* An index that is there is used only if it is as large as the set. */
static int is_there(const struct own *own, uint64_t documents)
{
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;
	simidx *index;

	if (!own->keep || simidx_open(own->dir, NULL, &index, &err))
		return 0;
	bn_check(simidx_get_info(index, &info, &err), &err, own->dir);
	simidx_close(index);
	if (info.documents != documents || info.fresh_rows)
		bn_die("%s holds something else", own->dir);
	return 1;
}

static void describe(const struct bn_set *set, struct bn_rival *rival)
{
	struct own *own = rival->self;
	simidx_info info = SIMIDX_INFO_INIT;
	char path[4200];
	simidx_error err;

	snprintf(path, sizeof(path), "%s/data.mdb", own->dir);
	own->file = realpath(path, NULL);
	bn_check(simidx_get_info(own->index, &info, &err), &err, "info");
	rival->bytes = (double)info.used_bytes / (double)set->n;
	snprintf(rival->plan, sizeof(rival->plan), "%s", info.plan);
	rival->simd_set = 1;
	rival->open = own_open;
	rival->close = own_close;
	rival->search = own_search;
	rival->batch = own_batch;
	rival->limit = own_limit;
	rival->weigh = own_weigh;
	rival->chill = own_chill;
	rival->destroy = own_destroy;
}

/* The arrays' scalar code counts bits with an instruction where the CPU has one. */
static const char *kernel_of(enum bn_simd simd)
{
#if defined(__x86_64__)
	return simd == BN_SCALAR ? "popcnt" : bn_simd_name(simd);
#else
	return bn_simd_name(simd);
#endif
}

void bn_own_again(const struct bn_setup *setup, const struct bn_rival *made, enum bn_simd simd,
		  struct bn_rival *rival)
{
	struct own *own = bn_alloc(1, sizeof(*own));

	memset(rival, 0, sizeof(*rival));
	memcpy(own->dir, bn_own_dir(made), sizeof(own->dir));
	own->radius = setup->radius;
	own->keep = 1;
	bn_own_open(own->dir, kernel_of(simd), &own->index);
	rival->self = own;
	rival->simd = simd;
	describe(setup->set, rival);
	snprintf(rival->name, sizeof(rival->name), "simidx-%s@%s", rival->plan,
		 bn_simd_name(simd));
}

void bn_own_one_by_one(const struct bn_setup *setup, const struct bn_rival *made,
		       struct bn_rival *rival)
{
	bn_own_again(setup, made, bn_simd_best(), rival);
	((struct own *)rival->self)->one_by_one = 1;
	rival->batch = NULL;
	snprintf(rival->name, sizeof(rival->name), "onephase-%s", rival->plan);
}

int bn_own_make(const struct bn_setup *setup, const char *plan, unsigned layout,
		struct bn_rival *rival, char *reason)
{
	const struct bn_set *set = setup->set;
	const char *kind = layout == SIMIDX_LAYOUT_ROWS ? "rows" : "simidx";
	struct own *own = bn_alloc(1, sizeof(*own));
	double start = bn_seconds();

	memset(rival, 0, sizeof(*rival));
	snprintf(own->dir, sizeof(own->dir), "%s/bench-%s-%s-%s-%llu-%llu", setup->dir, kind,
		 plan, set->name, (unsigned long long)set->n, (unsigned long long)setup->seed);
	own->radius = setup->radius;
	own->keep = setup->keep;
	if (!is_there(own, set->n)) {
		if (bn_own_load(own->dir, plan, layout, set->fp, set->n, setup->memory,
				reason)) {
			free(own);
			return -1;
		}
		rival->build_s = bn_seconds() - start;
	}
	bn_own_open(own->dir, NULL, &own->index);
	rival->self = own;
	rival->simd = bn_simd_best();
	describe(set, rival);
	snprintf(rival->name, sizeof(rival->name), "%s-%s", kind, rival->plan);
	return 0;
}

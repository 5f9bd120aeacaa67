/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "sxt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

_Thread_local simidx_error sxt_err;

const char *const sxt_plans[SXT_N_PLANS] = { "4x16", "3x22", "2x32", "10x26", "16x28", "20x31" };

static uint64_t run_seed;
static char run_dir[4096];

/* Outside a test there is nothing that could fail for Check, so these end the program. */
static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

uint64_t sxt_seed(void)
{
	return run_seed;
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

void sxt_rng_init(sxt_rng *rng, uint64_t stream)
{
	rng->state = mix(run_seed) ^ mix(~stream);
}

uint64_t sxt_rng_u64(sxt_rng *rng)
{
	rng->state += UINT64_C(0x9e3779b97f4a7c15);
	return mix(rng->state);
}

uint64_t sxt_rng_below(sxt_rng *rng, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n; /* a multiple of n: no value is favoured */
	uint64_t x;

	do
		x = sxt_rng_u64(rng);
	while (x >= limit);
	return x % n;
}

uint64_t sxt_rng_flip(sxt_rng *rng, uint64_t x, unsigned bits, unsigned n)
{
	uint64_t flips = 0;

	while (n) {
		uint64_t bit = UINT64_C(1) << sxt_rng_below(rng, bits);

		if (flips & bit)
			continue;
		flips |= bit;
		n--;
	}
	return x ^ flips;
}

int sxt_is_long(void)
{
	const char *value = getenv("SIMIDX_LONG");

	return value && *value && strcmp(value, "0") != 0;
}

char *sxt_path(const char *dir, const char *name)
{
	char *path;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		die("asprintf");
	return path;
}

char *sxt_dir_make(void)
{
	char *dir = sxt_path(run_dir, "XXXXXX");

	if (!mkdtemp(dir))
		die(dir);
	return dir;
}

static void remove_entries(const char *path)
{
	struct dirent *entry;
	DIR *dir;

	/* Tests take permissions away; root does not notice, others need them back. */
	(void)chmod(path, 0700);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		char *child;

		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		child = sxt_path(path, entry->d_name);
		sxt_remove(child);
		free(child);
	}
	closedir(dir);
}

void sxt_remove(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return;
	if (S_ISDIR(st.st_mode))
		remove_entries(path);
	if (remove(path))
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
}

void sxt_file_write(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "wb");

	if (!file)
		die(path);
	if (fwrite(data, 1, size, file) != size || fclose(file))
		die(path);
}

void *sxt_file_read(const char *path, size_t *size)
{
	size_t used = 0, room = 1 << 16;
	char *data = malloc(room);
	FILE *file = fopen(path, "rb");

	if (!data || !file)
		die(path);
	while (!feof(file)) {
		used += fread(data + used, 1, room - used - 1, file);
		if (ferror(file))
			die(path);
		if (used + 1 == room && !(data = realloc(data, room *= 2)))
			die(path);
	}
	fclose(file);
	data[used] = '\0';
	if (size)
		*size = used;
	return data;
}

unsigned char *sxt_find(const void *bytes, size_t size, const void *needle, size_t needle_size)
{
	const unsigned char *from = bytes, *wanted = needle, *at;
	size_t rare = 0, first = needle_size < 64 ? needle_size : 64;

	/* Small numbers and letters are common, zeros are most of all. */
	for (size_t i = 1; i < first; i++)
		if (wanted[i] > wanted[rare])
			rare = i;
	while (size >= needle_size &&
	       (at = memchr(from + rare, wanted[rare], size - needle_size + 1)) != NULL) {
		at -= rare;
		if (!memcmp(at, wanted, needle_size))
			return (unsigned char *)(uintptr_t)at;
		size -= (size_t)(at + 1 - from);
		from = at + 1;
	}
	return NULL;
}

void sxt_error_clear(simidx_error *err)
{
	memset(err, 0, sizeof(*err));
}

/* ------------------------------------------------------------------------------------------
 * What is skipped
 */

const char *sxt_running;

/* A file of lines, as tests are processes of their own. */
static char *skip_file(void)
{
	return sxt_path(run_dir, "skipped");
}

void sxt_note_skip(const char *function, const char *why)
{
	/* Check adds "_fn" to the name of a test. */
	size_t size = strlen(function);
	char *path = skip_file(), *line;
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600), n;

	if (size > 3 && !strcmp(function + size - 3, "_fn"))
		size -= 3;
	n = asprintf(&line, "%s %.*s: %s\n", sxt_running, (int)size, function, why);
	if (fd < 0 || n < 0 || write(fd, line, (size_t)n) != n)
		die(path);
	close(fd);
	free(line);
	free(path);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

size_t sxt_print_skipped(void)
{
	char *path = skip_file(), *text, **lines, *rest;
	size_t n = 0, i, same;

	if (access(path, F_OK)) {
		free(path);
		return 0;
	}
	text = sxt_file_read(path, &same);
	lines = calloc(same + 1, sizeof(*lines));
	if (!lines)
		die("no memory");
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		lines[n++] = line;
	qsort(lines, n, sizeof(*lines), by_text);
	for (i = 0; i < n; i += same) {
		for (same = 1; i + same < n && !strcmp(lines[i], lines[i + same]); same++)
			;
		printf("skipped: %s", lines[i]);
		printf(same > 1 ? " (%zu times)\n" : "\n", same);
	}
	free(lines);
	free(text);
	free(path);
	return n;
}

/* ------------------------------------------------------------------------------------------
 * A run
 */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_LIMIT "900"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TEST_LIMIT "900"
#endif
#endif
#ifndef TEST_LIMIT
#define TEST_LIMIT "120"
#endif

/*
 * Check measures by the clock, and on a machine with other work a test may get little of it. The
 * limit, in seconds, is for tests that hang: where nothing else runs, the slowest take 8, and some
 * take 70 times as long with the thread sanitizer.
 */
static void be_patient(void)
{
	setenv("CK_DEFAULT_TIMEOUT", sxt_is_long() ? "7200" : TEST_LIMIT, 0);
}

void sxt_start(void)
{
	const char *seed = getenv("SIMIDX_SEED");
	const char *tmp = getenv("TMPDIR");

	be_patient();
	run_seed = 1;
	if (seed && *seed)
		run_seed = strtoull(seed, NULL, 0);
	else if (sxt_is_long() && getrandom(&run_seed, sizeof(run_seed), 0) < 0)
		die("getrandom");
	snprintf(run_dir, sizeof(run_dir), "%s/simidx-test-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(run_dir))
		die(run_dir);
}

void sxt_finish(void)
{
	sxt_remove(run_dir);
}

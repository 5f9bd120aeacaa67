/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "bn_util.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define HUGE_PAGE ((size_t)2 << 20)

const char *bn_program = "bench";

_Noreturn void bn_die(const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", bn_program);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

void bn_check(int rc, const simidx_error *err, const char *what)
{
	if (rc)
		bn_die("%s: %s", what, err->text);
}

void *bn_alloc(uint64_t n, size_t size)
{
	uint64_t bytes = (n ? n : 1) * size;
	void *p;

	if (bytes < 2 * HUGE_PAGE) {
		p = calloc(1, bytes);
		if (!p)
			bn_die("out of memory");
		return p;
	}
	if (posix_memalign(&p, HUGE_PAGE, bytes))
		bn_die("out of memory: %.1f GB", (double)bytes / 1e9);
	(void)madvise(p, bytes, MADV_HUGEPAGE);
	memset(p, 0, bytes);
	return p;
}

static double read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

double bn_seconds(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

double bn_cpu_seconds(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

/* Steele, Lea, Flood, "Fast Splittable Pseudorandom Number Generators", 2014. */
uint64_t bn_mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

uint64_t bn_random(uint64_t *state)
{
	return bn_mix(*state += 0x9e3779b97f4a7c15u);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double bn_quantile(double *v, size_t n, double q)
{
	if (!n)
		return 0;
	qsort(v, n, sizeof(*v), compare);
	return v[(size_t)((double)(n - 1) * q)];
}

uint64_t bn_number(const char *what, const char *text)
{
	char *end;
	uint64_t n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || *text < '0' || *text > '9' || !n)
		bn_die("%s: '%s' is not a number above 0, such as 1000000", what, text);
	return n;
}

int bn_listed(const char *list, const char *word)
{
	size_t n = strlen(word);

	if (!list)
		return 1;
	while (list) {
		if (!strncmp(list, word, n) && (list[n] == ',' || !list[n]))
			return 1;
		list = strchr(list, ',');
		list += list != NULL;
	}
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What all tests in C share: random numbers that can be repeated, directories that go away,
 * suites of tests, and the assertions of sxt_assert.h.
 */

#ifndef SXT_H
#define SXT_H

#include <stddef.h>
#include <stdint.h>

#include "support/sxt_assert.h"

/* ------------------------------------------------------------------------------------------
 * Random numbers
 */

/** A stream of random numbers (splitmix64). */
typedef struct sxt_rng {
	uint64_t state;
} sxt_rng;

/**
 * The seed of this run: SIMIDX_SEED, or else a new one in long runs and 1 in short ones. It is
 * printed at the end of each run, and with each test that failed.
 */
uint64_t sxt_seed(void);

/** Start stream number `stream` of the run's seed. */
void sxt_rng_init(sxt_rng *rng, uint64_t stream);

/** 64 random bits. */
uint64_t sxt_rng_u64(sxt_rng *rng);

/** A number in 0..n-1; n > 0. */
uint64_t sxt_rng_below(sxt_rng *rng, uint64_t n);

/** `x` with exactly `n` of its low `bits` bits flipped; n <= bits <= 64. */
uint64_t sxt_rng_flip(sxt_rng *rng, uint64_t x, unsigned bits, unsigned n);

/** Whether SIMIDX_LONG is set (`make check-long`): tests may then take minutes. */
int sxt_is_long(void);

/* ------------------------------------------------------------------------------------------
 * Plans
 */

#define SXT_N_PLANS 6

/** All plans by name; those first whose prefixes have no bit in common. */
extern const char *const sxt_plans[SXT_N_PLANS];

/* ------------------------------------------------------------------------------------------
 * Directories
 */

/**
 * Make an empty directory for a test. All are removed when the run ends, whether the test
 * passed, failed or crashed.
 *
 * @return its path, freed by the caller
 */
char *sxt_dir_make(void);

/** Remove a directory or file with all that is in it. */
void sxt_remove(const char *path);

/** "dir/name", freed by the caller. */
char *sxt_path(const char *dir, const char *name);

/** Write a file, replacing what was there. */
void sxt_file_write(const char *path, const void *data, size_t size);

/** Read a whole file, freed by the caller; a NUL byte stands behind it. `size` may be NULL. */
void *sxt_file_read(const char *path, size_t *size);

/**
 * As memmem(), but fast where most bytes are as rare as those of blocks: it stops at one of the
 * needle's only. NULL: it is not there. `needle_size` > 0.
 */
unsigned char *sxt_find(const void *bytes, size_t size, const void *needle, size_t needle_size);

/* ------------------------------------------------------------------------------------------
 * Suites
 */

/** A test: what START_TEST has defined, called with _i = from .. to - 1. */
typedef struct sxt_test {
	const TTest *const *test;
	int from, to;
} sxt_test;

typedef struct sxt_suite {
	const char *name;
	const sxt_test *tests;
	size_t n_tests;
	void (*set_up)(void), (*tear_down)(void);
	struct sxt_suite *next;
} sxt_suite;

/**
 * At the end of a file of tests: its array `tests` is the suite of this name. set_up() and
 * tear_down() run in the process of each test, before and after it; both may be NULL.
 *
 * A file that is linked into a test program is thereby part of it; it is named nowhere else than
 * in tests/local.mk. Suites run in the order in which their files are linked.
 */
#define SXT_SUITE(suite_name, suite_set_up, suite_tear_down)                                  \
	__attribute__((constructor)) static void sxt_enter_##suite_name(void)                 \
	{                                                                                     \
		static sxt_suite suite = {                                                    \
			.name = #suite_name,                                                  \
			.tests = tests,                                                       \
			.n_tests = sizeof(tests) / sizeof(tests[0]),                          \
			.set_up = suite_set_up,                                               \
			.tear_down = suite_tear_down,                                         \
		};                                                                            \
											      \
		sxt_suite_add(&suite);                                                        \
	}                                                                                     \
	/* Takes the semicolon. */                                                            \
	_Static_assert(sizeof(tests) > 0, "a suite has tests")

/** For SXT_SUITE(). */
void sxt_suite_add(sxt_suite *suite);

/**
 * In a test that cannot be done here, or not in a short run: end it. The reason is printed at the
 * end of the run, and how many tests gave it.
 */
#define sxt_skip(why)                                                                         \
	do {                                                                                  \
		sxt_note_skip(__func__, why);                                                 \
		return;                                                                       \
	} while (0)

/** The same for the rest of a test, or for a part of it: it goes on. */
#define sxt_skip_part(why) sxt_note_skip(__func__, why)

/** For sxt_skip(). */
void sxt_note_skip(const char *function, const char *why);

/* ------------------------------------------------------------------------------------------
 * For sxt_main.c only
 */

/** The name of the suite that this process runs. */
extern const char *sxt_running;

/** Before suites run: choose the seed, make the directory of the run, set time limits. */
void sxt_start(void);

/** Print what was skipped, each reason of a test once. Returns how many times something was. */
size_t sxt_print_skipped(void);

/** After the last suite: remove the directory. */
void sxt_finish(void);

#endif /* SXT_H */

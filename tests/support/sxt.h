/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the unit tests share: random numbers that can be repeated, directories that go away, and
 * an assertion that says what an error code means.
 */

#ifndef SXT_H
#define SXT_H

#include <stddef.h>
#include <stdint.h>

#include <check.h>

#include <simidx.h>

/* ------------------------------------------------------------------------------------------
 * Random numbers
 */

/** A stream of random numbers (splitmix64). */
typedef struct sxt_rng {
	uint64_t state;
} sxt_rng;

/**
 * The seed of this run: SIMIDX_SEED, or else a new one in long runs and 1 in short ones. It is
 * printed at the end of a run in which a test failed.
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

/* ------------------------------------------------------------------------------------------
 * Assertions
 */

/** For the `err` parameter of calls inside ck_assert_sx(), which clears it first. */
extern _Thread_local simidx_error sxt_err;

/**
 * Assert that a call returns a code: ck_assert_sx(simidx_open(path, NULL, &index, &sxt_err),
 * SIMIDX_OK). On failure the names of both codes and the text of sxt_err are shown.
 */
#define ck_assert_sx(expr, want) ck_assert_sx_err(expr, want, &sxt_err)

/** The same with an error struct of one's own. */
#define ck_assert_sx_err(expr, want, error)                                                   \
	do {                                                                                  \
		int sxt_want = (want);                                                        \
		int sxt_got;                                                                  \
											      \
		sxt_error_clear(error);                                                       \
		sxt_got = (expr);                                                             \
		ck_assert_msg(sxt_got == sxt_want, "%s returned %s, not %s: %s", #expr,       \
			      simidx_error_name(sxt_got), simidx_error_name(sxt_want),        \
			      (error)->text);                                                 \
	} while (0)

/**
 * Assert that a call with &sxt_err returns SIMIDX_OK, for inner loops: Check's own assertions send
 * a message to the runner each time they hold, which costs more than most calls.
 */
#define sxt_must(expr)                                                                        \
	do {                                                                                  \
		int sxt_got;                                                                  \
											      \
		sxt_error_clear(&sxt_err);                                                    \
		sxt_got = (expr);                                                             \
		if (sxt_got)                                                                  \
			ck_abort_msg("%s returned %s: %s", #expr, simidx_error_name(sxt_got), \
				     sxt_err.text);                                           \
	} while (0)

void sxt_error_clear(simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * For main() only
 */

/** Before suites are made: choose the seed, make the directory of the run, set time limits. */
void sxt_start(void);

/** After the last one: remove it. */
void sxt_finish(void);

/** Run the only suite of a program, and finish. Returns the exit status. */
int sxt_run(Suite *suite);

#endif /* SXT_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All assertions, and where to use which:
 *
 *   where                                          what
 *   ---------------------------------------------  ------------------------------------------
 *   in a test                                      ck_assert_*() of Check; for the code of a
 *                                                  call of the library ck_assert_sx(call, code)
 *   in a loop that runs thousands of times         sxt_must*()
 *   in a thread                                    sxt_must*()
 *   in a child process (sxt_proc_start())          sxt_must*()
 *   in a helper that any of these may call         sxt_must*()
 *
 * Check's own assertions send a message to the test runner each time they hold. That costs more
 * than most of what is tested, is not safe in threads, and reaches nobody from a child of a test.
 * sxt_must*() say something only when they fail: in a test and its threads they fail the test, in
 * a child they print where and what, and end it with SXT_CHILD_FAILED.
 *
 *   sxt_must(condition)
 *   sxt_must_eq(a, b), _ne, _lt, _le, _gt, _ge     numbers; on failure both values are shown
 *   sxt_must_ok(call)                              a call with &sxt_err returns SIMIDX_OK
 *   sxt_must_sx(call, code)                        a call with &sxt_err returns this code
 */

#ifndef SXT_ASSERT_H
#define SXT_ASSERT_H

#include <check.h>

#include <simidx.h>

/** For the `err` parameter of calls of the library; each thread has its own. */
extern _Thread_local simidx_error sxt_err;

void sxt_error_clear(simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * In a test
 */

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

/* ------------------------------------------------------------------------------------------
 * Anywhere
 */

#define SXT_CHILD_FAILED 99

/** In a child of a test: print where and what, and end it. Otherwise nothing. */
void sxt_end_child(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Fail the test, or end the child. */
#define sxt_fail(...)                                                                         \
	do {                                                                                  \
		sxt_end_child(__FILE__, __LINE__, __VA_ARGS__);                               \
		ck_abort_msg(__VA_ARGS__);                                                    \
	} while (0)

#define sxt_must(condition)                                                                   \
	do {                                                                                  \
		if (!(condition))                                                             \
			sxt_fail("not: %s", #condition);                                      \
	} while (0)

/* A long double holds every 64-bit number. On failure the operands are evaluated again. */
#define sxt_must_compare(a, op, b)                                                            \
	do {                                                                                  \
		if (!((a)op(b)))                                                              \
			sxt_fail("not: %s " #op " %s: %.20Lg and %.20Lg", #a, #b,             \
				 (long double)(a), (long double)(b));                         \
	} while (0)

#define sxt_must_eq(a, b) sxt_must_compare(a, ==, b)
#define sxt_must_ne(a, b) sxt_must_compare(a, !=, b)
#define sxt_must_lt(a, b) sxt_must_compare(a, <, b)
#define sxt_must_le(a, b) sxt_must_compare(a, <=, b)
#define sxt_must_gt(a, b) sxt_must_compare(a, >, b)
#define sxt_must_ge(a, b) sxt_must_compare(a, >=, b)

#define sxt_must_ok(call) sxt_must_sx(call, SIMIDX_OK)

#define sxt_must_sx(call, want)                                                               \
	do {                                                                                  \
		int sxt_got;                                                                  \
											      \
		sxt_error_clear(&sxt_err);                                                    \
		sxt_got = (call);                                                             \
		if (sxt_got != (want))                                                        \
			sxt_fail("%s returned %s, not %s: %s", #call,                         \
				 simidx_error_name(sxt_got), simidx_error_name(want),         \
				 sxt_err.text);                                               \
	} while (0)

#endif /* SXT_ASSERT_H */

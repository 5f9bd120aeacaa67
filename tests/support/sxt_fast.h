/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Assertions for inner loops: Check's own ones send a message to the runner each time they
 * hold, which costs more than what is tested.
 */

#ifndef SXT_FAST_H
#define SXT_FAST_H

#include <inttypes.h>
#include <stdint.h>

#include <check.h>

/** Assert that a condition holds. */
#define t_must(expr)                                                                          \
	do {                                                                                  \
		if (!(expr))                                                                  \
			ck_abort_msg("not: %s", #expr);                                       \
	} while (0)

/** Assert that two unsigned numbers are equal. */
#define t_must_eq(a, b)                                                                       \
	do {                                                                                  \
		uint64_t t_a = (a), t_b = (b);                                                \
                                                                                              \
		if (t_a != t_b)                                                               \
			ck_abort_msg("%s is 0x%" PRIx64 ", %s is 0x%" PRIx64, #a, t_a, #b,    \
				     t_b);                                                    \
	} while (0)

#endif /* SXT_FAST_H */

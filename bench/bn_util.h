/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What all benchmark programs share: clocks, random numbers, memory, medians, and ending with
 * a message. Nothing here can fail: the program ends with status 2 instead.
 */

#ifndef BN_UTIL_H
#define BN_UTIL_H

#include <stddef.h>
#include <stdint.h>

#include <simidx.h>

/** Name of the program, for messages. Each program sets it. */
extern const char *bn_program;

_Noreturn void bn_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** End the program if a call of the library failed. */
void bn_check(int rc, const simidx_error *err, const char *what);

/** Zeroed memory; large pieces on huge pages where the kernel has them. For free(). */
void *bn_alloc(uint64_t n, size_t size);

double bn_seconds(void);     /**< wall clock */
double bn_cpu_seconds(void); /**< time that this thread has run */

/** splitmix64: the next number of a generator. */
uint64_t bn_random(uint64_t *state);

/** The step of splitmix64 that makes its output look random, as a hash. */
uint64_t bn_mix(uint64_t x);

/** Value at quantile `q` (0..1); sorts `v`. 0 for none. */
double bn_quantile(double *v, size_t n, double q);

/** A number above 0 from the command line, or the end; `what` is what it is given for. */
uint64_t bn_number(const char *what, const char *text);

/** Whether `word` is one of a comma-separated list; everything is in a list that is NULL. */
int bn_listed(const char *list, const char *word);

/** Print what the figures depend on, as members of a JSON object: CPU, compiler, library. */
void bn_print_machine(void);

#endif /* BN_UTIL_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * External sort of records of 64-bit words, in bounded memory: sorted runs in a temporary file,
 * merged when they are read. Stable: records with equal keys come out in the order they came in.
 */

#ifndef SX_SORTER_H
#define SX_SORTER_H

#include <stddef.h>
#include <stdint.h>

#include "util/sx_sort.h"
#include "util/sx_spill.h"

#define SX_SORTER_SOME 1024

typedef struct sx_sorter sx_sorter;

/**
 * @param words   of a record, 1..SX_SORT_MAX_WORDS
 * @param keys    how many of them, the first 1 or 2, are the key
 * @param shift   low bits of the first key that do not count, 0..63: for records that are in
 *                order already where the other bits are equal
 * @param memory  bytes to use, at least 1 MiB
 * @param dir     where the temporary file is made, when one is needed
 */
int sx_sorter_new(unsigned words, unsigned keys, unsigned shift, size_t memory, const char *dir,
		  sx_sorter **out, simidx_error *err);

/** NULL is allowed. */
void sx_sorter_free(sx_sorter *sorter);

/** Add a record. */
int sx_sorter_add(sx_sorter *sorter, const uint64_t *record, simidx_error *err);

/** Add n records that lie one after another. */
int sx_sorter_add_some(sx_sorter *sorter, const uint64_t *record, size_t n, simidx_error *err);

/** Words of a record. */
unsigned sx_sorter_words(const sx_sorter *sorter);

/** Records added. */
uint64_t sx_sorter_count(const sx_sorter *sorter);

/** Bytes written to the temporary file. */
uint64_t sx_sorter_spilled(const sx_sorter *sorter);

/** Spill to a file that is there and empty, instead of making one. The sorter owns it. */
void sx_sorter_give_spill(sx_sorter *sorter, sx_spill *spill);

/** Take the temporary file away from a sorter that is not going to be read, emptied, or NULL. */
sx_spill *sx_sorter_take_spill(sx_sorter *sorter);

/**
 * End adding; sx_sorter_next() may follow. `memory` is the budget from now on: smaller
 * than before where another sorter is filled meanwhile.
 */
int sx_sorter_finish(sx_sorter *sorter, size_t memory, simidx_error *err);

/**
 * The next record in order; *record stays valid until the next call.
 *
 * @return SIMIDX_OK; SIMIDX_E_END after the last one, without setting err
 */
int sx_sorter_next(sx_sorter *sorter, const uint64_t **record, simidx_error *err);

/** The next records in order, 1..SX_SORTER_SOME of them, else as sx_sorter_next(). */
int sx_sorter_some(sx_sorter *sorter, const uint64_t **record, size_t *n, simidx_error *err);

/** Begin again with the first record. */
int sx_sorter_rewind(sx_sorter *sorter, simidx_error *err);

#endif /* SX_SORTER_H */

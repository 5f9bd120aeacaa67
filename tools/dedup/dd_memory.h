/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How --memory is divided. One half is for documents that wait to be decided, for the work at them,
 * and for the rows that the index has not yet merged; what these do not need of their share tells
 * which texts need no search. Of the other half, the program and its threads have a fixed part, and
 * the rest is for the tables: what must be known of each file and document until the end of the
 * run. Each document is charged with the most that it can need in the tables, before it is added to
 * them.
 *
 * What the tables do not need yet is lent to a text that is longer than all that may wait: to the
 * text itself, and to the work at it.
 */

#ifndef DD_MEMORY_H
#define DD_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct dd_memory {
	size_t batch_documents; /* that wait, at most */
	uint64_t batch_bytes;   /* of these, if there is more than one */
	uint64_t work;          /* bytes for the work at a batch, at least */
	uint64_t reading;       /* bytes for a row that is longer than a batch, at least */
	uint64_t index_rows;    /* that are not merged, at most */
	uint64_t unsearched;    /* bytes for telling which texts need no search, at most */
	uint64_t tables;        /* bytes */
	uint64_t charged;       /* of these: added to by the caller, after dd_memory_has() */
};

/** What --memory has to be for tables of this size, in megabytes, rounded up: for messages. */
uint64_t dd_memory_megabytes(uint64_t tables, unsigned threads);

/**
 * Check that memory and threads fit.
 *
 * @param threads  0: one a core, but not more than the memory is enough for; set to their number
 * @return TL_PROCEED, or TL_TROUBLE with a message
 */
int dd_memory_check(uint64_t bytes, unsigned *threads);

/** Before anything else: have the C library give large blocks back as soon as they are freed. */
void dd_memory_begin(void);

/** Divide `bytes`, which dd_memory_check() has found to be enough. Nothing is charged yet. */
void dd_memory_divide(struct dd_memory *memory, uint64_t bytes, unsigned threads);

/**
 * For an index that has documents: more of its rows may wait for a merge, which takes the longer,
 * the more documents there are. What they need is taken from `tables`.
 */
void dd_memory_index(struct dd_memory *memory, uint64_t documents);

/** Divide bytes that are left in the end, for rows that are decided again: batches, work and the
 * rows of an index, which take half of them. Nothing is for reading and tables. */
void dd_memory_divide_left(struct dd_memory *memory, uint64_t bytes);

/** Bytes of the longest row that may be read now; `is_whole`: of a file that is one text. */
size_t dd_memory_longest(const struct dd_memory *memory, int is_whole);

/** Bytes for the work at a batch that begins now, with a row of so many. */
uint64_t dd_memory_work(const struct dd_memory *memory, uint64_t size, int is_whole);

/** Bytes of the longest row that may be read in so many bytes. */
uint64_t dd_memory_row(uint64_t bytes, int is_whole);

/** Bytes for the work that is left when all rows are decided. */
uint64_t dd_memory_left(const struct dd_memory *memory);

/** Whether the tables have room for this number of bytes more. */
int dd_memory_has(const struct dd_memory *memory, uint64_t bytes);

#endif /* DD_MEMORY_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The optional columns of documents: numbers that an index keeps with each of them beside its
 * fingerprint and its id. Which ones it has is said when it is created, and stands in the header
 * by name (doc/format.md, "Header"). Postings and the log of fresh rows store them, after their
 * own columns.
 *
 * What handles documents without asking what a number means copies their sx_values. Another
 * column is a line in enum sx_column and one in sx_column_kinds.
 */

#ifndef SX_COLUMNS_H
#define SX_COLUMNS_H

#include "block/sx_rows.h"

/** All that there are, in the order in which they are stored. */
enum sx_column { SX_FP2, SX_TIME, SX_MAX_COLUMNS };

/** What the header says of one. */
typedef struct sx_column_kind {
	char name[8];     /* zeros after it */
	unsigned width;   /* bytes that a value needs at most */
	int is_digested;  /* the digest of postings has it */
	uint64_t absent;  /* the value of a document of which nothing is said: always 0 here, which
			   * the code takes for granted. The header tells it to other readers */
	uint32_t flag;    /* of simidx_create() */
} sx_column_kind;

extern const sx_column_kind sx_column_kinds[SX_MAX_COLUMNS];

/** Those of an index. All zero: none. */
typedef struct sx_columns {
	unsigned n;
	unsigned char kind[SX_MAX_COLUMNS]; /* enum sx_column, ascending */
} sx_columns;

/** The numbers of a document; 0 in columns that the index does not have. */
typedef struct sx_values {
	uint64_t of[SX_MAX_COLUMNS];
} sx_values;

/** Flags of simidx_create() that ask for columns. */
uint32_t sx_columns_flags(void);

/** The columns that these flags ask for. */
sx_columns sx_columns_of_flags(uint32_t flags);

/** Where a column stands among those of an index, from 0 on; -1: it has no such column. */
static inline int sx_columns_find(const sx_columns *columns, enum sx_column kind)
{
	for (unsigned c = 0; c < columns->n; c++)
		if (columns->kind[c] == kind)
			return (int)c;
	return -1;
}

/** Write the values to numbers that follow each other, as they are stored. */
static inline void sx_values_put(const sx_columns *columns, const sx_values *values, uint64_t *to)
{
	for (unsigned c = 0; c < columns->n; c++)
		to[c] = values->of[columns->kind[c]];
}

/** Read them. */
static inline sx_values sx_values_get(const sx_columns *columns, const uint64_t *from)
{
	sx_values values = { { 0 } };

	for (unsigned c = 0; c < columns->n; c++)
		values.of[columns->kind[c]] = from[c];
	return values;
}

/** Whether those of two documents are the same. */
static inline int sx_values_are_equal(const sx_values *a, const sx_values *b)
{
	for (unsigned c = 0; c < SX_MAX_COLUMNS; c++)
		if (a->of[c] != b->of[c])
			return 0;
	return 1;
}

/** The values of some documents, an array a column; NULL: all have 0. */
typedef struct sx_value_arrays {
	const uint64_t *of[SX_MAX_COLUMNS];
} sx_value_arrays;

/** Those of one document. */
static inline sx_value_arrays sx_value_arrays_of(const sx_values *values)
{
	sx_value_arrays arrays;

	for (unsigned c = 0; c < SX_MAX_COLUMNS; c++)
		arrays.of[c] = &values->of[c];
	return arrays;
}

/** Those of rows whose optional columns begin with number `first`. */
static inline sx_value_arrays sx_value_arrays_in(const sx_columns *columns, const sx_rows *rows,
						 unsigned first)
{
	sx_value_arrays arrays = { { NULL } };

	for (unsigned c = 0; c < columns->n; c++)
		arrays.of[columns->kind[c]] = rows->col[first + c];
	return arrays;
}

/** The i-th ones. */
static inline sx_values sx_value_arrays_at(const sx_value_arrays *arrays, size_t i)
{
	sx_values values;

	for (unsigned c = 0; c < SX_MAX_COLUMNS; c++)
		values.of[c] = arrays->of[c] ? arrays->of[c][i] : 0;
	return values;
}

#endif /* SX_COLUMNS_H */

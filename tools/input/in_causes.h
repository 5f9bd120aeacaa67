/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Why rows were rejected, or what they lack, counted over all inputs of a run: what concerns many
 * rows is a matter of an option, and is told in the end with the option.
 */

#ifndef IN_CAUSES_H
#define IN_CAUSES_H

#include "input/in_columns.h"

#include <stdint.h>

/** Causes that are counted. */
enum in_cause {
	IN_NO_FIELD,    /* the member that has the text is missing */
	IN_NO_STRING,   /* it is there and no string */
	IN_NO_OBJECT,   /* a line is no JSON object */
	IN_FEW_COLUMNS, /* a row of a table ends before the columns that are needed */
	IN_NAMES,       /* the first row looks like names of columns, and is taken as a text */
	IN_N_CAUSES
};

/** Counts; all zero at first. */
struct in_causes {
	struct {
		uint64_t n;
		char first[160];  /* where the first one is, cut to this */
	} cause[IN_N_CAUSES];
	char field[80];           /* how the member is called, in quotes */
	char names[240];          /* strings that the first row without it has */
	char longest[80];         /* the longest of these */
	int longest_is_fp;        /* it looks like a fingerprint */
	char members[240];        /* what the first object has */
	/* Members that options name and no object has had so far: a bit for each of
	   in_causes_names(); and whose they are, NULL before the first object. */
	uint32_t unseen;
	const struct in_columns *unseen_of;
};

/** Names before those of texts. */
#define IN_CAUSES_TEXTS 4

/**
 * The members that options name: id, label, time and value, where the name is NULL if none names
 * it, and then those of a list of texts.
 *
 * @return their number
 */
size_t in_causes_names(const struct in_columns *columns,
		       struct in_name names[IN_CAUSES_TEXTS + IN_MOST_TEXTS]);

/**
 * Notices of what was counted, with advice where an option may be wrong.
 *
 * @param rows  of all, those that were rejected included
 */
void in_causes_tell(const struct in_causes *causes, uint64_t rows);

#endif /* IN_CAUSES_H */

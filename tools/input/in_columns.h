/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * How the rows of tables and objects are written: the options that both tools have for it.
 */

#ifndef IN_COLUMNS_H
#define IN_COLUMNS_H

#include "common/tl_fp.h"
#include "common/tl_options.h"

/** Options about rows; all zero are the defaults. Strings are borrowed. */
struct in_columns {
	int header;                 /* --header: the first line names the columns */
	const char *id;             /* --id-field: a name, or without a header a number */
	const char *fp;             /* --fp-field */
	const char *label;          /* --label-field */
	const char *text;           /* --text-field */
	char delimiter;             /* --delimiter, of csv; 0 = a comma */
	enum tl_encoding encoding;  /* --fp-encoding */
};

/** Columns of a table by number, from 1; 0 = is not read. */
struct in_table {
	uint64_t id;
	uint64_t fp;
	uint64_t label;
	int exact;  /* there may be no others */
};

/** Which of the options a format has use for. */
#define IN_TAKES_HEADER 1u
#define IN_TAKES_FIELDS 2u
#define IN_TAKES_ENCODING 4u
#define IN_TAKES_TEXT_FIELD 8u
#define IN_TAKES_DELIMITER 16u

/** The options; their struct is struct in_columns. */
extern const struct tl_option in_columns_rows[];

/** Values of the options for getopt_long(), above those of the tools. */
enum in_columns_option {
	IN_OPT_FP = 1000,
	IN_OPT_FP_FIELD,
	IN_OPT_HEADER,
	IN_OPT_ID_FIELD,
	IN_OPT_LABEL_FIELD
};

/** Entries for an array of struct option. */
#define IN_COLUMNS_OPTIONS                                              \
	{ "fp", required_argument, NULL, IN_OPT_FP },                   \
	{ "fp-field", required_argument, NULL, IN_OPT_FP_FIELD },       \
	{ "header", no_argument, NULL, IN_OPT_HEADER },                 \
	{ "id-field", required_argument, NULL, IN_OPT_ID_FIELD },       \
	{ "label-field", required_argument, NULL, IN_OPT_LABEL_FIELD }

/**
 * Take one of these options.
 *
 * @param c      what tl_next_option() returned
 * @param value  its argument; borrowed
 * @return 0, -1 after a message, 1 if it is none of them
 */
int in_columns_take(struct in_columns *columns, int c, const char *value);

/** What is wrong with fields given for a table without a header, or NULL. */
const char *in_columns_check_numbers(const struct in_columns *columns);

/** The columns of a table without a header; in_columns_check_numbers() found nothing. */
void in_columns_number(const struct in_columns *columns, struct in_table *table);

#endif /* IN_COLUMNS_H */

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
	const char *text;           /* --text-field: one, or several with commas between */
	const char *time;           /* --time, which simidx-load alone has; NULL = is not read */
	char delimiter;             /* --delimiter, of csv; 0 = a comma */
	enum tl_encoding encoding;  /* --fp-encoding */
	/* No options of their own, but set by the program: */
	const char *value;          /* --keep: a field whose value is wanted; NULL = none */
	int keys_only;              /* ids and labels alone are read: rows are IN_KEY */
	int texts_only;             /* ids and labels are not read */
	int tells_unread;           /* a notice names the columns that could be labels */
	int nul_ends;               /* ids and labels end with a NUL byte, and not with a line */
};

/** Most fields that are joined to one text. */
#define IN_MOST_TEXTS 16

/** Columns of a table by number, from 1; 0 = is not read. */
struct in_table {
	uint64_t id;
	uint64_t fp;
	uint64_t label;
	uint64_t time;
	uint64_t value;
	uint64_t text[IN_MOST_TEXTS]; /* joined in this order */
	size_t n_texts;
	int exact;  /* there may be no others */
};

/** A name in a list. */
struct in_name {
	const char *name;
	size_t size;
};

/**
 * The names of a list with commas between.
 *
 * @param names  set to them; they borrow from the list
 * @return their number; 0 if there are more than IN_MOST_TEXTS
 */
size_t in_columns_names(const char *list, struct in_name names[IN_MOST_TEXTS]);

/** Add a name to a list that a message shows: in quotes, with commas between, and with dots at the
 * end once `size` has no room for more. */
void in_columns_add_name(char *list, size_t size, const char *name, size_t n);

/** Which of the options a format has use for. */
#define IN_TAKES_HEADER 1u
#define IN_TAKES_FIELDS 2u
#define IN_TAKES_ENCODING 4u
#define IN_TAKES_TEXT_FIELD 8u
#define IN_TAKES_DELIMITER 16u
#define IN_TAKES_NUL 32u

/** The options; their struct is struct in_columns. */
extern const struct tl_option in_columns_rows[];

/** What is wrong with --text-field wherever it is given, or NULL. */
const char *in_columns_check_text(const struct in_columns *columns);

/** What is wrong with fields given for a table without a header, or NULL. */
const char *in_columns_check_numbers(const struct in_columns *columns);

/** The columns of a table without a header; in_columns_check_numbers() found nothing. */
void in_columns_number(const struct in_columns *columns, struct in_table *table);

#endif /* IN_COLUMNS_H */

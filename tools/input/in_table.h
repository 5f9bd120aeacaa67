/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What all formats with one row a line and columns have in common: which columns are what, and
 * what stands in them. How lines are cut into fields is the format's own.
 */

#ifndef IN_TABLE_H
#define IN_TABLE_H

#include "input/in_reader.h"

/** One row being cut into fields. */
struct in_cursor {
	char *at;   /* NULL behind the last field */
	char *end;
};

/** A field; borrowed until the next row. */
struct in_field {
	const char *data;
	size_t size;
};

/** A way to write tables. */
struct in_syntax {
	/** Begin with the next row. Returns as in_next_line(). */
	enum in_result (*next_row)(struct in_reader *reader, struct in_cursor *cursor);
	/** Cut the next field off. Returns whether there was one. */
	int (*next_field)(const struct in_reader *reader, struct in_cursor *cursor,
			  struct in_field *field);
	int escapes;  /* labels and texts have backslash escapes */
	int may_have_time; /* a fourth column is a time */
};

/** What is remembered of a table between two rows. */
struct in_table_state {
	struct in_table columns;
	int has_begun;        /* they are known */
	struct in_room label; /* the last one without its escapes */
	struct in_room text;  /* likewise, or joined */
};

/** For struct in_format. */
#define IN_TABLE_STATE_SIZE sizeof(struct in_table_state)
void in_table_close(void *state);

/** Which columns are read: by the header if there is one. For struct in_format. */
enum in_result in_table_begin(struct in_reader *reader);

/** The next row of a table, for struct in_format. */
enum in_result in_table_next(struct in_reader *reader, struct in_row *row);

/** Begin with the next line as a row. Returns as in_next_line(). */
enum in_result in_table_line(struct in_reader *reader, struct in_cursor *cursor);

/** Cut a field that ends at the next `separator` or the end of the row off. */
int in_cut_field(struct in_cursor *cursor, char separator, struct in_field *field);

#endif /* IN_TABLE_H */

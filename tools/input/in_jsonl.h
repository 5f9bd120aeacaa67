/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * JSON, an object a line: documents as in the format jsonl, for formats that have more besides.
 */

#ifndef IN_JSONL_H
#define IN_JSONL_H

#include "input/in_reader.h"

#ifdef HAVE_JSON

#include <jansson.h>

#define IN_JSONL_SECOND_BITS 64

/** What the last line borrowed from. The state of a format begins with one; all zero at first. */
struct in_jsonl {
	json_t *json;
	int is_wrapped; /* there are numbers in it that jansson does not take */
	struct in_room bytes; /* a label that was hexadecimal; before that, such numbers */
	struct in_room features;
	struct in_room text; /* joined */
	uint8_t weights[2][IN_JSONL_SECOND_BITS];
	char value[32]; /* of a number that is asked for */
};

/** The close() of a format. */
void in_jsonl_close(void *state);

/**
 * The next line.
 *
 * @param object  borrowed until the next line
 * @return IN_ROW; IN_END; with a reason IN_REJECTED when it is no object, IN_FATAL
 */
enum in_result in_jsonl_line(struct in_reader *reader, const json_t **object);

/** The document in an object. Returns IN_ROW, or IN_REJECTED with a reason. */
enum in_result in_jsonl_row(struct in_reader *reader, const json_t *object, struct in_row *row);

/**
 * The time in a member that has this name; it is not known if it is not there. Returns as above.
 */
enum in_result in_jsonl_time(struct in_reader *reader, const json_t *object, const char *key,
			     struct in_row *row);

#endif

#endif /* IN_JSONL_H */

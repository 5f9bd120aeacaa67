/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One row of input, whatever file format it came from.
 */

#ifndef IN_ROW_H
#define IN_ROW_H

#include <simidx_text.h>

/** Longest line of a file, and longest text document, in bytes. */
#define IN_MAX_LINE ((size_t)64 << 20)
#define IN_MAX_TEXT ((size_t)1 << 30)

/** What reading a row came to. */
enum in_result {
	IN_FATAL = -1,   /* the input cannot be read on; the reason is told */
	IN_END = 0,      /* no more */
	IN_ROW = 1,      /* here it is */
	IN_REJECTED = 2, /* a row that means nothing; the reason is told, reading goes on */
	IN_SKIPPED = 3   /* a file that is no text, left out; the reason is told */
};

/** What a row carries. */
enum in_kind {
	IN_FINGERPRINT, /* a finished fingerprint */
	IN_TEXT,        /* a text to make one from */
	IN_FEATURES,    /* weighted features to make one from */
	IN_KEY,         /* none: only which document is meant, by its id or label */
	IN_HEAD         /* no document: what those that follow are, the first line of a full dump */
};

struct in_head;

/** A row; all pointers are borrowed until the next row. */
struct in_row {
	enum in_kind kind;
	int has_fp2;
	int lacks_fp2;                   /* it is said to have a second one that is not known */
	int has_time;                    /* `time` is set, and counts in place of the clock */
	uint32_t time;                   /* seconds since 1970; 0 = not known */
	uint64_t id;                     /* SIMIDX_NO_ID when it has none */
	const char *label;               /* NULL when it has none */
	size_t label_size;
	const char *note;                /* NULL when it has none */
	size_t note_size;
	uint64_t fp;                     /* IN_FINGERPRINT */
	uint64_t fp2;                    /* IN_FINGERPRINT with has_fp2 */
	const uint8_t *weights;          /* IN_FINGERPRINT: one a bit of fp; NULL = none */
	const uint8_t *weights2;         /* the same for fp2: there if both of these are */
	const char *value;               /* of the field that is asked for; NULL when it has none */
	size_t value_size;
	const char *text;                /* IN_TEXT */
	size_t text_size;
	const simidx_feature *features;  /* IN_FEATURES */
	size_t n_features;
	const struct in_head *head;      /* IN_HEAD; valid until the input ends */
};

#endif /* IN_ROW_H */

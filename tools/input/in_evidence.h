/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Lines of evidence, as simidx-dedup --evidence writes them: which rows are near to each other, and
 * where their texts are.
 */

#ifndef IN_EVIDENCE_H
#define IN_EVIDENCE_H

#include <stddef.h>
#include <stdint.h>

#include "input/in_reader.h"

/** What has become of a text. */
enum in_found {
	IN_FOUND,     /* it is there as it was */
	IN_CHANGED,   /* there is another text in its place */
	IN_GONE,      /* its file is not there */
	IN_UNREADABLE, /* its file is damaged, is no regular one or may not be read */
	IN_NOT_KEPT   /* it lies in no file that is known, or in one of no known format */
};

/** One of the two rows of a pair. Strings are owned; NULL = it has none. */
struct in_side {
	char *path, *label, *index, *text_field, *excerpt;
	size_t path_size, label_size, index_size, text_field_size, excerpt_size;
	uint64_t line;           /* 0 = the row is the whole file */
	uint64_t offset, length; /* length 0 = no place is known */
	uint64_t id;             /* SIMIDX_NO_ID: it has none */
	uint64_t hash;
	int has_hash;            /* it is a text */
	const struct in_format *format; /* NULL: not known */
	int has_header;          /* of a table: its first line names the columns */
	char delimiter;          /* of csv; 0 = a comma */
	/* qr_texts_read() sets these: */
	enum in_found found;
	char *text;              /* owned; only with IN_FOUND */
	size_t text_size;        /* bytes of it, at most QR_MOST_TEXT */
	int is_cut;              /* it has more */
};

/** A pair: side[0] is the row that was decided, side[1] what it is near to. */
struct in_pair {
	uint64_t number;     /* of the line, from 1 */
	double similarity;   /* percent; negative: fingerprints alone have decided */
	double limit;        /* percent */
	int is_estimate;
	uint64_t distance;   /* of bare fingerprints, with has_distance */
	int has_distance;
	char rule[16];
	int is_kept;         /* a near miss */
	struct in_side side[2];
};

/** What to say when this build cannot read evidence, or NULL. */
const char *in_evidence_missing(void);

/**
 * Read a line. Numbers that simidx-dedup does not write, such as a similarity above 100, are
 * refused.
 *
 * @param pair    set to it, for in_pair_free(), also on failure
 * @param reason  on failure: why it is none
 * @return 0 or -1
 */
int in_evidence_parse(const char *line, size_t size, struct in_pair *pair, const char **reason);

/** Free what a pair holds. */
void in_pair_free(struct in_pair *pair);

#endif /* IN_EVIDENCE_H */

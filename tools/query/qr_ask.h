/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What counts as near and how much of it is wanted: the options of search that say so, and what
 * they make of a fingerprint or text.
 */

#ifndef QR_ASK_H
#define QR_ASK_H

#include <limits.h>
#include <simidx_info.h>
#include <simidx_sketch.h>

#include "common/tl_fp.h"
#include "input/in_row.h"
#include "query/qr_print.h"

/** A number that was not given, where 0 means something. */
#define QR_NOT_GIVEN UINT_MAX

/**
 * What was asked for: the options, and from qr_ask_check() on what they mean. Strings are borrowed.
 */
struct qr_ask {
	unsigned radius;       /* -k: plain distance, whatever the weights; or QR_NOT_GIVEN */
	unsigned accept;       /* or QR_NOT_GIVEN */
	unsigned probes;       /* 0 = by the plan, or `complete` was given */
	unsigned complete;     /* 0 = was not given */
	uint64_t limit;        /* --limit or --nearest; 0 = neither */
	uint64_t nearest;      /* --nearest; 0 = was not given */
	int first, count, exists;
	uint64_t max_candidates; /* 0 = any number */
	int strict;            /* a cut answer is trouble */
	/* --ignore, --second, --bit-weights as they were given, or NULL */
	const char *ignore_text;
	const char *fp2_text;
	const char *weights_path;
	const char *newer_text; /* likewise --newer-than */

	unsigned mode;         /* enum simidx_mode, from qr_ask_check() on */
	enum qr_show show;
	uint32_t newer_than;   /* 0 = documents of any age */
	uint64_t ignore;       /* from qr_ask_prepare() on */
	uint64_t fp2;
	uint8_t weights[2][64];
	int has_weights2;      /* the file had those of a second fingerprint too */
};

#define QR_ASK_INIT { .radius = QR_NOT_GIVEN, .accept = QR_NOT_GIVEN }

/** The options; their struct is struct qr_ask. */
extern const struct tl_option qr_ask_rows[];

/** What rows there may be, and so which options make sense. */
#define QR_MAY_BE_TEXT 1u        /* texts or features */
#define QR_MAY_BE_FINGERPRINT 2u
#define QR_MAY_HAVE_MORE 4u      /* fingerprints with fp2 or weights of their own */
#define QR_IS_ONE 8u             /* a single fingerprint */

/**
 * Check the options against each other and find what they ask. Returns 0, or TL_TROUBLE with a
 * message.
 */
int qr_ask_check(struct qr_ask *ask, unsigned rows);

/**
 * Whether answers are ordered by something else than all bits that differ in the first fingerprint:
 * by weights, by some of the bits, or by both fingerprints.
 */
int qr_ask_has_weight(const struct qr_ask *ask, unsigned rows);

/**
 * Read what depends on the index: masks, weights and second fingerprints.
 *
 * @param encoding  how fingerprints are written
 * @return 0, or TL_TROUBLE with a message
 */
int qr_ask_prepare(struct qr_ask *ask, const struct qr_context *ctx, enum tl_encoding encoding);

/** The SIMIDX_SKETCH_ flags that texts need for this. */
unsigned qr_ask_sketch_flags(const struct qr_ask *ask, const simidx_info *info);

/**
 * Put the question of one row.
 *
 * @param row     its kind, second fingerprint and weights
 * @param sketch  made of it with qr_ask_sketch_flags(); it gets the weights, and the query points
 *                there
 * @return 0 or a SIMIDX_E_ code
 */
int qr_ask_query(const struct qr_ask *ask, const struct qr_context *ctx,
		 const struct in_row *row, simidx_sketch *sketch, simidx_query *out,
		 simidx_error *err);

#endif /* QR_ASK_H */

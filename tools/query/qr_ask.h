/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What counts as near and how much of it is wanted: the options of search that say so, and what
 * they make of a fingerprint or text.
 */

#ifndef QR_ASK_H
#define QR_ASK_H

#include <simidx_admin.h>
#include <simidx_sketch.h>

#include "common/tl_fp.h"
#include "input/in_row.h"
#include "query/qr_print.h"

/** What was asked for; all zero is the default. Strings are borrowed. */
struct qr_ask {
	int has_radius;        /* -k: plain distance, whatever the weights */
	unsigned radius;
	int has_accept;
	unsigned accept;
	unsigned probes;       /* 0 = by the plan, or `complete` was given */
	unsigned complete;
	unsigned mode;         /* enum simidx_mode */
	unsigned ways;         /* of --limit and the modes, how many were given */
	enum qr_show show;
	uint64_t limit;        /* --limit or --nearest */
	uint64_t max_candidates;
	int strict;            /* a cut answer is trouble */
	const char *ignore_text;  /* --ignore, --fp2, --bit-weights as they were given, or NULL */
	const char *fp2_text;
	const char *weights_path;
	uint64_t ignore;       /* what they mean, from qr_ask_prepare() on */
	uint64_t fp2;
	uint8_t weights[2][64];
	int has_weights2;      /* the file had those of a second fingerprint too */
};

/** Values of the options for getopt_long(), above those of the tools. */
enum qr_ask_option {
	QR_OPT_ACCEPT = 1100,
	QR_OPT_COMPLETE,
	QR_OPT_COUNT,
	QR_OPT_EXISTS,
	QR_OPT_FIRST,
	QR_OPT_FP2,
	QR_OPT_IGNORE,
	QR_OPT_LIMIT,
	QR_OPT_MAX_CANDIDATES,
	QR_OPT_NEAREST,
	QR_OPT_PROBES,
	QR_OPT_STRICT,
	QR_OPT_WEIGHTS
};

/** Entries for an array of struct option; besides, 'k' takes a value. */
#define QR_ASK_OPTIONS                                                    \
	{ "accept", required_argument, NULL, QR_OPT_ACCEPT },             \
	{ "bit-weights", required_argument, NULL, QR_OPT_WEIGHTS },       \
	{ "complete", required_argument, NULL, QR_OPT_COMPLETE },         \
	{ "count", no_argument, NULL, QR_OPT_COUNT },                     \
	{ "exists", no_argument, NULL, QR_OPT_EXISTS },                   \
	{ "first", no_argument, NULL, QR_OPT_FIRST },                     \
	{ "fp2", required_argument, NULL, QR_OPT_FP2 },                   \
	{ "ignore", required_argument, NULL, QR_OPT_IGNORE },             \
	{ "limit", required_argument, NULL, QR_OPT_LIMIT },               \
	{ "max-candidates", required_argument, NULL, QR_OPT_MAX_CANDIDATES }, \
	{ "nearest", required_argument, NULL, QR_OPT_NEAREST },           \
	{ "probes", required_argument, NULL, QR_OPT_PROBES },             \
	{ "radius", required_argument, NULL, 'k' },                       \
	{ "strict", no_argument, NULL, QR_OPT_STRICT },                   \
	{ "within", required_argument, NULL, 'k' }

/**
 * Take one of these options.
 *
 * @param c      what tl_next_option() returned
 * @param value  its argument; borrowed
 * @return 0, -1 after a message, 1 if it is none of them
 */
int qr_ask_take(struct qr_ask *ask, int c, const char *value);

/** What rows there may be, and so which options make sense. */
#define QR_MAY_BE_TEXT 1u        /* texts or features */
#define QR_MAY_BE_FINGERPRINT 2u
#define QR_MAY_HAVE_MORE 4u      /* fingerprints with fp2 or weights of their own */
#define QR_IS_ONE 8u             /* a single fingerprint */

/** Check the options against each other. Returns 0, or TL_TROUBLE with a message. */
int qr_ask_check(const struct qr_ask *ask, unsigned rows);

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

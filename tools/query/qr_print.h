/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Matches on stdout, as tab-separated columns or as JSON.
 */

#ifndef QR_PRINT_H
#define QR_PRINT_H

#include "query/qr_command.h"

#include <stdio.h>

/** What of an answer is printed. */
enum qr_show {
	QR_SHOW_MATCHES,
	QR_SHOW_COUNT,  /* the number of documents */
	QR_SHOW_EXISTS  /* 1 if there is one, else 0 */
};

/** What was asked, as the first column names it. */
struct qr_query {
	const char *name;
	size_t name_size;
	int has_fp;         /* fp is set */
	uint64_t fp;
	int is_text;     /* the two below are set */
	int is_short;
	uint64_t n_tokens;
	enum qr_show show;
	int is_search;      /* JSON: has distances by weights and how far it is complete */
	int has_fp2;        /* JSON: has distances of second fingerprints */
};

/**
 * Print what a query found, or a piece of it.
 *
 * @param out    stdout, or what is copied there later
 * @param begun  earlier pieces have been printed
 * @return 0, or TL_TROUBLE when out takes no more
 */
int qr_print_results(FILE *out, const struct qr_context *ctx, const struct qr_query *query,
		     const simidx_results *results, int begun);

/** TL_TROUBLE when out takes no more, else 0. */
int qr_print_failed(FILE *out);

/** The id of a match as a column: nothing where there is none. */
void qr_print_id(FILE *out, uint64_t id);

/** A fingerprint of `bits` bits in hexadecimal, fixed width. */
void qr_print_fingerprint(FILE *out, uint64_t fp, unsigned bits);

/** Room for a fingerprint as a string. */
#define QR_FP_SIZE 17

/** As qr_print_fingerprint(), into a string. Returns its length. */
size_t qr_format_fingerprint(char out[QR_FP_SIZE], uint64_t fp, unsigned bits);

#endif /* QR_PRINT_H */

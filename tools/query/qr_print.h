/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Matches on stdout: as JSON, as columns separated by tabs, or on a terminal as a table with the
 * matches below each query.
 */

#ifndef QR_PRINT_H
#define QR_PRINT_H

#include <simidx_check.h>

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
	int is_next;        /* not the first one of the output */
	const char *name;
	size_t name_size;
	int has_fp;         /* fp is set */
	uint64_t fp;
	int is_text;     /* the two below are set */
	int is_short;
	uint64_t n_tokens;
	enum qr_show show;
	int is_search;      /* has distances, and JSON how far it is complete */
	int has_weight;     /* a column for what matches are ordered by besides their distance */
	int has_fp2;        /* JSON: has distances of second fingerprints */
	int has_time;       /* a column for times; JSON has them in any case */
};

/**
 * Print the names of the columns, on a terminal. Before the first query.
 *
 * @param query  show, is_search, has_weight and has_time are as those of all queries
 */
void qr_print_header(const struct qr_context *ctx, const struct qr_query *query);

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

/** A line about what verify found; ctx is a struct qr_context. */
void qr_print_problem(void *ctx, const simidx_problem *problem);

/** A line about an index or a text: a name, and what is behind it. */
void qr_print_word(const char *name, const char *value);

/** The id of a match as a column: nothing where there is none. */
void qr_print_id(FILE *out, uint64_t id);

/** The time of a match as a column: nothing where it is not known. */
void qr_print_time(FILE *out, const simidx_match *match);

/** A fingerprint of `bits` bits in hexadecimal, fixed width. */
void qr_print_fingerprint(FILE *out, uint64_t fp, unsigned bits);

/** A fingerprint with the digits in colour, where colours are wanted, that another one has not. */
void qr_print_compared(const struct qr_context *ctx, FILE *out, uint64_t fp, uint64_t with,
		       unsigned bits);

/** Room for a fingerprint as a string. */
#define QR_FP_SIZE 17

/** As qr_print_fingerprint(), into a string. Returns its length. */
size_t qr_format_fingerprint(char out[QR_FP_SIZE], uint64_t fp, unsigned bits);

#endif /* QR_PRINT_H */

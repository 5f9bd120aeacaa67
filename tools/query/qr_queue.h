/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Queries on their way through a batch search: they are held until there are enough to share work,
 * or until no more come for now. Answers are printed in the order of the queries, though the
 * threads of the batch finish them in another one.
 *
 * Memory: a thread whose answer comes before its turn leaves the printed text with the query, up
 * to 32 MB of such texts, and goes on. When there are more, or when the answer has more than one
 * piece (65,536 matches), it waits for its turn and prints straight to stdout. So, beside the
 * queries and their texts, each thread holds the matches of one query.
 */

#ifndef QR_QUEUE_H
#define QR_QUEUE_H

#include "query/qr_ask.h"

#include <pthread.h>

/** A query that waits for its answer. */
struct qr_waiting {
	struct qr_query query;
	char *text;         /* its answer when it was found before its turn; else NULL */
	size_t text_size;
	int truncated;      /* of that answer, as in simidx_results */
	uint64_t n_matches; /* likewise */
};

struct qr_queue {
	struct qr_context *ctx;
	const struct qr_ask *ask;
	int explains;               /* print how each is looked up in place of what it finds */
	simidx_reader *reader;      /* NULL until it is needed */
	struct qr_waiting *waiting;
	simidx_query *queries;      /* of them */
	size_t n;
	size_t max;                 /* to be held at once: less where answers take long */
	char *bytes;                /* names and weights */
	size_t n_bytes;
	pthread_mutex_t lock;       /* of what follows, while a batch runs */
	pthread_cond_t turn;        /* `answered` or `stopped` has changed */
	size_t first;               /* number of the query that the batch calls 0 */
	size_t answered;            /* queries whose answers are printed; the next has its turn */
	int begun;                  /* of that one, pieces are printed; belongs to its thread */
	size_t n_text;              /* bytes of texts */
	int stopped;                /* the batch ends early */
	int code;                   /* TL_TROUBLE once something failed; no more is done then */
	int shows_progress;
	double started, shown;      /* when it began, and when progress was last shown */
	uint64_t n_answers;         /* that were printed */
	uint64_t n_matches;         /* in them */
	uint64_t n_cut;             /* answers that were cut */
	int cut;                    /* SIMIDX_CUT_ flags of all of them */
};

/** Begin; everything is borrowed. */
void qr_queue_init(struct qr_queue *queue, struct qr_context *ctx, const struct qr_ask *ask);

/** Free all that it holds. */
void qr_queue_free(struct qr_queue *queue);

/**
 * Add a query. Everything it points to is copied.
 *
 * @return 0, or TL_TROUBLE when all must end
 */
int qr_queue_add(struct qr_queue *queue, const struct qr_query *query, const simidx_query *ask);

/** Answer what waits. Returns as qr_queue_add(). */
int qr_queue_flush(struct qr_queue *queue);

/** As qr_again(), for a call beside the queue: its reader is closed first. */
int qr_queue_again(struct qr_queue *queue, int rc, simidx_error *err);

/** Tell how many answers were cut. Returns whether there were any. */
int qr_queue_tell_cut(const struct qr_queue *queue);

/** Tell how much was found where there were many queries, to somebody who looks. */
void qr_queue_tell_sums(const struct qr_queue *queue);

/**
 * For in_reader_when_idle(), ctx being the queue: what waits is answered at once, and shown, so
 * that a program that sends a query and waits for the answer gets it.
 */
int qr_queue_idle(void *ctx, int fd);

#endif /* QR_QUEUE_H */

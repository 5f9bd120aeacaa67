/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Queries on their way through simidx_search_batch(): they are held until there are enough to
 * share work, or until no more come for now, and answered in their order.
 */

#ifndef QR_QUEUE_H
#define QR_QUEUE_H

#include "query/qr_ask.h"

/** A query that waits; names and weights lie in the bytes of the queue. */
struct qr_waiting {
	struct qr_query query;
	size_t name_at;      /* when query.name_size is not 0 */
	size_t weights_at;   /* when the query has weights */
};

struct qr_queue {
	struct qr_context *ctx;
	const struct qr_ask *ask;
	int explains;             /* print how each is looked up in place of what it finds */
	simidx_reader *reader;    /* to explain with */
	struct qr_waiting *waiting;
	simidx_query *queries;    /* of them */
	size_t n;
	size_t answered;          /* of these */
	size_t room;              /* that was allocated */
	size_t most;              /* to be held at once: less where answers take long */
	char *bytes;
	size_t n_bytes;
	size_t bytes_room;
	int code;                 /* TL_TROUBLE once something failed; no more is done then */
	int matched;              /* something was found */
	uint64_t n_cut;           /* answers that were cut */
	int cut;                  /* SIMIDX_CUT_ flags of all of them */
};

/** Begin; everything is borrowed. */
void qr_queue_init(struct qr_queue *queue, struct qr_context *ctx, const struct qr_ask *ask);

/** Free what waits. */
void qr_queue_free(struct qr_queue *queue);

/**
 * Add a query. Everything it points to is copied.
 *
 * @param query  its name; of size 0 to be called by its fingerprint
 * @return 0, or TL_TROUBLE when all must end
 */
int qr_queue_add(struct qr_queue *queue, const struct qr_query *query, const simidx_query *ask);

/** Answer what waits. Returns as qr_queue_add(). */
int qr_queue_flush(struct qr_queue *queue);

/** As qr_again(), for a call beside the queue: its reader is closed first. */
int qr_queue_again(struct qr_queue *queue, int rc, simidx_error *err);

/** Tell how many answers were cut. Returns whether there were any. */
int qr_queue_tell_cut(const struct qr_queue *queue);

/**
 * For in_reader_when_idle(), ctx being the queue: what waits is answered at once, and shown, so
 * that whoever sends a query and waits for the answer gets it.
 */
int qr_queue_idle(void *ctx, int fd);

#endif /* QR_QUEUE_H */

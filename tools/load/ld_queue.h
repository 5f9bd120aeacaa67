/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Texts on their way to the index: fingerprinted by several threads, handed on in the order in
 * which they came. The thread that reads also writes, so nothing else needs a lock.
 */

#ifndef LD_QUEUE_H
#define LD_QUEUE_H

#include "input/in_reader.h"
#include "load/ld_target.h"

/** Most items that are handed on together. */
#define LD_MOST_AHEAD 128

/** What reading came to, and what became of it. */
struct ld_item {
	enum in_result result;  /* IN_ROW, IN_REJECTED or IN_SKIPPED */
	struct in_row row;      /* IN_ROW */
	const char *reason;     /* otherwise */
	const char *path;       /* of the input */
	int is_path_label;      /* the row's label is our own idea: its path */
	int is_found;           /* in a directory: nobody has named this input */
	enum in_doubt doubt;    /* whether it is one text */
	uint64_t file;          /* number of the input, from 0 */
	uint64_t line;          /* 0 = the row is the whole file */
	uint64_t rows;          /* of this input up to here; 0 = there will be none of it */
	const char *kept;       /* the line of the row, its end included, if lines are kept */
	size_t kept_size;       /* 0 = none */
	/* filled in by the queue */
	int code;               /* 0 or a SIMIDX_E_ code */
	uint64_t fp, fp2;
	unsigned flags;         /* of simidx_sketch */
	uint8_t weights[64], weights2[64]; /* the same, if they were asked for */
	uint64_t bad_utf8;      /* of a text: number of the first byte that is not UTF-8, from 1;
				 * 0 = all is */
	char *error;            /* with a code; may be NULL when memory was short */
};

struct ld_queue;

/** Takes a finished item. Returns 0, or an exit code that ends the load. */
typedef int ld_take(void *ctx, const struct ld_item *item);

/**
 * Told of items that are about to be handed on, one by one, and stay until the last of them was.
 * Returns 0, or an exit code that ends the load.
 */
typedef int ld_ahead(void *ctx, const struct ld_item *items, size_t n);

/**
 * Start the threads, each with an extractor, unless no text can come.
 *
 * @param flags  of simidx_sketch_make()
 * @param ahead  is called before each batch of items; NULL: nothing is
 * @return NULL with a message
 */
struct ld_queue *ld_queue_new(struct ld_target *target, unsigned flags, ld_take *take,
			      ld_ahead *ahead, void *ctx);

/** Stop the threads; what was not handed on is lost. NULL is allowed. */
void ld_queue_free(struct ld_queue *queue);

/** Add a copy of an item; earlier ones may be handed on. Returns 0 or an exit code. */
int ld_queue_add(struct ld_queue *queue, const struct ld_item *item);

/** Hand on everything. Returns 0 or an exit code. */
int ld_queue_flush(struct ld_queue *queue);

/** Make the fingerprint of an item in this thread. */
void ld_item_sketch(struct ld_item *item, simidx_text *text, unsigned bits, unsigned flags);

/** Where it is, for messages and reports: valid until the next call. */
const char *ld_item_place(const struct ld_item *item);

/** Free what ld_item_sketch() left. */
void ld_item_clear(struct ld_item *item);

#endif /* LD_QUEUE_H */

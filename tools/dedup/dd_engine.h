/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Decides about one document after the other, in the order of the inputs: it is near to one that is
 * kept, or it is kept itself. Documents are gathered into batches, of which several threads make
 * the fingerprints, search them among what was kept before, and compare texts. Then each
 * document is searched once more, in its turn, among all that are kept, and most of what is to be
 * compared for it was compared by the threads.
 *
 * So neither the number of threads nor the size of batches changes the result: the candidates of a
 * document are those that its query finds among the documents kept before it, ordered by distance
 * and then by their place in the inputs. Of these the first 64 (DD_MOST_COMPARED), or all, are
 * compared, until one is similar enough; and beyond the 64, one of the same bytes
 * (dd_kept_crowd()).
 */

#ifndef DD_ENGINE_H
#define DD_ENGINE_H

#include "dedup/dd_document.h"
#include "dedup/dd_kept.h"
#include "dedup/dd_memory.h"
#include "dedup/dd_texts.h"

/** The similarity that fingerprints alone have decided, as there was no text. */
#define DD_BY_FP (-1.0)

/** A document that another one is near to. */
struct dd_near {
	uint64_t id;       /* in the index */
	uint64_t handle;   /* number among those kept in this run but empty ones, from 0;
	                      DD_EARLIER: of an earlier run */
	unsigned distance; /* as the query weighs it */
	double similarity; /* Jaccard, DD_BY_FP, or for bare fingerprints bits that differ */
};

/** What hears of the decisions, in the order of the inputs. Each returns 0 or an exit code. */
struct dd_listener {
	/** A document is kept (near = NULL), or near to one that is. */
	int (*decided)(void *ctx, const struct dd_document *document, const struct dd_near *near);
	/**
	 * In place of that, where all documents are kept: the `n` to which it is near, in their
	 * order.
	 */
	int (*paired)(void *ctx, const struct dd_document *document, const struct dd_near *near,
		      size_t n);
	/** All of a batch is decided, and is committed next. */
	int (*decided_all)(void *ctx);
	void *ctx;
};

struct dd_engine;

/**
 * Begin. Everything given is borrowed and must live longer.
 *
 * @param memory  how much the batch and the index may have
 * @param dir     for a private index
 * @return NULL with a message
 */
struct dd_engine *dd_engine_new(const struct dd_options *options, enum dd_kind kind,
				const struct dd_memory *memory, struct dd_files *files,
				const char *dir, const struct dd_listener *listener);

/** End; what was not decided is forgotten. NULL is allowed. */
void dd_engine_free(struct dd_engine *engine);

/** The index, and where texts lie. */
struct dd_kept *dd_engine_kept(struct dd_engine *engine);
struct dd_texts *dd_engine_texts(struct dd_engine *engine);

/** Add a copy of a document; those before may be decided. Returns 0 or an exit code. */
int dd_engine_add(struct dd_engine *engine, const struct dd_document *document);

/**
 * Decide about all that were added, and commit.
 *
 * @param is_complete  these were the last of all inputs: the index of --index says so from then on
 * @return 0 or an exit code
 */
int dd_engine_flush(struct dd_engine *engine, int is_complete);

/** Bytes that the texts of the documents that are kept need until the end, each of them. */
uint64_t dd_engine_bytes_kept(const struct dd_engine *engine);

/** What was counted. */
struct dd_counts {
	/* documents that were compared with DD_MOST_COMPARED others and had more */
	uint64_t exhausted;
	uint64_t empty;     /* texts without words, and rows without features */
	uint64_t not_utf8;  /* texts with bytes that are no UTF-8 */
	uint64_t most_bytes; /* that were needed for the candidates of a document and what it is
	                        near to, and of dd_kept_bytes() */
	/* comparisons for which an earlier text of this run was not there, and why */
	uint64_t gone[DD_N_AGAIN];
};

void dd_engine_count(const struct dd_engine *engine, struct dd_counts *counts);

#endif /* DD_ENGINE_H */

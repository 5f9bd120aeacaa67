/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_repair.h - a new index of what is sound in a damaged one.
 *
 * It is for the case that there is no backup (simidx_backup()) and that the documents cannot be
 * loaded again. Whether an index is damaged is told by simidx_verify(); what a commit mends by
 * itself needs no repair.
 */

#ifndef SIMIDX_REPAIR_H
#define SIMIDX_REPAIR_H

#include <simidx.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

/** What simidx_repair() tells. */
enum simidx_loss_kind {
	SIMIDX_LOSS_DAMAGE = 0,   /**< a block, row or record was passed over, as it is damaged */
	SIMIDX_LOSS_DOCUMENT = 1, /**< a document is lost; its id, its fingerprint or its label may
	                               be known */
	SIMIDX_LOSS_FP2 = 2,      /**< a document is there, but for its second fingerprint */
	SIMIDX_LOSS_LABEL = 3,    /**< a document is there, but for its label; or, without an id,
	                               the text has how many labels are lost of which no table says
	                               whose they are */
	SIMIDX_LOSS_DOUBT = 4,    /**< a document is there, but something of it is not certain */
	SIMIDX_LOSS_RECORD = 5,   /**< the profile or the mark is lost */
	SIMIDX_LOSS_CHANGES = 6,  /**< changes are lost that were not merged yet; the text has how
	                               many and their numbers. Where one of them was a touch, the
	                               document has an older time again */
	SIMIDX_LOSS_TIME = 7,     /**< a document is there, but its time is not known any more: it
	                               never expires, until it is touched */
	SIMIDX_LOSS_NOTE = 8      /**< a document is there, but for its note; or, without an id, the
	                               text has how many notes are lost of which nothing says whose
	                               they are */
};

#define SIMIDX_LOSS_HAS_FP 1u /**< fp is set */

/** One thing that is damaged, lost or not certain. Valid during the callback, like all in it. */
typedef struct simidx_loss {
	unsigned kind;     /**< enum simidx_loss_kind */
	unsigned flags;    /**< SIMIDX_LOSS_HAS_FP */
	const char *table; /**< the sub-database that is to blame, or NULL */
	const char *text;  /**< what it is, one line */
	uint64_t id;       /**< of the document, or SIMIDX_NO_ID */
	uint64_t fp;       /**< its fingerprint, if SIMIDX_LOSS_HAS_FP */
	unsigned bits;     /**< f */
	unsigned reserved; /**< zero */
	const char *label; /**< its label, not NUL-terminated; NULL if it is not known or has
	                        none */
	size_t label_size; /**< in bytes */
} simidx_loss;

/** How a repair works. */
typedef struct simidx_repair_options {
	size_t size;        /**< sizeof; SIMIDX_REPAIR_OPTIONS_INIT sets it */
	uint64_t memory;    /**< bytes to work in, at least 128 MiB; 0 = 1 GiB */
	const char *tmpdir; /**< directory of the temporary files; NULL = that of the new index */
	unsigned threads;   /**< 0 = one for each core; at most 2 are used */
	unsigned flags;     /**< SIMIDX_OPEN_STATIC, SIMIDX_OPEN_FORCE */
	/** Called now and then, as for simidx_set_progress(); may be NULL. */
	void (*progress)(void *ctx, const char *phase, uint64_t done, uint64_t total);
	/** Asked now and then: non-zero ends the repair with SIMIDX_E_STOPPED. May be NULL. */
	int (*stop)(void *ctx);
	void *ctx;          /**< passed to both */
} simidx_repair_options;

#define SIMIDX_REPAIR_OPTIONS_INIT \
	{ sizeof(simidx_repair_options), 0, NULL, 0, 0, NULL, NULL, NULL }

/** What a repair made, and how often it told what. */
typedef struct simidx_repair_report {
	size_t size;             /**< sizeof; SIMIDX_REPAIR_REPORT_INIT sets it */
	uint64_t documents;      /**< in the new index */
	uint64_t documents_lost; /**< that the header counts and no table has; without ids of
	                              fingerprints. While changes are lost, the most that can be: at
	                              least changes_lost */
	uint64_t damaged;        /**< _LOSS_DAMAGE */
	uint64_t named;          /**< _LOSS_DOCUMENT: a lost document may be named twice, once by
	                              its fingerprint and once by its id or label */
	uint64_t unknown_fp2;    /**< _LOSS_FP2 */
	uint64_t labels_lost;    /**< labels told of by _LOSS_LABEL, and those that the header
	                              counts and no table knows of, which it tells of together */
	uint64_t doubts;         /**< _LOSS_DOUBT */
	uint64_t records_lost;   /**< _LOSS_RECORD */
	uint64_t changes_lost;   /**< changes told of by _LOSS_CHANGES, as rows of the log: one for
	                              a document that was added or deleted, two for one that was
	                              replaced or touched. Not 0: each document that was deleted,
	                              replaced or touched by one of them may be as it was before */
	uint64_t times_lost;     /**< _LOSS_TIME */
	uint64_t notes_lost;     /**< _LOSS_NOTE, and those that it tells of together */
	uint64_t header_lost;    /**< 1: the header of the last commit is lost, which counts what
	                              there was. How many documents, labels and changes are lost is
	                              not known then, and documents_lost and changes_lost are 0 */
} simidx_repair_report;

#define SIMIDX_REPAIR_REPORT_INIT \
	{ sizeof(simidx_repair_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/**
 * Make a new index of all that is sound in a damaged one, which is only read.
 *
 * Each block or row is judged by itself, and what sound ones say is joined, whichever table they
 * are in: postings, docs and fresh rows have the documents, the permuted tables their fingerprints
 * once more. So a document that is damaged in one place is not lost. One that docs alone has comes
 * without its second fingerprint: the new index marks it as not known, and a search judges the
 * document by its first (simidx_query). Its time is not known then, either. A label is kept if it
 * has the hash that by_label or a fresh row says; where they say nothing it is kept too, and told
 * as a doubt.
 *
 * If tables disagree about the fingerprint of an id, docs is right if its count and digest are
 * those of the header; else the fingerprint that most tables say; among equals that of the fresh
 * row, then that of postings. What is not taken is told as a doubt.
 *
 * A page of an older commit in the place of a newer one looks sound. If docs is right, a document
 * that it does not have is none, whatever postings say: that is told as damage, with its id. If
 * there are more documents than the header counts, or rows of the log with numbers above those of
 * the header, that is told as a doubt without an id.
 *
 * Changes that are not merged yet stand in the log of fresh rows alone, and are numbered. Where
 * some are lost, which the numbers show, nothing else tells what they were: documents that they
 * added are lost, and those that they deleted or replaced may be as they were before, with the old
 * fingerprint, label or note, of which one may be of another time than the others. Each row that is
 * missing is told as SIMIDX_LOSS_CHANGES, and any document may be concerned.
 *
 * The new index has the options, the profile, the mark and the next id of the old one. Where the
 * profile or the mark is damaged it has none, which is told.
 *
 * Where pages of LMDB's trees are damaged, what lies below them is found among the pages that
 * nothing else uses. If one table alone is damaged these are its own. If several are, or the list
 * of tables, which LMDB keeps and which leads to all of them, checksums tell which table a block or
 * a row of documents is of. A label has none: it is taken if its hash is known, and else left out
 * and told as SIMIDX_LOSS_LABEL.
 *
 * A file may end early, wherever it was cut. If the headers are lost with its end, a copy of what
 * never changes, at the front of the file, tells what the index is, and header_lost is set. If the
 * list of free pages is lost, too, blocks of older commits look like those of the last one. They
 * count only where the trees of the last commit do not decide, and that is told as a doubt:
 * documents that were deleted may be there again, and others as they were before.
 *
 * Where a header page has a changed transaction number, so that LMDB takes an older
 * commit for the last one, the later one is read, and the number is told as damage.
 *
 * LMDB opens no file in which the marks of either header page are damaged. Then a copy beside
 * `destination`, which takes as much space as the old index, is repaired by the other page. That
 * may be of the commit before the last one, which is told as a doubt.
 *
 * @param path         the damaged index; others may have it open
 * @param destination  must not exist, or be an empty directory, and not be inside the old index;
 *                     appears only when the new index is complete and synced
 * @param options      NULL for the defaults
 * @param callback     called for each thing that is told, in no certain order; may be NULL
 * @param ctx          passed to it
 * @param out          may be NULL; what was told is counted also after an error
 * @return SIMIDX_OK, whatever is lost: see `out`; SIMIDX_E_CORRUPT: the file is so damaged that it
 *         cannot be opened, or no sound header is left, or neither the last one nor any document;
 *         the other codes of simidx_open(); those of simidx_loader_open() and
 *         simidx_loader_finish() for the new index, such as SIMIDX_E_EXISTS and SIMIDX_E_NO_SPACE;
 *         SIMIDX_E_STOPPED
 *
 * Cost: that of building the new index with simidx_loader_finish(), and reads the old one once or
 * twice; temporary space of O(1) a document and the notes besides. It pins a snapshot meanwhile.
 */
int simidx_repair(const char *path, const char *destination, const simidx_repair_options *options,
		  void (*callback)(void *ctx, const simidx_loss *loss), void *ctx,
		  simidx_repair_report *out, simidx_error *err) SIMIDX_CHECK_RESULT;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_REPAIR_H */

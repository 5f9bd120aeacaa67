/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bulk loader, shared by its files. What is put goes through two external sorts:
 *
 *   by id                   drops duplicates; writes docs and labels
 *   by (fingerprint, id)    writes postings and the list of distinct fingerprints
 *
 * and each permuted table is made from that list by a stable sort by its prefix. Indexes whose
 * documents are taken over are walked in the order of ids, beside the first sort.
 */

#ifndef SX_LOADER_H
#define SX_LOADER_H

#include "index/sx_index.h"
#include "table/sx_append.h"
#include "util/sx_sorter.h"
#include "util/sx_spill.h"

#define SX_MAX_SOURCES 256

/** A document that is left out because of its label, or of its id if there are such labels. */
typedef struct sx_loader_drop {
	uint64_t source; /* number of the index it is in; n_sources: it was put */
	uint64_t key;    /* its id there, or its row */
} sx_loader_drop;

struct simidx_loader {
	simidx_loader_options options;
	size_t memory;
	int wait_ms;               /* that others may still take; -1 = for ever */
	char *path, *dir, *tmpdir; /* target; where the index is built; of temporary files */
	int claim_fd;              /* the lock of `dir` until its store has it; or -1 */
	unsigned mode;             /* of the files */
	simidx *old;               /* the index at the path, whose write lock is held; or NULL */
	int locked;
	simidx_create_options create; /* of the new index; what it points to is owned */
	int is_merge;                 /* the exchange replaces `old` */
	simidx *index;                /* the new one, open in `dir` */
	simidx_walk *source[SX_MAX_SOURCES]; /* snapshots of what is taken over */
	size_t n_sources;
	uint64_t n_source_documents, n_source_labels;

	uint64_t n_rows, next_id;
	sx_sorter *by_id;        /* id, row, fingerprint, second fingerprint if there are such */
	sx_sorter *label_rows;   /* id, row, place in label_bytes: of rows with a label */
	sx_sorter *label_hashes; /* hash, source, id or row, place: to find labels used twice */
	sx_spill *label_bytes;   /* length (8 bytes), bytes */
	int by_id_is_sorted;     /* by_id has been finished, and rewound */
	sx_loader_drop *drop;    /* sorted */
	size_t n_drops;
	int broken; /* a temporary file failed, so that what was put is not complete; or finished */

	sx_sorter *by_fp;       /* fingerprint, id, second fingerprint; or fingerprint alone */
	sx_sorter *by_label;    /* hash, id */
	sx_spill *distinct;     /* frames of fingerprints, ascending */
	sx_spill *spare;        /* a temporary file that is not needed any more */
	uint64_t n_distinct, distinct_digest;
	sx_txn *txn;
	uint64_t pages; /* written in it, about */
	sx_header header;
	unsigned char mark[SIMIDX_MAX_MARK]; /* of the new index */
	size_t mark_size;                    /* 0 = none */
	simidx_loader_report report;
};

/** SIMIDX_E_STOPPED if the caller asks for it. */
int sx_loader_check_stop(const simidx_loader *loader, simidx_error *err);

/** Report progress, if anybody listens; then as sx_loader_check_stop(). */
int sx_loader_progress(const simidx_loader *loader, const char *phase, uint64_t done,
		       uint64_t total, simidx_error *err);

/**
 * Commit and begin again when much was written since the last commit: *written, of which so many
 * fill a page. What is less than a page stays there.
 */
int sx_loader_pace(simidx_loader *loader, uint64_t *written, uint64_t a_page, simidx_error *err);

/** Append rows as sx_append_rows(), and pace. */
int sx_loader_append(simidx_loader *loader, sx_append *append, const uint64_t *record, size_t n,
		     simidx_error *err);

/** sx_loader_space.c: SIMIDX_E_NO_SPACE if what is there for sure will not fit. */
int sx_loader_check_space(const simidx_loader *loader, simidx_error *err);

/** sx_loader_labels.c: find the documents that are left out because of a label. */
int sx_loader_find_drops(simidx_loader *loader, simidx_error *err);

/** Whether a document was found so. */
int sx_loader_is_dropped(const simidx_loader *loader, uint64_t source, uint64_t key);

/** Read a label that was put. *label is resized; the caller frees it. */
int sx_loader_label(simidx_loader *loader, uint64_t at, unsigned char **label, size_t *cap,
		    size_t *size, simidx_error *err);

/** sx_loader_docs.c: call see() for all documents in the order of (id, source, row). */
int sx_loader_each_id(simidx_loader *loader,
		      int (*see)(void *ctx, uint64_t id, uint64_t source, uint64_t key), void *ctx,
		      simidx_error *err);

/** sx_loader_docs.c: docs and labels; fills by_fp and by_label. */
int sx_loader_write_docs(simidx_loader *loader, simidx_error *err);

/** sx_loader_tables.c: postings, by_label and the permuted tables. */
int sx_loader_write_tables(simidx_loader *loader, simidx_error *err);

#endif /* SX_LOADER_H */

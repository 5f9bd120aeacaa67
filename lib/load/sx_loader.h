/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bulk loader, shared by its files. What is put goes through two external sorts:
 *
 *   by id                   drops duplicates; writes docs and labels
 *   by (fingerprint, id)    writes postings and the list of distinct fingerprints
 *
 * and each permuted table is made from that list by a stable sort by its prefix; the first one
 * of a plan is in the order of the list. Indexes whose documents are taken over are walked in the
 * order of ids, beside the first sort. Documents that a shared label leaves out are found first.
 */

#ifndef SX_LOADER_H
#define SX_LOADER_H

#include <simidx_admin.h>
#include <simidx_load.h>

#include "index/sx_create.h"
#include "index/sx_documents.h"
#include "index/sx_publish.h"
#include "index/sx_walk.h"
#include "table/sx_append.h"
#include "util/sx_sorter.h"
#include "util/sx_spill.h"

#define SX_MAX_SOURCES 256

/** Bytes of a label, copied. */
typedef struct sx_loader_bytes {
	unsigned char *at; /* the owner frees it */
	size_t size, cap;
} sx_loader_bytes;

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
	sx_sorter *label_rows;   /* id, row, where the label is: of rows with a label */
	sx_sorter *label_hashes; /* hash, source, id or row, where, id: to find shared labels */
	sx_spill *label_bytes;   /* one label after another */
	int by_id_is_sorted;     /* by_id has been finished, and rewound */
	sx_sorter *drops;        /* id, sx_loader_order(): what is left out; or NULL */
	int broken; /* a temporary file failed, so that what was put is not complete; or finished */

	sx_sorter *by_fp;       /* fingerprint, id, second fingerprint; or fingerprint alone */
	sx_sorter *by_label;    /* hash, id */
	sx_spill *distinct;     /* frames of fingerprints, ascending */
	sx_spill *spare;        /* a temporary file that is not needed any more */
	uint64_t n_distinct, distinct_digest;
	sx_txn *txn;
	uint64_t pages; /* written in it, about */
	sx_header header;
	sx_mark mark; /* of the new index */
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

/** Where temporary files are made. */
static inline const char *sx_loader_tmpdir(const simidx_loader *loader)
{
	return loader->tmpdir ? loader->tmpdir : loader->dir;
}

/** sx_loader_labels.c: keep the label of what is put until its document's turn comes. */
int sx_loader_put_label(simidx_loader *loader, const simidx_doc *doc, uint64_t id,
			simidx_error *err);

/** Read a label that was put; `where` is that of label_rows. */
int sx_loader_label(simidx_loader *loader, uint64_t where, sx_loader_bytes *label,
		    simidx_error *err);

/**
 * The order of the documents that have one id: those of the sources, of which each has one at
 * most, and then what was put. `key` is the row of what was put.
 */
uint64_t sx_loader_order(const simidx_loader *loader, uint64_t source, uint64_t key);

/**
 * Find the documents that are left out because of their label, or of their id where another one
 * with that id has such a label. What has an id twice and no label that is shared is left to
 * sx_loader_write_docs(). Linear.
 */
int sx_loader_find_drops(simidx_loader *loader, simidx_error *err);

/**
 * sx_loader_docs.c: call see() for all documents in the order of (id, source, row). `key` is the
 * id of a document of a source, and the row of what was put.
 */
int sx_loader_each_id(simidx_loader *loader,
		      int (*see)(void *ctx, uint64_t id, uint64_t source, uint64_t key), void *ctx,
		      simidx_error *err);

/** sx_loader_docs.c: docs and labels; fills by_fp and by_label. */
int sx_loader_write_docs(simidx_loader *loader, simidx_error *err);

/** sx_loader_tables.c: postings, by_label and the permuted tables. */
int sx_loader_write_tables(simidx_loader *loader, simidx_error *err);

#endif /* SX_LOADER_H */

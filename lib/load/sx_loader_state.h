/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The bulk loader's state, and what all of its steps do: ask whether to stop, report progress,
 * commit in time. What is put goes through two external sorts:
 *
 *   by id                   rejects duplicates; writes docs, labels and notes
 *   by (fingerprint, id)    writes postings and the list of distinct fingerprints
 *
 * and each permuted table is made from that list by a stable sort by its prefix; the first one
 * of a plan is in the order of the list. Indexes whose documents are taken over are walked in the
 * order of ids, beside the first sort. Documents that a shared label leaves out are found first.
 *
 * The steps, each a module that knows those above it: documents, duplicates, tables, space; the
 * public functions (sx_loader.c) call them in turn.
 */

#ifndef SX_LOADER_STATE_H
#define SX_LOADER_STATE_H

#include <simidx_load.h>
#include <simidx_walk.h>

#include "index/sx_index.h"
#include "table/sx_table_append.h"
#include "util/sx_sorter.h"
#include "util/sx_spill.h"

#define SX_MAX_SOURCES 256

/** Where the new index is made, and what it is to be. */
typedef struct sx_loader_target {
	char *path, *dir, *tmpdir; /* target; where the index is built; of temporary files */
	int claim_fd;              /* the lock of `dir` until its store has it; or -1 */
	simidx *old;               /* the index at the path, whose write lock is held; or NULL */
	int locked;
	simidx_create_options create; /* of the new index; what it points to is owned */
	int is_merge;                 /* the exchange replaces `old` */
	uint64_t next_seq;            /* of `old`; 0 without ids */
	simidx *index;                /* the new one, open in `dir` */
} sx_loader_target;

/** Snapshots of the indexes that are taken over. */
typedef struct sx_loader_sources {
	simidx_walk *walk[SX_MAX_SOURCES];
	const simidx *index[SX_MAX_SOURCES];
	size_t n;
	uint64_t documents, labels; /* of all */
	uint64_t bytes_apart;       /* of the labels and notes of all, with their pages */
} sx_loader_sources;

/** What was put. In an index without ids it goes to output.by_fp at once, and by_id is NULL. */
typedef struct sx_loader_input {
	sx_sorter *by_id; /* id, row, fingerprint, optional columns */
	int is_sorted;    /* by_id has been finished, and rewound */
	sx_sorter *label_rows;   /* id, row, where the label is: of rows with a label */
	sx_sorter *label_hashes; /* hash, source, id or row, where, id: to find shared labels */
	sx_spill *label_bytes;   /* one label after another */
	sx_sorter *rejected;     /* id, sx_loader_order(): documents left out by labels; or NULL */
	sx_sorter *note_rows;    /* id, row, where the note is, its size; NULL without notes */
	sx_spill *note_bytes;    /* one note after another */
} sx_loader_input;

/** What the new index is made of. */
typedef struct sx_loader_output {
	sx_sorter *by_fp;    /* fingerprint, id, optional columns; or fingerprint alone */
	sx_sorter *by_label; /* hash, id */
	sx_spill *distinct;  /* frames of fingerprints, ascending */
	sx_spill *spill;     /* a temporary file that is free to be written again */
	uint64_t n_distinct, distinct_digest;
	sx_txn *txn;
	uint64_t pages; /* written in it, about */
	sx_header header;
	sx_mark mark;
	simidx_loader_report report;
} sx_loader_output;

struct simidx_loader {
	simidx_loader_options options;
	size_t memory;
	int wait_ms; /* how long it still waits for other processes; -1 = without limit */
	sx_loader_target target;
	sx_loader_sources sources;
	uint64_t n_rows, next_id;
	uint32_t now; /* when it was opened */
	int is_unknown; /* it may be in its place, and then what was there is in target.dir */
	uint64_t unknown_fp2; /* what stands for a second fingerprint that is not known */
	int has_unknown_fp2;  /* some document lacks it */
	int verifies;       /* the new index, before it is put in its place */
	uint64_t new_bytes; /* size of its file; set by verifying */
	int broken; /* a temporary file failed, so that what was put is not complete; or finished */
	sx_loader_input input;
	sx_loader_output output;
};

/** SIMIDX_E_STOPPED if the caller asks for it. */
int sx_loader_check_stop(const simidx_loader *loader, simidx_error *err);

/** SIMIDX_E_STATE if it was finished, or an earlier call has failed. */
int sx_loader_check_open(const simidx_loader *loader, simidx_error *err);

/** Put the path of source `i` in front of an error that says that it is damaged; returns rc. */
int sx_loader_blame(const simidx_loader *loader, size_t i, int rc, simidx_error *err);

/** Report progress, if the caller listens; then as sx_loader_check_stop(). */
int sx_loader_progress(const simidx_loader *loader, const char *phase, uint64_t done,
		       uint64_t total, simidx_error *err);

/**
 * Commit and begin again when much was written since the last commit: *written, of which `a_page`
 * fill a page. What is less than a page stays there.
 */
int sx_loader_pace(simidx_loader *loader, uint64_t *written, uint64_t a_page, simidx_error *err);

/** Append rows as sx_append_rows(), and pace. */
int sx_loader_append(simidx_loader *loader, sx_append *append, const uint64_t *record, size_t n,
		     simidx_error *err);

/** Where temporary files are made. */
static inline const char *sx_loader_tmpdir(const simidx_loader *loader)
{
	return loader->target.tmpdir ? loader->target.tmpdir : loader->target.dir;
}

/** Where documents that are put go: by_id, or without ids by_fp. */
static inline sx_sorter *sx_loader_put_sorter(const simidx_loader *loader)
{
	return loader->input.by_id ? loader->input.by_id : loader->output.by_fp;
}

/**
 * Count a document that is left out because its label, or with `by_id` its id, is in use, and
 * tell the caller if it was put and duplicates are rejected.
 *
 * @param source  number of its source; that of what was put is sources.n
 * @param row     of what was put
 */
void sx_loader_reject(simidx_loader *loader, uint64_t id, uint64_t source, uint64_t row, int by_id);

#endif /* SX_LOADER_STATE_H */

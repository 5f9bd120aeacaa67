/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The state of a repair, and telling the caller what is damaged or lost.
 *
 * A repair reads what is sound in all tables of an index, whatever stands beside it, into sorters.
 * It reads the pages of the file by itself, because LMDB may not survive a damaged one:
 *
 *   documents   id, which table says so, fingerprint, hash of the label in fresh, optional columns
 *   labels      id, where its label lies in a file, and its size
 *   hashes      id, the hash that its label must have
 *   notes       id, where its note lies in a file, and its size
 *
 *   fingerprints  of the permuted tables
 *
 * and joins all but the fingerprints by the id. What comes of it is put into a bulk loader, which
 * builds the new index and puts it in its place. Fingerprints that no document has belong to
 * documents that are lost; in an index without ids they are all there is.
 */

#ifndef SX_REPAIR_STATE_H
#define SX_REPAIR_STATE_H

#include <simidx_load.h>
#include <simidx_repair.h>

#include "index/sx_index.h"
#include "store/sx_page_check.h"
#include "util/sx_sorter.h"

/** Who says which fingerprint an id has: the smaller number is believed first. */
enum sx_repair_source { SX_REPAIR_FRESH, SX_REPAIR_POSTINGS, SX_REPAIR_DOCS };

/*
 * What a record of the documents has in its place: SX_REPAIR_SOURCE and the source; of a fresh row,
 * how many rows came after it, and its operation. So the last fresh row about an id comes first,
 * and what it says counts more than what the tables do.
 */
#define SX_REPAIR_SOURCE (UINT64_MAX - SX_REPAIR_DOCS)
#define SX_REPAIR_OP_BITS 6
#define SX_REPAIR_MAX_SEQ ((uint64_t)1 << 57) /* sequence numbers are below it */
#define SX_REPAIR_VALUES 4 /* where the optional columns begin in it */

/*
 * Beside the size of a label in its record: it was found where any table may have it, and counts
 * only if it has the right hash.
 */
#define SX_REPAIR_LABEL_FOUND ((uint64_t)1 << 32)

_Static_assert(SX_REPAIR_VALUES + SX_MAX_COLUMNS <= SX_SORT_MAX_WORDS, "a record can be sorted");

/** What was read of a table. */
typedef struct sx_repair_tally {
	uint64_t rows, digest;
} sx_repair_tally;

/** Those that are sound: sx_repair_notes.h */
typedef struct sx_repair_notes {
	sx_sorter *sorted;    /* NULL: the index keeps none */
	sx_spill *bytes;
	const uint64_t *next; /* record of `sorted`, NULL after the last one */
	uint64_t *met;        /* some of the hashes of those that were read: sx_repair_notes.c */
	unsigned char *note;  /* of the document at hand */
	size_t cap;
	uint64_t taken;       /* by documents */
} sx_repair_notes;

typedef struct sx_repair {
	const simidx_repair_options *options;
	void (*callback)(void *ctx, const simidx_loss *loss);
	void *ctx;
	simidx_repair_report report;
	sx_txn *txn;          /* the snapshot that is read; LMDB reads nothing in it */
	sx_page_roots roots;  /* of it */
	/* the first one in the tree of tables, which leads to all others */
	char tables_problem[200];
	sx_page_reading reading; /* whose it is that is handed over at the moment */
	int has_old_pages; /* something came from pages of any commit */
	sx_header header;
	int is_header_old; /* it need not be that of the last commit: its counts mean nothing */
	sx_mark mark;
	simidx *old;          /* what the header says it is */
	simidx_loader *loader;
	size_t memory;        /* for sorters */
	const char *tmpdir;   /* of their files */
	sx_sorter *documents, *labels, *hashes, *fingerprints;
	sx_sorter *changes;    /* the sequence numbers of the fresh rows, and which ones delete */
	sx_spill *label_bytes; /* one label after another */
	sx_repair_notes notes;
	unsigned n_joined;     /* tables that the fingerprints are from */
	int has_all_fresh;     /* no fresh row is lost */
	uint64_t deletions_lost; /* of the fresh rows that are lost, at most */
	int has_later_rows;    /* some have numbers above those that the header knows */
	int has_all_documents; /* tables that are whole say which documents there are */
	int has_whole_docs;
	int has_unknown_fp2;   /* the old index has documents without a second fingerprint */
	uint64_t unknown_fp2;  /* what stands for it, in the new one too */
	uint64_t read;         /* keys of the store, for progress */
	simidx_error *err;
} sx_repair;

/** The header that decides, once it was read. */
static inline const sx_header *sx_repair_header(const sx_repair *repair)
{
	return &repair->header;
}

static inline const simidx *sx_repair_old(const sx_repair *repair)
{
	return repair->old;
}

/** Whether what is handed over may be another table's. Then damage is not reported. */
static inline int sx_repair_is_found(const sx_repair *repair)
{
	return repair->reading.whose != SX_PAGES_OWN;
}

/** Tell the caller of a loss; what is not set in it counts as unknown. Counts it in the report. */
void sx_repair_tell(sx_repair *repair, simidx_loss *loss, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Tell that something in a table is damaged. */
void sx_repair_tell_damage(sx_repair *repair, const char *table, const char *text);

/** Tell that a record of table meta is lost. */
void sx_repair_tell_record(sx_repair *repair, const char *text);

/** Free the sorters. */
void sx_repair_free_sorters(sx_repair *repair);

/** Report progress now and then; SIMIDX_E_STOPPED if the caller asks for it. */
int sx_repair_progress(sx_repair *repair, const char *phase);

#endif /* SX_REPAIR_STATE_H */

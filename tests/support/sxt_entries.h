/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is in an index's file, and in which pages: a reader of LMDB's pages, blocks and rows that
 * was written from doc/format.md and shares no code with the library. The plan is 4x16, with 64
 * bits.
 */

#ifndef SXT_ENTRIES_H
#define SXT_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

/**
 * Numbers of tables: the permuted ones have theirs from 1 on, and those from labels on none in the
 * format.
 */
enum { SXT_POSTINGS = 101, SXT_DOCS, SXT_FRESH, SXT_LABELS, SXT_BY_LABEL, SXT_NOTES };

/** An entry of the last commit. */
typedef struct sxt_entry {
	unsigned table;
	uint64_t id;   /* of permuted tables the fingerprint */
	uint64_t fp;   /* of postings and fresh */
	uint64_t seq;  /* of fresh */
	int is_delete; /* the same */
	/* of the page that it is in, in bytes: of blocks and long values their own */
	size_t end;
} sxt_entry;

/**
 * Read all entries of a sound file.
 *
 * @param values  optional columns of its documents
 * @return freed by the caller
 */
sxt_entry *sxt_entries_read(const unsigned char *file, unsigned values, size_t *n);

#endif /* SXT_ENTRIES_H */

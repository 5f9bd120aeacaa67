/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Repairing an index in which some blocks or rows have changed. What each of them holds is known
 * before the damage; so is what must be left: a document that stands in one that is sound. The new
 * index is compared with that, and what was told with what is missing.
 */

#ifndef SXT_REPAIR_H
#define SXT_REPAIR_H

#include <simidx_repair.h>

#include "support/sxt_model.h"

/** Where a document is found: bits of t_where[]. */
#define IN_POSTINGS 1u
#define IN_DOCS 2u
#define IN_FRESH 4u
#define IN_TABLES 8u /* its fingerprint */
#define IN_LABELS 16u
#define IN_BY_LABEL 32u /* or its hash in a fresh row */

#define T_DOCUMENTS 3000
#define T_MERGED 2200 /* of them; the others stay fresh */

/*
 * The address sanitizer makes the memory of sorters so dear that a repair takes seconds. It gets
 * the first quarter of each kind.
 */
#ifdef __SANITIZE_ADDRESS__
#define T_SOME(n) (((n) + 3) / 4)
#else
#define T_SOME(n) (n)
#endif

/** A block or row of an index. */
typedef struct t_entry {
	unsigned where; /* IN_ */
	char *table;
	uint64_t *key; /* the ids of its documents; of tables the fingerprints */
	size_t n;
	unsigned char *bytes; /* what stands in the file */
	size_t size, from, to; /* these may be changed */
	unsigned char head[2 + 16]; /* its key, with the size of that before it */
	size_t head_size;
	int is_damaged;
} t_entry;

/** Something that a repair told. */
typedef struct t_told {
	unsigned kind;
	uint64_t id, fp;
	int has_fp;
	size_t label_size;
	char label[32];
} t_told;

/* The index at t_path: its documents, ordered by id, and its blocks or rows. */
extern sxt_model t_model;
extern sxt_rng t_rng;
extern unsigned *t_where; /* of each document, in what is sound: t_find_left() */
extern t_entry *t_entries;
extern size_t t_n_entries;
extern unsigned t_flags, t_layout;

extern t_told t_told_at[];
extern size_t t_n_told;

/** For SXT_SUITE(). */
void t_repair_set_up(void);
void t_repair_tear_down(void);

/**
 * Make an index at t_path. Kind: bit 0 rows; 2 with second fingerprints and times, 4 without ids, 6
 * with times alone.
 */
void t_repair_begin(int kind);

/** Change a byte of an entry where it lies in the file. */
void t_damage_entry(t_entry *entry);

/** Damage one entry of a kind, of one table alone if `table` is not NULL. Returns it. */
t_entry *t_damage(unsigned in, const char *table);

/** Let two entries that are blocks change places. They count as damaged. */
void t_swap_entries(t_entry *a, t_entry *b);

/**
 * Damage the header of the page of LMDB's tree that has the key of some entry of a kind. Rows in it
 * count as damaged; blocks do not, as long as nothing else of the index is.
 */
void t_damage_leaf(unsigned in, const char *table);

/** The same of a certain entry. */
void t_damage_leaf_of(const t_entry *entry);

/** Change byte `at` of what t_entry.bytes has; the entry does not count as damaged. */
void t_change_entry(const t_entry *e, size_t at, unsigned char bits);

/** Read anew what is in the index at t_path. */
void t_read_entries_again(void);

/** Change a byte of the file. */
void t_change_file(size_t at, unsigned char bits);

/** Rows of the log that cannot be read any more. In blocks an entry has many of them. */
static inline uint64_t t_damaged_changes(void)
{
	uint64_t n = 0;

	for (size_t i = 0; i < t_n_entries; i++)
		n += t_entries[i].where == IN_FRESH && t_entries[i].is_damaged ? t_entries[i].n : 0;
	return n;
}

/** The place of a document in t_model. */
size_t t_find_doc(uint64_t id);

/** Set t_where by the entries that are sound. */
void t_find_left(void);

/** Whether a document must be left. */
int t_is_left(size_t d);

/** Whether it has its optional columns, a second fingerprint, its label. */
static inline int t_has_values(size_t d)
{
	return (t_where[d] & (IN_POSTINGS | IN_FRESH)) != 0;
}

static inline int t_has_fp2(size_t d)
{
	return t_flags & SIMIDX_CREATE_FP2 && t_has_values(d);
}

static inline int t_has_label(size_t d)
{
	return t_model.at[d].label_size && t_where[d] & IN_LABELS;
}

/** A callback for simidx_repair(). */
void t_tell(void *ctx, const simidx_loss *loss);

/** How often something was told, of one document or of all (SIMIDX_NO_ID). */
size_t t_count_told(unsigned kind, uint64_t id);

/** Repair, and compare all that comes of it with what is expected. */
simidx_repair_report t_check_repair(void);

#endif /* SXT_REPAIR_H */

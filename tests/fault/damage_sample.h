/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Sound indexes for the damage harness: the data file after each of the last commits, and what
 * an index must answer, by a linear scan over the documents that were put.
 *
 * Documents are only ever added, so the content of a commit is a number n: the first n documents.
 * A set of commits is a mask: bit i stands for commit number i.
 */

#ifndef DAMAGE_SAMPLE_H
#define DAMAGE_SAMPLE_H

#include <simidx.h>

#include "support/sxt_model.h"

#define DMG_MAX_COMMITS 64
#define DMG_MAX_IMAGES 16
#define DMG_QUERIES 8

/** What an index is like. */
typedef struct dmg_form {
	const char *plan;
	unsigned layout, flags, bits, fill;
	unsigned merged; /* documents that are merged in the end */
	unsigned fresh;  /* documents that are not */
	unsigned commits; /* that put the merged ones, each followed by a merge */
	int half_merged; /* merges were killed in the midst, after the last of these commits */
} dmg_form;

typedef struct dmg_doc {
	uint64_t id, fp, fp2; /* the id is SIMIDX_NO_ID, fp2 is 0 where the index has none */
	const char *label;    /* NULL = none */
	size_t label_size;
} dmg_doc;

/** The data file after a commit. In shared memory, which a fork does not copy. */
typedef struct dmg_image {
	unsigned char *data;
	size_t size;
	unsigned commit; /* what it holds */
} dmg_image;

typedef struct dmg_sample {
	const dmg_form *form;
	dmg_doc *docs;
	size_t n_docs, cap;
	size_t commits[DMG_MAX_COMMITS]; /* documents in each, ascending */
	unsigned n_commits;
	dmg_image images[DMG_MAX_IMAGES]; /* from the oldest to the newest */
	unsigned n_images;
	uint64_t queries[DMG_QUERIES];
	uint64_t *sums; /* sums[n]: of the hashes of the first n documents */
} dmg_sample;

#define DMG_N_FORMS 14
extern const dmg_form dmg_forms[DMG_N_FORMS];

/** Whether its documents have ids. */
int dmg_has_ids(const dmg_sample *sample);

/** Make the sample of a form; random numbers of the run's seed. Works in `dir`. */
void dmg_sample_make(dmg_sample *sample, const dmg_form *form, const char *dir);

/** A hash of all that a document is, for sums that do not depend on the order. */
uint64_t dmg_doc_hash(const dmg_doc *doc);

/** Whether `match` is this document, its label included if `with_label`. */
int dmg_is_doc(const dmg_sample *sample, const dmg_doc *doc, const simidx_match *match,
	       int with_label);

/** All commits. */
uint64_t dmg_all_commits(const dmg_sample *sample);

/** The commits in which document i is, or those in which it is not. */
uint64_t dmg_commits_with(const dmg_sample *sample, size_t i, int is_there);

/** The commits with `n` documents whose hashes have this sum. */
uint64_t dmg_commits_of_sum(const dmg_sample *sample, size_t n, uint64_t sum);

/** The commits in which this is the whole answer to a search of Hamming distance `radius`. */
uint64_t dmg_commits_of_answer(const dmg_sample *sample, uint64_t query, unsigned radius,
			       const simidx_results *results, int with_labels);

/** The number of the document with this id, or without ids this fingerprint; n_docs if none. */
size_t dmg_find_doc(const dmg_sample *sample, uint64_t id, uint64_t fp);

#endif /* DAMAGE_SAMPLE_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A model of an index: an array of documents and a linear scan over it. Tests put the same
 * documents into both and compare the answers.
 *
 * Preparations end the process when they fail, so that they can be used in children; what
 * begins with sxt_check_ makes assertions, and belongs to the test's own process.
 */

#ifndef SXT_MODEL_H
#define SXT_MODEL_H

#include "support/sxt.h"
#include "support/sxt_proc.h"

/* ------------------------------------------------------------------------------------------
 * Indexes
 */

/** Make an index; `options` may be NULL. The map is small, as hundreds are made in a run. */
simidx *sxt_create(const char *path, const simidx_create_options *options);

simidx *sxt_open(const char *path, unsigned flags);

simidx_reader *sxt_reader(simidx *index);

/** A writer that does not wait for the disk; `threshold` 0 = it merges only when told to. */
simidx_writer *sxt_writer(simidx *index, uint64_t threshold);

void sxt_commit(simidx_writer *writer);

/** Merge everything, with a writer of its own. */
void sxt_merge(simidx *index);

/* ------------------------------------------------------------------------------------------
 * Documents
 */

typedef struct sxt_doc {
	uint64_t id, fp, fp2;
	int id_given;      /* else the index chooses the id, and must choose this one */
	int lacks_fp2;     /* its second fingerprint is not known; then fp2 is 0 */
	uint32_t time;     /* 0 = unknown */
	size_t label_size; /* 0 = no label */
	char label[32];
} sxt_doc;

typedef struct sxt_model {
	unsigned bits;
	unsigned flags; /* SIMIDX_CREATE_NO_IDS, _FP2, _TIMES */
	int has_triples; /* second fingerprints are made from other features than the first */
	sxt_doc *at;
	size_t n, cap;
	uint64_t next_id;
	uint64_t free_id; /* one below next_id, or SIMIDX_NO_ID */
} sxt_model;

void sxt_model_init(sxt_model *model, unsigned bits, unsigned flags);

void sxt_model_free(sxt_model *model);

/**
 * Append a document. Its id is chosen so that ids are given and left open, ascending and not;
 * every third has a label, and all have second fingerprints, and times of 0 to 999, if the flags
 * say so.
 */
void sxt_model_add(sxt_model *model, uint64_t fp, sxt_rng *rng);

/** Bring the documents into another order. Before any of them is put. */
void sxt_model_shuffle(sxt_model *model, sxt_rng *rng);

/** Put documents [from, to), without a commit. */
void sxt_model_put(const sxt_model *model, size_t from, size_t to, simidx_writer *writer);

/** Put and commit them, with a writer of its own that never merges. */
void sxt_model_store(const sxt_model *model, size_t from, size_t to, simidx *index);

/* ------------------------------------------------------------------------------------------
 * Answers
 */

typedef struct sxt_hit {
	unsigned distance;
	const sxt_doc *doc;
} sxt_hit;

/** What a search among the first `n` documents must return, all of it. Freed by the caller. */
sxt_hit *sxt_model_near(const sxt_model *model, size_t n, uint64_t query, unsigned k,
			size_t *n_hits);

/** Search with one limit, and compare. */
void sxt_check_limit(const sxt_model *model, const sxt_hit *hits, size_t n_hits,
		     simidx_reader *reader, const simidx_query *query);

/** Search among the first `n` documents with all limits that matter. */
void sxt_check_search(const sxt_model *model, size_t n, simidx_reader *reader, uint64_t query,
		      unsigned k);

/** Everything else: counts, the walk, look-ups by id and label, verification. */
void sxt_check_content(const sxt_model *model, size_t n, simidx *index);

/** Verify; a problem fails the test with its text. */
void sxt_check_sound(simidx *index);

#endif /* SXT_MODEL_H */

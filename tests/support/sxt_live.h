/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A model of an index that lives: documents in an array, as they are committed and as a writer has
 * them pending. Random steps change model and index alike; what the index returns and finds is
 * compared with the model, which looks at every document. Steps depend on the model alone, so that
 * a model without an index can follow one that was killed.
 */

#ifndef SXT_LIVE_H
#define SXT_LIVE_H

#include "support/sxt.h"
#include "support/sxt_fixture.h"
#include "support/sxt_model.h"

/** A document; all zero after what is used of the label, so that bytes can be compared. */
typedef struct sxt_live_doc {
	uint64_t id, fp, fp2;
	size_t label_size; /* 0 = no label */
	uint32_t time;     /* 0 = unknown */
	uint32_t note;     /* what its note is made of; 0 = it has none */
	char label[24];
} sxt_live_doc;

typedef struct sxt_live_set {
	sxt_live_doc *at; /* in no order */
	size_t n, cap;
	uint64_t next_id;
} sxt_live_set;

typedef struct sxt_live {
	unsigned bits;
	unsigned flags;  /* SIMIDX_CREATE_NO_IDS, _FP2, _TIMES, _NOTES */
	size_t max;      /* documents that there are to be, nearly */
	sxt_live_set stored, now;
	uint64_t changes;  /* pending ones */
	uint64_t commits;  /* so far: the mark of each */
	uint64_t centre[16]; /* fingerprints lie around these */
	sxt_rng rng;     /* of the steps */
	sxt_rng asks;    /* of the queries */
	/* Told before each commit, of which `commits` is the number then; may be NULL. */
	void (*before_commit)(const struct sxt_live *live);
} sxt_live;

/** An empty one. `stream` chooses the random numbers. */
void sxt_live_init(sxt_live *live, unsigned bits, unsigned flags, size_t max, uint64_t stream);

void sxt_live_free(sxt_live *live);

/**
 * An index at t_path of at most 1,600 documents with 64 bits, after `steps` random steps and a
 * commit; `live`, which is not initialised, is the model of it. Returns it open.
 */
simidx *sxt_live_make(sxt_live *live, const sxt_variant *variant, unsigned steps, uint64_t stream);

/** What a step has done, for those that do more than one change. */
enum sxt_live_step { SXT_LIVE_CHANGE, SXT_LIVE_COMMIT, SXT_LIVE_ROLLBACK };

/**
 * Make a random step: a change that succeeds or must fail, a commit or a rollback.
 *
 * @param writer  does the same, and must return the same; NULL = the model alone
 */
enum sxt_live_step sxt_live_step(sxt_live *live, simidx_writer *writer);

/** Commit, with the number of the commit as the mark. */
void sxt_live_commit(sxt_live *live, simidx_writer *writer);

/**
 * Delete what is older than a random time, as a commit: what is pending goes with it. Not for a
 * writer that may be killed, as the index commits parts of it.
 */
void sxt_live_delete_older(sxt_live *live, simidx_writer *writer);

/** Forget what is pending. */
void sxt_live_roll_back(sxt_live *live);

/** Compare all documents, labels and counts of an index with what is stored. */
void sxt_live_check_content(const sxt_live *live, simidx *index);

/** What answers queries. */
typedef struct sxt_live_asked {
	simidx_reader *reader;
	const sxt_live_set *set; /* what it must find */
} sxt_live_asked;

/** A reader must find what is stored; that of a writer, what it has pending, too. */
sxt_live_asked sxt_live_reader(const sxt_live *live, simidx_reader *reader);
sxt_live_asked sxt_live_writer(const sxt_live *live, simidx_reader *reader);

/** Ask `n` random questions of all kinds. */
void sxt_live_check_searches(sxt_live *live, const sxt_live_asked *asked, unsigned n);

/** Compare the notes of all documents. */
void sxt_live_check_notes(const sxt_live *live, const sxt_live_asked *asked);

/** The same queries as one batch. */
void sxt_live_check_batch(sxt_live *live, const sxt_live_asked *asked, size_t n);

/* ------------------------------------------------------------------------------------------
 * For the other files of this
 */

/** The bytes of a note, valid until the next call; NULL: none. */
const void *sxt_live_note(uint32_t note, size_t *size);

/** A time, and now and then 0. Many documents have the same. */
uint32_t sxt_live_time(sxt_rng *rng);

/** A fingerprint near to others, equal to one, or anywhere. */
uint64_t sxt_live_fp(const sxt_live *live, const sxt_live_set *set, sxt_rng *rng);

/**
 * A random query, and what put_if_new() must do with it: the document that is the nearest match
 * among the pending ones, and of several the one with the smallest id, or NULL. Its weights are
 * valid until the next call.
 */
const sxt_live_doc *sxt_live_choose_blocker(sxt_live *live, simidx_query *query, uint64_t fp,
					    uint64_t fp2, unsigned *weighted);

/** Whether a match is this document, its label included where `labels` says so. */
int sxt_live_is_doc(const sxt_live *live, const sxt_live_doc *doc, const simidx_match *match,
		    int labels);

#endif /* SXT_LIVE_H */

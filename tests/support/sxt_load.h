/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the tests of the bulk loader share: a directory for an index and another one, loaders
 * that say what they heard, and forms that an index can have.
 */

#ifndef SXT_LOAD_H
#define SXT_LOAD_H

#include <simidx_load.h>

#include "support/sxt_model.h"

/** Most rows of a test that listens. */
#define SXT_MAX_ROWS 4096

extern char *sxt_load_dir, *sxt_load_path, *sxt_load_other;
extern sxt_rng sxt_load_rng;

/** Fixtures. */
void sxt_load_set_up(void);
void sxt_load_tear_down(void);

/** What a loader told. */
typedef struct sxt_heard {
	uint8_t rejected[SXT_MAX_ROWS];
	uint64_t n;
	uint64_t calls, stop_at; /* of stop(); 0 = never */
} sxt_heard;

/**
 * Open a loader at sxt_load_path, with the least memory.
 *
 * @param create  NULL = into the index that is there
 * @param heard   cleared; may be NULL
 */
simidx_loader *sxt_loader(const simidx_create_options *create, unsigned policy,
			  sxt_heard *heard);

/** Finish and close it. */
void sxt_load_finish(simidx_loader *loader, simidx_loader_report *report);

/** Commit `n` documents with fingerprints that are told by their numbers; also in a child. */
void sxt_load_put(simidx *index, uint64_t from, uint64_t n);

/** Documents in an index; also in a child. */
uint64_t sxt_load_count(simidx *index);

/** Private directories and temporary files in the directory. */
int sxt_load_hidden(void);

/** Forms of an index; the last three have no ids. */
typedef struct sxt_form {
	const char *plan;
	unsigned layout, flags, bits, fill;
} sxt_form;

#define SXT_N_FORMS 10
extern const sxt_form sxt_forms[SXT_N_FORMS];

/** The options that make one. */
simidx_create_options sxt_create_of(const sxt_form *form);

#endif /* SXT_LOAD_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The indexes of --against, which are only read.
 */

#ifndef DD_AGAINST_H
#define DD_AGAINST_H

#include <simidx_dedup.h>

#include "dedup/dd_options.h"

/** They; others look at the handles, for simidx_dedup_options. */
struct dd_against {
	const struct dd_options *options;
	simidx *handle[DD_MOST_AGAINST];
	simidx_reader *reader[DD_MOST_AGAINST];
};

/**
 * Open them. They must have the profile, bits and fingerprints of the index of what is kept, or
 * those that it is going to have.
 *
 * @return NULL with a message
 */
struct dd_against *dd_against_open(const struct dd_options *options, enum simidx_dedup_kind kind);

/** Close them. NULL is allowed. */
void dd_against_close(struct dd_against *against);

/**
 * Which of them an error of libsimidx-dedup is about: simidx_dedup.h says how it names it.
 *
 * @param against  NULL is allowed
 * @param err      the name of the index is taken out of its text
 * @return its path, or NULL: none
 */
const char *dd_against_blamed(const struct dd_against *against, simidx_error *err);

/**
 * The label of a document.
 *
 * @param size  set to its bytes, which are valid until the next call; 0 with NULL: it has none, or
 *              is not there any more
 */
const char *dd_against_label(struct dd_against *against, unsigned i, uint64_t id, size_t *size);

#endif /* DD_AGAINST_H */

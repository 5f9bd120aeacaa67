/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Fixtures that several suites share: for SXT_SUITE(), or called by a set-up of one's own.
 */

#ifndef SXT_FIXTURE_H
#define SXT_FIXTURE_H

#include "store/sx_store.h"

/** What kind of index it is: most tests of all kinds are a table of these. */
typedef struct sxt_variant {
	const char *plan;
	unsigned layout, flags;
} sxt_variant;

/** A directory of the test's own; a path in it; and the data file of what is made there. */
extern char *t_dir, *t_path, *t_data;

/** The store at `path`, or NULL. */
extern sx_store *t_store;

/** The directory, which is empty: nothing is at `path`. */
void sxt_set_up_path(void);

/** And a store at `path`, that only its owner may use; closed. */
void sxt_set_up_closed_store(void);

/** And `store`: a store at `path`, with the row "a": "1". */
void sxt_set_up_store(void);

/** After any of these: closes the store, removes the directory. */
void sxt_tear_down(void);

#endif /* SXT_FIXTURE_H */

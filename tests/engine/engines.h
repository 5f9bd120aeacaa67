/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Indexes of an engine for tests: where they are, and making them.
 */

#ifndef ENGINES_H
#define ENGINES_H

#include "engine/memory.h"
#include "support/sxt_model.h"

/**
 * The URI that tests use: SIMIDX_TEST_URI or else one of the engine in memory, and the name of the
 * suite.
 */
const char *engines_uri(void);

/** Whether that is the engine in memory. */
int engines_in_memory(void);

/** Whether that engine keeps times with documents. */
int engines_keep_times(void);

/** The URI that tests use if its engine has conditions, or else this one. */
const char *engines_with_conditions(const char *uri);

/** Register all engines that the program is linked with. */
void engines_add(void);

/** A new index in the place of the one that is at the URI. */
simidx *engines_create(const char *uri, const char *plan, unsigned bits, unsigned flags);

#endif /* ENGINES_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is printed of the decisions: groups at the end, pairs and new inputs as they come.
 */

#ifndef DD_OUTPUT_H
#define DD_OUTPUT_H

#include "dedup/dd_engine.h"

struct dd_output;

/**
 * Begin; opens --dups.
 *
 * @return NULL with a message
 */
struct dd_output *dd_output_new(const struct dd_options *options, struct dd_files *files);

/** Free. NULL is allowed. */
void dd_output_free(struct dd_output *output);

/** What is to hear of the decisions. */
void dd_output_listener(struct dd_output *output, struct dd_listener *listener);

/** The engine has begun: its documents are of this kind. */
void dd_output_begin(struct dd_output *output, struct dd_engine *engine, enum dd_kind kind);

/** All is decided: print the groups. Returns 0 or an exit code. */
int dd_output_finish(struct dd_output *output);

/** What was counted. */
struct dd_output_counts {
	uint64_t near;    /* documents that are near to others; with --pairs the pairs */
	uint64_t groups;
	uint64_t changed; /* files that have changed since they were read */
};

void dd_output_count(const struct dd_output *output, struct dd_output_counts *counts);

#endif /* DD_OUTPUT_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is checked of outputs and inputs before a row is read.
 */

#ifndef DD_CHECK_H
#define DD_CHECK_H

#include "dedup/dd_resume.h"

/**
 * No file that an option names to be written to is an input that is named, standard output, the
 * index, or that of another option; and it has no contents that cannot be added to.
 *
 * @return 0, or an exit code with a message
 */
int dd_check_outputs(const struct dd_options *options);

/**
 * Find all inputs, where lists can be read twice: there may be more files than the memory is
 * enough for, and one of them may be a file that is written.
 *
 * @param most  bytes that there are for what is known of files
 * @param all   set to what they are
 * @return 0, or an exit code with a message
 */
int dd_check_inputs(const struct dd_options *options, uint64_t most, struct dd_inputs *all);

/** The kind of document that a row is. */
enum simidx_dedup_kind dd_check_kind_of(const struct in_row *row);

/**
 * The first document has a text, features or a fingerprint, and all others have: options about
 * something else are refused. Returns 0, or an exit code with a message.
 */
int dd_check_kind(const struct dd_options *options, enum simidx_dedup_kind kind);

/** Whether a document is of another kind than those before it; then the reason is set. */
int dd_check_is_other(enum simidx_dedup_kind kind, enum simidx_dedup_kind before, char reason[],
		      size_t size);

#endif /* DD_CHECK_H */

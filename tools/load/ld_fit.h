/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Whether the options fit the index that is there, or a place where none is.
 */

#ifndef LD_FIT_H
#define LD_FIT_H

#include <simidx_info.h>

#include "load/ld_options.h"

/** An option that was given must say what the index is. Returns 0, or TL_TROUBLE with a message. */
int ld_fit_options(const struct ld_options *options, const simidx_info *info);

/**
 * --time and --touch need an index with times.
 *
 * @param path   of the index, or of one that a new one is made like
 * @param flags  SIMIDX_CREATE_ flags of it
 */
int ld_fit_times(const struct ld_options *options, const char *path, unsigned flags);

/** The same where a new index is like no other one: then --times makes it keep them. */
int ld_fit_new_times(const struct ld_options *options);

/**
 * So must --extractor or --features-by say what made the index at `path`, or one that is taken
 * over.
 */
int ld_fit_extractor(const struct ld_options *options, const char *path, const simidx_info *info);

/** An index cannot be taken over into itself. */
int ld_fit_sources(const struct ld_options *options);

/** What is to be replaced must be an index. 0, or TL_TROUBLE with a message. */
int ld_fit_replaced(const struct ld_options *options);

/** A new index needs a directory to be in. 0, or TL_TROUBLE with a message. */
int ld_fit_parent(const char *path);

#endif /* LD_FIT_H */

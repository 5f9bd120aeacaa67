/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which options of simidx-load do not fit together.
 */

#ifndef LD_CHECK_H
#define LD_CHECK_H

#include "load/ld_options.h"

/**
 * Of --merge-only, which takes nothing and stores nothing.
 *
 * @return TL_PROCEED, or TL_TROUBLE with a message
 */
int ld_check_merge_only(const struct ld_options *options);

/**
 * Whether all inputs have keys, as --mode delete needs them; before anything else is known of them.
 *
 * @return TL_PROCEED, or TL_TROUBLE with a message
 */
int ld_check_keys(const struct ld_options *options);

/**
 * Of any other load, whose inputs are known.
 *
 * @return TL_PROCEED, or TL_TROUBLE with a message
 */
int ld_check_together(const struct ld_options *options);

#endif /* LD_CHECK_H */

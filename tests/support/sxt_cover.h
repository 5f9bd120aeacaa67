/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The proof that a cover is exact.
 */

#ifndef SXT_COVER_H
#define SXT_COVER_H

#include "plan/sx_cover.h"

/**
 * Whether a cover finds everything within its radius: the condition at the head of sx_cover.h,
 * decided by looking for a way to place the errors that every table misses. Does not depend on how
 * the cover was found.
 */
int sxt_cover_is_exact(const sx_cover *cover);

#endif /* SXT_COVER_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What simidx-load --help prints.
 */

#ifndef LD_HELP_H
#define LD_HELP_H

/** The lines, ending with NULL. */
extern const char *const ld_help[];

#endif /* LD_HELP_H */

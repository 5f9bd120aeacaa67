/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The engines that the tools are built with.
 */

#ifndef TL_ENGINES_H
#define TL_ENGINES_H

/** Register them, so that their URIs can stand where a path can. */
void tl_engines_add(void);

#endif /* TL_ENGINES_H */

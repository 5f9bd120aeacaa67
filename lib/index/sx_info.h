/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What an index says of itself.
 */

#ifndef SX_INFO_H
#define SX_INFO_H

#include "index/sx_index.h"

/** What a header tells, and what does not change while an index is open. */
void sx_info_describe(const simidx *index, const sx_header *header, simidx_info *out);

#endif /* SX_INFO_H */

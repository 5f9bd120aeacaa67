/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One document, from docs, by_label and labels of a directory (sx_backend.h).
 */

#ifndef SX_LOCAL_FIND_H
#define SX_LOCAL_FIND_H

#include "index/sx_documents.h"

extern const sx_backend_documents sx_local_find;

#endif /* SX_LOCAL_FIND_H */

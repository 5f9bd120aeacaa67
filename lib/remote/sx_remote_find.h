/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * One document, from an engine (sx_backend.h). What the transaction of a writer has looked up is
 * not asked for again.
 */

#ifndef SX_REMOTE_FIND_H
#define SX_REMOTE_FIND_H

#include "index/sx_documents.h"

extern const sx_backend_documents sx_remote_find;

#endif /* SX_REMOTE_FIND_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * From what the tables say to the documents of the new index, and to the list of what is lost.
 */

#ifndef SX_REPAIR_DOCUMENTS_H
#define SX_REPAIR_DOCUMENTS_H

#include "repair/sx_repair_state.h"

/** Put the documents of an index with ids into the loader, and tell what is lost of them. */
int sx_repair_put_documents(sx_repair *repair);

#endif /* SX_REPAIR_DOCUMENTS_H */

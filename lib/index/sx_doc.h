/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A document as it is stored.
 */

#ifndef SX_DOC_H
#define SX_DOC_H

#include "store/sx_dbi.h"
#include "table/sx_columns.h"

/** Without its label. */
typedef struct sx_doc {
	uint64_t id, fp;
	sx_values values;
} sx_doc;

/** With it. */
typedef struct sx_labelled_doc {
	sx_doc doc;
	sx_slice label; /* size 0 = none */
} sx_labelled_doc;

#endif /* SX_DOC_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The first and the last line of a full dump (in_full.h), between which the documents are.
 */

#ifndef QR_FULL_H
#define QR_FULL_H

#include "query/qr_command.h"

/** What the first line has besides the description of the index. */
struct qr_mark {
	unsigned char bytes[SIMIDX_MAX_MARK];
	size_t size; /* 0 = none */
};

/**
 * Read the mark of the index, as simidx_get_mark(). It must be that of the documents or an older
 * one: who goes on from a later one would miss documents. So it is read before they are. The mark
 * of simidx-load is left out, as it is about inputs of one load.
 *
 * @return 0, also when there is none; else a SIMIDX_E_ code
 */
int qr_full_mark(struct qr_context *ctx, struct qr_mark *mark, simidx_error *err);

/** Print the first line. Returns 0, or TL_TROUBLE when standard output takes no more. */
int qr_full_first(const simidx_info *info, const struct qr_mark *mark);

/** Print the last one: how many documents there were. Returns as qr_full_first(). */
int qr_full_last(uint64_t documents);

#endif /* QR_FULL_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What becomes of a row: it is put into the index, left out or rejected, and counted.
 */

#ifndef LD_STORE_H
#define LD_STORE_H

#include "load/ld_run.h"

/**
 * Have the writer look up at once what it needs for rows that are stored next; an ld_ahead of the
 * queue.
 *
 * @param ctx  the struct ld_run
 * @return 0 or an exit code
 */
int ld_store_ahead(void *ctx, const struct ld_item *items, size_t n);

/** Why a row is not stored whatever the index has, or NULL; the reason is good until the next. */
const char *ld_store_refuses(const struct ld_options *options, const struct ld_item *item);

/**
 * Store a row, or count why not; commit if that is due. An ld_take of the queue.
 *
 * @param ctx  the struct ld_run
 * @return 0 or an exit code
 */
int ld_store_item(void *ctx, const struct ld_item *item);

#endif /* LD_STORE_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Moving the fresh rows into the tables: t01.., docs, by_label and last postings, each in
 * transactions of a bounded number of blocks. After docs, labels and notes of deleted documents
 * are removed. Until postings have what a row says, the row answers:
 * a fingerprint that stands in a table but not in postings has no documents there, and a document
 * of postings that a row has deleted is left out. When postings take several transactions, the
 * header says up to which (fingerprint, id) they are done. The transaction with the last of them
 * removes the fresh rows. A merge that was killed is done again from the start, with the rows
 * that it had: what was set or removed already is set or removed once more.
 */

#ifndef SX_MERGE_H
#define SX_MERGE_H

#include "index/sx_index.h"

/**
 * Move the fresh rows that are there into the tables, in transactions of its own; or, if a merge
 * was cut off, those that it had begun with. The caller holds the merger's lock and no transaction.
 *
 * @param locked  NULL: the caller holds the write lock, and keeps it. Otherwise the lock is taken
 *                for each transaction and given up after it, so that others can commit in between,
 *                and transactions are made short; *locked, 0 at first, says whether it is held
 */
int sx_merge_fresh(const simidx *index, int no_meta_sync, int *locked, simidx_error *err);

#endif /* SX_MERGE_H */

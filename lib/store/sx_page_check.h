/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The structure of the data file: every page that LMDB would follow, read as bytes. LMDB trusts
 * what it reads, and a damaged page makes it end the process, hang, or write where it must not. A
 * file without a problem here can be read and written by LMDB.
 */

#ifndef SX_PAGE_CHECK_H
#define SX_PAGE_CHECK_H

#include "store/sx_txn.h"

/**
 * Called for each problem that is found.
 *
 * @param table  the table whose pages these are; "free pages" and "tables" for the two trees that
 *               LMDB keeps itself
 * @param text   what is wrong with which page; valid during the call
 */
typedef void sx_page_problem(void *ctx, const char *table, const char *text);

/**
 * Check the pages of a read transaction in which nothing was read yet. LMDB touches none of them:
 * they are read by pread(). The transaction may be given a newer snapshot first. Writers may go on
 * meanwhile: LMDB does not change what belongs to the snapshot of a reader.
 *
 * Checked are the pages' headers, the bounds, order and sizes of what is in them, the counts in the
 * trees' records, and that each page is used once or free once. Values are not looked at.
 *
 * @param problem  may be NULL
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT when there are problems, err describes the first;
 *         SIMIDX_E_BUSY when commits came too fast to look at one; SIMIDX_E_NOMEM; as
 *         sx_txn_renew()
 *
 * Cost: reads all pages but those of long values, and the header of each of these; one bit of
 * memory a page of the file, and some pages.
 */
int sx_page_check(sx_txn *txn, sx_page_problem *problem, void *ctx, simidx_error *err);

#endif /* SX_PAGE_CHECK_H */

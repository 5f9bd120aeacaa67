/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The structure of the data file: every page that LMDB would follow, read as bytes. LMDB trusts
 * what it reads, and a damaged page makes it end the process, hang, or write where it must not. A
 * file without a problem here can be read and written by LMDB; of one that has some, the values in
 * its sound pages can be had.
 */

#ifndef SX_PAGE_CHECK_H
#define SX_PAGE_CHECK_H

#include "store/sx_lost_pages.h"

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
 *         SIMIDX_E_BUSY when commits came too fast to look at one; SIMIDX_E_STOPPED by
 *         sx_stop_asked(); SIMIDX_E_NOMEM; as sx_txn_renew()
 *
 * Cost: reads all pages but those of long values, and the header of each of these; one bit of
 * memory a page of the file, and some pages.
 */
int sx_page_check(sx_txn *txn, sx_page_problem *problem, void *ctx, simidx_error *err);

/**
 * Where the trees of a snapshot begin. All zero before the first sx_page_read(), which reads it: it
 * cannot be read later, as other commits overwrite it.
 */
typedef sx_lmdb_meta sx_page_roots;

/** How a table is read. */
typedef struct sx_page_reading {
	sx_page_value *value;
	sx_page_problem *problem; /* may be NULL */
	void *ctx;                /* passed to both */
	unsigned finds;           /* SX_PAGES_FIND_: also what may be other tables' */
	enum sx_page_whose whose; /* set before `value` is called: whose it is */
	sx_pages *pages;          /* for sx_page_is_lost() */
	sx_page_tree *tree;
} sx_page_reading;

/**
 * Hand over what is in the sound pages of a table, in the order of the keys or, where that is
 * damaged, in another one. Pages and values that are not sound are told as by sx_page_check(), but
 * for the order of keys, and passed over.
 *
 * What lies below a damaged page is found where nothing else in the file is damaged but this table:
 * then the pages that are neither free nor met in a tree are its own. Before each leaf of these,
 * and before what follows in another order, `value` is called with NULL for both key and value. Of
 * values with a page of their own whose leaf is damaged the key is lost: it is NULL.
 *
 * Elsewhere such pages may be any table's. `finds` asks for them: then entries of leaves, with
 * their keys, or values that fill a page, without, are handed over for the caller to tell whose
 * they are. Where the list of free pages is damaged, too, they may be of any commit. Then entries
 * come only if the key's place in the table is lost; of other values the caller asks
 * sx_page_is_lost().
 *
 * @param txn    as for sx_page_check(); the same one, and `roots`, for all tables that are to be of
 *               one snapshot
 * @return SIMIDX_OK, whatever is damaged; SIMIDX_E_NOT_FOUND without setting err if there is no
 *         such table; the code of `value`; SIMIDX_E_BUSY, SIMIDX_E_NOMEM, as sx_txn_renew()
 */
int sx_page_read(sx_txn *txn, sx_page_roots *roots, const char *table, sx_page_reading *reading,
		 simidx_error *err);

/**
 * Whether the place of a key in the table is below a damaged page, or all of the table is lost. For
 * `value`, during the call.
 */
int sx_page_is_lost(const sx_page_reading *reading, sx_slice key);

/**
 * The roots of the other header page, which LMDB does not use, where the numbers of the two say
 * that one of them is damaged. Then the other page may be that of the last commit.
 *
 * @param roots  those that LMDB uses, or all zero
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND without setting err where nothing is wrong with the
 *         numbers; as sx_page_read()
 */
int sx_page_other(sx_txn *txn, sx_page_roots *roots, sx_page_roots *other, simidx_error *err);

#endif /* SX_PAGE_CHECK_H */

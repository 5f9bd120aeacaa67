/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Pages that nothing sound leads to: what is in them, and whose it can be.
 */

#ifndef SX_LOST_PAGES_H
#define SX_LOST_PAGES_H

#include "store/sx_pages.h"

/** Whose what is handed over can be. */
enum sx_page_whose {
	SX_PAGES_OWN,  /* the table's: its tree leads there, or nothing else can */
	SX_PAGES_LAST, /* any table's, but of this commit: it is not in free pages */
	SX_PAGES_ANY   /* any table's, and of any commit: which pages are free is not known */
};

#define SX_PAGES_FIND_LEAVES 1u /* what stands in leaves */
#define SX_PAGES_FIND_BLOCKS 2u /* values that fill a page */

/**
 * Hand over what is in the pages that nothing leads to, after sx_pages_check_tree() has told
 * problems of a tree. Where its pages can be told from others', all of them, as sx_page_read()
 * says. Otherwise leaves or blocks of all tables, if they are asked for: of any commit only what
 * the tree would have below its damaged pages, and blocks, whose keys are not known.
 *
 * @param tree   the table's; one without pages and depth if it is not known: all of it is lost
 * @param finds  SX_PAGES_FIND_, or 0
 * @param whose  set before anything is handed over
 * @return SIMIDX_OK or SIMIDX_E_NOMEM; c->stopped as always
 */
int sx_lost_pages_read(sx_pages *c, sx_page_tree *tree, const sx_page_tree *tables,
		       const sx_lmdb_meta *meta, unsigned finds, enum sx_page_whose *whose);

/**
 * Whether the place of a key in a tree is below a damaged page. Otherwise the tree decides what
 * there is. For `value`, while it is called by sx_lost_pages_read().
 */
int sx_lost_pages_have(sx_pages *c, sx_page_tree *tree, sx_slice key);

#endif /* SX_LOST_PAGES_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Walking through the trees of LMDB's file as bytes, bounds-checked: each page that is in use or
 * free is noted, and what is wrong is told.
 */

#ifndef SX_PAGES_H
#define SX_PAGES_H

#include "store/sx_page_nodes.h"

#define SX_PAGE_NAME 32 /* of a table, with its NUL */
#define SX_PAGE_TABLES "tables" /* the tree that leads to all tables */

/**
 * Called for each problem that is found.
 *
 * @param table  the table whose pages these are; "free pages" and SX_PAGE_TABLES for the two trees
 *               that LMDB keeps itself
 * @param text   what is wrong with which page; valid during the call
 */
typedef void sx_page_problem(void *ctx, const char *table, const char *text);

#define SX_PAGE_MAX_VALUE (SIMIDX_MAX_NOTE + 4096) /* bytes; longer values are not handed over */

/**
 * A value, in a buffer that is valid during the call. A code other than SIMIDX_OK ends the reading.
 */
typedef int sx_page_value(void *ctx, sx_slice key, sx_slice value);

/* The trees of a file differ in their keys and values. */
enum sx_page_kind { SX_PAGES_FREE, SX_PAGES_TABLES, SX_PAGES_TABLE };

typedef struct sx_page_tree {
	enum sx_page_kind kind;
	char name[SX_PAGE_NAME];
	sx_lmdb_tree record;
	uint64_t branch_pages, leaf_pages, overflow_pages, entries; /* as found */
	uint64_t problems;
} sx_page_tree;

typedef struct sx_pages {
	int fd;
	size_t page_size;
	uint64_t txn;
	uint64_t end;      /* numbers of pages are below it */
	uint64_t file_end; /* numbers of pages that the file has are below it */
	uint64_t named_end; /* the end that the header page says */
	uint64_t *seen;    /* a bit for each page, used or free */
	uint64_t n_seen;
	/* of the tree at hand, pages that the file lacks; or 0 */
	uint64_t missing_from, missing_to;
	uint64_t newest_free; /* the last transaction with a list of free pages */
	/*
	 * A page of each level of the tree, made when needed; the root is at 1, and 0 is for
	 * others.
	 */
	unsigned char *level[SX_LMDB_MAX_DEPTH + 1];
	uint16_t *sizes; /* of the node at each even offset of a page, or 0 */
	sx_page_tree table[SX_DBI_MAX]; /* what the tree of tables says */
	unsigned n_tables;
	uint64_t problems;
	char first[256];
	sx_page_problem *problem;
	void *ctx;
	sx_page_value *value; /* where values are read: then the order of keys does not matter */
	unsigned char *bytes; /* of one that has pages of its own */
	int stopped;          /* the code that ended the reading */
	int is_quiet;         /* problems are only counted */
} sx_pages;

/** Tell a problem of a tree. */
void sx_pages_bad(sx_pages *c, sx_page_tree *tree, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * Note that a page is in use, or free. Returns 0, and tells it, if it is already or there is none.
 */
int sx_pages_take(sx_pages *c, sx_page_tree *tree, uint64_t page);

/**
 * Read bytes of a page, or of consecutive ones. Returns 0, and tells it, if they cannot be read.
 */
int sx_pages_read(sx_pages *c, sx_page_tree *tree, uint64_t page, uint64_t at, void *out,
		  size_t size);

/** Check a node of a leaf, and hand its value over if values are read. */
void sx_pages_check_value(sx_pages *c, sx_page_tree *tree, uint64_t number,
			  const sx_page_node *node);

/**
 * Read a page of a tree. Returns how many nodes it has; 0, and tells it, if it is not sound.
 *
 * @param page  room for it
 */
size_t sx_pages_nodes(sx_pages *c, sx_page_tree *tree, uint64_t number, int is_leaf,
		      unsigned char *page);

/** Check all of a tree. SIMIDX_OK, whatever is told, or SIMIDX_E_NOMEM. */
int sx_pages_check_tree(sx_pages *c, sx_page_tree *tree);

#endif /* SX_PAGES_H */

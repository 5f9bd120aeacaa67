/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_pages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_stop.h"

#define FREE_STEP 512 /* page numbers of a list that are read at once */

/* ------------------------------------------------------------------------------------------
 * Problems, and what is read
 */

static void tell(sx_pages *c, const sx_page_tree *tree, const char *text)
{
	if (!c->problems++)
		snprintf(c->first, sizeof(c->first), "%s: %s", tree->name, text);
	if (c->problem)
		c->problem(c->ctx, tree->name, text);
}

void sx_pages_bad(sx_pages *c, sx_page_tree *tree, const char *format, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	tree->problems++;
	if (!c->is_quiet)
		tell(c, tree, text);
}

/* A file that is cut short lacks very many pages. They are told together when the tree ends. */
static void note_missing(sx_pages *c, sx_page_tree *tree, uint64_t page)
{
	tree->problems++;
	if (c->is_quiet)
		return;
	if (!c->missing_from || page < c->missing_from)
		c->missing_from = page;
	if (page > c->missing_to)
		c->missing_to = page;
}

/* What a page that is missing leads to is not known, so these are no numbers of single pages. */
static void tell_missing(sx_pages *c, const sx_page_tree *tree)
{
	char text[120];

	if (!c->missing_from)
		return;
	snprintf(text, sizeof(text),
		 c->missing_from == c->missing_to ? "page %" PRIu64
						    " is missing: the file is cut short"
						  : "its pages from %" PRIu64 " to %" PRIu64
						    " are missing: the file is cut short",
		 c->missing_from, c->missing_to);
	c->missing_from = c->missing_to = 0;
	tell(c, tree, text);
}

int sx_pages_take(sx_pages *c, sx_page_tree *tree, uint64_t page)
{
	uint64_t bit = (uint64_t)1 << page % 64;

	if (page >= c->end && page < c->named_end) {
		note_missing(c, tree, page);
		return 0;
	}
	if (page < 2 || page >= c->end) {
		sx_pages_bad(c, tree, "there is no page %" PRIu64, page);
		return 0;
	}
	if (c->seen[page / 64] & bit) {
		sx_pages_bad(c, tree, "page %" PRIu64 " is used, or free, a second time", page);
		return 0;
	}
	c->seen[page / 64] |= bit;
	c->n_seen++;
	return 1;
}

/* The same for consecutive pages in use, all of which the file must have. */
static int take_used(sx_pages *c, sx_page_tree *tree, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		if (!sx_pages_take(c, tree, first + i))
			return 0;
		if (first + i >= c->file_end) {
			note_missing(c, tree, first + i);
			return 0;
		}
	}
	return 1;
}

int sx_pages_read(sx_pages *c, sx_page_tree *tree, uint64_t page, uint64_t at, void *out,
		      size_t size)
{
	uint64_t start = page * c->page_size + at;
	size_t done = 0, failures = 0;

	while (done < size) {
		ssize_t got = pread(c->fd, (char *)out + done, size - done, (off_t)(start + done));

		if (got > 0) {
			done += (size_t)got;
		} else if (!got) {
			note_missing(c, tree, page);
			return 0;
		} else if (errno != EINTR && failures++) { /* a disk may fail for a moment */
			sx_pages_bad(c, tree, "page %" PRIu64 " cannot be read: %s", page,
				     strerror(errno));
			return 0;
		}
	}
	return 1;
}

static int check_header(sx_pages *c, sx_page_tree *tree, uint64_t page,
			const sx_lmdb_header *header, unsigned flags)
{
	if (header->number != page)
		sx_pages_bad(c, tree, "page %" PRIu64 " says that it is page %" PRIu64, page,
			     header->number);
	else if (header->flags != flags)
		sx_pages_bad(c, tree, "page %" PRIu64 " has the flags 0x%x, not 0x%x", page,
		    header->flags, flags);
	else
		return 1;
	return 0;
}

/* ------------------------------------------------------------------------------------------
 * One page of a tree
 */

static int compare(enum sx_page_kind kind, sx_slice a, sx_slice b)
{
	size_t n = a.size < b.size ? a.size : b.size;
	int d;

	if (kind == SX_PAGES_FREE) {
		uint64_t x = sx_lmdb_number(a.data), y = sx_lmdb_number(b.data);

		return (x > y) - (x < y);
	}
	d = memcmp(a.data, b.data, n);
	return d ? d : (a.size > b.size) - (a.size < b.size);
}

/* What the pages above say of the keys of a page: they lie in [low, high). NULL: no bound. */
struct bounds {
	sx_slice low, high;
};

/* Keys ascend and lie within the bounds. */
static int check_keys(sx_pages *c, sx_page_tree *tree, uint64_t number,
		      const unsigned char *page, size_t n, int is_leaf, struct bounds in)
{
	sx_slice last = in.low;

	/* The first key of a branch means nothing: what is below it is above `low`. */
	for (size_t i = is_leaf ? 0 : 1; i < n; i++) {
		sx_slice key = sx_page_node_of(page, i).key;
		int order = 1;

		if (tree->kind == SX_PAGES_FREE ? key.size != sizeof(uint64_t) : !key.size) {
			sx_pages_bad(c, tree,
				     "page %" PRIu64 ": the key of node %zu has a wrong size",
				     number, i);
			return 0;
		}
		if (last.data)
			order = compare(tree->kind, key, last);
		if (last.data == in.low.data ? order < 0 : order <= 0) {
			sx_pages_bad(c, tree,
				     "page %" PRIu64 ": the key of node %zu is out of order",
				     number, i);
			return 0;
		}
		last = key;
	}
	if (!in.high.data || compare(tree->kind, last, in.high) < 0)
		return 1;
	sx_pages_bad(c, tree, "page %" PRIu64 ": the last key belongs to another page", number);
	return 0;
}

/* ------------------------------------------------------------------------------------------
 * Values
 */

/* A value with pages of its own: they may be more than it needs, when it was longer before. */
static int check_overflow(sx_pages *c, sx_page_tree *tree, const sx_page_node *node)
{
	uint64_t first = sx_lmdb_number(node->value);
	uint64_t need = (sizeof(sx_lmdb_header) - 1 + (uint64_t)node->size) / c->page_size + 1;
	sx_lmdb_header header;
	uint32_t n;

	if (!take_used(c, tree, first, 1) ||
	    !sx_pages_read(c, tree, first, 0, &header, sizeof(header)) ||
	    !check_header(c, tree, first, &header, SX_LMDB_OVERFLOW))
		return 0;
	memcpy(&n, &header.lower, sizeof(n));
	if (n < need) {
		sx_pages_bad(c, tree,
			     "page %" PRIu64 ": a value of %" PRIu32 " bytes in %" PRIu32 " pages",
			     first, node->size, n);
		return 0;
	}
	tree->overflow_pages += n;
	return take_used(c, tree, first + 1, n - 1);
}

/* A list of free pages, in a node or in pages of its own. */
static void check_free(sx_pages *c, sx_page_tree *tree, const sx_page_node *node)
{
	uint64_t txn = sx_lmdb_number(node->key.data), list[FREE_STEP], n = 0, last = UINT64_MAX;
	int is_apart = node->head.flags & SX_LMDB_NODE_OVERFLOW;
	uint64_t page = is_apart ? sx_lmdb_number(node->value) : 0;

	if (txn < 1 || txn > c->txn || node->size < sizeof(n) || node->size % sizeof(n)) {
		sx_pages_bad(c, tree, "the list of transaction %" PRIu64 " has a wrong key or size",
			     txn);
		return;
	}
	c->newest_free = txn; /* they ascend */
	if (!is_apart)
		n = sx_lmdb_number(node->value);
	else if (!sx_pages_read(c, tree, page, sizeof(sx_lmdb_header), &n, sizeof(n)))
		return;
	if (n >= node->size / sizeof(n)) {
		sx_pages_bad(c, tree,
			     "the list of transaction %" PRIu64 " is longer than its value", txn);
		return;
	}
	for (uint64_t done = 0; done < n; done++) {
		uint64_t i = done % FREE_STEP, at = (done + 1) * sizeof(n);
		size_t size = (n - done < FREE_STEP ? n - done : FREE_STEP) * sizeof(n);

		if (!i && !is_apart)
			memcpy(list, node->value + at, size);
		else if (!i &&
			 !sx_pages_read(c, tree, page, sizeof(sx_lmdb_header) + at, list, size))
			return;
		if (list[i] >= last) {
			sx_pages_bad(c, tree, "the list of transaction %" PRIu64 " is not in order",
				     txn);
			return;
		}
		last = list[i];
		if (!sx_pages_take(c, tree, last))
			return;
	}
}

/* The record of a table: kept, to be looked at when the tree of tables is done. */
static void check_record(sx_pages *c, sx_page_tree *tree, const sx_page_node *node)
{
	sx_page_tree *table = &c->table[c->n_tables];

	if (node->size != sizeof(sx_lmdb_tree)) {
		sx_pages_bad(c, tree, "a table's record has %" PRIu32 " bytes", node->size);
	} else if (node->key.size >= SX_PAGE_NAME || memchr(node->key.data, 0, node->key.size)) {
		sx_pages_bad(c, tree, "the name of a table is too long or has a NUL byte");
	} else if (c->n_tables == SX_DBI_MAX) {
		sx_pages_bad(c, tree, "there are more than %d tables", SX_DBI_MAX);
	} else {
		table->kind = SX_PAGES_TABLE;
		memcpy(table->name, node->key.data, node->key.size);
		memcpy(&table->record, node->value, sizeof(table->record));
		c->n_tables++;
	}
}

static void hand_over(sx_pages *c, sx_page_tree *tree, const sx_page_node *node)
{
	sx_slice value = { node->value, node->size };

	if (node->head.flags & SX_LMDB_NODE_OVERFLOW) {
		value.data = c->bytes;
		if (node->size > SX_PAGE_MAX_VALUE) {
			sx_pages_bad(c, tree, "a value has %" PRIu32 " bytes", node->size);
			return;
		}
		if (!sx_pages_read(c, tree, sx_lmdb_number(node->value), sizeof(sx_lmdb_header),
				   c->bytes, node->size))
			return;
	}
	c->stopped = c->value(c->ctx, node->key, value);
}

void sx_pages_check_value(sx_pages *c, sx_page_tree *tree, uint64_t number,
			  const sx_page_node *node)
{
	unsigned flags = node->head.flags;

	tree->entries++;
	if (tree->kind == SX_PAGES_TABLE && c->stopped)
		return;
	if (tree->kind == SX_PAGES_TABLES ? flags != SX_LMDB_NODE_TABLE
				      : flags & ~(unsigned)SX_LMDB_NODE_OVERFLOW) {
		sx_pages_bad(c, tree, "page %" PRIu64 ": a node has the flags 0x%x", number, flags);
		return;
	}
	if (flags & SX_LMDB_NODE_OVERFLOW && !check_overflow(c, tree, node))
		return;
	if (tree->kind == SX_PAGES_FREE)
		check_free(c, tree, node);
	else if (tree->kind == SX_PAGES_TABLES)
		check_record(c, tree, node);
	else if (c->value)
		hand_over(c, tree, node);
}

/* ------------------------------------------------------------------------------------------
 * Trees
 */

size_t sx_pages_nodes(sx_pages *c, sx_page_tree *tree, uint64_t number, int is_leaf,
		      unsigned char *page)
{
	char wrong[SX_PAGE_WRONG];
	sx_lmdb_header header;
	size_t n;

	if (!sx_pages_read(c, tree, number, 0, page, c->page_size))
		return 0;
	memcpy(&header, page, sizeof(header));
	if (!check_header(c, tree, number, &header, is_leaf ? SX_LMDB_LEAF : SX_LMDB_BRANCH))
		return 0;
	n = sx_page_nodes(page, c->page_size, is_leaf, c->sizes, wrong);
	if (!n)
		sx_pages_bad(c, tree, "page %" PRIu64 "%s", number, wrong);
	return n;
}

/* A page and all below it. Each level keeps its page, which has the bounds of the next. */
static int check_page(sx_pages *c, sx_page_tree *tree, uint64_t number, unsigned level,
		      struct bounds in)
{
	int is_leaf = level == tree->record.depth, rc = SIMIDX_OK;
	unsigned char *page = c->level[level];
	size_t n;

	if (!page)
		page = c->level[level] = sx_calloc(1, c->page_size);
	if (!page)
		return SIMIDX_E_NOMEM;
	if (!c->value && !c->stopped && sx_stop_asked())
		c->stopped = SIMIDX_E_STOPPED;
	if (!c->value && c->stopped)
		return SIMIDX_OK;
	n = take_used(c, tree, number, 1) ? sx_pages_nodes(c, tree, number, is_leaf, page) : 0;
	if (!n || (!c->value && !check_keys(c, tree, number, page, n, is_leaf, in)))
		return SIMIDX_OK;
	if (is_leaf)
		tree->leaf_pages++;
	else
		tree->branch_pages++;
	for (size_t i = 0; !rc && !c->stopped && i < n; i++) {
		sx_page_node node = sx_page_node_of(page, i);
		struct bounds below = in;

		if (is_leaf) {
			sx_pages_check_value(c, tree, number, &node);
			continue;
		}
		if (i)
			below.low = node.key;
		if (i + 1 < n)
			below.high = sx_page_node_of(page, i + 1).key;
		rc = check_page(c, tree, node.child, level + 1, below);
	}
	return rc;
}

int sx_pages_check_tree(sx_pages *c, sx_page_tree *tree)
{
	const sx_lmdb_tree *r = &tree->record;
	int is_empty = r->root == SX_LMDB_NO_PAGE, rc;

	if (r->flags != (tree->kind == SX_PAGES_FREE ? SX_LMDB_FREE_FLAGS : 0)) {
		sx_pages_bad(c, tree, "the tree has the flags 0x%x", r->flags);
		return SIMIDX_OK;
	}
	if (is_empty ? r->depth : r->depth < 1 || r->depth > SX_LMDB_MAX_DEPTH) {
		sx_pages_bad(c, tree, "the tree has an impossible depth of %u", r->depth);
		return SIMIDX_OK;
	}
	rc = is_empty ? SIMIDX_OK
		      : check_page(c, tree, r->root, 1, (struct bounds){ 0 });
	tell_missing(c, tree);
	if (!tree->problems && !c->stopped &&
	    (r->branch_pages != tree->branch_pages || r->leaf_pages != tree->leaf_pages ||
	     r->overflow_pages != tree->overflow_pages || r->entries != tree->entries))
		sx_pages_bad(c, tree,
			     "the tree has %" PRIu64 " entries in %" PRIu64 " pages, its record "
			     "says %" PRIu64 " in %" PRIu64,
			     tree->entries,
			     tree->branch_pages + tree->leaf_pages + tree->overflow_pages,
			     r->entries, r->branch_pages + r->leaf_pages + r->overflow_pages);
	return rc;
}


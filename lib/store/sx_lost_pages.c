/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_lost_pages.h"

#include <string.h>

#include "util/sx_alloc.h"

/* ---- whose they are ---- */

/*
 * Each page is used or free. So if all is sound but one table, the pages that were neither met in a
 * tree nor are free are that table's, and none of them is of an older commit: they lie below its
 * damaged pages. If another table is damaged as well it is not certain whose they are, and if the
 * list of free pages is, what was freed long ago cannot be told from them.
 */
static int find_owner(sx_pages *c, sx_page_tree *tree, const sx_page_tree *tables,
		      const sx_lmdb_meta *meta, enum sx_page_whose *whose)
{
	sx_page_tree free_pages = { .kind = SX_PAGES_FREE, .name = "free pages",
				   .record = meta->free_pages };
	uint64_t others = tables->problems;
	sx_page_value *value = c->value;
	int rc = SIMIDX_OK;

	c->value = NULL;
	for (unsigned t = 0; !rc && t < c->n_tables; t++) {
		if (&c->table[t] == tree)
			continue;
		rc = sx_pages_check_tree(c, &c->table[t]);
		others += c->table[t].problems;
	}
	if (!rc)
		rc = sx_pages_check_tree(c, &free_pages);
	c->value = value;
	if (free_pages.problems || (c->newest_free && c->newest_free != c->txn))
		*whose = SX_PAGES_ANY;
	else
		*whose = others ? SX_PAGES_LAST : SX_PAGES_OWN;
	return rc;
}

/* ---- what a tree still says ---- */

/* In a sound tree two pages of a level are enough. In others this ends it. */
#define MOST_PAGES (4 * SX_LMDB_MAX_DEPTH)

enum place { NOTHING, SOUND, LOST };

/* What comes first at a key or after it, below a page: an entry, or a damaged page. */
static enum place find_from(sx_pages *c, sx_page_tree *tree, uint64_t number, unsigned level,
			    sx_slice key, unsigned *left)
{
	int is_leaf = level == tree->record.depth;
	unsigned char *page = c->level[level];
	enum place found = NOTHING;
	size_t n = 0;

	if (number >= 2 && number < c->file_end && *left && --*left)
		n = sx_pages_nodes(c, tree, number, is_leaf, page);
	if (!n)
		return LOST;
	for (size_t i = 0; !found && i < n; i++) {
		/* The keys below a node of a branch are less than the key of the next one. */
		size_t last = is_leaf ? i : i + 1;
		int order = -1;

		if (last < n) {
			sx_slice k = sx_page_node_of(page, last).key;
			size_t least = k.size < key.size ? k.size : key.size;

			order = memcmp(key.data, k.data, least);
			order = order ? order : (key.size > k.size) - (key.size < k.size);
		}
		if (is_leaf ? order > 0 : order >= 0)
			continue;
		found = is_leaf ? SOUND
				: find_from(c, tree, sx_page_node_of(page, i).child, level + 1, key,
					    left);
	}
	return found;
}

int sx_lost_pages_have(sx_pages *c, sx_page_tree *tree, sx_slice key)
{
	const sx_lmdb_tree *r = &tree->record;
	unsigned left = MOST_PAGES;

	if (r->root == SX_LMDB_NO_PAGE && !r->depth)
		return 0;
	if (r->flags || r->depth < 1 || r->depth > SX_LMDB_MAX_DEPTH)
		return 1;
	return find_from(c, tree, r->root, 1, key, &left) == LOST;
}

/* ---- what is in them ---- */

/*
 * The next page from `number` on that nothing leads to, read to level 0; 0 after the last one. Of a
 * value with several pages only the first has a header, and what is in the others may look like
 * one.
 */
static uint64_t next_lost(sx_pages *c, sx_page_tree *tree, uint64_t number, sx_lmdb_header *header,
			  uint32_t *n_pages)
{
	uint64_t end = c->end < c->file_end ? c->end : c->file_end;

	for (; number < end; number++) {
		if (c->seen[number / 64] >> number % 64 & 1 ||
		    !sx_pages_read(c, tree, number, 0, c->level[0], c->page_size))
			continue;
		memcpy(header, c->level[0], sizeof(*header));
		*n_pages = 1;
		if (header->flags == SX_LMDB_OVERFLOW)
			memcpy(n_pages, &header->lower, sizeof(*n_pages));
		if (header->number == number && *n_pages)
			return number;
	}
	return 0;
}

/*
 * Hand over what is in such pages of the table: first that in leaves, then values of one page whose
 * key is lost, as the leaf with it is damaged.
 */
static void hand_over_own(sx_pages *c, sx_page_tree *tree)
{
	const sx_slice none = { NULL, 0 };
	unsigned char *page = c->level[0];
	sx_slice value = { page + sizeof(sx_lmdb_header), c->page_size - sizeof(sx_lmdb_header) };
	char wrong[SX_PAGE_WRONG];
	sx_lmdb_header header;
	uint32_t n_pages;

	for (uint64_t at = 2; !c->stopped && (at = next_lost(c, tree, at, &header, &n_pages)) != 0;
	     at += n_pages) {
		size_t n = header.flags == SX_LMDB_LEAF
				   ? sx_page_nodes(page, c->page_size, 1, c->sizes, wrong)
				   : 0;

		if (n && sx_pages_take(c, tree, at))
			c->stopped = c->value(c->ctx, none, none);
		for (size_t i = 0; !c->stopped && i < n; i++) {
			sx_page_node node = sx_page_node_of(page, i);

			sx_pages_check_value(c, tree, at, &node);
		}
	}
	for (uint64_t at = 2; !c->stopped && (at = next_lost(c, tree, at, &header, &n_pages)) != 0;
	     at += n_pages)
		if (header.flags == SX_LMDB_OVERFLOW && n_pages == 1)
			c->stopped = c->value(c->ctx, none, value);
}

/*
 * A node of a leaf that may be any table's. Nothing of it is taken for granted, as nothing leads
 * there.
 */
static void hand_over_node(sx_pages *c, sx_page_tree *tree, const sx_page_node *node,
			   int is_of_last)
{
	sx_slice value = { node->value, node->size };
	sx_lmdb_header header = { 0 };

	if (node->head.flags & ~(unsigned)SX_LMDB_NODE_OVERFLOW || node->size > SX_PAGE_MAX_VALUE ||
	    (!is_of_last && !sx_lost_pages_have(c, tree, node->key)))
		return;
	if (node->head.flags) {
		uint64_t first = sx_lmdb_number(node->value);

		value.data = c->bytes;
		if (first < 2 || first >= c->file_end ||
		    !sx_pages_read(c, tree, first, 0, &header, sizeof(header)) ||
		    header.number != first || header.flags != SX_LMDB_OVERFLOW ||
		    !sx_pages_read(c, tree, first, sizeof(header), c->bytes, node->size))
			return;
	}
	c->stopped = c->value(c->ctx, node->key, value);
}

/*
 * The same of pages that may be any table's. In those of older commits the pages of a long value
 * may have become others' since, so none is skipped.
 */
static void hand_over_any(sx_pages *c, sx_page_tree *tree, unsigned finds, int is_of_last)
{
	const sx_slice none = { NULL, 0 };
	unsigned char *page = c->level[0];
	sx_slice value = { page + sizeof(sx_lmdb_header), c->page_size - sizeof(sx_lmdb_header) };
	char wrong[SX_PAGE_WRONG];
	sx_lmdb_header header;
	uint32_t n_pages;

	for (uint64_t at = 2; !c->stopped && (at = next_lost(c, tree, at, &header, &n_pages)) != 0;
	     at += is_of_last ? n_pages : 1) {
		size_t n = header.flags == SX_LMDB_LEAF && finds & SX_PAGES_FIND_LEAVES
				   ? sx_page_nodes(page, c->page_size, 1, c->sizes, wrong)
				   : 0;

		for (size_t i = 0; !c->stopped && i < n; i++) {
			sx_page_node node = sx_page_node_of(page, i);

			hand_over_node(c, tree, &node, is_of_last);
		}
		if (header.flags == SX_LMDB_OVERFLOW && n_pages == 1 &&
		    finds & SX_PAGES_FIND_BLOCKS)
			c->stopped = c->value(c->ctx, none, value);
	}
}

int sx_lost_pages_read(sx_pages *c, sx_page_tree *tree, const sx_page_tree *tables,
		       const sx_lmdb_meta *meta, unsigned finds, enum sx_page_whose *whose)
{
	unsigned depth = tree->record.depth <= SX_LMDB_MAX_DEPTH ? tree->record.depth : 0;
	enum sx_page_whose owner;
	int rc;

	for (unsigned level = 0; level <= depth; level++)
		if (!c->level[level] && !(c->level[level] = sx_calloc(1, c->page_size)))
			return SIMIDX_E_NOMEM;
	c->is_quiet = 1;
	rc = find_owner(c, tree, tables, meta, &owner);
	c->is_quiet = owner != SX_PAGES_OWN;
	if (rc || (owner != SX_PAGES_OWN && !finds))
		return rc;
	*whose = owner;
	if (owner == SX_PAGES_OWN)
		hand_over_own(c, tree);
	else
		hand_over_any(c, tree, finds, owner == SX_PAGES_LAST);
	return SIMIDX_OK;
}

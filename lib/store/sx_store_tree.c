/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_store_tree.h"

#include <limits.h>

#include "util/sx_bytes.h"

/*
 * A page begins with its number, two bytes that are not used, flags, and the end of the offsets
 * of its nodes, which follow behind a header of 16 bytes in the order of their keys. A node has 8
 * bytes, then its key, then its data. In a branch page the first 6 bytes of a node are the page
 * that it leads to, and the key of node 0 does not count. In a leaf the first 4 are the size of
 * the data; where that is on pages of its own, there is the number of the first one instead, on
 * which the data follow the header.
 */
#define HEADER 16
#define AT_FLAGS 10
#define AT_END 12
#define NODE 8
#define AT_NODE_FLAGS 4
#define AT_KEY_SIZE 6
#define BRANCH 1 /* flags of a page */
#define LEAF 2
#define BIG 1   /* flags of a node: data on pages of their own */
#define TABLE 2 /* data are the record of a table, as in the main tree */
#define RECORD 48 /* of a table: ends with its root */
#define AT_ROOT 40
#define FIRST_PAGE 2 /* behind the two meta pages */
#define LINE 64
#define OFFSET_LINES 4

static unsigned load16(const unsigned char *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

int sx_tree_init(sx_tree *tree, sx_slice record, const unsigned char *map, size_t page_size,
		 uint64_t pages)
{
	if (record.size != RECORD)
		return -1;
	tree->map = map;
	tree->page_size = page_size;
	tree->pages = pages;
	tree->root = sx_load_le64((const unsigned char *)record.data + AT_ROOT);
	return 0;
}

/* ---- pages and nodes ---- */

static const unsigned char *page_at(const sx_tree *tree, uint64_t number)
{
	return number >= FIRST_PAGE && number < tree->pages ? tree->map + number * tree->page_size
							    : NULL;
}

/* BRANCH or LEAF and the number of its nodes, or 0. */
static unsigned kind_of(const sx_tree *tree, const unsigned char *page, unsigned *n)
{
	unsigned flags = load16(page + AT_FLAGS), end = load16(page + AT_END);

	if ((flags != BRANCH && flags != LEAF) || end <= HEADER || end > tree->page_size)
		return 0;
	*n = (end - HEADER) / 2;
	return flags;
}

/* A node whose key lies within the page, or NULL. */
static inline const unsigned char *node_at(const sx_tree *tree, const unsigned char *page,
					   unsigned i, unsigned *key_size)
{
	unsigned offset = load16(page + HEADER + 2 * i);

	if (offset < HEADER || offset > tree->page_size - NODE)
		return NULL;
	*key_size = load16(page + offset + AT_KEY_SIZE);
	return *key_size <= tree->page_size - NODE - offset ? page + offset : NULL;
}

static uint64_t child_of(const unsigned char *node)
{
	return sx_load_le32(node) | (uint64_t)load16(node + AT_NODE_FLAGS) << 32;
}

/* The first 8 bytes of a key as a number, padded with zeros: ordered as keys are, or equal. */
static uint64_t head_of(const unsigned char *key, size_t size)
{
	unsigned char bytes[8] = { 0 };

	if (size >= sizeof(bytes))
		return sx_load_be64(key);
	memcpy(bytes, key, size);
	return sx_load_be64(bytes);
}

/* How a node's key compares with the one that is looked for. */
static int compare(const sx_tree_descent *d, const unsigned char *key, size_t size)
{
	uint64_t head = head_of(key, size);
	int order;

	if (head != d->head)
		return head < d->head ? -1 : 1;
	order = memcmp(key, d->key.data, size < d->key.size ? size : d->key.size);
	if (order || size == d->key.size)
		return order;
	return size < d->key.size ? -1 : 1;
}

/* ---- descents ---- */

static void fetch_page(const unsigned char *page)
{
	for (unsigned i = 0; i < OFFSET_LINES; i++)
		__builtin_prefetch(page + i * LINE, 0, 3);
}

static void step_down(sx_tree_descent *d, uint64_t number)
{
	sx_tree_path *path = d->path;
	const unsigned char *page = page_at(d->tree, number);

	if (!page || path->levels == SX_TREE_LEVELS) {
		d->end = SX_TREE_STRANGE;
		return;
	}
	path->level[path->levels++].page = page;
	fetch_page(page);
}

static void begin(sx_tree_descent *d)
{
	d->path->levels = 0;
	d->head = head_of(d->key.data, d->key.size);
	d->low = 0;
	d->high = UINT64_MAX;
	d->end = SX_TREE_UNDER_WAY;
	if (d->tree->root == SX_TREE_EMPTY)
		d->end = SX_TREE_END;
	else
		step_down(d, d->tree->root);
}

/* Guess where in its page the key is, as if keys were evenly spread, and have that fetched. */
static void guess(sx_tree_descent *d)
{
	unsigned top = d->path->levels - 1, n, i;
	const unsigned char *page = d->path->level[top].page;
	double part = 0;

	d->kind = kind_of(d->tree, page, &n);
	if (!d->kind) {
		d->end = SX_TREE_STRANGE;
		return;
	}
	if (d->head > d->low && d->high > d->low)
		part = (double)(d->head - d->low) / (double)(d->high - d->low);
	/* In a damaged page keys may be out of order. */
	part = part < 1 ? part : 1;
	i = (unsigned)(part * n);
	i = i < n ? i : n - 1;
	d->path->level[top].i = i;
	d->path->level[top].n = n;
	__builtin_prefetch(page + load16(page + HEADER + 2 * i), 0, 3);
}

/* Whether node i of the page at hand is one to stop at, or behind that. < 0: not understood. */
static int is_far_enough(const sx_tree_descent *d, const unsigned char *page, unsigned i)
{
	unsigned size;
	const unsigned char *node = node_at(d->tree, page, i, &size);
	int order;

	if (!node)
		return -1;
	order = compare(d, node + NODE, size);
	return d->kind == LEAF ? order >= 0 : order > 0;
}

/*
 * The first node of the page at hand that is far enough, n if none is: from what was guessed on in
 * growing steps, and between the last two by halves. UINT_MAX: not understood.
 */
static unsigned search_page(const sx_tree_descent *d, const unsigned char *page, unsigned i,
			    unsigned n)
{
	unsigned low = d->kind == LEAF ? 0 : 1, high = n, step = 1;
	int direction = -1, far_enough;

	if (i < low)
		i = low;
	while (low < high) {
		far_enough = is_far_enough(d, page, i);
		if (far_enough < 0)
			return UINT_MAX;
		if (far_enough)
			high = i;
		else
			low = i + 1;
		if (direction >= 0 && direction != far_enough)
			step = UINT_MAX;
		direction = far_enough;
		if (step >= high - low)
			i = low + (high - low) / 2;
		else
			i = far_enough ? high - step : low + step - 1;
		step = step < UINT_MAX / 2 ? 2 * step : step;
	}
	return low;
}

/* From entry i of the page at hand, in a branch page, down. */
static void take_branch(sx_tree_descent *d, const unsigned char *page, unsigned i, unsigned n)
{
	unsigned size;
	const unsigned char *node;

	if (i + 1 < n && (node = node_at(d->tree, page, i + 1, &size)))
		d->high = head_of(node + NODE, size);
	node = node_at(d->tree, page, i, &size);
	if (!node) {
		d->end = SX_TREE_STRANGE;
		return;
	}
	if (i)
		d->low = head_of(node + NODE, size);
	step_down(d, child_of(node));
}

static void search(sx_tree_descent *d)
{
	unsigned top = d->path->levels - 1, n = d->path->level[top].n;
	const unsigned char *page = d->path->level[top].page;
	unsigned i = search_page(d, page, d->path->level[top].i, n);

	if (i == UINT_MAX) {
		d->end = SX_TREE_STRANGE;
	} else if (d->kind == LEAF) {
		d->path->level[top].i = i;
		d->end = i < n ? SX_TREE_FOUND : sx_tree_next(d->tree, d->path);
	} else {
		/* The first one whose key is greater is behind the one to follow. */
		d->path->level[top].i = i - 1;
		take_branch(d, page, i - 1, n);
	}
}

void sx_tree_descend(sx_tree_descent *d, size_t n)
{
	size_t under_way = 0;

	for (size_t i = 0; i < n; i++) {
		begin(&d[i]);
		under_way += d[i].end == SX_TREE_UNDER_WAY;
	}
	while (under_way) {
		for (size_t i = 0; i < n; i++)
			if (d[i].end == SX_TREE_UNDER_WAY)
				guess(&d[i]);
		under_way = 0;
		for (size_t i = 0; i < n; i++) {
			if (d[i].end == SX_TREE_UNDER_WAY)
				search(&d[i]);
			under_way += d[i].end == SX_TREE_UNDER_WAY;
		}
	}
}

/* ---- entries ---- */

/* Down to the first entry below the one that the lowest level is at. */
static enum sx_tree_end first_below(const sx_tree *tree, sx_tree_path *path)
{
	while (path->levels < SX_TREE_LEVELS) {
		unsigned top = path->levels - 1, size, kind;
		const unsigned char *node = node_at(tree, path->level[top].page,
						    path->level[top].i, &size);
		const unsigned char *page = node ? page_at(tree, child_of(node)) : NULL;

		if (!page)
			break;
		kind = kind_of(tree, page, &path->level[top + 1].n);
		path->level[top + 1].page = page;
		path->level[top + 1].i = 0;
		path->levels++;
		if (kind == LEAF)
			return SX_TREE_FOUND;
		if (!kind)
			break;
	}
	return SX_TREE_STRANGE;
}

enum sx_tree_end sx_tree_next(const sx_tree *tree, sx_tree_path *path)
{
	unsigned top = path->levels - 1;

	if (path->level[top].i + 1 < path->level[top].n) {
		path->level[top].i++;
		return SX_TREE_FOUND;
	}
	while (path->levels > 1) {
		top = --path->levels - 1;
		if (++path->level[top].i < path->level[top].n)
			return first_below(tree, path);
	}
	return SX_TREE_END;
}

int sx_tree_entry(const sx_tree *tree, const sx_tree_path *path, sx_slice *key, sx_slice *value)
{
	const unsigned char *page = path->level[path->levels - 1].page;
	unsigned size, flags;
	const unsigned char *node = node_at(tree, page, path->level[path->levels - 1].i, &size);
	size_t room;
	uint64_t first;

	if (!node)
		return -1;
	flags = load16(node + AT_NODE_FLAGS);
	room = tree->page_size - NODE - size - (size_t)(node - page);
	key->data = node + NODE;
	key->size = size;
	value->data = node + NODE + size;
	value->size = sx_load_le32(node);
	if (!flags || flags == TABLE)
		return value->size <= room ? 0 : -1;
	if (flags != BIG || room < sizeof(first))
		return -1;
	first = sx_load_le64(value->data);
	if (first < FIRST_PAGE || first >= tree->pages ||
	    HEADER + value->size > (tree->pages - first) * tree->page_size)
		return -1;
	value->data = tree->map + first * tree->page_size + HEADER;
	return 0;
}

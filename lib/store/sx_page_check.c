/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_page_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sx_store_handle.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define META_TRIES 10000 /* each meets another commit in the microsecond after it began */
#define NAME_SIZE 32     /* of a table, with its NUL */
#define FREE_STEP 512    /* page numbers of a list that are read at once */

/* The trees of a file differ in their keys and values. */
enum tree_kind { TREE_FREE, TREE_TABLES, TREE_TABLE };

struct tree {
	enum tree_kind kind;
	char name[NAME_SIZE];
	sx_lmdb_tree record;
	uint64_t branch_pages, leaf_pages, overflow_pages, entries; /* as found */
	uint64_t problems;
};

struct check {
	int fd;
	size_t page_size;
	uint64_t txn;
	uint64_t end;      /* numbers of pages are below it */
	uint64_t file_end; /* and of those that the file has */
	uint64_t *seen;    /* a bit for each page, used or free */
	uint64_t n_seen;
	/* A page of each level of the tree, made when needed; the root is at 1. */
	unsigned char *level[SX_LMDB_MAX_DEPTH + 1];
	uint16_t *sizes; /* of the node at each even offset of a page, or 0 */
	struct tree table[SX_DBI_MAX]; /* what the tree of tables says */
	unsigned n_tables;
	uint64_t problems;
	char first[256];
	sx_page_problem *problem;
	void *ctx;
	sx_page_value *value; /* where values are read: then the order of keys does not matter */
	unsigned char *bytes; /* of one that has pages of its own */
	int stopped;          /* the code that ended the reading */
};

struct node {
	sx_lmdb_node head;
	sx_slice key;
	const unsigned char *value; /* of a leaf: or the number of its first overflow page */
	uint32_t size;              /* of the value */
	uint64_t child;             /* of a branch */
};

/* ------------------------------------------------------------------------------------------
 * Problems, and what is read
 */

static void bad(struct check *c, struct tree *tree, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void bad(struct check *c, struct tree *tree, const char *format, ...)
{
	char text[200];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	tree->problems++;
	if (!c->problems++)
		snprintf(c->first, sizeof(c->first), "%s: %s", tree->name, text);
	if (c->problem)
		c->problem(c->ctx, tree->name, text);
}

/* Note that a page is in use, or free. Returns 0 if it is already. */
static int take_page(struct check *c, struct tree *tree, uint64_t page)
{
	uint64_t bit = (uint64_t)1 << page % 64;

	if (page < 2 || page >= c->end) {
		bad(c, tree, "there is no page %" PRIu64, page);
		return 0;
	}
	if (c->seen[page / 64] & bit) {
		bad(c, tree, "page %" PRIu64 " is used, or free, a second time", page);
		return 0;
	}
	c->seen[page / 64] |= bit;
	c->n_seen++;
	return 1;
}

/* The same for consecutive pages in use, all of which the file must have. */
static int take_used(struct check *c, struct tree *tree, uint64_t first, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		if (!take_page(c, tree, first + i))
			return 0;
		if (first + i >= c->file_end) {
			bad(c, tree, "page %" PRIu64 " is missing: the file is cut short",
			    first + i);
			return 0;
		}
	}
	return 1;
}

/* Read bytes of a page, or of consecutive ones. Returns 0 if they cannot be read. */
static int read_bytes(struct check *c, struct tree *tree, uint64_t page, uint64_t at, void *out,
		      size_t size)
{
	uint64_t start = page * c->page_size + at;
	size_t done = 0, failures = 0;

	while (done < size) {
		ssize_t got = pread(c->fd, (char *)out + done, size - done, (off_t)(start + done));

		if (got > 0) {
			done += (size_t)got;
		} else if (!got) {
			bad(c, tree, "page %" PRIu64 " is missing: the file is cut short", page);
			return 0;
		} else if (errno != EINTR && failures++) { /* a disk may fail for a moment */
			bad(c, tree, "page %" PRIu64 " cannot be read: %s", page, strerror(errno));
			return 0;
		}
	}
	return 1;
}

static int check_header(struct check *c, struct tree *tree, uint64_t page,
			const sx_lmdb_header *header, unsigned flags)
{
	if (header->number != page)
		bad(c, tree, "page %" PRIu64 " says that it is page %" PRIu64, page, header->number);
	else if (header->flags != flags)
		bad(c, tree, "page %" PRIu64 " has the flags 0x%x, not 0x%x", page,
		    header->flags, flags);
	else
		return 1;
	return 0;
}

/* ------------------------------------------------------------------------------------------
 * One page of a tree
 */

/*
 * Bytes of the node at an offset, with what makes it even. 0 if it does not fit there, or is longer
 * than LMDB makes them: it could not split a page of such nodes.
 */
static size_t node_size(const struct check *c, const unsigned char *page, size_t at, int is_leaf)
{
	size_t size = sizeof(sx_lmdb_node);
	sx_lmdb_node head;

	memcpy(&head, page + at, sizeof(head));
	size += head.key_size;
	if (is_leaf && head.flags & SX_LMDB_NODE_OVERFLOW)
		size += sizeof(uint64_t);
	else if (is_leaf)
		size += (size_t)head.high << 16 | head.low;
	if (head.key_size > SX_LMDB_MAX_KEY || size > sx_lmdb_largest_node(c->page_size))
		return 0;
	size += size % 2;
	return size <= c->page_size - at ? size : 0;
}

/*
 * Nodes must lie side by side from `upper` to the end of the page: LMDB moves them and adds up
 * their sizes. Returns how many there are, or 0.
 */
static size_t check_nodes(struct check *c, struct tree *tree, uint64_t number,
			  const unsigned char *page, int is_leaf)
{
	size_t n, at, met = 0, least = is_leaf ? 1 : 2;
	sx_lmdb_header header;

	memcpy(&header, page, sizeof(header));
	n = (header.lower - sizeof(header)) / sizeof(uint16_t);
	if (header.lower < sizeof(header) + least * sizeof(uint16_t) || header.lower % 2 ||
	    header.upper < header.lower || header.upper > c->page_size) {
		bad(c, tree, "page %" PRIu64 " has impossible bounds", number);
		return 0;
	}
	memset(c->sizes, 0, c->page_size / 2 * sizeof(*c->sizes));
	for (size_t i = 0; i < n; i++) {
		size_t size;

		at = sx_lmdb_node_at(page, i);
		size = at % 2 || at < header.upper || at > c->page_size - sizeof(sx_lmdb_node)
			       ? 0 : node_size(c, page, at, is_leaf);
		if (!size) {
			bad(c, tree, "page %" PRIu64 ": node %zu has an impossible place or size",
			    number, i);
			return 0;
		}
		c->sizes[at / 2] = (uint16_t)size;
	}
	for (at = header.upper; at < c->page_size && c->sizes[at / 2]; at += c->sizes[at / 2])
		met++;
	if (at == c->page_size && met == n)
		return n;
	bad(c, tree, "page %" PRIu64 ": its nodes overlap or leave gaps", number);
	return 0;
}

/* A node of a page that check_nodes() has found good. */
static struct node node_of(const unsigned char *page, size_t i)
{
	const unsigned char *p = page + sx_lmdb_node_at(page, i);
	struct node node;

	memcpy(&node.head, p, sizeof(node.head));
	node.key = (sx_slice){ p + sizeof(node.head), node.head.key_size };
	node.value = p + sizeof(node.head) + node.head.key_size;
	node.size = (uint32_t)node.head.high << 16 | node.head.low;
	node.child = node.size | (uint64_t)node.head.flags << 32;
	return node;
}

static int compare(enum tree_kind kind, sx_slice a, sx_slice b)
{
	size_t n = a.size < b.size ? a.size : b.size;
	int d;

	if (kind == TREE_FREE) {
		uint64_t x = sx_lmdb_number(a.data), y = sx_lmdb_number(b.data);

		return (x > y) - (x < y);
	}
	d = memcmp(a.data, b.data, n);
	return d ? d : (a.size > b.size) - (a.size < b.size);
}

/* Keys ascend and lie in [low, high), which the pages above say; NULL = no bound. */
static int check_keys(struct check *c, struct tree *tree, uint64_t number,
		      const unsigned char *page, size_t n, int is_leaf, sx_slice low, sx_slice high)
{
	sx_slice last = low;

	/* The first key of a branch means nothing: what is below it is above `low`. */
	for (size_t i = is_leaf ? 0 : 1; i < n; i++) {
		sx_slice key = node_of(page, i).key;
		int order = 1;

		if (tree->kind == TREE_FREE ? key.size != sizeof(uint64_t) : !key.size) {
			bad(c, tree, "page %" PRIu64 ": the key of node %zu has a wrong size",
			    number, i);
			return 0;
		}
		if (last.data)
			order = compare(tree->kind, key, last);
		if (last.data == low.data ? order < 0 : order <= 0) {
			bad(c, tree, "page %" PRIu64 ": the key of node %zu is out of order",
			    number, i);
			return 0;
		}
		last = key;
	}
	if (!high.data || compare(tree->kind, last, high) < 0)
		return 1;
	bad(c, tree, "page %" PRIu64 ": the last key belongs to another page", number);
	return 0;
}

/* ------------------------------------------------------------------------------------------
 * Values
 */

/* A value with pages of its own: they may be more than it needs, when it was longer before. */
static int check_overflow(struct check *c, struct tree *tree, const struct node *node)
{
	uint64_t first = sx_lmdb_number(node->value);
	uint64_t need = (sizeof(sx_lmdb_header) - 1 + (uint64_t)node->size) / c->page_size + 1;
	sx_lmdb_header header;
	uint32_t n;

	if (!take_used(c, tree, first, 1) ||
	    !read_bytes(c, tree, first, 0, &header, sizeof(header)) ||
	    !check_header(c, tree, first, &header, SX_LMDB_OVERFLOW))
		return 0;
	memcpy(&n, &header.lower, sizeof(n));
	if (n < need) {
		bad(c, tree, "page %" PRIu64 ": a value of %" PRIu32 " bytes in %" PRIu32 " pages",
		    first, node->size, n);
		return 0;
	}
	tree->overflow_pages += n;
	return take_used(c, tree, first + 1, n - 1);
}

/* A list of free pages, in a node or in pages of its own. */
static void check_free(struct check *c, struct tree *tree, const struct node *node)
{
	uint64_t txn = sx_lmdb_number(node->key.data), list[FREE_STEP], n = 0, last = UINT64_MAX;
	int is_apart = node->head.flags & SX_LMDB_NODE_OVERFLOW;
	uint64_t page = is_apart ? sx_lmdb_number(node->value) : 0;

	if (txn < 1 || txn > c->txn || node->size < sizeof(n) || node->size % sizeof(n)) {
		bad(c, tree, "the list of transaction %" PRIu64 " has a wrong key or size", txn);
		return;
	}
	if (!is_apart)
		n = sx_lmdb_number(node->value);
	else if (!read_bytes(c, tree, page, sizeof(sx_lmdb_header), &n, sizeof(n)))
		return;
	if (n >= node->size / sizeof(n)) {
		bad(c, tree, "the list of transaction %" PRIu64 " is longer than its value", txn);
		return;
	}
	for (uint64_t done = 0; done < n; done++) {
		uint64_t i = done % FREE_STEP, at = (done + 1) * sizeof(n);
		size_t size = (n - done < FREE_STEP ? n - done : FREE_STEP) * sizeof(n);

		if (!i && !is_apart)
			memcpy(list, node->value + at, size);
		else if (!i && !read_bytes(c, tree, page, sizeof(sx_lmdb_header) + at, list, size))
			return;
		if (list[i] >= last) {
			bad(c, tree, "the list of transaction %" PRIu64 " is not in order", txn);
			return;
		}
		last = list[i];
		if (!take_page(c, tree, last))
			return;
	}
}

/* The record of a table: kept, to be looked at when the tree of tables is done. */
static void check_record(struct check *c, struct tree *tree, const struct node *node)
{
	struct tree *table = &c->table[c->n_tables];

	if (node->size != sizeof(sx_lmdb_tree)) {
		bad(c, tree, "a table's record has %" PRIu32 " bytes", node->size);
	} else if (node->key.size >= NAME_SIZE || memchr(node->key.data, 0, node->key.size)) {
		bad(c, tree, "the name of a table is too long or has a NUL byte");
	} else if (c->n_tables == SX_DBI_MAX) {
		bad(c, tree, "there are more than %d tables", SX_DBI_MAX);
	} else {
		table->kind = TREE_TABLE;
		memcpy(table->name, node->key.data, node->key.size);
		memcpy(&table->record, node->value, sizeof(table->record));
		c->n_tables++;
	}
}

static void hand_over(struct check *c, struct tree *tree, const struct node *node)
{
	sx_slice value = { node->value, node->size };

	if (node->head.flags & SX_LMDB_NODE_OVERFLOW) {
		value.data = c->bytes;
		if (node->size > SX_PAGE_MAX_VALUE) {
			bad(c, tree, "a value has %" PRIu32 " bytes", node->size);
			return;
		}
		if (!read_bytes(c, tree, sx_lmdb_number(node->value), sizeof(sx_lmdb_header), c->bytes,
				node->size))
			return;
	}
	c->stopped = c->value(c->ctx, node->key, value);
}

static void check_value(struct check *c, struct tree *tree, uint64_t number, const struct node *node)
{
	unsigned flags = node->head.flags;

	tree->entries++;
	if (tree->kind == TREE_TABLE && c->stopped)
		return;
	if (tree->kind == TREE_TABLES ? flags != SX_LMDB_NODE_TABLE
				      : flags & ~(unsigned)SX_LMDB_NODE_OVERFLOW) {
		bad(c, tree, "page %" PRIu64 ": a node has the flags 0x%x", number, flags);
		return;
	}
	if (flags & SX_LMDB_NODE_OVERFLOW && !check_overflow(c, tree, node))
		return;
	if (tree->kind == TREE_FREE)
		check_free(c, tree, node);
	else if (tree->kind == TREE_TABLES)
		check_record(c, tree, node);
	else if (c->value)
		hand_over(c, tree, node);
}

/* ------------------------------------------------------------------------------------------
 * Trees
 */

/* A page and all below it. Each level keeps its page, which has the bounds of the next. */
static int check_page(struct check *c, struct tree *tree, uint64_t number, unsigned level,
		      sx_slice low, sx_slice high)
{
	int is_leaf = level == tree->record.depth, rc = SIMIDX_OK;
	unsigned char *page = c->level[level];
	sx_lmdb_header header;
	size_t n;

	if (!page)
		page = c->level[level] = sx_calloc(1, c->page_size);
	if (!page)
		return SIMIDX_E_NOMEM;
	if (!take_used(c, tree, number, 1) || !read_bytes(c, tree, number, 0, page, c->page_size))
		return SIMIDX_OK;
	memcpy(&header, page, sizeof(header));
	if (!check_header(c, tree, number, &header, is_leaf ? SX_LMDB_LEAF : SX_LMDB_BRANCH))
		return SIMIDX_OK;
	n = check_nodes(c, tree, number, page, is_leaf);
	if (!n || (!c->value && !check_keys(c, tree, number, page, n, is_leaf, low, high)))
		return SIMIDX_OK;
	if (is_leaf)
		tree->leaf_pages++;
	else
		tree->branch_pages++;
	for (size_t i = 0; !rc && !c->stopped && i < n; i++) {
		struct node node = node_of(page, i);

		if (is_leaf)
			check_value(c, tree, number, &node);
		else
			rc = check_page(c, tree, node.child, level + 1, i ? node.key : low,
					i + 1 < n ? node_of(page, i + 1).key : high);
	}
	return rc;
}

static int check_tree(struct check *c, struct tree *tree)
{
	const sx_lmdb_tree *r = &tree->record;
	int is_empty = r->root == SX_LMDB_NO_PAGE, rc;

	if (r->flags != (tree->kind == TREE_FREE ? SX_LMDB_FREE_FLAGS : 0)) {
		bad(c, tree, "the tree has the flags 0x%x", r->flags);
		return SIMIDX_OK;
	}
	if (is_empty ? r->depth : r->depth < 1 || r->depth > SX_LMDB_MAX_DEPTH) {
		bad(c, tree, "the tree has an impossible depth of %u", r->depth);
		return SIMIDX_OK;
	}
	rc = is_empty ? SIMIDX_OK
		      : check_page(c, tree, r->root, 1, (sx_slice){ 0 }, (sx_slice){ 0 });
	if (!tree->problems && !c->stopped &&
	    (r->branch_pages != tree->branch_pages || r->leaf_pages != tree->leaf_pages ||
	     r->overflow_pages != tree->overflow_pages || r->entries != tree->entries))
		bad(c, tree, "the tree has %" PRIu64 " entries in %" PRIu64 " pages, its record "
			     "says %" PRIu64 " in %" PRIu64,
		    tree->entries, tree->branch_pages + tree->leaf_pages + tree->overflow_pages,
		    r->entries, r->branch_pages + r->leaf_pages + r->overflow_pages);
	return rc;
}

/* The tree of tables first, then each table, last the free pages: so a page is missed where it is used. */
static int check_trees(struct check *c, const sx_lmdb_meta *meta)
{
	struct tree tables = { .kind = TREE_TABLES, .name = SX_PAGE_TABLES, .record = meta->tables };
	struct tree free_pages = { .kind = TREE_FREE, .name = "free pages",
				   .record = meta->free_pages };
	int rc = check_tree(c, &tables);

	for (unsigned t = 0; !rc && t < c->n_tables; t++)
		rc = check_tree(c, &c->table[t]);
	if (!rc)
		rc = check_tree(c, &free_pages);
	/* LMDB never loses one, and makes no compact copy of a file that did. Two are meta pages. */
	if (!rc && !c->problems && c->n_seen + 2 != meta->last_page + 1)
		bad(c, &free_pages, "pages neither used nor free: %" PRIu64,
		    meta->last_page - 1 - c->n_seen);
	return rc;
}

/* ------------------------------------------------------------------------------------------
 * The snapshot
 */

/*
 * The meta page of a snapshot. The commit after the next overwrites it; the reader keeps the pages
 * that it leads to, but not the page itself. So it is read while its commit is still the last one.
 */
static int read_meta(struct check *c, sx_txn *txn, sx_lmdb_meta *meta, simidx_error *err)
{
	for (unsigned tries = 1;; tries++) {
		uint64_t id = sx_txn_id(txn);
		ssize_t got = pread(c->fd, meta, sizeof(*meta), (off_t)(id % 2 * c->page_size));
		int rc;

		if (got < 0)
			return sx_fail_errno(err, errno, "cannot read a header page");
		if (got == sizeof(*meta) && meta->txn == id && sx_txn_is_newest(txn, tries))
			return SIMIDX_OK;
		if (tries == META_TRIES)
			return sx_fail(err, SIMIDX_E_BUSY,
				       "other processes commit too fast to look at one commit");
		sx_txn_reset(txn);
		rc = sx_txn_renew(txn, err);
		if (rc)
			return rc;
	}
}

static void free_check(struct check *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i <= SX_LMDB_MAX_DEPTH; i++)
		free(c->level[i]);
	free(c->sizes);
	free(c->seen);
	free(c->bytes);
	free(c);
}

/* What is needed to check a snapshot. `meta` is read unless it is known already. */
static int begin_check(sx_txn *txn, sx_lmdb_meta *meta, struct check **out, simidx_error *err)
{
	struct check *c = sx_calloc(1, sizeof(*c));
	struct stat st;
	int rc = SIMIDX_OK;

	*out = c;
	if (!c)
		return sx_fail_nomem(err);
	c->fd = txn->store->env.data_fd;
	c->page_size = txn->store->env.page_size;
	if (!meta->txn)
		rc = read_meta(c, txn, meta, err);
	if (rc)
		return rc;
	c->txn = meta->txn;
	c->end = meta->last_page + 1;
	if (fstat(c->fd, &st))
		return sx_fail_errno(err, errno, "%s", sx_store_path(txn->store));
	c->file_end = (uint64_t)st.st_size / c->page_size;
	c->sizes = sx_calloc(c->page_size / 2, sizeof(*c->sizes));
	/* Free pages may be beyond the end, but not more than a transaction can have taken there. */
	if (c->end > c->file_end + SX_LMDB_MAX_DIRTY)
		c->end = c->file_end + SX_LMDB_MAX_DIRTY;
	/* Only what is written to takes memory. */
	c->seen = sx_calloc(c->end / 64 + 1, sizeof(*c->seen));
	return c->sizes && c->seen ? SIMIDX_OK : sx_fail_nomem(err);
}

int sx_page_check(sx_txn *txn, sx_page_problem *problem, void *ctx, simidx_error *err)
{
	sx_lmdb_meta meta = { .txn = 0 };
	struct check *c;
	int rc = begin_check(txn, &meta, &c, err);

	if (!rc) {
		c->problem = problem;
		c->ctx = ctx;
		rc = check_trees(c, &meta);
		if (rc)
			sx_fail_nomem(err);
		else if (c->problems)
			rc = sx_fail(err, SIMIDX_E_CORRUPT, "%s%s", c->first,
				     c->problems > 1 ? ", and more" : "");
	}
	free_check(c);
	return rc;
}

int sx_page_read(sx_txn *txn, sx_page_roots *roots, const char *table, sx_page_value *value,
		 sx_page_problem *problem, void *ctx, simidx_error *err)
{
	struct tree tables = { .kind = TREE_TABLES, .name = SX_PAGE_TABLES };
	struct check *c;
	unsigned t = 0;
	int rc = begin_check(txn, roots, &c, err);

	if (!rc) {
		c->problem = problem;
		c->ctx = ctx;
		c->value = value;
		c->bytes = sx_calloc(1, SX_PAGE_MAX_VALUE);
		tables.record = roots->tables;
		rc = c->bytes ? check_tree(c, &tables) : SIMIDX_E_NOMEM;
		while (t < c->n_tables && strcmp(c->table[t].name, table))
			t++;
		if (!rc)
			rc = t < c->n_tables ? check_tree(c, &c->table[t]) : SIMIDX_E_NOT_FOUND;
		if (rc == SIMIDX_E_NOMEM)
			sx_fail_nomem(err);
		rc = rc ? rc : c->stopped;
	}
	free_check(c);
	return rc;
}

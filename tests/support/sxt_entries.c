/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_entries.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/sxt.h"
#include "support/sxt_lmdb.h"
#include "util/sx_bytes.h"
#include "util/sx_hash.h"

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

struct reading {
	const unsigned char *file;
	unsigned values;
	sxt_entry *at;
	size_t n;
};

/* n little-endian bytes. */
static uint64_t le(const unsigned char *p, unsigned n)
{
	uint64_t x = 0;

	while (n--)
		x = x << 8 | p[n];
	return x;
}

/* The fingerprint of a permuted value of plan 4x16: 16 bits, then the others. */
static uint64_t unpermute(unsigned table, uint64_t value)
{
	unsigned before = 16 * (table - 1);
	uint64_t rest = value & 0xffffffffffff, fp = value >> 48 << (48 - before);

	if (before)
		fp |= rest >> (48 - before) << (64 - before);
	return before == 48 ? fp : fp | (rest & (UINT64_C(0xffffffffffff) >> before));
}

static void add(struct reading *r, unsigned table, size_t end, uint64_t key, const uint64_t *col)
{
	sxt_entry *e;

	if (!(r->n & (r->n - 1))) /* room for twice as many */
		r->at = realloc(r->at, (r->n ? 2 * r->n : 1) * sizeof(*r->at));
	e = &r->at[r->n++];
	*e = (sxt_entry){ .table = table, .id = key, .end = end };
	if (table == SXT_POSTINGS || table == SXT_BY_LABEL) {
		e->fp = key;
		e->id = col[0];
	} else if (table == SXT_FRESH) {
		e->seq = key;
		e->is_delete = (col[0] & 15) == 2;
		e->id = col[1];
		e->fp = col[2];
	}
}

static unsigned columns_of(const struct reading *r, unsigned table)
{
	switch (table) {
	case SXT_POSTINGS:
		return 1 + r->values;
	case SXT_FRESH:
		return 4 + r->values;
	default:
		return table == SXT_DOCS || table == SXT_BY_LABEL;
	}
}

static void read_block(struct reading *r, unsigned table, uint64_t page)
{
	static uint64_t key[16384], col[16384][6];
	const unsigned char *b = r->file + page * PAGE + PAGE_NODES;
	unsigned shape = (unsigned)le(b + 4, 4), w = shape & 15, n = shape >> 4 & 16383, i = 0;
	const unsigned char *bitmap = b + 16 + n * w, *at = bitmap + 8 * (shape >> 18);

	sxt_must_eq(le(b, 4), (uint32_t)(table + sx_hash(b + 4, PAGE - PAGE_NODES - 4)));
	for (unsigned bit = 0; i < n; bit++) {
		if (!(bitmap[bit / 8] >> bit % 8 & 1))
			continue;
		key[i] = le(b + 16 + i * w, w) | (w < 8 ? (le(b + 8, 8) + bit - i) << 8 * w : 0);
		i++;
	}
	for (unsigned c = 0; c < columns_of(r, table); c++) {
		unsigned v = at[8];

		for (i = 0; i < n; i++)
			col[i][c] = le(at, 8) + le(at + 9 + i * v, v);
		at += 9 + n * v;
	}
	for (i = 0; i < n; i++)
		add(r, table, (size_t)(page + 1) * PAGE,
		    table < SXT_POSTINGS ? unpermute(table, key[i]) : key[i], col[i]);
}

static void read_node(struct reading *r, unsigned table, const unsigned char *node, size_t end)
{
	size_t key_size = get16(node + NODE_KEY_SIZE), size = get16(node) | (size_t)get16(node + 2)
										    << 16;
	const unsigned char *key = node + NODE_KEY, *value = key + key_size;
	unsigned in_key = key_size == 16, n = columns_of(r, table);
	uint64_t col[6] = { 0 };

	if (node[NODE_FLAGS] & 1 && table <= SXT_FRESH) {
		read_block(r, table, get64(value));
		return;
	}
	if (node[NODE_FLAGS] & 1)
		end = (size_t)(get64(value) + (size + PAGE_NODES + PAGE - 1) / PAGE) * PAGE;
	if (in_key)
		col[0] = sx_load_be64(key + 8);
	for (unsigned c = in_key; c < n; c++)
		col[c] = le(value + 8 * (c - in_key), 8);
	/* In permuted tables a prefix of two bytes comes first. */
	add(r, table, end, sx_load_be64(key + (table < SXT_POSTINGS ? 2 : 0)), col);
}

static unsigned number_of(const char *name)
{
	static const char *const names[] = { "postings", "docs",     "fresh",
					     "labels",   "by_label", "notes" };

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return SXT_POSTINGS + i;
	return *name == 't' ? (unsigned)atoi(name + 1) : 0;
}

/* All of a tree; with table 0 of that of the tables. */
static void read_tree(struct reading *r, uint64_t root, unsigned table)
{
	const unsigned char *page = r->file + root * PAGE;

	if (root == UINT64_MAX)
		return;
	sxt_must_eq(get64(page), root);
	for (size_t i = 0; i < (get16(page + PAGE_LOWER) - PAGE_NODES) / 2u; i++) {
		const unsigned char *node = page + get16(page + PAGE_NODES + 2 * i);
		size_t size = get16(node + NODE_KEY_SIZE);
		char name[16] = "";

		if (page[PAGE_FLAGS] & 1) {
			read_tree(r, le(node, 6), table);
		} else if (table) {
			read_node(r, table, node, (size_t)(root + 1) * PAGE);
		} else {
			memcpy(name, node + NODE_KEY, size);
			if (number_of(name))
				read_tree(r, get64(node + NODE_KEY + size + TREE_ROOT),
					  number_of(name));
		}
	}
}

sxt_entry *sxt_entries_read(const unsigned char *file, unsigned values, size_t *n)
{
	struct reading r = { file, values, NULL, 0 };
	const unsigned char *meta = file;

	if (get64(file + PAGE + META_TXN) > get64(file + META_TXN))
		meta += PAGE;
	read_tree(&r, get64(meta + META_MAIN_ROOT), 0);
	*n = r.n;
	return r.at;
}

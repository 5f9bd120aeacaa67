/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_page_nodes.h"

#include <stdio.h>
#include <string.h>

/*
 * Bytes of the node at an offset, with what makes it even. 0 if it does not fit there, or is longer
 * than LMDB makes them: it could not split a page of such nodes.
 */
static size_t node_size(const unsigned char *page, size_t page_size, size_t at, int is_leaf)
{
	size_t size = sizeof(sx_lmdb_node);
	sx_lmdb_node head;

	memcpy(&head, page + at, sizeof(head));
	size += head.key_size;
	if (is_leaf && head.flags & SX_LMDB_NODE_OVERFLOW)
		size += sizeof(uint64_t);
	else if (is_leaf)
		size += (size_t)head.high << 16 | head.low;
	if (head.key_size > SX_LMDB_MAX_KEY || size > sx_lmdb_largest_node(page_size))
		return 0;
	size += size % 2;
	return size <= page_size - at ? size : 0;
}

size_t sx_page_nodes(const unsigned char *page, size_t page_size, int is_leaf, uint16_t *sizes,
		     char *wrong)
{
	size_t n, at, met = 0, least = is_leaf ? 1 : 2;
	sx_lmdb_header header;

	memcpy(&header, page, sizeof(header));
	n = (header.lower - sizeof(header)) / sizeof(uint16_t);
	if (header.lower < sizeof(header) + least * sizeof(uint16_t) || header.lower % 2 ||
	    header.upper < header.lower || header.upper > page_size) {
		snprintf(wrong, SX_PAGE_WRONG, " has impossible bounds");
		return 0;
	}
	memset(sizes, 0, page_size / 2 * sizeof(*sizes));
	for (size_t i = 0; i < n; i++) {
		size_t size;

		at = sx_lmdb_node_at(page, i);
		size = at % 2 || at < header.upper || at > page_size - sizeof(sx_lmdb_node)
			       ? 0 : node_size(page, page_size, at, is_leaf);
		if (!size) {
			snprintf(wrong, SX_PAGE_WRONG, ": node %zu has an impossible place or size",
				 i);
			return 0;
		}
		sizes[at / 2] = (uint16_t)size;
	}
	for (at = header.upper; at < page_size && sizes[at / 2]; at += sizes[at / 2])
		met++;
	if (at == page_size && met == n)
		return n;
	snprintf(wrong, SX_PAGE_WRONG, ": its nodes overlap or leave gaps");
	return 0;
}

sx_page_node sx_page_node_of(const unsigned char *page, size_t i)
{
	const unsigned char *p = page + sx_lmdb_node_at(page, i);
	sx_page_node node;

	memcpy(&node.head, p, sizeof(node.head));
	node.key = (sx_slice){ p + sizeof(node.head), node.head.key_size };
	node.value = p + sizeof(node.head) + node.head.key_size;
	node.size = (uint32_t)node.head.high << 16 | node.head.low;
	node.child = node.size | (uint64_t)node.head.flags << 32;
	return node;
}

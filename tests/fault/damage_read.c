/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Reads a sound data file: what each of its pages is for. */

#include "damage_file.h"

#include <string.h>

static void use(dmg_file *f, uint64_t page, unsigned kind, unsigned owner)
{
	sxt_must(page < f->n_pages && !f->kind[page]);
	f->kind[page] = (uint8_t)kind;
	f->owner[page] = (uint8_t)owner;
	f->used[f->n_used++] = (uint32_t)page;
}

static void read_tree(dmg_file *f, uint64_t root, unsigned owner);

static void read_leaf_node(dmg_file *f, unsigned char *node, unsigned owner)
{
	unsigned flags = sx_load_le16(node + NODE_FLAGS);
	unsigned char *data = node_data(node);

	if (flags & HAS_PAGES) {
		uint64_t first = sx_load_le64(data);
		uint32_t count = sx_load_le32(page_at(f, first) + PAGE_COUNT);

		for (uint32_t i = 0; i < count; i++)
			use(f, first + i, DMG_OVERFLOW, owner);
	} else if (flags & HAS_TREE) {
		size_t size = sx_load_le16(node + NODE_KEY_SIZE);

		sxt_must(f->n_trees < DMG_MAX_TREES && size < sizeof(f->name[0]));
		memset(f->name[f->n_trees], 0, sizeof(f->name[0]));
		memcpy(f->name[f->n_trees], node + NODE_HEAD, size);
		read_tree(f, sx_load_le64(data + TREE_ROOT), f->n_trees++);
	}
}

static void read_tree(dmg_file *f, uint64_t root, unsigned owner)
{
	unsigned char *page;

	if (root == NO_PAGE)
		return;
	page = page_at(f, root);
	if (sx_load_le16(page + PAGE_FLAGS) & IS_LEAF) {
		use(f, root, DMG_LEAF, owner);
		for (size_t i = 0; i < n_nodes(page); i++)
			read_leaf_node(f, node_at(page, i), owner);
		return;
	}
	use(f, root, DMG_BRANCH, owner);
	for (size_t i = 0; i < n_nodes(page); i++) {
		const unsigned char *node = node_at(page, i);

		read_tree(f, sx_load_le32(node) | (uint64_t)sx_load_le16(node + NODE_FLAGS) << 32,
			  owner);
	}
}

void dmg_file_begin(dmg_file *f, unsigned char *data, const dmg_sample *sample,
		    const dmg_image *image)
{
	const unsigned char *meta;

	memset(f, 0, sizeof(*f));
	f->data = data;
	f->size = image->size;
	f->sample = sample;
	f->image = image;
	memcpy(data, image->data, image->size);
	f->page_size = sx_load_le32(data + META_PAGE_SIZE);
	f->n_pages = f->size / f->page_size;
	sxt_must(f->n_pages <= DMG_MAX_PAGES);
	use(f, 0, DMG_META, 0);
	use(f, 1, DMG_META, 0);
	meta = page_at(f, newest_meta(f));
	f->n_trees = DMG_MAIN_TREE + 1;
	read_tree(f, sx_load_le64(meta + META_FREE + TREE_ROOT), DMG_FREE_TREE);
	read_tree(f, sx_load_le64(meta + META_MAIN + TREE_ROOT), DMG_MAIN_TREE);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "damage_file.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/sx_hash.h"

const char *const dmg_class_names[DMG_N_CLASSES] = {
#define NAME(name, text) #name,
	DMG_CLASSES(NAME)
#undef NAME
};

const char *const dmg_class_texts[DMG_N_CLASSES] = {
#define TEXT(name, text) text,
	DMG_CLASSES(TEXT)
#undef TEXT
};

static void note(dmg_file *f, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void note(dmg_file *f, const char *format, ...)
{
	size_t used = strlen(f->what);
	va_list ap;

	va_start(ap, format);
	if (used && used + 3 < sizeof(f->what)) {
		strcpy(f->what + used, "; ");
		used += 2;
	}
	vsnprintf(f->what + used, sizeof(f->what) - used, format, ap);
	va_end(ap);
}

/* What a page is for, for a person. */
static const char *purpose(const dmg_file *f, uint64_t page)
{
	switch (f->kind[page]) {
	case DMG_UNUSED: return "unused";
	case DMG_META: return "meta";
	default: break;
	}
	return f->owner[page] == DMG_FREE_TREE ? "free list" :
	       f->owner[page] == DMG_MAIN_TREE ? "list of tables" : f->name[f->owner[page]];
}

/* ------------------------------------------------------------------------------------------
 * Choosing
 */

/* A page in use, now and then any page. */
static uint32_t any_page(const dmg_file *f, sxt_rng *rng)
{
	if (sxt_rng_below(rng, 16) == 0)
		return (uint32_t)sxt_rng_below(rng, f->n_pages);
	return f->used[sxt_rng_below(rng, f->n_used)];
}

/* A page whose kind has its bit in `kinds`, of the owner or of any; 0 if there is none. Every
   second one is not a block, as there are many of these. */
static uint32_t page_of(const dmg_file *f, unsigned kinds, unsigned owner, sxt_rng *rng)
{
	size_t n = 0, chosen;

	if (kinds & ~(1u << DMG_OVERFLOW) && sxt_rng_below(rng, 2))
		kinds &= ~(1u << DMG_OVERFLOW);
	for (size_t i = 0; i < f->n_used; i++)
		n += kinds >> f->kind[f->used[i]] & 1 && (!owner || f->owner[f->used[i]] == owner);
	if (!n)
		return 0;
	chosen = sxt_rng_below(rng, n);
	for (size_t i = 0;; i++)
		if (kinds >> f->kind[f->used[i]] & 1 && (!owner || f->owner[f->used[i]] == owner) &&
		    !chosen--)
			return f->used[i];
}

/* As node_at(), but in the page, whatever the pointer says: it may have been damaged before. */
static unsigned char *node_within(const dmg_file *f, unsigned char *page, size_t i)
{
	return page + sx_load_le16(page + PAGE_HEAD + 2 * i) % (f->page_size - NODE_HEAD);
}

/* A value like `x` that is likely to do harm. */
static uint64_t mangle(uint64_t x, unsigned bytes, sxt_rng *rng)
{
	unsigned bits = 8 * bytes;

	switch (sxt_rng_below(rng, 8)) {
	case 0: return x + 1;
	case 1: return x - 1;
	case 2: return x + 2;
	case 3: return UINT64_C(1) << sxt_rng_below(rng, bits);
	case 4: return sxt_rng_u64(rng);
	case 5: return sxt_rng_below(rng, 2) ? UINT64_MAX : 0;
	case 6: return sxt_rng_below(rng, 4096);
	default: return sxt_rng_flip(rng, x, bits, 1);
	}
}

/* Mangle the number of 1, 2, 4 or 8 bytes at a place. */
static void mangle_at(dmg_file *f, unsigned char *at, unsigned bytes, const char *what,
		      sxt_rng *rng)
{
	size_t page = (size_t)(at - f->data) / f->page_size;
	uint64_t x = 0, y;

	memcpy(&x, at, bytes);
	y = mangle(x, bytes, rng);
	memcpy(at, &y, bytes);
	note(f, "page %zu of %s, %zu: %s %" PRIu64 " is now %" PRIu64, page, purpose(f, page),
	     (size_t)(at - f->data) % f->page_size, what, x, y & sx_low_bits(8 * bytes));
}

/* ------------------------------------------------------------------------------------------
 * Pages
 */

static void swap_bytes(unsigned char *a, unsigned char *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = a[i];

		a[i] = b[i];
		b[i] = c;
	}
}

static void swap_pages(dmg_file *f, sxt_rng *rng)
{
	uint32_t a = any_page(f, rng), b = any_page(f, rng);
	size_t keep = sxt_rng_below(rng, 2) ? 8 : 0; /* the number */

	swap_bytes(page_at(f, a) + keep, page_at(f, b) + keep, f->page_size - keep);
	note(f, "pages %u of %s and %u of %s swapped%s", a, purpose(f, a), b, purpose(f, b),
	     keep ? " but for their numbers" : "");
}

static void damage_page_header(dmg_file *f, sxt_rng *rng)
{
	unsigned char *page = page_at(
		f, page_of(f, 1u << DMG_BRANCH | 1u << DMG_LEAF | 1u << DMG_OVERFLOW, 0, rng));
	uint32_t count;

	switch (sxt_rng_below(rng, 8)) {
	case 0: mangle_at(f, page, 8, "number", rng); break;
	case 1: mangle_at(f, page + PAGE_FLAGS, 2, "flags", rng); break;
	case 2: mangle_at(f, page + PAGE_LOWER, 2, "lower", rng); break;
	case 3: mangle_at(f, page + PAGE_UPPER, 2, "upper", rng); break;
	case 4: mangle_at(f, page + PAGE_COUNT, 4, "count", rng); break;
	case 5:
	case 6:
		count = sxt_rng_below(rng, 2) ? 3 : (uint32_t)1 << sxt_rng_below(rng, 32);
		sx_store_le32(page + PAGE_COUNT, count);
		note(f, "page %zu: count %u", (size_t)(page - f->data) / f->page_size, count);
		break;
	default: mangle_at(f, page + sxt_rng_below(rng, PAGE_HEAD), 1, "byte", rng);
	}
}

static void damage_node(dmg_file *f, sxt_rng *rng)
{
	uint32_t number = page_of(f, 1u << DMG_BRANCH | 1u << DMG_LEAF, 0, rng);
	unsigned char *page = page_at(f, number), *node, *other;
	size_t n = n_nodes(page), i;
	unsigned flags;

	/* Several at once: it may have been damaged before. */
	if (!n || n > f->page_size / 4 || sx_load_le16(page + PAGE_HEAD) > f->page_size - NODE_HEAD)
		return;
	i = sxt_rng_below(rng, n);
	if (sxt_rng_below(rng, 4) == 0) {
		mangle_at(f, page + PAGE_HEAD + 2 * i, 2, "pointer", rng);
		return;
	}
	if (sxt_rng_below(rng, 8) == 0) {
		other = page + PAGE_HEAD + 2 * sxt_rng_below(rng, n);
		swap_bytes(page + PAGE_HEAD + 2 * i, other, 2);
		note(f, "page %u: pointer %zu swapped with another", number, i);
		return;
	}
	node = node_within(f, page, i);
	flags = sx_load_le16(node + NODE_FLAGS);
	if (f->kind[number] == DMG_LEAF && flags & (HAS_PAGES | HAS_TREE) &&
	    sxt_rng_below(rng, 2)) {
		unsigned char *data = node_data(node);

		if (data + TREE_SIZE > page + f->page_size)
			return;
		if (flags & HAS_TREE)
			data += sxt_rng_below(rng, 6) * 8;
		if (sxt_rng_below(rng, 2))
			mangle_at(f, data, 8, "record of a tree or pages", rng);
		else
			sx_store_le64(data, any_page(f, rng));
		note(f, "page %u, entry %zu: in its record", number, i);
		return;
	}
	switch (sxt_rng_below(rng, 4)) {
	case 0: mangle_at(f, node, 4, "size or child", rng); break;
	case 1: mangle_at(f, node + NODE_FLAGS, 2, "flags of an entry", rng); break;
	case 2: mangle_at(f, node + NODE_KEY_SIZE, 2, "size of a key", rng); break;
	default: mangle_at(f, node + NODE_HEAD, 1, "byte of a key", rng);
	}
}

static void damage_free_list(dmg_file *f, sxt_rng *rng)
{
	uint32_t number = page_of(f, 1u << DMG_LEAF, DMG_FREE_TREE, rng);
	unsigned char *page, *node, *data;
	size_t n, count, i;

	if (!number)
		return;
	page = page_at(f, number);
	n = n_nodes(page);
	if (!n || n > f->page_size / 4)
		return;
	node = node_within(f, page, sxt_rng_below(rng, n));
	data = node + NODE_HEAD + 8;
	if (sx_load_le16(node + NODE_FLAGS) || data + 16 > page + f->page_size)
		return;
	count = sx_load_le64(data);
	if (!count || count >= (size_t)(page + f->page_size - data) / 8)
		return;
	i = 1 + sxt_rng_below(rng, count);
	switch (sxt_rng_below(rng, 6)) {
	case 0: mangle_at(f, data, 8, "number of free pages", rng); break;
	case 1: mangle_at(f, data + 8 * i, 8, "free page", rng); break;
	case 2: mangle_at(f, node + NODE_HEAD, 8, "transaction of free pages", rng); break;
	case 3: /* free and in use */
		sx_store_le64(data + 8 * i, any_page(f, rng));
		note(f, "page %u: a used page is free", number);
		break;
	case 4: /* free twice */
		sx_store_le64(data + 8 * i,
			      sx_load_le64(data + 8 * (1 + sxt_rng_below(rng, count))));
		note(f, "page %u: a page is free twice", number);
		break;
	default:
		swap_bytes(data + 8 * i, data + 8 * (1 + sxt_rng_below(rng, count)), 8);
		note(f, "page %u: free pages in another order", number);
	}
}

/* An image that was there before the damaged one, or NULL. */
static const dmg_image *older_image(const dmg_file *f, sxt_rng *rng)
{
	size_t n = (size_t)(f->image - f->sample->images);

	return n ? &f->sample->images[sxt_rng_below(rng, n)] : NULL;
}

static void make_meta_stale(dmg_file *f, sxt_rng *rng)
{
	const dmg_image *old = older_image(f, rng);
	uint64_t which = sxt_rng_below(rng, 4); /* first, second, both, newest over both */

	if (!old)
		return;
	if (which == 3) {
		memcpy(page_at(f, 1 - newest_meta(f)), page_at(f, newest_meta(f)), f->page_size);
		note(f, "the newest meta page twice");
		return;
	}
	for (unsigned m = 0; m < 2; m++)
		if (which == 2 || which == m)
			memcpy(page_at(f, m), old->data + m * f->page_size, f->page_size);
	note(f, "meta page %s of an older commit", which == 2 ? "0 and 1" : which ? "1" : "0");
}

static void make_page_stale(dmg_file *f, sxt_rng *rng)
{
	const dmg_image *old = older_image(f, rng);

	/* Most pages are the same in both. */
	for (unsigned tries = 0; old && tries < 100; tries++) {
		uint32_t page = any_page(f, rng);
		const unsigned char *from = old->data + page * f->page_size;

		if (page < 2 || (page + 1) * f->page_size > old->size ||
		    !memcmp(page_at(f, page), from, f->page_size))
			continue;
		memcpy(page_at(f, page), from, f->page_size);
		note(f, "page %u of %s of an older commit", page, purpose(f, page));
		return;
	}
}

/* LMDB writes into the meta page that failed its new roots with what it held before for the last
   page and the transaction, so that it is not used. The pages of the failed commit are written. */
static void fail_meta(dmg_file *f)
{
	size_t n = (size_t)(f->image - f->sample->images);
	const dmg_image *before = n ? f->image - 1 : NULL;
	unsigned newest = newest_meta(f);
	const unsigned char *old;

	if (!before)
		return;
	old = before->data + newest * f->page_size;
	memcpy(page_at(f, newest) + META_LAST_PAGE, old + META_LAST_PAGE,
	       META_TXN - META_LAST_PAGE);
	/* The transactions take turns, so that of the same page is the last but one. */
	sx_store_le64(page_at(f, newest) + META_TXN,
		      sx_load_le64(page_at(f, newest) + META_TXN) - 2);
	note(f, "the write of meta page %u failed", newest);
}

static void fill_page(dmg_file *f, int random, sxt_rng *rng)
{
	uint32_t number = any_page(f, rng);
	size_t from = random && sxt_rng_below(rng, 2) ? PAGE_HEAD : 0;

	for (size_t i = from; i < f->page_size; i++)
		page_at(f, number)[i] = random ? (unsigned char)sxt_rng_u64(rng) : 0;
	note(f, "page %u of %s %s%s", number, purpose(f, number), random ? "random" : "zero",
	     from ? " but for its header" : "");
}

/* ------------------------------------------------------------------------------------------
 * Bytes
 */

/* A place in a page in use, of which `n` bytes lie in the file. */
static unsigned char *any_place(const dmg_file *f, size_t n, sxt_rng *rng)
{
	return page_at(f, any_page(f, rng)) + sxt_rng_below(rng, f->page_size - n + 1);
}

static void flip_bits(dmg_file *f, sxt_rng *rng)
{
	uint64_t n = sxt_rng_below(rng, 2) ? 1 : 1 + sxt_rng_below(rng, 8);

	for (uint64_t i = 0; i < n; i++) {
		unsigned char *at = any_place(f, 1, rng);

		*at ^= (unsigned char)(1 << sxt_rng_below(rng, 8));
		note(f, "page %zu of %s, %zu: a bit", (size_t)(at - f->data) / f->page_size,
		     purpose(f, (size_t)(at - f->data) / f->page_size),
		     (size_t)(at - f->data) % f->page_size);
	}
}

static void cut(dmg_file *f, sxt_rng *rng)
{
	uint64_t how = sxt_rng_below(rng, 8);

	if (!f->size)
		return;
	if (how == 0) {
		size_t more = 1 + sxt_rng_below(rng, 2 * f->page_size);

		for (size_t i = 0; i < more; i++)
			f->data[f->size++] = (unsigned char)sxt_rng_u64(rng);
		note(f, "%zu bytes of junk at the end", more);
		return;
	}
	f->size = sxt_rng_below(rng, f->size);
	if (how > 4)
		f->size -= f->size % f->page_size;
	note(f, "cut to %zu bytes", f->size);
}

static void damage_meta(dmg_file *f, sxt_rng *rng)
{
	unsigned m = sxt_rng_below(rng, 4) ? newest_meta(f) : 1 - newest_meta(f);
	unsigned char *page = page_at(f, m);

	switch (sxt_rng_below(rng, 3)) {
	case 0: mangle_at(f, page + sxt_rng_below(rng, META_SIZE), 1, "byte", rng); break;
	case 1:
		mangle_at(f, page + PAGE_HEAD + 4 * sxt_rng_below(rng, (META_SIZE - PAGE_HEAD) / 4),
			  4, "half word", rng);
		break;
	default: mangle_at(f, page + 8 * sxt_rng_below(rng, META_SIZE / 8), 8, "word", rng);
	}
}

/* ------------------------------------------------------------------------------------------
 * Contents
 */

/* The n-th record of the key `header` in a leaf page, and its size; NULL if there are not that
   many. */
static unsigned char *find_header(const dmg_file *f, unsigned nth, size_t *size)
{
	for (size_t u = 0; u < f->n_used; u++) {
		unsigned char *page = page_at(f, f->used[u]);

		if (f->kind[f->used[u]] != DMG_LEAF || n_nodes(page) > f->page_size / 4)
			continue;
		for (size_t i = 0; i < n_nodes(page); i++) {
			unsigned char *node = node_within(f, page, i);
			size_t room = (size_t)(page + f->page_size - node);

			if (room < NODE_HEAD + 6 + 8 || memcmp(node + NODE_HEAD, "header", 6) ||
			    sx_load_le16(node + NODE_KEY_SIZE) != 6 || nth--)
				continue;
			*size = sx_load_le32(node);
			return *size > 16 && *size <= room - NODE_HEAD - 6 ? node_data(node) : NULL;
		}
	}
	return NULL;
}

static void sign(unsigned char *record, size_t size)
{
	sx_store_le64(record + size - 8, sx_hash(record, size - 8));
}

static void forge_header(dmg_file *f, sxt_rng *rng)
{
	size_t size, other_size, width = (size_t)1 << sxt_rng_below(rng, 4);
	unsigned char *header = find_header(f, 0, &size), *other = find_header(f, 1, &other_size);

	if (!header)
		return;
	mangle_at(f, header + sxt_rng_below(rng, (size - 8) / width) * width, (unsigned)width,
		  "in the header,", rng);
	sign(header, size);
	f->forged = 1;
	if (other && other_size == size && sxt_rng_below(rng, 4)) {
		memcpy(other, header, size);
		note(f, "in both");
	}
}

static void swap_blocks(dmg_file *f, sxt_rng *rng)
{
	uint32_t a = page_of(f, 1u << DMG_OVERFLOW, 0, rng), b;

	if (!a)
		return;
	b = page_of(f, 1u << DMG_OVERFLOW, f->owner[a], rng);
	swap_bytes(page_at(f, a) + PAGE_HEAD, page_at(f, b) + PAGE_HEAD, f->page_size - PAGE_HEAD);
	note(f, "blocks of pages %u and %u of %s swapped", a, b, f->name[f->owner[a]]);
}

static void forge_block(dmg_file *f, sxt_rng *rng)
{
	uint32_t number = page_of(f, 1u << DMG_OVERFLOW, 0, rng);
	unsigned char *block = page_at(f, number) + PAGE_HEAD;
	size_t size = f->page_size - PAGE_HEAD;
	unsigned n = 1 + (unsigned)sxt_rng_below(rng, 3);

	if (!number)
		return;
	while (n--) {
		unsigned width = 1u << sxt_rng_below(rng, 4);
		size_t most = sxt_rng_below(rng, 2) ? 40 : size; /* the head has 16 bytes */
		size_t at = 4 + sxt_rng_below(rng, (most - 4) / width) * width;

		mangle_at(f, block + at, width, "in a block,", rng);
	}
	sx_store_le32(block, (uint32_t)sx_hash(block + 4, size - 4));
}

/* A byte of key or value of a row, and the checksum of both in the last 4 bytes of the value. */
static void forge_row(dmg_file *f, sxt_rng *rng)
{
	uint32_t number = page_of(f, 1u << DMG_LEAF, 0, rng);
	unsigned char *page = page_at(f, number), *node, row[512];
	size_t n = n_nodes(page), key, value;

	if (!n || n > f->page_size / 4 || f->owner[number] <= DMG_MAIN_TREE)
		return;
	node = node_within(f, page, sxt_rng_below(rng, n));
	key = sx_load_le16(node + NODE_KEY_SIZE);
	value = sx_load_le32(node);
	if (sx_load_le16(node + NODE_FLAGS) || value < 4 || key > 16 || value > 256 ||
	    node + NODE_HEAD + key + value > page + f->page_size)
		return;
	mangle_at(f, node + NODE_HEAD + sxt_rng_below(rng, key + value - 4), 1, "in a row, byte",
		  rng);
	memcpy(row, node + NODE_HEAD, key + value);
	sx_store_le32(node + NODE_HEAD + key + value - 4, (uint32_t)sx_hash(row, key + value - 4));
}

static void forge(dmg_file *f, sxt_rng *rng)
{
	f->forged = 1;
	if (f->sample->form->layout == SIMIDX_LAYOUT_BLOCKS && sxt_rng_below(rng, 8))
		forge_block(f, rng);
	else
		forge_row(f, rng);
}

void dmg_file_damage(dmg_file *f, enum dmg_class class, sxt_rng *rng)
{
	unsigned n = 2 + (unsigned)sxt_rng_below(rng, 3);

	switch (class) {
	case DMG_page_swap: swap_pages(f, rng); break;
	case DMG_page_header: damage_page_header(f, rng); break;
	case DMG_node: damage_node(f, rng); break;
	case DMG_free_list: damage_free_list(f, rng); break;
	case DMG_stale_meta: make_meta_stale(f, rng); break;
	case DMG_stale_page: make_page_stale(f, rng); break;
	case DMG_failed_meta: fail_meta(f); break;
	case DMG_zeroed: fill_page(f, 0, rng); break;
	case DMG_junk: fill_page(f, 1, rng); break;
	case DMG_bits: flip_bits(f, rng); break;
	case DMG_word: mangle_at(f, any_place(f, 4, rng), 4, "word", rng); break;
	case DMG_cut: cut(f, rng); break;
	case DMG_meta: damage_meta(f, rng); break;
	case DMG_header: forge_header(f, rng); break;
	case DMG_block_swap: swap_blocks(f, rng); break;
	case DMG_forged: forge(f, rng); break;
	case DMG_several:
		while (n--)
			dmg_file_damage(f, 1 + (enum dmg_class)sxt_rng_below(rng, DMG_several - 1),
					rng);
		break;
	default: break;
	}
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Damage to a data file, one random change at a time. */

#ifndef DAMAGE_FILE_H
#define DAMAGE_FILE_H

#include "damage_pages.h"
#include "damage_sample.h"

/* Every class once: X(name, what is changed). */
#define DMG_CLASSES(X)                                                                        \
	X(none, "nothing: the control")                                                       \
	X(page_swap, "two pages change places, with or without their numbers")                \
	X(page_header, "one field or byte of a page's header")                                \
	X(node, "pointers and heads of entries, page numbers, records of trees")              \
	X(free_list, "the list of free pages")                                                \
	X(stale_meta, "one or both meta pages are those of an older commit")                  \
	X(stale_page, "another page is that of an older commit")                              \
	X(failed_meta, "a meta page as LMDB leaves it after a write that failed")             \
	X(zeroed, "a page of zeros")                                                          \
	X(junk, "a page of random bytes, all or all but its header")                          \
	X(bits, "1 to 8 bits anywhere")                                                       \
	X(word, "4 bytes anywhere")                                                           \
	X(cut, "the file ends early, at any byte or between pages, or goes on with junk")     \
	X(meta, "bytes of the meta pages")                                                    \
	X(header, "fields of the index's header, its checksum made right again")              \
	X(block_swap, "the contents of two pages of one table change places")                 \
	X(forged, "contents of a block or a row, its checksum made right again")              \
	X(several, "two to four of these")

enum dmg_class {
#define DMG_ENUM(name, text) DMG_##name,
	DMG_CLASSES(DMG_ENUM)
#undef DMG_ENUM
	DMG_N_CLASSES
};

extern const char *const dmg_class_names[DMG_N_CLASSES];
extern const char *const dmg_class_texts[DMG_N_CLASSES];

#define DMG_MAX_PAGES 4096

/** What a page is for. */
enum dmg_kind { DMG_UNUSED, DMG_META, DMG_BRANCH, DMG_LEAF, DMG_OVERFLOW };

#define DMG_FREE_TREE 1 /* owners: the list of free pages, the list of tables, then the tables */
#define DMG_MAIN_TREE 2
#define DMG_MAX_TREES 64

/** A copy of an image, which is damaged. */
typedef struct dmg_file {
	unsigned char *data; /* has room for twice the largest image */
	size_t size, page_size;
	const dmg_sample *sample;
	const dmg_image *image;
	size_t n_pages;
	uint8_t kind[DMG_MAX_PAGES]; /* enum dmg_kind, by page number, before it was damaged */
	uint8_t owner[DMG_MAX_PAGES];
	char name[DMG_MAX_TREES][16]; /* of the tables */
	unsigned n_trees;
	uint32_t used[DMG_MAX_PAGES]; /* numbers of pages that are not unused */
	size_t n_used;
	int forged; /* checksums were made to fit: contents can be wrong and look right */
	char what[240]; /* what was done, for a person */
} dmg_file;

static inline unsigned char *page_at(const dmg_file *f, uint64_t number)
{
	return f->data + number * f->page_size;
}

/* Which of the two meta pages is that of the last commit. */
static inline unsigned newest_meta(const dmg_file *f)
{
	return sx_load_le64(page_at(f, 1) + META_TXN) > sx_load_le64(page_at(f, 0) + META_TXN);
}

/** Start with a sound image. `data` has room for twice its size. */
void dmg_file_begin(dmg_file *file, unsigned char *data, const dmg_sample *sample,
		    const dmg_image *image);

/** Do damage of a class. Where the image has nothing to do it to, the file stays as it is. */
void dmg_file_damage(dmg_file *file, enum dmg_class class, sxt_rng *rng);

#endif /* DAMAGE_FILE_H */

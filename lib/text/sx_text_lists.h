/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Lists of words that an extractor looks tokens up in, shared by its clones.
 */

#ifndef SX_TEXT_LISTS_H
#define SX_TEXT_LISTS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include <simidx_sketch.h>

/** Values by hash: open addressing. All zero is the empty one. */
typedef struct sx_dict {
	simidx_feature *slot; /* weight: the value + 1, so that 0 is free */
	size_t n_slots;       /* 0 or a power of two */
	size_t n;
} sx_dict;

/** Greatest value of a dictionary. */
#define SX_DICT_MAX (UINT32_MAX - 1)

/** Set a value, replacing an older one; at most SX_DICT_MAX. */
int sx_dict_set(sx_dict *dict, uint64_t hash, uint32_t value, simidx_error *err);

/** The slot of a hash, its value being weight - 1; NULL if there is none. */
const simidx_feature *sx_dict_get(const sx_dict *dict, uint64_t hash);

/** Free what it holds. */
void sx_dict_free(sx_dict *dict);

/** The lists of an extractor; unchanged once they are loaded. */
typedef struct sx_lists {
	atomic_uint users;
	sx_dict stop;        /* words that are left out */
	sx_dict words;       /* words that stay in one piece */
	size_t longest_word; /* of those, in bytes */
	sx_dict idf;         /* of features, in 16.16 fixed point */
	uint32_t median;     /* of these */
} sx_lists;

/** One user more. */
sx_lists *sx_lists_share(sx_lists *lists);

/** One user less; frees them with the last one. NULL is allowed. */
void sx_lists_release(sx_lists *lists);

#endif /* SX_TEXT_LISTS_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Structs that pass between callers and the library and begin with their size (a size_t). A
 * program may be built with an older header, where such a struct is shorter than ours, or with a
 * newer one, where it is longer. The rules are those of Linux's extensible system calls
 * (copy_struct_from_user()): what a shorter struct lacks counts as zero, and a longer one is
 * accepted if everything that this library does not know of is zero. Fields are added at the end,
 * zero in them means what there was before, and no such struct ends in padding.
 *
 * These functions are inline: a caller with our own size pays for a comparison.
 */

#ifndef SX_STRUCT_H
#define SX_STRUCT_H

#include <stddef.h>
#include <string.h>

/** The largest size that is believed: a size beyond was never set. */
#define SX_STRUCT_MAX 4096

/** The size of a struct that ends with this field: what a caller has to bring at least. */
#define SX_STRUCT_TO(type, field) (offsetof(type, field) + sizeof(((type *)0)->field))

/** The size that a caller gave a struct. */
static inline size_t sx_struct_size(const void *given)
{
	size_t size;

	/* An element of an array may lie at any address. */
	memcpy(&size, given, sizeof(size));
	return size;
}

/**
 * Read a struct that a caller fills.
 *
 * @param given  the caller's; may be NULL
 * @param min    smallest size that is accepted
 * @param copy   room for `size` bytes, used where the sizes differ
 * @param size   sizeof of our struct
 * @return `given` where it has our size; `copy`, with our size in it, where it was made from a
 *         shorter or a longer one; NULL for NULL, a size below `min` or above SX_STRUCT_MAX, and
 *         a longer struct with something in it that we do not know
 */
static inline const void *sx_struct_read(const void *given, size_t min, void *copy, size_t size)
{
	size_t n = given ? sx_struct_size(given) : 0;

	if (n == size)
		return given;
	if (n < min || n > SX_STRUCT_MAX)
		return NULL;
	for (size_t i = size; i < n; i++)
		if (((const unsigned char *)given)[i])
			return NULL;
	memset(copy, 0, size);
	memcpy(copy, given, n < size ? n : size);
	*(size_t *)copy = size;
	return copy;
}

/**
 * Begin with a struct that the library fills: set all of it to zero but its size.
 *
 * @param out   the caller's; may be NULL
 * @param min   smallest size that is accepted
 * @param own   room for `size` bytes, used where the sizes differ
 * @param size  sizeof of our struct
 * @return where to make the result: `out` where it has our size; else `own`, which is zero but for
 *         its size, and sx_struct_end() is to follow; NULL for NULL and for a size below `min` or
 *         above SX_STRUCT_MAX
 */
static inline void *sx_struct_begin(void *out, size_t min, void *own, size_t size)
{
	size_t n = out ? sx_struct_size(out) : 0;

	if (n == size) {
		memset((size_t *)out + 1, 0, size - sizeof(size_t));
		return out;
	}
	if (n < min || n > SX_STRUCT_MAX)
		return NULL;
	memset((size_t *)out + 1, 0, n - sizeof(size_t));
	memset(own, 0, size);
	*(size_t *)own = size;
	return own;
}

/**
 * Hand a result over: as much of it as the caller's struct has room for. The caller's size stays.
 *
 * @param out   the caller's, of sx_struct_begin()
 * @param made  the result; nothing happens if that is `out`
 * @param size  sizeof of our struct
 */
static inline void sx_struct_end(void *out, const void *made, size_t size)
{
	size_t n = sx_struct_size(out);

	if (out != made)
		memcpy((size_t *)out + 1, (const size_t *)made + 1,
		       (n < size ? n : size) - sizeof(size_t));
}

#endif /* SX_STRUCT_H */

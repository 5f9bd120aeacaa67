/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Bytes that are copied one after another and freed together. What was copied stays where it is
 * until then.
 */

#ifndef SX_ARENA_H
#define SX_ARENA_H

#include <stddef.h>

struct sx_arena_piece;

/** All zero is an empty one. */
typedef struct sx_arena {
	struct sx_arena_piece *last; /* the newest piece; each knows the one before it */
	size_t used;                 /* bytes of it */
} sx_arena;

/** Copy `size` bytes, to where an object of any type may stand. NULL when memory is short. */
void *sx_arena_copy(sx_arena *arena, const void *data, size_t size);

/** Forget all that was copied; one piece of memory is kept. */
void sx_arena_clear(sx_arena *arena);

void sx_arena_free(sx_arena *arena);

#endif /* SX_ARENA_H */

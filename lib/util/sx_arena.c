/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 65536
#define ALIGNMENT _Alignof(max_align_t)

struct sx_arena_piece {
	struct sx_arena_piece *before;
	size_t size;
	_Alignas(max_align_t) char bytes[];
};

static int add_piece(sx_arena *arena, size_t size)
{
	struct sx_arena_piece *piece;

	if (size < PIECE)
		size = PIECE;
	if (size > SIZE_MAX - sizeof(*piece))
		return -1;
	piece = malloc(sizeof(*piece) + size);
	if (!piece)
		return -1;
	piece->before = arena->last;
	piece->size = size;
	arena->last = piece;
	arena->used = 0;
	return 0;
}

void *sx_arena_copy(sx_arena *arena, const void *data, size_t size)
{
	char *to;

	arena->used = (arena->used + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if ((!arena->last || arena->last->size < arena->used ||
	     arena->last->size - arena->used < size) &&
	    add_piece(arena, size))
		return NULL;
	to = arena->last->bytes + arena->used;
	if (size)
		memcpy(to, data, size);
	arena->used += size;
	return to;
}

void sx_arena_clear(sx_arena *arena)
{
	struct sx_arena_piece *kept = arena->last;

	if (!kept)
		return;
	arena->last = kept->before;
	kept->before = NULL;
	sx_arena_free(arena);
	/* One that was made for something large would stay for ever. */
	if (kept->size > PIECE) {
		free(kept);
		kept = NULL;
	}
	arena->last = kept;
}

void sx_arena_free(sx_arena *arena)
{
	while (arena->last) {
		struct sx_arena_piece *piece = arena->last;

		arena->last = piece->before;
		free(piece);
	}
	arena->used = 0;
}

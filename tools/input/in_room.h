/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Memory that grows, for a buffer or a table.
 */

#ifndef IN_ROOM_H
#define IN_ROOM_H

#include <stddef.h>

/** All zero is an empty one, and `bytes` is for free(). */
struct in_room {
	void *bytes;
	size_t size;
};

/**
 * Have room for `size` bytes, or twice that of before, whichever is more. What was in it stays, but
 * may move.
 *
 * @return 0; -1 when memory is short, and then the room is as it was
 */
int in_room_have(struct in_room *room, size_t size);

#endif /* IN_ROOM_H */

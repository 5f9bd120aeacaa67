/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_room.h"

#include <stdlib.h>

int in_room_have(struct in_room *room, size_t size)
{
	void *larger;

	if (size <= room->size)
		return 0;
	size = size < 2 * room->size ? 2 * room->size : size;
	larger = realloc(room->bytes, size);
	if (!larger)
		return -1;
	room->bytes = larger;
	room->size = size;
	return 0;
}

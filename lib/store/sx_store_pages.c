/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which pages of the map are in memory, and asking for those that are not.
 */

#include <stdio.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "store/sx_store_lmdb.h"

unsigned sx_store_map_changes(const sx_store *store)
{
	return atomic_load_explicit(&store->map_changes, memory_order_relaxed);
}

static void *page_of(const sx_store *store, const void *p)
{
	return (void *)((uintptr_t)p & ~((uintptr_t)store->page_size - 1));
}

int sx_store_is_resident(const sx_store *store, const void *p)
{
	unsigned char resident = 1;

	return mincore(page_of(store, p), 1, &resident) || (resident & 1);
}

void sx_store_will_need(const sx_store *store, const void *p)
{
	(void)madvise(page_of(store, p), store->page_size, MADV_WILLNEED);
}

/* Whether a line of /proc/self/maps is about the map of the store; then from where to where. */
static int is_map(const sx_store *store, const char *line, unsigned long *start,
		  unsigned long *end)
{
	unsigned long inode;
	unsigned major_number, minor_number;
	char how[5];

	/* Shared and read-only: nothing can be lost that is only in memory. */
	return sscanf(line, "%lx-%lx %4s %*x %x:%x %lu", start, end, how, &major_number,
		      &minor_number, &inode) == 6 &&
	       inode == store->ino && major_number == major(store->dev) &&
	       minor_number == minor(store->dev) && how[0] == 'r' && how[1] == '-' && how[3] == 's';
}

void sx_store_unmap_pages(const sx_store *store)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[256];

	if (!maps)
		return;
	/* What follows a long path is a line that cannot be read as one of a map. */
	while (fgets(line, sizeof(line), maps))
		if (is_map(store, line, &start, &end))
			(void)madvise((void *)start, end - start, MADV_DONTNEED);
	fclose(maps);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which pages of the map are in memory, and asking for those that are not.
 */

#include <sys/mman.h>

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

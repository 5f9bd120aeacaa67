/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_lists.h"

#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define FIRST_SLOTS 256

/** The slot of a hash, or the free one where it belongs. */
static simidx_feature *find(simidx_feature *slot, size_t n_slots, uint64_t hash)
{
	size_t i = hash & (n_slots - 1);

	while (slot[i].weight && slot[i].hash != hash)
		i = (i + 1) & (n_slots - 1);
	return &slot[i];
}

static int grow(sx_dict *dict, simidx_error *err)
{
	size_t n_slots = dict->n_slots ? dict->n_slots * 2 : FIRST_SLOTS;
	simidx_feature *slot = sx_calloc(n_slots, sizeof(*slot));

	if (!slot)
		return sx_fail_nomem(err);
	for (size_t i = 0; i < dict->n_slots; i++)
		if (dict->slot[i].weight)
			*find(slot, n_slots, dict->slot[i].hash) = dict->slot[i];
	free(dict->slot);
	dict->slot = slot;
	dict->n_slots = n_slots;
	return SIMIDX_OK;
}

int sx_dict_set(sx_dict *dict, uint64_t hash, uint32_t value, simidx_error *err)
{
	simidx_feature *slot;
	int rc = 0;

	if (dict->n + 1 > dict->n_slots / 2)
		rc = grow(dict, err);
	if (rc)
		return rc;
	slot = find(dict->slot, dict->n_slots, hash);
	dict->n += !slot->weight;
	slot->hash = hash;
	slot->weight = value + 1;
	return SIMIDX_OK;
}

const simidx_feature *sx_dict_get(const sx_dict *dict, uint64_t hash)
{
	const simidx_feature *slot = dict->n ? find(dict->slot, dict->n_slots, hash) : NULL;

	return slot && slot->weight ? slot : NULL;
}

void sx_dict_free(sx_dict *dict)
{
	free(dict->slot);
	dict->slot = NULL;
	dict->n = dict->n_slots = 0;
}

sx_lists *sx_lists_share(sx_lists *lists)
{
	atomic_fetch_add_explicit(&lists->users, 1, memory_order_relaxed);
	return lists;
}

void sx_lists_release(sx_lists *lists)
{
	if (!lists || atomic_fetch_sub_explicit(&lists->users, 1, memory_order_acq_rel) != 1)
		return;
	sx_dict_free(&lists->stop);
	sx_dict_free(&lists->words);
	sx_dict_free(&lists->idf);
	free(lists);
}

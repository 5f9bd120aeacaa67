/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "bn_rival.h"

#include <stdlib.h>
#include <string.h>

#include "bn_util.h"

void bn_sum_add(struct bn_sum *sum, uint64_t query, const struct bn_hits *hits)
{
	const unsigned char *at = hits->ids;
	uint64_t ids = 0, id;

	for (size_t i = 0; i < hits->n; i++, at += hits->stride) {
		memcpy(&id, at, sizeof(id));
		ids += bn_mix(id + 1);
	}
	sum->n += hits->n;
	sum->sum += ids * (bn_mix(query + 1) | 1);
}

void bn_ids_reserve(struct bn_ids *ids, size_t more)
{
	if (ids->room - ids->n >= more)
		return;
	while (ids->room - ids->n < more)
		ids->room = ids->room ? 2 * ids->room : 1024;
	ids->ids = realloc(ids->ids, ids->room * sizeof(*ids->ids));
	if (!ids->ids)
		bn_die("out of memory");
}

void bn_rival_destroy(struct bn_rival *rival)
{
	if (rival->destroy)
		rival->destroy(rival);
	memset(rival, 0, sizeof(*rival));
}

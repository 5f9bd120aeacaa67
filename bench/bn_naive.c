/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The two naive ways to search by Hamming distance with an exact look-up: look up every
 * neighbour of the query (43,745 within 3 of 64 bits), or store every neighbour of every
 * document. Both on the same hash table: entries in the order of their hash, and the offset at
 * which each slot begins.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bn_rival.h"
#include "bn_util.h"

#define PROBE_QUERIES 200
#define MAX_STORED 10000 /* documents with all their neighbours */
#define FLIGHT 64        /* look-ups under way at once */

struct naive {
	unsigned shift;
	uint64_t n_flips, *flips; /* what to XOR with for each neighbour */
	uint64_t n_probes;        /* of these, looked up in a search */
	uint64_t *fp;
	uint32_t *offset, *id;
};

struct session {
	const struct naive *naive;
	struct bn_ids ids;
};

static uint64_t slot_of(const struct naive *naive, uint64_t fp)
{
	return fp * 0x9e3779b97f4a7c15u >> naive->shift;
}

/* Append all words with exactly `bits` bits set, below bit `below`. */
static void add_flips(struct naive *naive, uint64_t word, unsigned bits, unsigned below)
{
	if (!bits) {
		naive->flips[naive->n_flips++] = word;
		return;
	}
	for (unsigned bit = bits - 1; bit < below; bit++)
		add_flips(naive, word | (uint64_t)1 << bit, bits - 1, bit);
}

/* How many numbers are within `radius` bits of one. */
static uint64_t count_neighbours(unsigned radius)
{
	uint64_t all = 1, of = 1;

	for (unsigned i = 1; i <= radius; i++)
		all += of = of * (65 - i) / i;
	return all;
}

/* The first `stored` of the flips are what is stored of each document. */
static void build(struct naive *naive, const struct bn_set *set, uint64_t stored)
{
	uint64_t entries = set->n * stored, slots = 2;

	while (slots < entries / 4)
		slots *= 2;
	naive->shift = 64 - (unsigned)__builtin_ctzll(slots);
	naive->offset = bn_alloc(slots + 2, sizeof(*naive->offset));
	naive->fp = bn_alloc(entries, sizeof(*naive->fp));
	naive->id = bn_alloc(entries, sizeof(*naive->id));
	for (uint64_t i = 0; i < set->n; i++)
		for (uint64_t j = 0; j < stored; j++)
			naive->offset[slot_of(naive, set->fp[i] ^ naive->flips[j]) + 2]++;
	for (uint64_t i = 1; i < slots + 2; i++)
		naive->offset[i] += naive->offset[i - 1];
	for (uint64_t i = 0; i < set->n; i++) {
		for (uint64_t j = 0; j < stored; j++) {
			uint64_t fp = set->fp[i] ^ naive->flips[j];
			uint32_t to = naive->offset[slot_of(naive, fp) + 1]++;

			naive->fp[to] = fp;
			naive->id[to] = (uint32_t)i;
		}
	}
}

static struct bn_hits naive_search(void *opaque, uint64_t fp)
{
	struct session *session = opaque;
	const struct naive *naive = session->naive;
	uint32_t from[FLIGHT], to[FLIGHT];
	uint64_t slot[FLIGHT];

	session->ids.n = 0;
	for (uint64_t first = 0; first < naive->n_probes; first += FLIGHT) {
		uint64_t n = naive->n_probes - first < FLIGHT ? naive->n_probes - first
							      : FLIGHT;

		for (uint64_t i = 0; i < n; i++) {
			slot[i] = slot_of(naive, fp ^ naive->flips[first + i]);
			__builtin_prefetch(&naive->offset[slot[i]]);
		}
		for (uint64_t i = 0; i < n; i++) {
			from[i] = naive->offset[slot[i]];
			to[i] = naive->offset[slot[i] + 1];
			__builtin_prefetch(&naive->fp[from[i]]);
		}
		for (uint64_t i = 0; i < n; i++) {
			for (uint32_t at = from[i]; at < to[i]; at++) {
				if (naive->fp[at] != (fp ^ naive->flips[first + i]))
					continue;
				bn_ids_reserve(&session->ids, 1);
				session->ids.ids[session->ids.n++] = naive->id[at];
			}
		}
	}
	return (struct bn_hits){ session->ids.ids, sizeof(uint64_t), session->ids.n };
}

static void *naive_open(struct bn_rival *rival)
{
	struct session *session = bn_alloc(1, sizeof(*session));

	session->naive = rival->self;
	return session;
}

static void naive_close(void *opaque)
{
	struct session *session = opaque;

	free(session->ids.ids);
	free(session);
}

static void naive_destroy(struct bn_rival *rival)
{
	struct naive *naive = rival->self;

	free(naive->flips);
	free(naive->fp);
	free(naive->offset);
	free(naive->id);
	free(naive);
}

static void make(const struct bn_setup *setup, uint64_t neighbours, int stored,
		 struct bn_rival *rival)
{
	struct naive *naive = bn_alloc(1, sizeof(*naive));
	double start = bn_seconds();

	memset(rival, 0, sizeof(*rival));
	naive->flips = bn_alloc(neighbours, sizeof(*naive->flips));
	for (unsigned bits = 0; bits <= setup->radius; bits++)
		add_flips(naive, 0, bits, 64);
	naive->n_probes = stored ? 1 : naive->n_flips;
	build(naive, setup->set, stored ? naive->n_flips : 1);
	rival->build_s = bn_seconds() - start;
	rival->self = naive;
	rival->open = naive_open;
	rival->close = naive_close;
	rival->search = naive_search;
	rival->destroy = naive_destroy;
}

int bn_probes_make(const struct bn_setup *setup, struct bn_rival *rival, char *reason)
{
	if (setup->set->n > UINT32_MAX || setup->radius > 3) {
		snprintf(reason, BN_REASON, "not written for this radius or size");
		return -1;
	}
	make(setup, count_neighbours(setup->radius), 0, rival);
	snprintf(rival->name, sizeof(rival->name), "probes");
	rival->max_queries = PROBE_QUERIES;
	rival->bytes = 13;
	return 0;
}

int bn_neighbours_make(const struct bn_setup *setup, struct bn_rival *rival, char *reason)
{
	uint64_t neighbours = setup->radius > 3 ? 0 : count_neighbours(setup->radius);
	double bytes = 13 * (double)neighbours; /* fingerprint, id, a quarter of an offset */
	double needed = bytes * (double)setup->set->n;
	double free_bytes = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);

	if (!neighbours) {
		snprintf(reason, BN_REASON, "not written for this radius");
		return -1;
	}
	if (setup->set->n > MAX_STORED || needed > free_bytes / 2) {
		snprintf(reason, BN_REASON, "would take %.0f kB a document, %.1f GB in all",
			 bytes / 1e3, needed / 1e9);
		return -1;
	}
	make(setup, neighbours, 1, rival);
	snprintf(rival->name, sizeof(rival->name), "neighbours");
	rival->bytes = bytes;
	return 0;
}

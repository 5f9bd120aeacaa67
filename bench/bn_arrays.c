/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The limit: the plan's tables as arrays in memory, with ids. Each table has the documents in
 * the order of some leading bits of its prefix, and the offset at which each value of these
 * begins. A query touches nothing but offsets and the fingerprints it compares with, and all
 * its probes are under way at once. This cannot be changed once built, and is gone with the
 * process.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_rival.h"
#include "bn_util.h"

#define MAX_TABLES 10
#define MAX_PROBES 160
#define CHUNK 1024       /* fingerprints compared between two looks at what was found */
#define AHEAD_BYTES 1024 /* fetched of each probe before the first comparison */
#define LINE 64

/* A table leads with one block of bits, or with two. */
struct lead {
	unsigned char width[2], low[2]; /* bits, and the lowest one of them */
};

struct layout {
	const char *plan;
	unsigned tables;
	int flips; /* 1: a larger radius by flipping one bit of a prefix */
	struct lead lead[MAX_TABLES];
};

/* Tables of a plan in the order in which they are probed. */
static const struct layout layouts[] = {
	{ "4x16", 4, 1,
	  { { { 16 }, { 48 } }, { { 16 }, { 32 } }, { { 16 }, { 16 } }, { { 16 }, { 0 } } } },
	{ "3x22", 3, 1, { { { 20 }, { 44 } }, { { 20 }, { 24 } }, { { 24 }, { 0 } } } },
	{ "2x32", 2, 1, { { { 32 }, { 32 } }, { { 32 }, { 0 } } } },
	{ "10x26", 10, 0,
	  { { { 13, 13 }, { 51, 38 } }, { { 13, 13 }, { 51, 25 } }, { { 13, 13 }, { 51, 12 } },
	    { { 13, 12 }, { 51, 0 } }, { { 13, 13 }, { 38, 25 } }, { { 13, 13 }, { 38, 12 } },
	    { { 13, 12 }, { 38, 0 } }, { { 13, 13 }, { 25, 12 } }, { { 13, 12 }, { 25, 0 } },
	    { { 13, 12 }, { 12, 0 } } } },
};

struct table {
	struct lead lead; /* cut to the bits that offsets are kept for */
	unsigned bits, flips;
	uint64_t mask; /* these bits in a fingerprint */
	uint32_t *offset, *id;
	uint64_t *fp;
};

struct arrays {
	struct table table[MAX_TABLES];
	unsigned n_tables, radius;
	bn_near_fn *near;
	int borrowed; /* the tables are another's */
};

struct session {
	const struct arrays *arrays;
	struct bn_ids ids;
	uint32_t at[CHUNK];
};

static inline uint64_t prefix_of(const struct lead *lead, uint64_t fp)
{
	uint64_t a = fp >> lead->low[0] & (((uint64_t)1 << lead->width[0]) - 1);
	uint64_t b = fp >> lead->low[1] & (((uint64_t)1 << lead->width[1]) - 1);

	return a << lead->width[1] | b;
}

/* Keep the first `bits` bits of a lead. */
static void cut(struct lead *lead, unsigned bits)
{
	unsigned first = bits < lead->width[0] ? bits : lead->width[0];
	unsigned second = bits - first;

	lead->low[0] = (unsigned char)(lead->low[0] + lead->width[0] - first);
	lead->low[1] = (unsigned char)(lead->low[1] + lead->width[1] - second);
	lead->width[0] = (unsigned char)first;
	lead->width[1] = (unsigned char)second;
}

static void fill(struct table *table, const struct bn_set *set)
{
	uint64_t n = (uint64_t)1 << table->bits;

	table->offset = bn_alloc(n + 2, sizeof(*table->offset));
	table->id = bn_alloc(set->n, sizeof(*table->id));
	table->fp = bn_alloc(set->n, sizeof(*table->fp));
	/* Counted two places on, so that scattering leaves offsets where they belong. */
	for (uint64_t i = 0; i < set->n; i++)
		table->offset[prefix_of(&table->lead, set->fp[i]) + 2]++;
	for (uint64_t i = 1; i < n + 2; i++)
		table->offset[i] += table->offset[i - 1];
	for (uint64_t i = 0; i < set->n; i++) {
		uint32_t to = table->offset[prefix_of(&table->lead, set->fp[i]) + 1]++;

		table->fp[to] = set->fp[i];
		table->id[to] = (uint32_t)i;
	}
}

struct probe {
	const struct table *table;
	uint64_t prefix;
	uint32_t from, to;
};

/* Every probe of a query; with one flip, all prefixes one bit away too. Offsets are fetched. */
static unsigned collect(const struct arrays *arrays, uint64_t fp, struct probe *probe)
{
	unsigned n = 0;

	for (unsigned t = 0; t < arrays->n_tables; t++) {
		const struct table *table = &arrays->table[t];
		uint64_t prefix = prefix_of(&table->lead, fp);

		for (unsigned bit = 0; bit <= (table->flips ? table->bits : 0); bit++) {
			probe[n].table = table;
			probe[n].prefix = bit ? prefix ^ (uint64_t)1 << (bit - 1) : prefix;
			__builtin_prefetch(&table->offset[probe[n].prefix]);
			n++;
		}
	}
	return n;
}

/* What the first tables find is not reported by later ones. */
static int is_reported(const struct arrays *arrays, const struct table *table,
		       uint64_t differs)
{
	for (const struct table *t = arrays->table; t < table; t++)
		if ((unsigned)__builtin_popcountll(differs & t->mask) <= t->flips)
			return 1;
	return 0;
}

static void filter(struct session *session, const struct probe *probe, uint64_t fp)
{
	const struct table *table = probe->table;
	const struct arrays *arrays = session->arrays;

	for (uint32_t from = probe->from; from < probe->to; from += CHUNK) {
		size_t n = probe->to - from < CHUNK ? probe->to - from : CHUNK;
		size_t found =
			arrays->near(table->fp + from, n, fp, arrays->radius, session->at);

		bn_ids_reserve(&session->ids, found);
		for (size_t i = 0; i < found; i++) {
			uint32_t at = from + session->at[i];

			if (!is_reported(arrays, table, table->fp[at] ^ fp))
				session->ids.ids[session->ids.n++] = table->id[at];
		}
	}
}

static struct bn_hits arrays_search(void *opaque, uint64_t fp)
{
	struct session *session = opaque;
	struct probe probe[MAX_PROBES];
	unsigned n = collect(session->arrays, fp, probe);

	for (unsigned i = 0; i < n; i++) {
		const struct table *table = probe[i].table;
		const char *at, *end;

		probe[i].from = table->offset[probe[i].prefix];
		probe[i].to = table->offset[probe[i].prefix + 1];
		at = (const char *)(table->fp + probe[i].from);
		end = (const char *)(table->fp + probe[i].to);
		for (const char *stop = at + AHEAD_BYTES; at < end && at < stop; at += LINE)
			__builtin_prefetch(at);
	}
	session->ids.n = 0;
	for (unsigned i = 0; i < n; i++)
		filter(session, &probe[i], fp);
	return (struct bn_hits){ session->ids.ids, sizeof(uint64_t), session->ids.n };
}

static void *arrays_open(struct bn_rival *rival)
{
	struct session *session = bn_alloc(1, sizeof(*session));

	session->arrays = rival->self;
	return session;
}

static void arrays_close(void *opaque)
{
	struct session *session = opaque;

	free(session->ids.ids);
	free(session);
}

static void arrays_destroy(struct bn_rival *rival)
{
	struct arrays *arrays = rival->self;

	for (unsigned t = 0; t < arrays->n_tables && !arrays->borrowed; t++) {
		free(arrays->table[t].offset);
		free(arrays->table[t].id);
		free(arrays->table[t].fp);
	}
	free(arrays);
}

/* Tables that the radius needs: an error in each probed prefix beyond its flips, and the sum of
 * (flips + 1) is the radius + 1, so one of them is within reach (pigeonhole). */
static int choose(struct arrays *arrays, const struct layout *layout, unsigned radius)
{
	unsigned need = radius + 1, flipped;

	if (!layout->flips) {
		arrays->n_tables = layout->tables;
		return radius > 3 ? -1 : 0;
	}
	if (need > 2 * layout->tables)
		return -1;
	arrays->n_tables = need < layout->tables ? need : layout->tables;
	flipped = need - arrays->n_tables;
	for (unsigned t = 0; t < flipped; t++)
		arrays->table[arrays->n_tables - 1 - t].flips = 1;
	return 0;
}

static void build(struct arrays *arrays, const struct layout *layout,
		  const struct bn_setup *setup, struct bn_rival *rival)
{
	unsigned fine = 1;

	/* Offsets for 8 to 16 documents each, where the prefix has as many bits. */
	while (setup->set->n >> fine > 15)
		fine++;
	for (unsigned t = 0; t < arrays->n_tables; t++) {
		struct table *table = &arrays->table[t];
		unsigned bits = layout->lead[t].width[0] + layout->lead[t].width[1];

		table->lead = layout->lead[t];
		table->bits = fine < bits ? fine : bits;
		cut(&table->lead, table->bits);
		table->mask =
			(((uint64_t)1 << table->lead.width[0]) - 1) << table->lead.low[0] |
			(((uint64_t)1 << table->lead.width[1]) - 1) << table->lead.low[1];
		fill(table, setup->set);
		rival->bytes +=
			12 + 4 * (double)((uint64_t)1 << table->bits) / (double)setup->set->n;
	}
}

static void set_simd(struct bn_rival *rival, enum bn_simd simd)
{
	((struct arrays *)rival->self)->near = bn_near(simd);
	snprintf(rival->name, sizeof(rival->name), "arrays-%s@%s", rival->plan,
		 bn_simd_name(simd));
	rival->simd = simd;
	rival->simd_set = 1;
}

void bn_arrays_again(const struct bn_rival *made, enum bn_simd simd, struct bn_rival *rival)
{
	struct arrays *arrays = bn_alloc(1, sizeof(*arrays));

	*arrays = *(const struct arrays *)made->self;
	arrays->borrowed = 1;
	*rival = *made;
	rival->build_s = 0;
	rival->self = arrays;
	set_simd(rival, simd);
}

int bn_arrays_make(const struct bn_setup *setup, const char *plan, enum bn_simd simd,
		   struct bn_rival *rival, char *reason)
{
	const struct layout *layout = NULL;
	struct arrays *arrays;
	double start;

	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (!strcmp(layouts[i].plan, plan))
			layout = &layouts[i];
	if (!layout || setup->set->n > UINT32_MAX) {
		snprintf(reason, BN_REASON, "not written for this plan or size");
		return -1;
	}
	arrays = bn_alloc(1, sizeof(*arrays));
	if (choose(arrays, layout, setup->radius)) {
		free(arrays);
		snprintf(reason, BN_REASON, "not written for radius %u", setup->radius);
		return -1;
	}
	memset(rival, 0, sizeof(*rival));
	start = bn_seconds();
	arrays->radius = setup->radius;
	build(arrays, layout, setup, rival);
	rival->build_s = bn_seconds() - start;
	snprintf(rival->plan, sizeof(rival->plan), "%s", plan);
	rival->self = arrays;
	rival->open = arrays_open;
	rival->close = arrays_close;
	rival->search = arrays_search;
	rival->destroy = arrays_destroy;
	set_simd(rival, simd);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Comparing with every document: what needs no index, and proves that the others miss nothing. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bn_rival.h"
#include "bn_util.h"

#define SCAN_QUERIES 500
#define CHUNK 4096

struct session {
	const struct bn_set *set;
	unsigned radius;
	bn_near_fn *near;
	struct bn_ids ids;
	uint32_t at[CHUNK];
};

struct scan {
	const struct bn_set *set;
	unsigned radius;
};

static struct bn_hits scan_search(void *opaque, uint64_t fp)
{
	struct session *session = opaque;
	const struct bn_set *set = session->set;

	session->ids.n = 0;
	for (uint64_t from = 0; from < set->n; from += CHUNK) {
		size_t n = set->n - from < CHUNK ? (size_t)(set->n - from) : CHUNK;
		size_t found =
			session->near(set->fp + from, n, fp, session->radius, session->at);

		bn_ids_reserve(&session->ids, found);
		for (size_t i = 0; i < found; i++)
			session->ids.ids[session->ids.n++] = from + session->at[i];
	}
	return (struct bn_hits){ session->ids.ids, sizeof(uint64_t), session->ids.n };
}

static void *scan_open(struct bn_rival *rival)
{
	struct session *session = bn_alloc(1, sizeof(*session));
	const struct scan *scan = rival->self;

	session->set = scan->set;
	session->radius = scan->radius;
	session->near = bn_near(rival->simd);
	return session;
}

static void scan_close(void *opaque)
{
	struct session *session = opaque;

	free(session->ids.ids);
	free(session);
}

static void scan_destroy(struct bn_rival *rival)
{
	free(rival->self);
}

int bn_scan_make(const struct bn_setup *setup, enum bn_simd simd, struct bn_rival *rival,
		 char *reason)
{
	struct scan *scan = bn_alloc(1, sizeof(*scan));

	(void)reason;
	memset(rival, 0, sizeof(*rival));
	scan->set = setup->set;
	scan->radius = setup->radius;
	snprintf(rival->name, sizeof(rival->name), "scan@%s", bn_simd_name(simd));
	rival->simd = simd;
	rival->simd_set = 1;
	rival->max_queries = SCAN_QUERIES;
	rival->bytes = 8;
	rival->self = scan;
	rival->open = scan_open;
	rival->close = scan_close;
	rival->search = scan_search;
	rival->destroy = scan_destroy;
	return 0;
}

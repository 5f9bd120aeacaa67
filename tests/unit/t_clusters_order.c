/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Who comes into which cluster where not all can: what simidx_join.h says of the order in which
 * documents join, and of those with equal fingerprints. What is expected was worked out by hand.
 */

#include <stdio.h>
#include <string.h>

#include <simidx_join.h>

#include "support/sxt_fixture.h"
#include "support/sxt_index.h"

#define MOST 6
#define TEXT 256

static const struct {
	struct {
		uint64_t id, fp;
	} doc[MOST]; /* an id of 0 ends it */
	unsigned radius, link, keep;
	uint64_t max_size;
	const char *clusters; /* their numbers; keepers with *, others with their distance */
} cases[] = {
	/* Single link: the nearest pair first, though a pair of smaller fingerprints is near. */
	{ { { 1, 0 }, { 2, 7 }, { 3, 15 } }, 3, SIMIDX_LINK_SINGLE, 0, 2, "2: 2* 3/1" },
	{ { { 1, 0 }, { 2, 7 }, { 3, 15 } }, 3, SIMIDX_LINK_SINGLE, 0, 0, "1: 1* 2/3 3/4" },
	{ { { 1, 0 }, { 2, 7 }, { 3, 15 }, { 4, 24 } }, 3, SIMIDX_LINK_SINGLE, 0, 3,
	  "1: 1* 4/2; 2: 2* 3/1" },
	/* At one distance by the smaller fingerprint, then by the larger one, whatever the ids. */
	{ { { 9, 0 }, { 5, 1 }, { 1, 3 } }, 1, SIMIDX_LINK_SINGLE, 0, 2, "5: 5* 9/1" },
	{ { { 9, 0 }, { 5, 2 }, { 1, 4 } }, 1, SIMIDX_LINK_SINGLE, 0, 2, "5: 5* 9/1" },
	{ { { 9, 0 }, { 5, 1 }, { 1, 3 } }, 1, SIMIDX_LINK_SINGLE, SIMIDX_KEEP_LARGEST_ID, 0,
	  "1: 9* 1/2 5/1" },
	/* Stars: the best is asked first, and it asks those near to it in their order. */
	{ { { 1, 0 }, { 2, 1 }, { 3, 3 } }, 1, SIMIDX_LINK_STAR, 0, 0, "1: 1* 2/1" },
	{ { { 1, 0 }, { 2, 1 }, { 3, 3 } }, 1, SIMIDX_LINK_STAR, SIMIDX_KEEP_LARGEST_ID, 0,
	  "2: 3* 2/1" },
	{ { { 2, 0 }, { 1, 1 }, { 3, 2 } }, 1, SIMIDX_LINK_STAR, 0, 2, "1: 1* 2/1" },
	{ { { 1, 0 }, { 2, 1 }, { 3, 2 } }, 1, SIMIDX_LINK_STAR, 0, 2, "1: 1* 2/1" },
	{ { { 3, 0 }, { 1, 1 }, { 2, 2 } }, 1, SIMIDX_LINK_STAR, SIMIDX_KEEP_LARGEST_ID, 2,
	  "2: 3* 2/1" },
	/* Equal fingerprints stay together, and join where all of them fit. */
	{ { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 1 } }, 1, SIMIDX_LINK_STAR, 0, 4,
	  "1: 1* 2/0 3/0 4/1" },
	{ { { 1, 0 }, { 4, 0 }, { 2, 1 }, { 3, 1 } }, 1, SIMIDX_LINK_STAR, 0, 3,
	  "1: 1* 4/0; 2: 2* 3/0" },
	{ { { 1, 0 }, { 4, 0 }, { 2, 1 }, { 3, 1 } }, 1, SIMIDX_LINK_SINGLE, 0, 4,
	  "1: 1* 2/1 3/1 4/0" },
	/* As many as a cluster has, or more, are cut by ids, and nobody else joins them. */
	{ { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 1 } }, 1, SIMIDX_LINK_STAR, 0, 3,
	  "1: 1* 2/0 3/0" },
	{ { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 1 } }, 1, SIMIDX_LINK_SINGLE, 0, 2, "1: 1* 2/0" },
	{ { { 1, 0 }, { 2, 0 }, { 3, 0 }, { 4, 0 }, { 5, 0 } }, 0, SIMIDX_LINK_STAR,
	  SIMIDX_KEEP_LARGEST_ID, 2, "1: 2* 1/0; 3: 4* 3/0" },
};

struct heard {
	char text[TEXT];
	uint64_t cluster, clusters, members;
	simidx_join_info found;
};

static int found(void *ctx, const simidx_join_info *info)
{
	((struct heard *)ctx)->found = *info;
	return 0;
}

static int take(void *ctx, const simidx_member *member, size_t n)
{
	struct heard *heard = ctx;

	for (size_t i = 0; i < n; i++) {
		const simidx_member *m = &member[i];
		size_t used = strlen(heard->text);

		if (m->cluster != heard->cluster)
			used += (size_t)snprintf(heard->text + used, TEXT - used, "%s%u:",
						 used ? "; " : "", (unsigned)m->cluster);
		heard->clusters += m->cluster != heard->cluster;
		heard->cluster = m->cluster;
		heard->members++;
		snprintf(heard->text + used, TEXT - used, m->is_keeper ? " %u*" : " %u/%u",
			 (unsigned)m->id, m->distance);
		ck_assert(!m->is_keeper || !m->distance);
	}
	return 0;
}

START_TEST(test_who_joins_whom)
{
	simidx_join_options o = SIMIDX_JOIN_OPTIONS_INIT;
	simidx_clusters_options which = SIMIDX_CLUSTERS_OPTIONS_INIT;
	struct heard heard = { .text = "" };
	simidx *index = sxt_create(t_path, NULL);
	simidx_writer *writer = sxt_writer(index, 0);

	for (unsigned i = 0; i < MOST && cases[_i].doc[i].id; i++) {
		ck_assert_int_eq(t_put(writer, cases[_i].doc[i].id, cases[_i].doc[i].fp, NULL),
				 SIMIDX_OK);
		sxt_commit(writer);
		if (i == 1)
			sxt_merge(index);
	}
	simidx_writer_close(writer);
	o.radius = cases[_i].radius;
	o.found = found;
	o.ctx = &heard;
	which.link = cases[_i].link;
	which.keep = cases[_i].keep;
	which.max_size = cases[_i].max_size;
	ck_assert_sx(simidx_clusters(index, &o, &which, take, &sxt_err), SIMIDX_OK);
	ck_assert_str_eq(heard.text, cases[_i].clusters);
	ck_assert_uint_eq(heard.found.clusters, heard.clusters);
	ck_assert_uint_eq(heard.found.members, heard.members);
	simidx_close(index);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_who_joins_whom, 0, sizeof(cases) / sizeof(cases[0]) },
};

SXT_SUITE(clusters_order, sxt_set_up_path, sxt_tear_down);

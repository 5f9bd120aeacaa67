/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_keepers.h"

#include "common/tl_msg.h"
#include "dedup/dd_columns.h"
#include "input/in_room.h"

#include <stdlib.h>

/* In place of how many were left out: it is left out itself. */
#define DROPPED UINT32_MAX

void dd_keepers_free(struct dd_keepers *keepers)
{
	free(keepers->at.bytes);
	free(keepers->left_out.bytes);
	free(keepers->label.bytes);
}

static uint32_t *left_out(const struct dd_keepers *keepers, uint64_t handle)
{
	return &((uint32_t *)keepers->left_out.bytes)[handle];
}

int dd_keepers_add(struct dd_keepers *keepers, const struct dd_fact *fact)
{
	size_t n = keepers->n;
	uint64_t at;

	if (!keepers->work->facts)
		return 0;
	if (in_room_have(&keepers->at, (n + 1) * sizeof(at)) ||
	    in_room_have(&keepers->left_out, (n + 1) * sizeof(uint32_t)))
		return tl_error("out of memory");
	if (dd_facts_add(keepers->work->facts, fact, NULL, &at))
		return TL_TROUBLE;
	((uint64_t *)keepers->at.bytes)[n] = at;
	*left_out(keepers, n) = 0;
	keepers->n++;
	return 0;
}

size_t dd_keepers_bytes(const struct dd_keepers *keepers)
{
	return keepers->work->facts ? sizeof(uint64_t) + sizeof(uint32_t) : 0;
}

int dd_keepers_fact(const struct dd_keepers *keepers, uint64_t handle, uint64_t *at,
		    struct in_room *label, struct dd_fact *fact)
{
	uint64_t is = ((const uint64_t *)keepers->at.bytes)[handle];

	if (at)
		*at = is;
	return dd_facts_get(keepers->work->facts, is, label, fact);
}

void dd_keepers_drop(struct dd_keepers *keepers, uint64_t handle)
{
	*left_out(keepers, handle) = DROPPED;
}

int dd_keepers_is_dropped(const struct dd_keepers *keepers, uint64_t handle)
{
	return *left_out(keepers, handle) == DROPPED;
}

static int is_of_this_run(const simidx_dedup_near *near)
{
	return near->keeper < SIMIDX_DEDUP_AGAINST;
}

/* The label of a document of INDEX, which others may have deleted. */
static int find_label(struct dd_keepers *keepers, struct dd_keeper *keeper)
{
	simidx_reader *reader;
	simidx_match match;
	simidx_error err;
	int rc;

	if (dd_index_reader(keepers->work->index, &reader))
		return TL_TROUBLE;
	rc = simidx_reader_find_id(reader, keeper->id, &match, &err);
	if (rc)
		return rc == SIMIDX_E_NOT_FOUND ? 0 : dd_index_fail(keepers->work->index, &err);
	keeper->label = match.label;
	keeper->label_size = match.label_size;
	return 0;
}

int dd_keepers_find(struct dd_keepers *keepers, const simidx_dedup_near *near,
		    struct dd_keeper *keeper)
{
	*keeper = (struct dd_keeper){ .id = near->id };
	if (near->keeper == SIMIDX_DEDUP_AGAINST) {
		keeper->index = keepers->work->options->against.at[near->against];
		keeper->label = dd_against_label(keepers->work->against, near->against, near->id,
						 &keeper->label_size);
		return 0;
	}
	if (!is_of_this_run(near))
		return find_label(keepers, keeper);
	if (!keepers->work->facts)
		return 0;
	keeper->has_fact =
		!dd_keepers_fact(keepers, near->keeper, NULL, &keepers->label, &keeper->fact);
	return keeper->has_fact ? 0 : TL_TROUBLE;
}

void dd_keepers_count(struct dd_keepers *keepers, const simidx_dedup_near *near,
		      const struct dd_name *name)
{
	uint32_t *n;

	if (near->keeper == SIMIDX_DEDUP_AGAINST) {
		dd_counters_add(&keepers->counters, near->id, near->against + 1, name);
	} else if (!is_of_this_run(near)) {
		dd_counters_add(&keepers->counters, near->id, 0, name);
	} else if (!keepers->work->facts) {
		dd_counters_add(&keepers->counters, near->keeper, DD_OF_THIS_RUN, name);
	} else {
		n = left_out(keepers, near->keeper);
		*n += *n < DROPPED - 1;
	}
}

uint64_t dd_keepers_left_out(const struct dd_keepers *keepers, const simidx_dedup_near *near)
{
	return is_of_this_run(near) ? *left_out(keepers, near->keeper) : 0;
}

size_t dd_keepers_rank(struct dd_large out[DD_MOST_LARGE], size_t n, const struct dd_large *one)
{
	size_t i = n;

	if (!one->n || (n == DD_MOST_LARGE && one->n <= out[n - 1].n))
		return n;
	for (; i > 0 && out[i - 1].n < one->n; i--)
		if (i < DD_MOST_LARGE)
			out[i] = out[i - 1];
	out[i] = *one;
	return n < DD_MOST_LARGE ? n + 1 : n;
}

size_t dd_keepers_largest(const struct dd_keepers *keepers, struct dd_large out[DD_MOST_LARGE])
{
	struct dd_large one = { 0 };
	size_t n = 0;

	for (size_t i = 0; i < keepers->n; i++) {
		one.near.keeper = i;
		one.n = *left_out(keepers, i);
		n = dd_keepers_rank(out, n, &one);
	}
	for (size_t i = 0; i < sizeof(keepers->counters.slot) / sizeof(*keepers->counters.slot);
	     i++) {
		const struct dd_counted *counted = &keepers->counters.slot[i];

		one = (struct dd_large){ .near.id = counted->id, .n = counted->n };
		one.is_least = keepers->counters.is_lessened;
		one.first = counted->other == DD_OF_THIS_RUN ? &counted->first : NULL;
		one.near.keeper = one.first	 ? counted->id :
				  counted->other ? SIMIDX_DEDUP_AGAINST :
						   SIMIDX_DEDUP_EARLIER;
		one.near.against = counted->other ? counted->other - 1 : 0;
		n = dd_keepers_rank(out, n, &one);
	}
	return n;
}

/* What it is, and after `between` the other index that has it. */
static void put_document(FILE *out, const struct dd_keepers *keepers,
			 const struct dd_keeper *keeper, const char *between)
{
	if (keeper->has_fact)
		dd_columns_path(out, dd_files_path(keepers->work->files, keeper->fact.name.file),
				keeper->fact.name.line);
	else
		dd_columns_document(out, keeper->label, keeper->label_size, keeper->id);
	if (!keeper->index)
		return;
	fputs(between, out);
	dd_columns_path(out, keeper->index, 0);
}

void dd_keepers_put(FILE *out, const struct dd_keepers *keepers, const struct dd_keeper *keeper)
{
	put_document(out, keepers, keeper, "\t");
}

void dd_keepers_put_large(FILE *out, struct dd_keepers *keepers, const struct dd_large *large)
{
	const struct dd_name *name = large->has_fact ? &large->fact.name : large->first;
	struct dd_keeper keeper;

	if (name) {
		fputs(large->has_fact ? "" : "one near to ", out);
		dd_columns_path(out, dd_files_path(keepers->work->files, name->file), name->line);
		return;
	}
	/* By its id, if the index cannot say more. */
	(void)dd_keepers_find(keepers, &large->near, &keeper);
	put_document(out, keepers, &keeper, " in ");
}

int dd_keepers_is_own(const struct dd_large *large)
{
	return is_of_this_run(&large->near);
}

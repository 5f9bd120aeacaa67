/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_judge.h"

#include "common/tl_msg.h"

#include <stdlib.h>
#include <string.h>

/* A document is compared with so many that stay, at most; then it goes for the first. */
#define MOST_COMPARED SIMIDX_DEDUP_MOST_COMPARED

/* For dd_member.keeper while a group is judged. */
#define UNDECIDED (UINT64_MAX - 1)
#define UNREAD (UINT64_MAX - 2) /* it cannot be compared any more */

/* A group that is judged. */
struct group {
	struct dd_judge *judge;
	struct dd_member *member;
	size_t n;
	struct dd_member *first;
	struct in_room label; /* of a fact; nobody looks at it */
};

/* How similar two are. */
struct verdict {
	double similarity;
	unsigned flags;
	int is_known; /* 0: it cannot be told */
	int is_near;
};

/* By directory, by value, by place. */
static int compare_members(const void *a, const void *b)
{
	const struct dd_member *x = a, *y = b;

	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return x->fact < y->fact ? -1 : x->fact > y->fact;
}

void dd_judge_none(struct dd_member *group, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		group[i].keeper = 0;
		group[i].is_keeper = i == 0;
	}
}

/* The similarity to the first was computed of both texts. */
static int is_exact(const struct dd_member *member)
{
	return member->similarity != SIMIDX_DEDUP_BY_FP &&
	       !(member->flags & SIMIDX_DEDUP_ESTIMATE);
}

static int get_text(struct group *group, unsigned seat, const struct dd_member *member,
		    struct dd_text *text)
{
	struct dd_fact fact;

	if (dd_facts_get(group->judge->facts, member->fact, &group->label, &fact))
		return TL_TROUBLE;
	return dd_texts_get(group->judge->texts, seat, &fact, NULL, text);
}

static int compare_texts(const struct dd_judge *judge, const struct dd_text *a,
			 const struct dd_text *b, struct verdict *out)
{
	simidx_error err;
	int rc;

	*out = (struct verdict){ 1, SIMIDX_DEDUP_EQUAL, 1, 1 };
	if (a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0)
		return 0;
	*out = (struct verdict){ 0, 0, 1, 0 };
	if (judge->options->identical)
		return 0;
	rc = simidx_dedup_similarity(judge->dedup, a->bytes, a->size, b->bytes, b->size,
				     &out->similarity, &err);
	out->is_known = rc != SIMIDX_E_RANGE;
	out->is_near = !rc && out->similarity >= judge->options->similarity;
	return rc && out->is_known ? tl_error("%s", err.text) : 0;
}

/* How similar one is to the best one, whose text is `text` if that is needed. */
static int judge_one(struct group *group, const struct dd_member *best, const struct dd_text *text,
		     const struct dd_member *one, struct verdict *out)
{
	const struct dd_judge *judge = group->judge;
	const struct dd_member *told = one->is_as_first ? best : one;
	struct dd_text other;

	*out = (struct verdict){ told->similarity, told->flags, 1, 1 };
	if (judge->options->identical)
		out->is_near = (told->flags & SIMIDX_DEDUP_EQUAL) != 0;
	if (one->is_as_first || best->is_as_first)
		return 0;
	out->is_known = is_exact(one);
	if (!out->is_known)
		return 0;
	if (get_text(group, 1, one, &other))
		return TL_TROUBLE;
	out->is_known = other.bytes != NULL;
	return out->is_known ? compare_texts(judge, text, &other, out) : 0;
}

/* Whether the text of the best one is needed. */
static int needs_text(const struct group *group, const struct dd_member *best)
{
	size_t i = 0;

	if (best->is_as_first)
		return 0;
	for (; i < group->n; i++)
		if (&group->member[i] != best && group->member[i].keeper == UNDECIDED &&
		    !group->member[i].is_as_first)
			break;
	return i < group->n;
}

/* The best of those that are undecided stays, unless it cannot be compared; what is near to it
   goes. */
static int judge_by(struct group *group, struct dd_member *best, uint64_t number)
{
	const struct dd_member was = *best;
	struct dd_text text = { NULL, 0 };
	struct verdict verdict;

	if (needs_text(group, best)) {
		if (is_exact(best) && get_text(group, 0, best, &text))
			return TL_TROUBLE;
		best->keeper = UNREAD;
		if (!text.bytes)
			return 0;
	}
	best->keeper = number;
	best->is_keeper = 1;
	best->similarity = 1;
	best->flags = SIMIDX_DEDUP_EQUAL;
	for (size_t i = 0; i < group->n; i++) {
		struct dd_member *one = &group->member[i];

		if (one->keeper != UNDECIDED)
			continue;
		if (tl_stop_requested())
			return tl_error("stopped by a signal");
		if (judge_one(group, &was, &text, one, &verdict))
			return TL_TROUBLE;
		if (!verdict.is_known)
			one->keeper = UNREAD;
		if (!verdict.is_known || !verdict.is_near)
			continue;
		one->keeper = number;
		one->similarity = verdict.similarity;
		one->flags = verdict.flags & 3;
	}
	return 0;
}

/* What cannot be compared, or is left after so many comparisons, goes for the first, which stays
   then. Only what is identical is not known to be so. */
static void settle(struct group *group, uint64_t number)
{
	struct dd_member *first = group->first;
	int is_needed = 0;

	for (size_t i = 0; i < group->n; i++)
		is_needed |= group->member[i].keeper >= UNREAD;
	if (!is_needed)
		return;
	if (!group->judge->options->identical && !first->is_keeper) {
		first->keeper = number;
		first->is_keeper = 1;
		first->similarity = 1;
		first->flags = SIMIDX_DEDUP_EQUAL;
	}
	for (size_t i = 0; i < group->n; i++) {
		struct dd_member *one = &group->member[i];

		if (one->keeper < UNREAD)
			continue;
		group->judge->n_unread += one->keeper == UNREAD;
		one->keeper = group->judge->options->identical ? DD_ALONE : first->keeper;
	}
}

/* The ranks, by file. */
static void rank_members(const struct group *group)
{
	const struct dd_keep *keep = &group->judge->options->keep;
	uint32_t file = UINT32_MAX;
	unsigned rank = 0;

	for (size_t i = 0; i < group->n; i++) {
		struct dd_member *one = &group->member[i];

		if (keep->prefer.n && one->file != file)
			rank = dd_keep_rank(keep, group->judge->files, one->file);
		file = one->file;
		one->rank = rank & 0xff;
	}
}

int dd_judge_group(struct dd_judge *judge, struct dd_member *member, size_t n)
{
	struct group group = { .judge = judge, .member = member, .n = n };
	uint64_t first = member[0].fact, number = 0;
	int code = 0;

	rank_members(&group);
	for (size_t i = 0; i < n; i++) {
		member[i].keeper = UNDECIDED;
		member[i].is_keeper = 0;
	}
	qsort(member, n, sizeof(*member), compare_members);
	for (group.first = member; group.first->fact != first;)
		group.first++;
	for (size_t i = 0; !code && i < n && number < MOST_COMPARED; i++)
		if (member[i].keeper == UNDECIDED) {
			code = judge_by(&group, &member[i], number);
			number += member[i].is_keeper;
		}
	settle(&group, number);
	free(group.label.bytes);
	dd_texts_trim(judge->texts);
	return code;
}

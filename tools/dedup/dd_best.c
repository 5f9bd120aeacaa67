/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_best.h"

#include "common/tl_msg.h"
#include "dedup/dd_anew.h"

#include <stdlib.h>
#include <string.h>

/* Of the memory, a part is for what is put into the table: with it, to sort it, and if it stays. */
#define TABLE_SHARE 4
#define ENTRY (sizeof(struct dd_member) + 2 * sizeof(void *) + DD_ANEW_BYTES)

/* Rows that are asked about together; those after them are not compared with what they found. */
#define ASKED_AT_ONCE 64

static struct dd_member *at(const struct dd_best *best, size_t i)
{
	return (struct dd_member *)best->table->bytes + i;
}

/* The end of the group that begins with a head. */
static size_t end_of(const struct dd_best *best, size_t head)
{
	size_t i = head + 1;

	while (i < best->n && !at(best, i)->is_head)
		i++;
	return i;
}

/* ---- the table ---- */

int dd_best_fits(uint64_t memory, size_t n_members, size_t n_groups)
{
	return n_members * DD_ANEW_BYTES + n_groups * ENTRY <= memory / TABLE_SHARE;
}

/* By directory, by value, by place. */
static int compare_worth(const struct dd_member *x, const struct dd_member *y)
{
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	if (x->key != y->key)
		return x->key > y->key ? -1 : 1;
	return x->fact < y->fact ? -1 : x->fact > y->fact;
}

/* In a group those of the bytes of the first come first, the best one as head. */
static int compare_groups(const void *a, const void *b)
{
	const struct dd_member *x = a, *y = b;

	if (x->keeper != y->keeper)
		return x->keeper < y->keeper ? -1 : 1;
	if (x->is_as_first != y->is_as_first)
		return x->is_as_first ? -1 : 1;
	return compare_worth(x, y);
}

static int compare_hashes(const void *a, const void *b)
{
	const struct dd_member *x = a, *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return compare_worth(x, y);
}

static int make_first(struct dd_best *best, uint64_t handle, struct dd_member *out)
{
	struct dd_fact fact;

	*out = (struct dd_member){ .keeper = handle, .similarity = 1 };
	if (dd_keepers_fact(best->work->keepers, handle, &out->fact, &best->label, &fact))
		return TL_TROUBLE;
	out->key = fact.key;
	out->file = fact.name.file;
	out->flags = SIMIDX_DEDUP_EQUAL;
	out->is_first = out->is_as_first = 1;
	return 0;
}

static void set_rank(const struct dd_best *best, struct dd_member *member)
{
	const struct dd_keep *keep = &best->work->options->keep;

	if (keep->prefer.n)
		member->rank = dd_keep_rank(keep, best->work->files, member->file) & 0xff;
}

/* Put the firsts in, and have each group in order. */
static int make_groups(struct dd_best *best)
{
	size_t n = best->n, n_groups = 0;

	for (size_t i = 1; i < n; i++)
		n_groups += i == 1 || at(best, i)->keeper != at(best, i - 1)->keeper;
	if (in_room_have(best->table, (n + n_groups) * sizeof(struct dd_member)))
		return tl_error("out of memory");
	for (size_t i = 1; i < n; i++)
		if (i == 1 || at(best, i)->keeper != at(best, i - 1)->keeper)
			if (make_first(best, at(best, i)->keeper, at(best, best->n++)))
				return TL_TROUBLE;
	for (size_t i = 1; i < best->n; i++)
		set_rank(best, at(best, i));
	qsort(at(best, 1), best->n - 1, sizeof(struct dd_member), compare_groups);
	for (size_t i = 1; i < best->n; i++)
		at(best, i)->is_head = i == 1 ||
				       at(best, i)->keeper != at(best, i - 1)->keeper;
	best->most_joined = best->memory / TABLE_SHARE / ENTRY;
	n_groups += n * DD_ANEW_BYTES / ENTRY;
	best->most_joined -= n_groups < best->most_joined ? n_groups : best->most_joined;
	best->known = calloc(best->work->keepers->n / 8 + 1, 1);
	return best->known ? 0 : tl_error("out of memory");
}

/* ---- which groups are decided again ---- */

/* The similarity to the first was computed of both texts. */
static int is_exact(double similarity, unsigned flags)
{
	return similarity != SIMIDX_DEDUP_BY_FP && !(flags & SIMIDX_DEDUP_ESTIMATE);
}

/* Whether one comes before the head, so that another one would stay. */
static int has_better(const struct dd_best *best, size_t head)
{
	for (size_t i = head + 1; i < best->n && !at(best, i)->is_head; i++)
		if (compare_worth(at(best, i), at(best, head)) < 0)
			return 1;
	return 0;
}

/* All go for the head as it was decided first; which is counted where another one would stay. */
static void fix(struct dd_best *best, size_t head)
{
	int is_counted = has_better(best, head);

	at(best, head)->is_fixed = 1;
	for (size_t i = head + 1; i < best->n && !at(best, i)->is_head; i++) {
		at(best, i)->is_told = 1;
		best->n_unread += is_counted && !at(best, i)->is_as_first;
	}
}

/* It is found out that a kept row is decided again. Threads of the library read this, so it is set
   before the first question, or within an answer. */
static void set_known(const struct dd_best *best, uint64_t handle)
{
	best->known[handle / 8] |= (uint8_t)(1 << handle % 8);
}

int dd_best_knows(const struct dd_best *best, uint64_t handle)
{
	return best->known[handle / 8] >> handle % 8 & 1;
}

static void want(const struct dd_best *best, struct dd_member *head)
{
	head->is_wanted = 1;
	set_known(best, head->keeper);
}

static void want_groups(struct dd_best *best)
{
	for (size_t head = 1, end; head < best->n; head = end) {
		int can_compare = 1;

		end = end_of(best, head);
		for (size_t i = head; i < end; i++)
			can_compare &= is_exact(at(best, i)->similarity, at(best, i)->flags);
		if (!can_compare)
			fix(best, head);
		else if (has_better(best, head))
			want(best, at(best, head));
	}
}

/* Not while rows wait to be decided. */
static int get_text(struct dd_best *best, unsigned seat, const struct dd_member *member,
		    uint64_t handle, struct dd_text *text)
{
	const simidx_dedup_near first = { .keeper = handle };
	struct dd_fact fact;

	if (dd_facts_get(best->work->facts, member->fact, &best->label, &fact))
		return TL_TROUBLE;
	return dd_texts_get(best->texts, seat, &fact, member->is_as_first ? &first : NULL, text);
}

/* Of groups that are new, the heads are there, or nothing is compared with them. */
static int look_at_heads(struct dd_best *best)
{
	struct dd_text text;

	for (size_t i = 1; i < best->n; i++) {
		struct dd_member *head = at(best, i);

		if (!head->is_wanted || head->is_asked)
			continue;
		if (tl_stop_requested())
			return tl_error("stopped by a signal");
		if (get_text(best, 0, head, head->keeper, &text))
			return TL_TROUBLE;
		if (text.bytes)
			continue;
		head->is_lost = 1;
		fix(best, i);
	}
	return 0;
}

static int tell(int rc, const simidx_error *err)
{
	return rc >= 0		     ? rc :
	       rc == SIMIDX_E_STOPPED ? tl_error("stopped by a signal") :
					tl_error("%s", err->text);
}

/* Ask what the members of a group are near to. Those of the bytes of the first are near to nothing
   else that is kept. */
static int ask_group(struct dd_best *best, size_t head)
{
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;
	size_t end = end_of(best, head);
	struct dd_text text;
	simidx_error err;
	int code = 0;

	row.flags = SIMIDX_DEDUP_ASK;
	for (size_t i = head + 1; !code && i < end && !at(best, head)->is_fixed; i++) {
		if (at(best, i)->is_as_first)
			continue;
		if (get_text(best, 0, at(best, i), 0, &text))
			return TL_TROUBLE;
		if (!text.bytes) {
			fix(best, head);
			break;
		}
		dd_anew_progress(&best->shown, ++best->n_asked, "compared with what stays");
		row.text = text.bytes;
		row.text_size = text.size;
		code = tell(simidx_dedup_add(best->work->dedup, &row, &err), &err);
	}
	return code;
}

/* Ask until no group is found any more that has to be decided again. */
static int ask(struct dd_best *best)
{
	size_t n_groups, n_flushed = 0;
	simidx_error err;
	int code;

	do {
		n_groups = 0;
		code = look_at_heads(best);
		for (size_t i = 1; !code && i < best->n; i++) {
			struct dd_member *head = at(best, i);

			if (!head->is_wanted || head->is_asked)
				continue;
			head->is_asked = 1;
			n_groups++;
			code = ask_group(best, i);
			if (code || best->n_asked - n_flushed < ASKED_AT_ONCE)
				continue;
			n_flushed = best->n_asked;
			code = tell(simidx_dedup_flush(best->work->dedup, 0, &err), &err);
		}
		if (!code && n_groups)
			code = tell(simidx_dedup_flush(best->work->dedup, 0, &err), &err);
	} while (!code && n_groups);
	tl_progress_clear();
	return code;
}

/* The head of a group; NULL: nothing was left out for it. */
static struct dd_member *find_head(const struct dd_best *best, uint64_t handle)
{
	size_t low = 1, high = best->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (at(best, middle)->keeper < handle)
			low = middle + 1;
		else
			high = middle;
	}
	return low < best->n && at(best, low)->keeper == handle ? at(best, low) : NULL;
}

/* A row that is in no group, but near to one that may stay. */
static int join(struct dd_best *best, uint64_t handle)
{
	struct dd_member *joined;
	size_t n = best->n_joined + 1;

	set_known(best, handle);
	if (n > best->most_joined) {
		best->n_unread++;
		return 0;
	}
	if (in_room_have(&best->joined, n * sizeof(*joined)))
		return tl_error("out of memory");
	joined = (struct dd_member *)best->joined.bytes + best->n_joined++;
	if (make_first(best, handle, joined))
		return TL_TROUBLE;
	set_rank(best, joined);
	joined->is_head = joined->is_wanted = joined->is_asked = 1;
	return 0;
}

int dd_best_hear(struct dd_best *best, const simidx_dedup_near *near, size_t n)
{
	struct dd_member *head;
	int code = 0;

	for (size_t i = 0; !code && i < n; i++) {
		if (near[i].keeper >= SIMIDX_DEDUP_AGAINST ||
		    !is_exact(near[i].similarity, near[i].flags) ||
		    dd_best_knows(best, near[i].keeper))
			continue;
		head = find_head(best, near[i].keeper);
		if (head)
			want(best, head);
		else
			code = join(best, near[i].keeper);
	}
	return code;
}

/* ---- deciding again ---- */

/* What stays in any case comes first: it was decided that it is not near. */
static int compare_order(const void *a, const void *b)
{
	const struct dd_member *x = *(struct dd_member *const *)a;
	const struct dd_member *y = *(struct dd_member *const *)b;

	if (x->is_fixed != y->is_fixed)
		return x->is_fixed ? -1 : 1;
	return compare_worth(x, y);
}

static int take_joined(struct dd_best *best)
{
	size_t n = best->n_joined;

	if (!n)
		return 0;
	if (in_room_have(best->table, (best->n + n) * sizeof(struct dd_member)))
		return tl_error("out of memory");
	memcpy(at(best, best->n), best->joined.bytes, n * sizeof(struct dd_member));
	best->n += n;
	return 0;
}

/* Those that are decided again. */
static size_t list_members(const struct dd_best *best, struct dd_member **out)
{
	const struct dd_member *head = at(best, 1);
	size_t n = 0;

	for (size_t i = 1; i < best->n; i++) {
		struct dd_member *member = at(best, i);

		if (member->is_head)
			head = member;
		if (!head->is_wanted || head->is_lost)
			continue;
		if (member != head && (head->is_fixed || member->is_as_first))
			continue;
		if (out)
			out[n] = member;
		n++;
	}
	return n;
}

static void note_handles(const struct dd_best *best)
{
	for (size_t i = 1; i < best->n; i++) {
		at(best, i)->key = at(best, i)->keeper;
		at(best, i)->keeper = 0;
	}
}

static int decide_again(struct dd_best *best)
{
	struct dd_anew anew = { .work = best->work, .texts = best->texts,
				.memory = best->memory, .table = at(best, 0) };
	size_t n = list_members(best, NULL);
	struct dd_member **order = malloc((n + 1) * sizeof(*order));
	int code;

	if (!order)
		return tl_error("out of memory");
	list_members(best, order);
	qsort(order, n, sizeof(struct dd_member *), compare_order);
	note_handles(best);
	code = dd_anew_decide(&anew, order, n);
	best->n_unread += anew.n_unread;
	free(order);
	return code;
}

/* ---- what follows for the others ---- */

static void go_with(struct dd_member *member, const struct dd_member *head)
{
	member->keeper = head->keeper;
	member->similarity = head->similarity;
	member->flags = head->flags;
}

static void settle(const struct dd_best *best)
{
	size_t head = 0;

	for (size_t i = 1; i < best->n; i++) {
		struct dd_member *member = at(best, i);

		if (member->is_head)
			head = i;
		if (member->is_head && !member->keeper)
			dd_member_stay(at(best, i), i);
		else if (member->is_as_first && i != head)
			go_with(member, at(best, head));
		else if (!member->keeper && at(best, head)->is_keeper)
			member->keeper = head;
		else if (!member->keeper)
			dd_member_stay(at(best, i), i);
	}
}

/* Number those that belong together by the first of them. */
static void number(const struct dd_best *best)
{
	for (size_t i = 1; i < best->n; i++)
		if (at(best, i)->is_keeper)
			at(best, i)->keeper = at(best, i)->fact;
	for (size_t i = 1; i < best->n; i++) {
		const struct dd_member *member = at(best, i);

		if (!member->is_keeper && member->fact < at(best, member->keeper)->keeper)
			at(best, member->keeper)->keeper = member->fact;
	}
	for (size_t i = 1; i < best->n; i++) {
		struct dd_member *member = at(best, i);

		if (!member->is_keeper)
			member->keeper = at(best, member->keeper)->keeper;
	}
}

/* ---- the same bytes ---- */

/* Of a text that is not there, once: it has the bytes of what has those of the same first, or
   nobody knows. */
static int get_to_compare(struct dd_best *best, unsigned seat, struct dd_member *member,
			  struct dd_text *text)
{
	*text = (struct dd_text){ NULL, 0 };
	if (member->is_lost)
		return 0;
	if (tl_stop_requested())
		return tl_error("stopped by a signal");
	if (get_text(best, seat, member, member->key, text))
		return TL_TROUBLE;
	member->is_lost = !text->bytes;
	best->n_unread += member->is_lost;
	return 0;
}

/* No hash decides, but that both have the bytes of one first, or their own. `text` is that of the
   one, or not yet got. */
static int is_same(struct dd_best *best, struct dd_member *one, struct dd_text *text,
		   struct dd_member *b, int *out)
{
	struct dd_text other;

	*out = one->is_as_first && b->is_as_first && one->key == b->key;
	if (*out || one->is_lost || b->is_lost)
		return 0;
	if ((!text->bytes && get_to_compare(best, 0, one, text)) ||
	    get_to_compare(best, 1, b, &other))
		return TL_TROUBLE;
	*out = text->bytes && other.bytes && text->size == other.size &&
	       memcmp(text->bytes, other.bytes, text->size) == 0;
	return 0;
}

/* What has the bytes of one goes with it, of those of its hash that come behind it. */
static int take_same(struct dd_best *best, size_t i, size_t end)
{
	struct dd_member *one = at(best, i);
	struct dd_text text = { NULL, 0 };
	int is;

	dd_member_stay(at(best, i), i);
	for (size_t k = i + 1; k < end && !(one->is_lost && !one->is_as_first); k++) {
		if (at(best, k)->keeper)
			continue;
		if (is_same(best, one, &text, at(best, k), &is))
			return TL_TROUBLE;
		if (is)
			go_with(at(best, k), one);
	}
	return 0;
}

static size_t end_of_hash(const struct dd_best *best, size_t i)
{
	uint64_t hash = at(best, i)->hash;

	while (i < best->n && at(best, i)->hash == hash)
		i++;
	return i;
}

static int decide_equal(struct dd_best *best)
{
	struct dd_fact fact;

	for (size_t i = 1; i < best->n; i++) {
		if (dd_facts_get(best->work->facts, at(best, i)->fact, &best->label, &fact))
			return TL_TROUBLE;
		/* Of a file that is no text none is known, and its group is one of equal bytes. */
		at(best, i)->hash = fact.hash ? fact.hash : ~at(best, i)->keeper;
	}
	qsort(at(best, 1), best->n - 1, sizeof(struct dd_member), compare_hashes);
	note_handles(best);
	for (size_t i = 1, end = 1; i < best->n; i++) {
		/* Once some of one hash are decided, these do not have it any more. */
		if (i == end)
			end = end_of_hash(best, i);
		if (!at(best, i)->keeper && take_same(best, i, end))
			return TL_TROUBLE;
	}
	return 0;
}

int dd_best_decide(struct dd_best *best)
{
	int code = make_groups(best);

	if (!code && best->work->options->identical) {
		code = decide_equal(best);
	} else if (!code) {
		want_groups(best);
		code = ask(best);
		if (!code)
			code = take_joined(best);
		if (!code)
			code = decide_again(best);
		if (!code)
			settle(best);
	}
	if (!code)
		number(best);
	free(best->joined.bytes);
	free(best->label.bytes);
	dd_texts_trim(best->texts);
	return code;
}

void dd_best_free(struct dd_best *best)
{
	free(best->known);
}

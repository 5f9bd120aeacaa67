/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_groups.h"

#include "common/tl_msg.h"
#include "common/tl_output.h"
#include "dedup/dd_member.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Messages about single files beyond this are only counted. */
#define MAX_REPORTED 20

/* What a sketch of the same text estimates at least. */
#define ALL 0.999

void dd_groups_count(struct dd_counts *counts, double similarity, unsigned flags, uint64_t size)
{
	counts->near++;
	counts->bytes += size;
	if (flags & SIMIDX_DEDUP_EQUAL)
		counts->same_bytes += size;
	else if (similarity == SIMIDX_DEDUP_BY_FP ||
		 (flags & SIMIDX_DEDUP_ESTIMATE && similarity >= ALL))
		counts->is_least = 1;
}

void dd_groups_free(struct dd_groups *groups)
{
	free(groups->members.bytes);
	free(groups->others.bytes);
	free(groups->state);
	free(groups->label[0].bytes);
	free(groups->label[1].bytes);
	dd_texts_free(&groups->texts);
	dd_best_free(&groups->best);
}

/* Whether others may stay than the firsts of groups. */
static int decides_again(const struct dd_options *options)
{
	return !options->no_verify && (options->keep.rule != DD_KEEP_FIRST ||
				       options->keep.prefer.n || options->identical);
}

/* Whether a text may be asked for again that has no place. One of the same bytes is there. */
static int needs_text(const struct dd_groups *groups, const simidx_dedup_near *near,
		      const simidx_dedup_row *row)
{
	const struct dd_options *options = groups->work->options;

	return row->text_size && !(row->flags & SIMIDX_DEDUP_PLACED) &&
	       !(near->flags & SIMIDX_DEDUP_EQUAL) &&
	       (options->evidence_texts || decides_again(options));
}

int dd_groups_add(struct dd_groups *groups, const simidx_dedup_near *near,
		  const simidx_dedup_row *row, int may_read_text)
{
	const struct dd_fact fact = dd_fact_of(row);
	const char *text = may_read_text && needs_text(groups, near, row) ? row->text : NULL;
	int is_other = near->keeper == SIMIDX_DEDUP_AGAINST;
	struct in_room *room = is_other ? &groups->others : &groups->members;
	size_t n = is_other ? ++groups->n_others : ++groups->n_members;
	struct dd_member *member;
	uint64_t at;

	if (dd_facts_add(groups->work->facts, &fact, text, &at))
		return TL_TROUBLE;
	if (in_room_have(room, (n + 1) * sizeof(*member)))
		return tl_error("out of memory");
	member = (struct dd_member *)room->bytes + n;
	*member = (struct dd_member){ .keeper = is_other ? near->id : near->keeper,
				      .similarity = near->similarity, .key = fact.key,
				      .fact = at, .file = fact.name.file };
	member->flags = near->flags & (SIMIDX_DEDUP_ESTIMATE | SIMIDX_DEDUP_EQUAL);
	member->is_as_first = (near->flags & SIMIDX_DEDUP_EQUAL) != 0;
	member->other = is_other ? (near->against + 1) & 0xff : 0;
	return 0;
}

/* Members are sorted in the end, for which qsort() may need two pointers each. */
size_t dd_groups_bytes(void)
{
	return sizeof(struct dd_member) + 2 * sizeof(void *);
}

/*
 * Whether a file is as it was read. If not, what is printed of it might make somebody remove what
 * nobody has compared.
 */
static int is_as_read(struct dd_groups *groups, uint32_t file)
{
	uint8_t *state = &groups->state[file];

	if (!*state) {
		*state = (uint8_t)(1 + dd_files_state(groups->work->files, file, -1));
		if (*state != 1 + DD_AS_READ && ++groups->counts->changed <= MAX_REPORTED)
			tl_error("%s: has %s since it was read: left out",
				 dd_files_path(groups->work->files, file),
				 *state == 1 + DD_REMOVED ? "been removed" : "changed");
	}
	return *state == 1 + DD_AS_READ;
}

/* ---- what is printed ---- */

static struct dd_where place_of(const struct dd_groups *groups, const struct dd_fact *fact)
{
	struct dd_where place = { .path = dd_files_path(groups->work->files, fact->name.file),
				  .line = fact->name.line };

	/* The label of a file is its path. */
	if (place.line) {
		place.label = fact->label;
		place.label_size = fact->label_size;
	}
	return place;
}

/* A whole file is gone only without all its paths, of which each is a line. */
static void put_dropped(struct dd_groups *groups, uint64_t group, const struct dd_member *member,
			const struct dd_fact *fact)
{
	const struct dd_options *options = groups->work->options;
	const struct dd_similarity similarity = { member->similarity, member->flags };
	struct dd_where place = place_of(groups, fact);

	dd_groups_count(groups->counts, member->similarity, member->flags, fact->size);
	/*
	 * Nobody has compared the texts; who asks for that has --no-verify. Of features there is no
	 * more.
	 */
	if (options->drop_list && member->similarity == SIMIDX_DEDUP_BY_FP &&
	    groups->work->kind == SIMIDX_DEDUP_TEXTS && !options->no_verify) {
		groups->counts->trusted++;
		return;
	}
	dd_lines_put(&groups->lines, group, similarity, 0, &place);
	for (size_t i = 0; !place.line && place.path; i++) {
		place.path = dd_files_other_path(groups->work->files, member->file, i);
		if (place.path && dd_files_state_by(groups->work->files, member->file,
						    place.path) == DD_AS_READ)
			dd_lines_put(&groups->lines, group, similarity, 0, &place);
	}
}

/* What stays: a row, or a document of another index. */
struct kept {
	struct dd_where place;
	struct dd_fact fact;    /* of a row */
	simidx_dedup_near near; /* the first of its group, or the document */
	int is_row, is_as_first;
};

/* Texts for evidence. Those of the bytes of the first of a group are its text. */
static int get_texts(struct dd_groups *groups, const struct kept *kept,
		     const struct dd_member *member, const struct dd_fact *fact,
		     struct dd_text text[2])
{
	const simidx_dedup_near own = dd_member_first(member);
	const simidx_dedup_near *first = kept->is_row ? &own : &kept->near;

	if (dd_texts_get(&groups->texts, 1, fact, member->is_as_first ? first : NULL, &text[0]))
		return TL_TROUBLE;
	return kept->is_row ? dd_texts_get(&groups->texts, 0, &kept->fact,
					   kept->is_as_first ? &kept->near : NULL, &text[1]) :
			      dd_texts_find(groups->work->dedup, first, &text[1]);
}

static int tell_why(struct dd_groups *groups, const struct kept *kept,
		    const struct dd_member *member, const struct dd_fact *fact)
{
	struct dd_reason reason = { .row = fact, .other = kept->is_row ? &kept->fact : NULL };
	int code = 0;

	if (!groups->evidence)
		return 0;
	reason.near = kept->near;
	reason.near.similarity = member->similarity;
	reason.near.flags = member->flags;
	if (groups->work->options->evidence_texts && groups->work->kind == SIMIDX_DEDUP_TEXTS)
		code = get_texts(groups, kept, member, fact, reason.text);
	return code ? code : dd_evidence_put(groups->evidence, &reason);
}

/* Print what goes for one that stays. */
static int print_members(struct dd_groups *groups, struct kept *kept,
			 const struct dd_member *member, const struct dd_member *end)
{
	int is_bare = groups->work->kind == SIMIDX_DEDUP_FINGERPRINTS, code = 0;
	const struct dd_similarity itself = { is_bare ? 0 : 1, is_bare ? 0 : SIMIDX_DEDUP_EQUAL };
	struct dd_large large = { .near = kept->near, .n = (uint64_t)(end - member),
				  .has_fact = kept->is_row, .fact = kept->fact };
	uint64_t first = kept->is_row ? UINT64_MAX : member->fact;
	struct dd_fact fact;

	for (const struct dd_member *m = member; m < end; m++)
		first = m->fact < first ? m->fact : first;
	if (dd_facts_get(groups->work->facts, first, &groups->label[1], &fact))
		return TL_TROUBLE;
	if (kept->is_row && kept->fact.name.number < fact.name.number)
		fact.name.number = kept->fact.name.number;
	first = fact.name.number; /* of the group */
	dd_lines_put(&groups->lines, first, itself, 1, &kept->place);
	for (; !code && member < end && !tl_output_failed(); member++) {
		if (dd_facts_get(groups->work->facts, member->fact, &groups->label[1], &fact))
			return TL_TROUBLE;
		put_dropped(groups, first, member, &fact);
		code = tell_why(groups, kept, member, &fact);
	}
	groups->counts->groups++;
	large.fact.label = NULL;
	groups->n_large = dd_keepers_rank(groups->large, groups->n_large, &large);
	return code;
}

/* ---- groups ---- */

/* Members of a group together, in the order of their firsts. */
static int compare_groups(const void *a, const void *b)
{
	const struct dd_member *x = a, *y = b;

	if (x->other != y->other)
		return x->other < y->other ? -1 : 1;
	if (x->keeper != y->keeper)
		return x->keeper < y->keeper ? -1 : 1;
	return x->fact < y->fact ? -1 : x->fact > y->fact;
}

/*
 * Those that go for one together, behind it; the most similar first, and of these the identical
 * ones. Of fingerprints the fewest bits.
 */
static int compare_members(const void *a, const void *b, void *has_bits)
{
	const struct dd_member *x = a, *y = b;

	if (x->keeper != y->keeper)
		return x->keeper < y->keeper ? -1 : 1;
	if (x->is_keeper != y->is_keeper)
		return x->is_keeper ? -1 : 1;
	if (x->similarity != y->similarity)
		return (x->similarity > y->similarity) == !*(const int *)has_bits ? -1 : 1;
	if ((x->flags ^ y->flags) & SIMIDX_DEDUP_EQUAL)
		return x->flags & SIMIDX_DEDUP_EQUAL ? -1 : 1;
	return x->fact < y->fact ? -1 : x->fact > y->fact;
}

static void sort_members(const struct dd_groups *groups, struct dd_member *member, size_t n)
{
	int has_bits = groups->work->kind == SIMIDX_DEDUP_FINGERPRINTS;

	qsort_r(member, n, sizeof(*member), compare_members, &has_bits);
}

/* Take out what has changed. Returns how many are left. */
static size_t keep_as_read(struct dd_groups *groups, struct dd_member *member, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++)
		if (is_as_read(groups, member[i].file))
			member[left++] = member[i];
	return left;
}

/* A group of another index: all go for its document. Only what is identical, if that is wanted. */
static int print_against(struct dd_groups *groups, struct dd_member *member, size_t n)
{
	unsigned i = member->other - 1;
	struct kept kept = { .near.keeper = SIMIDX_DEDUP_AGAINST, .near.id = member->keeper };
	size_t left = 0;

	n = keep_as_read(groups, member, n);
	for (size_t k = 0; k < n; k++)
		if (!groups->work->options->identical || member[k].flags & SIMIDX_DEDUP_EQUAL)
			member[left++] = member[k];
	if (!left)
		return 0;
	kept.near.against = i;
	kept.place.id = kept.near.id;
	kept.place.index = groups->work->options->against.at[i];
	kept.place.label = dd_against_label(groups->work->against, i, kept.near.id,
					    &kept.place.label_size);
	sort_members(groups, member, left);
	return print_members(groups, &kept, member, member + left);
}

/* What is decided: each that stays, and what goes for it, but for more than a group may have. */
static int print_decided(struct dd_groups *groups, struct dd_member *member, size_t n)
{
	uint64_t most = groups->work->options->max_group;
	struct dd_member *end = member + n, *next;
	int code = 0;

	sort_members(groups, member, n);
	for (; !code && member < end && !tl_output_failed(); member = next) {
		struct kept kept = { .near = dd_member_first(member), .is_row = 1,
				     .is_as_first = member->is_as_first };

		for (next = member + 1; next < end && next->keeper == member->keeper;)
			next++;
		n = (size_t)(next - member) - 1;
		n = n && is_as_read(groups, member->file) ? keep_as_read(groups, member + 1, n) : 0;
		if (most && n > most) {
			groups->counts->spared += n - most;
			n = (size_t)most;
		}
		if (!n)
			continue;
		if (dd_facts_get(groups->work->facts, member->fact, &groups->label[0], &kept.fact))
			return TL_TROUBLE;
		kept.place = place_of(groups, &kept.fact);
		for (size_t i = 1; i <= n; i++)
			if (member[i].is_first)
				dd_keepers_drop(groups->work->keepers, member[i].key);
		code = print_members(groups, &kept, member + 1, member + 1 + n);
	}
	return code;
}

/* A group whose first stays. That takes the place before the others. */
static int print_group(struct dd_groups *groups, struct dd_member *member, size_t n)
{
	int is_bare = groups->work->kind == SIMIDX_DEDUP_FINGERPRINTS;
	uint64_t handle = member->keeper, at;
	struct dd_member *first = member - 1;
	struct dd_fact fact;
	size_t left = 0;

	if (dd_keepers_fact(groups->work->keepers, handle, &at, &groups->label[0], &fact))
		return TL_TROUBLE;
	*first = (struct dd_member){ .similarity = is_bare ? 0 : 1, .fact = at,
				     .file = fact.name.file };
	first->flags = is_bare ? 0 : SIMIDX_DEDUP_EQUAL;
	first->is_as_first = first->is_keeper = 1;
	for (size_t i = 0; i < n; i++)
		if (!groups->work->options->identical || member[i].flags & SIMIDX_DEDUP_EQUAL)
			member[left++] = member[i];
	for (size_t i = 0; i <= left; i++) {
		first[i].keeper = 0;
		first[i].key = handle;
	}
	return print_decided(groups, first, left + 1);
}

/* ---- which ones stay ---- */

static size_t count_groups(const struct dd_groups *groups)
{
	const struct dd_member *member = groups->members.bytes;
	size_t n = 0;

	for (size_t i = 1; i <= groups->n_members; i++)
		n += i == 1 || member[i].keeper != member[i - 1].keeper;
	return n;
}

/* Take out what has changed; the group of a first that has changed, too. */
static int drop_changed(struct dd_groups *groups)
{
	struct dd_member *member = (struct dd_member *)groups->members.bytes + 1;
	size_t n = groups->n_members, left = 0;
	uint64_t handle = UINT64_MAX;
	struct dd_fact fact;
	int is = 0;

	for (size_t i = 0; i < n; i++) {
		if (member[i].keeper != handle) {
			handle = member[i].keeper;
			if (dd_keepers_fact(groups->work->keepers, handle, NULL,
					    &groups->label[0], &fact))
				return TL_TROUBLE;
			is = is_as_read(groups, fact.name.file);
		}
		if (is && is_as_read(groups, member[i].file))
			member[left++] = member[i];
	}
	groups->n_members = left;
	return 0;
}

/* Decide again, and look at all files again, as that may take long. */
static int decide(struct dd_groups *groups, uint64_t memory)
{
	int code;

	groups->best = (struct dd_best){ .work = groups->work, .texts = &groups->texts,
					 .memory = memory, .table = &groups->members,
					 .n = groups->n_members + 1 };
	code = dd_best_decide(&groups->best);
	groups->n_members = groups->best.n - 1;
	groups->counts->unread += groups->best.n_unread;
	for (uint32_t i = 0; i < dd_files_count(groups->work->files); i++)
		if (groups->state[i] == 1 + DD_AS_READ)
			groups->state[i] = 0;
	return code;
}

/* ---- all ---- */

/* A drop list has labels beside paths: none may be taken for the other. */
static int note_paths(struct dd_groups *groups)
{
	struct dd_files *files = groups->work->files;
	uint32_t n = groups->work->options->drop_list ? dd_files_count(files) : 0;
	int code = 0;

	/* Documents of other indexes may have the same ones, and stay. */
	groups->labels->is_partial |= groups->work->against != NULL;

	for (uint32_t file = 0; file < n; file++) {
		const char *path = dd_files_path(files, file);

		for (size_t i = 0; !code && path; i++) {
			code = dd_labels_add(groups->labels, path, strlen(path));
			path = dd_files_other_path(files, file, i);
		}
	}
	dd_labels_sort(groups->labels);
	return code;
}

static int begin(struct dd_groups *groups, uint64_t memory)
{
	groups->lines.work = groups->work;
	groups->lines.labels = groups->labels;
	if (note_paths(groups))
		return TL_TROUBLE;
	groups->state = tl_alloc(dd_files_count(groups->work->files) + 1);
	return groups->state ? dd_texts_begin(&groups->texts, groups->work, memory) : TL_TROUBLE;
}

/* What was odd. */
static void tell_odd(const struct dd_groups *groups)
{
	uint64_t changed = groups->counts->changed, broken = groups->lines.n_broken;
	uint64_t shared = groups->lines.n_shared, taken = groups->lines.n_taken;
	int has_nul = groups->work->options->inputs.nul_lists;

	groups->counts->broken = broken + taken;
	if (changed > MAX_REPORTED)
		tl_error("%" PRIu64 " files in all have changed since they were read", changed);
	if (shared)
		tl_notice("%" PRIu64 " row%s listed by file and line, as other rows or files "
			  "%s the same label", shared, shared == 1 ? " is" : "s are",
			  groups->labels->is_partial ? "may have" : "have");
	if (broken)
		tl_error("%" PRIu64 " name%s not listed, because of %s in %s%s", broken,
			 broken == 1 ? " is" : "s are", has_nul ? "NUL bytes" : "line ends",
			 broken == 1 ? "it" : "them",
			 has_nul ? "" : ": -0 lists names that have them");
	if (taken)
		tl_error("%" PRIu64 " name%s not listed, as %s the label of another row", taken,
			 taken == 1 ? " is" : "s are", taken == 1 ? "it is" : "each is");
}

/* Groups of rows, or of other indexes, one after the other. */
static int print_groups(struct dd_groups *groups, const struct in_room *members, size_t n,
			int (*print)(struct dd_groups *, struct dd_member *, size_t))
{
	struct dd_member *member = members->bytes, *end, *next;
	int code = 0;

	if (!n)
		return 0;
	end = ++member + n;
	for (; !code && member < end && !tl_output_failed(); member = next) {
		for (next = member; next < end && next->keeper == member->keeper &&
				    next->other == member->other;)
			next++;
		code = print(groups, member, (size_t)(next - member));
	}
	return code;
}

static void sort_groups(struct in_room *members, size_t n)
{
	if (n)
		qsort((struct dd_member *)members->bytes + 1, n, sizeof(struct dd_member),
		      compare_groups);
}

int dd_groups_print(struct dd_groups *groups, uint64_t memory)
{
	int code = 0, is_again;

	if (!groups->n_members && !groups->n_others)
		return 0;
	sort_groups(&groups->members, groups->n_members);
	sort_groups(&groups->others, groups->n_others);
	is_again = groups->n_members && groups->work->kind == SIMIDX_DEDUP_TEXTS &&
		   decides_again(groups->work->options);
	if (is_again && !dd_best_fits(memory, groups->n_members, count_groups(groups))) {
		groups->counts->unread = groups->n_members;
		is_again = 0;
	}
	/* Half of it is for the work at what is decided again. */
	code = begin(groups, is_again ? memory / 2 : memory);
	if (!code && is_again)
		code = drop_changed(groups);
	if (!code && is_again && groups->n_members)
		code = decide(groups, memory);
	if (!code && is_again)
		code = print_decided(groups, (struct dd_member *)groups->members.bytes + 1,
				     groups->n_members);
	else if (!code)
		code = print_groups(groups, &groups->members, groups->n_members, print_group);
	if (!code)
		code = print_groups(groups, &groups->others, groups->n_others, print_against);
	tell_odd(groups);
	return code || !tl_output_failed() ? code : TL_TROUBLE;
}

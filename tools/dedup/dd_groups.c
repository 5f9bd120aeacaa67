/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_groups.h"

#include "common/tl_msg.h"
#include "common/tl_term.h"
#include "dedup/dd_columns.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Messages about single files beyond this are only counted. */
#define MAX_REPORTED 20

/* One that is near to a kept one, or to a document of another index. */
struct member {
	uint64_t keeper; /* its handle, or the id in that index */
	double similarity;
	uint64_t number, line; /* as those of struct dd_name */
	uint32_t file;
	uint32_t flags : 2;    /* as simidx_dedup_near.flags */
	uint32_t other : 30;   /* number of the index, from 1; 0: it is a kept one */
};

/* Where a document is that is printed. */
struct place {
	const char *path;
	uint64_t line;
	const char *index; /* NULL; or it is in this one, and has no path */
	const char *label; /* NULL: it has none */
	size_t label_size;
	uint64_t id;
};

struct dd_groups {
	const struct dd_options *options;
	struct dd_files *files;
	enum simidx_dedup_kind kind;
	struct in_room members; /* struct member */
	size_t n_members;
	uint8_t *state;         /* of each file: 1 + enum dd_state; 0 = not yet looked at again */
	struct dd_groups_counts counts;
};

struct dd_groups *dd_groups_new(const struct dd_options *options, struct dd_files *files)
{
	struct dd_groups *groups = calloc(1, sizeof(*groups));

	if (!groups)
		return NULL;
	groups->options = options;
	groups->files = files;
	return groups;
}

void dd_groups_free(struct dd_groups *groups)
{
	if (!groups)
		return;
	free(groups->members.bytes);
	free(groups->state);
	free(groups);
}

int dd_groups_add(struct dd_groups *groups, const simidx_dedup_near *near,
		  const struct dd_name *name)
{
	int is_other = near->keeper == SIMIDX_DEDUP_AGAINST;

	if (in_room_have(&groups->members, (groups->n_members + 1) * sizeof(struct member)))
		return tl_error("out of memory");
	((struct member *)groups->members.bytes)[groups->n_members++] = (struct member){
		is_other ? near->id : near->keeper, near->similarity, name->number, name->line,
		name->file, near->flags & (SIMIDX_DEDUP_ESTIMATE | SIMIDX_DEDUP_EQUAL),
		is_other ? near->against + 1 : 0
	};
	return 0;
}

/* Members are sorted in the end, for which qsort() may need two pointers each. */
size_t dd_groups_bytes(void)
{
	return sizeof(struct member) + 2 * sizeof(void *);
}

void dd_groups_count(const struct dd_groups *groups, struct dd_groups_counts *counts)
{
	*counts = groups->counts;
}

/*
 * Whether a file is as it was read. If not, what is printed of it might make somebody remove what
 * nobody has compared.
 */
static int is_as_read(struct dd_groups *groups, uint32_t file)
{
	uint8_t *state = &groups->state[file];

	if (!*state) {
		*state = (uint8_t)(1 + dd_files_state(groups->files, file, -1));
		if (*state != 1 + DD_AS_READ && ++groups->counts.changed <= MAX_REPORTED)
			tl_error("%s: has %s since it was read: left out",
				 dd_files_path(groups->files, file),
				 *state == 1 + DD_REMOVED ? "been removed" : "changed");
	}
	return *state == 1 + DD_AS_READ;
}

static void put_place(const struct place *place)
{
	if (!place->index) {
		dd_columns_path(stdout, place->path, place->line);
		return;
	}
	dd_columns_document(stdout, place->label, place->label_size, place->id);
	putchar('\t');
	dd_columns_path(stdout, place->index, 0);
}

static void json_place(struct tl_json *json, const struct place *place)
{
	if (!place->index) {
		dd_columns_json_path(json, place->path, place->line, "path", "line");
		return;
	}
	if (place->label)
		tl_json_bytes(json, "label", place->label, place->label_size);
	tl_json_unsigned(json, "id", place->id);
	dd_columns_json_path(json, place->index, 0, "index", NULL);
}

/* A line for a person, in columns. */
static void show_member(const struct dd_groups *groups, uint64_t group,
			struct dd_similarity similarity, int is_kept, const struct place *place)
{
	char number[TL_NUMBER_SIZE], text[TL_NUMBER_SIZE];

	if (is_kept && !groups->counts.groups)
		printf("    group  %7s        document\n",
		       groups->kind == SIMIDX_DEDUP_FINGERPRINTS ? "bits" : "percent");
	printf("%9s  %7s  %s  ", tl_term_count(number, group),
	       dd_columns_write_similarity(text, groups->kind, similarity),
	       is_kept ? "keep" : "drop");
	put_place(place);
	putchar('\n');
}

/*
 * For a list whose reader may remove what it names: a name with a line end would be two, and "-"
 * may be a file.
 */
static void put_removable(struct dd_groups *groups, const char *path, uint64_t line)
{
	int is_nul = groups->options->inputs.nul_lists;

	if (!line && strcmp(path, "-") == 0)
		return;
	if (!is_nul && strchr(path, '\n')) {
		groups->counts.broken++;
		return;
	}
	fputs(path, stdout);
	if (line)
		printf(":%" PRIu64, line);
	putchar(is_nul ? '\0' : '\n');
}

static void put_member(struct dd_groups *groups, uint64_t group, struct dd_similarity similarity,
		       int is_kept, const struct place *place)
{
	struct tl_json json = { .out = stdout };

	if (groups->options->drop_list) {
		if (!is_kept)
			put_removable(groups, place->path, place->line);
		return;
	}
	if (groups->options->json) {
		tl_json_open(&json, NULL, '{');
		tl_json_unsigned(&json, "group", group);
		dd_columns_json_similarity(&json, groups->kind, similarity);
		tl_json_bool(&json, "keep", is_kept);
		json_place(&json, place);
		dd_columns_json_end(&json);
		return;
	}
	if (tl_term_is()) {
		show_member(groups, group, similarity, is_kept, place);
		return;
	}
	printf("%" PRIu64 "\t", group);
	dd_columns_similarity(stdout, groups->kind, similarity);
	fputs(is_kept ? "\tkeep\t" : "\tdrop\t", stdout);
	put_place(place);
	putchar('\n');
}

static void put_keeper(struct dd_groups *groups, uint64_t group, const struct place *place)
{
	int is_bare = groups->kind == SIMIDX_DEDUP_FINGERPRINTS;

	put_member(groups, group,
		   is_bare ? (struct dd_similarity){ 0, 0 } :
			     (struct dd_similarity){ 1, SIMIDX_DEDUP_EQUAL },
		   1, place);
}

/* A whole file is gone only without all its paths, of which each is a line. */
static void put_dropped(struct dd_groups *groups, uint64_t group, const struct member *member)
{
	const struct dd_similarity similarity = { member->similarity, member->flags };
	struct place place = { .path = dd_files_path(groups->files, member->file),
			       .line = member->line };

	/*
	 * Nobody has compared the texts; who asks for that has --no-verify. Of features there is no
	 * more.
	 */
	if (groups->options->drop_list && member->similarity == SIMIDX_DEDUP_BY_FP &&
	    groups->kind == SIMIDX_DEDUP_TEXTS && !groups->options->no_verify) {
		groups->counts.trusted++;
		return;
	}
	put_member(groups, group, similarity, 0, &place);
	for (size_t i = 0; !place.line && place.path; i++) {
		place.path = dd_files_other_path(groups->files, member->file, i);
		if (place.path &&
		    dd_files_state_by(groups->files, member->file, place.path) == DD_AS_READ)
			put_member(groups, group, similarity, 0, &place);
	}
}

/*
 * Members of a group together, the most similar first, and of these the identical ones; of
 * fingerprints those with the fewest bits.
 */
static int compare_members(const struct member *x, const struct member *y, int bits_differ)
{
	if (x->other != y->other)
		return x->other < y->other ? -1 : 1;
	if (x->keeper != y->keeper)
		return x->keeper < y->keeper ? -1 : 1;
	if (x->similarity != y->similarity)
		return (x->similarity > y->similarity) == !bits_differ ? -1 : 1;
	if ((x->flags ^ y->flags) & SIMIDX_DEDUP_EQUAL)
		return x->flags & SIMIDX_DEDUP_EQUAL ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int compare_texts(const void *a, const void *b)
{
	return compare_members(a, b, 0);
}

static int compare_fingerprints(const void *a, const void *b)
{
	return compare_members(a, b, 1);
}

/* The keeper of a member. Returns 0 if it is not there any more as it was read. */
static int find_keeper(struct dd_groups *groups, const struct member *member,
		       const struct dd_name *kept, struct dd_against *against, struct place *place)
{
	const struct dd_name *name;
	unsigned i = member->other - 1;

	*place = (struct place){ .id = member->keeper };
	if (member->other) {
		place->index = dd_against_path(against, i);
		place->label = dd_against_label(against, i, place->id, &place->label_size);
		return 1;
	}
	name = &kept[member->keeper];
	place->path = dd_files_path(groups->files, name->file);
	place->line = name->line;
	return is_as_read(groups, name->file);
}

/* Print a group, which ends before `end`. */
static void print_group(struct dd_groups *groups, const struct member *member,
			const struct member *end, const struct dd_name *kept,
			struct dd_against *against)
{
	struct place place;
	int is_begun = 0;
	uint64_t group = UINT64_MAX;

	if (!find_keeper(groups, member, kept, against, &place))
		return;
	for (const struct member *m = member; member->other && m < end; m++)
		if (m->number < group)
			group = m->number;
	if (!member->other)
		group = kept[member->keeper].number;
	for (; member < end; member++) {
		if (!is_as_read(groups, member->file))
			continue;
		if (!is_begun)
			put_keeper(groups, group, &place);
		is_begun = 1;
		groups->counts.near++;
		put_dropped(groups, group, member);
	}
	groups->counts.groups += (uint64_t)is_begun;
}

int dd_groups_print(struct dd_groups *groups, enum simidx_dedup_kind kind,
		    const struct dd_name *kept, struct dd_against *against)
{
	const struct member *member = groups->members.bytes, *next, *end;

	groups->kind = kind;
	if (!groups->n_members)
		return 0;
	end = member + groups->n_members;
	groups->state = calloc(dd_files_count(groups->files), 1);
	if (!groups->state)
		return tl_error("out of memory");
	qsort(groups->members.bytes, groups->n_members, sizeof(*member),
	      groups->kind == SIMIDX_DEDUP_FINGERPRINTS ? compare_fingerprints : compare_texts);
	for (; member < end && !tl_output_failed(); member = next) {
		for (next = member; next < end && next->keeper == member->keeper &&
				    next->other == member->other;)
			next++;
		print_group(groups, member, next, kept, against);
	}
	if (groups->counts.changed > MAX_REPORTED)
		tl_error("%" PRIu64 " files in all have changed since they were read",
			 groups->counts.changed);
	if (groups->counts.broken)
		tl_error("%" PRIu64 " name%s not listed, because of line ends in %s: -0 lists "
			 "names that have them",
			 groups->counts.broken, groups->counts.broken == 1 ? " is" : "s are",
			 groups->counts.broken == 1 ? "it" : "them");
	return tl_output_failed() ? TL_TROUBLE : 0;
}

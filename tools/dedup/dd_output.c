/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_output.h"

#include "common/tl_emit.h"
#include "common/tl_escape.h"
#include "common/tl_json.h"
#include "common/tl_msg.h"
#include "common/tl_term.h"
#include "dedup/dd_columns.h"
#include "dedup/dd_groups.h"
#include "dedup/dd_mark.h"
#include "input/in_guard.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct dd_output {
	const struct dd_options *options;
	struct dd_files *files;
	struct dd_index *index; /* NULL before dd_output_begin() */
	struct dd_against *against; /* NULL: there are no other indexes */
	enum simidx_dedup_kind kind;
	int is_terminal; /* a progress line may stand where rows are to come */
	FILE *dups;
	struct in_room kept; /* struct dd_name, by handle; only where they are named */
	size_t n_kept;
	struct dd_groups *groups;
	struct dd_output_counts counts;
};

/* Whether a path, or if that is "-" a standard descriptor, is this file. */
static int is_same(const char *path, int fd, const struct stat *file)
{
	struct stat status;

	return !(strcmp(path, "-") == 0 ? fstat(fd, &status) : stat(path, &status)) &&
	       status.st_dev == file->st_dev && status.st_ino == file->st_ino;
}

/* What is written must not be an input that is named; others are found out when they are met. */
static int check_outputs(const struct dd_options *options)
{
	const struct in_files_options *inputs = &options->inputs;
	const char *dups = options->dups;
	struct stat output, status;
	int has_output = !fstat(STDOUT_FILENO, &output) && S_ISREG(output.st_mode);
	int has_dups = dups && !stat(dups, &status) && S_ISREG(status.st_mode);

	for (size_t i = 0; i < inputs->n_operands; i++) {
		if (has_dups && is_same(inputs->operands[i], STDIN_FILENO, &status))
			return tl_error("%s: is an input, so --dups cannot write to it", dups);
		if (has_output && is_same(inputs->operands[i], STDIN_FILENO, &output))
			return tl_error("%s: is an input, and standard output, too",
					inputs->operands[i]);
	}
	for (size_t i = 0; i < inputs->lists.n; i++) {
		if (has_dups && is_same(inputs->lists.at[i], STDIN_FILENO, &status))
			return tl_error("%s: is a list of inputs, so --dups cannot write to it",
					dups);
		if (has_output && is_same(inputs->lists.at[i], STDIN_FILENO, &output))
			return tl_error("%s: is a list of inputs, and standard output, too",
					inputs->lists.at[i]);
	}
	if (!has_dups)
		return 0;
	if (is_same("-", STDOUT_FILENO, &status))
		return tl_error("%s: is standard output, so --dups cannot write to it", dups);
	if (in_guard_is_file(dups))
		return tl_error("%s: is a file of the index, so --dups cannot write to it", dups);
	if (status.st_size && !options->index)
		return tl_error("%s: is not empty, and --dups replaces nothing: remove it, or name "
				"another file", dups);
	return 0;
}

/* Never so that a file is emptied: whether it is an input is not yet known. */
static int open_outputs(struct dd_output *output, const struct dd_options *options)
{
	if (options->dups && strcmp(options->dups, "-") == 0)
		return tl_usage_error("--dups: standard output has what is new; name a file");
	if (check_outputs(options))
		return TL_TROUBLE;
	in_guard_add_output(STDOUT_FILENO);
	if (!options->dups)
		return 0;
	output->dups = fopen(options->dups, "ae");
	if (!output->dups)
		return tl_error("%s: cannot write: %s", options->dups, strerror(errno));
	in_guard_add_output(fileno(output->dups));
	return 0;
}

struct dd_output *dd_output_new(const struct dd_options *options, struct dd_files *files)
{
	struct dd_output *output = calloc(1, sizeof(*output));

	if (output)
		output->groups = dd_groups_new(options, files);
	if (!output || !output->groups) {
		free(output);
		tl_error("out of memory");
		return NULL;
	}
	output->options = options;
	output->files = files;
	output->is_terminal = tl_term_is();
	if (!open_outputs(output, options))
		return output;
	dd_output_free(output);
	return NULL;
}

void dd_output_free(struct dd_output *output)
{
	if (!output)
		return;
	if (output->dups)
		fclose(output->dups);
	free(output->kept.bytes);
	dd_groups_free(output->groups);
	free(output);
}

/*
 * The mark is of a run that has not come to its end and wrote to these files. Others may be at
 * work.
 */
static int goes_on(const struct dd_output *output, const char *mark)
{
	return dd_mark_committed(mark, stdout) >= 0 ||
	       (output->dups && dd_mark_committed(mark, output->dups) >= 0);
}

int dd_output_begin(struct dd_output *output, struct dd_index *index, struct dd_against *against,
		    enum simidx_dedup_kind kind, int has_lines)
{
	char end = output->options->inputs.nul_lists && !has_lines ? '\0' : '\n';
	const char *mark = dd_index_mark(index);

	output->index = index;
	output->against = against;
	output->kind = kind;
	if (!output->options->stream)
		return 0;
	if (output->options->index && goes_on(output, mark) && dd_index_resume(index))
		return TL_TROUBLE;
	/* While nobody else writes: then half a line cannot be of a run that goes on. */
	if (output->options->index && dd_index_begin(index))
		return TL_TROUBLE;
	tl_emit_begin(stdout, end, dd_mark_committed(mark, stdout));
	if (output->dups)
		tl_emit_begin(output->dups, '\n', dd_mark_committed(mark, output->dups));
	if (!output->options->index)
		return 0;
	return dd_index_write_mark(index, 0) ? TL_TROUBLE : dd_index_commit(index);
}

void dd_output_count(const struct dd_output *output, struct dd_output_counts *counts)
{
	*counts = output->counts;
}

/* ---- what is known of documents ---- */

static int has_names(const struct dd_output *output)
{
	return !output->options->stream || output->dups;
}

static const struct dd_name *kept_name(const struct dd_output *output, uint64_t handle)
{
	return &((const struct dd_name *)output->kept.bytes)[handle];
}

static int note_kept(struct dd_output *output, const simidx_dedup_row *row)
{
	const struct dd_extra *extra = row->extra;

	if (row->flags & SIMIDX_DEDUP_EMPTY || !has_names(output))
		return 0;
	if (in_room_have(&output->kept, (output->n_kept + 1) * sizeof(struct dd_name)))
		return tl_error("out of memory");
	((struct dd_name *)output->kept.bytes)[output->n_kept++] = extra->name;
	return 0;
}

void dd_output_bytes(const struct dd_output *output, uint64_t *kept, uint64_t *near)
{
	int has_groups = !output->options->stream && !output->options->pairs;

	*kept = has_names(output) ? sizeof(struct dd_name) : 0;
	*near = has_groups ? dd_groups_bytes() : 0;
}

static void put_place(FILE *out, const struct dd_output *output, const struct dd_name *name)
{
	dd_columns_path(out, dd_files_path(output->files, name->file), name->line);
}

static void json_place(struct tl_json *json, const struct dd_output *output,
		       const struct dd_name *name, const char *path_key, const char *line_key)
{
	dd_columns_json_path(json, dd_files_path(output->files, name->file), name->line, path_key,
			     line_key);
}

/* ---- decisions ---- */

/*
 * A document of this run, or of an earlier one or another index, of which only the label is known,
 * or else the id.
 */
struct other {
	const struct dd_name *name; /* NULL: it is not of this run */
	uint64_t id;
	const char *label;       /* NULL: it has none */
	size_t label_size;
	const char *index;       /* the path of the other index; NULL: it is in none */
};

/* Labels are valid until the index is written to. */
static struct other find_other(const struct dd_output *output, const simidx_dedup_near *near)
{
	struct other other = { .id = near->id };
	simidx_reader *reader;
	simidx_match match;

	if (near->keeper == SIMIDX_DEDUP_AGAINST) {
		other.index = dd_against_path(output->against, near->against);
		other.label = dd_against_label(output->against, near->against, near->id,
					       &other.label_size);
	} else if (near->keeper != SIMIDX_DEDUP_EARLIER) {
		other.name = kept_name(output, near->keeper);
	} else if (!dd_index_reader(output->index, &reader) &&
		   !simidx_reader_find_id(reader, near->id, &match, NULL)) {
		other.label = match.label;
		other.label_size = match.label_size;
	}
	return other;
}

/* A label says which document it is: with the same one both are one document, read again. */
static int is_itself(const simidx_dedup_row *row, const struct other *other)
{
	return other->label && row->label_size == other->label_size &&
	       memcmp(row->label, other->label, other->label_size) == 0;
}

static void put_other(FILE *out, const struct dd_output *output, const struct other *other)
{
	if (other->name)
		put_place(out, output, other->name);
	else
		dd_columns_document(out, other->label, other->label_size, other->id);
	if (!other->index)
		return;
	putc('\t', out);
	dd_columns_path(out, other->index, 0);
}

/* A document and what it is near to. */
static void put_pair(FILE *out, const struct dd_output *output, const simidx_dedup_near *near,
		     const struct dd_name *name, const struct other *other)
{
	const struct dd_similarity similarity = { near->similarity,
						  near->flags & SIMIDX_DEDUP_ESTIMATE };
	struct tl_json json = { .out = out };

	if (!output->options->json) {
		dd_columns_similarity(out, output->kind, similarity);
		putc('\t', out);
		put_place(out, output, name);
		putc('\t', out);
		put_other(out, output, other);
		putc('\n', out);
		return;
	}
	tl_json_open(&json, NULL, '{');
	dd_columns_json_similarity(&json, output->kind, similarity);
	json_place(&json, output, name, "path", "line");
	if (other->name)
		json_place(&json, output, other->name, "path2", "line2");
	if (other->label)
		tl_json_bytes(&json, "label2", other->label, other->label_size);
	if (!output->options->pairs)
		tl_json_unsigned(&json, "id2", other->id);
	if (other->index)
		dd_columns_json_path(&json, other->index, 0, "index2", NULL);
	dd_columns_json_end(&json);
}

/* Of a filter. */
static void stream(struct dd_output *output, const simidx_dedup_row *row,
		   const simidx_dedup_near *near)
{
	const struct dd_extra *extra = row->extra;
	const char *path = dd_files_path(output->files, extra->name.file);
	struct other other;

	if (!near && output->options->inputs.nul_lists && !extra->line_size) {
		printf("%s%c", path, '\0');
		return;
	}
	if (!near) {
		tl_emit_input(path, extra->line, extra->line_size);
		return;
	}
	if (near->keeper < SIMIDX_DEDUP_AGAINST && !output->dups) {
		output->counts.near++;
		return;
	}
	other = find_other(output, near);
	/* In another index a label may mean another document. */
	if (near->keeper != SIMIDX_DEDUP_AGAINST && is_itself(row, &other)) {
		output->counts.known++;
		return;
	}
	output->counts.near++;
	output->counts.unnamed += near->keeper == SIMIDX_DEDUP_EARLIER && !other.label &&
				  !row->label_size;
	if (output->dups)
		put_pair(output->dups, output, near, &extra->name, &other);
}

static int pair(struct dd_output *output, const simidx_dedup_row *row,
		const simidx_dedup_near *near, size_t n)
{
	const struct dd_extra *extra = row->extra;
	struct other other;

	if (n && output->is_terminal)
		tl_progress_clear();
	output->counts.near += n;
	for (size_t i = 0; i < n; i++) {
		other = find_other(output, &near[i]);
		put_pair(stdout, output, &near[i], &extra->name, &other);
	}
	return note_kept(output, row);
}

int dd_output_decided(struct dd_output *output, const simidx_dedup_row *row,
		      const simidx_dedup_near *near, size_t n)
{
	const struct dd_extra *extra = row->extra;

	if (output->options->pairs)
		return pair(output, row, near, n);
	if (output->options->stream) {
		if (output->is_terminal)
			tl_progress_clear();
		stream(output, row, near);
		return n ? 0 : note_kept(output, row);
	}
	if (!n)
		return note_kept(output, row);
	output->counts.near++;
	return dd_groups_add(output->groups, near, &extra->name);
}

int dd_output_committing(struct dd_output *output)
{
	if (output->options->index) {
		if (tl_emit_flush(stdout, "standard output"))
			return TL_TROUBLE;
		return output->dups ? tl_emit_flush(output->dups, output->options->dups) : 0;
	}
	if (output->options->stream && fflush(stdout) && tl_output_failed())
		return TL_TROUBLE;
	if (output->dups && (fflush(output->dups) || ferror(output->dups)))
		return tl_error("%s: cannot write: %s", output->options->dups, strerror(errno));
	return tl_output_failed() ? TL_TROUBLE : 0;
}

int dd_output_finish(struct dd_output *output)
{
	struct dd_groups_counts counts;
	int code = dd_groups_print(output->groups, output->kind, output->kept.bytes,
				   output->against);

	dd_groups_count(output->groups, &counts);
	output->counts.near = counts.near;
	output->counts.trusted = counts.trusted;
	output->counts.groups = counts.groups;
	output->counts.changed = counts.changed;
	output->counts.broken = counts.broken;
	return code;
}

void dd_output_tell(const struct dd_output *output)
{
	const struct dd_output_counts *counts = &output->counts;
	char n[TL_NUMBER_SIZE];

	if (counts->known)
		tl_notice("%s document%s in %s already, with the same label: not new, and not in "
			  "--dups",
			  tl_write_count(counts->known, n), counts->known == 1 ? " is" : "s are",
			  output->options->index);
	if (counts->unnamed && output->dups)
		tl_notice("%s document%s near to one of an earlier run, without a label: each may "
			  "be that document itself, read again, so %s is no list of what can go",
			  tl_write_count(counts->unnamed, n),
			  counts->unnamed == 1 ? " is" : "s are", output->options->dups);
	if (counts->trusted)
		tl_notice("%s document%s near by fingerprints alone: not listed, as no texts were "
			  "compared",
			  tl_write_count(counts->trusted, n),
			  counts->trusted == 1 ? " is" : "s are");
}

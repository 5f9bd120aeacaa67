/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_output.h"

#include "common/tl_emit.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_output.h"
#include "common/tl_term.h"
#include "common/tl_utf8.h"
#include "dedup/dd_check.h"
#include "dedup/dd_pairs.h"
#include "dedup/dd_resume.h"
#include "dedup/dd_shards.h"
#include "dedup/dd_sink.h"
#include "input/in_guard.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Groups of which fewer were left out are no news. */
#define LEAST_LEFT_OUT 10

/* Above both there is a warning: documents, and percent of all. */
#define MANY 1000
#define MANY_PERCENT 1

/* Characters of an excerpt. */
#define EXCERPT 60

struct dd_output {
	struct dd_work *work;
	int is_terminal;             /* a progress line may stand where rows are to come */
	int has_groups;              /* they are printed in the end */
	/* NULL: not written. Rows that stay go to that of the open shard; NULL: none is open. */
	struct dd_sink *sinks[DD_N_WRITTEN];
	struct dd_shards shards;     /* without `work`: rows that stay go to one file */
	struct dd_keepers keepers;
	struct dd_pairs pairs;
	struct dd_evidence evidence; /* without a sink: none is written */
	struct dd_groups groups;
	struct dd_labels labels;     /* of all rows, for --drop-list */
	const struct dd_mark *start; /* of the run that is gone on with, or NULL */
	struct dd_position at;       /* behind the last row that was decided */
	struct dd_counts counts;
};

static void add_guard(const struct dd_output *output, int fd)
{
	in_guard_add_output(fd, output->start && dd_mark_committed(output->start, fd) >= 0);
}

static int open_sink(struct dd_output *output, enum dd_written which, const char *path)
{
	output->sinks[which] = dd_sink_open(path);
	if (!output->sinks[which])
		return TL_TROUBLE;
	add_guard(output, dd_sink_fd(output->sinks[which]));
	return 0;
}

/* Never so that a file is emptied: whether it is an input is not yet known. */
static int open_outputs(struct dd_output *output, const struct dd_options *options)
{
	if (dd_check_outputs(options))
		return TL_TROUBLE;
	add_guard(output, STDOUT_FILENO);
	if (options->evidence && open_sink(output, DD_EVIDENCE, options->evidence))
		return TL_TROUBLE;
	if (options->output_dir) {
		output->shards.work = output->work;
		output->shards.resumes = output->start != NULL;
	} else if (options->stream && open_sink(output, DD_KEPT, options->output)) {
		return TL_TROUBLE;
	}
	return options->dups ? open_sink(output, DD_DUPS, options->dups) : 0;
}

/* Whether kept rows are named later, or what is left out for each must be known exactly. */
static int has_facts(const struct dd_options *options)
{
	return !options->stream || options->dups || options->evidence || options->max_group;
}

struct dd_output *dd_output_new(struct dd_work *work, const struct dd_mark *start)
{
	const struct dd_options *options = work->options;
	struct dd_output *output = tl_alloc(sizeof(*output));
	int code = 0;

	if (!output)
		return NULL;
	output->work = work;
	output->is_terminal = tl_term_is();
	output->has_groups = !options->stream && !options->pairs;
	output->start = start;
	if (start)
		output->at = start->at;
	output->keepers.work = output->pairs.work = output->evidence.work = work;
	work->keepers = &output->keepers;
	if (has_facts(options)) {
		work->facts = dd_facts_new(options->tmpdir, options->spill);
		code = work->facts ? 0 : TL_TROUBLE;
	}
	if (!code)
		code = open_outputs(output, options);
	output->evidence.sink = output->sinks[DD_EVIDENCE];
	output->groups = (struct dd_groups){ .work = work, .labels = &output->labels,
					     .counts = &output->counts };
	if (output->evidence.sink)
		output->groups.evidence = &output->evidence;
	if (!code)
		return output;
	dd_output_free(output);
	return NULL;
}

void dd_output_free(struct dd_output *output)
{
	if (!output)
		return;
	for (int i = output->shards.work ? DD_DUPS : DD_KEPT; i < DD_N_WRITTEN; i++)
		dd_sink_close(output->sinks[i]);
	dd_shards_free(&output->shards);
	dd_evidence_free(&output->evidence);
	dd_keepers_free(&output->keepers);
	dd_groups_free(&output->groups);
	free(output->labels.hashes.bytes);
	dd_facts_free(output->work->facts);
	free(output);
}

/*
 * Begin with each file behind what is there. If the mark is of a run that has not come to its end
 * and wrote to one of these files, others may be at work.
 */
static int begin_sinks(struct dd_output *output, char end)
{
	struct dd_index *index = output->work->index;
	const struct dd_mark *mark = &index->mark;
	struct dd_sink **sinks = output->sinks;
	int goes_on = 0, code = 0;

	for (int i = 0; i < DD_N_WRITTEN; i++)
		goes_on |= sinks[i] && dd_mark_committed(mark, dd_sink_fd(sinks[i])) >= 0;
	if (mark->is_open && mark->has_position)
		tl_notice("%s: the last run did not finish, or is at work: --resume goes "
			  "on with it, and this run begins anew", output->work->options->index);
	if (output->work->options->index && goes_on && dd_index_resume(index))
		return TL_TROUBLE;
	/* While nobody else writes: then half a line cannot be of a run that goes on. */
	if (output->work->options->index && dd_index_begin(index))
		return TL_TROUBLE;
	for (int i = 0; !code && i < DD_N_WRITTEN; i++)
		if (sinks[i])
			code = dd_sink_begin(sinks[i], i == DD_KEPT ? end : '\n',
					     dd_mark_committed(mark, dd_sink_fd(sinks[i])));
	return code;
}

/* Go on with each file as it was at the last commit. */
static int resume_sinks(struct dd_output *output)
{
	struct dd_index *index = output->work->index;
	const char *paths[] = { output->work->options->output, output->work->options->dups,
				output->work->options->evidence };
	const struct dd_mark *start = output->start;
	struct dd_sink **sinks = output->sinks;
	int code = 0;

	if (dd_index_resume(index) || dd_index_begin(index))
		return TL_TROUBLE;
	if (!dd_mark_is_same(&index->mark, start))
		code = tl_error("%s: --resume: another run has gone on meanwhile",
				output->work->options->index);
	for (int i = output->shards.work ? DD_DUPS : DD_KEPT; !code && i < DD_N_WRITTEN; i++) {
		if (sinks[i])
			code = dd_resume_cut(sinks[i], paths[i], &start->place[i]);
		else if (start->place[i].inode)
			code = tl_error("--resume: the run that did not finish had %s, too",
					i == DD_DUPS ? "--dups" : "--evidence");
	}
	return code;
}

int dd_output_begin(struct dd_output *output, int has_lines)
{
	char end = output->work->options->inputs.nul_lists && !has_lines ? '\0' : '\n';

	return output->start ? resume_sinks(output) : begin_sinks(output, end);
}

int dd_output_go_on(struct dd_output *output, uint32_t file)
{
	if (!output->shards.work)
		return 0;
	output->sinks[DD_KEPT] = dd_shards_go_on(&output->shards, file,
						 &output->start->place[DD_KEPT]);
	return output->sinks[DD_KEPT] ? 0 : TL_TROUBLE;
}

struct dd_sink *dd_output_kept(const struct dd_output *output)
{
	return output->sinks[DD_KEPT];
}

void dd_output_mark(const struct dd_output *output, struct dd_mark *mark)
{
	for (int i = 0; i < DD_N_WRITTEN; i++)
		if (output->sinks[i])
			mark->place[i] = dd_mark_place(dd_sink_fd(output->sinks[i]));
		else if (i == DD_KEPT && output->start)
			mark->place[i] = output->start->place[i];
	mark->at = output->at;
	mark->first_id = output->start ? output->start->first_id :
					 output->work->index->first_id;
}

const struct dd_counts *dd_output_counts(const struct dd_output *output)
{
	return &output->counts;
}

/* ---- what is known of documents ---- */

static int note_kept(struct dd_output *output, const simidx_dedup_row *row)
{
	struct dd_fact fact;

	if (row->flags & SIMIDX_DEDUP_EMPTY)
		return 0;
	fact = dd_fact_of(row);
	return dd_keepers_add(&output->keepers, &fact);
}

uint64_t dd_output_bytes(const struct dd_output *output, uint64_t kept)
{
	uint64_t label = output->work->options->drop_list ? DD_LABELS_BYTES : 0;
	uint64_t near = output->has_groups ? dd_groups_bytes() : 0;

	kept += dd_keepers_bytes(&output->keepers);
	return label + (kept > near ? kept : near);
}

/* ---- decisions ---- */

/* A document of an earlier run, and not of that which is gone on with. */
static int is_earlier(const struct dd_output *output, const simidx_dedup_near *near)
{
	return near->keeper == SIMIDX_DEDUP_EARLIER &&
	       !(output->start && near->id >= output->start->first_id);
}

/* A label says which document it is: with the same one both are one document, read again. */
static int is_itself(const simidx_dedup_row *row, const struct dd_keeper *other)
{
	return other->label && row->label_size == other->label_size &&
	       memcmp(row->label, other->label, other->label_size) == 0;
}

/* An input that is new, or stays though it is near to another one. */
static int emit(const struct dd_output *output, const struct dd_extra *extra)
{
	const char *path = dd_files_path(output->work->files, extra->name.file);
	FILE *out;

	if (dd_sink_put(output->sinks[DD_KEPT], extra->line, extra->line_size))
		return TL_TROUBLE;
	out = dd_sink_out(output->sinks[DD_KEPT]);
	if (!out)
		return TL_TROUBLE;
	if (!extra->line_size)
		tl_emit_path(out, path, output->work->options->inputs.nul_lists);
	else if (extra->line[extra->line_size - 1] != '\n')
		putc('\n', out);
	return dd_sink_wrote(output->sinks[DD_KEPT]);
}

static int put_dup(struct dd_output *output, const simidx_dedup_near *near,
		   const simidx_dedup_row *row, const struct dd_keeper *other)
{
	FILE *out = dd_sink_out(output->sinks[DD_DUPS]);

	if (!out)
		return TL_TROUBLE;
	dd_pairs_put(&output->pairs, out, near, row, other);
	return dd_sink_wrote(output->sinks[DD_DUPS]);
}

/* Of a filter: a row that is left out. `is_known` is set to whether it is a document that INDEX has
   by its own label. */
static int leave_out(struct dd_output *output, const simidx_dedup_row *row,
		     const simidx_dedup_near *near, int *is_known)
{
	struct dd_keeper other;

	*is_known = 0;
	if (near->keeper < SIMIDX_DEDUP_AGAINST && !output->sinks[DD_DUPS]) {
		dd_groups_count(&output->counts, near->similarity, near->flags, row->text_size);
		return 0;
	}
	if (dd_keepers_find(&output->keepers, near, &other))
		return TL_TROUBLE;
	/* In another index a label may mean another document. */
	if (is_earlier(output, near) && is_itself(row, &other)) {
		output->counts.known++;
		*is_known = 1;
		return 0;
	}
	dd_groups_count(&output->counts, near->similarity, near->flags, row->text_size);
	output->counts.unnamed += is_earlier(output, near) && !other.label && !row->label_size;
	return output->sinks[DD_DUPS] ? put_dup(output, near, row, &other) : 0;
}

static int pair(struct dd_output *output, const simidx_dedup_row *row,
		const simidx_dedup_near *near, size_t n)
{
	struct dd_keeper other;
	int code = 0;

	if (n && output->is_terminal)
		tl_progress_clear();
	for (size_t i = 0; !code && i < n; i++) {
		if (output->work->options->identical && !(near[i].flags & SIMIDX_DEDUP_EQUAL))
			continue;
		output->counts.near++;
		code = dd_keepers_find(&output->keepers, &near[i], &other);
		if (!code)
			dd_pairs_put(&output->pairs, stdout, &near[i], row, &other);
	}
	return code ? code : note_kept(output, row);
}

/* A row that is near to none; `nearest` is what it is nearly near to, or NULL. */
static int keep(struct dd_output *output, const simidx_dedup_row *row,
		const simidx_dedup_near *nearest)
{
	const struct dd_options *options = output->work->options;
	double least = options->similarity - options->near_misses / 100.0 - 1e-9;
	int code = 0;

	if (options->stream)
		code = emit(output, row->extra);
	if (!code && output->evidence.sink && nearest && nearest->similarity >= least)
		code = output->has_groups ?
			       dd_evidence_hold(&output->evidence, row,
						output->keepers.n, nearest) :
			       dd_evidence_add(&output->evidence, row, nearest, 1);
	return code ? code : note_kept(output, row);
}

/* Whether a row that is near to another one is going to be left out for it. With --identical the
   one of other bytes stays, and is looked at only as others may have its bytes. */
static int is_counted(const struct dd_output *output, const simidx_dedup_near *near)
{
	return !output->work->options->identical || near->flags & SIMIDX_DEDUP_EQUAL;
}

/* Whether a row stays, as enough were left out for its keeper. It is no keeper itself: what is near
   to it would be counted anew. */
static int is_spared(const struct dd_output *output, const simidx_dedup_near *near)
{
	return output->work->options->max_group && near->keeper < SIMIDX_DEDUP_AGAINST &&
	       is_counted(output, near) &&
	       dd_keepers_left_out(&output->keepers, near) >= output->work->options->max_group;
}

/* Rows of this file are written next. */
static int select_shard(struct dd_output *output, uint32_t file)
{
	output->sinks[DD_KEPT] = dd_shards_select(&output->shards, file);
	return output->sinks[DD_KEPT] ? 0 : TL_TROUBLE;
}

int dd_output_head(struct dd_output *output, uint32_t file, const char *line, size_t size)
{
	return output->shards.work ? dd_shards_head(&output->shards, file, line, size) : 0;
}

int dd_output_decided(struct dd_output *output, const simidx_dedup_row *row,
		      const simidx_dedup_near *near, size_t n)
{
	const struct dd_extra *extra = row->extra;
	int code = 0, is_known = 0;

	if (row->flags & SIMIDX_DEDUP_ASK)
		return dd_best_hear(&output->groups.best, near, n);
	output->at = extra->end;
	if (output->work->options->pairs)
		return pair(output, row, near, n);
	if (output->work->options->stream && output->is_terminal)
		tl_progress_clear();
	output->counts.valueless += !extra->key;
	if (output->work->options->drop_list && row->label_size && extra->name.line &&
	    dd_labels_add(&output->labels, row->label, row->label_size))
		return TL_TROUBLE;
	if (output->shards.work && select_shard(output, extra->name.file))
		return TL_TROUBLE;
	if (!n)
		return keep(output, row, near);
	if (is_spared(output, near)) {
		output->counts.spared++;
		return output->work->options->stream ? emit(output, extra) : 0;
	}
	if (output->work->options->stream)
		code = leave_out(output, row, near, &is_known);
	if (code || is_known)
		return code;
	if (is_counted(output, near))
		dd_keepers_count(&output->keepers, near, &extra->name);
	if (output->has_groups)
		return dd_groups_add(&output->groups, near, row,
				     output->work->kind == SIMIDX_DEDUP_TEXTS);
	return output->evidence.sink ? dd_evidence_add(&output->evidence, row, near, 0) : 0;
}

int dd_output_skips(const struct dd_output *output, uint64_t handle)
{
	return dd_best_knows(&output->groups.best, handle);
}

int dd_output_unread(struct dd_output *output, const struct in_row *row)
{
	return output->work->options->drop_list ? dd_labels_lack(&output->labels, row) : 0;
}

uint64_t dd_output_last_kept(const struct dd_output *output)
{
	return output->keepers.n - 1;
}

int dd_output_committing(struct dd_output *output, int is_complete)
{
	int is_synced = output->work->options->index != NULL, code = 0;
	uint32_t n = dd_files_count(output->work->files);

	if (output->shards.work && is_complete && n && select_shard(output, n - 1))
		return TL_TROUBLE;
	for (int i = 0; !code && i < DD_N_WRITTEN; i++)
		if (output->sinks[i])
			code = dd_sink_commit(output->sinks[i], is_synced);
	return code || tl_output_failed() ? TL_TROUBLE : 0;
}

int dd_output_finish(struct dd_output *output, uint64_t memory)
{
	int code = output->has_groups ? dd_groups_print(&output->groups, memory) : 0;

	return !code && output->has_groups && output->evidence.sink ?
	       dd_evidence_release(&output->evidence) : code;
}

/* ---- what is told in the end ---- */

/* A line: how many, for what, and how that begins. */
static void put_group(FILE *out, const struct dd_work *work, struct dd_texts *texts,
		      const struct dd_large *group)
{
	struct dd_text is = { NULL, 0 };
	const char *text;
	size_t size, shown;

	fprintf(out, "%s%9s  ", group->is_least ? "at least " : "", tl_count(group->n));
	dd_keepers_put_large(out, work->keepers, group);
	if (group->has_fact ? dd_texts_get(texts, 0, &group->fact, &group->near, &is) != 0 :
			      simidx_dedup_text(work->dedup, &group->near, &is.bytes, &is.size,
						NULL))
		return;
	text = is.bytes;
	size = text ? is.size : 0;
	if (!size)
		return;
	shown = tl_utf8_forward(text, size, 0, EXCERPT);
	fputs("  ", out);
	/* The message escapes what is no text; here only what would cut it short. */
	for (size_t i = 0; i < shown; i++)
		putc(text[i] == '\n' || text[i] == '\r' || text[i] == '\t' || !text[i] ? ' ' :
											 text[i],
		     out);
	fputs(shown < size ? "..." : "", out);
}

static void warn(const struct dd_work *work, const struct dd_large *group, uint64_t documents)
{
	char *name = NULL;
	size_t size;
	FILE *out = open_memstream(&name, &size);

	if (out) {
		dd_keepers_put_large(out, work->keepers, group);
		fclose(out);
	}
	tl_error("warning: %s%s of all documents (%.1f %%) are left out for one, %s: if that is a "
		 "template, they may be no copies (--evidence shows them%s)",
		 group->is_least ? "at least " : "", tl_count(group->n),
		 100.0 * (double)group->n / (double)documents,
		 name ? name : "?", !work->options->index && dd_keepers_is_own(group) ?
					    ", --max-group keeps them" :
					    "");
	free(name);
}

/* The largest groups, by what stays. */
static void tell_largest(struct dd_output *output, uint64_t documents)
{
	struct dd_groups *groups = &output->groups;
	const struct dd_large *group = groups->large;

	if (!output->work->dedup)
		return;
	if (!output->has_groups)
		groups->n_large = dd_keepers_largest(&output->keepers, groups->large);
	for (size_t i = 0; i < groups->n_large && group[i].n >= LEAST_LEFT_OUT; i++) {
		char *line = NULL;
		size_t size;
		FILE *out = open_memstream(&line, &size);

		if (!out)
			return;
		put_group(out, output->work, &groups->texts, &group[i]);
		fclose(out);
		if (!i)
			tl_notice("the largest groups, by how many are left out for one document:");
		tl_notice("%s", line);
		free(line);
	}
	for (size_t i = 0; i < groups->n_large; i++)
		if (group[i].n > MANY && group[i].n * 100 > documents * MANY_PERCENT)
			warn(output->work, &group[i], documents);
}

void dd_output_tell(struct dd_output *output, uint64_t documents)
{
	tell_largest(output, documents);
	if (output->evidence.sink)
		dd_evidence_tell(&output->evidence);
}

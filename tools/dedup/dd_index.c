/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_index.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_text.h>

int dd_index_fail(const struct dd_index *index, const simidx_error *err)
{
	const struct dd_options *options = index->options;

	if (err->code == SIMIDX_E_STOPPED)
		return tl_error("stopped by a signal");
	if (!options->index && err->code == SIMIDX_E_NO_SPACE)
		return tl_error("no room in %s for temporary files: --tmpdir names another "
				"directory",
				options->tmpdir);
	return tl_index_error(options->index, err);
}

static int read_mark(struct dd_index *index)
{
	char text[DD_MARK_SIZE];
	simidx_error err;
	size_t n;
	int rc = simidx_get_mark(index->handle, text, sizeof(text) - 1, &n, &err);

	if (rc && rc != SIMIDX_E_NOT_FOUND)
		return dd_index_fail(index, &err);
	text[!rc && n < sizeof(text) ? n : 0] = '\0';
	dd_mark_read(text, &index->mark);
	return 0;
}

static int refuse_choice(const struct dd_index *index, int made, int asked)
{
	return tl_error("%s: remembers texts by --remember %s, which was chosen when it was made: "
			"--remember %s needs another INDEX",
			index->options->index, dd_remember_word(made), dd_remember_word(asked));
}

/* What the index remembers, and whether that is what was asked for. */
static int choose(struct dd_index *index, const simidx_info *info)
{
	const struct dd_options *options = index->options;
	int has_notes = (info->flags & SIMIDX_CREATE_NOTES) != 0, asked = options->remember;

	if (read_mark(index))
		return TL_TROUBLE;
	index->remember = has_notes ? index->mark.remember : SIMIDX_DEDUP_FINGERPRINT;
	if (index->remember < 0 || (has_notes && index->remember == SIMIDX_DEDUP_FINGERPRINT)) {
		index->remember = asked > 0 ? asked : SIMIDX_DEDUP_SKETCH;
		if (info->documents)
			tl_notice("%s: another program has written to it, so what was chosen by "
				  "--remember is not known any more: from here on --remember %s",
				  options->index, dd_remember_word(index->remember));
	}
	if (asked >= 0 && asked != index->remember)
		return refuse_choice(index, index->remember, asked);
	if (info->documents && *info->profile && index->is_compared && !has_notes)
		tl_notice("%s: documents of earlier runs are compared by their fingerprints only",
			  options->index);
	return 0;
}

/* A new index, or one whose name was mistyped. */
static void tell_new(const char *path)
{
	const char *other = tl_index_nearest(path);

	if (other)
		tl_notice("%s: a new index; is %s meant?", path, other);
	else
		tl_notice("%s: a new index, in which new documents are remembered", path);
}

static int open_path(struct dd_index *index, const char *path, enum simidx_dedup_kind kind,
		     struct dd_memory *memory)
{
	const struct dd_options *options = index->options;
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_info info;
	simidx_error err;
	simidx_text *text = NULL;
	int rc = 0;

	how.flags = SIMIDX_OPEN_CREATE |
		    (options->index ? dd_trust_flags(options, path) : SIMIDX_OPEN_FORCE);
	how.create = &create;
	create.bits = options->bits;
	create.flags = options->index ? 0 : SIMIDX_CREATE_FORCE;
	if (kind != SIMIDX_DEDUP_FINGERPRINTS) {
		create.bits = SIMIDX_DEFAULT_BITS;
		create.flags |= SIMIDX_CREATE_FP2;
	}
	/* An engine keeps no notes. */
	if (options->index && (options->remember > 0 ||
			       (options->remember < 0 && index->is_compared &&
				!tl_path_is_uri(options->index))))
		create.flags |= SIMIDX_CREATE_NOTES;
	if (kind == SIMIDX_DEDUP_TEXTS) {
		rc = simidx_text_open(NULL, &text, &err);
		create.profile = rc ? NULL : simidx_text_profile(text);
		create.check_fps = simidx_text_check_fps(text, &create.n_check_fps);
	}
	if (!rc)
		rc = tl_path_open(path, &how, &index->handle, &info, &err);
	simidx_text_close(text);
	if (rc)
		return dd_index_fail(index, &err);
	if (kind == SIMIDX_DEDUP_FINGERPRINTS && !*info.profile && info.bits != options->bits)
		return tl_error("%s: its fingerprints have %u bits: --bits %u is needed",
				options->index, info.bits, info.bits);
	if (options->index && !options->resume && !info.next_id)
		tell_new(options->index);
	index->first_id = info.next_id;
	dd_memory_index(memory, info.documents);
	return choose(index, &info);
}

struct dd_index *dd_index_open(const struct dd_options *options, enum simidx_dedup_kind kind,
			       struct dd_memory *memory, const char *dir, const char *name)
{
	struct dd_index *index = tl_alloc(sizeof(*index));
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	char path[PATH_MAX];
	simidx_error err;
	int code;

	if (!index)
		return NULL;
	index->options = options;
	index->is_compared = kind == SIMIDX_DEDUP_TEXTS && !options->no_verify;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	code = open_path(index, options->index ? options->index : path, kind, memory);
	if (options->index && !tl_path_is_uri(options->index) &&
	    snprintf(index->seen_file, sizeof(index->seen_file), "%s/%s", options->index,
		     SIMIDX_DEDUP_SEEN_NAME) >= (int)sizeof(index->seen_file))
		index->seen_file[0] = '\0';
	how.merge_threshold = memory->index_rows;
	if (!options->index)
		how.durability = SIMIDX_DURABILITY_NORMAL;
	if (!code && simidx_writer_open(index->handle, &how, &index->writer, &err))
		code = dd_index_fail(index, &err);
	if (!code)
		return index;
	dd_index_close(index);
	return NULL;
}

void dd_index_close(struct dd_index *index)
{
	if (!index)
		return;
	simidx_reader_close(index->reader);
	simidx_writer_close(index->writer);
	simidx_close(index->handle);
	free(index);
}

int dd_index_remember(const struct dd_index *index)
{
	return index->is_compared ? index->remember : SIMIDX_DEDUP_FINGERPRINT;
}

simidx_dedup_options dd_index_options(const struct dd_index *index, enum simidx_dedup_kind kind)
{
	const struct dd_options *options = index->options;
	simidx_dedup_options how = SIMIDX_DEDUP_OPTIONS_INIT;

	how.kind = (int)kind;
	how.flags = (options->no_verify ? SIMIDX_DEDUP_NO_VERIFY : 0) |
		    (options->compare_all ? SIMIDX_DEDUP_COMPARE_ALL : 0) |
		    (options->pairs ? SIMIDX_DEDUP_PAIRS : 0) |
		    (options->index ? SIMIDX_DEDUP_LASTING : 0) |
		    (options->near_misses ? SIMIDX_DEDUP_NEAREST : 0);
	how.similarity = options->similarity;
	how.max_weight = options->accept;
	how.max_bits = options->radius;
	how.threads = options->threads;
	how.spill_bytes = options->spill;
	how.remember = dd_index_remember(index);
	how.seen_file = *index->seen_file ? index->seen_file : NULL;
	return how;
}

int dd_index_reader(struct dd_index *index, simidx_reader **reader)
{
	simidx_error err;

	if (!index->reader && simidx_reader_open(index->handle, &index->reader, &err))
		return dd_index_fail(index, &err);
	*reader = index->reader;
	return 0;
}

int dd_index_resume(struct dd_index *index)
{
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer;
	simidx_error err;
	int rc;

	how.flags = SIMIDX_WRITER_RESUME;
	rc = simidx_writer_open(index->handle, &how, &writer, &err);
	if (!rc)
		rc = simidx_writer_begin(writer, &err);
	simidx_writer_close(writer);
	return rc ? dd_index_fail(index, &err) : 0;
}

int dd_index_begin(struct dd_index *index)
{
	simidx_error err;
	int made;

	if (simidx_writer_begin(index->writer, &err))
		return dd_index_fail(index, &err);
	if (read_mark(index))
		return TL_TROUBLE;
	/* Another run may have made its choice since the index was opened. */
	made = index->mark.remember;
	if (index->is_compared && made >= 0 && made != index->remember)
		return refuse_choice(index, made, index->remember);
	return 0;
}

int dd_index_write_mark(struct dd_index *index, const struct dd_mark *mark)
{
	struct dd_mark own = *mark;
	char text[DD_MARK_SIZE];
	simidx_error err;

	own.remember = index->remember;
	dd_mark_write(text, &own);
	return simidx_writer_set_mark(index->writer, text, strlen(text), &err) ?
		       dd_index_fail(index, &err) :
		       0;
}

int dd_index_commit(struct dd_index *index)
{
	simidx_error err;

	return simidx_writer_commit(index->writer, &err) ? dd_index_fail(index, &err) : 0;
}

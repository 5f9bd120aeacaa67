/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_evidence.h"

#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "common/tl_utf8.h"
#include "dedup/dd_columns.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A longer label is left out, so that no line is longer than readers take. The row has a place. */
#define MOST_LABEL 32768

/* The names of members about a row, and about what it is near to. */
enum key { PATH, LINE, OFFSET, LENGTH, ID, LABEL, HASH, FORMAT, TEXT_FIELD, HEADER, DELIMITER,
	   EXCERPT, N_KEYS };

static const char *const keys[2][N_KEYS] = {
	{ "path", "line", "offset", "length", "id", "label", "hash", "format", "text_field",
	  "header", "delimiter", "excerpt" },
	{ "path2", "line2", "offset2", "length2", "id2", "label2", "hash2", "format2",
	  "text_field2", "header2", "delimiter2", "excerpt2" },
};

void dd_evidence_free(struct dd_evidence *evidence)
{
	if (evidence->held)
		fclose(evidence->held);
	free(evidence->label.bytes);
}

/* ---- excerpts ---- */

static size_t back(const char *text, size_t at, uint64_t characters)
{
	for (; characters && at; characters--) {
		at--;
		for (int i = 0; i < 3 && at && ((unsigned char)text[at] & 0xc0) == 0x80; i++)
			at--;
	}
	return at;
}

/* The characters round the first byte that differs; of equal texts the first ones. */
static void json_excerpt(struct tl_json *json, const char *key, const char *text, size_t size,
			 size_t differs, uint64_t characters)
{
	size_t begin = back(text, differs < size ? differs : size, characters / 3);
	size_t end = tl_utf8_forward(text, size, begin, characters);

	tl_json_bytes(json, key, text + begin, end - begin);
}

static void json_excerpts(const struct dd_evidence *evidence, struct tl_json *json,
			  const struct dd_reason *reason)
{
	const struct dd_text *a = &reason->text[0], *b = &reason->text[1];
	uint64_t characters = evidence->work->options->evidence_texts;
	size_t least = a->size < b->size ? a->size : b->size, differs = 0;

	if (!characters || evidence->work->kind != SIMIDX_DEDUP_TEXTS)
		return;
	while (a->bytes && b->bytes && differs < least && a->bytes[differs] == b->bytes[differs])
		differs++;
	if (differs == a->size && differs == b->size)
		differs = 0;
	for (int i = 0; i < 2; i++)
		if (reason->text[i].bytes)
			json_excerpt(json, keys[i][EXCERPT], reason->text[i].bytes,
				     reason->text[i].size, differs, characters);
}

/* ---- lines ---- */

static const char *rule_of(const struct dd_evidence *evidence, const simidx_dedup_near *near)
{
	if (evidence->work->kind == SIMIDX_DEDUP_FINGERPRINTS ||
	    near->similarity == SIMIDX_DEDUP_BY_FP)
		return "fingerprint";
	if (near->flags & SIMIDX_DEDUP_EQUAL)
		return "equal";
	return near->flags & SIMIDX_DEDUP_ESTIMATE ? "sketch" : "text";
}

/* A row of this run. */
static void json_row(const struct dd_evidence *evidence, struct tl_json *json,
		     const struct dd_fact *fact, const char *const key[N_KEYS])
{
	const struct dd_name *name = &fact->name;
	const struct in_columns *columns = &evidence->work->options->inputs.columns;
	const struct in_format *format = dd_files_format(evidence->work->files, name->file);
	char hash[17];

	dd_columns_json_path(json, dd_files_path(evidence->work->files, name->file), name->line,
			     key[PATH], key[LINE]);
	if (fact->length) {
		tl_json_unsigned(json, key[OFFSET], fact->offset);
		tl_json_unsigned(json, key[LENGTH], fact->length);
	}
	if (fact->id != SIMIDX_NO_ID)
		tl_json_unsigned(json, key[ID], fact->id);
	if (fact->label && fact->label_size <= MOST_LABEL)
		tl_json_bytes(json, key[LABEL], fact->label, fact->label_size);
	tl_json_string(json, key[FORMAT], format->name);
	/* A file that is no text has a format that nobody can read. */
	if (evidence->work->kind != SIMIDX_DEDUP_TEXTS || !format->next)
		return;
	if (columns->text)
		tl_json_bytes(json, key[TEXT_FIELD], columns->text, strlen(columns->text));
	if (columns->header)
		tl_json_bool(json, key[HEADER], 1);
	if (columns->delimiter)
		tl_json_bytes(json, key[DELIMITER], &columns->delimiter, 1);
	snprintf(hash, sizeof(hash), "%016" PRIx64, fact->hash);
	tl_json_string(json, key[HASH], hash);
}

/* What it is near to. */
static int json_other(const struct dd_evidence *evidence, struct tl_json *json,
		      const struct dd_reason *reason)
{
	struct dd_keeper keeper;

	if (reason->other) {
		json_row(evidence, json, reason->other, keys[1]);
		return 0;
	}
	if (dd_keepers_find(evidence->work->keepers, &reason->near, &keeper))
		return TL_TROUBLE;
	if (keeper.label && keeper.label_size <= MOST_LABEL)
		tl_json_bytes(json, keys[1][LABEL], keeper.label, keeper.label_size);
	tl_json_unsigned(json, keys[1][ID], keeper.id);
	if (!keeper.index)
		keeper.index = evidence->work->options->index;
	tl_json_bytes(json, "index2", keeper.index, strlen(keeper.index));
	return 0;
}

static int put_line(const struct dd_evidence *evidence, FILE *out, const struct dd_reason *reason)
{
	/* Equal texts have a rule of their own. */
	const struct dd_similarity similarity = { reason->near.similarity,
						  reason->near.flags & SIMIDX_DEDUP_ESTIMATE };
	struct tl_json json = tl_json_line(out);

	dd_columns_json_similarity(&json, evidence->work->kind, similarity);
	if (evidence->work->kind == SIMIDX_DEDUP_TEXTS && !evidence->work->options->no_verify)
		tl_json_real(&json, "limit", 100 * evidence->work->options->similarity);
	tl_json_string(&json, "rule", rule_of(evidence, &reason->near));
	tl_json_bool(&json, "keep", reason->is_kept);
	json_row(evidence, &json, reason->row, keys[0]);
	if (json_other(evidence, &json, reason))
		return TL_TROUBLE;
	json_excerpts(evidence, &json, reason);
	tl_json_end(&json);
	return 0;
}

int dd_evidence_put(struct dd_evidence *evidence, const struct dd_reason *reason)
{
	FILE *out = dd_sink_out(evidence->sink);

	if (!out || put_line(evidence, out, reason))
		return TL_TROUBLE;
	if (reason->is_kept)
		evidence->near_misses++;
	else
		evidence->left_out++;
	return dd_sink_wrote(evidence->sink);
}

/* What a row that is just decided is near to. */
static int find_other(struct dd_evidence *evidence, const simidx_dedup_row *row,
		      struct dd_fact *other, struct dd_reason *reason)
{
	const simidx_dedup_near *near = &reason->near;

	if (near->keeper < SIMIDX_DEDUP_AGAINST) {
		if (dd_keepers_fact(evidence->work->keepers, near->keeper, NULL, &evidence->label,
				    other))
			return TL_TROUBLE;
		reason->other = other;
	}
	if (!evidence->work->options->evidence_texts || evidence->work->kind != SIMIDX_DEDUP_TEXTS)
		return 0;
	reason->text[0] = (struct dd_text){ row->text, row->text_size };
	return dd_texts_find(evidence->work->dedup, near, &reason->text[1]);
}

int dd_evidence_add(struct dd_evidence *evidence, const simidx_dedup_row *row,
		    const simidx_dedup_near *near, int is_kept)
{
	const struct dd_fact fact = dd_fact_of(row);
	struct dd_reason reason = { .row = &fact, .near = *near, .is_kept = is_kept };
	struct dd_fact other;
	int code = find_other(evidence, row, &other, &reason);

	return code ? code : dd_evidence_put(evidence, &reason);
}

/* ---- lines that wait until groups are printed ---- */

int dd_evidence_hold(struct dd_evidence *evidence, const simidx_dedup_row *row, uint64_t handle,
		     const simidx_dedup_near *near)
{
	const char *tmpdir = evidence->work->options->tmpdir;
	const struct dd_fact fact = dd_fact_of(row);
	struct dd_reason reason = { .row = &fact, .near = *near, .is_kept = 1 };
	struct dd_fact other;
	int code = find_other(evidence, row, &other, &reason);

	if (code)
		return code;
	if (!evidence->held)
		evidence->held = tl_path_nameless_file(tmpdir, "misses");
	if (!evidence->held)
		return tl_error("%s: no temporary file can be made: %s", tmpdir, strerror(errno));
	fprintf(evidence->held, "%" PRIu64 " %" PRIu64 " ", handle, near->keeper);
	if (put_line(evidence, evidence->held, &reason))
		return TL_TROUBLE;
	return ferror(evidence->held) ? tl_error("cannot write to a temporary file in %s: %s",
						 tmpdir, strerror(errno)) :
					0;
}

int dd_evidence_release(struct dd_evidence *evidence)
{
	uint64_t handle, other;
	char *line = NULL, *text;
	size_t room = 0;
	int code = 0;

	if (evidence->held)
		rewind(evidence->held); /* hands over what is written */
	while (!code && evidence->held && getline(&line, &room, evidence->held) > 0) {
		handle = strtoull(line, &text, 10);
		other = strtoull(text, &text, 10);
		if (dd_keepers_is_dropped(evidence->work->keepers, handle) ||
		    (other < SIMIDX_DEDUP_AGAINST &&
		     dd_keepers_is_dropped(evidence->work->keepers, other)))
			continue;
		evidence->near_misses++;
		code = dd_sink_put(evidence->sink, text + 1, strlen(text + 1));
	}
	free(line);
	if (!code && evidence->held && ferror(evidence->held))
		code = tl_error("a temporary file in %s cannot be read again: %s",
				evidence->work->options->tmpdir, strerror(errno));
	return code ? code : dd_sink_commit(evidence->sink, 0);
}

void dd_evidence_tell(const struct dd_evidence *evidence)
{
	char misses[TL_NUMBER_SIZE + 32] = "";
	uint64_t left_out = evidence->left_out, near_misses = evidence->near_misses;

	if (evidence->work->options->near_misses)
		snprintf(misses, sizeof(misses), ", and of %s",
			 tl_counted(near_misses, "near miss", "near misses"));
	tl_notice("%s: tells of %s left out%s (simidx-query review shows pairs of it)",
		  evidence->work->options->evidence,
		  tl_counted(left_out, "row that is", "rows that are"), misses);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_evidence.h"

#include "common/tl_msg.h"
#include "common/tl_utf8.h"
#include "dedup/dd_columns.h"
#include "dedup/dd_facts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct dd_evidence {
	const struct dd_options *options;
	struct dd_files *files;
	struct dd_keepers *keepers;
	struct dd_sink *sink;
	enum simidx_dedup_kind kind;
	simidx_dedup *dedup;
	struct dd_facts *facts; /* of kept rows */
	uint64_t left_out, near_misses;
};

/* The names of members about a row, and about what it is near to. */
enum key { PATH, LINE, OFFSET, LENGTH, ID, LABEL, HASH, FORMAT, TEXT_FIELD, EXCERPT, N_KEYS };

static const char *const keys[2][N_KEYS] = {
	{ "path", "line", "offset", "length", "id", "label", "hash", "format", "text_field",
	  "excerpt" },
	{ "path2", "line2", "offset2", "length2", "id2", "label2", "hash2", "format2",
	  "text_field2", "excerpt2" },
};

struct dd_evidence *dd_evidence_new(const struct dd_options *options, struct dd_files *files,
				    struct dd_keepers *keepers)
{
	struct dd_evidence *evidence = calloc(1, sizeof(*evidence));

	if (!evidence) {
		tl_error("out of memory");
		return NULL;
	}
	evidence->options = options;
	evidence->files = files;
	evidence->keepers = keepers;
	evidence->facts = dd_facts_new(options->tmpdir);
	if (evidence->facts)
		evidence->sink = dd_sink_open(options->evidence);
	if (evidence->sink)
		return evidence;
	dd_evidence_free(evidence);
	return NULL;
}

void dd_evidence_free(struct dd_evidence *evidence)
{
	if (!evidence)
		return;
	dd_sink_close(evidence->sink);
	dd_facts_free(evidence->facts);
	free(evidence);
}

struct dd_sink *dd_evidence_sink(const struct dd_evidence *evidence)
{
	return evidence->sink;
}

void dd_evidence_begin(struct dd_evidence *evidence, enum simidx_dedup_kind kind,
		       simidx_dedup *dedup)
{
	evidence->kind = kind;
	evidence->dedup = dedup;
}

int dd_evidence_keep(struct dd_evidence *evidence, const simidx_dedup_row *row, uint64_t id)
{
	const struct dd_fact fact = dd_fact_of(row, id);

	return dd_facts_add(evidence->facts, &fact);
}

/* ---- excerpts ---- */

/* Go on by some characters; what is none counts as one. */
static size_t forward(const char *text, size_t size, size_t at, uint64_t characters)
{
	for (; characters && at < size; characters--) {
		size_t length = tl_utf8_length(text + at, size - at);

		at += length ? length : 1;
	}
	return at;
}

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
	size_t end = forward(text, size, begin, characters);

	tl_json_bytes(json, key, text + begin, end - begin);
}

static int json_excerpts(struct dd_evidence *evidence, struct tl_json *json,
			 const simidx_dedup_row *row, const simidx_dedup_near *near)
{
	uint64_t characters = evidence->options->evidence_texts;
	size_t size = 0, least, differs = 0;
	const char *text = "";
	simidx_error err;
	int rc;

	if (!characters || evidence->kind != SIMIDX_DEDUP_TEXTS)
		return 0;
	rc = simidx_dedup_text(evidence->dedup, near, &text, &size, &err);
	if (rc && rc != SIMIDX_E_NOT_FOUND)
		return rc < 0 ? tl_error("%s", err.text) : rc;
	least = size < row->text_size ? size : row->text_size;
	while (differs < least && text[differs] == row->text[differs])
		differs++;
	if (!rc && differs == size && differs == row->text_size)
		differs = 0;
	json_excerpt(json, keys[0][EXCERPT], row->text, row->text_size, differs, characters);
	if (!rc)
		json_excerpt(json, keys[1][EXCERPT], text, size, differs, characters);
	return 0;
}

/* ---- lines ---- */

static const char *rule_of(const struct dd_evidence *evidence, const simidx_dedup_near *near)
{
	if (evidence->kind == SIMIDX_DEDUP_FINGERPRINTS ||
	    near->similarity == SIMIDX_DEDUP_BY_FP)
		return "fingerprint";
	if (near->flags & SIMIDX_DEDUP_EQUAL)
		return "equal";
	return near->flags & SIMIDX_DEDUP_ESTIMATE ? "sketch" : "text";
}

/* A row of this run. */
static void json_row(const struct dd_evidence *evidence, struct tl_json *json,
		     const struct dd_name *name, const struct dd_fact *fact,
		     const char *const key[N_KEYS])
{
	const char *text_field = evidence->options->inputs.columns.text;
	char hash[17];

	dd_columns_json_path(json, dd_files_path(evidence->files, name->file), name->line,
			     key[PATH], key[LINE]);
	if (fact->length) {
		tl_json_unsigned(json, key[OFFSET], fact->offset);
		tl_json_unsigned(json, key[LENGTH], fact->length);
	}
	if (fact->id != SIMIDX_NO_ID)
		tl_json_unsigned(json, key[ID], fact->id);
	if (fact->label)
		tl_json_bytes(json, key[LABEL], fact->label, fact->label_size);
	tl_json_string(json, key[FORMAT], dd_files_format(evidence->files, name->file)->name);
	if (evidence->kind != SIMIDX_DEDUP_TEXTS)
		return;
	if (text_field)
		tl_json_bytes(json, key[TEXT_FIELD], text_field, strlen(text_field));
	snprintf(hash, sizeof(hash), "%016" PRIx64, fact->hash);
	tl_json_string(json, key[HASH], hash);
}

/* What it is near to. */
static int json_keeper(struct dd_evidence *evidence, struct tl_json *json,
		       const simidx_dedup_near *near)
{
	struct dd_keeper keeper = dd_keepers_find(evidence->keepers, near);
	struct dd_fact fact;

	if (keeper.name) {
		if (dd_facts_get(evidence->facts, near->keeper, &fact))
			return TL_TROUBLE;
		json_row(evidence, json, keeper.name, &fact, keys[1]);
		return 0;
	}
	if (keeper.label)
		tl_json_bytes(json, keys[1][LABEL], keeper.label, keeper.label_size);
	tl_json_unsigned(json, keys[1][ID], keeper.id);
	if (!keeper.index)
		keeper.index = evidence->options->index;
	tl_json_bytes(json, "index2", keeper.index, strlen(keeper.index));
	return 0;
}

int dd_evidence_add(struct dd_evidence *evidence, const simidx_dedup_row *row,
		    const struct dd_name *name, uint64_t id, const simidx_dedup_near *near,
		    int is_kept)
{
	const struct dd_similarity similarity = { near->similarity,
						  near->flags & SIMIDX_DEDUP_ESTIMATE };
	const struct dd_fact fact = dd_fact_of(row, id);
	struct tl_json json = { 0 };
	int code;

	json.out = dd_sink_out(evidence->sink);
	if (!json.out)
		return TL_TROUBLE;
	tl_json_open(&json, NULL, '{');
	dd_columns_json_similarity(&json, evidence->kind, similarity);
	if (evidence->kind == SIMIDX_DEDUP_TEXTS && !evidence->options->no_verify)
		tl_json_real(&json, "limit", 100 * evidence->options->similarity);
	tl_json_string(&json, "rule", rule_of(evidence, near));
	tl_json_bool(&json, "keep", is_kept);
	json_row(evidence, &json, name, &fact, keys[0]);
	code = json_keeper(evidence, &json, near);
	if (!code)
		code = json_excerpts(evidence, &json, row, near);
	dd_columns_json_end(&json);
	if (is_kept)
		evidence->near_misses++;
	else
		evidence->left_out++;
	return code ? code : dd_sink_wrote(evidence->sink);
}

void dd_evidence_count(const struct dd_evidence *evidence, uint64_t *left_out,
		       uint64_t *near_misses)
{
	*left_out = evidence->left_out;
	*near_misses = evidence->near_misses;
}

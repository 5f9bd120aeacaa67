/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_kept.h"

#include "common/tl_features.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "dedup/dd_mark.h"
#include "dedup/dd_room.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_sketch.h>

/*
 * Documents with ids and handles that follow each other, as those of one run do unless others write
 * to the index between its commits.
 */
struct stretch {
	uint64_t id, handle; /* of the first; DD_LEFT_OUT of all */
	uint64_t n;
};

/* A text that was noted; hash 0 = the slot is free. */
struct noted {
	uint64_t hash, id;
};

struct dd_kept {
	const struct dd_options *options;
	enum dd_kind kind;
	simidx *index;
	simidx_writer *writer;
	simidx_text *text; /* a thread's is a clone of it; NULL for fingerprints */
	uint64_t n_put;
	char mark[DD_MARK_SIZE]; /* of the run before */
	struct in_room stretches; /* struct stretch, ascending */
	size_t n_stretches;
	struct noted *noted;     /* a slot by the hash, or the next free ones */
	size_t n_noted, n_slots; /* slots: 0, or a power of two */
};

static int fail(const struct dd_kept *kept, const simidx_error *err)
{
	if (!kept->options->index && err->code == SIMIDX_E_NO_SPACE)
		return tl_error("no room in %s for temporary files: --tmpdir names another "
				"directory",
				kept->options->tmpdir);
	return tl_index_error(kept->options->index, err);
}

/* An index that is there must hold what comes. */
static int fit(const struct dd_kept *kept, const simidx_info *info)
{
	const struct dd_options *options = kept->options;
	int of_texts = tl_features_is_text(info->profile);

	if (info->flags & SIMIDX_CREATE_NO_IDS)
		return tl_error("%s: has no ids, and what is kept needs one", options->index);
	if (kept->kind == DD_TEXTS && (!of_texts || !(info->flags & SIMIDX_CREATE_FP2)))
		return tl_error("%s: holds %s, so texts do not fit", options->index,
				of_texts ? "no second fingerprints" : "fingerprints");
	if (kept->kind == DD_FEATURES && (*info->profile || !(info->flags & SIMIDX_CREATE_FP2)))
		return tl_error("%s: holds %s, so features do not fit", options->index,
				of_texts	? "texts" :
				*info->profile ? "features by a name, which these do not have" :
						 "no second fingerprints");
	if (kept->kind == DD_FINGERPRINTS && (*info->profile || info->flags & SIMIDX_CREATE_FP2))
		return tl_error("%s: bare fingerprints do not fit what it holds", options->index);
	if (kept->kind == DD_FINGERPRINTS && info->bits != options->bits)
		return tl_error("%s: its fingerprints have %u bits: --bits %u is needed",
				options->index, info->bits, info->bits);
	return 0;
}

int dd_kept_read_mark(struct dd_kept *kept)
{
	simidx_error err;
	size_t n;
	int rc = simidx_get_mark(kept->index, kept->mark, sizeof(kept->mark) - 1, &n, &err);

	if (rc && rc != SIMIDX_E_NOT_FOUND)
		return fail(kept, &err);
	kept->mark[!rc && n < sizeof(kept->mark) ? n : 0] = '\0';
	return 0;
}

static int open_index(struct dd_kept *kept, const char *path)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_info info;
	simidx_error err;
	simidx_text *text = NULL;
	int rc = 0;

	how.flags = SIMIDX_OPEN_CREATE;
	if (!kept->options->index)
		how.flags |= SIMIDX_OPEN_FORCE;
	else if (kept->options->is_untrusted || tl_path_is_foreign(path))
		how.flags |= SIMIDX_OPEN_UNTRUSTED;
	how.create = &create;
	create.bits = kept->options->bits;
	create.flags = kept->options->index ? 0 : SIMIDX_CREATE_FORCE;
	if (kept->kind != DD_FINGERPRINTS) {
		create.bits = SIMIDX_DEFAULT_BITS;
		create.flags |= SIMIDX_CREATE_FP2;
	}
	if (kept->kind == DD_TEXTS) {
		rc = simidx_text_open(NULL, &text, &err);
		create.profile = rc ? NULL : simidx_text_profile(text);
		create.check_fps = simidx_text_check_fps(text, &create.n_check_fps);
	}
	if (!rc)
		rc = tl_path_open(path, &how, &kept->index, &info, &err);
	simidx_text_close(text);
	if (rc)
		return fail(kept, &err);
	if (fit(kept, &info))
		return TL_TROUBLE;
	if (info.documents && kept->kind == DD_TEXTS && !kept->options->no_verify)
		tl_notice("%s: documents of earlier runs are compared by their fingerprints only",
			  kept->options->index);
	if (kept->kind == DD_TEXTS && simidx_text_open_for(kept->index, NULL, &kept->text, &err))
		return fail(kept, &err);
	return dd_kept_read_mark(kept);
}

struct dd_kept *dd_kept_open(const struct dd_options *options, enum dd_kind kind,
			     uint64_t most_rows, const char *dir)
{
	struct dd_kept *kept = calloc(1, sizeof(*kept));
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	char path[PATH_MAX];
	simidx_error err;
	int code;

	if (!kept) {
		tl_error("out of memory");
		return NULL;
	}
	kept->options = options;
	kept->kind = kind;
	snprintf(path, sizeof(path), "%s/" DD_ROOM_INDEX, dir);
	code = open_index(kept, options->index ? options->index : path);
	how.merge_threshold = most_rows;
	if (!options->index)
		how.durability = SIMIDX_DURABILITY_NORMAL;
	if (!code && simidx_writer_open(kept->index, &how, &kept->writer, &err))
		code = fail(kept, &err);
	if (!code)
		return kept;
	dd_kept_close(kept);
	return NULL;
}

void dd_kept_close(struct dd_kept *kept)
{
	if (!kept)
		return;
	simidx_writer_close(kept->writer);
	simidx_text_close(kept->text);
	simidx_close(kept->index);
	free(kept->stretches.bytes);
	free(kept->noted);
	free(kept);
}

int dd_kept_thread(struct dd_kept *kept, simidx_reader **reader, simidx_text **text)
{
	simidx_error err;
	int rc = simidx_reader_open(kept->index, reader, &err);

	if (!rc && kept->text)
		rc = simidx_text_clone(kept->text, text, &err);
	return rc ? fail(kept, &err) : 0;
}

const char *dd_kept_mark(const struct dd_kept *kept)
{
	return kept->mark;
}

/* ---- candidates ---- */

/* Above .9 hardly a text is nearer to another one by its fingerprints than at .9. */
static double apart(double similarity)
{
	return 1 - (similarity < .9 ? similarity : .9);
}

unsigned dd_accept(double similarity)
{
	return (unsigned)(80.5 + 1200 * apart(similarity));
}

unsigned dd_max_bits(double similarity)
{
	return (unsigned)(14.5 + 20 * apart(similarity));
}

unsigned dd_kept_trusted(const simidx_sketch *sketch)
{
	return sketch->flags & SIMIDX_SKETCH_TRIPLES ? SIMIDX_TEXT_RADIUS_IF_NEW
						     : SIMIDX_TEXT_RADIUS_IF_NEW_SAME;
}

int dd_kept_query(const struct dd_kept *kept, const simidx_sketch *sketch, simidx_query *query,
		  simidx_error *err)
{
	const struct dd_options *options = kept->options;
	int by_bits = kept->kind == DD_FINGERPRINTS || options->radius >= 0;
	int trusts = kept->kind != DD_TEXTS || options->no_verify;
	int rc = 0;

	*query = (simidx_query)SIMIDX_QUERY_INIT;
	if (by_bits) {
		query->fp = sketch->fp;
		query->fp2 = sketch->fp2;
		query->flags = kept->kind == DD_FINGERPRINTS ? 0 : SIMIDX_QUERY_TEXT;
		if (options->radius >= 0)
			query->radius = (unsigned)options->radius;
	} else {
		rc = trusts ? simidx_sketch_query_if_new(kept->index, sketch, query, err) :
			      simidx_sketch_query(kept->index, sketch, query, err);
		if (options->accept >= 0)
			query->radius2 = (unsigned)options->accept;
		else if (!trusts)
			query->radius2 = dd_accept(options->similarity);
		query->radius = query->radius2;
		if (!trusts)
			query->max_bits += dd_max_bits(options->similarity) - SIMIDX_TEXT_BITS;
		if (query->probes < DD_PROBES)
			query->probes = DD_PROBES;
	}
	/* So that a later run finds what this one has found, however large the index is by then. */
	if (options->index)
		query->flags &= ~SIMIDX_QUERY_SCAN_SMALL;
	if (options->pairs || (options->compare_all && !trusts))
		query->limit = 0;
	else
		query->limit = trusts ? 1 : DD_MOST_COMPARED;
	return rc;
}

static unsigned weigh(uint64_t differing, const uint8_t *weights)
{
	unsigned sum = 0;

	for (; differing; differing &= differing - 1)
		sum += weights ? weights[__builtin_ctzll(differing)] : 1;
	return sum;
}

int dd_kept_is_near(const simidx_query *query, uint64_t fp, uint64_t fp2, unsigned *distance)
{
	unsigned bits = simidx_distance(query->fp, fp);

	if (query->max_bits && bits > query->max_bits)
		return 0;
	*distance = query->weights ? weigh(query->fp ^ fp, query->weights) : bits;
	if (*distance > query->radius)
		return 0;
	if (!(query->flags & SIMIDX_QUERY_FP2))
		return 1;
	*distance += weigh(query->fp2 ^ fp2, query->weights2);
	return *distance <= query->radius2;
}

/* ---- texts that have a crowd ---- */

uint64_t dd_kept_crowd(const simidx_query *query, const simidx_results *results, const char *text,
		       size_t size)
{
	if (query->limit != DD_MOST_COMPARED || results->n < DD_MOST_COMPARED ||
	    results->matches[results->n - 1].weighted_distance)
		return 0;
	return simidx_feature_hash(text, size) | 1;
}

static void fill_slot(struct dd_kept *kept, struct noted noted)
{
	size_t i = (size_t)(noted.hash >> 1) & (kept->n_slots - 1);

	while (kept->noted[i].hash)
		i = (i + 1) & (kept->n_slots - 1);
	kept->noted[i] = noted;
}

int dd_kept_note(struct dd_kept *kept, uint64_t crowd, uint64_t id)
{
	struct noted *old = kept->noted;
	size_t n = kept->n_slots;

	if (!crowd)
		return 0;
	if (2 * (kept->n_noted + 1) > n) {
		struct noted *slots = calloc(n ? 2 * n : 64, sizeof(*slots));

		if (!slots)
			return tl_error("out of memory");
		kept->noted = slots;
		kept->n_slots = n ? 2 * n : 64;
		for (size_t i = 0; i < n; i++)
			if (old[i].hash)
				fill_slot(kept, old[i]);
		free(old);
	}
	fill_slot(kept, (struct noted){ crowd, id });
	kept->n_noted++;
	return 0;
}

int dd_kept_candidate(const struct dd_kept *kept, const simidx_results *results, uint64_t crowd,
		      size_t i, simidx_match *match)
{
	size_t at = (size_t)(crowd >> 1), mask = kept->n_slots - 1;

	if (i < results->n) {
		*match = results->matches[i];
		return 1;
	}
	i -= results->n;
	for (; crowd && kept->n_slots && kept->noted[at & mask].hash; at++) {
		const struct noted *noted = &kept->noted[at & mask];

		if (noted->hash != crowd || i--)
			continue;
		*match = (simidx_match){ .id = noted->id };
		return 1;
	}
	return 0;
}

size_t dd_kept_bytes(const struct dd_kept *kept)
{
	return kept->n_slots * sizeof(*kept->noted);
}

/* ---- keeping ---- */

int dd_kept_resume(struct dd_kept *kept)
{
	simidx_writer_options how = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer;
	simidx_error err;
	int rc;

	how.flags = SIMIDX_WRITER_RESUME;
	rc = simidx_writer_open(kept->index, &how, &writer, &err);
	if (!rc)
		rc = simidx_writer_begin(writer, &err);
	simidx_writer_close(writer);
	return rc ? fail(kept, &err) : 0;
}

int dd_kept_begin(struct dd_kept *kept)
{
	simidx_error err;

	return simidx_writer_begin(kept->writer, &err) ? fail(kept, &err) : 0;
}

int dd_kept_reader(struct dd_kept *kept, simidx_reader **reader)
{
	simidx_error err;

	return simidx_writer_reader(kept->writer, reader, &err) ? fail(kept, &err) : 0;
}

/* `handle`: its number, or DD_LEFT_OUT. */
static int note_id(struct dd_kept *kept, uint64_t id, uint64_t handle)
{
	struct stretch *stretch = kept->stretches.bytes;
	size_t n = kept->n_stretches;

	if (n && id == stretch[n - 1].id + stretch[n - 1].n &&
	    (handle == DD_LEFT_OUT) == (stretch[n - 1].handle == DD_LEFT_OUT)) {
		stretch[n - 1].n++;
		return 0;
	}
	if (in_room_have(&kept->stretches, (n + 1) * sizeof(*stretch)))
		return tl_error("out of memory");
	stretch = kept->stretches.bytes;
	stretch[kept->n_stretches++] = (struct stretch){ id, handle, 1 };
	return 0;
}

uint64_t dd_kept_handle(const struct dd_kept *kept, uint64_t id)
{
	size_t low = 0, high = kept->n_stretches;
	const struct stretch *stretch = kept->stretches.bytes;

	/* The last stretch that begins at the id or before it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stretch[middle].id <= id)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return DD_EARLIER;
	stretch += low - 1;
	if (id - stretch->id >= stretch->n)
		return DD_EARLIER;
	return stretch->handle == DD_LEFT_OUT ? DD_LEFT_OUT : stretch->handle + (id - stretch->id);
}

int dd_kept_expect(struct dd_kept *kept, const simidx_doc *docs, size_t n)
{
	simidx_error err;

	return simidx_writer_prefetch(kept->writer, docs, n, &err) ? fail(kept, &err) : 0;
}

static simidx_doc make_doc(const struct dd_kept *kept, const simidx_sketch *sketch)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.fp = sketch->fp;
	if (kept->kind != DD_FINGERPRINTS) {
		doc.fp2 = sketch->fp2;
		doc.flags |= SIMIDX_DOC_FP2;
	}
	return doc;
}

int dd_kept_remember(struct dd_kept *kept, const simidx_sketch *sketch)
{
	simidx_doc doc = make_doc(kept, sketch);
	simidx_error err;
	uint64_t id;

	if (simidx_writer_put(kept->writer, &doc, &id, &err))
		return fail(kept, &err);
	return note_id(kept, id, DD_LEFT_OUT);
}

int dd_kept_put(struct dd_kept *kept, const simidx_sketch *sketch, const char *label, size_t size,
		uint64_t *id)
{
	simidx_doc doc = make_doc(kept, sketch);
	simidx_error err;
	int rc;

	if (kept->options->index && size) {
		doc.label = label;
		doc.label_size = size;
	}
	rc = simidx_writer_put(kept->writer, &doc, id, &err);
	/* A label that another one has, or that is too long. */
	if (doc.label && (rc == SIMIDX_E_DUPLICATE || rc == SIMIDX_E_RANGE)) {
		doc.label = NULL;
		rc = simidx_writer_put(kept->writer, &doc, id, &err);
	}
	return rc ? fail(kept, &err) : note_id(kept, *id, kept->n_put++);
}

int dd_kept_commit(struct dd_kept *kept, int is_complete)
{
	char mark[DD_MARK_SIZE];
	simidx_error err;
	int rc = 0;

	dd_mark_write(mark, kept->options, is_complete);
	if (kept->options->index)
		rc = simidx_writer_set_mark(kept->writer, mark, strlen(mark), &err);
	if (!rc)
		rc = simidx_writer_commit(kept->writer, &err);
	return rc ? fail(kept, &err) : 0;
}

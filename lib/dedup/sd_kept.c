/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/sd_kept.h"

#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>
#include <simidx_sketch.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

/*
 * Documents with ids and handles that follow each other, as those of one run do unless others write
 * to the index between its commits.
 */
struct stretch {
	uint64_t id, handle; /* of the first; SD_LEFT_OUT of all */
	uint64_t n;
};

/* A text that was noted; hash 0 = the slot is free. */
struct noted {
	uint64_t hash, id;
};

struct sd_kept {
	const simidx_dedup_options *options;
	simidx *index;
	simidx_writer *writer;
	simidx_text *text; /* a thread's is a clone of it; NULL but for texts */
	uint64_t n_put, n_left_out;
	struct sd_seen_state before; /* when it was opened */
	uint64_t n_before;           /* documents, then */
	uint64_t last_fp;            /* of what was put last */
	struct stretch *stretch; /* ascending */
	size_t n_stretches, stretch_room;
	struct noted *noted;     /* a slot by the hash, or the next free ones */
	size_t n_noted, n_slots; /* slots: 0, or a power of two */
};

/* The index must hold what comes. */
static int fit(const simidx_info *info, int kind, simidx_error *err)
{
	int has_fp2 = (info->flags & SIMIDX_CREATE_FP2) != 0;

	if (info->flags & SIMIDX_CREATE_NO_IDS)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index has no ids, and what is kept needs one");
	/* Whether the profile is that of an extractor, simidx_text_open_for() tells. */
	if (kind == SIMIDX_DEDUP_TEXTS && (!*info->profile || !has_fp2))
		return sx_fail(err, SIMIDX_E_MISMATCH, "the index holds %s, so texts do not fit",
			       *info->profile ? "no second fingerprints" : "fingerprints");
	if (kind == SIMIDX_DEDUP_FEATURES && *info->profile)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index holds what \"%s\" has made, so features do not fit",
			       info->profile);
	if (kind == SIMIDX_DEDUP_FEATURES && !has_fp2)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index holds no second fingerprints, so features do not fit");
	if (kind == SIMIDX_DEDUP_FINGERPRINTS && (*info->profile || has_fp2))
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "bare fingerprints do not fit what the index holds");
	return SIMIDX_OK;
}

int sd_kept_open(simidx *index, simidx_writer *writer, const simidx_dedup_options *options,
		 struct sd_kept **out, simidx_error *err)
{
	struct sd_kept *kept = sx_calloc(1, sizeof(*kept));
	simidx_info info = SIMIDX_INFO_INIT;
	int rc;

	*out = kept;
	if (!kept)
		return sx_fail_nomem(err);
	kept->options = options;
	kept->index = index;
	kept->writer = writer;
	rc = simidx_get_info(index, &info, err);
	if (!rc)
		rc = fit(&info, options->kind, err);
	kept->n_before = info.documents;
	kept->before = (struct sd_seen_state){ info.puts, info.next_id,
					       info.documents ? 0 : SIMIDX_NO_ID, 0 };
	if (!rc && options->kind == SIMIDX_DEDUP_TEXTS)
		rc = simidx_text_open_for(index, NULL, &kept->text, err);
	return rc;
}

void sd_kept_close(struct sd_kept *kept)
{
	if (!kept)
		return;
	simidx_text_close(kept->text);
	free(kept->stretch);
	free(kept->noted);
	free(kept);
}

int sd_kept_thread(struct sd_kept *kept, simidx_reader **reader, simidx_text **text,
		   simidx_error *err)
{
	int rc = simidx_reader_open(kept->index, reader, err);

	if (!rc && kept->text)
		rc = simidx_text_clone(kept->text, text, err);
	return rc;
}

/* ---- candidates ---- */

/* Above .9 hardly a text is nearer to another one by its fingerprints than at .9. */
static double apart(double similarity)
{
	return 1 - (similarity < .9 ? similarity : .9);
}

unsigned sd_max_weight(double similarity)
{
	return (unsigned)(80.5 + 1200 * apart(similarity));
}

unsigned sd_max_bits(double similarity)
{
	return (unsigned)(12.5 + 20 * apart(similarity));
}

struct sd_seen_state sd_kept_state(const struct sd_kept *kept)
{
	const struct stretch *last = kept->n_stretches ? &kept->stretch[kept->n_stretches - 1] :
							 NULL;
	struct sd_seen_state state = kept->before;

	state.puts += 2 * (kept->n_put + kept->n_left_out);
	if (last) {
		state.next_id = last->id + last->n;
		state.id = state.next_id - 1;
		state.fp = kept->last_fp;
	}
	return state;
}

int sd_kept_documents(const struct sd_kept *kept, uint64_t *documents, int *has_others,
		      int *has_less, simidx_error *err)
{
	const struct sd_seen_state state = sd_kept_state(kept);
	simidx_info info = SIMIDX_INFO_INIT;
	int rc = simidx_get_info(kept->index, &info, err);

	*documents = info.documents;
	*has_others = info.next_id != state.next_id;
	if (info.puts == UINT64_MAX)
		*has_others |= info.documents != kept->n_put + kept->n_left_out;
	else
		*has_others |= info.puts != state.puts;
	*has_less = info.documents < kept->n_before + kept->n_put + kept->n_left_out;
	return rc;
}

unsigned sd_kept_trusted(const simidx_sketch *sketch)
{
	return sketch->flags & SIMIDX_SKETCH_TRIPLES ? SIMIDX_TEXT_RADIUS_IF_NEW
						     : SIMIDX_TEXT_RADIUS_IF_NEW_SAME;
}

int sd_kept_query(const struct sd_kept *kept, simidx *index, const simidx_sketch *sketch,
		  simidx_query *query, simidx_error *err)
{
	const simidx_dedup_options *options = kept->options;
	int is_bare = options->kind == SIMIDX_DEDUP_FINGERPRINTS;
	int trusts = options->kind != SIMIDX_DEDUP_TEXTS || options->flags & SIMIDX_DEDUP_NO_VERIFY;
	int rc = SIMIDX_OK;

	if (!index)
		index = kept->index;
	*query = (simidx_query)SIMIDX_QUERY_INIT;
	if (is_bare || options->max_bits >= 0) {
		query->fp = sketch->fp;
		query->fp2 = sketch->fp2;
		query->flags = is_bare ? 0 : SIMIDX_QUERY_TEXT;
		if (options->max_bits >= 0)
			query->radius = (unsigned)options->max_bits;
	} else {
		rc = trusts ? simidx_sketch_query_if_new(index, sketch, query, err) :
			      simidx_sketch_query(index, sketch, query, err);
		if (options->max_weight >= 0)
			query->radius2 = (unsigned)options->max_weight;
		else if (!trusts)
			query->radius2 = sd_max_weight(options->similarity);
		query->radius = query->radius2;
		if (!trusts)
			query->max_bits += sd_max_bits(options->similarity) - SIMIDX_TEXT_BITS;
		if (query->probes < SD_PROBES)
			query->probes = SD_PROBES;
	}
	/* So that a later run finds what this one has found, however large the index is by then. */
	if (options->flags & SIMIDX_DEDUP_LASTING)
		query->flags &= ~SIMIDX_QUERY_SCAN_SMALL;
	if (options->flags & SIMIDX_DEDUP_PAIRS ||
	    (options->flags & SIMIDX_DEDUP_COMPARE_ALL && !trusts))
		query->limit = 0;
	else
		query->limit = trusts ? 1 : SIMIDX_DEDUP_MOST_COMPARED;
	return rc;
}

static unsigned weigh(uint64_t differing, const uint8_t *weights)
{
	unsigned sum = 0;

	for (; differing; differing &= differing - 1)
		sum += weights ? weights[__builtin_ctzll(differing)] : 1;
	return sum;
}

int sd_kept_is_near(const simidx_query *query, uint64_t fp, uint64_t fp2, unsigned *distance)
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

uint64_t sd_kept_crowd(const simidx_query *query, const simidx_results *results, const char *text,
		       size_t size)
{
	if (query->limit != SIMIDX_DEDUP_MOST_COMPARED || results->n < SIMIDX_DEDUP_MOST_COMPARED ||
	    results->matches[results->n - 1].weighted_distance)
		return 0;
	return simidx_feature_hash(text, size) | 1;
}

static void fill_slot(struct sd_kept *kept, struct noted noted)
{
	size_t i = (size_t)(noted.hash >> 1) & (kept->n_slots - 1);

	while (kept->noted[i].hash)
		i = (i + 1) & (kept->n_slots - 1);
	kept->noted[i] = noted;
}

int sd_kept_note(struct sd_kept *kept, uint64_t crowd, uint64_t id, simidx_error *err)
{
	struct noted *old = kept->noted;
	size_t n = kept->n_slots;

	if (!crowd)
		return SIMIDX_OK;
	if (2 * (kept->n_noted + 1) > n) {
		struct noted *slots = sx_calloc(n ? 2 * n : 64, sizeof(*slots));

		if (!slots)
			return sx_fail_nomem(err);
		kept->noted = slots;
		kept->n_slots = n ? 2 * n : 64;
		for (size_t i = 0; i < n; i++)
			if (old[i].hash)
				fill_slot(kept, old[i]);
		free(old);
	}
	fill_slot(kept, (struct noted){ crowd, id });
	kept->n_noted++;
	return SIMIDX_OK;
}

int sd_kept_candidate(const struct sd_kept *kept, const simidx_results *results, uint64_t crowd,
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

size_t sd_kept_bytes(const struct sd_kept *kept)
{
	return kept->n_slots * sizeof(*kept->noted);
}

/* ---- keeping ---- */

/* `handle`: its number, or SD_LEFT_OUT. */
static int note_id(struct sd_kept *kept, uint64_t id, uint64_t handle, simidx_error *err)
{
	size_t n = kept->n_stretches;
	struct stretch *last = n ? &kept->stretch[n - 1] : NULL;

	if (last && id == last->id + last->n &&
	    (handle == SD_LEFT_OUT) == (last->handle == SD_LEFT_OUT)) {
		last->n++;
		return SIMIDX_OK;
	}
	if (sx_reserve(&kept->stretch, &kept->stretch_room, n + 1, sizeof(*kept->stretch)))
		return sx_fail_nomem(err);
	kept->stretch[kept->n_stretches++] = (struct stretch){ id, handle, 1 };
	return SIMIDX_OK;
}

uint64_t sd_kept_handle(const struct sd_kept *kept, uint64_t id)
{
	size_t low = 0, high = kept->n_stretches;
	const struct stretch *stretch = kept->stretch;

	/* The last stretch that begins at the id or before it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (stretch[middle].id <= id)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return SD_EARLIER;
	stretch += low - 1;
	if (id - stretch->id >= stretch->n)
		return SD_EARLIER;
	return stretch->handle == SD_LEFT_OUT ? SD_LEFT_OUT : stretch->handle + (id - stretch->id);
}

static simidx_doc make_doc(const struct sd_kept *kept, const simidx_sketch *sketch,
			   const struct sd_kept_note *note)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.fp = sketch->fp;
	if (kept->options->kind != SIMIDX_DEDUP_FINGERPRINTS) {
		doc.fp2 = sketch->fp2;
		doc.flags |= SIMIDX_DOC_FP2;
	}
	doc.note = note->bytes;
	doc.note_size = note->size;
	return doc;
}

int sd_kept_remember(struct sd_kept *kept, const simidx_sketch *sketch,
		     const struct sd_kept_note *note, uint64_t *id, simidx_error *err)
{
	simidx_doc doc = make_doc(kept, sketch, note);
	int rc = simidx_writer_put(kept->writer, &doc, id, err);

	kept->n_left_out += !rc;
	kept->last_fp = doc.fp;
	return rc ? rc : note_id(kept, *id, SD_LEFT_OUT, err);
}

int sd_kept_put(struct sd_kept *kept, const simidx_sketch *sketch, const simidx_dedup_row *row,
		const struct sd_kept_note *note, uint64_t *id, simidx_error *err)
{
	simidx_doc doc = make_doc(kept, sketch, note);
	int rc;

	if (kept->options->flags & SIMIDX_DEDUP_LASTING && row->label_size) {
		doc.label = row->label;
		doc.label_size = row->label_size;
	}
	rc = simidx_writer_put(kept->writer, &doc, id, err);
	/* A label that another one has, or that is too long. */
	if (doc.label && (rc == SIMIDX_E_DUPLICATE || rc == SIMIDX_E_RANGE)) {
		doc.label = NULL;
		rc = simidx_writer_put(kept->writer, &doc, id, err);
	}
	kept->last_fp = doc.fp;
	return rc ? rc : note_id(kept, *id, kept->n_put++, err);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_walk.h>

#define MAP_SIZE ((uint64_t)1 << 30)

/* ------------------------------------------------------------------------------------------
 * Indexes
 */

simidx *sxt_create(const char *path, const simidx_create_options *options)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	simidx *index;

	if (options)
		o = *options;
	o.map_size = MAP_SIZE;
	sxt_must_ok(simidx_create(path, &o, &index, &sxt_err));
	return index;
}

simidx *sxt_open(const char *path, unsigned flags)
{
	simidx_open_options o = SIMIDX_OPEN_OPTIONS_INIT;
	simidx *index;

	o.flags = flags;
	o.map_size = MAP_SIZE;
	sxt_must_ok(simidx_open(path, &o, &index, &sxt_err));
	return index;
}

simidx_reader *sxt_reader(simidx *index)
{
	simidx_reader *reader;

	sxt_must_ok(simidx_reader_open(index, &reader, &sxt_err));
	return reader;
}

simidx_writer *sxt_writer(simidx *index, uint64_t threshold)
{
	simidx_writer_options o = SIMIDX_WRITER_OPTIONS_INIT;
	simidx_writer *writer;

	o.durability = SIMIDX_DURABILITY_NORMAL;
	o.merge = threshold ? SIMIDX_MERGE_AUTO : SIMIDX_MERGE_NEVER;
	o.merge_threshold = threshold;
	sxt_must_ok(simidx_writer_open(index, &o, &writer, &sxt_err));
	return writer;
}

void sxt_commit(simidx_writer *writer)
{
	sxt_must_ok(simidx_writer_commit(writer, &sxt_err));
}

void sxt_merge(simidx *index)
{
	simidx_writer *writer = sxt_writer(index, 0);

	sxt_must_ok(simidx_writer_merge(writer, &sxt_err));
	simidx_writer_close(writer);
}

/* ------------------------------------------------------------------------------------------
 * Documents
 */

void sxt_model_init(sxt_model *model, unsigned bits, unsigned flags)
{
	memset(model, 0, sizeof(*model));
	model->bits = bits;
	model->flags = flags;
	model->free_id = SIMIDX_NO_ID;
}

void sxt_model_free(sxt_model *model)
{
	free(model->at);
	memset(model, 0, sizeof(*model));
}

static int has_ids(const sxt_model *model)
{
	return !(model->flags & SIMIDX_CREATE_NO_IDS);
}

static void choose_id(sxt_model *m, sxt_doc *doc)
{
	size_t turn = m->n % 4;

	doc->id_given = turn > 1;
	doc->id = m->next_id;
	if (turn == 2) {
		m->free_id = m->next_id + 1;
		doc->id += 3;
	} else if (turn == 3 && m->free_id != SIMIDX_NO_ID) {
		doc->id = m->free_id;
		m->free_id = SIMIDX_NO_ID;
	}
	if (doc->id >= m->next_id)
		m->next_id = doc->id + 1;
}

void sxt_model_add(sxt_model *m, uint64_t fp, sxt_rng *rng)
{
	sxt_doc *doc;

	if (m->n == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 256;
		m->at = realloc(m->at, m->cap * sizeof(*m->at));
		if (!m->at)
			exit(EXIT_FAILURE);
	}
	doc = &m->at[m->n];
	memset(doc, 0, sizeof(*doc));
	doc->id = SIMIDX_NO_ID;
	doc->fp = fp;
	if (has_ids(m))
		choose_id(m, doc);
	if (has_ids(m) && m->n % 3 == 1)
		doc->label_size = (size_t)snprintf(doc->label, sizeof(doc->label), "%zu-%.*s",
						   m->n, (int)sxt_rng_below(rng, 9), "abcdefghi");
	if (m->flags & SIMIDX_CREATE_FP2)
		doc->fp2 = sxt_rng_u64(rng);
	if (m->flags & SIMIDX_CREATE_TIMES)
		doc->time = m->n % 6 ? (uint32_t)sxt_rng_below(rng, 1000) : 0;
	m->n++;
}

void sxt_model_shuffle(sxt_model *m, sxt_rng *rng)
{
	for (size_t i = m->n; i > 1; i--) {
		size_t other = (size_t)sxt_rng_below(rng, i);
		uint64_t fp = m->at[i - 1].fp;

		m->at[i - 1].fp = m->at[other].fp;
		m->at[other].fp = fp;
	}
}

static simidx_doc doc_of(const sxt_model *m, const sxt_doc *doc)
{
	simidx_doc d = SIMIDX_DOC_INIT;

	d.id = doc->id_given ? doc->id : SIMIDX_NO_ID;
	d.fp = doc->fp;
	d.fp2 = doc->fp2;
	if (m->flags & SIMIDX_CREATE_FP2)
		d.flags = doc->lacks_fp2 ? SIMIDX_DOC_FP2_UNKNOWN : SIMIDX_DOC_FP2;
	d.time = doc->time;
	if (m->flags & SIMIDX_CREATE_TIMES)
		d.flags |= SIMIDX_DOC_TIME;
	if (doc->label_size) {
		d.label = doc->label;
		d.label_size = doc->label_size;
	}
	return d;
}

void sxt_model_put(const sxt_model *m, size_t from, size_t to, simidx_writer *writer)
{
	simidx_doc *docs = calloc(to - from + 1, sizeof(*docs));

	if (!docs)
		exit(EXIT_FAILURE);
	for (size_t i = from; i < to; i++)
		docs[i - from] = doc_of(m, &m->at[i]);
	/* An engine then leaves no gaps between the ids that it chooses. */
	sxt_must_ok(simidx_writer_prefetch(writer, docs, to - from, &sxt_err));
	for (size_t i = from; i < to; i++) {
		uint64_t id;

		sxt_must_ok(simidx_writer_put(writer, &docs[i - from], &id, &sxt_err));
		sxt_must_eq(id, m->at[i].id);
	}
	free(docs);
}

void sxt_model_store(const sxt_model *m, size_t from, size_t to, simidx *index)
{
	simidx_writer *writer = sxt_writer(index, 0);

	sxt_model_put(m, from, to, writer);
	sxt_commit(writer);
	simidx_writer_close(writer);
}

/* ------------------------------------------------------------------------------------------
 * Answers
 */

/* By (distance, id), or by (distance, fingerprint) where all ids are the same. */
static int compare_hits(const void *a, const void *b)
{
	const sxt_hit *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	if (x->doc->id != y->doc->id)
		return x->doc->id < y->doc->id ? -1 : 1;
	if (x->doc->fp != y->doc->fp)
		return x->doc->fp < y->doc->fp ? -1 : 1;
	return 0;
}

/* Without ids, a fingerprint that was put twice is there once. */
static size_t unique_hits(sxt_hit *hits, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!kept || hits[kept - 1].doc->fp != hits[i].doc->fp)
			hits[kept++] = hits[i];
	return kept;
}

sxt_hit *sxt_model_near(const sxt_model *m, size_t n, uint64_t query, unsigned k, size_t *n_hits)
{
	sxt_hit *hits = calloc(n + 1, sizeof(*hits));

	if (!hits)
		exit(EXIT_FAILURE);
	*n_hits = 0;
	for (size_t i = 0; i < n; i++) {
		unsigned distance = (unsigned)__builtin_popcountll(m->at[i].fp ^ query);

		if (distance > k)
			continue;
		hits[*n_hits].distance = distance;
		hits[(*n_hits)++].doc = &m->at[i];
	}
	qsort(hits, *n_hits, sizeof(*hits), compare_hits);
	if (!has_ids(m))
		*n_hits = unique_hits(hits, *n_hits);
	return hits;
}

static int compare_fps(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t count_distinct(const sxt_hit *hits, size_t n)
{
	uint64_t *fps = calloc(n + 1, sizeof(*fps));
	uint64_t distinct = 0;

	if (!fps)
		exit(EXIT_FAILURE);
	for (size_t i = 0; i < n; i++)
		fps[i] = hits[i].doc->fp;
	qsort(fps, n, sizeof(*fps), compare_fps);
	for (size_t i = 0; i < n; i++)
		distinct += !i || fps[i] != fps[i - 1];
	free(fps);
	return distinct;
}

/* Whether a match is this document, label included where it was asked for. */
static int is_doc(const sxt_model *m, const sxt_doc *doc, const simidx_match *match, int labels)
{
	unsigned flags = m->flags & SIMIDX_CREATE_FP2 && !doc->lacks_fp2 ? SIMIDX_MATCH_FP2 : 0;

	if (labels && doc->label_size)
		flags |= SIMIDX_MATCH_LABEL;
	if (doc->time)
		flags |= SIMIDX_MATCH_TIME;
	if (match->id != doc->id || match->fp != doc->fp || match->fp2 != doc->fp2 ||
	    match->time != doc->time || match->flags != flags)
		return 0;
	if (!(flags & SIMIDX_MATCH_LABEL))
		return !match->label && !match->label_size;
	return match->label_size == doc->label_size &&
	       !memcmp(match->label, doc->label, doc->label_size);
}

void sxt_check_limit(const sxt_model *m, const sxt_hit *hits, size_t n_hits,
		     simidx_reader *reader, const simidx_query *query)
{
	size_t want = query->limit && query->limit < n_hits ? (size_t)query->limit : n_hits;
	int labels = (query->flags & SIMIDX_QUERY_LABELS) != 0;
	simidx_results results = SIMIDX_RESULTS_INIT;

	sxt_must_ok(simidx_reader_search(reader, query, &results, &sxt_err));
	if (results.n != want)
		ck_abort_msg("%zu matches, not %zu: fp %016" PRIx64 ", k %u, limit %" PRIu64,
			     results.n, want, query->fp, query->radius, query->limit);
	if (results.size != sizeof(results) || results.truncated != (want < n_hits) ||
	    results.fingerprints != count_distinct(hits, n_hits))
		ck_abort_msg("size %zu, truncated %d, %" PRIu64 " fingerprints: fp %016" PRIx64
			     ", k %u, limit %" PRIu64,
			     results.size, (int)results.truncated, (uint64_t)results.fingerprints,
			     query->fp, query->radius, query->limit);
	for (size_t i = 0; i < want; i++) {
		const simidx_match *match = &results.matches[i];

		if (match->distance != hits[i].distance ||
		    !is_doc(m, hits[i].doc, match, labels))
			ck_abort_msg("match %zu is id %" PRIu64 " fp %016" PRIx64
				     ", not id %" PRIu64 " fp %016" PRIx64
				     " (query %016" PRIx64 ", k %u)",
				     i, match->id, match->fp, hits[i].doc->id, hits[i].doc->fp,
				     query->fp, query->radius);
	}
}

void sxt_check_search(const sxt_model *m, size_t n, simidx_reader *reader, uint64_t fp,
		      unsigned k)
{
	simidx_query query = SIMIDX_QUERY_INIT;
	size_t n_hits;
	sxt_hit *hits = sxt_model_near(m, n, fp, k, &n_hits);
	uint64_t limits[] = { 0, 1, 3, n_hits - 1, n_hits, n_hits + 1, UINT64_MAX };

	query.fp = fp;
	query.radius = k;
	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
		if (i > 2 && (!n_hits || limits[i] == limits[i - 1]))
			continue;
		if (i > 3 && n_hits > 10000) /* no news, and slow */
			break;
		query.limit = limits[i];
		query.flags = i % 2 ? 0 : SIMIDX_QUERY_LABELS;
		sxt_check_limit(m, hits, n_hits, reader, &query);
	}
	free(hits);
}

static void see_problem(void *ctx, const simidx_problem *problem)
{
	(void)ctx;
	ck_abort_msg("verify: table %s: %s", problem->table, problem->text);
}

void sxt_check_sound(simidx *index)
{
	simidx_verify_report report = SIMIDX_VERIFY_REPORT_INIT;

	ck_assert_sx(simidx_verify(index, see_problem, NULL, &report, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(report.problems, 0);
}

static int compare_ids(const void *a, const void *b)
{
	const sxt_hit *x = a, *y = b;

	if (x->doc->id != y->doc->id)
		return x->doc->id < y->doc->id ? -1 : 1;
	return x->doc->fp < y->doc->fp ? -1 : x->doc->fp > y->doc->fp;
}

static void check_walk(const sxt_model *m, size_t n, simidx *index)
{
	sxt_hit *docs = calloc(n + 1, sizeof(*docs));
	simidx_match match;
	simidx_walk *walk;

	ck_assert_ptr_nonnull(docs);
	for (size_t i = 0; i < n; i++)
		docs[i].doc = &m->at[i];
	qsort(docs, n, sizeof(*docs), compare_ids);
	if (!has_ids(m))
		n = unique_hits(docs, n);
	ck_assert_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_OK);
	for (size_t i = 0; i < n; i++) {
		sxt_must_ok(simidx_walk_next(walk, &match, &sxt_err));
		if (!is_doc(m, docs[i].doc, &match, 1) || match.distance)
			ck_abort_msg("document %zu of the walk is id %" PRIu64 ", not %" PRIu64, i,
				     match.id, docs[i].doc->id);
	}
	ck_assert_sx(simidx_walk_next(walk, &match, &sxt_err), SIMIDX_E_END);
	ck_assert_sx(simidx_walk_next(walk, &match, &sxt_err), SIMIDX_E_END);
	simidx_walk_close(walk);
	free(docs);
}

static void check_counts(const sxt_model *m, size_t n, simidx *index)
{
	simidx_info info = SIMIDX_INFO_INIT;
	uint64_t next_id = 0, labels = 0;

	for (size_t i = 0; i < n; i++) {
		labels += m->at[i].label_size != 0;
		if (has_ids(m) && m->at[i].id >= next_id)
			next_id = m->at[i].id + 1;
	}
	ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(info.labels, labels);
	ck_assert_uint_eq(info.next_id, has_ids(m) ? next_id : SIMIDX_NO_ID);
	if (has_ids(m))
		ck_assert_uint_eq(info.documents, n);
	else
		ck_assert_uint_eq(info.documents, info.distinct + info.fresh_rows);
	ck_assert_uint_le(info.fresh_rows, n);
	ck_assert_uint_le(info.used_bytes, info.file_bytes);
}

static void check_look_ups(const sxt_model *m, size_t n, simidx *index)
{
	simidx_reader *reader = sxt_reader(index);
	size_t step = n / 50 + 1;
	simidx_match match;

	for (size_t i = 0; i < n; i += step) {
		const sxt_doc *doc = &m->at[i];

		ck_assert_sx(simidx_reader_find_id(reader, doc->id, &match, &sxt_err), SIMIDX_OK);
		ck_assert(is_doc(m, doc, &match, 1));
		if (!doc->label_size)
			continue;
		ck_assert_sx(simidx_reader_find_label(reader, doc->label, doc->label_size, &match,
					      &sxt_err),
			     SIMIDX_OK);
		ck_assert(is_doc(m, doc, &match, 1));
		ck_assert_sx(simidx_reader_find_label(reader, doc->label, doc->label_size - 1,
						      &match, &sxt_err),
			     SIMIDX_E_NOT_FOUND);
	}
	for (size_t i = n; i < m->n && i < n + 5; i++)
		ck_assert_sx(simidx_reader_find_id(reader, m->at[i].id, &match, &sxt_err),
			     SIMIDX_E_NOT_FOUND);
	simidx_reader_close(reader);
}

void sxt_check_content(const sxt_model *m, size_t n, simidx *index)
{
	sxt_check_sound(index);
	check_counts(m, n, index);
	check_walk(m, n, index);
	if (has_ids(m))
		check_look_ups(m, n, index);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/sx_loader_duplicates.h"

#include <stdlib.h>
#include <string.h>

#include "index/sx_walk.h"
#include "load/sx_loader_documents.h"
#include "local/sx_local_walk.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

/*
 * Whether a document stays can depend on others by its label and by its id, so all documents
 * with a label that is shared, or with the id of such a document, are judged one after another:
 *
 *   label_hashes   sorted by hash, shows the labels that are shared
 *   shared         the documents that have them, sorted by id; beside all documents in the order
 *                  of ids this shows who else has such an id
 *   suspects       all of these, sorted as a writer would have put them: now they are judged
 *   rejected       those that are left out, sorted by id, for sx_loader_write_documents()
 *
 * Everything is sorted through temporary files; in memory are only two bits a suspect.
 */

#define NO_LABEL UINT64_MAX

struct search {
	simidx_loader *l;
	simidx_error *err;
	uint64_t done;
	/* labels with one hash */
	int has_first;
	uint64_t first[5]; /* record of the first one */
	int is_loaded;     /* its label is there */
	int is_shared;     /* another one was equal; then the last number is theirs */
	sx_loader_bytes label, other;
	sx_sorter *different; /* equal hashes, but another label than the first one */
	sx_sorter *shared; /* id, order, number of the label */
	uint64_t n_labels;
	/* documents with one id */
	const uint64_t *next_shared;
	uint64_t id;
	int is_suspect;
	sx_sorter *suspects; /* source, key, number of the label, number of the id, id */
	uint64_t n_ids;
};

static int check_stop(struct search *s)
{
	return ++s->done % 65536 ? SIMIDX_OK : sx_loader_check_stop(s->l, s->err);
}

static int new_sorter(struct search *s, unsigned words, unsigned keys, sx_sorter **out)
{
	return sx_sorter_new(words, keys, 0, s->l->memory / 8, sx_loader_tmpdir(s->l), out, s->err);
}

/* ---- labels that are shared ---- */

/* Labels of the indexes that are taken over meet the new ones by their hashes. */
static int add_source_labels(struct search *s, size_t i)
{
	simidx_match doc;
	int rc;

	while (!(rc = simidx_walk_next(s->l->sources.walk[i], &doc, s->err))) {
		uint64_t record[5] = { 0, i, doc.id, 0, doc.id };

		rc = check_stop(s);
		if (!rc && doc.label) {
			record[0] = sx_hash(doc.label, doc.label_size);
			rc = sx_sorter_add(s->l->input.label_hashes, record, s->err);
		}
		if (rc)
			return rc;
	}
	if (rc != SIMIDX_E_END)
		return sx_loader_blame(s->l, i, rc, s->err);
	sx_err_clear(s->err);
	return sx_local_walk_rewind(s->l->sources.walk[i]->walk, s->err);
}

/* The label of a record of label_hashes. */
static int get_label(struct search *s, const uint64_t *record, sx_loader_bytes *label)
{
	sx_slice stored;
	int rc;

	if (record[1] == s->l->sources.n)
		return sx_loader_read_label(s->l, record[3], label, s->err);
	rc = sx_local_walk_label(s->l->sources.walk[record[1]]->walk, record[2], &stored, s->err);
	return rc ? rc : sx_loader_copy_bytes(label, stored, s->err);
}

static int add_shared(struct search *s, const uint64_t *record)
{
	uint64_t shared[3] = { record[4], sx_loader_order(s->l, record[1], record[2]),
			       s->n_labels - 1 };

	return sx_sorter_add(s->shared, shared, s->err);
}

/* Two labels have the same hash. */
static int compare_labels(struct search *s, const uint64_t *record)
{
	int rc = s->is_loaded ? SIMIDX_OK : get_label(s, s->first, &s->label);

	if (!rc)
		rc = get_label(s, record, &s->other);
	if (rc)
		return rc;
	s->is_loaded = 1;
	if (s->label.size != s->other.size || memcmp(s->label.at, s->other.at, s->label.size)) {
		if (!s->different)
			rc = new_sorter(s, 5, 1, &s->different);
		return rc ? rc : sx_sorter_add(s->different, record, s->err);
	}
	if (!s->is_shared) {
		s->is_shared = 1;
		s->n_labels++;
		rc = add_shared(s, s->first);
	}
	return rc ? rc : add_shared(s, record);
}

/* One pass over records sorted by hash. */
static int find_shared(struct search *s, sx_sorter *hashes)
{
	const uint64_t *record;
	int rc = sx_sorter_finish(hashes, s->l->memory / 8, s->err);

	s->has_first = 0;
	while (!rc && !(rc = sx_sorter_next(hashes, &record, s->err))) {
		rc = check_stop(s);
		if (!rc && s->has_first && record[0] == s->first[0]) {
			rc = compare_labels(s, record);
			continue;
		}
		memcpy(s->first, record, sizeof(s->first));
		s->has_first = 1;
		s->is_loaded = s->is_shared = 0;
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* What had the hash of another label goes round again, without that label. */
static int find_all_shared(struct search *s)
{
	simidx_loader *l = s->l;
	int rc = new_sorter(s, 3, 2, &s->shared);

	while (!rc && l->input.label_hashes) {
		rc = find_shared(s, l->input.label_hashes);
		sx_sorter_free(l->input.label_hashes);
		l->input.label_hashes = s->different;
		s->different = NULL;
	}
	return rc ? rc : sx_sorter_finish(s->shared, l->memory / 8, s->err);
}

/* ---- who has the ids ---- */

static int next_shared(struct search *s)
{
	int rc = sx_sorter_next(s->shared, &s->next_shared, s->err);

	if (rc)
		s->next_shared = NULL;
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* Of the documents with one id, all are suspects or none. */
static int visit_document(void *ctx, uint64_t id, uint64_t source, uint64_t key)
{
	struct search *s = ctx;
	uint64_t record[5] = { source, key, NO_LABEL, 0, id };
	int rc = SIMIDX_OK;

	if (!s->is_suspect || id != s->id) {
		s->is_suspect = s->next_shared && s->next_shared[0] == id;
		s->n_ids += s->is_suspect;
		s->id = id;
	}
	if (!s->is_suspect)
		return SIMIDX_OK;
	record[3] = s->n_ids - 1;
	if (s->next_shared && s->next_shared[0] == id &&
	    s->next_shared[1] == sx_loader_order(s->l, source, key)) {
		record[2] = s->next_shared[2];
		rc = next_shared(s);
	}
	/* Where the last one stays, they are judged from the last to the first. */
	if (s->l->options.duplicates == SIMIDX_DUPLICATES_LAST) {
		record[0] = ~record[0];
		record[1] = ~record[1];
	}
	return rc ? rc : sx_sorter_add(s->suspects, record, s->err);
}

static int find_suspects(struct search *s)
{
	int rc = new_sorter(s, 5, 2, &s->suspects);

	if (!rc)
		rc = next_shared(s);
	if (!rc)
		rc = sx_loader_visit_documents(s->l, visit_document, s, s->err);
	sx_sorter_free(s->shared);
	s->shared = NULL;
	return rc ? rc : sx_sorter_finish(s->suspects, s->l->memory / 8, s->err);
}

/* ---- one after another ---- */

static int test(const unsigned char *bits, uint64_t i)
{
	return bits[i / 8] >> i % 8 & 1;
}

static void set(unsigned char *bits, uint64_t i)
{
	bits[i / 8] |= (unsigned char)(1u << i % 8);
}

static int reject(struct search *s, uint64_t id, uint64_t source, uint64_t key, int by_id)
{
	simidx_loader *l = s->l;
	uint64_t record[2] = { id, sx_loader_order(l, source, key) };

	sx_loader_reject(l, id, source, key, by_id);
	return sx_sorter_add(l->input.rejected, record, s->err);
}

/*
 * The first document with an id and a label stays. From the first to the last, a document that does
 * not stay takes neither. From the last to the first it takes both: a later document replaces
 * earlier ones, which do not come back when it is left out itself.
 */
static int judge_all(struct search *s, unsigned char *ids, unsigned char *labels)
{
	int last_stays = s->l->options.duplicates == SIMIDX_DUPLICATES_LAST;
	uint64_t flip = last_stays ? UINT64_MAX : 0;
	const uint64_t *r;
	int rc;

	while (!(rc = sx_sorter_next(s->suspects, &r, s->err))) {
		int by_id = test(ids, r[3]);
		int by_label = r[2] != NO_LABEL && test(labels, r[2]);

		rc = check_stop(s);
		if (!rc && (by_id || by_label))
			rc = reject(s, r[4], r[0] ^ flip, r[1] ^ flip, by_id);
		if (rc)
			return rc;
		if (!last_stays && (by_id || by_label))
			continue;
		set(ids, r[3]);
		if (r[2] != NO_LABEL)
			set(labels, r[2]);
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

static int judge(struct search *s)
{
	unsigned char *ids = sx_calloc(s->n_ids / 8 + 1, 1);
	unsigned char *labels = sx_calloc(s->n_labels / 8 + 1, 1);
	int rc = ids && labels ? SIMIDX_OK : sx_fail_nomem(s->err);

	if (!rc)
		rc = new_sorter(s, 2, 2, &s->l->input.rejected);
	if (!rc)
		rc = judge_all(s, ids, labels);
	if (!rc)
		rc = sx_sorter_finish(s->l->input.rejected, s->l->memory / 16, s->err);
	free(ids);
	free(labels);
	return rc;
}

int sx_loader_find_rejected(simidx_loader *l, simidx_error *err)
{
	struct search s = { .l = l, .err = err };
	int rc = SIMIDX_OK;

	if (!l->input.label_bytes && (!l->sources.labels || l->sources.n < 2))
		return SIMIDX_OK; /* no label can meet another one */
	for (size_t i = 0; !rc && l->sources.labels && i < l->sources.n; i++)
		rc = add_source_labels(&s, i);
	if (!rc)
		rc = find_all_shared(&s);
	if (!rc && s.n_labels)
		rc = find_suspects(&s);
	if (!rc && s.n_labels)
		rc = judge(&s);
	sx_sorter_free(s.different);
	sx_sorter_free(s.shared);
	sx_sorter_free(s.suspects);
	free(s.label.at);
	free(s.other.at);
	return rc;
}

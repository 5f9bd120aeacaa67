/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "repair/sx_repair_documents.h"

#include <inttypes.h>
#include <stdlib.h>

#include "load/sx_loader_repair.h"
#include "repair/sx_repair_gather.h"
#include "repair/sx_repair_claims.h"
#include "repair/sx_repair_notes.h"
#include "repair/sx_repair_read.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_hash.h"

struct join {
	sx_repair *r;
	/* next record of each sorter, NULL after the last */
	const uint64_t *document, *label, *hash;
	sx_sorter *shared; /* ids whose label is another document's too; or NULL */
	const uint64_t *next_shared;
	sx_repair_claims claims;
	unsigned char *bytes[2]; /* of its label, and of another one */
	sx_sorter *stored; /* fingerprints of the documents; or NULL */
	/* what the first pass finds out */
	uint64_t n_documents, label_bytes, n_unchecked;
	uint64_t n_labels; /* put into the new index, or told of with the id of the document */
};

/* ---- one id after another ---- */

static int next(struct join *j, sx_sorter *sorter, const uint64_t **record)
{
	int rc = sx_sorter_next(sorter, record, j->r->err);

	if (rc)
		*record = NULL;
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

static int begin(struct join *j)
{
	sx_repair *r = j->r;
	int rc = sx_sorter_rewind(r->documents, r->err);

	if (!rc)
		rc = sx_sorter_rewind(r->labels, r->err);
	if (!rc)
		rc = sx_sorter_rewind(r->hashes, r->err);
	if (!rc)
		rc = next(j, r->documents, &j->document);
	if (!rc)
		rc = next(j, r->labels, &j->label);
	return rc ? rc : next(j, r->hashes, &j->hash);
}

/* Keep the label that has the right hash, or the first one. */
static int consider_label(struct join *j)
{
	sx_repair_claims *k = &j->claims;
	unsigned char *bytes = j->bytes[k->label.data == j->bytes[0]];
	sx_slice label = { bytes, (size_t)(j->label[2] & ~SX_REPAIR_LABEL_FOUND) };
	int is_found = label.size != j->label[2];
	int rc = sx_spill_read(j->r->label_bytes, j->label[1], bytes, label.size, j->r->err);

	k->has_found_label |= is_found;
	if (!rc && ((!k->label.size && !is_found) || sx_repair_claims_has_hash(k, label)))
		k->label = label;
	return rc;
}

/* All that is said of the next id. SIMIDX_E_END after the last one. */
static int next_id(struct join *j)
{
	sx_repair_claims *k = &j->claims;
	sx_repair *r = j->r;
	uint64_t id = UINT64_MAX;
	int rc = SIMIDX_OK;

	if (!j->document && !j->label && !j->hash)
		return SIMIDX_E_END;
	id = j->document && j->document[0] < id ? j->document[0] : id;
	id = j->label && j->label[0] < id ? j->label[0] : id;
	id = j->hash && j->hash[0] < id ? j->hash[0] : id;
	sx_repair_claims_begin(k, id);
	while (!rc && j->document && j->document[0] == id) {
		rc = sx_repair_claims_add(k, r, j->document);
		if (!rc)
			rc = next(j, r->documents, &j->document);
	}
	for (; !rc && j->hash && j->hash[0] == id; rc = next(j, r->hashes, &j->hash))
		if (!k->is_fresh)
			sx_repair_claims_add_hash(k, j->hash[1]);
	while (!rc && j->label && j->label[0] == id) {
		rc = consider_label(j);
		if (!rc)
			rc = next(j, r->labels, &j->label);
	}
	if (!rc)
		sx_repair_claims_judge(k, r);
	/* The label of a deleted document stays in the table until the merge. */
	if ((k->is_fresh || k->is_gone) && !k->n_claims)
		k->label.size = 0;
	return rc ? rc : sx_repair_progress(r, "joining");
}

/* ---- what is not believed ---- */

static void tell_other_values(sx_repair *r, simidx_loss *loss, const sx_repair_claim *c,
			      const sx_repair_claim *taken)
{
	uint64_t fp2 = c->values.of[SX_FP2], time = c->values.of[SX_TIME];

	if (fp2 != taken->values.of[SX_FP2])
		sx_repair_tell(r, loss,
			       "another second fingerprint was given for the document, %016" PRIx64,
			       fp2);
	else if (time != taken->values.of[SX_TIME])
		sx_repair_tell(r, loss, "another time was given for the document, %" PRIu64, time);
}

static void tell_others(sx_repair *r, const sx_repair_claims *k, const sx_repair_claim *taken,
			const sx_repair_claim *values)
{
	static const char *const names[] = { "fresh", "postings", "docs" };
	simidx_loss loss = { .kind = SIMIDX_LOSS_DOUBT, .id = k->id, .fp = taken->fp,
			     .flags = SIMIDX_LOSS_HAS_FP };

	for (size_t i = 0; i < k->n_claims; i++) {
		const sx_repair_claim *c = &k->claim[i];

		loss.table = names[c->source];
		if (c->fp != taken->fp)
			sx_repair_tell(r, &loss,
				       "another fingerprint was given for the document, "
				       "%016" PRIx64,
				       c->fp);
		else if (values && c->source != SX_REPAIR_DOCS)
			tell_other_values(r, &loss, c, values);
	}
}

/* ---- labels ---- */

static int is_shared(struct join *j, int *yes)
{
	int rc = SIMIDX_OK;

	while (!rc && j->next_shared && j->next_shared[0] < j->claims.id)
		rc = next(j, j->shared, &j->next_shared);
	*yes = j->next_shared && j->next_shared[0] == j->claims.id;
	return rc;
}

/* Take the label out if it is not the document's own; tell of that and of one that is missing. */
static int judge_label(struct join *j, simidx_loss *loss)
{
	sx_repair_claims *k = &j->claims;
	sx_repair *r = j->r;
	const char *wrong = NULL;
	int shared, rc = is_shared(j, &shared);

	if (rc)
		return rc;
	loss->table = "labels";
	if (shared)
		wrong = "its label may be that of another document, which has it now";
	else if (k->label.size && k->n_hashes && !sx_repair_claims_has_hash(k, k->label))
		wrong = "its label is damaged: it has another hash";
	else if (!k->label.size && k->n_hashes)
		wrong = "its label is missing";
	else if (!k->label.size && k->has_found_label)
		wrong = "a label that may be its own is left out, as nothing is left to check it "
			"by";
	if (wrong) {
		k->label.size = 0;
		loss->kind = SIMIDX_LOSS_LABEL;
		sx_repair_tell(r, loss, "%s", wrong);
	} else if (k->label.size && !k->n_hashes) {
		loss->kind = SIMIDX_LOSS_DOUBT;
		loss->label = k->label.data;
		loss->label_size = k->label.size;
		sx_repair_tell(r, loss, "its label is kept, but nothing is left to check it by");
	}
	return SIMIDX_OK;
}

/*
 * Two documents cannot have one label, and the loader would leave one of them out. A label that
 * could not be checked gives way, and so does one that no fresh row has: the row that deleted its
 * document may be lost, or old pages may have brought it back. Ids whose label gives way come out
 * in ascending order.
 */
static int find_shared(struct join *j)
{
	uint64_t record[3], last = 0;
	const uint64_t *next;
	sx_sorter *all = NULL;
	sx_repair *r = j->r;
	int has_last = 0;
	int rc = sx_sorter_new(3, 2, 0, r->memory / 16, r->tmpdir, &all, r->err);

	if (!rc)
		rc = sx_sorter_new(1, 1, 0, r->memory / 16, r->tmpdir, &j->shared, r->err);
	if (!rc)
		rc = begin(j);
	while (!rc && !(rc = next_id(j))) {
		sx_repair_claims *k = &j->claims;

		if (!k->n_claims || !k->label.size ||
		    (k->n_hashes && !sx_repair_claims_has_hash(k, k->label)))
			continue;
		record[0] = sx_hash(k->label.data, k->label.size);
		record[1] = !k->n_hashes ? 2 : !k->is_fresh;
		record[2] = k->id;
		rc = sx_sorter_add(all, record, r->err);
	}
	if (rc == SIMIDX_E_END)
		rc = sx_sorter_finish(all, r->memory / 16, r->err);
	while (!rc && !(rc = sx_sorter_next(all, &next, r->err))) {
		if (has_last && next[0] == last)
			rc = sx_sorter_add(j->shared, &next[2], r->err);
		has_last = 1;
		last = next[0];
	}
	if (rc == SIMIDX_E_END)
		rc = sx_sorter_finish(j->shared, r->memory / 16, r->err);
	sx_sorter_free(all);
	if (rc)
		return rc;
	rc = sx_sorter_next(j->shared, &j->next_shared, r->err);
	if (rc)
		j->next_shared = NULL;
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* ---- documents ---- */

static void tell_gone(sx_repair *r, const sx_repair_claims *k)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_DAMAGE, .table = "postings", .id = k->id,
			     .fp = k->claim[0].fp, .flags = SIMIDX_LOSS_HAS_FP };

	sx_repair_tell(r, &loss, "a row of no document: docs, which is whole, does not have its "
				 "id");
}

/* Its fingerprint is lost, and perhaps found below among those that no document has. */
static void tell_nameless(sx_repair *r, const sx_repair_claims *k)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_DOCUMENT, .id = k->id, .table = "labels" };

	if (k->label.size && (!k->n_hashes || sx_repair_claims_has_hash(k, k->label))) {
		loss.label = k->label.data;
		loss.label_size = k->label.size;
	}
	if (!r->has_all_documents) {
		sx_repair_tell(r, &loss, "no table has its fingerprint any more");
		return;
	}
	loss.kind = SIMIDX_LOSS_DAMAGE;
	sx_repair_tell(r, &loss, "a label of no document");
}

static void tell_lost(sx_repair *r, unsigned kind, const simidx_doc *doc, const char *text)
{
	simidx_loss loss = { .kind = kind, .table = "postings", .id = doc->id, .fp = doc->fp,
			     .flags = SIMIDX_LOSS_HAS_FP };

	sx_repair_tell(r, &loss, "%s", text);
}

/* The optional columns. A time that is lost is unknown. */
static void set_values(sx_repair *r, simidx_doc *doc, const sx_repair_claim *c)
{
	const sx_schema *schema = sx_repair_old(r)->schema;
	int has_fp2 = c && !(r->has_unknown_fp2 && c->values.of[SX_FP2] == r->unknown_fp2);
	int has_time = c && c->values.of[SX_TIME] <= UINT32_MAX;

	doc->fp2 = has_fp2 ? c->values.of[SX_FP2] : 0;
	doc->time = has_time ? (uint32_t)c->values.of[SX_TIME] : 0;
	if (schema->has_fp2)
		doc->flags |= has_fp2 ? SIMIDX_DOC_FP2 : SIMIDX_DOC_FP2_UNKNOWN;
	if (schema->has_times)
		doc->flags |= SIMIDX_DOC_TIME;
	if (schema->has_fp2 && !c)
		tell_lost(r, SIMIDX_LOSS_FP2, doc, "its second fingerprint is lost");
	if (schema->has_times && !has_time)
		tell_lost(r, SIMIDX_LOSS_TIME, doc, "its time is lost");
}

static int put_document(struct join *j)
{
	const sx_repair_claims *k = &j->claims;
	sx_repair *r = j->r;
	const sx_repair_claim *taken = sx_repair_claims_choose(k, r), *values;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_loss loss = { .id = k->id, .fp = taken->fp, .flags = SIMIDX_LOSS_HAS_FP };
	int rc = judge_label(j, &loss);

	if (rc)
		return rc;
	values = sx_repair_claims_values(k, taken->fp);
	tell_others(r, k, taken, values);
	doc.id = k->id;
	doc.fp = taken->fp;
	set_values(r, &doc, values);
	doc.label = k->label.size ? k->label.data : NULL;
	doc.label_size = k->label.size;
	rc = sx_repair_take_note(r, k->note, &doc);
	if (!rc)
		rc = simidx_loader_put(r->loader, &doc, NULL, r->err);
	if (!rc && j->stored)
		rc = sx_sorter_add(j->stored, &doc.fp, r->err);
	return rc;
}

/* How much there is, and which of 64 second fingerprints the documents have. */
static int count(struct join *j, uint64_t first_fp2, uint64_t *taken)
{
	const sx_repair_claims *k = &j->claims;
	int rc = begin(j);

	j->n_documents = j->label_bytes = j->n_unchecked = *taken = 0;
	while (!rc && !(rc = next_id(j))) {
		j->n_documents += k->n_claims > 0;
		j->label_bytes += k->label.size;
		j->n_unchecked += k->label.size && !k->n_hashes;
		for (size_t i = 0; i < k->n_claims; i++)
			if (k->claim[i].source != SX_REPAIR_DOCS &&
			    k->claim[i].values.of[SX_FP2] - first_fp2 < 64)
				*taken |= (uint64_t)1
					  << (k->claim[i].values.of[SX_FP2] - first_fp2);
	}
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

/* The first pass. What stands for an unknown second fingerprint must be that of no document. */
static int survey(struct join *j)
{
	sx_repair *r = j->r;
	const sx_header *h = sx_repair_header(r);
	/* by which a repair without a header would know it */
	uint64_t first = SX_UNKNOWN_FP2, taken;
	int rc;

	while (!(rc = count(j, first, &taken)) && !~taken)
		first += 64;
	if (!rc && (j->n_unchecked || !r->has_all_fresh || r->has_old_pages))
		rc = find_shared(j);
	if (rc)
		return rc;
	r->has_unknown_fp2 = (h->flags & SX_FLAG_UNKNOWN_FP2) != 0;
	r->unknown_fp2 = r->has_unknown_fp2 ? h->unknown_fp2
					    : first + (uint64_t)__builtin_ctzll(~taken);
	sx_loader_set_unknown_fp2(r->loader, r->unknown_fp2);
	return simidx_loader_expect(r->loader, j->n_documents, j->label_bytes, r->err);
}

/* Tell of fingerprints in the tables that are those of no document. */
static int tell_left_over(struct join *j)
{
	sx_repair *r = j->r;
	simidx_loss loss = { .kind = SIMIDX_LOSS_DOCUMENT, .id = SIMIDX_NO_ID,
			     .flags = SIMIDX_LOSS_HAS_FP };
	const uint64_t *stored, *fp;
	int rc = sx_repair_gather_fingerprints(r);

	if (!rc)
		rc = sx_sorter_finish(j->stored, r->memory / 8, r->err);
	if (!rc)
		rc = next(j, j->stored, &stored);
	if (!rc)
		rc = next(j, r->fingerprints, &fp);
	while (!rc && fp) {
		while (!rc && stored && stored[0] < fp[0])
			rc = next(j, j->stored, &stored);
		loss.fp = fp[0];
		if (!rc && (!stored || stored[0] != fp[0]))
			sx_repair_tell(r, &loss,
				       "no document has this fingerprint any more: its ids are "
				       "lost");
		while (!rc && fp && fp[0] == loss.fp)
			rc = next(j, r->fingerprints, &fp);
	}
	return rc;
}

/* Labels that the header counts and no table knows of. Some may be of documents that are lost. */
static void tell_lost_labels(sx_repair *r, uint64_t n)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_LABEL, .id = SIMIDX_NO_ID, .table = "labels" };

	sx_repair_tell(r, &loss, "%" PRIu64 " label%s of documents that cannot be named %s lost", n,
		       n == 1 ? "" : "s", n == 1 ? "is" : "are");
	r->report.labels_lost += n - 1;
}

/*
 * How many documents of the header's are not among n, at most: a deletion that is lost may have
 * brought one back, which is among the n in the place of one that is missing. And each change that
 * is lost may have added one.
 */
static uint64_t count_lost(const sx_repair *r, uint64_t n)
{
	uint64_t had = sx_repair_header(r)->documents + r->deletions_lost;
	uint64_t lost = had > n ? had - n : 0;

	return lost > r->report.changes_lost ? lost : r->report.changes_lost;
}

/* Rows of older commits have a right checksum too. */
static void tell_surplus(sx_repair *r, uint64_t n)
{
	simidx_loss loss = { .kind = SIMIDX_LOSS_DOUBT, .id = SIMIDX_NO_ID };
	uint64_t had = sx_repair_header(r)->documents + r->deletions_lost;

	if (n > had && !r->is_header_old)
		sx_repair_tell(r, &loss,
			       "%" PRIu64 " document%s more than the header counts: tables have "
			       "rows of an older commit, and nothing tells which",
			       n - had, n - had == 1 ? "" : "s");
}

int sx_repair_put_documents(sx_repair *r)
{
	struct join j = { .r = r };
	int rc;

	for (int i = 0; i < 2; i++)
		j.bytes[i] = sx_calloc(1, SIMIDX_MAX_LABEL);
	rc = j.bytes[0] && j.bytes[1] ? SIMIDX_OK : sx_fail_nomem(r->err);
	if (!rc)
		rc = simidx_loader_reserve_ids(r->loader, sx_repair_header(r)->next_id, r->err);
	if (!rc)
		rc = sx_repair_gather_documents(r);
	if (!rc)
		rc = survey(&j);
	if (!rc && !r->has_all_documents)
		rc = sx_sorter_new(1, 1, 0, r->memory / 8, r->tmpdir, &j.stored, r->err);
	if (!rc)
		rc = begin(&j);
	while (!rc && !(rc = next_id(&j))) {
		/* A label of no document is not one that the header counts. */
		if (j.claims.n_claims || !r->has_all_documents)
			j.n_labels += j.claims.label.size || j.claims.n_hashes;
		if (j.claims.n_claims)
			rc = put_document(&j);
		else if (j.claims.is_gone)
			tell_gone(r, &j.claims);
		else if (!j.claims.is_fresh && (j.claims.label.size || j.claims.n_hashes))
			tell_nameless(r, &j.claims);
		/* Tables may still have these, though no document is missing that had them. */
		for (size_t i = 0; !rc && j.stored && i < j.claims.former.n; i++)
			rc = sx_sorter_add(j.stored, &j.claims.former.at[i], r->err);
	}
	if (rc == SIMIDX_E_END)
		rc = j.stored ? tell_left_over(&j) : SIMIDX_OK;
	r->report.documents_lost = count_lost(r, j.n_documents);
	if (!rc)
		tell_surplus(r, j.n_documents);
	if (!rc && sx_repair_header(r)->labels > j.n_labels)
		tell_lost_labels(r, sx_repair_header(r)->labels - j.n_labels);
	if (!rc)
		sx_repair_tell_lost_notes(r);
	sx_u64s_free(&j.claims.former);
	free(j.bytes[0]);
	free(j.bytes[1]);
	sx_sorter_free(j.stored);
	sx_sorter_free(j.shared);
	return rc;
}

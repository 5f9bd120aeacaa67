/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_change.h"

#include <string.h>
#include <time.h>

#include <simidx_sketch.h>

unsigned ld_change_sketch_flags(const struct ld_target *target)
{
	const struct ld_options *options = target->options;
	unsigned flags = target->flags & SIMIDX_CREATE_FP2 ? SIMIDX_SKETCH_FP2 : 0;

	if (options->mode == LD_IF_NEW && options->radius < 0)
		flags |= SIMIDX_SKETCH_WEIGHTS;
	return flags;
}

/* What the row says of its sketch, as far as queries are made from it. */
static void fill_sketch(const struct ld_target *target, const struct ld_item *item,
			const simidx_doc *doc, simidx_sketch *sketch)
{
	sketch->size = sizeof(*sketch);
	sketch->bits = target->bits;
	sketch->fp = doc->fp;
	sketch->fp2 = doc->fp2;
	sketch->flags = doc->flags & SIMIDX_DOC_FP2 ? SIMIDX_SKETCH_FP2 : 0;
	if (item->row.kind == IN_FINGERPRINT || target->options->radius >= 0)
		return;
	sketch->flags |= SIMIDX_SKETCH_WEIGHTS | (item->flags & SIMIDX_SKETCH_TRIPLES);
	memcpy(sketch->weights, item->weights, sizeof(sketch->weights));
	memcpy(sketch->weights2, item->weights2, sizeof(sketch->weights2));
}

/*
 * What is too near to a row. For texts the library has a rule; bare fingerprints, of which no
 * profile says what they are made from, are compared by the bits alone.
 */
static int make_query(const struct ld_target *target, const struct ld_item *item,
		      const simidx_doc *doc, simidx_sketch *sketch, simidx_query *query,
		      simidx_error *err)
{
	const struct ld_options *options = target->options;
	int accepts, rc = 0;

	if (item->row.kind == IN_FINGERPRINT && !*target->profile) {
		query->fp = doc->fp;
	} else {
		fill_sketch(target, item, doc, sketch);
		accepts = options->accept >= 0 && sketch->flags & SIMIDX_SKETCH_WEIGHTS;
		rc = simidx_sketch_query_if_new(target->index, sketch, query, err);
		/* Without a second fingerprint the rule goes by bits. */
		if (!rc && accepts && !query->weights)
			rc = simidx_sketch_query(target->index, sketch, query, err);
		if (accepts)
			query->radius = query->radius2 = (unsigned)options->accept;
	}
	if (options->radius >= 0)
		query->radius = (unsigned)options->radius;
	if (options->emit == LD_EMIT_DUP || options->emit == LD_EMIT_ALL)
		query->flags |= SIMIDX_QUERY_LABELS;
	return rc;
}

static int put_if_new(struct ld_target *target, const struct ld_item *item, const simidx_doc *doc,
		      struct ld_change *out, simidx_error *err)
{
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_sketch sketch;
	int rc = make_query(target, item, doc, &sketch, &query, err);

	return rc ? rc : simidx_writer_put_if_new(target->writer, doc, &query, &out->id,
						  &out->blocker, err);
}

static int change(struct ld_target *target, const struct ld_item *item, const simidx_doc *doc,
		  struct ld_change *out, simidx_error *err)
{
	switch (target->options->mode) {
	case LD_IF_NEW:
		return put_if_new(target, item, doc, out, err);
	case LD_REPLACE:
		return simidx_writer_replace(target->writer, doc, &out->id, err);
	case LD_DELETE:
		if (doc->id != SIMIDX_NO_ID)
			return simidx_writer_delete_id(target->writer, doc->id, err);
		return simidx_writer_delete_label(target->writer, doc->label, doc->label_size, err);
	default:
		return simidx_writer_put(target->writer, doc, &out->id, err);
	}
}

int ld_change_make(struct ld_target *target, const struct ld_item *item, const simidx_doc *doc,
		   int is_first, struct ld_change *out, simidx_error *err)
{
	int rc;

	out->id = SIMIDX_NO_ID;
	out->is_late = 0;
	if (target->loader)
		return simidx_loader_put(target->loader, doc, NULL, err);
	do
		rc = change(target, item, doc, out, err);
	while (is_first && ld_target_again(target, rc, err));
	target->changes += !rc || rc == SIMIDX_E_EXISTS || rc == SIMIDX_E_DUPLICATE ||
			   rc == SIMIDX_E_NOT_FOUND;
	target->has_inserted |= !rc;
	if (!rc && out->id != SIMIDX_NO_ID && out->id >= target->next_id)
		target->next_id = out->id + 1;
	return rc;
}

int ld_change_look_ahead(struct ld_target *target, const struct ld_item *const *items,
			 const simidx_doc *docs, size_t n, simidx_error *err)
{
	static simidx_sketch sketches[LD_MOST_AHEAD];
	static simidx_query queries[LD_MOST_AHEAD];

	if (target->options->mode != LD_IF_NEW)
		return simidx_writer_prefetch(target->writer, docs, n, err);
	for (size_t i = 0; i < n; i++) {
		sketches[i] = (simidx_sketch){ 0 };
		queries[i] = (simidx_query)SIMIDX_QUERY_INIT;
		/* What is wrong with one is told when it is put. */
		if (make_query(target, items[i], &docs[i], &sketches[i], &queries[i], NULL))
			queries[i] = (simidx_query)SIMIDX_QUERY_INIT;
	}
	return simidx_writer_prefetch_if_new(target->writer, docs, queries, n, err);
}

int ld_change_find_own(struct ld_target *target, const simidx_doc *doc, simidx_match *out,
		       simidx_error *err)
{
	simidx_reader *reader;
	int rc = simidx_writer_reader(target->writer, &reader, err);

	if (rc)
		return rc;
	if (doc->id == SIMIDX_NO_ID)
		return simidx_reader_find_label(reader, doc->label, doc->label_size, out, err);
	rc = simidx_reader_find_id(reader, doc->id, out, err);
	if (!rc && doc->label && (!out->label || out->label_size != doc->label_size ||
				  memcmp(out->label, doc->label, doc->label_size)))
		return SIMIDX_E_NOT_FOUND;
	return rc;
}

int ld_change_touch(struct ld_target *target, const struct ld_item *item, const simidx_match *seen,
		    int *touched, simidx_error *err)
{
	uint32_t when = item->row.has_time ? item->row.time : (uint32_t)time(NULL);
	int rc = 0;

	*touched = when > seen->time;
	if (*touched)
		rc = simidx_writer_touch(target->writer, seen->id, when, err);
	target->changes += *touched && !rc;
	target->has_inserted |= *touched && !rc;
	return rc;
}

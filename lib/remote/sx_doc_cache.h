/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a transaction of a writer knows of the documents that an engine holds: those that it has
 * looked up, as they were then, and the labels that wait for its commit. Searches and look-ups of
 * its own reader ask here first.
 */

#ifndef SX_DOC_CACHE_H
#define SX_DOC_CACHE_H

#include "index/sx_documents.h"
#include "remote/sx_engine.h"
#include "store/sx_dbi.h"
#include "util/sx_arena.h"

/** A document by id. */
typedef struct sx_cached_doc {
	uint64_t id;
	int is_known;   /* the engine has answered, or cannot have it; else it could not be asked */
	int is_there;   /* the engine holds it: what follows, but for `now` */
	uint64_t fp;
	sx_values values;
	sx_slice label; /* size 0 = none */
	sx_slice now;   /* the label that was set; of no meaning without a pending row */
} sx_cached_doc;

/** A label that was looked up. */
typedef struct sx_cached_label {
	sx_slice label;
	int is_known; /* the engine has answered */
	uint64_t id; /* SIMIDX_NO_ID: no document has it */
} sx_cached_label;

/** All zero is one that knows nothing. */
typedef struct sx_doc_cache {
	sx_arena bytes;
	sx_cached_doc *doc;
	size_t n_docs, doc_cap;
	sx_cached_label *label;
	size_t n_labels, label_cap;
	uint32_t *doc_slot, *label_slot; /* hash tables: numbers from 1 on, 0 = free */
	size_t doc_slots, label_slots;   /* powers of two, or 0 */
} sx_doc_cache;

/** NULL: nothing is known of this id. Valid until the next one is added. */
sx_cached_doc *sx_doc_cache_find(const sx_doc_cache *cache, uint64_t id);

/** The label of a document whose pending row has one: a new label, or the label that it had. */
sx_slice sx_cached_label_now(const sx_cached_doc *doc);

/** NULL: nothing is known of this label. */
const sx_cached_label *sx_doc_cache_find_label(const sx_doc_cache *cache, const void *label,
					       size_t size);

/**
 * Set the label that a document gets, which was looked up or has a new id. 0, or -1 when
 * memory is short.
 */
int sx_doc_cache_set_label(sx_doc_cache *cache, uint64_t id, const void *label, size_t size);

/**
 * Ask an engine, in one call, for those of these ids that the cache does not have.
 *
 * @param unknown_fp2  stands for a second fingerprint that is not known
 */
int sx_doc_cache_look_up_ids(sx_doc_cache *cache, sx_engine *engine, uint64_t unknown_fp2,
			     const uint64_t *id, size_t n, simidx_error *err);

/** The same by labels. */
int sx_doc_cache_look_up_labels(sx_doc_cache *cache, sx_engine *engine, uint64_t unknown_fp2,
				const simidx_engine_bytes *label, size_t n, simidx_error *err);

/** Forget all. */
void sx_doc_cache_clear(sx_doc_cache *cache);

void sx_doc_cache_free(sx_doc_cache *cache);

#endif /* SX_DOC_CACHE_H */

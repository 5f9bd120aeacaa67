/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the engine in memory keeps of an index. For its own files.
 */

#ifndef MEMORY_STORE_H
#define MEMORY_STORE_H

#include <pthread.h>

#include "engine/memory.h"
#include "support/sxt.h"

#define MAX_TABLES 32

struct row {
	uint32_t prefix;
	uint64_t fp, id;
};

struct rows {
	struct row *at;
	size_t n, cap;
};

struct doc {
	uint64_t id, fp, fp2;
	unsigned flags; /* SIMIDX_DOC_FP2, SIMIDX_DOC_FP2_UNKNOWN */
	char *label;
	size_t label_size;
	uint32_t time; /* 0: not known */
};

/* Changes of a prefix so far. */
struct version {
	unsigned table;
	uint32_t prefix;
	uint64_t version; /* 0: the slot is free */
};

struct store {
	char *uri;
	void *description;
	size_t description_size;
	unsigned n_tables;
	struct rows table[MAX_TABLES]; /* each in its order */
	struct doc *doc;               /* by id */
	size_t n_docs, cap_docs;
	uint64_t next_id;
	void *mark;
	size_t mark_size;
	/* With conditions: */
	int has_conditions;
	struct version *version; /* a hash table */
	size_t n_versions, version_slots;
	uint64_t n_stored; /* changes so far */
	struct store *next;
};

/** Of all stores. */
extern pthread_mutex_t memory_lock;

/** realloc() that does not fail. */
void *memory_grown(void *at, size_t n, size_t size);

void *memory_copied(const void *data, size_t size);

/** Set an error. Returns the code. */
int memory_fail(simidx_error *err, int code, const char *text);

/** Whether this is the call that is to fail; then err is set. */
int memory_fails(simidx_error *err);

/** The place of the first document that is not below an id. */
size_t memory_place_of(const struct store *s, uint64_t id);

/** NULL: there is none. */
struct doc *memory_find_doc(const struct store *s, uint64_t id);

int memory_compare_rows(const void *a, const void *b);

/** The first row that is not before this one. */
size_t memory_place_of_row(const struct rows *rows, const struct row *row);

/** The version of a prefix, or of the index as a whole. */
uint64_t memory_version(const struct store *s, unsigned table, uint32_t prefix);

/** Raise those that a change concerns. */
void memory_raise(struct store *s, const simidx_engine_change *change);

/** Say which changes of a batch are refused. Returns how many. */
size_t memory_refuse(const struct store *s, const simidx_engine_batch *batch);

/** Write it to its file, if it has one. */
void memory_save(const struct store *s);

/** Read a store, which is all zero but for its URI, from its file. Returns 0 if there is none. */
int memory_load(struct store *s);

/* Calls of the engine. */
int memory_begin(void *state, simidx_error *err);
int memory_resume(void *state, simidx_error *err);
int memory_write(void *state, const simidx_engine_batch *batch, simidx_error *err);
int memory_reserve_ids(void *state, uint64_t n, uint64_t at_least, uint64_t *first,
		       simidx_error *err);
int memory_get_mark(void *state, void **data, size_t *size, simidx_error *err);
int memory_check(void *state, simidx_engine_check *check, simidx_error *err);
int memory_lease(void *state, const simidx_engine_probe *prefix, size_t n, int wait_ms,
		 simidx_error *err);
int memory_release(void *state, simidx_error *err);

#endif /* MEMORY_STORE_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What an index is: its bits, plan, layout, columns and profile. It is read when the index is
 * opened, and does not change while it is open.
 */

#ifndef SX_SCHEMA_H
#define SX_SCHEMA_H

#include "index/sx_meta.h"

typedef struct sx_schema {
	unsigned bits, layout, fill;
	uint32_t flags; /* sx_schema_flags() */
	int has_ids, has_fp2, has_times, has_notes;
	sx_columns columns; /* the optional ones of documents */
	unsigned format_major, format_minor;
	uint32_t ro_compat;
	sx_plan plan;
	sx_plan fresh_plan; /* of the memtable */
	int fresh_plan_is_same;
	sx_profile profile;
	unsigned text_probes; /* of a query of a text */
	int has_unknown_fp2;  /* documents may lack a second fingerprint: then they have this one */
	uint64_t unknown_fp2;
} sx_schema;

/**
 * A schema with a plan and ids, and all else zero.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOMEM; the codes of sx_plan_make()
 */
int sx_schema_new(const char *plan, unsigned bits, sx_schema **out, simidx_error *err);

/** A schema as a header says. Its profile is empty. The codes of sx_schema_new(). */
int sx_schema_of_header(const sx_header *header, sx_schema **out, simidx_error *err);

/** The flags of simidx_create() that say what an index is: ids, notes, and columns. */
uint32_t sx_schema_flags(void);

/** Set those of these flags that are set, and what they say. */
void sx_schema_set_flags(sx_schema *schema, uint32_t flags);

/** SIMIDX_E_UNSUPPORTED if documents have no ids, and so no labels. */
int sx_schema_need_ids(const sx_schema *schema, simidx_error *err);

/** Whether second fingerprints are those of texts, made from runs of three words. */
int sx_schema_has_triples(const sx_schema *schema);

/** What walks are in the order of: the ids, or where there are none the fingerprints. */
static inline uint64_t sx_schema_order(const sx_schema *schema, uint64_t id, uint64_t fp)
{
	return schema->has_ids ? id : fp;
}

/** NULL is allowed. */
void sx_schema_free(const sx_schema *schema);

#endif /* SX_SCHEMA_H */

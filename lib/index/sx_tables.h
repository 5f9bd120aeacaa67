/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The sub-databases of an index: what each one is, which of them an index has, and opening them.
 */

#ifndef SX_TABLES_H
#define SX_TABLES_H

#include "index/sx_schema.h"
#include "table/sx_table.h"

/** Columns of the tables of documents; optional ones follow those of postings. */
enum sx_postings_column { SX_POSTINGS_ID, SX_POSTINGS_COLUMNS };
enum sx_docs_column { SX_DOCS_FP, SX_DOCS_COLUMNS };
enum sx_by_label_column { SX_BY_LABEL_ID, SX_BY_LABEL_COLUMNS };

/** The sub-databases. An index without ids has `permuted`, `log` and `meta` alone. */
typedef struct sx_tables {
	sx_table permuted[SX_MAX_TABLES]; /* "t01".. */
	sx_table postings;
	sx_table docs;
	sx_table by_label; /* key = hash of the label, column 0 = id; always in the rows layout */
	sx_dbi labels; /* id -> bytes of the label */
	sx_dbi notes;  /* id -> note and checksum (sx_notes.h), in an index with notes */
	sx_meta meta;
} sx_tables;

/**
 * Open the sub-databases in a transaction, making them if asked to. Without a transaction only what
 * they are is set, but for their dbi.
 *
 * @param log  the table of fresh rows
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT: one is missing; the codes of sx_dbi_open()
 */
int sx_tables_open(sx_tables *tables, sx_table *log, const sx_schema *schema, size_t block_size,
		   sx_txn *txn, int create, simidx_error *err);

/** One of them. */
typedef struct sx_database {
	const char *name;
	const sx_table *table; /* NULL: bytes by ids, which are labels or notes */
	sx_dbi dbi;
} sx_database;

/** How many an index has, beside those of `meta`. */
unsigned sx_tables_count(const sx_schema *schema);

/**
 * Number i of these: the permuted tables, then postings, docs, the log, labels, by_label and notes,
 * as far as the index has them.
 */
sx_database sx_tables_number(const sx_tables *tables, const sx_table *log, const sx_schema *schema,
			     unsigned i);

#endif /* SX_TABLES_H */

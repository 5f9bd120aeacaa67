/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_tables.h"

#include <assert.h>
#include <stdio.h>

#include "util/sx_err.h"

/* How all sub-databases of an index are opened. */
struct opening {
	const sx_schema *schema;
	size_t block_size;
	sx_txn *txn; /* NULL: nothing is opened */
	int create;
	simidx_error *err;
};

static int open_dbi(const struct opening *o, const char *name, sx_dbi *dbi)
{
	return o->txn ? sx_dbi_open(o->txn, name, o->create, dbi, o->err) : SIMIDX_OK;
}

/*
 * Open a table that is like `what`, with its optional columns after the others. Where its layout or
 * fill is 0, it is that of the index.
 */
static int open_table(const struct opening *o, sx_table *table, const sx_table *what)
{
	*table = *what;
	table->layout = what->layout ? what->layout : o->schema->layout;
	table->fill = what->fill ? what->fill : o->schema->fill;
	table->values_at = what->n_cols;
	table->n_cols += what->columns ? what->columns->n : 0;
	table->block_size = o->block_size;
	return open_dbi(o, table->name, &table->dbi);
}

static int open_permuted(const struct opening *o, sx_tables *t)
{
	int rc = SIMIDX_OK;

	for (unsigned i = 0; !rc && i < o->schema->plan.n_tables; i++) {
		sx_table what = { .kind = SX_TABLE_PERMUTED,
				  .number = i + 1,
				  .perm = &o->schema->plan.table[i] };

		snprintf(what.name, sizeof(what.name), "t%02u", i + 1);
		rc = open_table(o, &t->permuted[i], &what);
	}
	return rc;
}

static int open_log(const struct opening *o, sx_table *log)
{
	const sx_table what = { .name = "fresh",
				.kind = SX_TABLE_NUMBERS,
				.number = SX_NUMBER_FRESH,
				.fill = 100, /* only ever appended to */
				.n_cols = SX_LOG_COLUMNS,
				.columns = &o->schema->columns,
				.checks_rows = 1 };

	return open_table(o, log, &what);
}

static int open_documents(const struct opening *o, sx_tables *t)
{
	const sx_table postings = { .name = "postings",
				    .kind = SX_TABLE_PAIRS,
				    .number = SX_NUMBER_POSTINGS,
				    .n_cols = SX_POSTINGS_COLUMNS,
				    .columns = &o->schema->columns,
				    .checks_rows = 1 };
	const sx_table docs = { .name = "docs",
				.kind = SX_TABLE_NUMBERS,
				.number = SX_NUMBER_DOCS,
				.n_cols = SX_DOCS_COLUMNS,
				.checks_rows = 1 };
	const sx_table by_label = { .name = "by_label",
				    .kind = SX_TABLE_PAIRS,
				    .layout = SIMIDX_LAYOUT_ROWS,
				    .n_cols = SX_BY_LABEL_COLUMNS };
	int rc = open_table(o, &t->postings, &postings);

	if (!rc)
		rc = open_table(o, &t->docs, &docs);
	if (!rc)
		rc = open_table(o, &t->by_label, &by_label);
	if (!rc)
		rc = open_dbi(o, "labels", &t->labels);
	if (!rc && o->schema->has_notes)
		rc = open_dbi(o, "notes", &t->notes);
	return rc;
}

int sx_tables_open(sx_tables *tables, sx_table *log, const sx_schema *schema, size_t block_size,
		   sx_txn *txn, int create, simidx_error *err)
{
	const struct opening o = { schema, block_size, txn, create, err };
	int rc = open_permuted(&o, tables);

	if (!rc)
		rc = open_log(&o, log);
	if (!rc && schema->has_ids)
		rc = open_documents(&o, tables);
	if (rc != SIMIDX_E_NOT_FOUND)
		return rc;
	sx_err_clear(err);
	return sx_fail(err, SIMIDX_E_CORRUPT, "a table of the index is missing");
}

/* ---- which there are ---- */

unsigned sx_tables_count(const sx_schema *schema)
{
	return schema->plan.n_tables + (schema->has_ids ? 5 : 1) + (schema->has_notes ? 1 : 0);
}

static sx_database of_table(const sx_table *table)
{
	return (sx_database){ table->name, table, table->dbi };
}

sx_database sx_tables_number(const sx_tables *t, const sx_table *log, const sx_schema *schema,
			     unsigned i)
{
	unsigned n = schema->plan.n_tables;
	const sx_database others[] = { of_table(&t->postings),
				       of_table(&t->docs),
				       of_table(log),
				       { "labels", NULL, t->labels },
				       of_table(&t->by_label),
				       { "notes", NULL, t->notes } };

	assert(i < sx_tables_count(schema));
	if (i < n)
		return of_table(&t->permuted[i]);
	return schema->has_ids ? others[i - n] : of_table(log);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/sx_loader_space.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "index/sx_snapshot.h"
#include "util/sx_err.h"

/* What the table of labels and the one of their hashes have for each: rather too little. */
#define BESIDE_A_LABEL 36

/* Bytes that are going to be needed at once. */
struct needs {
	uint64_t index; /* beside the path */
	uint64_t sort;  /* for temporary files, before the tables are made */
	uint64_t build; /* for temporary files, while the tables are made */
};

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Bytes of the pages of a table; 0 if they cannot be counted. */
static uint64_t pages_of(const sx_snapshot *s, sx_dbi dbi)
{
	sx_dbi_stat stat;

	if (sx_dbi_stat_get(s->txn, dbi, &stat, NULL))
		return 0;
	return (stat.leaf_pages + stat.overflow_pages) * sx_store_page_size(s->index->store);
}

uint64_t sx_loader_bytes_apart(const simidx *source)
{
	const sx_tables *tables = &source->tables;
	uint64_t bytes;
	sx_snapshot s;

	if (!source->schema->has_ids || sx_snapshot_begin(&s, source, NULL))
		return 0;
	bytes = pages_of(&s, tables->labels) + pages_of(&s, tables->by_label.dbi);
	if (source->schema->has_notes)
		bytes += pages_of(&s, tables->notes);
	sx_snapshot_end(&s);
	return bytes;
}

/* Bytes of the optional columns of a document, before they are packed. */
static unsigned values_width(const simidx_loader *l)
{
	sx_columns columns = sx_columns_of_flags(l->target.create.flags);
	unsigned width = 0;

	for (unsigned c = 0; c < columns.n; c++)
		width += sx_column_kinds[columns.kind[c]].width;
	return width;
}

/* The size of an index of n documents. Of the labels there are some bytes beside their own. */
static uint64_t index_bytes(const simidx_loader *l, uint64_t n, uint64_t labels,
			    uint64_t label_bytes)
{
	int bits = (int)l->target.index->schema->bits -
		   (63 - __builtin_clzll(n | 1)); /* left by log2(n) */
	double entry, document = 0;

	if (!n)
		return 0;
	entry = (bits > 6 ? bits + 2 : 8) / 8.0 * 110 / l->target.index->schema->fill;
	if (l->target.index->schema->layout == SIMIDX_LAYOUT_ROWS)
		entry = 32;
	if (l->input.by_id)
		document = 22 + 9.0 / 8 * values_width(l);
	return (uint64_t)((double)n * (entry * l->target.index->schema->plan.n_tables + document)) +
	       labels * BESIDE_A_LABEL + label_bytes;
}

/*
 * What a sorter with `memory` bytes writes to its file: nothing if all of it fits in a half. In
 * a file a random word has its 8 bytes; the sorted one has some less, and ids and numbers of rows
 * have few where they follow each other. Rather too little: what fits must not be refused.
 */
static uint64_t sorter_bytes(uint64_t records, unsigned words, unsigned written, uint64_t memory)
{
	return records * words * sizeof(uint64_t) > memory / 2 ? records * written : 0;
}

static uint64_t by_fp_bytes(const simidx_loader *l, uint64_t n)
{
	unsigned n_values = sx_columns_of_flags(l->target.create.flags).n;

	if (!l->input.by_id)
		return sorter_bytes(n, 1, 6, l->memory / 2);
	return sorter_bytes(n, 2 + n_values, 8 + values_width(l), l->memory / 2);
}

static int fail(const char *where, const char *what, uint64_t needed, uint64_t there,
		simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_NO_SPACE,
		       "about %llu MB are needed %s %s, %llu MB are free",
		       (unsigned long long)(needed >> 20) + 1, what, where,
		       (unsigned long long)(there >> 20));
}

/* The temporary files may be on another file system than the index. */
static int compare(const simidx_loader *l, const struct needs *needs, simidx_error *err)
{
	uint64_t beside, elsewhere, all = larger(needs->sort, needs->index + needs->build);
	const char *tmpdir = l->target.tmpdir;
	struct stat index, temporary;
	struct statvfs fs;
	int rc = sx_store_free_bytes(l->target.index->store, &beside, err);

	if (rc)
		return rc;
	if (tmpdir &&
	    (stat(l->target.dir, &index) || stat(tmpdir, &temporary) || statvfs(tmpdir, &fs)))
		return sx_fail_errno(err, errno, "%s", tmpdir);
	if (!tmpdir || index.st_dev == temporary.st_dev)
		return all > beside ? fail(l->target.path, "beside", all, beside, err) : SIMIDX_OK;
	elsewhere = (uint64_t)fs.f_bavail * fs.f_frsize;
	if (needs->index > beside)
		return fail(l->target.path, "beside", needs->index, beside, err);
	if (larger(needs->sort, needs->build) > elsewhere)
		return fail(tmpdir, "for temporary files in",
			    larger(needs->sort, needs->build), elsewhere, err);
	return SIMIDX_OK;
}

int sx_loader_check_space(const simidx_loader *l, simidx_error *err)
{
	uint64_t n = l->sources.documents + sx_sorter_count(sx_loader_put_sorter(l));
	uint64_t labels = 0, label_bytes = 0;
	struct needs needs = { 0 };

	if (l->input.label_bytes) {
		labels = sx_sorter_count(l->input.label_rows);
		label_bytes = sx_spill_size(l->input.label_bytes);
	}
	/* The files of the first sort are there, and go before the tables are made. */
	needs.index = index_bytes(l, n, labels, label_bytes) + l->sources.bytes_apart;
	if (l->input.note_bytes)
		needs.index += sx_spill_size(l->input.note_bytes);
	needs.sort = l->input.by_id ? by_fp_bytes(l, n) : 0;
	return compare(l, &needs, err);
}

int simidx_loader_expect(simidx_loader *l, uint64_t documents, uint64_t label_bytes,
			 simidx_error *err)
{
	struct needs needs = { 0 };
	uint64_t n, there;
	int rc;

	sx_err_clear(err);
	if (!l)
		return sx_fail(err, SIMIDX_E_ARG, "simidx_loader_expect: loader is NULL");
	rc = sx_loader_check_open(l, err);
	if (rc)
		return rc;
	if (documents > SIMIDX_MAX_ID || label_bytes > SIMIDX_MAX_ID)
		return sx_fail(err, SIMIDX_E_RANGE, "more documents than there are ids");
	n = l->sources.documents + documents;
	/* How many of them have a label was not said; it has a byte at least. */
	needs.index = index_bytes(l, n, smaller(documents, label_bytes), label_bytes) +
		      l->sources.bytes_apart;
	needs.sort = by_fp_bytes(l, n) + label_bytes;
	if (l->input.by_id)
		needs.sort += sorter_bytes(documents,
					   3 + sx_columns_of_flags(l->target.create.flags).n,
					   10 + values_width(l), l->memory / 2);
	/* The list of fingerprints, and of the tables the one being written and the next one. */
	needs.build = n * 6 + 2 * sorter_bytes(n, 1, 6, l->memory / 4);
	/* What was put already may lie in files already. */
	there = sx_sorter_spilled(sx_loader_put_sorter(l)) +
		(l->input.label_bytes ? sx_spill_size(l->input.label_bytes) : 0);
	needs.sort -= smaller(there, needs.sort);
	return compare(l, &needs, err);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Decodes the golden indexes by doc/format.md alone and compares all that is in them with what
 * was put. Exit code 77: this machine's pages are not those of the golden files.
 */

#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "decode.h"

static const char *doing = "";

void must(int ok, const char *format, ...)
{
	va_list ap;

	if (ok)
		return;
	fprintf(stderr, "decode: %s: ", doing);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

uint64_t le(const unsigned char *p, unsigned n)
{
	uint64_t x = 0;

	while (n--)
		x = x << 8 | p[n];
	return x;
}

uint64_t be(const unsigned char *p, unsigned n)
{
	uint64_t x = 0;

	for (unsigned i = 0; i < n; i++)
		x = x << 8 | p[i];
	return x;
}

uint64_t hash(const void *data, size_t size)
{
	return XXH3_64bits(data, size);
}

uint64_t hash_numbers(const uint64_t *number, unsigned n)
{
	unsigned char bytes[8 * WANTED];

	for (unsigned i = 0; i < 8 * n; i++)
		bytes[i] = (unsigned char)(number[i / 8] >> (8 * (i % 8)));
	return hash(bytes, 8 * n);
}

/* ------------------------------------------------------------------------------------------
 * What must be there
 */

static struct golden_doc docs[MAX_ROWS];
static struct rows rows;

static int has_ids(const struct file *file)
{
	return !(file->golden->flags & GOLDEN_NO_IDS);
}

/* Documents that are merged, and all of them. */
static unsigned n_merged(const struct file *file)
{
	return file->golden->part[1];
}

static unsigned n_docs(const struct file *file)
{
	return file->golden->part[2];
}

static unsigned n_deleted(const struct file *file)
{
	unsigned n = 0;

	for (unsigned i = 0; i < n_docs(file); i++)
		n += (unsigned)golden_is_deleted(file->golden, i);
	return n;
}

/* The optional columns of a document, in their order; returns how many. */
static unsigned values_of(const struct file *file, const struct golden_doc *d, uint64_t *out)
{
	unsigned n = 0;

	if (file->golden->flags & GOLDEN_FP2)
		out[n++] = d->fp2;
	if (file->golden->flags & GOLDEN_TIMES)
		out[n++] = d->time;
	return n;
}

static unsigned n_values(const struct file *file)
{
	uint64_t unused[MAX_VALUES];

	return values_of(file, &docs[0], unused);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	for (unsigned i = 0; i < WANTED; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* Compare a table's entries with `n` expected ones, each a key and columns, in any order. */
static void compare_rows(const char *name, uint64_t (*want)[WANTED], unsigned n, unsigned n_cols)
{
	qsort(want, n, sizeof(*want), by_number);
	must(rows.n == n, "%s: %u entries, not %u", name, rows.n, n);
	for (unsigned i = 0; i < n; i++) {
		must(rows.key[i] == want[i][0], "%s: entry %u has key %016" PRIx64, name, i,
		     rows.key[i]);
		for (unsigned c = 0; c < n_cols; c++)
			must(rows.col[c][i] == want[i][1 + c], "%s: entry %u, column %u", name, i,
			     c);
	}
}

/* ------------------------------------------------------------------------------------------
 * Header and profile
 */

static uint64_t digest_of_docs(const struct file *file, int with_values)
{
	uint64_t sum = 0;

	for (unsigned i = 0; has_ids(file) && i < n_merged(file); i++) {
		uint64_t number[WANTED] = { docs[i].fp, docs[i].id };
		unsigned n = 2 + (with_values ? values_of(file, &docs[i], number + 2) : 0);

		sum += hash_numbers(number, n);
	}
	return sum;
}

/* Distinct merged fingerprints: their number and digest. */
static unsigned distinct(const struct file *file, uint64_t *digest)
{
	unsigned n = 0;

	*digest = 0;
	for (unsigned i = 0; i < n_merged(file); i++) {
		unsigned j = 0;

		while (docs[j].fp != docs[i].fp)
			j++;
		if (j < i)
			continue;
		*digest += hash_numbers(&docs[i].fp, 1);
		n++;
	}
	return n;
}

static void check_record(const unsigned char *b, const struct permutation *p, uint64_t entries,
			 uint64_t digest, const char *what)
{
	for (unsigned i = 0; i < 3; i++)
		must(le(b + 8 * i, 8) == (p ? p->lead[i] : 0), "header: lead %u of %s", i, what);
	must(le(b + 24, 8) == entries, "header: entries of %s", what);
	must(le(b + 32, 8) == digest, "header: digest of %s", what);
	/* Two merges, of one transaction a table each. */
	must(le(b + 40, 8) == (entries ? 2 : 0), "header: generation of %s", what);
}

static void check_counts(const struct file *file, const unsigned char *b)
{
	uint64_t labels = 0, notes = 0, next_id = 0;
	unsigned deleted = n_deleted(file);

	for (unsigned i = 0; i < n_docs(file); i++) {
		labels += docs[i].label_size && !golden_is_deleted(file->golden, i);
		notes += docs[i].note_size && !golden_is_deleted(file->golden, i);
		if (has_ids(file) && docs[i].id >= next_id)
			next_id = docs[i].id + 1;
	}
	must(le(b + 56, 8) == n_docs(file) - deleted, "header: documents");
	must(le(b + 64, 8) == labels, "header: labels");
	must(le(b + 144, 8) == notes, "header: notes");
	must(le(b + 72, 8) == next_id, "header: next id");
	must(le(b + 80, 8) == n_merged(file), "header: first sequence number");
	must(le(b + 88, 8) == n_docs(file) + deleted, "header: next sequence number");
	must(!le(b + 96, 8) && !le(b + 104, 8) && !le(b + 112, 8), "header: merged place or end");
	must(!le(b + 120, 8), "header: unknown second fingerprint");
	/* Its making, three or four commits of rows, and two merges of a transaction a table. */
	must(le(b + 128, 8) == 4 + (deleted > 0) + 2 * (file->n_tables + (has_ids(file) ? 3 : 1)),
	     "header: commit number");
}

#define TABLES_AT 248

/* Both are in the digest, and 0 where nothing is said. */
static void put_column(unsigned char *out, const char *name, unsigned width)
{
	memcpy(out, name, strlen(name));
	out[8] = (unsigned char)width;
	out[9] = 1;
}

static void check_header(struct file *file, const MDB_val *value)
{
	const struct golden *g = file->golden;
	const unsigned char *b = value->mv_data;
	unsigned char columns[96] = { 0 };
	char plan[16] = "";
	unsigned n, n_columns = 0;
	uint64_t digest;

	memcpy(plan, g->plan, strlen(g->plan));
	if (g->flags & GOLDEN_FP2)
		put_column(columns + 24 * n_columns++, "fp2", 8);
	if (g->flags & GOLDEN_TIMES)
		put_column(columns + 24 * n_columns++, "time", 4);
	file->n_tables = plan_tables(g->plan, g->bits, file->table);
	n = file->n_tables;
	must(value->mv_size == TABLES_AT + 48 * (n + 2) + 8, "header: %zu bytes", value->mv_size);
	must(!memcmp(b, "simidx\x1a\x0a", 8), "header: magic");
	must(le(b + 8, 2) == 0 && le(b + 10, 2) == 3, "header: version");
	must(!le(b + 12, 4) && !le(b + 16, 4) && !le(b + 20, 4), "header: features");
	must(le(b + 24, 4) == file->page_size, "header: page size");
	must(b[28] == g->bits && b[29] == g->is_rows && b[30] == g->fill && b[31] == n,
	     "header: f, layout, fill or tables");
	must(!memcmp(b + 32, plan, 16), "header: plan");
	must(le(b + 48, 4) == g->flags && !le(b + 52, 4), "header: flags or state");
	check_counts(file, b);
	must(b[136] == n_columns && !le(b + 137, 7), "header: number of columns");
	must(!memcmp(b + 152, columns, sizeof(columns)), "header: columns");
	for (unsigned t = 0; t < n; t++) {
		unsigned entries = distinct(file, &digest);

		check_record(b + TABLES_AT + 48 * t, &file->table[t], entries, digest, "a table");
	}
	for (unsigned i = 0; i < 2; i++)
		check_record(b + TABLES_AT + 48 * (n + i), NULL, has_ids(file) ? n_merged(file) : 0,
			     digest_of_docs(file, !i), i ? "docs" : "postings");
	must(le(b + value->mv_size - 8, 8) == hash(b, value->mv_size - 8), "header: checksum");
}

static void check_profile(const struct file *file, const MDB_val *value)
{
	const struct golden *g = file->golden;
	const unsigned char *b = value->mv_data;
	size_t length = strlen(g->profile), at = 8 + length;

	must(value->mv_size == 8 + length + 8 * g->n_check_fps + 8, "profile: %zu bytes",
	     value->mv_size);
	must(le(b, 4) == length && le(b + 4, 4) == g->n_check_fps, "profile: lengths");
	must(!memcmp(b + 8, g->profile, length), "profile: text");
	for (unsigned i = 0; i < g->n_check_fps; i++, at += 8)
		must(le(b + at, 8) == golden_check_fp(i), "profile: check fingerprint %u", i);
	must(le(b + at, 8) == hash(b, at), "profile: checksum");
}

static void check_meta(struct file *file, const char *name)
{
	MDB_dbi dbi = open_table(file, name);
	MDB_val key, value;
	MDB_stat stat;

	must(!mdb_stat(file->txn, dbi, &stat) && stat.ms_entries == 2, "%s: records", name);
	key.mv_data = (void *)(uintptr_t)"header";
	key.mv_size = 6;
	must(!mdb_get(file->txn, dbi, &key, &value), "%s: no header", name);
	check_header(file, &value);
	key.mv_data = (void *)(uintptr_t)"profile";
	key.mv_size = 7;
	must(!mdb_get(file->txn, dbi, &key, &value), "%s: no profile", name);
	check_profile(file, &value);
}

/* What never changes, as it was when the index was made: all else in the header is zero. */
static void check_basis(struct file *file)
{
	const struct golden *g = file->golden;
	MDB_dbi dbi = open_table(file, "basis"), meta = open_table(file, "meta");
	unsigned char want[2048] = { 0 };
	MDB_val key = { 6, (void *)(uintptr_t)"header" }, value, now;
	unsigned n = file->n_tables;
	MDB_stat stat;
	uint64_t sum;

	must(!mdb_stat(file->txn, dbi, &stat) && stat.ms_entries == 2, "basis: records");
	must(!mdb_get(file->txn, dbi, &key, &value), "basis: no header");
	must(!mdb_get(file->txn, meta, &key, &now), "meta: no header");
	must(value.mv_size == now.mv_size && value.mv_size <= sizeof(want), "basis: %zu bytes",
	     value.mv_size);
	/* Up to the flags, then the columns, then the leads of the tables of the plan. */
	memcpy(want, now.mv_data, 52);
	memcpy(want + 136, (unsigned char *)now.mv_data + 136, 8);
	memcpy(want + 152, (unsigned char *)now.mv_data + 152, TABLES_AT - 152);
	for (unsigned t = 0; t < n; t++)
		memcpy(want + TABLES_AT + 48 * t, (unsigned char *)now.mv_data + TABLES_AT + 48 * t,
		       24);
	must(le(want + 48, 4) == g->flags, "basis: flags");
	must(!memcmp(value.mv_data, want, value.mv_size - 8), "basis: header");
	sum = hash(want, value.mv_size - 8);
	must(le((unsigned char *)value.mv_data + value.mv_size - 8, 8) == sum, "basis: checksum");
	key = (MDB_val){ 7, (void *)(uintptr_t)"profile" };
	must(!mdb_get(file->txn, dbi, &key, &value), "basis: no profile");
	check_profile(file, &value);
}

/* ------------------------------------------------------------------------------------------
 * Tables
 */

static uint64_t want[MAX_ROWS][WANTED];

/* The numbers of tables, which checksums cover; the permuted ones have theirs from 1 on. */
enum { POSTINGS = 101, DOCS, FRESH };

/* Of postings, docs and fresh. */
static enum records with_checksum(const struct file *file)
{
	return file->golden->is_rows ? CHECKED_ROWS : BLOCKS;
}

static void check_permuted(const struct file *file)
{
	for (unsigned t = 0; t < file->n_tables; t++) {
		unsigned n = 0;
		char name[16];

		snprintf(name, sizeof(name), "t%02u", t + 1);
		read_table(file, name, t + 1, PERMUTED, &file->table[t], 0,
			   file->golden->is_rows ? ROWS : BLOCKS, &rows);
		for (unsigned i = 0; i < n_merged(file); i++) {
			unsigned j = 0;

			while (docs[j].fp != docs[i].fp)
				j++;
			if (j < i)
				continue;
			want[n][0] = permute(&file->table[t], docs[i].fp);
			memset(&want[n][1], 0, sizeof(want[n]) - sizeof(want[n][0]));
			n++;
		}
		compare_rows(name, want, n, 0);
	}
}

static void check_postings(const struct file *file)
{
	unsigned n_cols = 1 + n_values(file);

	read_table(file, "postings", POSTINGS, PAIRS, NULL, n_cols, with_checksum(file), &rows);
	for (unsigned i = 0; i < n_merged(file); i++) {
		want[i][0] = docs[i].fp;
		want[i][1] = docs[i].id;
		values_of(file, &docs[i], &want[i][2]);
	}
	compare_rows("postings", want, n_merged(file), n_cols);
}

static void check_docs(const struct file *file)
{
	read_table(file, "docs", DOCS, NUMBERS, NULL, 1, with_checksum(file), &rows);
	for (unsigned i = 0; i < n_merged(file); i++) {
		want[i][0] = docs[i].id;
		want[i][1] = docs[i].fp;
		memset(&want[i][2], 0, MAX_VALUES * sizeof(want[i][0]));
	}
	compare_rows("docs", want, n_merged(file), 1);
}

/* Row number i of fresh says what happened to a document. */
static void check_fresh_row(const struct file *file, unsigned i, unsigned operation,
			    const struct golden_doc *d)
{
	uint64_t value[MAX_VALUES];
	unsigned n = values_of(file, d, value);

	must(rows.key[i] == n_merged(file) + i, "fresh: sequence number of row %u", i);
	must(rows.col[0][i] == operation + (d->label_size ? 16 : 0) + (d->note_size ? 32 : 0) &&
		     rows.col[1][i] == d->id &&
		     rows.col[2][i] == d->fp &&
		     rows.col[3][i] == (d->label_size ? hash(d->label, d->label_size) : 0) &&
		     (n < 1 || rows.col[4][i] == value[0]) && (n < 2 || rows.col[5][i] == value[1]),
	     "fresh: row %u", i);
}

static void check_fresh(const struct file *file)
{
	unsigned added = n_docs(file) - n_merged(file), n = added + n_deleted(file), row = added;

	read_table(file, "fresh", FRESH, NUMBERS, NULL, 4 + n_values(file), with_checksum(file),
		   &rows);
	must(rows.n == n, "fresh: %u rows, not %u", rows.n, n);
	for (unsigned i = 0; i < added; i++)
		check_fresh_row(file, i, 1, &docs[n_merged(file) + i]);
	for (unsigned i = 0; i < n_docs(file); i++)
		if (golden_is_deleted(file->golden, i))
			check_fresh_row(file, row++, 2, &docs[i]);
}

static MDB_val value_of(const struct file *file, MDB_dbi dbi, uint64_t id)
{
	unsigned char bytes[8];
	MDB_val key = { 8, bytes }, value;

	for (unsigned b = 0; b < 8; b++)
		bytes[b] = (unsigned char)(id >> (56 - 8 * b));
	if (mdb_get(file->txn, dbi, &key, &value))
		value.mv_size = 0;
	return value;
}

/* Those of deleted documents are there until the merge, and so are notes. */
static void check_labels(const struct file *file)
{
	MDB_dbi dbi = open_table(file, "labels");
	unsigned n = 0, merged = 0;
	MDB_stat stat;

	for (unsigned i = 0; i < n_docs(file); i++) {
		MDB_val value = value_of(file, dbi, docs[i].id);

		must(value.mv_size == docs[i].label_size &&
			     (!value.mv_size ||
			      !memcmp(value.mv_data, docs[i].label, value.mv_size)),
		     "labels: document %u", i);
		n += docs[i].label_size != 0;
	}
	must(!mdb_stat(file->txn, dbi, &stat) && stat.ms_entries == n, "labels: number");
	/* Always in rows, and fresh ones are not in it yet. */
	read_table(file, "by_label", 0, PAIRS, NULL, 1, ROWS, &rows);
	for (unsigned i = 0; i < n_merged(file); i++) {
		if (!docs[i].label_size)
			continue;
		want[merged][0] = hash(docs[i].label, docs[i].label_size);
		want[merged][1] = docs[i].id;
		want[merged][2] = 0;
		merged++;
	}
	compare_rows("by_label", want, merged, 1);
}

static void check_notes(const struct file *file)
{
	MDB_dbi dbi = open_table(file, "notes");
	unsigned n = 0;
	MDB_stat stat;

	for (unsigned i = 0; i < n_docs(file); i++) {
		const struct golden_doc *d = &docs[i];
		MDB_val value = value_of(file, dbi, d->id);
		const unsigned char *bytes = value.mv_data;
		uint64_t number[2] = { hash(d->note, d->note_size), d->id };

		must(value.mv_size == (d->note_size ? d->note_size + 4 : 0), "notes: document %u",
		     i);
		if (!d->note_size)
			continue;
		must(!memcmp(bytes, d->note, d->note_size), "notes: bytes of document %u", i);
		must(le(bytes + d->note_size, 4) == (uint32_t)hash_numbers(number, 2),
		     "notes: checksum of document %u", i);
		n++;
	}
	must(!mdb_stat(file->txn, dbi, &stat) && stat.ms_entries == n, "notes: number");
}

/* No sub-databases but those that the description lists. */
static void check_names(const struct file *file)
{
	MDB_dbi dbi = open_table(file, NULL);
	MDB_stat stat;

	must(!mdb_stat(file->txn, dbi, &stat), "names");
	must(stat.ms_entries == file->n_tables + (has_ids(file) ? 8 : 4) +
					(file->golden->flags & GOLDEN_NOTES ? 1 : 0),
	     "%zu sub-databases", stat.ms_entries);
}

static void decode(const struct golden *g, const char *dir)
{
	struct file file = { .golden = g };
	char path[4096];
	MDB_stat stat;

	must((size_t)snprintf(path, sizeof(path), "%s/%s", dir, g->name) < sizeof(path), "path");
	doing = g->name;
	for (unsigned i = 0; i < g->part[2]; i++)
		golden_doc(g, i, &docs[i]);
	must(!mdb_env_create(&file.env) && !mdb_env_set_maxdbs(file.env, 64), "LMDB");
	must(!mdb_env_open(file.env, path, MDB_RDONLY | MDB_NOLOCK, 0), "cannot open %s", path);
	must(!mdb_env_stat(file.env, &stat), "stat");
	file.page_size = stat.ms_psize;
	must(!mdb_txn_begin(file.env, NULL, MDB_RDONLY, &file.txn), "transaction");
	check_meta(&file, "meta");
	check_meta(&file, "meta2");
	check_basis(&file);
	check_names(&file);
	check_permuted(&file);
	check_fresh(&file);
	if (has_ids(&file)) {
		check_postings(&file);
		check_docs(&file);
		check_labels(&file);
	}
	if (g->flags & GOLDEN_NOTES)
		check_notes(&file);
	mdb_txn_abort(file.txn);
	mdb_env_close(file.env);
	printf("%s: %u documents decoded\n", g->name, n_docs(&file));
}

int main(int argc, char **argv)
{
	const char *source = getenv("SX_SRCDIR");
	const union {
		uint16_t number;
		unsigned char byte;
	} order = { 1 };
	char dir[4096];

	if (sysconf(_SC_PAGESIZE) != 4096 || !order.byte || sizeof(size_t) != 8)
		return 77;
	snprintf(dir, sizeof(dir), "%s/tests/format/golden", source ? source : ".");
	for (size_t i = 0; i < N_GOLDENS; i++)
		decode(&goldens[i], argc > 1 ? argv[1] : dir);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * doc/format.md, "Tables".
 */

#include "decode.h"

/* A table while it is read. */
struct reading {
	const struct file *file;
	const char *name;
	unsigned number;
	enum keys keys;
	const struct permutation *p;
	unsigned n_cols;
	enum records records;
	struct rows *rows;
};

MDB_dbi open_table(const struct file *file, const char *name)
{
	unsigned flags = 1;
	MDB_dbi dbi;

	must(!mdb_dbi_open(file->txn, name, 0, &dbi), "%s: there is no such table", name);
	must(!mdb_dbi_flags(file->txn, dbi, &flags) && !flags, "%s: has flags", name);
	return dbi;
}

/* The place in the order that an LMDB key stands for: key, and column 0 of pairs. */
static void parse_key(const struct reading *r, const MDB_val *key, uint64_t *place)
{
	const unsigned char *bytes = key->mv_data;
	unsigned width = 0;

	place[1] = 0;
	if (r->keys == PERMUTED) {
		uint64_t fp;

		width = r->p->prefix_bits <= 16 ? 2 : 4;
		must(key->mv_size == width + 8, "%s: key of %zu bytes", r->name, key->mv_size);
		fp = be(bytes + width, 8);
		place[0] = permute(r->p, fp);
		must(be(bytes, width) == place[0] >> (r->p->f - r->p->prefix_bits)
						 << (8 * width - r->p->prefix_bits),
		     "%s: prefix %" PRIx64 " before %016" PRIx64, r->name, be(bytes, width), fp);
		return;
	}
	must(key->mv_size == (r->keys == PAIRS ? 16 : 8), "%s: key of %zu bytes", r->name,
	     key->mv_size);
	place[0] = be(bytes, 8);
	if (r->keys == PAIRS)
		place[1] = be(bytes + 8, 8);
}

static int compare(uint64_t a0, uint64_t a1, uint64_t b0, uint64_t b1)
{
	if (a0 != b0)
		return a0 < b0 ? -1 : 1;
	return a1 < b1 ? -1 : a1 > b1;
}

/* Column 0 where it is part of the order. */
static uint64_t second(const struct reading *r, unsigned i)
{
	return r->keys == PAIRS ? r->rows->col[0][i] : 0;
}

/* Bytes that n keys take with w low bytes, by the description; SIZE_MAX: not possible. */
static size_t key_bytes(const uint64_t *key, unsigned n, unsigned w, unsigned *words)
{
	uint64_t first = w == 8 ? 0 : key[0] >> 8 * w, last = w == 8 ? 0 : key[n - 1] >> 8 * w;

	if (last - first > 1 << 20)
		return SIZE_MAX;
	*words = (unsigned)((n - 1 + (last - first)) / 64 + 1);
	return (size_t)n * w + 8 * (size_t)*words;
}

/* w is the least of those that make the block smallest, and W the least for it. */
static void check_shape(const struct reading *r, const uint64_t *key, unsigned n, unsigned w,
			unsigned words)
{
	unsigned best = 8, best_words = 0, tried = 0;
	size_t least = key_bytes(key, n, 8, &best_words);

	for (unsigned i = 8; i-- > 0;) {
		size_t bytes = key_bytes(key, n, i, &tried);

		if (bytes > least || bytes == SIZE_MAX || (bytes == least && best == 8))
			continue;
		least = bytes;
		best = i;
		best_words = tried;
	}
	must(w == best && words == best_words, "%s: w = %u and W = %u instead of %u and %u",
	     r->name, w, words, best, best_words);
}

/* The keys of a block: returns the number of bytes behind which the columns begin. */
static size_t parse_keys(const struct reading *r, const unsigned char *b, unsigned n)
{
	unsigned shape = (unsigned)le(b + 4, 4), w = shape & 15, words = shape >> 18, i = 0;
	uint64_t *key = r->rows->key + r->rows->n;
	uint64_t base = le(b + 8, 8);
	const unsigned char *low = b + 16, *bitmap = low + (size_t)n * w;

	must(w <= 8 && n && 16 + (size_t)n * w + 8 * (size_t)words <= r->file->page_size - 16,
	     "%s: impossible shape", r->name);
	for (unsigned p = 0; p < 64 * words; p++) {
		if (!(le(bitmap + p / 64 * 8, 8) >> p % 64 & 1))
			continue;
		must(i < n, "%s: more than %u bits are set", r->name, n);
		key[i] = le(low + (size_t)i * w, w);
		if (w < 8)
			key[i] |= (base + p - i) << 8 * w;
		i++;
	}
	must(i == n, "%s: %u bits are set for %u entries", r->name, i, n);
	must(base == (w == 8 ? 0 : key[0] >> 8 * w), "%s: base is not the first high part",
	     r->name);
	check_shape(r, key, n, w, words);
	return (size_t)(bitmap - b) + 8 * (size_t)words;
}

static void parse_block(const struct reading *r, const MDB_val *value)
{
	const unsigned char *b = value->mv_data;
	size_t size = r->file->page_size - 16, at;
	unsigned n;

	must(value->mv_size == size, "%s: block of %zu bytes", r->name, value->mv_size);
	must(le(b, 4) == ((r->number + hash(b + 4, size - 4)) & 0xffffffff), "%s: checksum",
	     r->name);
	n = (unsigned)le(b + 4, 4) >> 4 & 0x3fff;
	must(r->rows->n + n <= MAX_ROWS, "%s: too many entries", r->name);
	at = parse_keys(r, b, n);
	for (unsigned c = 0; c < r->n_cols; c++) {
		uint64_t minimum, least = UINT64_MAX, most = 0;
		uint64_t *col = r->rows->col[c] + r->rows->n;
		unsigned v;

		must(at + 9 <= size, "%s: no room for column %u", r->name, c);
		minimum = le(b + at, 8);
		v = b[at + 8];
		at += 9;
		must(v <= 8 && at + (size_t)n * v <= size, "%s: column %u is too long", r->name, c);
		for (unsigned i = 0; i < n; i++) {
			col[i] = minimum + le(b + at + (size_t)i * v, v);
			least = col[i] < least ? col[i] : least;
			most = col[i] > most ? col[i] : most;
		}
		must(least == minimum, "%s: minimum of column %u", r->name, c);
		must((v == 8 || (most - least) >> 8 * v == 0) &&
			     (!v || (most - least) >> 8 * (v - 1)),
		     "%s: width of column %u", r->name, c);
		at += (size_t)n * v;
	}
	for (; at < size; at++)
		must(!b[at], "%s: padding is not zero", r->name);
	r->rows->n += n;
}

/* The 4 bytes after the columns: of the key and the columns. */
static void check_row(const struct reading *r, const MDB_val *key, const MDB_val *value)
{
	size_t columns = value->mv_size - 4;
	unsigned char bytes[16 + 8 * MAX_COLS];

	memcpy(bytes, key->mv_data, key->mv_size);
	memcpy(bytes + key->mv_size, value->mv_data, columns);
	must(le((const unsigned char *)value->mv_data + columns, 4) ==
		     ((r->number + hash(bytes, key->mv_size + columns)) & 0xffffffff),
	     "%s: checksum of entry %u", r->name, r->rows->n);
}

static void parse_row(const struct reading *r, const uint64_t *place, const MDB_val *key,
		      const MDB_val *value)
{
	const unsigned char *bytes = value->mv_data;
	unsigned in_key = r->keys == PAIRS, n = r->rows->n;

	must(n < MAX_ROWS, "%s: too many entries", r->name);
	must(value->mv_size == 8 * (r->n_cols - in_key) + (r->records == CHECKED_ROWS ? 4 : 0),
	     "%s: value of %zu bytes", r->name, value->mv_size);
	if (r->records == CHECKED_ROWS)
		check_row(r, key, value);
	r->rows->key[n] = place[0];
	if (in_key)
		r->rows->col[0][n] = place[1];
	for (unsigned c = in_key; c < r->n_cols; c++)
		r->rows->col[c][n] = le(bytes + 8 * (c - in_key), 8);
	r->rows->n++;
}

void read_table(const struct file *file, const char *name, unsigned number, enum keys keys,
		const struct permutation *p, unsigned n_cols, enum records records,
		struct rows *rows)
{
	struct reading r = { file, name, number, keys, p, n_cols, records, rows };
	MDB_dbi dbi = open_table(file, name);
	MDB_val key, value;
	MDB_cursor *cursor;
	MDB_stat stat;

	rows->n = 0;
	must(!mdb_cursor_open(file->txn, dbi, &cursor), "%s: cursor", name);
	while (!mdb_cursor_get(cursor, &key, &value, MDB_NEXT)) {
		unsigned from = rows->n;
		uint64_t place[2];

		parse_key(&r, &key, place);
		if (records == BLOCKS)
			parse_block(&r, &value);
		else
			parse_row(&r, place, &key, &value);
		for (unsigned i = from ? from : 1; i < rows->n; i++)
			must(compare(rows->key[i - 1], second(&r, i - 1), rows->key[i],
				     second(&r, i)) < 0,
			     "%s: entry %u is out of order", name, i);
		must(compare(rows->key[rows->n - 1], second(&r, rows->n - 1), place[0],
			     place[1]) <= 0,
		     "%s: an entry lies behind its key", name);
	}
	mdb_cursor_close(cursor);
	must(!mdb_stat(file->txn, dbi, &stat), "%s: stat", name);
	must(records != BLOCKS || stat.ms_overflow_pages == stat.ms_entries,
	     "%s: a block is not one overflow page", name);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_table.h"

const sx_columns t_all_columns = { 2, { SX_FP2, SX_TIME } };

/* ------------------------------------------------------------------------------------------
 * The store
 */

static void begin(struct t_tab *tab)
{
	ck_assert_sx(sx_store_lock(tab->store, -1, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_txn_begin_write(tab->store, 1, &tab->txn, &sxt_err), SIMIDX_OK);
}

void t_tab_open(struct t_tab *tab, const struct t_kind *kind, unsigned layout, unsigned fill)
{
	sx_store_options options = { .map_size = (uint64_t)1 << 30 };

	memset(tab, 0, sizeof(*tab));
	tab->dir = sxt_dir_make();
	ck_assert_sx(sx_store_create(tab->dir, &options, &tab->store, &sxt_err), SIMIDX_OK);
	begin(tab);
	strcpy(tab->table.name, "table");
	ck_assert_sx(sx_dbi_open(tab->txn, "table", 1, &tab->table.dbi, &sxt_err),
		     SIMIDX_OK);
	tab->table.kind = kind->kind;
	tab->table.layout = layout;
	tab->table.n_cols = kind->n_cols + (kind->columns ? kind->columns->n : 0);
	tab->table.columns = kind->columns;
	tab->table.values_at = kind->n_cols;
	tab->table.number = T_NUMBER;
	tab->table.fill = fill;
	tab->table.block_size = sx_store_block_size(tab->store);
	tab->table.checks_rows = kind->kind != SX_TABLE_PERMUTED;
	if (kind->kind == SX_TABLE_PERMUTED) {
		ck_assert_sx(sx_plan_make(&tab->plan, kind->plan, kind->bits, &sxt_err),
			     SIMIDX_OK);
		ck_assert_uint_lt(kind->number, tab->plan.n_tables);
		tab->table.perm = &tab->plan.table[kind->number];
	}
}

void t_tab_commit(struct t_tab *tab)
{
	ck_assert_sx(sx_txn_commit(tab->txn, &sxt_err), SIMIDX_OK);
	sx_store_unlock(tab->store);
	begin(tab);
}

void t_tab_abort(struct t_tab *tab)
{
	sx_txn_abort(tab->txn);
	sx_store_unlock(tab->store);
	begin(tab);
}

void t_tab_close(struct t_tab *tab)
{
	sx_txn_abort(tab->txn);
	sx_store_unlock(tab->store);
	sx_store_close(tab->store);
	sxt_remove(tab->dir);
	free(tab->dir);
	t_rows_free(&tab->model);
}

/* ------------------------------------------------------------------------------------------
 * Rows
 */

uint64_t t_permute(const sx_perm *perm, uint64_t fp)
{
	uint64_t value = 0, rest = 0;
	unsigned lead, bit, n_rest = 0;

	for (lead = 0; lead < perm->n_leads; lead++)
		for (bit = 64; bit-- > 0;)
			if (perm->lead[lead] >> bit & 1)
				value = value << 1 | (fp >> bit & 1);
	for (bit = perm->bits; bit-- > 0;) {
		int leads = 0;

		for (lead = 0; lead < perm->n_leads; lead++)
			leads |= perm->lead[lead] >> bit & 1;
		if (!leads) {
			rest = rest << 1 | (fp >> bit & 1);
			n_rest++;
		}
	}
	return value << n_rest | rest;
}

int t_row_cmp(const struct t_row *a, const struct t_row *b)
{
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	return (a->ord > b->ord) - (a->ord < b->ord);
}

static int compare(const void *a, const void *b)
{
	return t_row_cmp(a, b);
}

static void push(struct t_rows *rows, const struct t_row *row)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap ? 2 * rows->cap : 64;
		rows->at = realloc(rows->at, rows->cap * sizeof(*rows->at));
		sxt_must(rows->at);
	}
	rows->at[rows->n++] = *row;
}

void t_rows_add(const struct t_tab *tab, struct t_rows *rows, uint64_t key,
		const uint64_t *cols, int remove)
{
	struct t_row row = { .key = key, .fp = key, .remove = remove };
	unsigned c;

	if (tab->table.kind == SX_TABLE_PERMUTED)
		row.key = t_permute(tab->table.perm, key);
	for (c = 0; c < tab->table.n_cols; c++)
		row.col[c] = cols[c];
	if (tab->table.kind == SX_TABLE_PAIRS)
		row.ord = cols[0];
	push(rows, &row);
}

void t_rows_sort(struct t_rows *rows)
{
	size_t i, kept = 0;

	if (rows->n)
		qsort(rows->at, rows->n, sizeof(*rows->at), compare);
	for (i = 0; i < rows->n; i++)
		if (!kept || t_row_cmp(&rows->at[kept - 1], &rows->at[i]))
			rows->at[kept++] = rows->at[i];
	rows->n = kept;
}

void t_rows_free(struct t_rows *rows)
{
	free(rows->at);
	memset(rows, 0, sizeof(*rows));
}

static void put_le64(unsigned char *p, uint64_t x)
{
	unsigned i;

	for (i = 0; i < 8; i++)
		p[i] = (unsigned char)(x >> (8 * i));
}

static void put_be(unsigned char *p, uint64_t x, unsigned n)
{
	while (n--) {
		p[n] = (unsigned char)x;
		x >>= 8;
	}
}

uint64_t t_row_hash(const struct t_tab *tab, const struct t_row *row)
{
	unsigned char bytes[8 * (1 + SX_MAX_COLS)];

	if (tab->table.kind == SX_TABLE_PERMUTED) {
		put_le64(bytes, row->fp);
		return sx_hash(bytes, 8);
	}
	/* The fingerprint, then the id: for numbers, whose key is the id, it is column 0. */
	put_le64(bytes, tab->table.kind == SX_TABLE_PAIRS ? row->key : row->col[0]);
	put_le64(bytes + 8, tab->table.kind == SX_TABLE_PAIRS ? row->col[0] : row->key);
	for (unsigned c = 1; c < tab->table.n_cols; c++)
		put_le64(bytes + 8 + 8 * c, row->col[c]);
	return sx_hash(bytes, tab->table.columns ? 8 * (1 + tab->table.n_cols) : 16);
}

size_t t_row_key(const struct t_tab *tab, const struct t_row *row, unsigned char *out)
{
	const sx_perm *perm = tab->table.perm;
	unsigned bits = 0, lead, bytes;

	switch (tab->table.kind) {
	case SX_TABLE_PERMUTED:
		for (lead = 0; lead < perm->n_leads; lead++)
			bits += (unsigned)__builtin_popcountll(perm->lead[lead]);
		bytes = bits <= 16 ? 2 : 4;
		put_be(out, row->key >> (perm->bits - bits) << (8 * bytes - bits), bytes);
		put_be(out + bytes, row->fp, 8);
		return bytes + 8;
	case SX_TABLE_PAIRS:
		put_be(out, row->key, 8);
		put_be(out + 8, row->col[0], 8);
		return 16;
	default:
		put_be(out, row->key, 8);
		return 8;
	}
}

/* ------------------------------------------------------------------------------------------
 * Merging
 */

/* What the delta of these changes must be; the model becomes what it is afterwards. */
static int64_t model_merge(struct t_tab *tab, const struct t_rows *changes, uint64_t *digest)
{
	struct t_rows made = { 0 };
	const struct t_rows *old = &tab->model;
	size_t i = 0, c = 0;
	int64_t rows;

	*digest = 0;
	while (i < old->n || c < changes->n) {
		int cmp = i == old->n ? 1
			  : c == changes->n ? -1
					    : t_row_cmp(&old->at[i], &changes->at[c]);

		if (cmp < 0) {
			push(&made, &old->at[i++]);
		} else if (cmp > 0) {
			if (!changes->at[c].remove) {
				push(&made, &changes->at[c]);
				*digest += t_row_hash(tab, &changes->at[c]);
			}
			c++;
		} else {
			*digest -= t_row_hash(tab, &old->at[i]);
			if (!changes->at[c].remove) {
				push(&made, &changes->at[c]);
				*digest += t_row_hash(tab, &changes->at[c]);
			}
			i++;
			c++;
		}
	}
	rows = (int64_t)made.n - (int64_t)old->n;
	t_rows_free(&tab->model);
	tab->model = made;
	return rows;
}

void t_changes(const struct t_tab *tab, const struct t_rows *changes, sx_rows *rows,
	       unsigned char **remove)
{
	size_t i;

	sx_rows_init(rows, tab->table.n_cols);
	*remove = calloc(changes->n + 1, 1);
	for (i = 0; i < changes->n; i++) {
		sxt_must(!sx_rows_push(rows, changes->at[i].key, changes->at[i].col));
		(*remove)[i] = changes->at[i].remove ? 7 : 0; /* any nonzero value */
	}
}

static int all_added(const struct t_rows *changes)
{
	size_t i;

	for (i = 0; i < changes->n; i++)
		if (changes->at[i].remove)
			return 0;
	return 1;
}

void t_merge(struct t_tab *tab, struct t_rows *changes, uint64_t max_written)
{
	uint64_t digest = 0, want_digest;
	int64_t rows = 0, want_rows;
	unsigned char *remove;
	sx_changes list;
	sx_delta delta;
	sx_rows made;
	size_t done = 0, before;
	unsigned pieces = 0;

	t_changes(tab, changes, &made, &remove);
	list.rows = &made;
	list.remove = all_added(changes) ? NULL : remove;
	want_rows = model_merge(tab, changes, &want_digest);
	do {
		before = done;
		ck_assert_sx(sx_table_merge(tab->txn, &tab->table, &list, &done,
					    max_written ? max_written : UINT64_MAX, &delta,
					    &sxt_err),
			     SIMIDX_OK);
		ck_assert(done > before || !changes->n);
		rows += delta.rows;
		digest += delta.digest;
		if (!max_written)
			ck_assert_uint_eq(done, changes->n);
		else if (pieces++ < 5) /* each waits for the disk */
			t_tab_commit(tab);
	} while (done < changes->n);
	ck_assert_int_eq(rows, want_rows);
	ck_assert_uint_eq(digest, want_digest);
	tab->rows += rows;
	tab->digest += digest;
	sx_rows_free(&made);
	free(remove);
}

void t_add_uniform(const struct t_tab *tab, sxt_rng *rng, struct t_rows *list, size_t n)
{
	uint64_t id[1];

	while (n--) {
		id[0] = sxt_rng_below(rng, 1u << 24);
		t_rows_add(tab, list, sxt_rng_u64(rng), id, 0);
	}
	t_rows_sort(list);
}

void t_record(struct t_tab *tab, size_t i, unsigned char *key_bytes, sx_slice *key,
	      unsigned char *bytes, sx_slice *value)
{
	sx_cursor *cursor;
	int rc;

	ck_assert_sx(sx_cursor_open(tab->txn, tab->table.dbi, &cursor, &sxt_err), SIMIDX_OK);
	rc = sx_cursor_first(cursor, key, value, &sxt_err);
	while (!rc && i--)
		rc = sx_cursor_next(cursor, key, value, &sxt_err);
	ck_assert_int_eq(rc, SIMIDX_OK);
	memcpy(key_bytes, key->data, key->size);
	memcpy(bytes, value->data, value->size);
	key->data = key_bytes;
	value->data = bytes;
	sx_cursor_close(cursor);
}

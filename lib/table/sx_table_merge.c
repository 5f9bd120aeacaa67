/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Merging sorted changes into a block table. Each block that changes touch is decoded, merged
 * and written again. One that no longer fits is filled to the fill factor and the rest carried
 * into the next block, if changes touch that one too; otherwise it is split evenly, because
 * carrying into an untouched neighbour that is filled alike would never end. One that has
 * become small joins a neighbour, so that any two neighbours fill more than half of a block,
 * whatever was added and removed. A last remainder keeps the old block's key as its fence.
 */

#include <string.h>

#include "table/sx_table_merge.h"
#include "util/sx_err.h"

#define JOIN_PERCENT 75        /* two neighbours that together fit in this become one */
#define CHANGES_A_ROUND 65536  /* merged into one block at once: bounds the memory */

struct merge {
	sx_txn *txn;
	const sx_table *table;
	const sx_changes *changes;
	uint64_t max_written;
	size_t at; /* first change that is not merged yet */
	sx_cursor *cursor;
	sx_rows old;   /* the block as it was */
	sx_rows work;  /* it with its changes, after what was carried into it */
	sx_rows carry; /* what goes into the next block */
	unsigned char *value;
	sx_delta *delta;
	simidx_error *err;
	/* the block that is being merged */
	unsigned char key[SX_TABLE_MAX_KEY];
	size_t key_size; /* 0: there is none, all goes after the last one */
	sx_sort_key fence; /* the place of its key; of the last one that there was, after a carry */
	int open_end;    /* it is the last one, and takes all that follows */
	int cut;         /* more changes belong to it than one round takes */
	/* the one after it */
	int has_next;
	sx_sort_key next_fence;
	size_t next_used;
};

static sx_sort_key change_place(const struct merge *m, size_t i)
{
	return sx_sort_key_of(m->table, m->changes->rows, i);
}

/* Look at the block after that of the cursor. */
static int peek_next(struct merge *m)
{
	sx_slice key, value;
	sx_block block;
	const char *wrong;
	int rc = sx_cursor_next(m->cursor, &key, &value, m->err);

	m->has_next = 0;
	if (rc)
		return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
	wrong = sx_block_open(&block, value.data, value.size, m->table->n_cols);
	if (!wrong && sx_table_sort_key(m->table, key, &m->next_fence))
		wrong = "its key is not one of this table's";
	if (wrong)
		return sx_table_damaged(m->table, key, wrong, m->err);
	m->has_next = 1;
	m->next_used = block.used;
	return SIMIDX_OK;
}

/*
 * Take the block that the cursor found for a place as the one to merge. Nothing of it is used
 * before it is known to be sound and to stand where it should: what is written from it gets a
 * checksum of its own, and would hide the damage for ever.
 */
static int load_block(struct merge *m, sx_slice key, sx_slice value, sx_sort_key place)
{
	/* of the block that was carried into this one, key and all */
	sx_sort_key before = m->fence;
	int has_before = 1, rc;

	m->old.n = 0;
	if (key.size > sizeof(m->key))
		return sx_table_damaged(m->table, key, "its key is too long", m->err);
	memcpy(m->key, key.data, key.size);
	m->key_size = key.size;
	rc = sx_table_block_decode(m->table, key, value, &m->old, NULL, m->err);
	if (!rc && !m->carry.n)
		rc = sx_table_place_before(m->table, m->cursor, &has_before, &before, m->err);
	if (!rc)
		rc = sx_table_check_order(m->table, (sx_slice){ m->key, m->key_size }, &m->old,
					  has_before ? &before : NULL, &m->fence, m->err);
	/* A tree of keys that are out of order leads to a wrong block. */
	if (!rc && m->open_end != (sx_sort_key_cmp(place, m->fence) > 0))
		return sx_table_damaged(m->table, (sx_slice){ m->key, m->key_size },
					"its key is out of order", m->err);
	if (!rc && has_before && !m->carry.n && sx_sort_key_cmp(place, before) <= 0)
		return sx_table_damaged(m->table, (sx_slice){ m->key, m->key_size },
					"the key before it is out of order", m->err);
	return rc;
}

/*
 * Find the block for the next change, or the one after a carry. After the last block's key,
 * the last block itself is taken and stays open at its end.
 */
static int find_block(struct merge *m)
{
	sx_sort_key from = m->carry.n ? sx_sort_key_of(m->table, &m->carry, m->carry.n - 1)
				   : change_place(m, m->at);
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice key = { bytes, sx_table_key(m->table, from, bytes) };
	sx_slice value;
	int rc = sx_cursor_seek(m->cursor, key, &key, &value, m->err);

	m->key_size = 0;
	m->old.n = 0;
	m->has_next = 0;
	m->open_end = rc == SIMIDX_E_END;
	if (m->open_end && !m->carry.n)
		rc = sx_cursor_last(m->cursor, &key, &value, m->err);
	if (rc == SIMIDX_E_END)
		return SIMIDX_OK;
	if (!rc)
		rc = load_block(m, key, value, from);
	if (!rc && !m->open_end)
		rc = peek_next(m);
	return rc;
}

static int take(struct merge *m, const sx_rows *rows, size_t from, size_t n)
{
	return sx_rows_append(&m->work, rows, from, n) ? sx_fail_nomem(m->err) : SIMIDX_OK;
}

static int same_columns(const sx_rows *a, size_t i, const sx_rows *b, size_t k)
{
	for (unsigned c = 0; c < a->n_cols; c++)
		if (a->col[c][i] != b->col[c][k])
			return 0;
	return 1;
}

/*
 * Make one change; it is about row number `old` of the block, if that is `present`.
 * *replaced is set if that row is not to stay.
 */
static int apply_change(struct merge *m, size_t change, int present, size_t old, int *replaced)
{
	const sx_rows *rows = m->changes->rows;
	int remove = m->changes->remove && m->changes->remove[change] != 0;

	*replaced = 0;
	if (remove ? !present : present && same_columns(rows, change, &m->old, old))
		return SIMIDX_OK;
	if (present)
		m->delta->digest -= sx_table_row_hash(m->table, &m->old, old);
	*replaced = present;
	m->delta->rows += !remove - present;
	if (remove)
		return SIMIDX_OK;
	m->delta->digest += sx_table_row_hash(m->table, rows, change);
	return take(m, rows, change, 1);
}

/* work = carry, then the old rows with the changes up to the block's fence. */
static int merge_rows(struct merge *m)
{
	const sx_table *table = m->table;
	size_t n = m->changes->rows->n;
	size_t i = 0, end = m->at + CHANGES_A_ROUND;
	int rc;

	m->work.n = 0;
	m->cut = 0;
	rc = take(m, &m->carry, 0, m->carry.n);
	m->carry.n = 0;
	for (; !rc && m->at < n; m->at++) {
		sx_sort_key place = change_place(m, m->at);
		size_t same = i;
		int present, replaced = 0;

		if (!m->open_end && sx_sort_key_cmp(place, m->fence) > 0)
			break;
		m->cut = m->at == end;
		if (m->cut)
			break;
		while (same < m->old.n && m->old.key[same] < place.key)
			same++;
		while (same < m->old.n &&
		       sx_sort_key_cmp(sx_sort_key_of(table, &m->old, same), place) < 0)
			same++;
		rc = take(m, &m->old, i, same - i);
		i = same;
		present = i < m->old.n &&
			  !sx_sort_key_cmp(sx_sort_key_of(table, &m->old, i), place);
		if (!rc)
			rc = apply_change(m, m->at, present, i, &replaced);
		i += (size_t)replaced;
	}
	return rc ? rc : take(m, &m->old, i, m->old.n - i);
}

static int put_block(struct merge *m, size_t from, size_t n, sx_slice key)
{
	sx_slice value = { m->value, m->table->block_size };

	if (sx_block_encode(&m->work, from, n, m->table->number, m->value, m->table->block_size))
		return sx_table_damaged(m->table, key, "its entries are out of order", m->err);
	m->delta->written++;
	return sx_dbi_put(m->txn, m->table->dbi, key, value, m->err);
}

/* Write rows of work under the key of the last of them. */
static int put_own_key(struct merge *m, size_t from, size_t n)
{
	unsigned char bytes[SX_TABLE_MAX_KEY];
	sx_slice key = { bytes, 0 };

	key.size = sx_table_key(m->table, sx_sort_key_of(m->table, &m->work, from + n - 1), bytes);
	/* The old block's key goes away unless one of the new blocks ends exactly there. */
	if (key.size == m->key_size && !memcmp(bytes, m->key, key.size))
		m->key_size = 0;
	return put_block(m, from, n, key);
}

static int drop_old_key(struct merge *m)
{
	sx_slice key = { m->key, m->key_size };
	int rc;

	if (!m->key_size)
		return SIMIDX_OK;
	m->key_size = 0;
	m->delta->written++;
	rc = sx_dbi_del(m->txn, m->table->dbi, key, m->err);
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
}

/* Whether changes touch the block after this one anyway. */
static int next_is_touched(const struct merge *m)
{
	return m->has_next && m->at < m->changes->rows->n &&
	       sx_sort_key_cmp(change_place(m, m->at), m->next_fence) <= 0;
}

/*
 * Whether the next block is going to be written in this transaction anyway, so that it pays to fill
 * it up. Near the end of a transaction it does not: where every block is touched, carrying would
 * never end.
 */
static int is_rewritten(const struct merge *m)
{
	return m->delta->written < m->max_written && next_is_touched(m);
}

/*
 * Read the block before this one, if it and `bytes` are little enough for one block. *key_size, of
 * the SX_TABLE_MAX_KEY bytes of its key, is 0 otherwise.
 */
static int read_before(struct merge *m, size_t bytes, unsigned char *key_bytes, size_t *key_size,
		       sx_rows *rows)
{
	size_t most = m->table->block_size * JOIN_PERCENT / 100;
	sx_slice own = { m->key, m->key_size }, key, value;
	sx_block block;
	int rc;

	*key_size = 0;
	if (bytes >= most)
		return SIMIDX_OK;
	rc = sx_cursor_seek(m->cursor, own, &key, &value, m->err);
	if (!rc)
		rc = sx_cursor_prev(m->cursor, &key, &value, m->err);
	if (rc)
		return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
	if (sx_block_open(&block, value.data, value.size, m->table->n_cols) ||
	    bytes + block.used > most)
		return SIMIDX_OK; /* a damaged one is told when something is to be done to it */
	if (key.size > SX_TABLE_MAX_KEY)
		return sx_table_damaged(m->table, key, "its key is too long", m->err);
	rc = sx_table_block_decode(m->table, key, value, rows, NULL, m->err);
	memcpy(key_bytes, key.data, key.size);
	*key_size = key.size;
	return rc;
}

static int drop_before(struct merge *m, const unsigned char *key_bytes, size_t key_size)
{
	m->delta->written++;
	return sx_dbi_del(m->txn, m->table->dbi, (sx_slice){ key_bytes, key_size }, m->err);
}

/*
 * Take the rows of the block before into this one, which has `bytes`, if both are small. The next
 * one was looked at before; where both neighbours are, this block is written last, so they meet.
 */
static int join_before(struct merge *m, size_t bytes)
{
	unsigned char key[SX_TABLE_MAX_KEY];
	sx_rows both = m->old;
	size_t key_size;
	int rc;

	both.n = 0;
	rc = read_before(m, bytes, key, &key_size, &both);
	if (!rc && key_size && sx_rows_append(&both, &m->work, 0, m->work.n))
		rc = sx_fail_nomem(m->err);
	m->old = both;
	/* Values that lie far apart may take more bytes together. */
	if (rc || !key_size || sx_block_fit(&both, 0, m->table->block_size) < both.n)
		return rc;
	m->old = m->work;
	m->work = both;
	return drop_before(m, key, key_size);
}

/*
 * Nothing is left of this block. Those before and after it are neighbours now, and join if both
 * are small, unless changes touch the one after it, which then looks for itself.
 */
static int join_around(struct merge *m)
{
	unsigned char key[SX_TABLE_MAX_KEY];
	size_t key_size = 0;
	int rc = SIMIDX_OK;

	/* With a cut, changes that belong between the two are still to be merged. */
	if (m->key_size && m->has_next && !m->cut && !next_is_touched(m))
		rc = read_before(m, m->next_used, key, &key_size, &m->carry);
	if (!rc && key_size)
		rc = drop_before(m, key, key_size);
	return rc ? rc : drop_old_key(m);
}

/* What is left from row `from` on fits one block: keep it here, or give it to a neighbour. */
static int finish_block(struct merge *m, size_t from)
{
	size_t left = m->work.n - from;
	size_t bytes = left ? sx_block_bytes(&m->work, from, left) : 0;
	size_t size = m->table->block_size;
	sx_slice key = { m->key, m->key_size };
	int carry = 0;

	if (!left)
		return join_around(m);
	if (m->open_end) {
		int rc = put_own_key(m, from, left);

		return rc ? rc : drop_old_key(m);
	}
	/* With a cut, changes that come before these rows are still to be merged. */
	if (m->has_next && !m->cut)
		carry = bytes + (is_rewritten(m) ? 0 : m->next_used) <= size * JOIN_PERCENT / 100;
	if (!carry) {
		int rc = from || m->cut ? SIMIDX_OK : join_before(m, bytes);

		return rc ? rc : put_block(m, from, m->work.n - from, key);
	}
	if (sx_rows_append(&m->carry, &m->work, from, left))
		return sx_fail_nomem(m->err);
	return drop_old_key(m);
}

static int write_blocks(struct merge *m)
{
	size_t size = m->table->block_size;
	size_t filled = size * m->table->fill / 100;
	size_t from = 0;
	int rc;

	while (from < m->work.n && from + sx_block_fit(&m->work, from, size) < m->work.n) {
		size_t left = m->work.n - from;
		size_t n = sx_block_fit(&m->work, from, filled);

		if (left - n < n / 2 && !m->open_end && !next_is_touched(m))
			n = left - left / 2;
		rc = put_own_key(m, from, n);
		if (rc)
			return rc;
		from += n;
	}
	return finish_block(m, from);
}

static int merge_blocks(struct merge *m, size_t *done)
{
	int rc = SIMIDX_OK;

	m->at = *done;
	while (!rc && (m->carry.n ||
		       (m->at < m->changes->rows->n && m->delta->written < m->max_written))) {
		rc = find_block(m);
		if (!rc)
			rc = merge_rows(m);
		if (!rc)
			rc = write_blocks(m);
	}
	*done = m->at;
	return rc;
}

/* ---- the rows layout ---- */

/* What the digest loses with the row that is stored: a removal may be asked with other columns. */
static int stored_hash(const sx_table *table, sx_slice key, sx_slice value, uint64_t *hash,
		       simidx_error *err)
{
	sx_rows row;
	int rc;

	sx_rows_init(&row, table->n_cols);
	rc = sx_table_row_decode(table, key, value, &row, err);
	if (!rc)
		*hash = sx_table_row_hash(table, &row, 0);
	sx_rows_free(&row);
	return rc;
}

/* Make change number i. */
static int change_row(sx_txn *txn, const sx_table *table, const sx_changes *changes, size_t i,
		      sx_delta *delta, simidx_error *err)
{
	const sx_rows *rows = changes->rows;
	unsigned char key_bytes[SX_TABLE_MAX_KEY], value_bytes[SX_TABLE_MAX_VALUE];
	sx_slice key = { key_bytes, 0 }, value = { value_bytes, 0 }, old;
	int remove = changes->remove && changes->remove[i], present, rc;
	uint64_t hash = 0;

	key.size = sx_table_key(table, sx_sort_key_of(table, rows, i), key_bytes);
	value.size = sx_table_row_encode(table, rows, i, key, value_bytes);
	rc = sx_dbi_get(txn, table->dbi, key, &old, err);
	present = rc == SIMIDX_OK;
	if (rc == SIMIDX_E_NOT_FOUND)
		rc = SIMIDX_OK;
	if (!rc && present)
		rc = stored_hash(table, key, old, &hash, err);
	if (rc || (remove ? !present
			  : present && old.size == value.size &&
				    !memcmp(old.data, value.data, old.size)))
		return rc;
	delta->digest -= hash;
	delta->rows += !remove - present;
	delta->written++;
	if (remove)
		return sx_dbi_del(txn, table->dbi, key, err);
	delta->digest += sx_table_row_hash(table, rows, i);
	return sx_dbi_put(txn, table->dbi, key, value, err);
}

static int merge_into_rows(sx_txn *txn, const sx_table *table, const sx_changes *changes,
			   size_t *done, uint64_t max_written, sx_delta *delta, simidx_error *err)
{
	int rc = SIMIDX_OK;

	for (; !rc && *done < changes->rows->n && delta->written < max_written; ++*done)
		rc = change_row(txn, table, changes, *done, delta, err);
	return rc;
}

int sx_table_merge(sx_txn *txn, const sx_table *table, const sx_changes *changes, size_t *done,
		   uint64_t max_written, sx_delta *delta, simidx_error *err)
{
	struct merge m = { .txn = txn, .table = table, .changes = changes,
			   .max_written = max_written, .delta = delta, .err = err };
	int rc;

	memset(delta, 0, sizeof(*delta));
	if (table->layout == SIMIDX_LAYOUT_ROWS)
		return merge_into_rows(txn, table, changes, done, max_written, delta, err);
	sx_rows_init(&m.old, table->n_cols);
	sx_rows_init(&m.work, table->n_cols);
	sx_rows_init(&m.carry, table->n_cols);
	m.value = sx_calloc(1, table->block_size);
	rc = m.value ? sx_cursor_open(txn, table->dbi, &m.cursor, err) : sx_fail_nomem(err);
	if (!rc)
		rc = merge_blocks(&m, done);
	sx_cursor_close(m.cursor);
	sx_rows_free(&m.old);
	sx_rows_free(&m.work);
	sx_rows_free(&m.carry);
	free(m.value);
	return rc;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "table/sx_block_index.h"

#include <stdlib.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

/* Knots are two to the power of this: four to eight blocks between two of them. */
static unsigned knot_bits(uint64_t blocks)
{
	unsigned b = 1;

	while (b < 31 && (uint64_t)8 << b < blocks)
		b++;
	return b;
}

size_t sx_block_index_size(uint64_t blocks)
{
	return sizeof(sx_block_index) + (size_t)blocks * sizeof(sx_entry) +
	       (((size_t)1 << knot_bits(blocks)) + 1) * sizeof(sx_knot);
}

void sx_block_index_free(sx_block_index *d)
{
	if (!d)
		return;
	free(d->knot);
	free(d->entry);
	free(d);
}

static int allocate(sx_block_index *d, uint64_t blocks)
{
	d->knot = sx_calloc(((size_t)1 << knot_bits(blocks)) + 1, sizeof(*d->knot));
	d->entry = sx_alloc_lines(blocks ? blocks : 1, sizeof(*d->entry));
	d->bytes = sx_block_index_size(blocks);
	return d->knot && d->entry ? 0 : -1;
}

/* Enter the next block. */
static int add(sx_block_index *d, sx_slice key, sx_slice value, simidx_error *err)
{
	const unsigned char *at = value.data;
	ptrdiff_t away;
	sx_sort_key place;

	if (sx_table_sort_key(d->table, key, &place))
		return sx_table_damaged(d->table, key, "its key is not one of this table's", err);
	if (value.size != d->table->block_size)
		return sx_table_damaged(d->table, key, "its size is not a block's", err);
	if (!d->n)
		d->anchor = at;
	else if (place.key < d->entry[d->n - 1].last)
		return sx_table_damaged(d->table, key, "its key is out of order", err);
	away = at - d->anchor;
	if (away % (ptrdiff_t)d->page_size)
		return sx_table_damaged(d->table, key, "it does not have a page of its own", err);
	away /= (ptrdiff_t)d->page_size;
	if (away != (int32_t)away)
		return sx_table_damaged(d->table, key, "it lies too far from the others", err);
	d->entry[d->n].page = (int32_t)away;
	sx_samples_init(&d->entry[d->n].samples);
	d->entry[d->n++].last = place.key;
	return SIMIDX_OK;
}

static int fill(sx_block_index *d, sx_txn *txn, uint64_t blocks, simidx_error *err)
{
	sx_slice key, value;
	sx_cursor *cursor;
	int rc = sx_cursor_open(txn, d->table->dbi, &cursor, err);

	if (rc)
		return rc;
	for (rc = sx_cursor_first(cursor, &key, &value, err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, err)) {
		if (d->n == blocks)
			rc = sx_table_damaged(d->table, key, "there are more than it counts", err);
		else
			rc = add(d, key, value, err);
		if (rc)
			break;
	}
	sx_cursor_close(cursor);
	return rc == SIMIDX_E_END ? SIMIDX_OK : rc;
}

static void fill_knots(sx_block_index *d)
{
	unsigned b = knot_bits(d->n), bits = 1;
	size_t k = 0;

	if (!d->n)
		return;
	d->max = d->entry[d->n - 1].last;
	while (bits < 64 && d->max >> bits)
		bits++;
	d->shift = bits > b ? bits - b : 0;
	for (size_t i = 0; i < d->n; i++)
		for (; k <= d->entry[i].last >> d->shift; k++) {
			double part = sx_block_index_part(d, i, (uint64_t)k << d->shift);

			d->knot[k].place = ((uint64_t)i << SX_PLACE_PART) +
					   (uint64_t)(part * (double)sx_low_bits(SX_PLACE_PART));
			d->knot[k].page = d->entry[i].page - (int64_t)i;
		}
	/* The last knot but one has an end too. */
	d->knot[k].place = ((uint64_t)d->n << SX_PLACE_PART) - 1;
}

int sx_block_index_make(const sx_table *table, sx_txn *txn, uint64_t rows, sx_block_index **out,
		      simidx_error *err)
{
	sx_block_index *d = NULL;
	sx_dbi_stat stat;
	int rc = sx_dbi_stat_get(txn, table->dbi, &stat, err);

	*out = NULL;
	if (!rc && stat.keys > UINT32_MAX)
		rc = sx_fail(err, SIMIDX_E_CORRUPT, "table %s: too many blocks", table->name);
	if (rc)
		return rc;
	d = sx_calloc(1, sizeof(*d));
	if (!d)
		return sx_fail_nomem(err);
	d->table = table;
	d->rows = rows;
	d->page_size = sx_store_page_size(sx_txn_store(txn));
	rc = allocate(d, stat.keys) ? sx_fail_nomem(err) : fill(d, txn, stat.keys, err);
	if (rc) {
		sx_block_index_free(d);
		return rc;
	}
	fill_knots(d);
	if (d->n)
		sx_block_guess_make(&d->guess, sx_block_index_block(d, d->n / 2),
				    table->block_size, table->n_cols);
	*out = d;
	return SIMIDX_OK;
}

size_t sx_block_index_search(const sx_block_index *d, uint64_t key, size_t guess)
{
	size_t from, to, i = guess;

	if (i >= d->n)
		return d->n;
	from = (size_t)(d->knot[key >> d->shift].place >> SX_PLACE_PART);
	to = (size_t)(d->knot[(key >> d->shift) + 1].place >> SX_PLACE_PART);
	/* Where keys are spread evenly there are few blocks between two knots. */
	if (to - from > SX_BLOCK_INDEX_LARGE) {
		while (from < to) {
			i = from + (to - from) / 2;
			if (d->entry[i].last < key)
				from = i + 1;
			else
				to = i;
		}
		return from;
	}
	while (d->entry[i].last < key)
		i++;
	while (i > from && d->entry[i - 1].last >= key)
		i--;
	return i;
}

double sx_block_index_part(const sx_block_index *d, size_t i, uint64_t key)
{
	uint64_t before = i ? d->entry[i - 1].last : 0, last = d->entry[i].last;

	if (last <= before || key <= before)
		return 0;
	return key >= last ? 1 : (double)(key - before) / (double)(last - before);
}

uint64_t sx_block_index_count(const sx_block_index *d, uint64_t low, uint64_t high)
{
	size_t from = sx_block_index_find(d, low), to = sx_block_index_find(d, high);
	double blocks = (double)to - (double)from;

	if (!d->n)
		return 0;
	if (to < d->n)
		blocks += sx_block_index_part(d, to, high);
	if (from < d->n)
		blocks -= sx_block_index_part(d, from, low);
	return blocks <= 0 ? 0 : (uint64_t)(blocks * (double)d->rows / (double)d->n);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Random operations on a table, beside a model that does the same: a sorted array of pairs.
 */

#include "support/sxt_store.h"

#define MODEL_KEYS 400

struct pair {
	unsigned char key[12];
	size_t key_size;
	unsigned char *value;
	size_t value_size;
};

struct model {
	struct pair pairs[MODEL_KEYS];
	size_t n;
};

static int compare_keys(const void *a, size_t a_size, const void *b, size_t b_size)
{
	int c = memcmp(a, b, a_size < b_size ? a_size : b_size);

	return c ? c : (a_size > b_size) - (a_size < b_size);
}

/* First pair whose key is not less. */
static size_t model_find(const struct model *m, const void *key, size_t size, int *found)
{
	size_t i = 0;

	while (i < m->n && compare_keys(m->pairs[i].key, m->pairs[i].key_size, key, size) < 0)
		i++;
	*found = i < m->n && !compare_keys(m->pairs[i].key, m->pairs[i].key_size, key, size);
	return i;
}

static void model_del(struct model *m, size_t i)
{
	free(m->pairs[i].value);
	memmove(&m->pairs[i], &m->pairs[i + 1], (m->n - i - 1) * sizeof(m->pairs[0]));
	m->n--;
}

static void model_put(struct model *m, const struct pair *p)
{
	int found;
	size_t i = model_find(m, p->key, p->key_size, &found);

	if (found)
		model_del(m, i);
	memmove(&m->pairs[i + 1], &m->pairs[i], (m->n - i) * sizeof(m->pairs[0]));
	m->pairs[i] = *p;
	m->pairs[i].value = malloc(p->value_size + 1);
	memcpy(m->pairs[i].value, p->value, p->value_size);
	m->n++;
}

static void model_copy(struct model *to, const struct model *from)
{
	size_t i;

	while (to->n)
		model_del(to, to->n - 1);
	for (i = 0; i < from->n; i++)
		model_put(to, &from->pairs[i]);
}

static void check_pair(const struct pair *p, sx_slice key, sx_slice value)
{
	ck_assert_uint_eq(key.size, p->key_size);
	ck_assert_mem_eq(key.data, p->key, p->key_size);
	ck_assert_uint_eq(value.size, p->value_size);
	ck_assert_mem_eq(value.data, p->value, p->value_size);
}

static void random_key(sxt_rng *rng, struct pair *p)
{
	size_t i;

	/* Few different bytes, so that keys meet and are prefixes of each other. */
	p->key_size = 1 + sxt_rng_below(rng, 4);
	for (i = 0; i < p->key_size; i++)
		p->key[i] = (unsigned char)(sxt_rng_below(rng, 4) * 85);
}

static void check_walk(const struct model *m, sx_txn *txn, sx_dbi dbi)
{
	sx_slice key, value;
	sx_cursor *cursor;
	size_t i;
	int rc;

	ck_assert_sx(sx_cursor_open(txn, dbi, &cursor, &sxt_err), SIMIDX_OK);
	rc = sx_cursor_first(cursor, &key, &value, &sxt_err);
	for (i = 0; i < m->n; i++) {
		ck_assert_int_eq(rc, SIMIDX_OK);
		check_pair(&m->pairs[i], key, value);
		rc = sx_cursor_next(cursor, &key, &value, &sxt_err);
	}
	ck_assert_int_eq(rc, SIMIDX_E_END);
	ck_assert_int_eq(sxt_err.code, 0);
	rc = sx_cursor_last(cursor, &key, &value, &sxt_err);
	while (i-- > 0) {
		ck_assert_int_eq(rc, SIMIDX_OK);
		check_pair(&m->pairs[i], key, value);
		rc = sx_cursor_prev(cursor, &key, &value, &sxt_err);
	}
	ck_assert_int_eq(rc, SIMIDX_E_END);
	sx_cursor_close(cursor);
}

static void check_seeks(const struct model *m, sx_txn *txn, sx_dbi dbi, sxt_rng *rng)
{
	sx_slice key, value, found;
	sx_cursor *cursor;
	struct pair p;
	int n, is_there, rc;
	size_t i;

	ck_assert_sx(sx_cursor_open(txn, dbi, &cursor, &sxt_err), SIMIDX_OK);
	for (n = 0; n < 50; n++) {
		random_key(rng, &p);
		key = (sx_slice){ p.key, p.key_size };
		i = model_find(m, p.key, p.key_size, &is_there);
		rc = sx_cursor_seek(cursor, key, &found, &value, &sxt_err);
		ck_assert_int_eq(rc, i < m->n ? SIMIDX_OK : SIMIDX_E_END);
		if (!rc)
			check_pair(&m->pairs[i], found, value);
		rc = sx_dbi_get(txn, dbi, key, &value, &sxt_err);
		ck_assert_int_eq(rc, is_there ? SIMIDX_OK : SIMIDX_E_NOT_FOUND);
		if (!rc)
			check_pair(&m->pairs[i], key, value);
	}
	ck_assert_int_eq(sxt_err.code, 0);
	sx_cursor_close(cursor);
}

static void check_model(const struct model *m, sx_store *store, sxt_rng *rng)
{
	sx_txn *txn = t_read(store);
	sx_dbi dbi = t_table(txn, 0);
	sx_dbi_stat stat;

	check_walk(m, txn, dbi);
	check_seeks(m, txn, dbi, rng);
	ck_assert_sx(sx_dbi_stat_get(txn, dbi, &stat, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(stat.keys, m->n);
	sx_txn_abort(txn);
}

/* Some random changes in one transaction, which is committed or undone. */
static void change(struct model *m, sx_store *store, sxt_rng *rng)
{
	static unsigned char bytes[9000];
	static struct model next;
	sx_txn *txn = t_write(store);
	sx_dbi dbi = t_table(txn, 1);
	int n = 1 + (int)sxt_rng_below(rng, 40), found;
	struct pair p = { .value = bytes };

	model_copy(&next, m);
	while (n--) {
		sx_slice key = { p.key, 0 }, value = { bytes, 0 };
		size_t i;

		random_key(rng, &p);
		key.size = p.key_size;
		i = model_find(&next, p.key, p.key_size, &found);
		if (sxt_rng_below(rng, 3)) {
			p.value_size = sxt_rng_below(rng, sxt_rng_below(rng, 2) ? 40 : 9000);
			memset(bytes, (int)sxt_rng_below(rng, 256), p.value_size);
			value.size = p.value_size;
			ck_assert_sx(sx_dbi_put(txn, dbi, key, value, &sxt_err), SIMIDX_OK);
			model_put(&next, &p);
		} else {
			ck_assert_sx(sx_dbi_del(txn, dbi, key, &sxt_err),
				     found ? SIMIDX_OK : SIMIDX_E_NOT_FOUND);
			if (found)
				model_del(&next, i);
		}
	}
	check_walk(&next, txn, dbi);
	if (sxt_rng_below(rng, 4)) {
		t_commit(store, txn);
		model_copy(m, &next);
	} else {
		sx_txn_abort(txn);
		sx_store_unlock(store);
	}
}

START_TEST(test_store_equals_the_model)
{
	char *dir = sxt_dir_make(), *path = sxt_path(dir, "x");
	int n, rounds = sxt_is_long() ? 2000 : 60;
	static struct model m;
	sx_store *store;
	sxt_rng rng;

	sxt_rng_init(&rng, 1);
	store = t_create(path, 0);
	t_put(store, "k", "v");
	model_put(&m, &(struct pair){ .key = "k",
				      .key_size = 1,
				      .value = (unsigned char *)"v",
				      .value_size = 1 });
	for (n = 0; n < rounds; n++) {
		change(&m, store, &rng);
		check_model(&m, store, &rng);
		/* The check before opening must accept every honest file. */
		if (n % 7 == 0) {
			sx_store_close(store);
			store = t_open(path, 0);
		}
	}
	sx_store_close(store);
	while (m.n)
		model_del(&m, m.n - 1);
	free(path);
	free(dir);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_store_equals_the_model, 0, 1 },
};

SXT_SUITE(store_model, NULL, NULL);

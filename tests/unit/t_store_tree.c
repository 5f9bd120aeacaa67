/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Cursors that go through the trees in the map by themselves: on trees of all heights beside a
 * sorted array, and on damaged ones, of which no more is asked than that nothing is read outside
 * the map and every move ends.
 */

#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>

#include "store/sx_store_lmdb.h"
#include "t_fast.h"
#include "t_store.h"
#include "util/sx_bytes.h"

Suite *suite_store_tree(void);

#define KEY 12
#define TABLES 4

/* Keys of 12 bytes, sorted; the value of each is its number, some take pages of their own. */
struct keys {
	unsigned char (*at)[KEY];
	size_t n, value_size;
};

static int by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, KEY);
}

/* Random ones, or such that begin with the same 8 bytes, or crowd at one end. */
static void make_keys(struct keys *k, size_t n, size_t value_size, unsigned kind, sxt_rng *rng)
{
	size_t distinct = 0;

	k->at = calloc(n + 1, KEY);
	k->value_size = value_size;
	for (size_t i = 0; i < n; i++) {
		uint64_t x = sxt_rng_u64(rng);

		if (kind == 1)
			x = 0;
		if (kind == 2)
			x >>= sxt_rng_below(rng, 60);
		sx_store_be64(k->at[i], x);
		for (unsigned b = 8; b < KEY; b++)
			k->at[i][b] = (unsigned char)sxt_rng_below(rng, 256);
	}
	qsort(k->at, n, KEY, by_bytes);
	for (size_t i = 0; i < n; i++)
		if (!distinct || memcmp(k->at[distinct - 1], k->at[i], KEY))
			memcpy(k->at[distinct++], k->at[i], KEY);
	k->n = distinct;
}

static void put_keys(sx_txn *txn, const char *name, const struct keys *k)
{
	static unsigned char bytes[9000];
	sx_slice value = { bytes, k->value_size };
	sx_dbi dbi;

	ck_assert_sx(sx_table_open(txn, name, 1, &dbi, &sxt_err), SIMIDX_OK);
	/* Not in order, so that pages are split in the middle. */
	for (size_t step = 0; step < 7; step++)
		for (size_t i = step; i < k->n; i += 7) {
			sx_slice key = { k->at[i], KEY };

			memcpy(bytes, &i, sizeof(i));
			sxt_must(sx_put(txn, dbi, key, value, &sxt_err));
		}
}

static size_t model_find(const struct keys *k, const unsigned char *key, size_t size)
{
	size_t i = 0, end = k->n;

	while (i < end) {
		size_t middle = i + (end - i) / 2;

		if (memcmp(k->at[middle], key, size) < 0)
			i = middle + 1;
		else
			end = middle;
	}
	return i;
}

static void check_entry(const struct keys *k, size_t i, int rc, sx_slice key, sx_slice value)
{
	size_t number;

	if (i >= k->n) {
		t_must(rc == SIMIDX_E_END && !key.data && !value.data);
		return;
	}
	t_must(rc == SIMIDX_OK && key.size == KEY && !memcmp(key.data, k->at[i], KEY));
	t_must(value.size == k->value_size);
	memcpy(&number, value.data, sizeof(number));
	t_must(number == i);
}

/* A key that is there, one that is beside it, a part of one, or any. At most KEY bytes. */
static size_t any_key(const struct keys *k, sxt_rng *rng, unsigned char *key)
{
	for (unsigned b = 0; b < KEY; b++)
		key[b] = (unsigned char)sxt_rng_below(rng, 256);
	if (k->n && sxt_rng_below(rng, 4))
		memcpy(key, k->at[sxt_rng_below(rng, k->n)], KEY);
	if (!sxt_rng_below(rng, 3))
		key[KEY - 1] = (unsigned char)(key[KEY - 1] + 1 - sxt_rng_below(rng, 3));
	return sxt_rng_below(rng, 3) ? KEY : sxt_rng_below(rng, KEY + 1);
}

static void must_be_by_tree(const struct keys *k, size_t i, const sx_cursor *cursor)
{
	t_must(cursor->by == (i < k->n ? SX_BY_TREE : SX_BY_TREE_AT_END));
}

/* All of a table, and back from anywhere. */
static void check_walk(const struct keys *k, sx_cursor *cursor, sxt_rng *rng)
{
	sx_slice key, value;
	int rc = sx_cursor_first(cursor, &key, &value, &sxt_err);
	size_t i;

	for (i = 0; i <= k->n; i++) {
		check_entry(k, i, rc, key, value);
		must_be_by_tree(k, i, cursor);
		rc = sx_cursor_next(cursor, &key, &value, &sxt_err);
	}
	t_must(rc == SIMIDX_E_END);
	for (unsigned n = 0; k->n && n < 20; n++) {
		sx_slice from = { k->at[i = sxt_rng_below(rng, k->n)], KEY };

		rc = sx_cursor_seek(cursor, from, &key, &value, &sxt_err);
		check_entry(k, i, rc, key, value);
		rc = sx_cursor_prev(cursor, &key, &value, &sxt_err);
		check_entry(k, i ? i - 1 : k->n, rc, key, value);
		if (!i)
			continue;
		rc = sx_cursor_next(cursor, &key, &value, &sxt_err);
		check_entry(k, i, rc, key, value);
	}
}

/* Several tables at once, and on from there. */
static void check_jumps(const struct keys *k, sx_cursor *const *cursor, sxt_rng *rng)
{
	unsigned char key[TABLES][KEY];
	sx_jump jump[TABLES];
	size_t n = 1 + sxt_rng_below(rng, TABLES), place;

	for (size_t t = 0; t < n; t++) {
		jump[t].cursor = cursor[t];
		jump[t].key.data = key[t];
		jump[t].key.size = any_key(&k[t], rng, key[t]);
	}
	sx_cursor_seek_all(jump, n, &sxt_err);
	for (size_t t = 0; t < n; t++) {
		place = model_find(&k[t], key[t], jump[t].key.size);
		for (unsigned steps = 0; steps < 4; steps++, place++) {
			check_entry(&k[t], place, jump[t].rc, jump[t].found, jump[t].value);
			must_be_by_tree(&k[t], place, cursor[t]);
			jump[t].rc = sx_cursor_next(cursor[t], &jump[t].found, &jump[t].value,
						    &sxt_err);
		}
	}
}

struct forest {
	char *dir, *path;
	sx_store *store;
	struct keys keys[TABLES];
	sxt_rng rng;
};

static const char *const names[TABLES] = { "empty", "one", "many", "pages" };

/* `kind` of keys; up to three levels of pages, with values in leaves and on pages of their own. */
static void plant(struct forest *f, unsigned kind)
{
	sx_txn *txn;

	memset(f, 0, sizeof(*f));
	sxt_rng_init(&f->rng, 4400 + kind);
	f->dir = sxt_dir_make();
	f->path = sxt_path(f->dir, "x");
	f->store = t_create(f->path, 0);
	make_keys(&f->keys[0], 0, 20, kind, &f->rng);
	make_keys(&f->keys[1], 1, 20, kind, &f->rng);
	make_keys(&f->keys[2], 20000, 20, kind, &f->rng);
	make_keys(&f->keys[3], 700, sx_store_block_size(f->store), kind, &f->rng);
	txn = t_write(f->store);
	for (unsigned t = 0; t < TABLES; t++)
		put_keys(txn, names[t], &f->keys[t]);
	t_commit(f->store, txn);
}

static void uproot(struct forest *f)
{
	sx_store_close(f->store);
	for (unsigned t = 0; t < TABLES; t++)
		free(f->keys[t].at);
	sxt_remove(f->dir);
	free(f->path);
	free(f->dir);
}

static sx_dbi table_of(sx_txn *txn, unsigned t)
{
	sx_dbi dbi;

	ck_assert_sx(sx_table_open(txn, names[t], 0, &dbi, &sxt_err), SIMIDX_OK);
	return dbi;
}

START_TEST(heights)
{
	sx_cursor *cursor[TABLES];
	sx_dbi_stat stat;
	struct forest f;
	sx_txn *txn;

	plant(&f, (unsigned)_i);
	txn = t_read(f.store);
	for (unsigned t = 0; t < TABLES; t++)
		ck_assert_sx(sx_cursor_open(txn, table_of(txn, t), &cursor[t], &sxt_err),
			     SIMIDX_OK);
	ck_assert_sx(sx_dbi_stat_get(txn, table_of(txn, 2), &stat, &sxt_err), SIMIDX_OK);
	ck_assert_uint_ge(stat.depth, 3);
	ck_assert_sx(sx_dbi_stat_get(txn, table_of(txn, 3), &stat, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(stat.overflow_pages, f.keys[3].n);
	for (unsigned t = 0; t < TABLES; t++)
		check_walk(&f.keys[t], cursor[t], &f.rng);
	for (unsigned n = 0; n < 20000; n++)
		check_jumps(f.keys, cursor, &f.rng);
	for (unsigned t = 0; t < TABLES; t++)
		sx_cursor_close(cursor[t]);
	sx_txn_abort(txn);
	uproot(&f);
}
END_TEST

/* A cursor sees the tree of its snapshot, and the next one when that is renewed. */
START_TEST(snapshots)
{
	sx_slice first, key, value;
	sx_cursor *cursor, *writing;
	struct forest f;
	sx_txn *txn, *write;
	int rc;

	plant(&f, 0);
	first = (sx_slice){ f.keys[2].at[0], KEY };
	txn = t_read(f.store);
	ck_assert_sx(sx_cursor_open(txn, table_of(txn, 2), &cursor, &sxt_err), SIMIDX_OK);
	rc = sx_cursor_first(cursor, &key, &value, &sxt_err);
	check_entry(&f.keys[2], 0, rc, key, value);
	write = t_write(f.store);
	ck_assert_sx(sx_del(write, table_of(write, 2), first, &sxt_err), SIMIDX_OK);
	/* What a transaction has written lies elsewhere: LMDB alone knows. */
	ck_assert_sx(sx_cursor_open(write, table_of(write, 2), &writing, &sxt_err), SIMIDX_OK);
	rc = sx_cursor_first(writing, &key, &value, &sxt_err);
	check_entry(&f.keys[2], 1, rc, key, value);
	ck_assert_int_eq(writing->by, SX_BY_LMDB);
	sx_cursor_close(writing);
	t_commit(f.store, write);
	rc = sx_cursor_seek(cursor, first, &key, &value, &sxt_err);
	check_entry(&f.keys[2], 0, rc, key, value);
	sx_txn_reset(txn);
	ck_assert_sx(sx_txn_renew(txn, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_cursor_renew(txn, cursor, &sxt_err), SIMIDX_OK);
	rc = sx_cursor_seek(cursor, first, &key, &value, &sxt_err);
	check_entry(&f.keys[2], 1, rc, key, value);
	must_be_by_tree(&f.keys[2], 1, cursor);
	sx_cursor_close(cursor);
	sx_txn_abort(txn);
	uproot(&f);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * Damage
 */

/* Put another number at the beginning of the page in which the tables' records are. */
static void renumber_records(const struct forest *f, size_t page_size, unsigned bit)
{
	char *path = sxt_path(f->path, "data.mdb");
	int fd = open(path, O_RDWR | O_CLOEXEC);
	unsigned char *page = malloc(page_size);
	off_t at = 2 * (off_t)page_size;

	ck_assert_int_ge(fd, 0);
	ck_assert_ptr_nonnull(page);
	for (; pread(fd, page, page_size, at) == (ssize_t)page_size; at += (off_t)page_size)
		if (page[10] == 2 && memmem(page, page_size, names[2], strlen(names[2]))) {
			page[bit / 8] ^= (unsigned char)(1u << bit % 8);
			ck_assert_int_eq(pwrite(fd, page, 8, at), 8);
		}
	close(fd);
	free(page);
	free(path);
}

/* LMDB does not look at the numbers of pages, so those that are wrong change no answer. */
START_TEST(numbers)
{
	size_t page_size;
	struct forest f;

	plant(&f, 0);
	page_size = sx_store_page_size(f.store);
	for (unsigned bit = 0; bit < 64; bit++) {
		sx_cursor *cursor;
		sx_txn *txn;

		sx_store_close(f.store);
		renumber_records(&f, page_size, bit);
		f.store = t_open(f.path, 0);
		txn = t_read(f.store);
		for (unsigned t = 0; t < TABLES; t++) {
			ck_assert_sx(sx_cursor_open(txn, table_of(txn, t), &cursor, &sxt_err),
				     SIMIDX_OK);
			for (unsigned n = 0; n < 20 && f.keys[t].n; n++) {
				size_t i = sxt_rng_below(&f.rng, f.keys[t].n);
				sx_slice from = { f.keys[t].at[i], KEY }, key, value;
				int rc = sx_cursor_seek(cursor, from, &key, &value, &sxt_err);

				check_entry(&f.keys[t], i, rc, key, value);
			}
			sx_cursor_close(cursor);
		}
		sx_txn_abort(txn);
		renumber_records(&f, page_size, bit);
	}
	uproot(&f);
}
END_TEST

/* The data file in memory, with nothing before and behind it. */
struct image {
	unsigned char *map, *around;
	size_t size, page_size;
};

static void load_image(struct image *m, const char *dir, size_t page_size)
{
	char *path = sxt_path(dir, "data.mdb");
	int fd = open(path, O_RDONLY);
	struct stat st;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	m->size = (size_t)st.st_size;
	m->page_size = page_size;
	m->around = mmap(NULL, m->size + 2 * page_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);
	ck_assert(m->around != MAP_FAILED);
	m->map = m->around + page_size;
	ck_assert_int_eq(mprotect(m->map, m->size, PROT_READ | PROT_WRITE), 0);
	ck_assert_int_eq(pread(fd, m->map, m->size, 0), (int)m->size);
	close(fd);
	free(path);
}

/* The main tree, from the newer of the two meta pages (doc: lib/store/sx_store_check.c). */
static void main_tree(const struct image *m, sx_tree *tree)
{
	const unsigned char *meta = m->map;

	if (sx_load_le64(meta + m->page_size + 144) > sx_load_le64(meta + 144))
		meta += m->page_size;
	tree->map = m->map;
	tree->page_size = m->page_size;
	tree->pages = m->size / m->page_size;
	tree->root = sx_load_le64(meta + 128);
}

static enum sx_tree_end find_in(const sx_tree *tree, sx_slice key, sx_tree_path *path)
{
	sx_tree_descent descent = { .tree = tree, .path = path, .key = key };

	sx_tree_descend(&descent, 1);
	return descent.end;
}

/* A table by its name: 0, or -1. */
static int find_tree(const struct image *m, const char *name, sx_tree *tree)
{
	sx_tree_path path;
	sx_slice key, record;
	sx_tree whole;

	main_tree(m, &whole);
	return find_in(&whole, t_slice(name), &path) != SX_TREE_FOUND ||
			       sx_tree_entry(&whole, &path, &key, &record)
		       ? -1
		       : sx_tree_init(tree, record, m->map, m->page_size, whole.pages);
}

/* Read all that an entry says it has. Returns the number of further entries, `most` or fewer. */
static size_t read_on(const sx_tree *tree, sx_tree_path *path, size_t most)
{
	volatile unsigned char sink = 0;
	sx_slice key, value;
	size_t n = 0;

	do {
		if (sx_tree_entry(tree, path, &key, &value))
			break;
		for (size_t i = 0; i < key.size; i++)
			sink ^= ((const unsigned char *)key.data)[i];
		if (value.size)
			sink ^= ((const unsigned char *)value.data)[value.size - 1];
	} while (++n < most && sx_tree_next(tree, path) == SX_TREE_FOUND);
	(void)sink;
	return n;
}

/* Some bytes of the file become others, preferably such that say where something lies. */
static void damage(const struct image *m, sxt_rng *rng)
{
	for (unsigned n = 1 + (unsigned)sxt_rng_below(rng, 40); n; n--) {
		size_t page = 2 + sxt_rng_below(rng, m->size / m->page_size - 2);
		size_t at = sxt_rng_below(rng, sxt_rng_below(rng, 2) ? 64 : m->page_size);
		unsigned char byte = (unsigned char)sxt_rng_below(rng, 256);

		m->map[page * m->page_size + at] = sxt_rng_below(rng, 3) ? byte : 0xff;
	}
}

START_TEST(damaged)
{
	unsigned strange = 0, rounds = sxt_is_long() ? 20000 : 1500;
	unsigned char bytes[KEY], *whole;
	sx_tree_path path;
	struct forest f;
	struct image m;
	sx_tree tree;

	plant(&f, 0);
	load_image(&m, f.path, sx_store_page_size(f.store));
	whole = malloc(m.size);
	ck_assert_ptr_nonnull(whole);
	memcpy(whole, m.map, m.size);
	for (unsigned t = 0; t < TABLES; t++) {
		ck_assert_int_eq(find_tree(&m, names[t], &tree), 0);
		if (f.keys[t].n)
			ck_assert_int_eq(find_in(&tree, t_slice(""), &path), SX_TREE_FOUND);
		ck_assert_uint_eq(f.keys[t].n ? read_on(&tree, &path, SIZE_MAX) : 0, f.keys[t].n);
	}
	for (unsigned round = 0; round < rounds; round++) {
		unsigned t = 2 + round % 2;

		if (find_tree(&m, names[t], &tree)) {
			strange++;
		} else {
			for (unsigned n = 0; n < 20; n++) {
				sx_slice key = { bytes, any_key(&f.keys[t], &f.rng, bytes) };
				enum sx_tree_end end = find_in(&tree, key, &path);

				strange += end == SX_TREE_STRANGE;
				if (end == SX_TREE_FOUND)
					read_on(&tree, &path, 200);
			}
		}
		if (round % 10 == 9)
			memcpy(m.map, whole, m.size);
		damage(&m, &f.rng);
	}
	ck_assert_uint_gt(strange, rounds / 10);
	free(whole);
	munmap(m.around, m.size + 2 * m.page_size);
	uproot(&f);
}
END_TEST

/* ------------------------------------------------------------------------------------------
 * One page by hand, the last one of the map: reading beyond its end ends the test
 */

#define LAST_PAGE 3

static void set16(unsigned char *p, unsigned x)
{
	p[0] = (unsigned char)x;
	p[1] = (unsigned char)(x >> 8);
}

/* A leaf with the keys "b" and "d", whose data are "1" and "2". */
static unsigned char *make_leaf(const struct image *m, sx_tree *tree)
{
	unsigned char *page = m->map + LAST_PAGE * m->page_size;
	unsigned offset = (unsigned)m->page_size;

	*tree = (sx_tree){ m->map, m->page_size, LAST_PAGE + 1, LAST_PAGE };
	memset(page, 0, m->page_size);
	set16(page + 10, 2);
	set16(page + 12, 16 + 2 * 2);
	for (unsigned i = 0; i < 2; i++) {
		offset -= 8 + 2;
		set16(page + 16 + 2 * i, offset);
		page[offset] = 1;
		set16(page + offset + 6, 1);
		page[offset + 8] = (unsigned char)("bd"[i]);
		page[offset + 9] = (unsigned char)("12"[i]);
	}
	return page;
}

static enum sx_tree_end find_text(const sx_tree *tree, const char *text, sx_tree_path *path)
{
	return find_in(tree, t_slice(text), path);
}

static void entry_is(const sx_tree *tree, const sx_tree_path *path, const char *key,
		     const char *value)
{
	sx_slice k, v;

	ck_assert_int_eq(sx_tree_entry(tree, path, &k, &v), 0);
	ck_assert(t_equal(k, key) && t_equal(v, value));
}

/* Each is wrong in one thing. */
static void spoil(unsigned how, const struct image *m, unsigned char *page)
{
	unsigned size = (unsigned)m->page_size;

	switch (how) {
	case 0: /* a node that begins in the page and does not end there */
		set16(page + 16, size - 6);
		break;
	case 1: /* one that begins far behind it */
		set16(page + 16, 0xfff0);
		break;
	case 2: /* a key that is longer than the page */
		set16(page + size - 10 + 6, 0xffff);
		page[size - 10 + 8] = 0;
		break;
	case 3: /* more nodes than it can hold */
		set16(page + 12, 0xfffe);
		break;
	case 4: /* none */
		set16(page + 12, 16);
		break;
	case 5: /* neither leaf nor branch */
		set16(page + 10, 4);
		break;
	default: /* a branch that leads to itself */
		set16(page + 10, 1);
		page[size - 10] = LAST_PAGE;
		page[size - 20] = LAST_PAGE;
	}
}

START_TEST(by_hand)
{
	struct image m = { .page_size = (size_t)sysconf(_SC_PAGESIZE) };
	sx_tree_path path;
	unsigned char *page;
	sx_slice key, value;
	sx_tree tree;

	m.size = (LAST_PAGE + 1) * m.page_size;
	m.map = m.around = mmap(NULL, m.size + m.page_size, PROT_NONE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert(m.map != MAP_FAILED);
	ck_assert_int_eq(mprotect(m.map, m.size, PROT_READ | PROT_WRITE), 0);
	make_leaf(&m, &tree);
	ck_assert_int_eq(find_text(&tree, "c", &path), SX_TREE_FOUND);
	entry_is(&tree, &path, "d", "2");
	ck_assert_int_eq(find_text(&tree, "", &path), SX_TREE_FOUND);
	entry_is(&tree, &path, "b", "1");
	ck_assert_int_eq(sx_tree_next(&tree, &path), SX_TREE_FOUND);
	entry_is(&tree, &path, "d", "2");
	ck_assert_int_eq(sx_tree_next(&tree, &path), SX_TREE_END);
	ck_assert_int_eq(find_text(&tree, "da", &path), SX_TREE_END);
	for (unsigned how = 0; how < 7; how++) {
		spoil(how, &m, make_leaf(&m, &tree));
		ck_assert_msg(find_text(&tree, "a", &path) == SX_TREE_STRANGE, "way %u", how);
		ck_assert_msg(find_text(&tree, "", &path) == SX_TREE_STRANGE, "way %u", how);
	}
	/* Data of "b" that do not end in the page; then on the page itself, and on one too many. */
	page = make_leaf(&m, &tree);
	ck_assert_int_eq(find_text(&tree, "b", &path), SX_TREE_FOUND);
	page[m.page_size - 10] = 2;
	ck_assert_int_eq(sx_tree_entry(&tree, &path, &key, &value), -1);
	set16(page + 16, (unsigned)m.page_size - 40);
	memcpy(page + m.page_size - 40, page + m.page_size - 10, 9);
	set16(page + m.page_size - 40, (unsigned)m.page_size - 16);
	set16(page + m.page_size - 40 + 4, 1);
	page[m.page_size - 40 + 9] = LAST_PAGE;
	ck_assert_int_eq(sx_tree_entry(&tree, &path, &key, &value), 0);
	ck_assert_ptr_eq(value.data, page + 16);
	ck_assert_uint_eq(value.size, m.page_size - 16);
	set16(page + m.page_size - 40, (unsigned)m.page_size - 15);
	ck_assert_int_eq(sx_tree_entry(&tree, &path, &key, &value), -1);
	munmap(m.around, m.size + m.page_size);
}
END_TEST

Suite *suite_store_tree(void)
{
	Suite *suite = suite_create("store_tree");
	TCase *tcase = tcase_create("tree");

	tcase_set_timeout(tcase, 600);
	tcase_add_loop_test(tcase, heights, 0, 3);
	tcase_add_test(tcase, snapshots);
	tcase_add_test(tcase, numbers);
	tcase_add_test(tcase, damaged);
	tcase_add_test(tcase, by_hand);
	suite_add_tcase(suite, tcase);
	return suite;
}

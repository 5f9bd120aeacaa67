/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "support/sxt_repair.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simidx_check.h>
#include <simidx_walk.h>

#include "index/sx_snapshot.h"
#include "support/sxt_fixture.h"
#include "util/sx_bytes.h"

#define T_PAGE ((size_t)sysconf(_SC_PAGESIZE)) /* of LMDB */
#define T_PAGE_HEADER 16

#define MOST_TOLD (4 * T_DOCUMENTS)

sxt_model t_model;
sxt_rng t_rng;
unsigned *t_where;
t_entry *t_entries;
size_t t_n_entries, t_n_told;
unsigned t_flags, t_layout;
t_told t_told_at[MOST_TOLD];

static const char mark[] = "as far as here";

/* ---- an index, and what is in it ---- */

static void add_entry(unsigned in, char *table, const sx_rows *rows, unsigned id_col,
		      const sx_perm *perm, sx_slice key, sx_slice value, int is_block)
{
	t_entry *e;

	if (!(t_n_entries & (t_n_entries - 1))) /* room for twice as many */
		t_entries = realloc(t_entries, (2 * t_n_entries + 1) * sizeof(*t_entries));
	e = &t_entries[t_n_entries++];
	memset(e, 0, sizeof(*e));
	e->where = in;
	e->table = table;
	e->n = rows ? rows->n : 1;
	e->key = malloc(e->n * sizeof(*e->key));
	for (size_t i = 0; i < e->n; i++)
		e->key[i] = !rows ? sx_load_be64(key.data)
			    : perm ? sx_unpermute(perm, rows->key[i])
			    : id_col ? rows->col[id_col - 1][i] : rows->key[i];
	/* In LMDB's leaf pages the size of the key, the key and the value follow each other. */
	e->size = value.size + (is_block ? 0 : 2 + key.size);
	e->from = is_block ? 0 : 2 + (perm ? 0 : key.size);
	e->to = e->size;
	e->bytes = malloc(e->size);
	sx_store_le16(e->head, (uint16_t)key.size);
	memcpy(e->head + 2, key.data, key.size);
	e->head_size = 2 + key.size;
	if (!is_block)
		memcpy(e->bytes, e->head, e->head_size);
	memcpy(e->bytes + e->size - value.size, value.data, value.size);
	if (perm && !is_block)
		e->to = 3; /* the prefix: what else is changed shows in the digest alone */
}

/* `id_col` counts from 1; 0: the key. */
static void read_table(sx_txn *txn, const sx_table *table, unsigned in, unsigned id_col)
{
	sx_slice key, value;
	sx_cursor *cursor;
	sx_rows rows;
	int rc;

	sx_rows_init(&rows, table->n_cols);
	sxt_must_ok(sx_cursor_open(txn, table->dbi, &cursor, &sxt_err));
	for (rc = sx_cursor_first(cursor, &key, &value, &sxt_err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, &sxt_err)) {
		int is_block = table->layout == SIMIDX_LAYOUT_BLOCKS;

		rows.n = 0;
		rc = is_block ? sx_table_block_decode(table, key, value, &rows, NULL, &sxt_err)
			      : sx_table_row_decode(table, key, value, &rows, &sxt_err);
		sxt_must_ok(rc);
		add_entry(in, strdup(table->name), &rows, id_col, table->perm, key, value,
			  is_block);
	}
	sxt_must_eq(rc, SIMIDX_E_END);
	sx_cursor_close(cursor);
	sx_rows_free(&rows);
}

static void read_labels(sx_txn *txn, sx_dbi labels)
{
	sx_slice key, value;
	sx_cursor *cursor;
	int rc;

	sxt_must_ok(sx_cursor_open(txn, labels, &cursor, &sxt_err));
	for (rc = sx_cursor_first(cursor, &key, &value, &sxt_err); !rc;
	     rc = sx_cursor_next(cursor, &key, &value, &sxt_err))
		add_entry(IN_LABELS, strdup("labels"), NULL, 0, NULL, key, value, 0);
	sx_cursor_close(cursor);
}

static void free_entries(void)
{
	for (size_t i = 0; i < t_n_entries; i++) {
		free(t_entries[i].table);
		free(t_entries[i].key);
		free(t_entries[i].bytes);
	}
	t_n_entries = 0;
}

static void read_entries(const char *path)
{
	simidx *index = sxt_open(path, SIMIDX_OPEN_READ_ONLY);
	const sx_tables *t = &index->tables;
	sx_snapshot s;

	sxt_must_ok(sx_snapshot_begin(&s, index, &sxt_err));
	for (unsigned i = 0; i < index->schema->plan.n_tables; i++)
		read_table(s.txn, &t->permuted[i], IN_TABLES, 0);
	read_table(s.txn, &index->fresh->log, IN_FRESH, t_flags & SIMIDX_CREATE_NO_IDS ? 3 : 2);
	if (!(t_flags & SIMIDX_CREATE_NO_IDS)) {
		read_table(s.txn, &t->postings, IN_POSTINGS, 1);
		read_table(s.txn, &t->docs, IN_DOCS, 0);
		read_table(s.txn, &t->by_label, IN_BY_LABEL, 1);
		read_labels(s.txn, t->labels);
	}
	sx_snapshot_end(&s);
	simidx_close(index);
}

void t_read_entries_again(void)
{
	free_entries();
	read_entries(t_path);
}

static void make_index(void)
{
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;
	char *loose = sxt_path(t_dir, "loose");
	simidx_writer *writer;
	simidx *index;

	o.flags = t_flags;
	o.layout = t_layout;
	o.profile = "of tests";
	index = sxt_create(loose, &o);
	sxt_model_store(&t_model, 0, T_MERGED, index);
	sxt_merge(index);
	writer = sxt_writer(index, 0);
	sxt_must_ok(simidx_writer_set_mark(writer, mark, sizeof(mark), &sxt_err));
	sxt_model_put(&t_model, T_MERGED, t_model.n, writer);
	sxt_commit(writer);
	simidx_writer_close(writer);
	/* A copy has no free pages, so what is found in it is in use. */
	sxt_must_ok(simidx_backup(index, t_path, &sxt_err));
	simidx_close(index);
	free(loose);
}

static int compare_docs(const void *a, const void *b)
{
	const sxt_doc *x = a, *y = b;

	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return x->fp < y->fp ? -1 : x->fp > y->fp;
}

void t_repair_begin(int kind)
{
	static const unsigned flags[] = { 0, SIMIDX_CREATE_FP2 | SIMIDX_CREATE_TIMES,
					  SIMIDX_CREATE_NO_IDS, SIMIDX_CREATE_TIMES };

	t_layout = kind & 1 ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS;
	t_flags = flags[kind / 2];
	sxt_model_init(&t_model, 64, t_flags);
	while (t_model.n < T_DOCUMENTS) {
		/* Without ids a fingerprint is there once, which makes what is expected simple. */
		uint64_t fp = sxt_rng_u64(&t_rng);

		if (!(t_flags & SIMIDX_CREATE_NO_IDS) && t_model.n % 5 == 4)
			fp = t_model.at[sxt_rng_below(&t_rng, t_model.n)].fp;
		sxt_model_add(&t_model, fp, &t_rng);
	}
	make_index();
	read_entries(t_path);
	qsort(t_model.at, t_model.n, sizeof(*t_model.at), compare_docs);
	t_where = calloc(t_model.n, sizeof(*t_where));
}

void t_repair_set_up(void)
{
	sxt_set_up_path();
	sxt_rng_init(&t_rng, 81);
	t_n_entries = 0;
	t_entries = NULL;
	t_where = NULL;
}

void t_repair_tear_down(void)
{
	free_entries();
	free(t_entries);
	free(t_where);
	sxt_model_free(&t_model);
	sxt_tear_down();
}

/* ---- damage ---- */

static t_entry *any_entry(unsigned in, const char *table)
{
	size_t n = 0, chosen, i;

	for (i = 0; i < t_n_entries; i++)
		n += t_entries[i].where == in && (!table || !strcmp(t_entries[i].table, table));
	sxt_must_gt(n, 0);
	chosen = (size_t)sxt_rng_below(&t_rng, n);
	for (i = 0;; i++)
		if (t_entries[i].where == in && (!table || !strcmp(t_entries[i].table, table)) &&
		    !chosen--)
			return &t_entries[i];
}

/* Mapped, as thousands of entries are looked for in it, and copies are slow with sanitizers. */
static const unsigned char *map_file(size_t *size)
{
	char *name = sxt_path(t_path, "data.mdb");
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	const unsigned char *bytes;
	struct stat st;

	sxt_must(fd >= 0 && !fstat(fd, &st));
	*size = (size_t)st.st_size;
	bytes = mmap(NULL, *size, PROT_READ, MAP_SHARED, fd, 0);
	sxt_must(bytes != MAP_FAILED);
	close(fd);
	free(name);
	return bytes;
}

static void unmap_file(const unsigned char *bytes, size_t size)
{
	munmap((void *)bytes, size);
}

static void write_file(size_t at, const unsigned char *bytes, size_t n)
{
	char *name = sxt_path(t_path, "data.mdb");
	int fd = open(name, O_WRONLY | O_CLOEXEC);

	sxt_must(fd >= 0);
	sxt_must_eq(pwrite(fd, bytes, n, (off_t)at), (ssize_t)n);
	close(fd);
	free(name);
}

void t_change_file(size_t at, unsigned char bits)
{
	size_t size;
	const unsigned char *bytes = map_file(&size);
	unsigned char byte;

	sxt_must(at < size);
	byte = bytes[at] ^ bits;
	unmap_file(bytes, size);
	write_file(at, &byte, 1);
}

/* Where an entry stands in the file. */
static size_t place_of(const t_entry *e)
{
	size_t size, at;
	const unsigned char *bytes = map_file(&size);
	const unsigned char *found = sxt_find(bytes, size, e->bytes, e->size);

	sxt_must(found != NULL);
	at = (size_t)(found - bytes);
	unmap_file(bytes, size);
	return at;
}

void t_change_entry(const t_entry *e, size_t at, unsigned char bits)
{
	size_t size, n = e->head_size;
	const unsigned char *file = map_file(&size), *found;

	/* What was changed before must not matter: the other half is looked for. */
	found = at < n ? sxt_find(file, size, e->bytes, at) : sxt_find(file, size, e->bytes, n);
	sxt_must(found != NULL);
	t_change_file((size_t)(found - file) + at, bits);
	unmap_file(file, size);
}

void t_damage_entry(t_entry *e)
{
	sxt_must(!e->is_damaged);
	t_change_file(place_of(e) + e->from + (size_t)sxt_rng_below(&t_rng, e->to - e->from),
		      (unsigned char)(1u << sxt_rng_below(&t_rng, 8)));
	e->is_damaged = 1;
}

void t_swap_entries(t_entry *a, t_entry *b)
{
	size_t at_a = place_of(a), at_b = place_of(b);

	write_file(at_a, b->bytes, b->size);
	write_file(at_b, a->bytes, a->size);
	a->is_damaged = b->is_damaged = 1;
}

/* Whether a page has the node of an entry: the key, and of a block the number of its page. */
static int is_in_page(const unsigned char *file, size_t size, size_t at, const t_entry *e)
{
	unsigned char node[sizeof(e->head) + 8], *block;

	if (e->size != T_PAGE - T_PAGE_HEADER)
		return sxt_find(file + at, T_PAGE, e->bytes, e->size) != NULL;
	block = sxt_find(file, size, e->bytes, e->size);
	sxt_must(block != NULL);
	memcpy(node, e->head, e->head_size);
	sx_store_le64(node + e->head_size, (uint64_t)(block - file) / T_PAGE);
	return sxt_find(file + at, T_PAGE, node, e->head_size + 8) != NULL;
}

void t_damage_leaf_of(const t_entry *e)
{
	size_t size, page = 2 * T_PAGE;
	const unsigned char *file = map_file(&size);

	while (page < size && (file[page + 10] != 2 || !is_in_page(file, size, page, e)))
		page += T_PAGE;
	sxt_must_lt(page, size);
	/* A block has a page of its own, and is found there. */
	for (size_t i = 0; i < t_n_entries; i++)
		if (t_entries[i].size != T_PAGE - T_PAGE_HEADER)
			t_entries[i].is_damaged |= is_in_page(file, size, page, &t_entries[i]);
	/* The first bytes say which page it is, and what kind of page. */
	t_change_file(page + (size_t)sxt_rng_below(&t_rng, 8),
		      (unsigned char)(1u << sxt_rng_below(&t_rng, 8)));
	unmap_file(file, size);
}

void t_damage_leaf(unsigned in, const char *table)
{
	t_damage_leaf_of(any_entry(in, table));
}

t_entry *t_damage(unsigned in, const char *table)
{
	t_entry *e = any_entry(in, table);

	t_damage_entry(e);
	return e;
}

/* ---- what is expected ---- */

size_t t_find_doc(uint64_t id)
{
	size_t low = 0, high = t_model.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (t_model.at[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	sxt_must(low < t_model.n && t_model.at[low].id == id);
	return low;
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

void t_find_left(void)
{
	int has_ids = !(t_flags & SIMIDX_CREATE_NO_IDS);
	uint64_t *fps = NULL;
	size_t n = 0;

	memset(t_where, 0, t_model.n * sizeof(*t_where));
	for (size_t i = 0; i < t_n_entries; i++) {
		const t_entry *e = &t_entries[i];
		int by_fp = e->where == IN_TABLES || !has_ids;

		if (e->is_damaged)
			continue;
		for (size_t k = 0; !by_fp && k < e->n; k++) {
			size_t d = t_find_doc(e->key[k]);

			t_where[d] |= e->where;
			if (e->where == IN_FRESH && t_model.at[d].label_size)
				t_where[d] |= IN_BY_LABEL;
		}
		if (by_fp) {
			fps = realloc(fps, (n + e->n) * sizeof(*fps));
			memcpy(fps + n, e->key, e->n * sizeof(*fps));
			n += e->n;
		}
	}
	qsort(fps, n, sizeof(*fps), compare_u64);
	for (size_t d = 0; d < t_model.n; d++)
		if (bsearch(&t_model.at[d].fp, fps, n, sizeof(*fps), compare_u64))
			t_where[d] |= IN_TABLES;
	free(fps);
}

int t_is_left(size_t d)
{
	unsigned by_id = IN_POSTINGS | IN_DOCS | IN_FRESH;

	return (t_where[d] & (t_flags & SIMIDX_CREATE_NO_IDS ? IN_TABLES : by_id)) != 0;
}

/* ---- what is told ---- */

void t_tell(void *ctx, const simidx_loss *loss)
{
	t_told *t = &t_told_at[t_n_told++];

	(void)ctx;
	sxt_must(t_n_told <= MOST_TOLD);
	sxt_must(loss->text && *loss->text && !loss->reserved);
	sxt_must(loss->label_size < sizeof(t->label) && !loss->label == !loss->label_size);
	t->kind = loss->kind;
	t->id = loss->id;
	t->has_fp = (loss->flags & SIMIDX_LOSS_HAS_FP) != 0;
	t->fp = loss->fp;
	t->label_size = loss->label_size;
	if (loss->label)
		memcpy(t->label, loss->label, loss->label_size);
}

size_t t_count_told(unsigned kind, uint64_t id)
{
	size_t n = 0;

	for (size_t i = 0; i < t_n_told; i++)
		n += t_told_at[i].kind == kind && (id == SIMIDX_NO_ID || t_told_at[i].id == id);
	return n;
}

/* A lost document is named by its fingerprint and by its id, as far as they are known. */
static void check_named(size_t d)
{
	const sxt_doc *doc = &t_model.at[d];
	int by_fp = 0, by_id = 0, shared = 0;

	for (size_t i = 0; i < t_model.n; i++)
		shared |= t_model.at[i].fp == doc->fp && t_is_left(i);
	for (size_t i = 0; i < t_n_told; i++) {
		const t_told *t = &t_told_at[i];

		if (t->kind != SIMIDX_LOSS_DOCUMENT)
			continue;
		by_fp += t->has_fp && t->fp == doc->fp;
		if (t->id != doc->id || doc->id == SIMIDX_NO_ID)
			continue;
		by_id++;
		sxt_must(t->label_size == (t_has_label(d) ? doc->label_size : 0) &&
			 !memcmp(t->label, doc->label, t->label_size));
	}
	sxt_must_eq(by_fp, t_where[d] & IN_TABLES && !shared);
	sxt_must_eq(by_id, doc->id != SIMIDX_NO_ID && t_where[d] & (IN_LABELS | IN_BY_LABEL));
}

static void check_told(const simidx_repair_report *report)
{
	int has_ids = !(t_flags & SIMIDX_CREATE_NO_IDS);
	uint64_t left = 0, fp2 = 0, times = 0, labels = 0, doubts = 0;
	uint64_t nameless = 0; /* labels: all of them are told of at once */
	uint64_t changes = t_damaged_changes(); /* here each one puts */

	for (size_t d = 0; d < t_model.n; d++) {
		const sxt_doc *doc = &t_model.at[d];
		int lacks_label = t_is_left(d) && doc->label_size && t_where[d] & IN_BY_LABEL &&
				  !(t_where[d] & IN_LABELS);
		int doubt = t_is_left(d) && t_has_label(d) && !(t_where[d] & IN_BY_LABEL);
		int lacks_values = t_is_left(d) && !t_has_values(d);
		int lacks_fp2 = lacks_values && t_flags & SIMIDX_CREATE_FP2;
		int lacks_time = lacks_values && t_flags & SIMIDX_CREATE_TIMES;

		left += (uint64_t)t_is_left(d);
		labels += (uint64_t)lacks_label;
		nameless += doc->label_size && !(t_where[d] & (IN_LABELS | IN_BY_LABEL));
		fp2 += (uint64_t)lacks_fp2;
		times += (uint64_t)lacks_time;
		doubts += (uint64_t)doubt;
		if (!t_is_left(d))
			check_named(d);
		if (!has_ids)
			continue;
		sxt_must_eq(t_count_told(SIMIDX_LOSS_LABEL, doc->id), (size_t)lacks_label);
		sxt_must_eq(t_count_told(SIMIDX_LOSS_FP2, doc->id), (size_t)lacks_fp2);
		sxt_must_eq(t_count_told(SIMIDX_LOSS_TIME, doc->id), (size_t)lacks_time);
		sxt_must_eq(t_count_told(SIMIDX_LOSS_DOUBT, doc->id), (size_t)doubt);
	}
	ck_assert_uint_eq(report->changes_lost, changes);
	ck_assert_int_eq(t_count_told(SIMIDX_LOSS_CHANGES, SIMIDX_NO_ID) > 0, changes > 0);
	ck_assert_uint_eq(report->documents, left); /* a lost change may have been merged already */
	ck_assert_uint_eq(report->documents_lost,
			  t_model.n - left > changes ? t_model.n - left : changes);
	ck_assert_uint_eq(report->labels_lost, labels + nameless);
	ck_assert_uint_eq(t_count_told(SIMIDX_LOSS_LABEL, SIMIDX_NO_ID), labels + (nameless > 0));
	ck_assert_uint_eq(report->unknown_fp2, fp2);
	ck_assert_uint_eq(report->times_lost, times);
	ck_assert_uint_eq(report->records_lost, 0);
	ck_assert_uint_eq(report->damaged, t_count_told(SIMIDX_LOSS_DAMAGE, SIMIDX_NO_ID));
	ck_assert_uint_eq(report->named, t_count_told(SIMIDX_LOSS_DOCUMENT, SIMIDX_NO_ID));
	if (has_ids)
		ck_assert_uint_eq(report->doubts, doubts);
}

/* ---- the new index ---- */

static void check_document(size_t d, const simidx_match *m)
{
	const sxt_doc *doc = &t_model.at[d];
	size_t label_size = t_has_label(d) ? doc->label_size : 0;

	sxt_must_eq(m->id, doc->id);
	sxt_must_eq(m->fp, doc->fp);
	sxt_must_eq(m->fp2, t_has_fp2(d) ? doc->fp2 : 0);
	sxt_must_eq((m->flags & SIMIDX_MATCH_FP2) != 0, t_has_fp2(d));
	sxt_must_eq(m->time, t_has_values(d) ? doc->time : 0);
	sxt_must(m->label_size == label_size && !memcmp(doc->label, m->label ? m->label : "",
							label_size));
}

static void check_new(const char *path)
{
	simidx_info old_info = SIMIDX_INFO_INIT, info = SIMIDX_INFO_INIT;
	simidx *index = sxt_open(path, SIMIDX_OPEN_READ_ONLY);
	simidx *old = sxt_open(t_path, SIMIDX_OPEN_READ_ONLY);
	char bytes[sizeof(mark)];
	simidx_walk *walk;
	simidx_match m;
	size_t size;

	sxt_check_sound(index);
	sxt_must_ok(simidx_get_info(old, &old_info, &sxt_err));
	sxt_must_ok(simidx_get_info(index, &info, &sxt_err));
	ck_assert_uint_eq(info.next_id, old_info.next_id);
	ck_assert_uint_eq(info.layout, t_layout);
	ck_assert_uint_eq(info.flags, t_flags);
	ck_assert_str_eq(info.plan, old_info.plan);
	ck_assert_str_eq(info.profile, "of tests");
	ck_assert_sx(simidx_get_mark(index, bytes, sizeof(bytes), &size, &sxt_err), SIMIDX_OK);
	ck_assert(size == sizeof(mark) && !memcmp(bytes, mark, size));
	ck_assert_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_OK);
	for (size_t d = 0; d < t_model.n; d++) {
		if (!t_is_left(d))
			continue;
		sxt_must_ok(simidx_walk_next(walk, &m, &sxt_err));
		check_document(d, &m);
	}
	ck_assert_sx(simidx_walk_next(walk, &m, &sxt_err), SIMIDX_E_END);
	simidx_walk_close(walk);
	simidx_close(index);
	simidx_close(old);
}

simidx_repair_report t_check_repair(void)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	simidx_repair_options how = SIMIDX_REPAIR_OPTIONS_INIT;
	char *path = sxt_path(t_dir, "new"), *name = sxt_path(t_path, "data.mdb");
	size_t size, size_after;
	void *before = sxt_file_read(name, &size), *after;

	t_n_told = 0;
	how.memory = 128 << 20; /* as little as can be: sanitizers are slow with much */
	ck_assert_sx(simidx_repair(t_path, path, &how, t_tell, NULL, &report, &sxt_err), SIMIDX_OK);
	after = sxt_file_read(name, &size_after);
	ck_assert(size == size_after && !memcmp(before, after, size));
	t_find_left();
	check_told(&report);
	check_new(path);
	sxt_remove(path);
	free(before);
	free(after);
	free(path);
	free(name);
	return report;
}

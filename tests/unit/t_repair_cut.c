/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Repairing a file that was cut short. What must be left is counted by sxt_entries.h: all documents
 * of which a block or a row of the last commit lies before the cut. What comes back besides must
 * have been there some time.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_info.h>
#include <simidx_load.h>
#include <simidx_repair.h>
#include <simidx_walk.h>

#include "support/sxt_entries.h"
#include "support/sxt_fixture.h"
#include "support/sxt_lmdb.h"
#include "support/sxt_model.h"

#define N_DOCS 3000
#define MOST_STATES 4
#define CUTS 20

#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

#ifdef __SANITIZE_ADDRESS__
#define T_SOME(n) (((n) + 3) / 4)
#else
#define T_SOME(n) (n)
#endif

/* ---- what was stored ---- */

struct state {
	uint64_t fp, fp2;
	uint32_t time;
	char label[24], note[24]; /* "": none */
};

/* A document, whose id is its number, and all that it ever was; the last one counts. */
static struct doc {
	struct state was[MOST_STATES];
	unsigned n_was;
	int is_there;
} docs[N_DOCS];

static sxt_rng rng;
static unsigned t_flags, t_layout;

static int has_ids(void)
{
	return !(t_flags & SIMIDX_CREATE_NO_IDS);
}

/* Some get the label of a document that was deleted. */
static const struct state *inherited(unsigned i)
{
	unsigned from = i - 1998;

	return i >= 2000 && i % 9 == 3 && docs[from].n_was == 1 && !docs[from].is_there
		       ? &docs[from].was[0]
		       : NULL;
}

static struct state *new_state(unsigned i)
{
	struct state *s = &docs[i].was[docs[i].n_was++];
	const struct state *old = inherited(i);

	sxt_must(docs[i].n_was <= MOST_STATES);
	docs[i].is_there = 1;
	s->fp = sxt_rng_u64(&rng);
	s->fp2 = sxt_rng_u64(&rng);
	s->time = (uint32_t)sxt_rng_below(&rng, 1000) + 1;
	if (i % 3 == 0)
		snprintf(s->label, sizeof(s->label), "label %u of %u", docs[i].n_was, i);
	if (old)
		memcpy(s->label, old->label, sizeof(s->label));
	if (i % 5 == 0)
		snprintf(s->note, sizeof(s->note), "note %u of %u", docs[i].n_was, i);
	return s;
}

static simidx_doc doc_of(unsigned i, const struct state *s)
{
	simidx_doc doc = SIMIDX_DOC_INIT;

	doc.fp = s->fp;
	if (!has_ids())
		return doc;
	doc.id = i;
	doc.label = *s->label ? s->label : NULL;
	doc.label_size = strlen(s->label);
	if (t_flags & SIMIDX_CREATE_FP2) {
		doc.fp2 = s->fp2;
		doc.flags |= SIMIDX_DOC_FP2;
	}
	if (t_flags & SIMIDX_CREATE_TIMES) {
		doc.time = s->time;
		doc.flags |= SIMIDX_DOC_TIME;
	}
	doc.note = t_flags & SIMIDX_CREATE_NOTES && *s->note ? s->note : NULL;
	doc.note_size = strlen(s->note);
	return doc;
}

enum change { ADD, REPLACE, DELETE };

/* Change every `step`th document of a range, from `first` on, in one commit. */
static void change(simidx *index, enum change what, unsigned first, unsigned end, unsigned step)
{
	simidx_writer *writer = sxt_writer(index, 0);

	for (unsigned i = first; i < end; i += step) {
		simidx_doc doc;

		if (what == DELETE && docs[i].is_there) {
			sxt_must_ok(simidx_writer_delete_id(writer, i, &sxt_err));
			docs[i].is_there = 0;
		}
		if (what == DELETE || (what == REPLACE && !docs[i].is_there))
			continue;
		doc = doc_of(i, new_state(i));
		if (what == ADD)
			sxt_must_ok(simidx_writer_put(writer, &doc, NULL, &sxt_err));
		else
			sxt_must_ok(simidx_writer_replace(writer, &doc, NULL, &sxt_err));
	}
	sxt_commit(writer);
	simidx_writer_close(writer);
}

static void make_by_commits(const simidx_create_options *o)
{
	simidx *index = sxt_create(t_path, o);

	for (unsigned i = 0; i < 2000; i += 500) {
		change(index, ADD, i, i + 500, 1);
		if (i % 1000)
			sxt_merge(index);
	}
	if (has_ids()) {
		change(index, DELETE, 3, 2000, 9);
		change(index, REPLACE, 3, 2000, 7);
		sxt_merge(index);
	}
	change(index, ADD, 2000, 2500, 1);
	sxt_merge(index);
	if (has_ids()) {
		change(index, REPLACE, 5, 2500, 11);
		change(index, DELETE, 6, 2500, 13);
	}
	change(index, ADD, 2500, N_DOCS, 1);
	simidx_close(index);
}

static void make_by_load(const simidx_create_options *o)
{
	simidx_loader_options how = SIMIDX_LOADER_OPTIONS_INIT;
	simidx_loader *loader;

	how.memory = 64 << 20;
	sxt_must_ok(simidx_loader_open(t_path, o, &how, &loader, &sxt_err));
	for (unsigned i = 0; i < N_DOCS; i++) {
		simidx_doc doc = doc_of(i, new_state(i));

		sxt_must_ok(simidx_loader_put(loader, &doc, NULL, &sxt_err));
	}
	sxt_must_ok(simidx_loader_finish(loader, NULL, &sxt_err));
	simidx_loader_close(loader);
}

/* ---- what the file has, of the last commit ---- */

static sxt_entry *entries;
static size_t n_entries;

static void read_entries(const unsigned char *file)
{
	unsigned values = ((t_flags & SIMIDX_CREATE_FP2) != 0) +
			  ((t_flags & SIMIDX_CREATE_TIMES) != 0);

	entries = sxt_entries_read(file, values, &n_entries);
	sxt_must_gt(n_entries, N_DOCS);
	/* Without ids a document is its fingerprint. */
	for (size_t i = 0; i < n_entries && !has_ids(); i++)
		if (entries[i].table == SXT_FRESH)
			entries[i].id = entries[i].fp;
}

/* ---- what must be left ---- */

/* Of each document, what lies before the cut. */
static struct left {
	int document;         /* itself: in postings, docs or the last row about it */
	int label, hash, note;
	uint64_t last_seq;    /* of the last row about it, wherever it lies, and 1 */
} left[N_DOCS];

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Returns how many documents must be left. */
static size_t find_left(size_t cut)
{
	size_t n = 0;

	memset(left, 0, sizeof(left));
	for (size_t i = 0; i < n_entries; i++)
		if (entries[i].table == SXT_FRESH && entries[i].seq >= left[entries[i].id].last_seq)
			left[entries[i].id].last_seq = entries[i].seq + 1;
	for (size_t i = 0; i < n_entries; i++) {
		const sxt_entry *e = &entries[i];
		struct left *l = e->table < SXT_POSTINGS ? NULL : &left[e->id];
		int is_last = l && e->table == SXT_FRESH && e->seq + 1 == l->last_seq &&
			      !e->is_delete;

		if (!l || e->end > cut)
			continue;
		/* Where the last row is lost the one before it counts, which may delete. */
		l->document |= is_last ||
			       (!l->last_seq && (e->table == SXT_POSTINGS || e->table == SXT_DOCS));
		l->label |= e->table == SXT_LABELS;
		l->note |= e->table == SXT_NOTES;
		l->hash |= is_last || (!l->last_seq && e->table == SXT_BY_LABEL);
	}
	for (unsigned i = 0; i < N_DOCS; i++) {
		left[i].document &= docs[i].is_there;
		n += (size_t)left[i].document;
	}
	return n;
}

/* ---- repairing ---- */

static struct told {
	int of_free_pages, of_header;
} told;

static void note_loss(void *ctx, const simidx_loss *loss)
{
	(void)ctx;
	if (loss->kind != SIMIDX_LOSS_DOUBT || !loss->table)
		return;
	told.of_free_pages |= !strcmp(loss->table, "free pages");
	told.of_header |= !strcmp(loss->table, "basis");
}

/* What it was like; -1: it never was. */
static int find_state(const simidx_match *m, const void *note, size_t note_size)
{
	const struct doc *d = &docs[m->id];

	for (unsigned i = d->n_was; i-- > 0;) {
		const struct state *s = &d->was[i];

		if (m->fp != s->fp || (m->flags & SIMIDX_MATCH_FP2 && m->fp2 != s->fp2) ||
		    (m->time && m->time != s->time))
			continue;
		/* Labels and notes stand elsewhere, and may be those of another time. */
		for (unsigned k = 0; k <= d->n_was; k++) {
			sxt_must(!m->label_size || k < d->n_was);
			if (!m->label_size || (strlen(d->was[k].label) == m->label_size &&
					       !memcmp(d->was[k].label, m->label, m->label_size)))
				break;
		}
		for (unsigned k = 0; k <= d->n_was; k++) {
			sxt_must(!note_size || k < d->n_was);
			if (!note_size || (strlen(d->was[k].note) == note_size &&
					   !memcmp(d->was[k].note, note, note_size)))
				break;
		}
		return (int)i;
	}
	return -1;
}

/* With ids. `is_certain`: nothing was told that makes it doubtful. */
static void check_documents(simidx *index, int is_certain)
{
	static unsigned char is_there[N_DOCS];
	const void *note = NULL;
	simidx_walk *walk;
	simidx_match m;
	size_t size = 0;
	int rc;

	memset(is_there, 0, sizeof(is_there));
	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	while (!(rc = simidx_walk_next(walk, &m, &sxt_err))) {
		const struct left *l = &left[m.id];
		int state;

		sxt_must(m.id < N_DOCS && !is_there[m.id]);
		is_there[m.id] = 1;
		if (t_flags & SIMIDX_CREATE_NOTES)
			sxt_must_ok(simidx_walk_note(walk, &note, &size, &sxt_err));
		state = find_state(&m, note, size);
		sxt_must_ge(state, 0);
		if (is_certain) {
			sxt_must(l->document);
			sxt_must_eq(state, (int)docs[m.id].n_was - 1);
		}
		/* Two that may have one label have none, but for one of them. */
		if (l->document && l->label && l->hash && m.id % 3 == 0 &&
		    (is_certain || !inherited((unsigned)m.id)))
			sxt_must(m.label_size);
		if (l->document && l->note && m.id % 5 == 0 && t_flags & SIMIDX_CREATE_NOTES)
			sxt_must(size);
	}
	sxt_must_eq(rc, SIMIDX_E_END);
	simidx_walk_close(walk);
	for (unsigned i = 0; i < N_DOCS; i++)
		sxt_must(is_there[i] || !left[i].document);
}

/* Without ids: the fingerprints, of which none was ever deleted. Returns how many must be there. */
static size_t find_fingerprints(size_t cut, uint64_t *out)
{
	size_t n = 0, distinct = 0;

	for (size_t i = 0; i < n_entries; i++)
		if (entries[i].end <= cut)
			out[n++] = entries[i].id;
	qsort(out, n, sizeof(*out), compare_u64);
	for (size_t i = 0; i < n; i++)
		if (!distinct || out[i] != out[distinct - 1])
			out[distinct++] = out[i];
	return distinct;
}

static void check_fingerprints(simidx *index, const uint64_t *want, size_t n)
{
	uint64_t all[N_DOCS];
	simidx_walk *walk;
	simidx_match m;
	size_t at = 0;
	int rc;

	for (unsigned i = 0; i < N_DOCS; i++)
		all[i] = docs[i].was[0].fp;
	qsort(all, N_DOCS, sizeof(*all), compare_u64);
	sxt_must_ok(simidx_walk_open(index, &walk, &sxt_err));
	while (!(rc = simidx_walk_next(walk, &m, &sxt_err))) {
		sxt_must(bsearch(&m.fp, all, N_DOCS, sizeof(*all), compare_u64) != NULL);
		at += at < n && want[at] == m.fp;
	}
	sxt_must_eq(rc, SIMIDX_E_END);
	sxt_must_eq(at, n);
	simidx_walk_close(walk);
}

/* Returns how many documents must be left, and are. */
static size_t check_cut(const char *path, size_t cut)
{
	uint64_t *fps = calloc(n_entries, sizeof(*fps));
	size_t n = has_ids() ? find_left(cut) : find_fingerprints(cut, fps);
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	simidx_repair_options how = SIMIDX_REPAIR_OPTIONS_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index;
	int rc;

	memset(&told, 0, sizeof(told));
	how.memory = 128 << 20;
	how.threads = 1;
	ck_assert_int_eq(truncate(t_data, (off_t)cut), 0);
	rc = simidx_repair(t_path, path, &how, note_loss, NULL, &report, &sxt_err);
	if (rc == SIMIDX_E_CORRUPT && !n) {
		ck_assert_ptr_nonnull(strstr(sxt_err.text, "header"));
		ck_assert_int_ne(access(path, F_OK), 0);
		free(fps);
		return 0;
	}
	ck_assert_msg(!rc, "cut at %zu: %s", cut, sxt_err.text);
	ck_assert_uint_eq(report.header_lost, told.of_header);
	index = sxt_open(path, 0);
	sxt_check_sound(index);
	ck_assert_sx(simidx_get_info(index, &info, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(info.flags, t_flags);
	ck_assert_uint_eq(info.layout, t_layout);
	ck_assert_str_eq(info.profile, "of tests");
	if (has_ids())
		check_documents(index,
				!told.of_free_pages && !told.of_header && !report.changes_lost);
	else
		check_fingerprints(index, fps, n);
	simidx_close(index);
	sxt_remove(path);
	free(fps);
	return n;
}

static void begin(int kind)
{
	static const unsigned flags[] = { 0,
					  SIMIDX_CREATE_FP2 | SIMIDX_CREATE_TIMES |
						  SIMIDX_CREATE_NOTES,
					  SIMIDX_CREATE_NO_IDS };
	simidx_create_options o = SIMIDX_CREATE_OPTIONS_INIT;

	sxt_rng_init(&rng, 82 + (uint64_t)kind);
	memset(docs, 0, sizeof(docs));
	entries = NULL;
	o.layout = t_layout = kind & 1 ? SIMIDX_LAYOUT_ROWS : SIMIDX_LAYOUT_BLOCKS;
	o.flags = t_flags = flags[kind / 2 % 3];
	o.plan = "4x16";
	o.profile = "of tests";
	if (kind / 6)
		make_by_load(&o);
	else
		make_by_commits(&o);
}

/*
 * Blocks and rows, each plain, with all columns and notes, or without ids; by commits, and by a
 * bulk load.
 */
START_TEST(test_cut_files)
{
	char *path = sxt_path(t_dir, "new");
	size_t size, n = 0, last = 0;
	unsigned char *file;

	begin(_i);
	file = sxt_file_read(t_data, &size);
	read_entries(file);
	for (size_t i = 0; i < CUTS; i++) {
		/* Between pages and within them, and the last one just before the end. */
		size_t cut = 2 * PAGE + (size - 2 * PAGE) * i / (CUTS - 1) - (i == CUTS - 1);

		if (i % 2)
			cut = cut / PAGE * PAGE;
		sxt_file_write(t_data, file, size);
		last = check_cut(path, cut);
		n += last;
	}
	/* More than a page is hardly ever lost at the end. */
	ck_assert_uint_gt(last, N_DOCS / 2);
	ck_assert_uint_gt(n, N_DOCS * 4);
	free(entries);
	free(file);
	free(path);
}
END_TEST

/* ---- trees decide what they still lead to ---- */

static uint64_t key_of(const sxt_entry *e)
{
	return e->table == SXT_POSTINGS ? e->fp : e->id;
}

/* Damage a page in the middle of a table, and say between which keys entries are lost. */
static size_t damage_leaf(unsigned char *file, unsigned table, uint64_t *low, uint64_t *high)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t end = 0, n = 0, at = 0;

	for (size_t i = 0; i < n_entries; i++)
		n += entries[i].table == table;
	for (size_t i = 0; i < n_entries; i++)
		if (entries[i].table == table && at++ == n / 2)
			end = entries[i].end;
	for (size_t i = 0; i < n_entries; i++) {
		const sxt_entry *e = &entries[i];

		if (e->table != table || e->end != end)
			continue;
		first = key_of(e) < first ? key_of(e) : first;
		last = key_of(e) > last ? key_of(e) : last;
	}
	*low = 0;
	*high = UINT64_MAX;
	for (size_t i = 0; i < n_entries; i++) {
		uint64_t key = key_of(&entries[i]);

		if (entries[i].table == table && key < first && key > *low)
			*low = key;
		if (entries[i].table == table && key > last && key < *high)
			*high = key;
	}
	file[end - PAGE] ^= 0x40;
	return end;
}

/*
 * Leaves of two tables are damaged, and the list of free pages: so nothing tells old rows from lost
 * ones. They come back between the keys that are lost, and nowhere else.
 */
START_TEST(test_trees_decide)
{
	simidx_repair_report report = SIMIDX_REPAIR_REPORT_INIT;
	simidx_repair_options how = SIMIDX_REPAIR_OPTIONS_INIT;
	uint64_t low[2], high[2];
	char *path = sxt_path(t_dir, "new");
	size_t size, end[2], n = 0;
	unsigned char *file, *meta;
	simidx_walk *walk;
	simidx_match m;
	simidx *index;

	begin(1 + 2 * _i);
	/* Deleted documents are still in the pages that the last merge has freed. */
	index = sxt_open(t_path, 0);
	change(index, DELETE, 1, N_DOCS, 10);
	sxt_merge(index);
	simidx_close(index);
	file = sxt_file_read(t_data, &size);
	meta = file + (get64(file + PAGE + META_TXN) > get64(file + META_TXN) ? PAGE : 0);
	read_entries(file);
	end[0] = damage_leaf(file, SXT_POSTINGS, &low[0], &high[0]);
	end[1] = damage_leaf(file, SXT_DOCS, &low[1], &high[1]);
	file[get64(meta + META_FREE_ROOT) * PAGE] ^= 0x40;
	for (size_t i = 0; i < n_entries; i++)
		if (entries[i].end == end[0] || entries[i].end == end[1])
			entries[i].end = size + PAGE;
	find_left(size);
	sxt_file_write(t_data, file, size);
	memset(&told, 0, sizeof(told));
	how.memory = 128 << 20;
	ck_assert_sx(simidx_repair(t_path, path, &how, note_loss, NULL, &report, &sxt_err),
		     SIMIDX_OK);
	ck_assert(!told.of_header);
	ck_assert_uint_eq(report.changes_lost, 0);
	index = sxt_open(path, 0);
	sxt_check_sound(index);
	ck_assert_sx(simidx_walk_open(index, &walk, &sxt_err), SIMIDX_OK);
	while (!simidx_walk_next(walk, &m, &sxt_err)) {
		n += (size_t)left[m.id].document;
		sxt_must_ge(find_state(&m, NULL, 0), 0);
		if (!docs[m.id].is_there)
			sxt_must((m.fp > low[0] && m.fp < high[0]) ||
				 (m.id > low[1] && m.id < high[1]));
	}
	simidx_walk_close(walk);
	simidx_close(index);
	ck_assert_uint_eq(n, find_left(size));
	ck_assert_uint_gt(n, N_DOCS * 2 / 3);
	free(entries);
	free(file);
	free(path);
}
END_TEST

/* ---- a cut by far ---- */

/* So much is missing that the file cannot be opened for anything else. */
START_TEST(test_cut_by_far)
{
	char *path = sxt_path(t_dir, "new");
	size_t size, n;
	unsigned char *file;
	simidx *index;

	begin(6);
	file = sxt_file_read(t_data, &size);
	read_entries(file);
	n = find_left(size);
	for (size_t meta = 0; meta <= PAGE; meta += PAGE)
		put64(file + meta + META_LAST_PAGE,
		      get64(file + meta + META_LAST_PAGE) + (1 << 20));
	sxt_file_write(t_data, file, size);
	ck_assert_sx(simidx_open(t_path, NULL, &index, &sxt_err), SIMIDX_E_CORRUPT);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, "cut short"));
	ck_assert_uint_eq(check_cut(path, size), n);
	ck_assert_uint_eq(n, N_DOCS);
	free(entries);
	free(file);
	free(path);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_cut_files, 0, T_SOME(12) },
	{ &test_trees_decide, 0, 2 },
	{ &test_cut_by_far, 0, 1 },
};

SXT_SUITE(repair_cut, sxt_set_up_path, sxt_tear_down);

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "repair/sx_repair_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "index/sx_notes.h"
#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

#define ROWS_AT_ONCE 256

struct reading {
	sx_repair *r;
	const sx_table *table;
	sx_repair_rows_fn *take;
	sx_repair_tally *tally; /* or NULL */
	sx_rows rows;
	int has_last;
	sx_sort_key last; /* entry of the last block that was sound */
};

/* What is damaged is told; anything else ends the repair. What was found may be sound elsewhere. */
static int pass_over(struct reading *g, const simidx_error *err)
{
	if (err->code != SIMIDX_E_CORRUPT)
		return sx_fail(g->r->err, err->code, "%s", err->text);
	if (g->tally && !sx_repair_is_found(g->r))
		sx_repair_tell_damage(g->r, g->table->name, err->text);
	return SIMIDX_OK;
}

static int hand_over(struct reading *g)
{
	int rc = SIMIDX_OK;

	for (size_t i = 0; g->tally && i < g->rows.n; i++)
		g->tally->digest += sx_table_row_hash(g->table, &g->rows, i);
	if (g->tally)
		g->tally->rows += g->rows.n;
	if (g->take && g->rows.n)
		rc = g->take(g->r, g->table, &g->rows);
	g->rows.n = 0;
	return rc;
}

/* Where a tree decides, old blocks do not count. */
static int is_wanted(sx_repair *r, sx_slice key)
{
	if (r->reading.whose != SX_PAGES_ANY)
		return 1;
	if (!sx_page_is_lost(&r->reading, key))
		return 0;
	r->has_old_pages = 1;
	return 1;
}

/*
 * A block that has changed places with another one has the right checksum. Its entries show it:
 * they ascend from those of the block before and do not pass its key. A key that is wrong itself
 * costs this block alone, as the next one is compared with the entries and not with the key.
 */
static int read_block(struct reading *g, sx_slice key, sx_slice value)
{
	unsigned char own_key[SX_TABLE_MAX_KEY];
	simidx_error err = { 0 };
	sx_sort_key fence;
	int rc = sx_table_block_decode(g->table, key, value, &g->rows, NULL, &err);

	/* Its key is lost: that of its last entry will do, and what it comes after is not known. */
	if (!key.data && !rc) {
		sx_sort_key last = sx_sort_key_of(g->table, &g->rows, g->rows.n - 1);

		key = (sx_slice){ own_key, sx_table_key(g->table, last, own_key) };
		g->has_last = 0;
	}

	if (!rc)
		rc = sx_table_check_order(g->table, key, &g->rows, g->has_last ? &g->last : NULL,
					  &fence, &err);
	if (!rc && is_wanted(g->r, key)) {
		g->last = sx_sort_key_of(g->table, &g->rows, g->rows.n - 1);
		g->has_last = 1;
		return hand_over(g);
	}
	g->rows.n = 0;
	return rc ? pass_over(g, &err) : SIMIDX_OK;
}

static int read_row(struct reading *g, sx_slice key, sx_slice value)
{
	simidx_error err = { 0 };
	int rc = sx_table_row_decode(g->table, key, value, &g->rows, &err);

	if (rc)
		return pass_over(g, &err);
	g->r->has_old_pages |= g->r->reading.whose == SX_PAGES_ANY;
	return g->rows.n == ROWS_AT_ONCE ? hand_over(g) : SIMIDX_OK;
}

/* ---- tables ---- */

/* What the pages of a table have, one after another. */
struct pages {
	sx_repair *r;
	const char *name; /* of the table; NULL: nothing is told */
	int (*see)(void *ctx, sx_slice key, sx_slice value);
	void *ctx;
};

static int see_value(void *ctx, sx_slice key, sx_slice value)
{
	struct pages *p = ctx;
	int rc = p->see(p->ctx, key, value);

	return rc ? rc : sx_repair_progress(p->r, "reading");
}

static void tell_page(void *ctx, const char *table, const char *text)
{
	struct pages *p = ctx;

	/* The tree of tables is looked at each time. */
	if (!strcmp(table, SX_PAGE_TABLES) && !*p->r->tables_problem)
		snprintf(p->r->tables_problem, sizeof(p->r->tables_problem), "%s", text);
	if (p->name && !strcmp(p->name, table))
		sx_repair_tell_damage(p->r, table, text);
}

/* `finds`: also what may be other tables', which `see` tells apart. */
static int read_pages(sx_repair *r, const char *table, int tells, unsigned finds,
		      int (*see)(void *ctx, sx_slice key, sx_slice value), void *ctx)
{
	struct pages p = { r, tells ? table : NULL, see, ctx };
	simidx_error err = { 0 };
	int rc;

	r->reading = (sx_page_reading){ .value = see_value, .problem = tell_page, .ctx = &p,
					.finds = finds };
	rc = sx_page_read(r->txn, &r->roots, table, &r->reading, &err);
	if (rc == SIMIDX_E_NOT_FOUND) {
		if (tells)
			sx_repair_tell_damage(r, table,
					      *r->tables_problem
						      ? "the list of tables is damaged, and does "
							"not have it any more"
						      : "the table is missing");
		return SIMIDX_OK;
	}
	return err.code ? sx_fail(r->err, rc, "%s", err.text) : rc;
}

static int see_key(void *ctx, sx_slice key, sx_slice value)
{
	struct reading *g = ctx;

	/* What follows lies elsewhere. */
	if (!value.data)
		g->has_last = 0;
	if (!value.data || (!key.data && g->table->layout == SIMIDX_LAYOUT_ROWS))
		return SIMIDX_OK;
	return g->table->layout == SIMIDX_LAYOUT_BLOCKS ? read_block(g, key, value)
							: read_row(g, key, value);
}

int sx_repair_read_table(sx_repair *r, const sx_table *table, sx_repair_rows_fn *take,
			 sx_repair_tally *tally)
{
	struct reading g = { .r = r, .table = table, .take = take, .tally = tally };
	int rc;

	if (tally)
		memset(tally, 0, sizeof(*tally));
	sx_rows_init(&g.rows, table->n_cols);
	rc = read_pages(r, table->name, tally != NULL,
			table->layout == SIMIDX_LAYOUT_BLOCKS ? SX_PAGES_FIND_BLOCKS
							      : SX_PAGES_FIND_LEAVES,
			see_key, &g);
	if (!rc)
		rc = hand_over(&g);
	sx_rows_free(&g.rows);
	return rc;
}

/* ---- labels and notes ---- */

struct labels {
	sx_repair *r;
	sx_repair_label_fn *take;
};

/*
 * Whether what was found is of another table with ids or numbers for its keys: those have
 * checksums.
 */
static int is_of_other(sx_repair *r, sx_slice key, sx_slice value, int *yes)
{
	const sx_table *tables[] = { &sx_repair_old(r)->tables.docs,
				     &sx_repair_old(r)->fresh->log };
	sx_slice note;
	int rc = SIMIDX_OK;

	*yes = sx_repair_is_found(r) && !sx_note_decode(sx_load_be64(key.data), value, &note, NULL);
	for (int t = 0; t < 2 && !rc && !*yes && sx_repair_is_found(r); t++) {
		sx_rows rows;

		sx_rows_init(&rows, tables[t]->n_cols);
		rc = tables[t]->layout == SIMIDX_LAYOUT_BLOCKS
			     ? sx_table_block_decode(tables[t], key, value, &rows, NULL, NULL)
			     : sx_table_row_decode(tables[t], key, value, &rows, NULL);
		*yes = !rc;
		rc = rc == SIMIDX_E_CORRUPT ? SIMIDX_OK : rc;
		sx_rows_free(&rows);
	}
	return rc ? sx_fail_nomem(r->err) : SIMIDX_OK;
}

static int see_label(void *ctx, sx_slice key, sx_slice value)
{
	struct labels *g = ctx;
	int is_label = key.size == 8 && value.size && value.size <= SIMIDX_MAX_LABEL;
	int is_other, rc;

	/* The document of a label whose key is lost cannot be known. */
	if (!key.data)
		return SIMIDX_OK;
	if (!is_label && !sx_repair_is_found(g->r))
		sx_repair_tell_damage(g->r, "labels",
				      "an entry has a key or value of a wrong size");
	if (!is_label)
		return SIMIDX_OK;
	rc = is_of_other(g->r, key, value, &is_other);
	return rc || is_other ? rc : g->take(g->r, sx_load_be64(key.data), value);
}

int sx_repair_read_labels(sx_repair *r, sx_repair_label_fn *take)
{
	struct labels g = { r, take };

	return read_pages(r, "labels", 1, SX_PAGES_FIND_LEAVES, see_label, &g);
}

static int see_note(void *ctx, sx_slice key, sx_slice value)
{
	struct labels *g = ctx;
	uint64_t id = key.data && key.size == 8 ? sx_load_be64(key.data) : 0;
	simidx_error err = { 0 };
	sx_slice note;

	/* Without its key nothing tells whose a note is, and what follows a gap has no value. */
	if (!key.data || !value.data)
		return SIMIDX_OK;
	if (key.size == 8 && !sx_note_decode(id, value, &note, &err)) {
		g->r->has_old_pages |= g->r->reading.whose == SX_PAGES_ANY;
		return g->take(g->r, id, note);
	}
	if (!sx_repair_is_found(g->r))
		sx_repair_tell_damage(g->r, "notes", err.code ? err.text
							     : "a key has a wrong size");
	return SIMIDX_OK;
}

int sx_repair_read_notes(sx_repair *r, sx_repair_label_fn *take)
{
	struct labels g = { r, take };

	return read_pages(r, "notes", 1, SX_PAGES_FIND_LEAVES, see_note, &g);
}

/* ---- meta ---- */

/* The records of all copies; of those that are sound the one of the latest commit stays. */
struct meta {
	sx_repair *r;
	const char *name; /* of the copy at hand */
	sx_profile profile;
	int has_header, has_profile, has_mark;
	int is_newer; /* the header of the copy at hand is sound, and the later one */
	int saw_mark;
	simidx_error err; /* of the first header that was not sound */
};

static int is_key(sx_slice key, const char *name)
{
	return key.size == strlen(name) && !memcmp(key.data, name, key.size);
}

static int see_record(void *ctx, sx_slice key, sx_slice value)
{
	struct meta *m = ctx;
	sx_repair *r = m->r;
	simidx_error err = { 0 };
	sx_profile profile;
	sx_mark mark;
	sx_header *header;
	int rc = SIMIDX_OK;

	if (is_key(key, "header")) {
		header = sx_calloc(1, sizeof(*header));
		rc = header ? sx_header_decode(header, value, &err) : sx_fail_nomem(&err);
		m->is_newer = !rc && header->commit >= r->header.commit;
		if (m->is_newer) {
			r->header = *header;
			r->is_header_old = !header->commit || r->reading.whose == SX_PAGES_ANY;
		} else if (rc && !m->err.code) {
			m->err = err;
		}
		m->has_header |= !rc;
		free(header);
	} else if (is_key(key, "profile")) {
		rc = sx_meta_decode_profile(value, &profile, &err);
		if (!rc && (m->is_newer || !m->has_profile)) {
			sx_meta_free_profile(&m->profile);
			m->profile = profile;
			m->has_profile = 1;
		} else if (!rc) {
			sx_meta_free_profile(&profile);
		}
	} else if (is_key(key, "mark")) {
		m->saw_mark = 1;
		rc = sx_meta_decode_mark(value, &mark, &err);
		if (!rc && (m->is_newer || !m->has_mark)) {
			r->mark = mark;
			m->has_mark = 1;
		}
	}
	if (rc == SIMIDX_E_NOMEM)
		return sx_fail_nomem(r->err);
	/* A header of another version is not damaged. */
	if (rc && rc != SIMIDX_E_VERSION && !sx_repair_is_found(r))
		sx_repair_tell_damage(r, m->name, err.text);
	return SIMIDX_OK;
}

/*
 * Read the other header page's commit where that is the later one: a changed transaction number has
 * made LMDB take an older one for the last.
 */
static int choose_commit(sx_repair *r)
{
	uint64_t commit, other_commit;
	sx_page_roots other;
	int rc = sx_meta_find_commit(r->txn, &r->roots, &commit, r->err);

	if (!rc)
		rc = sx_page_other(r->txn, &r->roots, &other, r->err);
	if (!rc)
		rc = sx_meta_find_commit(r->txn, &other, &other_commit, r->err);
	if (rc || !commit || other_commit <= commit)
		return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
	r->roots = other;
	sx_repair_tell_damage(r, SX_PAGE_TABLES,
			      "a header page has another transaction number than its commit, so "
			      "that an older commit is shown; the later one is read");
	return SIMIDX_OK;
}

/* What the index is at least, where the last header is lost. Counts and the mark are old then. */
static int find_older(struct meta *m)
{
	sx_repair *r = m->r;
	simidx_loss loss = { .kind = SIMIDX_LOSS_DOUBT,
			     .table = sx_meta_basis,
			     .id = SIMIDX_NO_ID };
	int rc;

	m->is_newer = 0;
	/* Of no table: all that nothing leads to. */
	rc = read_pages(r, "", 0, SX_PAGES_FIND_LEAVES, see_record, m);
	if (rc || !m->has_header || !r->is_header_old)
		return rc;
	sx_repair_tell(r, &loss,
		       "the header of the last commit is lost; an older copy tells what the index "
		       "is, but not how many documents, labels and changes are lost, and ids that "
		       "were given may be given again");
	if (m->saw_mark)
		sx_repair_tell_record(r, "the mark is lost: the new index has none");
	r->report.header_lost = 1;
	m->saw_mark = 0;
	r->mark.size = 0;
	r->header.state = 0;
	r->header.documents = r->header.labels = r->header.notes = 0;
	r->header.next_seq = SX_REPAIR_MAX_SEQ;
	if (r->header.flags & SIMIDX_CREATE_FP2 && !(r->header.flags & SX_FLAG_UNKNOWN_FP2)) {
		r->header.flags |= SX_FLAG_UNKNOWN_FP2;
		r->header.unknown_fp2 = SX_UNKNOWN_FP2;
	}
	return SIMIDX_OK;
}

int sx_repair_read_meta(sx_repair *r, sx_profile *profile)
{
	struct meta m = { .r = r };
	int rc = choose_commit(r);

	for (unsigned i = 0; !rc && i < SX_META_COPIES; i++) {
		m.name = sx_meta_names[i];
		m.is_newer = 0;
		rc = read_pages(r, m.name, 1, 0, see_record, &m);
	}
	m.name = sx_meta_basis;
	m.is_newer = 0;
	if (!rc && m.err.code != SIMIDX_E_VERSION && (!m.has_header || !m.has_profile))
		rc = read_pages(r, m.name, 0, 0, see_record, &m);
	if (!rc && m.err.code != SIMIDX_E_VERSION && (!m.has_header || r->is_header_old))
		rc = find_older(&m);
	*profile = m.profile;
	if (rc)
		return rc;
	if (!m.has_header && m.err.code)
		return sx_fail(r->err, m.err.code, "%s", m.err.text);
	if (!m.has_header)
		return sx_fail(r->err, SIMIDX_E_CORRUPT, "no sound copy of its header is left%s%s",
			       *r->tables_problem ? "; the list of tables is damaged: " : "",
			       r->tables_problem);
	if (!m.has_profile)
		sx_repair_tell_record(r, "the profile is damaged: the new index has none");
	if (m.saw_mark && !m.has_mark)
		sx_repair_tell_record(r, "the mark is damaged: the new index has none");
	return SIMIDX_OK;
}

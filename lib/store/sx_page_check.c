/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "store/sx_page_check.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/sx_store_handle.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define META_TRIES 10000 /* each meets another commit in the microsecond after it began */

/* ------------------------------------------------------------------------------------------
 * The whole file
 */

/*
 * The tree of tables first, then each table, last the free pages: so a page is missed where it is
 * used. Each transaction but the first one frees pages, as it writes all that it changes to other
 * ones. Another number in the header page is not its own, and makes an older commit look like the
 * last one.
 */
static int check_trees(sx_pages *c, const sx_lmdb_meta *meta)
{
	sx_page_tree tables = { .kind = SX_PAGES_TABLES,
				.name = SX_PAGE_TABLES,
				.record = meta->tables };
	sx_page_tree free_pages = { .kind = SX_PAGES_FREE, .name = "free pages",
				   .record = meta->free_pages };
	int rc = sx_pages_check_tree(c, &tables);

	for (unsigned t = 0; !rc && t < c->n_tables; t++)
		rc = sx_pages_check_tree(c, &c->table[t]);
	if (!rc)
		rc = sx_pages_check_tree(c, &free_pages);
	if (c->stopped)
		return rc;
	if (!rc && !c->problems && c->newest_free && c->newest_free != c->txn)
		sx_pages_bad(c, &free_pages,
			     "the header page is of transaction %" PRIu64 ", the last list of "
			     "free pages of %" PRIu64,
			     c->txn, c->newest_free);
	/*
	 * LMDB never loses one, and makes no compact copy of a file that did. Two are meta pages.
	 */
	if (!rc && !c->problems && c->n_seen + 2 != meta->last_page + 1)
		sx_pages_bad(c, &free_pages, "pages neither used nor free: %" PRIu64,
		    meta->last_page - 1 - c->n_seen);
	return rc;
}

/* ------------------------------------------------------------------------------------------
 * The snapshot
 */

/*
 * The meta page of a snapshot. The commit after the next overwrites it; the reader keeps the pages
 * that it leads to, but not the page itself. So it is read while its commit is still the last one.
 */
static int read_meta(sx_pages *c, sx_txn *txn, sx_lmdb_meta *meta, simidx_error *err)
{
	for (unsigned tries = 1;; tries++) {
		uint64_t id = sx_txn_id(txn);
		ssize_t got = pread(c->fd, meta, sizeof(*meta), (off_t)(id % 2 * c->page_size));
		int rc;

		if (got < 0)
			return sx_fail_errno(err, errno, "cannot read a header page");
		if (got == sizeof(*meta) && meta->txn == id && sx_txn_is_newest(txn, tries))
			return SIMIDX_OK;
		if (tries == META_TRIES)
			return sx_fail(err, SIMIDX_E_BUSY,
				       "other processes commit too fast to look at one commit");
		sx_txn_reset(txn);
		rc = sx_txn_renew(txn, err);
		if (rc)
			return rc;
	}
}

static void free_check(sx_pages *c)
{
	if (!c)
		return;
	for (unsigned i = 0; i <= SX_LMDB_MAX_DEPTH; i++)
		free(c->level[i]);
	free(c->sizes);
	free(c->seen);
	free(c->bytes);
	free(c);
}

/* What is needed to check a snapshot. `meta` is read unless it is known already. */
static int begin_check(sx_txn *txn, sx_lmdb_meta *meta, sx_pages **out, simidx_error *err)
{
	sx_pages *c = sx_calloc(1, sizeof(*c));
	struct stat st;
	int rc = SIMIDX_OK;

	*out = c;
	if (!c)
		return sx_fail_nomem(err);
	c->fd = txn->store->env.data_fd;
	c->page_size = txn->store->env.page_size;
	if (!meta->txn)
		rc = read_meta(c, txn, meta, err);
	if (rc)
		return rc;
	c->txn = meta->txn;
	c->end = c->named_end = meta->last_page + 1;
	if (fstat(c->fd, &st))
		return sx_fail_errno(err, errno, "%s", sx_store_path(txn->store));
	c->file_end = (uint64_t)st.st_size / c->page_size;
	c->sizes = sx_calloc(c->page_size / 2, sizeof(*c->sizes));
	/*
	 * Free pages may be beyond the end, but not more than a transaction can have taken there.
	 */
	if (c->end > c->file_end + SX_LMDB_MAX_DIRTY)
		c->end = c->file_end + SX_LMDB_MAX_DIRTY;
	/* Only what is written to takes memory. */
	c->seen = sx_calloc(c->end / 64 + 1, sizeof(*c->seen));
	return c->sizes && c->seen ? SIMIDX_OK : sx_fail_nomem(err);
}

int sx_page_check(sx_txn *txn, sx_page_problem *problem, void *ctx, simidx_error *err)
{
	sx_lmdb_meta meta = { .txn = 0 };
	sx_pages *c;
	int rc = begin_check(txn, &meta, &c, err);

	if (!rc) {
		c->problem = problem;
		c->ctx = ctx;
		rc = check_trees(c, &meta);
		if (rc)
			sx_fail_nomem(err);
		else if (c->stopped)
			rc = sx_fail(err, c->stopped, "stopped");
		else if (c->problems)
			rc = sx_fail(err, SIMIDX_E_CORRUPT, "%s%s", c->first,
				     c->problems > 1 ? ", and more" : "");
	}
	free_check(c);
	return rc;
}

int sx_page_read(sx_txn *txn, sx_page_roots *roots, const char *table, sx_page_reading *reading,
		 simidx_error *err)
{
	sx_page_tree tables = { .kind = SX_PAGES_TABLES, .name = SX_PAGE_TABLES };
	sx_page_tree unknown = { .kind = SX_PAGES_TABLE }, *tree;
	int rc = begin_check(txn, roots, &reading->pages, err);
	sx_pages *c = reading->pages;
	unsigned t = 0;

	reading->whose = SX_PAGES_OWN;
	if (!rc) {
		c->problem = reading->problem;
		c->ctx = reading->ctx;
		c->value = reading->value;
		c->bytes = sx_realloc(NULL, 1, SX_PAGE_MAX_VALUE);
		tables.record = roots->tables;
		rc = c->bytes ? sx_pages_check_tree(c, &tables) : SIMIDX_E_NOMEM;
		while (t < c->n_tables && strcmp(c->table[t].name, table))
			t++;
		tree = reading->tree = t < c->n_tables ? &c->table[t] : &unknown;
		if (!rc && tree != &unknown)
			rc = sx_pages_check_tree(c, tree);
		if (!rc && !c->stopped &&
		    (tree == &unknown ? reading->finds != 0 : tree->problems != 0))
			rc = sx_lost_pages_read(c, tree, &tables, roots, reading->finds,
						&reading->whose);
		if (rc)
			sx_fail_nomem(err);
		else if (c->stopped)
			rc = c->stopped;
		else if (tree == &unknown)
			rc = SIMIDX_E_NOT_FOUND;
	}
	free_check(c);
	reading->pages = NULL;
	reading->tree = NULL;
	return rc;
}

int sx_page_is_lost(const sx_page_reading *reading, sx_slice key)
{
	return sx_lost_pages_have(reading->pages, reading->tree, key);
}

/*
 * One changed bit in a transaction number makes LMDB take the other page for the last one. In a
 * sound file the numbers of the pages follow each other. They also do after a header page that
 * could not be written: LMDB then leaves its new roots there with the old number, so that no reader
 * follows them.
 */
int sx_page_other(sx_txn *txn, sx_page_roots *roots, sx_page_roots *other, simidx_error *err)
{
	sx_page_tree free_pages = { .kind = SX_PAGES_FREE, .name = "free pages" };
	sx_pages *c;
	ssize_t got;
	int rc = begin_check(txn, roots, &c, err);

	if (!rc) {
		got = pread(c->fd, other, sizeof(*other),
			    (off_t)((roots->txn % 2 ^ 1) * c->page_size));
		c->is_quiet = 1;
		free_pages.record = roots->free_pages;
		rc = sx_pages_check_tree(c, &free_pages);
		if (rc)
			sx_fail_nomem(err);
		else if (c->stopped)
			rc = sx_fail(err, c->stopped, "stopped");
		else if (got != sizeof(*other) || other->magic != SX_LMDB_MAGIC || !other->txn ||
			 other->txn >= roots->txn ||
			 (other->txn + 1 == roots->txn &&
			  (!c->newest_free || c->newest_free == roots->txn)))
			rc = SIMIDX_E_NOT_FOUND;
	}
	free_check(c);
	return rc;
}

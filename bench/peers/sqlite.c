/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * SQLite as a contestant: for each of four blocks of 16 bits a WITHOUT ROWID table with the key
 * (block, fingerprint, id). WAL, the file mapped, prepared statements; popcount here. Up to 3 bits.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "bn_util.h"
#include "peer.h"

#define BLOCKS 4
#define QUERIES 20000

struct lite {
	char file[4200];
	unsigned radius;
	sqlite3 *db;
	sqlite3_stmt *near[BLOCKS];
	struct bn_ids ids;
};

struct row {
	uint64_t fp, id;
};

static unsigned block_of(uint64_t fp, unsigned block)
{
	return (unsigned)(fp >> (48 - 16 * block) & 0xffff);
}

static void check(const struct lite *lite, int rc, const char *what)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
		bn_die("%s: %s", what, sqlite3_errmsg(lite->db));
}

static void execute(const struct lite *lite, const char *text)
{
	check(lite, sqlite3_exec(lite->db, text, NULL, NULL, NULL), text);
}

static sqlite3_stmt *prepare(const struct lite *lite, const char *format, unsigned block)
{
	sqlite3_stmt *out;
	char text[128];

	snprintf(text, sizeof(text), format, block);
	check(lite, sqlite3_prepare_v2(lite->db, text, -1, &out, NULL), text);
	return out;
}

static unsigned sorted_by; /* the block that compare() goes by */

static int compare(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	/* Numbers are signed in SQLite. */
	int64_t u = (int64_t)x->fp, v = (int64_t)y->fp;
	unsigned p = block_of(x->fp, sorted_by), q = block_of(y->fp, sorted_by);

	if (p != q)
		return p < q ? -1 : 1;
	if (u != v)
		return u < v ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* In the order of the keys, which is the fast way. */
static void fill(struct lite *lite, unsigned block, struct row *rows, uint64_t n)
{
	sqlite3_stmt *put;
	char text[128];

	snprintf(text, sizeof(text),
		 "CREATE TABLE t%u (b INTEGER, fp INTEGER, id INTEGER, PRIMARY KEY (b, fp, id)) "
		 "WITHOUT ROWID",
		 block);
	execute(lite, text);
	sorted_by = block;
	qsort(rows, n, sizeof(*rows), compare);
	execute(lite, "BEGIN");
	put = prepare(lite, "INSERT INTO t%u VALUES (?1, ?2, ?3)", block);
	for (uint64_t i = 0; i < n; i++) {
		sqlite3_bind_int64(put, 1, block_of(rows[i].fp, block));
		sqlite3_bind_int64(put, 2, (sqlite3_int64)rows[i].fp);
		sqlite3_bind_int64(put, 3, (sqlite3_int64)rows[i].id);
		check(lite, sqlite3_step(put), "insert");
		sqlite3_reset(put);
	}
	sqlite3_finalize(put);
	execute(lite, "COMMIT");
}

static void *lite_open(struct bn_rival *rival)
{
	return rival->self;
}

static void lite_close(void *session)
{
	(void)session;
}

/* Whether a block before this one has found it, too. */
static int was_found(uint64_t bits, unsigned block)
{
	for (unsigned b = 0; b < block; b++)
		if (!block_of(bits, b))
			return 1;
	return 0;
}

static struct bn_hits lite_search(void *session, uint64_t fp)
{
	struct lite *lite = session;
	int rc;

	lite->ids.n = 0;
	for (unsigned b = 0; b < BLOCKS; b++) {
		sqlite3_stmt *near = lite->near[b];

		sqlite3_bind_int64(near, 1, block_of(fp, b));
		while ((rc = sqlite3_step(near)) == SQLITE_ROW) {
			uint64_t bits = (uint64_t)sqlite3_column_int64(near, 0) ^ fp;

			if ((unsigned)__builtin_popcountll(bits) > lite->radius ||
			    was_found(bits, b))
				continue;
			bn_ids_reserve(&lite->ids, 1);
			lite->ids.ids[lite->ids.n++] = (uint64_t)sqlite3_column_int64(near, 1);
		}
		check(lite, rc, "select");
		sqlite3_reset(near);
	}
	return (struct bn_hits){ lite->ids.ids, sizeof(uint64_t), lite->ids.n };
}

static void remove_files(const struct lite *lite)
{
	static const char *const ends[] = { "", "-wal", "-shm" };
	char path[4210];

	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(path, sizeof(path), "%s%s", lite->file, ends[i]);
		unlink(path);
	}
}

static void lite_destroy(struct bn_rival *rival)
{
	struct lite *lite = rival->self;

	for (unsigned b = 0; b < BLOCKS; b++)
		sqlite3_finalize(lite->near[b]);
	sqlite3_close(lite->db);
	remove_files(lite);
	free(lite->ids.ids);
	free(lite);
}

void peer_make(const struct bn_setup *setup, struct bn_rival *rival)
{
	const struct bn_set *set = setup->set;
	struct lite *lite = bn_alloc(1, sizeof(*lite));
	struct row *rows = bn_alloc(set->n, sizeof(*rows));
	struct stat st;

	if (setup->radius >= BLOCKS)
		bn_die("radius below %d only", BLOCKS);
	lite->radius = setup->radius;
	snprintf(lite->file, sizeof(lite->file), "%s.sqlite", setup->dir);
	remove_files(lite);
	check(lite, sqlite3_open(lite->file, &lite->db), "open");
	execute(lite, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
		      "PRAGMA mmap_size = 100000000000; PRAGMA cache_size = -1000000");
	for (uint64_t i = 0; i < set->n; i++)
		rows[i] = (struct row){ set->fp[i], i };
	for (unsigned b = 0; b < BLOCKS; b++)
		fill(lite, b, rows, set->n);
	free(rows);
	execute(lite, "PRAGMA wal_checkpoint(TRUNCATE)");
	if (stat(lite->file, &st))
		bn_die("%s: no size", lite->file);
	for (unsigned b = 0; b < BLOCKS; b++)
		lite->near[b] = prepare(lite, "SELECT fp, id FROM t%u WHERE b = ?1", b);
	rival->bytes = (double)st.st_size / (double)set->n;
	rival->max_queries = QUERIES;
	rival->self = lite;
	rival->open = lite_open;
	rival->close = lite_close;
	rival->search = lite_search;
	rival->destroy = lite_destroy;
}

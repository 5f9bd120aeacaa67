/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * SQLite as a contestant of bench/bn_write: a table of documents, and an index for each of four
 * blocks of 16 bits, which has the fingerprints, so that a search reads indexes alone.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <sqlite3.h>

#include "bn_util.h"
#include "bn_write.h"

#define RADIUS 3

enum { PUT, NEAR, BY_ID, BY_LABEL, DELETE, DELETE_LABEL, STATEMENTS };

static const char *const sql[STATEMENTS] = {
	[PUT] = "INSERT INTO docs (fp, label, b0, b1, b2, b3) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
	[NEAR] = "SELECT fp FROM docs WHERE b0 = ?1 UNION ALL SELECT fp FROM docs WHERE b1 = ?2 "
		 "UNION ALL SELECT fp FROM docs WHERE b2 = ?3 UNION ALL "
		 "SELECT fp FROM docs WHERE b3 = ?4",
	[BY_ID] = "UPDATE docs SET fp = ?1, b0 = ?3, b1 = ?4, b2 = ?5, b3 = ?6 WHERE id = ?7",
	[BY_LABEL] = "UPDATE docs SET fp = ?1, b0 = ?3, b1 = ?4, b2 = ?5, b3 = ?6 WHERE label = ?2",
	[DELETE] = "DELETE FROM docs WHERE id = ?7",
	[DELETE_LABEL] = "DELETE FROM docs WHERE label = ?2",
};

struct lite {
	const struct bn_write *write;
	char file[4200];
	sqlite3 *db;
	sqlite3_stmt *statement[STATEMENTS];
	uint64_t changed;
};

static void check(const struct lite *lite, int rc, const char *what)
{
	if (rc != SQLITE_OK && rc != SQLITE_DONE && rc != SQLITE_ROW)
		bn_die("sqlite: %s: %s", what, sqlite3_errmsg(lite->db));
}

static void execute(struct lite *lite, const char *text)
{
	check(lite, sqlite3_exec(lite->db, text, NULL, NULL, NULL), text);
}

/* Run a statement with what it may have of the change; `label` of none. */
static void run(struct lite *lite, unsigned which, uint64_t id, uint64_t fp, int has_label)
{
	sqlite3_stmt *s = lite->statement[which];
	int n = sqlite3_bind_parameter_count(s);
	char label[BN_LABEL];

	if (which <= BY_LABEL) {
		sqlite3_bind_int64(s, 1, (sqlite3_int64)fp);
		for (int b = 0; b < 4; b++)
			sqlite3_bind_int(s, 3 + b, (int)(fp >> (48 - 16 * b) & 0xffff));
	}
	if (has_label)
		sqlite3_bind_text(s, 2, label, (int)bn_write_label(id, label), SQLITE_STATIC);
	if (n == 7)
		sqlite3_bind_int64(s, 7, (sqlite3_int64)id);
	check(lite, sqlite3_step(s), sql[which]);
	sqlite3_reset(s);
	if (has_label)
		sqlite3_bind_null(s, 2);
}

static int is_new(struct lite *lite, uint64_t fp)
{
	sqlite3_stmt *s = lite->statement[NEAR];
	int found = 0, rc = SQLITE_ROW;

	for (int b = 0; b < 4; b++)
		sqlite3_bind_int(s, 1 + b, (int)(fp >> (48 - 16 * b) & 0xffff));
	while (!found && (rc = sqlite3_step(s)) == SQLITE_ROW)
		found = __builtin_popcountll((uint64_t)sqlite3_column_int64(s, 0) ^ fp) <= RADIUS;
	check(lite, rc, sql[NEAR]);
	sqlite3_reset(s);
	return !found;
}

static void lite_begin(void *opaque)
{
	execute(opaque, "BEGIN IMMEDIATE");
}

static void lite_change(void *opaque, const struct bn_change *change)
{
	static const unsigned statement[BN_OPS] = {
		[BN_REPLACE] = BY_ID, [BN_DELETE] = DELETE, [BN_REPLACE_LABEL] = BY_LABEL,
		[BN_DELETE_LABEL] = DELETE_LABEL,
	};
	struct lite *lite = opaque;
	enum bn_op op = lite->write->op;

	if (op == BN_IF_NEW && !is_new(lite, change->fp))
		return;
	/* Ids begin with 1 here. */
	run(lite, op < BN_REPLACE ? PUT : statement[op],
	    op == BN_REPLACE || op == BN_DELETE ? change->id + 1 : change->id, change->fp,
	    bn_write_has_labels(op));
	lite->changed += (uint64_t)sqlite3_changes(lite->db);
}

static uint64_t lite_commit(void *opaque)
{
	struct lite *lite = opaque;
	uint64_t changed = lite->changed;

	execute(lite, "COMMIT");
	lite->changed = 0;
	return changed;
}

/* Indexes are made when the rows are there, which is the fast way. */
static void *lite_open(const struct bn_write *write)
{
	struct lite *lite = bn_alloc(1, sizeof(*lite));

	lite->write = write;
	snprintf(lite->file, sizeof(lite->file), "%s/sqlite", write->dir);
	check(lite, sqlite3_open(lite->file, &lite->db), "open");
	execute(lite, "PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF; PRAGMA cache_size = "
		      "-2000000;PRAGMA mmap_size = 100000000000; PRAGMA temp_store = MEMORY;CREATE "
		      "TABLE docs (id INTEGER PRIMARY KEY, fp INTEGER, label TEXT, b0 INTEGER, b1 "
		      "INTEGER, b2 INTEGER, b3 INTEGER); BEGIN");
	check(lite, sqlite3_prepare_v2(lite->db, sql[PUT], -1, &lite->statement[PUT], NULL),
	      sql[PUT]);
	for (uint64_t i = 0; i < write->documents; i++)
		run(lite, PUT, i, bn_write_fp(i), bn_write_has_labels(write->op));
	execute(lite, "COMMIT;"
		      "CREATE INDEX i0 ON docs (b0, fp); CREATE INDEX i1 ON docs (b1, fp);"
		      "CREATE INDEX i2 ON docs (b2, fp); CREATE INDEX i3 ON docs (b3, fp)");
	if (bn_write_has_labels(write->op))
		execute(lite, "CREATE UNIQUE INDEX labels ON docs (label)");
	execute(lite, "PRAGMA wal_checkpoint(TRUNCATE)");
	execute(lite, write->normal ? "PRAGMA synchronous = NORMAL" : "PRAGMA synchronous = FULL");
	sync();
	for (unsigned s = PUT + 1; s < STATEMENTS; s++)
		check(lite, sqlite3_prepare_v2(lite->db, sql[s], -1, &lite->statement[s], NULL),
		      sql[s]);
	return lite;
}

static uint64_t lite_count(void *opaque)
{
	struct lite *lite = opaque;
	sqlite3_stmt *s;
	uint64_t n;

	check(lite, sqlite3_prepare_v2(lite->db, "SELECT count(*) FROM docs", -1, &s, NULL),
	      "count");
	check(lite, sqlite3_step(s), "count");
	n = (uint64_t)sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	return n;
}

static void lite_close(void *opaque)
{
	struct lite *lite = opaque;

	for (unsigned s = 0; s < STATEMENTS; s++)
		sqlite3_finalize(lite->statement[s]);
	sqlite3_close(lite->db);
	if (unlink(lite->file))
		bn_die("%s: not removed", lite->file);
	free(lite);
}

const struct bn_writer bn_write_sqlite = {
	.name = "sqlite",
	.ops = ((1u << BN_OPS) - 1) & ~(1u << BN_IF_NEW_TEXT),
	.open = lite_open,
	.begin = lite_begin,
	.change = lite_change,
	.commit = lite_commit,
	.count = lite_count,
	.close = lite_close,
};

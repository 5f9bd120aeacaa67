/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Bare LMDB as a contestant of bench/bn_write: an ascending key a document. */

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <lmdb.h>

#include "bn_own.h"
#include "bn_util.h"
#include "bn_write.h"

#define MAP_BYTES ((size_t)1 << 36)

struct bare {
	const struct bn_write *write;
	char dir[4200];
	MDB_env *env;
	MDB_dbi dbi;
	MDB_txn *txn;
	uint64_t next, pending;
};

static void check(int rc, const char *what)
{
	if (rc)
		bn_die("lmdb: %s: %s", what, mdb_strerror(rc));
}

static void bare_begin(void *opaque)
{
	struct bare *bare = opaque;

	check(mdb_txn_begin(bare->env, NULL, 0, &bare->txn), "begin");
	check(mdb_dbi_open(bare->txn, NULL, 0, &bare->dbi), "open");
}

static void bare_change(void *opaque, const struct bn_change *change)
{
	struct bare *bare = opaque;
	uint64_t number = __builtin_bswap64(bare->next++), data[2] = { change->fp, bare->next };
	MDB_val key = { sizeof(number), &number }, value = { sizeof(data), data };

	check(mdb_put(bare->txn, bare->dbi, &key, &value, MDB_APPEND), "put");
	bare->pending++;
}

static uint64_t bare_commit(void *opaque)
{
	struct bare *bare = opaque;
	uint64_t stored = bare->pending;

	check(mdb_txn_commit(bare->txn), "commit");
	bare->pending = 0;
	return stored;
}

static void *bare_open(const struct bn_write *write)
{
	struct bare *bare = bn_alloc(1, sizeof(*bare));

	bare->write = write;
	snprintf(bare->dir, sizeof(bare->dir), "%s/lmdb", write->dir);
	if (mkdir(bare->dir, 0700))
		bn_die("%s: cannot be made", bare->dir);
	check(mdb_env_create(&bare->env), "environment");
	check(mdb_env_set_mapsize(bare->env, MAP_BYTES), "map");
	check(mdb_env_open(bare->env, bare->dir, write->normal ? MDB_NOMETASYNC : 0, 0600), "open");
	bare_begin(bare);
	for (uint64_t i = 0; i < write->documents; i++)
		bare_change(bare, &(struct bn_change){ .fp = bn_write_fp(i) });
	bare_commit(bare);
	return bare;
}

static uint64_t bare_count(void *opaque)
{
	struct bare *bare = opaque;
	MDB_stat stat;

	bare_begin(bare);
	check(mdb_stat(bare->txn, bare->dbi, &stat), "stat");
	mdb_txn_abort(bare->txn);
	return stat.ms_entries;
}

static void bare_close(void *opaque)
{
	struct bare *bare = opaque;

	mdb_env_close(bare->env);
	bn_own_remove(bare->dir);
	free(bare);
}

const struct bn_writer bn_write_lmdb = {
	.name = "lmdb",
	.ops = 1u << BN_INSERT,
	.open = bare_open,
	.begin = bare_begin,
	.change = bare_change,
	.commit = bare_commit,
	.count = bare_count,
	.close = bare_close,
};

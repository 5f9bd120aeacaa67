/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the files of lib/store share and nobody else sees: the structs behind the handles, and
 * the only include of lmdb.h.
 */

#ifndef SX_STORE_LMDB_H
#define SX_STORE_LMDB_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <lmdb.h>

#include "store/sx_store.h"

#define SX_DATA_NAME "data.mdb"    /* LMDB's */
#define SX_LOCK_NAME "lock.mdb"    /* LMDB's; never opened here: closing it would drop locks */
#define SX_WRITE_NAME "write.lock" /* ours */

#define SX_DEFAULT_MODE 0600

/** Where a store lies. Replaced as a whole and kept until the store is freed. */
typedef struct sx_location {
	struct sx_location *older;
	char *path;  /* as it was given */
	char *data;  /* absolute, so that a chdir() does not matter */
	char *write; /* absolute, the write lock */
} sx_location;

/** A table that is open. */
typedef struct sx_name {
	char name[SX_STORE_MAX_NAME + 1];
	MDB_dbi dbi;
	unsigned since; /* names_count at the end of the transaction that opened it */
} sx_name;

struct sx_store {
	sx_store *next; /* in the registry; guarded by its mutex, as refs */
	unsigned refs;
	dev_t dev; /* of data.mdb */
	ino_t ino;
	unsigned generation; /* forks before this process opened it */
	int is_static;
	int is_writable;
	MDB_env *env;
	int data_fd; /* LMDB's */
	size_t page_size;
	_Atomic(sx_location *) place;

	/* Transactions begun and not ended or reset; REMAPPING while the map is being moved. */
	atomic_long live;
	atomic_uint map_changes;

	int no_meta_sync; /* how the last write transaction began; guarded by LMDB's mutex */

	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t changed;
	int write_locked;
	int lock_fd; /* the write lock's file while it is held, else -1 */
	int broken;  /* LMDB lost its map */

	sx_txn *opener; /* the transaction that opens tables; see sx_store_names.c */
	pthread_t opener_thread;
	atomic_uint names_count;  /* transactions that opened tables and were committed */
	unsigned n_names, n_kept; /* tables that are open; of these, not only in the opener */
	sx_name names[SX_STORE_MAX_TABLES];
};

struct sx_txn {
	sx_store *store;
	MDB_txn *txn;
	int is_write;
	int is_live; /* has a snapshot */
	int is_opener;
	unsigned names_seen; /* names_count when it began */
};

struct sx_cursor {
	MDB_cursor *cursor;
	sx_txn *txn;
	int is_renewed; /* LMDB's cursor is one of the snapshot at hand */
};

static inline MDB_val sx_to_val(sx_slice s)
{
	/* LMDB copies 0 bytes too, and memcpy() must not be given NULL. */
	MDB_val val = { .mv_size = s.size, .mv_data = s.data ? (void *)s.data : (void *)"" };

	return val;
}

static inline sx_slice sx_to_slice(MDB_val val)
{
	sx_slice s = { .data = val.mv_data, .size = val.mv_size };

	return s;
}

/* sx_store.c */

/** Forks so far on the way to this process. */
unsigned sx_fork_count(void);

/** While this is held no store is opened or closed and no fork() happens. */
void sx_registry_lock(void);
void sx_registry_unlock(void);

/**
 * Address space for a file of `file_bytes`: `want`, or the largest half, quarter, ... of it that
 * can be had. 0 if not even the file can be mapped.
 */
size_t sx_map_choose(uint64_t want, uint64_t file_bytes);

/* sx_store_err.c */

/**
 * Turn a code of LMDB (or an errno, which LMDB passes on) into one of ours; the only place that
 * knows them. `store` may be NULL or half built.
 */
int sx_lmdb_fail(const sx_store *store, int rc, const char *doing, simidx_error *err);

/** sx_fail_errno() for a write to `fd`: a full disk may hide behind EIO. */
int sx_write_fail(int fd, int sys_errno, const char *doing, simidx_error *err);

/* sx_store_check.c */

/** Open a directory (O_PATH) and refuse what LMDB cannot live on. */
int sx_check_directory(const char *dir, unsigned flags, int *dir_fd, simidx_error *err);

/** Open data.mdb for sx_check_data(); it is a regular file. */
int sx_check_open(const char *dir, int dir_fd, int *fd, struct stat *st, simidx_error *err);

/** Look at the meta pages and the size of a data file. */
int sx_check_data(const char *dir, int fd, simidx_error *err);

/** Whether we can write, and whether LMDB could lock. */
int sx_check_access(const char *dir, int dir_fd, unsigned flags, int *is_writable,
		    simidx_error *err);

/** The page size of files that LMDB makes on this machine. */
size_t sx_check_page_size(void);

/* sx_store_txn.c */

/** Call `work` as a transaction that is not ours: with a map that is large enough and stays. */
int sx_txn_with_map(sx_store *store, int (*work)(sx_store *store, void *ctx), void *ctx,
		    const char *doing, simidx_error *err);

/* sx_store_names.c */

/**
 * Find a table among those that are open. Returns 1 if it is there and the transaction can use
 * it; 0 if the transaction may now open it, being the opener until it ends; or an error. May
 * wait for another opener to end, and give a read transaction a newer snapshot.
 */
int sx_names_find(sx_txn *txn, const char *name, MDB_dbi *dbi, simidx_error *err);

/** Remember a table that the opener has opened. */
int sx_names_add(sx_txn *txn, const char *name, MDB_dbi dbi, simidx_error *err);

/** The transaction has ended; if it was the opener, keep or forget the tables it opened. */
void sx_names_end(sx_txn *txn, int keep);

/* sx_store_lock.c */

/** Open the lock file of a store's directory, or make it with the mode of the data file. */
int sx_lock_file_open(const sx_store *store, int *fd, simidx_error *err);

#endif /* SX_STORE_LMDB_H */

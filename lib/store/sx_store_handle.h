/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The structs of a store and of its transactions. For the files of lib/store alone.
 */

#ifndef SX_STORE_HANDLE_H
#define SX_STORE_HANDLE_H

#include <stdatomic.h>

#include "store/sx_env.h"
#include "store/sx_write_lock.h"

/** Where a store lies. Replaced as a whole and kept until the store is freed. */
typedef struct sx_location {
	struct sx_location *older;
	char *path;  /* as it was given */
	char *data;  /* absolute, so that a chdir() does not matter */
	char *write; /* absolute, the write lock */
} sx_location;

struct sx_store {
	struct sx_store *next; /* in the registry; guarded by its mutex, as refs */
	unsigned refs;
	unsigned generation; /* forks before this process opened it */
	_Atomic(sx_location *) place;
	sx_env env;
	sx_write_lock lock;
	pthread_mutex_t tables; /* held while tables are opened */
	int no_meta_sync; /* how the last write transaction began; guarded by LMDB's mutex */
	int defers_sync;  /* sx_store_defer_sync() */
};

struct sx_txn {
	struct sx_store *store;
	MDB_txn *txn;
	int is_write;
	int is_live; /* has a snapshot */
};

#endif /* SX_STORE_HANDLE_H */

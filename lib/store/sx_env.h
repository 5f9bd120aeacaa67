/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * LMDB's environment: opening it, the size of its map and how that grows, its error codes. A map
 * must not move under a transaction, which LMDB leaves to its user; so whatever needs the map
 * begins and leaves here.
 */

#ifndef SX_ENV_H
#define SX_ENV_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/types.h>

#include <lmdb.h>

#include <simidx.h>

#define SX_ENV_MAX_TABLES 64

typedef struct sx_env {
	MDB_env *env;
	int data_fd; /* LMDB's */
	int lock_fd; /* ours of lock.mdb: sx_lock_file_lock(); -1 = none */
	dev_t dev;   /* of data.mdb */
	ino_t ino;
	size_t page_size; /* bytes */
	int is_static;    /* without locks */
	int is_writable;

	/*
	 * How many have begun and not left; negative while the map is being moved. One atomic
	 * number and not under the mutex, because every query passes here twice.
	 */
	atomic_long live;
	atomic_uint map_changes; /* times that the map has moved */
	pthread_mutex_t moving;  /* held while the map is being moved */
	int broken;              /* LMDB lost its map */
} sx_env;

/** Set up one that is not open. 0 or an errno. */
int sx_env_init(sx_env *env);

/**
 * Open LMDB and clear readers left by killed processes. Waits while another process opens or closes
 * the same store. After an error sx_env_destroy() is due, too.
 *
 * @param flags       LMDB's; MDB_NOLOCK and MDB_RDONLY, and MDB_NOTLS is added
 * @param mode        of files that LMDB makes
 * @param map_size    bytes of address space to reserve; 0 = 1 TiB. Halved until it can be had
 * @param file_bytes  size of the data file, which is mapped at least
 * @return SIMIDX_OK; SIMIDX_E_MOVED, without setting err, when the lock file was replaced
 *         meanwhile: try again; SIMIDX_E_NOMEM when not even the file can be mapped; as
 *         sx_env_fail()
 */
int sx_env_open(sx_env *env, const char *dir, unsigned flags, mode_t mode, uint64_t map_size,
		uint64_t file_bytes, simidx_error *err);

/**
 * Close LMDB, while no other process opens or closes the same store. All that were begun have left.
 */
void sx_env_destroy(sx_env *env);

/**
 * Begin something that needs the map: call `work` with a map that is as large as the file. After
 * success the map stays where it is until sx_env_leave(). Where `work` fails with MDB_MAP_RESIZED
 * or MDB_READERS_FULL it is called again, once the map has grown or killed readers were cleared.
 *
 * @return 0; what `work` or LMDB returned; MDB_MAP_RESIZED when the map would have to move while
 *         others are live; ENOMEM when a larger map could not be had, now or earlier
 */
int sx_env_begin(sx_env *env, int (*work)(sx_env *env, void *ctx), void *ctx);

void sx_env_leave(sx_env *env);

/** Turn a code of LMDB, or an errno, which LMDB passes on, into one of ours. */
int sx_env_fail(const sx_env *env, int rc, const char *doing, simidx_error *err);

/** sx_fail_errno() for a write to `fd`: a full disk may be reported as EIO. */
int sx_env_write_fail(int fd, int sys_errno, const char *doing, simidx_error *err);

#endif /* SX_ENV_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Copying all of an environment of LMDB.
 */

#ifndef SX_ENV_COPY_H
#define SX_ENV_COPY_H

#include "store/sx_env.h"

/**
 * Copy a snapshot, without free pages. For sx_env_begin().
 *
 * @param ctx  an int: the descriptor of the new file. When it was stopped, it is of another one
 * @return 0; ECANCELED by sx_stop_asked(), which is asked in the calling thread; as
 *         mdb_env_copyfd2()
 */
int sx_env_copy(sx_env *env, void *ctx);

#endif /* SX_ENV_COPY_H */

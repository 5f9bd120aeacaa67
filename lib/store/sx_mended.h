/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Stores that LMDB refuses, because one of their two meta pages is damaged.
 */

#ifndef SX_MENDED_H
#define SX_MENDED_H

#include "store/sx_store.h"

/**
 * Copy a store one of whose meta pages is damaged, put another in its place, and open the copy for
 * reading, without locks. It shows the commit that the other meta page names: the last one, or the
 * one before if the page of the last one is damaged. The store itself cannot be written to
 * meanwhile.
 *
 * The copy stands in a private directory beside `beside`, and is removed at once; its space is
 * given back when it is closed. Its file has the permissions of the store's.
 *
 * @param flags  SX_STORE_FORCE or 0
 * @return SIMIDX_OK; SIMIDX_E_NOT_FOUND without setting err when that is not what is wrong;
 *         SIMIDX_E_NO_SPACE, the codes of failed system calls; as sx_store_open()
 *
 * Cost: reads and writes the whole file.
 */
int sx_store_open_mended(const char *dir, const char *beside, unsigned flags, sx_store **out,
			 simidx_error *err);

#endif /* SX_MENDED_H */

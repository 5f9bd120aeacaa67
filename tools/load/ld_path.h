/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is at the path of an index.
 */

#ifndef LD_PATH_H
#define LD_PATH_H

#include <simidx.h>

/** Nothing at the path, or an empty directory: simidx_create() takes both. */
int ld_path_is_missing(const char *path);

/**
 * Open an index and look into it. Another one may take its place between the two, and then that
 * one is opened. *out is NULL on failure.
 *
 * @param flags  of simidx_open()
 * @param info   its strings live as long as the index
 * @return 0 or the code in err
 */
int ld_path_open(const char *path, unsigned flags, simidx **out, simidx_info *info,
		 simidx_error *err);

#endif /* LD_PATH_H */

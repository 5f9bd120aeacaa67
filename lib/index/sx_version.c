/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The version of the library, and what it was built with.
 */

#include <pthread.h>
#include <stdio.h>

#include <simidx_info.h>

#include "index/sx_header.h"
#include "kernel/sx_kernel.h"
#include "store/sx_store.h"
#include "util/sx_hash.h"

const char *simidx_version(void)
{
	return SIMIDX_VERSION_STRING;
}

static char build_info[128];

static void make_build_info(void)
{
	unsigned xxh = sx_hash_version();
	int lmdb[3];

	sx_store_lmdb_version(lmdb);
	snprintf(build_info, sizeof(build_info),
		 "LMDB %d.%d.%d, xxHash %u.%u.%u, format %d.%d, %s", lmdb[0], lmdb[1], lmdb[2],
		 xxh / 10000, xxh / 100 % 100, xxh % 100, SX_FORMAT_MAJOR, SX_FORMAT_MINOR,
		 sx_kernel_best()->name);
}

const char *simidx_build_info(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_build_info);
	return build_info;
}

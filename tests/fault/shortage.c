/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "shortage.h"

#include <limits.h>
#include <stdlib.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);

long shortage_left = LONG_MAX;
int shortage_for_good;
int shortage_has_failed;

static int fails(void)
{
	long mine = __atomic_sub_fetch(&shortage_left, 1, __ATOMIC_RELAXED);

	if (mine > 0 || (mine < 0 && !shortage_for_good))
		return 0;
	__atomic_store_n(&shortage_has_failed, 1, __ATOMIC_RELAXED);
	return 1;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

void shortage_end(int rc, const char *call)
{
	shortage_left = LONG_MAX;
	ck_assert_msg(rc == SIMIDX_E_NOMEM && sxt_err.code == rc && shortage_has_failed,
		      "%s: %s, %s", call, simidx_error_name(rc), sxt_err.text);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "common/tl_engines.h"

#include <stddef.h>

#include <simidx.h>

#include "common/tl_msg.h"

/* configure makes the list SX_ENGINES of those that are built. */
#define DECLARATION(name) int simidx_##name##_add(simidx_error *err);
#define FUNCTION(name) simidx_##name##_add,

SX_ENGINES(DECLARATION)

static int (*const add[])(simidx_error *err) = { SX_ENGINES(FUNCTION) NULL };

void tl_engines_add(void)
{
	simidx_error err;

	for (size_t i = 0; add[i]; i++)
		if (add[i](&err))
			tl_error("%s", err.text);
}

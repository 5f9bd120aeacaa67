/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif

#include "common/tl_engines.h"

#ifdef HAVE_HBASE
#include "common/tl_msg.h"

#include <simidx_hbase.h>
#endif

void tl_engines_add(void)
{
#ifdef HAVE_HBASE
	simidx_error err;

	if (simidx_hbase_add(&err))
		tl_error("%s", err.text);
#endif
}

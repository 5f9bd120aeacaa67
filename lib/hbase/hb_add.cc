/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <simidx_hbase.h>

#include "hb_engine.hh"

int simidx_hbase_add(simidx_error *err)
{
	return simidx_engine_add(hb_engine(), err);
}

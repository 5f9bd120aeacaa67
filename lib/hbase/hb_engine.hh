/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* The engine itself, for simidx_hbase_add() and for tests in C. */

#ifndef HB_ENGINE_HH
#define HB_ENGINE_HH

#include <simidx_engine.h>

#ifdef __cplusplus
extern "C" {
#endif

const simidx_engine *hb_engine(void);

#ifdef __cplusplus
}
#endif

#endif /* HB_ENGINE_HH */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_admin.h - what stood here before: simidx_info.h, simidx_walk.h and simidx_check.h.
 */

#ifndef SIMIDX_ADMIN_H
#define SIMIDX_ADMIN_H

#include <simidx_check.h>
#include <simidx_info.h>
#include <simidx_walk.h>

#endif /* SIMIDX_ADMIN_H */

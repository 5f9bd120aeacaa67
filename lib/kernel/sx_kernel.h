/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The hot loops of a search (sx_kernel_type.h), one set for each level of instructions, chosen at
 * run time.
 */

#ifndef SX_KERNEL_H
#define SX_KERNEL_H

#include "kernel/sx_kernel_type.h"

/** The kernel in force: the best one for this CPU, chosen before main(), or the one forced. */
const sx_kernel *sx_kernel_best(void);

/** The kernel of a name; NULL if there is none of this name or this CPU cannot run it. */
const sx_kernel *sx_kernel_find(const char *name);

/** Kernels that this CPU can run, i = 0, 1, ... from the plainest to the best; NULL at the end. */
const sx_kernel *sx_kernel_list(unsigned i);

/**
 * Let sx_kernel_best(), sx_pext() and sx_pdep() use the kernel of this name from now on, or with
 * NULL the best one again. Not thread-safe: tests call it to run everything on one kernel.
 *
 * @return 0, or -1 if there is no such kernel here: then the best one is in force
 */
int sx_kernel_force(const char *name);

#endif /* SX_KERNEL_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the CPU that runs this is good at.
 */

#ifndef SX_CPU_H
#define SX_CPU_H

/**
 * Whether PEXT and PDEP are there (BMI2) and worth using. AMD CPUs before Zen 3 run them as
 * microcode, several cycles for each bit of the mask: slower than portable code.
 */
int sx_cpu_has_fast_pext(void);

#endif /* SX_CPU_H */

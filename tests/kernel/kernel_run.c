/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * All checks of every kernel that this machine has; for machines without Check.
 * Usage: kernel_run SEED KERNEL: fails, too, when the best kernel is another one.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel_check.h"

static int check(const sx_kernel *kernel, uint64_t seed)
{
	int rc = kernel_check_near_u64(kernel, seed, 50);

	if (!rc)
		rc = kernel_check_near_after(kernel, seed, 200);
	for (unsigned width = 0; !rc && width <= 8; width++)
		rc = kernel_check_near_low(kernel, width, seed, 50);
	if (!rc)
		rc = kernel_check_ranks(kernel, seed, 50);
	return rc ? rc : kernel_check_coded(kernel, seed, 100);
}

int main(int argc, char **argv)
{
	const sx_kernel *kernel;
	uint64_t seed;

	if (argc != 3)
		return EXIT_FAILURE;
	seed = strtoull(argv[1], NULL, 10);
	for (unsigned i = 0; (kernel = sx_kernel_list(i)); i++) {
		if (check(kernel, seed))
			return EXIT_FAILURE;
		printf("%s is right\n", kernel->name);
	}
	return strcmp(sx_kernel_best()->name, argv[2]) ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Apart from bn_util.c, which programs without the library use as well. */

#include <stdio.h>
#include <unistd.h>

#include <simidx_info.h>

#include "bn_util.h"

void bn_print_machine(void)
{
	char line[256], cpu[256] = "unknown";
	FILE *info = fopen("/proc/cpuinfo", "r");

	while (info && fgets(line, sizeof(line), info))
		if (sscanf(line, "model name : %250[^\"\\\n]", cpu) == 1)
			break;
	if (info)
		fclose(info);
	printf("\"cpu\":\"%s\",\"cores\":%ld,\"compiler\":\"%s\",\"library\":\"%s, %s\"", cpu,
	       sysconf(_SC_NPROCESSORS_ONLN), __VERSION__, simidx_version(),
	       simidx_build_info());
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Tests make thousands of small commits. What they kill are processes, never the machine, so
 * nothing depends on the disk, and waiting for it would be most of their time: these stand in
 * for the system's functions in a program that is linked with them, LMDB's calls included.
 */

#include <unistd.h>

int fdatasync(int fd)
{
	(void)fd;
	return 0;
}

int fsync(int fd)
{
	(void)fd;
	return 0;
}

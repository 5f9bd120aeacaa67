/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Reading and writing at a place of a file, all or nothing.
 */

#ifndef SX_IO_H
#define SX_IO_H

#include <stddef.h>
#include <stdint.h>

/** Read `size` bytes at `at`. Returns 0, or -1 with errno: EIO where the file ends before. */
int sx_io_read(int fd, void *to, size_t size, uint64_t at);

/** Write `size` bytes at `at`. Returns 0, or -1 with errno; some may have been written then. */
int sx_io_write(int fd, const void *from, size_t size, uint64_t at);

#endif /* SX_IO_H */

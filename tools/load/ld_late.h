/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Rows that a loader rejects when everything has been put, which it does in an order of its own:
 * kept until they can be told in the order of the input. Of more than memory is given for, that
 * many are put in order at a time.
 */

#ifndef LD_LATE_H
#define LD_LATE_H

#include <stddef.h>
#include <stdint.h>

struct ld_late {
	struct ld_late_row *row;
	size_t n, cap;
};

/** Takes a row. */
typedef void ld_late_tell(void *ctx, uint64_t row, const char *reason);

/** Keep a row; many of them may be told. */
void ld_late_add(struct ld_late *late, uint64_t row, const char *reason, ld_late_tell *tell,
		 void *ctx);

/** Tell all that are kept, and free them. */
void ld_late_flush(struct ld_late *late, ld_late_tell *tell, void *ctx);

#endif /* LD_LATE_H */

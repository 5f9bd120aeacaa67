/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_late.h"

#include <stdlib.h>
#include <string.h>

#define MAX_KEPT 100000

struct ld_late_row {
	uint64_t row;
	char *reason;
};

static int compare_rows(const void *a, const void *b)
{
	const struct ld_late_row *x = a, *y = b;

	return x->row < y->row ? -1 : x->row > y->row;
}

static int grow(struct ld_late *late)
{
	size_t cap = late->cap ? 2 * late->cap : 64;
	struct ld_late_row *larger = realloc(late->row, cap * sizeof(*larger));

	if (!larger)
		return -1;
	late->row = larger;
	late->cap = cap;
	return 0;
}

void ld_late_add(struct ld_late *late, uint64_t row, const char *reason, ld_late_tell *tell,
		 void *ctx)
{
	char *copy = strdup(reason);

	if (late->n == MAX_KEPT)
		ld_late_flush(late, tell, ctx);
	if (!copy || (late->n == late->cap && grow(late))) {
		tell(ctx, row, reason); /* out of order, but told */
		free(copy);
		return;
	}
	late->row[late->n++] = (struct ld_late_row){ row, copy };
}

void ld_late_flush(struct ld_late *late, ld_late_tell *tell, void *ctx)
{
	if (late->n)
		qsort(late->row, late->n, sizeof(*late->row), compare_rows);
	for (size_t i = 0; i < late->n; i++) {
		tell(ctx, late->row[i].row, late->row[i].reason);
		free(late->row[i].reason);
	}
	free(late->row);
	memset(late, 0, sizeof(*late));
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_skew.h"

#include "common/tl_msg.h"

#include <stdlib.h>

/* Fingerprints, in memory for free(). */
struct fingerprints {
	uint64_t *at;
	size_t n, room;
};

static int add(struct fingerprints *all, uint64_t fp)
{
	if (all->n == all->room) {
		size_t room = all->room ? all->room + all->room / 2 : 4096;
		uint64_t *larger = realloc(all->at, room * sizeof(*larger));

		if (!larger)
			return tl_error("out of memory");
		all->at = larger;
		all->room = room;
	}
	all->at[all->n++] = fp;
	return 0;
}

/* The fingerprint of each document of a snapshot. Returns 0 or TL_TROUBLE. */
static int read_all(struct qr_context *ctx, struct fingerprints *all)
{
	simidx_match document;
	simidx_walk *walk;
	simidx_error err;
	int rc, code = 0;

	do
		rc = simidx_walk_open(ctx->index, &walk, &err);
	while (qr_again(ctx, rc, &err));
	if (rc)
		return qr_fail(ctx, &err);
	while (!code) {
		rc = simidx_walk_next(walk, &document, &err);
		if (rc == SIMIDX_E_END)
			break;
		code = rc ? qr_fail(ctx, &err) : add(all, document.fp);
	}
	simidx_walk_close(walk);
	return code;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Sort, and return the value that stands there most often, the smallest of these. */
static struct qr_crowd sort_and_find(uint64_t *values, size_t n)
{
	struct qr_crowd best = { 0, 0 };

	if (n)
		qsort(values, n, sizeof(*values), compare);
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && values[end] == values[i];)
			end++;
		if (end - i > best.n)
			best = (struct qr_crowd){ values[i], end - i };
	}
	return best;
}

static size_t drop_equal(uint64_t *sorted, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (!kept || sorted[kept - 1] != sorted[i])
			sorted[kept++] = sorted[i];
	}
	return kept;
}

int qr_skew_read(struct qr_context *ctx, const struct qr_table *tables, size_t n,
		 struct qr_skew *out)
{
	struct fingerprints all = { 0 };
	uint64_t *prefixes = NULL;
	int code;

	*out = (struct qr_skew){ .range = calloc(n ? n : 1, sizeof(*out->range)) };
	code = out->range ? read_all(ctx, &all) : tl_error("out of memory");
	if (!code) {
		prefixes = malloc((all.n ? all.n : 1) * sizeof(*prefixes));
		if (!prefixes)
			code = tl_error("out of memory");
	}
	if (!code) {
		out->fingerprint = sort_and_find(all.at, all.n);
		out->distinct = all.n = drop_equal(all.at, all.n);
	}
	for (size_t t = 0; !code && t < n; t++) {
		if (!tables[t].info.prefix_bits)
			continue;
		for (size_t i = 0; i < all.n; i++)
			prefixes[i] = all.at[i] & tables[t].info.prefix_mask;
		out->range[t] = sort_and_find(prefixes, all.n);
	}
	free(prefixes);
	free(all.at);
	return code;
}

void qr_skew_close(struct qr_skew *skew)
{
	free(skew->range);
}

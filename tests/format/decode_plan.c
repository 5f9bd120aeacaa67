/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * doc/format.md, "Permuted values and prefixes", by lists of bit numbers.
 */

#include "decode.h"

/* Bits, the most significant first. */
struct bits {
	unsigned n;
	unsigned at[64];
};

/* Block number `which` of m: the remainder of the division is one bit each to the first ones. */
static struct bits block(const struct bits *all, unsigned m, unsigned which)
{
	struct bits out = { 0 };
	unsigned from = 0;

	for (unsigned b = 0; b <= which; b++) {
		unsigned width = all->n / m + (b < all->n % m);

		for (unsigned i = 0; b == which && i < width; i++)
			out.at[out.n++] = all->at[from + i];
		from += width;
	}
	return out;
}

static struct bits others(const struct bits *all, const struct bits *some)
{
	struct bits out = { 0 };

	for (unsigned i = 0; i < all->n; i++) {
		unsigned j = 0;

		while (j < some->n && some->at[j] != all->at[i])
			j++;
		if (j == some->n)
			out.at[out.n++] = all->at[i];
	}
	return out;
}

static void append(struct bits *to, const struct bits *bits)
{
	for (unsigned i = 0; i < bits->n; i++)
		to->at[to->n++] = bits->at[i];
}

/* A table that begins with these leads, the last one cut where they pass 32 bits. */
static void make_table(struct permutation *p, const struct bits *all, struct bits *leads,
		       unsigned n_leads)
{
	struct bits prefix = { 0 }, rest, order;

	memset(p, 0, sizeof(*p));
	p->f = all->n;
	p->n_leads = n_leads;
	for (unsigned l = 0; l < n_leads; l++) {
		if (prefix.n + leads[l].n > 32)
			leads[l].n = 32 - prefix.n;
		append(&prefix, &leads[l]);
		for (unsigned i = 0; i < leads[l].n; i++)
			p->lead[l] |= UINT64_C(1) << leads[l].at[i];
	}
	p->prefix_bits = prefix.n;
	rest = others(all, &prefix);
	order = prefix;
	append(&order, &rest);
	memcpy(p->bit, order.at, sizeof(p->bit));
}

unsigned plan_tables(const char *plan, unsigned f, struct permutation *out)
{
	int pairs = !strcmp(plan, "10x26"), triples = !strcmp(plan, "20x31");
	int subs = !strcmp(plan, "16x28");
	unsigned m = pairs ? 5 : triples ? 6 : 4, n = 0;
	struct bits all = { 0 };

	for (unsigned i = 0; i < f; i++)
		all.at[all.n++] = f - 1 - i;
	for (unsigned a = 0; a < m; a++) {
		struct bits leads[3] = { block(&all, m, a) };
		struct bits rest = others(&all, &leads[0]);

		if (!pairs && !triples && !subs)
			make_table(&out[n++], &all, leads, 1);
		for (unsigned b = 0; subs && b < 4; b++) {
			leads[1] = block(&rest, 4, b);
			make_table(&out[n++], &all, leads, 2);
		}
		for (unsigned b = a + 1; (pairs || triples) && b < m; b++) {
			leads[1] = block(&all, m, b);
			if (pairs)
				make_table(&out[n++], &all, leads, 2);
			for (unsigned c = b + 1; triples && c < m; c++) {
				leads[2] = block(&all, m, c);
				make_table(&out[n++], &all, leads, 3);
			}
		}
	}
	return n;
}

uint64_t permute(const struct permutation *p, uint64_t fp)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < p->f; i++)
		value = value << 1 | (fp >> p->bit[i] & 1);
	return value;
}

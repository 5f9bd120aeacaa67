/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "index/sx_prices.h"

#include <string.h>

#include "index/sx_reader.h"
#include "plan/sx_predict.h"

#define RETRY 20 /* so many times the debt until it is tried again */

int sx_prices_init(sx_prices *prices)
{
	memset(prices, 0, sizeof(*prices));
	prices->rows = UINT64_MAX; /* unlike any */
	prices->patience = SX_PRICES_PATIENCE;
	return pthread_mutex_init(&prices->lock, NULL) ? -1 : 0;
}

void sx_prices_free(sx_prices *prices)
{
	pthread_mutex_destroy(&prices->lock);
}

static void set_known(sx_prices *prices, int known)
{
	__atomic_store_n(&prices->known, known, __ATOMIC_RELAXED);
}

static void change(sx_prices *prices, const sx_costs *costs)
{
	prices->costs = *costs;
	__atomic_add_fetch(&prices->version, 1, __ATOMIC_RELEASE);
}

void sx_prices_take(simidx_reader *r, uint64_t rows)
{
	sx_prices *prices = &r->index->prices;
	sx_costs typical;

	if (r->costs_version == sx_prices_version(prices) &&
	    r->costs_version && sx_way_is_about(rows, r->costs_rows))
		return;
	pthread_mutex_lock(&prices->lock);
	if (!prices->fixed && !sx_way_is_about(rows, prices->rows)) {
		prices->rows = rows;
		prices->debt = 0;
		set_known(prices, 0);
		sx_costs_typical(&r->index->plan, rows, &typical);
		change(prices, &typical);
	}
	r->costs = prices->costs;
	r->costs_rows = rows;
	r->costs_version = prices->version;
	pthread_mutex_unlock(&prices->lock);
}

/* Whether there are all the directories that there are going to be. */
static int has_directories(const simidx_reader *r)
{
	if (r->index->layout != SIMIDX_LAYOUT_BLOCKS ||
	    r->index->shelf.max_bytes == SIMIDX_DIRECTORY_NEVER)
		return 1;
	for (size_t i = 0; i < r->probes.n; i++)
		if (!r->directory[r->probes.at[i].table])
			return 0;
	return 1;
}

int sx_prices_owe(simidx_reader *r, double ns)
{
	sx_prices *prices = &r->index->prices;
	sx_costs measured;
	int due, rc;

	/* Most often, and then there is no need of the lock. */
	if (__atomic_load_n(&prices->known, __ATOMIC_RELAXED))
		return 0;
	pthread_mutex_lock(&prices->lock);
	due = !prices->known && !prices->typical_only && !prices->fixed &&
	      prices->version == r->costs_version;
	if (due) {
		prices->debt += ns;
		due = prices->debt >= SX_PRICES_DEBT && has_directories(r);
	}
	if (due)
		set_known(prices, 1); /* nobody else begins */
	pthread_mutex_unlock(&prices->lock);
	if (!due)
		return 0;
	rc = sx_prices_measure(r, &measured);
	pthread_mutex_lock(&prices->lock);
	if (prices->version == r->costs_version) {
		/* Blocks that are not in memory may be so later. */
		set_known(prices, !rc);
		prices->debt = -RETRY * SX_PRICES_DEBT;
		if (!rc)
			change(prices, &measured);
	}
	pthread_mutex_unlock(&prices->lock);
	return !rc;
}

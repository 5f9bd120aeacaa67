/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* The face for C: an engine as simidx_engine.h has it. No exception leaves it. */

#include "hb_engine.hh"

#include <simidx_hbase.h>

#include "hb_store.hh"

using namespace simidx_hbase;

namespace {

Store *store_of(void *state)
{
	Store *store = static_cast<Store *>(state);

	if (store->forked())
		fail(SIMIDX_E_FORK, "the index was opened before fork()");
	return store;
}

int hb_open(const char *uri, const simidx_engine_open *how, void **state, simidx_error *err)
{
	*state = nullptr;
	return guarded(err, [&] {
		*state = new Store(uri, how);
		return SIMIDX_OK;
	});
}

void hb_close(void *state)
{
	Store *store = static_cast<Store *>(state);

	if (!store)
		return;
	if (!store->forked())
		store->end_writing();
	guarded(nullptr, [&] {
		delete store;
		return SIMIDX_OK;
	});
}

int hb_info(void *state, simidx_engine_info *out, simidx_error *err)
{
	return guarded(err, [&] {
		store_of(state)->info(out);
		return SIMIDX_OK;
	});
}

int hb_scan(void *state, const simidx_engine_probe *probe, size_t n, simidx_engine_rows rows,
	    void *ctx, uint64_t *version, simidx_engine_cost *cost, simidx_error *err)
{
	for (size_t i = 0; version && i < n; i++)
		version[i] = 0;
	return guarded(err, [&] {
		store_of(state)->scan(probe, n, rows, ctx, cost);
		return SIMIDX_OK;
	});
}

int hb_find_ids(void *state, const uint64_t *id, size_t n, simidx_engine_document deliver,
		void *ctx, simidx_engine_cost *cost, simidx_error *err)
{
	return guarded(err, [&] { return store_of(state)->find_ids(id, n, deliver, ctx, cost); });
}

int hb_find_labels(void *state, const simidx_engine_bytes *label, size_t n,
		   simidx_engine_document deliver, void *ctx, simidx_engine_cost *cost,
		   simidx_error *err)
{
	return guarded(err,
		       [&] { return store_of(state)->find_labels(label, n, deliver, ctx, cost); });
}

int hb_walk(void *state, uint64_t from, size_t n_max, simidx_engine_document deliver, void *ctx,
	    uint64_t *version, simidx_error *err)
{
	if (version)
		*version = 0;
	return guarded(err, [&] { return store_of(state)->walk(from, n_max, deliver, ctx); });
}

int hb_begin(void *state, simidx_error *err)
{
	return guarded(err, [&] {
		Store *store = store_of(state);
		Store::Turn turn(*store);

		store->begin(false);
		return SIMIDX_OK;
	});
}

int hb_resume(void *state, simidx_error *err)
{
	return guarded(err, [&] {
		Store *store = store_of(state);
		Store::Turn turn(*store);

		store->begin(true);
		return SIMIDX_OK;
	});
}

int hb_write(void *state, const simidx_engine_batch *batch, simidx_error *err)
{
	return guarded(err, [&] {
		Store *store = store_of(state);
		Store::Turn turn(*store);

		return store->write(batch);
	});
}

int hb_reserve_ids(void *state, uint64_t n, uint64_t at_least, uint64_t *first, simidx_error *err)
{
	*first = SIMIDX_NO_ID;
	return guarded(err, [&] {
		Store *store = store_of(state);
		Store::Turn turn(*store);

		*first = store->reserve_ids(n, at_least);
		return SIMIDX_OK;
	});
}

int hb_get_mark(void *state, void **data, size_t *size, simidx_error *err)
{
	return guarded(err, [&] {
		store_of(state)->get_mark(data, size);
		return SIMIDX_OK;
	});
}

int hb_check(void *state, simidx_engine_check *check, simidx_error *err)
{
	return guarded(err, [&] {
		Store *store = store_of(state);
		Store::Turn turn(*store);

		store->check(check);
		return SIMIDX_OK;
	});
}

int hb_lease(void *state, const simidx_engine_probe *prefix, size_t n, int wait_ms,
	     simidx_error *err)
{
	return guarded(err, [&] {
		Store *store = store_of(state);
		Store::Turn turn(*store);

		return store->lease(prefix, n, wait_ms);
	});
}

int hb_release(void *state, simidx_error *err)
{
	return guarded(err, [&] {
		Store *store = store_of(state);
		Store::Turn turn(*store);

		return store->release_leases();
	});
}

const char *const plans[] = { SIMIDX_HBASE_PLANS, nullptr };

simidx_engine make_engine()
{
	simidx_engine e = {};

	e.size = sizeof(e);
	e.version = SIMIDX_ENGINE_VERSION;
	e.scheme = "hbase";
	e.name = "HBase";
	e.plans = plans;
	e.open = hb_open;
	e.close = hb_close;
	e.info = hb_info;
	e.scan = hb_scan;
	e.find_ids = hb_find_ids;
	e.find_labels = hb_find_labels;
	e.walk = hb_walk;
	e.begin = hb_begin;
	e.resume = hb_resume;
	e.write = hb_write;
	e.reserve_ids = hb_reserve_ids;
	e.get_mark = hb_get_mark;
	e.check = hb_check;
	e.lease = hb_lease;
	e.release = hb_release;
	return e;
}

} // namespace

extern "C" const simidx_engine *hb_engine(void)
{
	static const simidx_engine engine = make_engine();

	return &engine;
}

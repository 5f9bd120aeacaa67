/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An allocation that fails, each one in turn, while an index is opened and while documents are
 * looked up: the call says so, and the next one has all the connections that it may have. Usage:
 * memory URI
 */

#include <cstdlib>
#include <cstring>
#include <new>

#include "hb_engine.hh"

extern "C" {
#include "hbase/ht_engine.h"
}

/* Allocations until one fails; 0: none does. */
static long left;

void *operator new(size_t size)
{
	void *memory = left > 0 && --left == 0 ? nullptr : malloc(size ? size : 1);

	if (!memory)
		throw std::bad_alloc();
	return memory;
}

void operator delete(void *memory) noexcept
{
	free(memory);
}

void operator delete(void *memory, size_t) noexcept
{
	free(memory);
}

namespace {

const size_t N = 32; /* two requests of 16, so that two connections are used */

enum simidx_engine_next see(void *ctx, size_t, const simidx_match *)
{
	++*static_cast<size_t *>(ctx);
	return SIMIDX_ENGINE_ON;
}

/* With the n-th allocation failing. Returns whether there are so many. */
bool fails(long n, int code)
{
	bool reached = n > 0 && left == 0;

	left = 0;
	if (!reached || code != SIMIDX_E_NOMEM)
		HT_CODE(code, SIMIDX_OK);
	return reached;
}

bool look_up(void *state, const uint64_t *id, long n)
{
	size_t found = 0;

	left = n;
	int code = hb_engine()->find_ids(state, id, N, see, &found, nullptr, &ht_err);
	bool failed = fails(n, code);
	HT_CHECK(code || found == N);
	return failed;
}

bool open_and_close(const char *uri, long n)
{
	simidx_engine_open how;
	void *state;

	memset(&how, 0, sizeof(how));
	how.size = sizeof(how);
	how.n_tables = HT_TABLES;
	left = n;
	int code = hb_engine()->open(uri, &how, &state, &ht_err);
	bool failed = fails(n, code);
	if (!code)
		hb_engine()->close(state);
	return failed;
}

} // namespace

int main(int argc, char **argv)
{
	static ht_doc docs[N];
	static uint64_t id[N];
	long opens = 0, finds = 0;

	HT_CHECK(argc == 2);
	void *state = ht_open(argv[1], SIMIDX_OPEN_CREATE);
	for (size_t i = 0; i < N; i++) {
		docs[i].id = id[i] = i;
		docs[i].there = 1;
	}
	HT_CODE(ht_write(state, nullptr, docs, N, nullptr, SIMIDX_DURABILITY_NORMAL), SIMIDX_OK);

	while (open_and_close(argv[1], opens + 1))
		opens++;
	/* Twice: with connections that are there, and with new ones, as those have been closed. */
	for (bool more = true; more; finds++) {
		more = look_up(state, id, finds + 1);
		look_up(state, id, finds + 1);
		look_up(state, id, 0);
	}
	hb_engine()->close(state);
	HT_CHECK(opens > 50 && finds > 50);
	printf("%ld allocations of an open, %ld of a search\n", opens, finds);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Faiss as a contestant, by one of its indexes that find all within 3 bits: IndexBinaryMultiHash
 * with two hashes of 32 bits, where one of the two halves of a match has at most one bit flipped,
 * which nflip 1 finds; or, with -DFLAT, IndexBinaryFlat, which compares with everything.
 */

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <omp.h>

#include <faiss/IndexBinaryFlat.h>
#include <faiss/IndexBinaryHash.h>
#include <faiss/impl/AuxIndexStructures.h>

extern "C" {
#include "peer.h"
}

namespace {

typedef decltype(faiss::IndexBinary::ntotal) number; /* idx_t, wherever that is declared */

struct index_of {
	std::unique_ptr<faiss::IndexBinary> index;
	std::unique_ptr<faiss::RangeSearchResult> found;
	int radius;
};

#ifdef FLAT
const uint64_t queries = 200;

std::unique_ptr<faiss::IndexBinary> make()
{
	return std::unique_ptr<faiss::IndexBinary>(new faiss::IndexBinaryFlat(64));
}
#else
const uint64_t queries = 0;

std::unique_ptr<faiss::IndexBinary> make()
{
	auto made = new faiss::IndexBinaryMultiHash(64, 2, 32);

	made->nflip = 1;
	return std::unique_ptr<faiss::IndexBinary>(made);
}
#endif

/* A code is read by bytes; it has 8. */
const uint8_t *code_of(const uint64_t *fp)
{
	return reinterpret_cast<const uint8_t *>(fp);
}

void *open(struct bn_rival *rival)
{
	return rival->self;
}

void close(void *)
{
}

bn_hits search(void *session, uint64_t fp)
{
	auto self = static_cast<index_of *>(session);
	/* Version 1.7.3 reads 8 bytes from where the second hash begins. */
	const uint64_t query[2] = { fp, 0 };
	bn_hits hits;

	self->found.reset(new faiss::RangeSearchResult(1));
	self->index->range_search(1, code_of(query), self->radius + 1, self->found.get());
	hits.ids = self->found->labels;
	hits.stride = sizeof(*self->found->labels);
	hits.n = self->found->lims[1];
	return hits;
}

void destroy(struct bn_rival *rival)
{
	delete static_cast<index_of *>(rival->self);
}

} // namespace

extern "C" void peer_make(const struct bn_setup *setup, struct bn_rival *rival)
{
	const uint64_t n = setup->set->n, piece = 1000000;
	auto self = new index_of();

	static_assert(sizeof(number) == sizeof(uint64_t), "ids have 8 bytes");
	if (queries == 0 && setup->radius > 3)
		throw std::invalid_argument("radius up to 3 only");
	omp_set_num_threads(1);
	self->index = make();
	self->radius = static_cast<int>(setup->radius);
	for (uint64_t i = 0; i < n; i += piece)
		self->index->add(static_cast<number>(std::min(n - i, piece)),
				 code_of(setup->set->fp + i));
	rival->max_queries = queries;
	rival->self = self;
	rival->open = open;
	rival->close = close;
	rival->search = search;
	rival->destroy = destroy;
}

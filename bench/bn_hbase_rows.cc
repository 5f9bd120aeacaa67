/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "bn_hbase_rows.h"

#include "hb_store.hh"

using namespace simidx_hbase;

/* Documents whose rows are handed over together. */
static const uint64_t TOGETHER = 10000;

int bn_hbase_rows(const char *uri, uint64_t documents, uint64_t (*fingerprint)(uint64_t i),
		  uint64_t *rows, simidx_error *err)
{
	return guarded(err, [&] {
		simidx_engine_open how = {};
		how.size = sizeof(how);
		Store store(uri, &how);

		*rows = documents * store.n_tables();
		for (uint64_t from = 0; from < documents; from += TOGETHER) {
			std::vector<gateway::Put> puts;
			uint64_t to = std::min(documents, from + TOGETHER);
			int64_t ts = store.timestamp();

			for (uint64_t i = from; i < to; i++)
				for (unsigned t = 0; t < store.n_tables(); t++) {
					uint64_t fp = fingerprint(i);
					std::string key = index_key(t, (uint32_t)(fp >> t), fp, i);

					puts.push_back(put(key, "", "", ts, store.config().full));
				}
			store.put_rows(store.config().index_table(), std::move(puts),
				       store.writing());
		}
		return SIMIDX_OK;
	});
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hbase/ht_raw.h"

#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/TSocket.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "Gateway.h"
#include "hb_rows.hh"

using namespace apache::thrift;
using namespace simidx_hbase;

namespace {

std::shared_ptr<gateway::GatewayClient> client;

int64_t ahead;

/**
 * Engines count up when they take several timestamps in one millisecond: let the clock pass them.
 */
int64_t now()
{
	std::this_thread::sleep_for(std::chrono::milliseconds(20));
	return ht_raw_now();
}

std::string text(const void *data, size_t size)
{
	return std::string((const char *)data, size);
}

} // namespace

void ht_raw_clock(int64_t ms)
{
	ahead = ms;
}

int64_t ht_raw_now()
{
	return ahead + std::chrono::duration_cast<std::chrono::milliseconds>(
			       std::chrono::system_clock::now().time_since_epoch()).count();
}

void ht_raw_gateway(int port)
{
	auto socket = std::make_shared<transport::TSocket>("127.0.0.1", port);
	auto buffer = std::make_shared<transport::TBufferedTransport>(socket);

	socket->open();
	client = std::make_shared<gateway::GatewayClient>(
		std::make_shared<protocol::TBinaryProtocol>(buffer));
}

void ht_raw_put(const char *table, const void *row, size_t row_size, const char *column,
		const void *value, size_t size)
{
	client->putMultiple(table, { put(text(row, row_size), column, text(value, size), now(),
					 gateway::Durability::SYNC) });
}

void ht_raw_remove(const char *table, const void *row, size_t row_size, const char *column)
{
	std::vector<gateway::Delete> none;

	client->deleteMultiple(none, table, { remove(text(row, row_size), column, now(),
						     gateway::Durability::SYNC) });
}

void ht_raw_document(uint64_t id, unsigned char key[10])
{
	memcpy(key, document_key(id).data(), 10);
}

void ht_raw_row(unsigned table, uint32_t prefix, uint64_t fp, uint64_t id, unsigned char key[21])
{
	memcpy(key, index_key(table, prefix, fp, id).data(), INDEX_KEY_SIZE);
}

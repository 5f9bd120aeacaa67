/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Rows read and written in lists that are cut into requests of a moderate size. */

#include "hb_store.hh"

#include <algorithm>
#include <chrono>
#include <random>

namespace simidx_hbase {
namespace {

/* Rows of documents may have labels of 64 KiB: 256 of them stay below the size of an answer. */
const size_t GETS = 256;
/* Rows that are stored or deleted by one request. */
const size_t MIN_ROWS = 100, MAX_ROWS = 4000, MAX_ROWS_BYTES = 512 << 10;
/*
 * What waits to be read by the gateway, while its answers wait to be read here, must fit into
 * buffers.
 */
const unsigned PAGE_WINDOW = 32, GET_WINDOW = 4, WRITE_WINDOW = 2;

class GetRequest : public Request {
public:
	GetRequest(const std::string &table, std::vector<gateway::Get> gets)
		: table_(table), gets_(std::move(gets)) {}
	void send(gateway::GatewayClient &client) override
	{
		client.send_getMultiple(table_, gets_);
	}
	void receive(gateway::GatewayClient &client) override
	{
		results.clear();
		client.recv_getMultiple(results);
		if (results.size() != gets_.size())
			fail(SIMIDX_E_IO, "the gateway has answered %zu of %zu rows",
			     results.size(), gets_.size());
		done = true;
	}
	std::vector<gateway::Result> results;

private:
	const std::string &table_;
	std::vector<gateway::Get> gets_;
};

class PutRequest : public Request {
public:
	explicit PutRequest(const std::string &table) : table_(table) {}
	void send(gateway::GatewayClient &client) override
	{
		client.send_putMultiple(table_, rows);
	}
	void receive(gateway::GatewayClient &client) override
	{
		client.recv_putMultiple();
		done = true;
	}
	std::vector<gateway::Put> rows;

private:
	const std::string &table_;
};

class DeleteRequest : public Request {
public:
	explicit DeleteRequest(const std::string &table) : table_(table) {}
	void send(gateway::GatewayClient &client) override
	{
		client.send_deleteMultiple(table_, rows);
	}
	void receive(gateway::GatewayClient &client) override
	{
		std::vector<gateway::Delete> none;

		client.recv_deleteMultiple(none);
		done = true;
	}
	std::vector<gateway::Delete> rows;

private:
	const std::string &table_;
};

size_t size_of(const gateway::Put &put)
{
	size_t size = put.row.size() + 40;

	for (const gateway::Cell &c : put.cells)
		size += c.column.size() + c.value.size() + 40;
	return size;
}

size_t size_of(const gateway::Delete &remove)
{
	return remove.row.size() + 40 * (1 + remove.columns.size());
}

/**
 * Cut rows into requests, by the order of their keys, so that each is for few regions. HBase stores
 * the regions of a request one after another and waits for the disk each time. So also few rows are
 * spread over all connections.
 */
template <class R, class Row>
void cut(const std::string &table, std::vector<Row> rows, size_t connections,
	 std::vector<R> &requests)
{
	size_t most = std::max(MIN_ROWS, rows.size() / connections + 1), bytes = MAX_ROWS_BYTES;

	most = std::min(most, MAX_ROWS);
	std::sort(rows.begin(), rows.end(),
		  [](const Row &a, const Row &b) { return a.row < b.row; });
	for (auto &one : rows) {
		if (bytes >= MAX_ROWS_BYTES || requests.back().rows.size() >= most) {
			requests.emplace_back(table);
			bytes = 0;
		}
		bytes += size_of(one);
		requests.back().rows.push_back(std::move(one));
	}
}

std::vector<gateway::Column> columns_of(const std::vector<std::string> &names)
{
	std::vector<gateway::Column> columns;

	for (const std::string &name : names) {
		columns.emplace_back();
		columns.back().family = FAMILY;
		columns.back().__set_column(name);
	}
	return columns;
}

class PageRequest : public Request {
public:
  PageRequest(const std::string &table, const std::string &start, const std::string &stop,
	      int limit, const std::vector<std::string> &columns)
      : table_(table), limit_(limit)
  {
	  scan_.__set_start(start);
	  scan_.__set_stop(stop);
	  scan_.__set_caching(limit);
	  scan_.__set_limit(limit);
	  scan_.__set_read_type(gateway::ReadType::PREAD);
	  scan_.__set_cache_blocks(false);
	  if (!columns.empty())
		  scan_.__set_columns(columns_of(columns));
	}
	void send(gateway::GatewayClient &client) override
	{
		client.send_getScannerResults(table_, scan_, limit_);
	}
	void receive(gateway::GatewayClient &client) override
	{
		results.clear();
		client.recv_getScannerResults(results);
		done = true;
	}
	std::vector<gateway::Result> results;

private:
	const std::string &table_;
	gateway::Scan scan_;
	int limit_;
};

template <class R> std::vector<Request *> pointers(std::vector<R> &requests)
{
	std::vector<Request *> list;

	for (R &request : requests)
		list.push_back(&request);
	return list;
}

} // namespace

Store::Store(const char *uri, const simidx_engine_open *how)
	: config_(parse_uri(uri)), pool_(config_), read_only_(how->flags & SIMIDX_OPEN_READ_ONLY)
{
	std::random_device random;

	for (int i = 0; i < 4; i++)
		put_number(token_, random(), 4);
	open(how);
}

std::vector<gateway::Result> Store::get_rows(const std::string &table,
					     const std::vector<std::string> &keys,
					     const Deadline &deadline, simidx_engine_cost *cost,
					     const std::string &column)
{
	std::vector<GetRequest> requests;
	std::vector<gateway::Result> all;
	/* As many requests as connections, if that makes none too small. */
	size_t step = std::max<size_t>(16, (keys.size() + config_.connections - 1) /
						   config_.connections);

	step = std::min(step, GETS);
	for (size_t at = 0; at < keys.size(); at += step) {
		std::vector<gateway::Get> gets(std::min(step, keys.size() - at));
		for (size_t i = 0; i < gets.size(); i++) {
			gets[i].row = keys[at + i];
			if (!column.empty())
				gets[i].__set_columns(columns_of({ column }));
		}
		requests.emplace_back(table, std::move(gets));
	}
	pool_.run(pointers(requests), GET_WINDOW, deadline, cost);
	all.reserve(keys.size());
	for (auto &request : requests)
		for (auto &result : request.results)
			all.push_back(std::move(result));
	return all;
}

void Store::put_rows(const std::string &table, std::vector<gateway::Put> rows,
		     const Deadline &deadline)
{
	std::vector<PutRequest> requests;

	cut(table, std::move(rows), config_.connections, requests);
	pool_.run(pointers(requests), WRITE_WINDOW, deadline);
}

void Store::put_rows(std::vector<gateway::Put> index, std::vector<gateway::Put> docs,
		     const Deadline &deadline)
{
	std::string index_table = config_.index_table(), docs_table = config_.docs_table();
	std::vector<PutRequest> requests;

	cut(index_table, std::move(index), config_.connections, requests);
	cut(docs_table, std::move(docs), config_.connections, requests);
	pool_.run(pointers(requests), WRITE_WINDOW, deadline);
}

void Store::delete_rows(const std::string &table, std::vector<gateway::Delete> rows,
			const Deadline &deadline)
{
	std::vector<DeleteRequest> requests;

	cut(table, std::move(rows), config_.connections, requests);
	pool_.run(pointers(requests), WRITE_WINDOW, deadline);
}

void Store::delete_rows(std::vector<gateway::Delete> index, std::vector<gateway::Delete> docs,
			const Deadline &deadline)
{
	std::string index_table = config_.index_table(), docs_table = config_.docs_table();
	std::vector<DeleteRequest> requests;

	cut(index_table, std::move(index), config_.connections, requests);
	cut(docs_table, std::move(docs), config_.connections, requests);
	pool_.run(pointers(requests), WRITE_WINDOW, deadline);
}

std::vector<std::vector<gateway::Result>>
Store::pages(const std::string &table,
	     const std::vector<std::pair<std::string, std::string>> &ranges, int limit,
	     const Deadline &deadline, const std::vector<std::string> &columns)
{
	const std::vector<std::string> all_columns;
	std::vector<PageRequest> requests;
	std::vector<std::vector<gateway::Result>> all;

	for (const auto &range : ranges)
		requests.emplace_back(table, range.first, range.second, limit,
				      requests.empty() ? columns : all_columns);
	pool_.run(pointers(requests), PAGE_WINDOW, deadline);
	for (auto &request : requests)
		all.push_back(std::move(request.results));
	return all;
}

std::vector<gateway::Result> Store::page(const std::string &table, const std::string &start,
					 const std::string &stop, int limit,
					 const Deadline &deadline)
{
	return std::move(pages(table, { { start, stop } }, limit, deadline)[0]);
}

bool Store::put_if(const std::string &row, const std::string &column, const std::string &old,
		   const std::string &value, int64_t timestamp, const Deadline &deadline)
{
	bool stored = false;
	unsigned tries = 0;
	Call call([&](gateway::GatewayClient &client) {
		tries++;
		stored = client.checkAndPut(config_.docs_table(), row, FAMILY, column, old,
					    put(row, column, value, timestamp, durability_));
	});

	pool_.run(call, deadline);
	if (stored || tries == 1)
		return stored;
	/* The first try may have stored it, and its answer was lost. */
	auto rows = get_rows(config_.docs_table(), { row }, deadline);
	const gateway::Cell *now = find_cell(rows[0], column);
	return now && now->value == value;
}

/* ---------------------------------------------------------------------------------------------
 * Turns
 */

Store::Turn::Turn(Store &store, bool waits) : store_(store)
{
	std::unique_lock<std::mutex> lock(store_.turn_mutex_);

	if (waits)
		store_.turn_ended_.wait(lock, [&] { return !store_.turn_; });
	mine_ = !store_.turn_;
	store_.turn_ = true;
}

Store::Turn::~Turn()
{
	if (!mine_)
		return;
	std::lock_guard<std::mutex> lock(store_.turn_mutex_);
	store_.turn_ = false;
	store_.turn_ended_.notify_one();
}

/* ---------------------------------------------------------------------------------------------
 * Timestamps: doc/hbase-design.md says why there is one for each operation, above all that it
 * replaces.
 */

int64_t Store::now()
{
	return std::chrono::duration_cast<std::chrono::milliseconds>(
		       std::chrono::system_clock::now().time_since_epoch()).count();
}

int64_t Store::timestamp()
{
	last_timestamp_ = std::max(now(), last_timestamp_ + 1);
	return last_timestamp_;
}

void Store::saw_timestamp(int64_t timestamp)
{
	/* One of the far future, which nobody has set in earnest, must not exhaust the numbers. */
	if (timestamp < INT64_MAX / 2)
		last_timestamp_ = std::max(last_timestamp_, timestamp);
}

} // namespace simidx_hbase

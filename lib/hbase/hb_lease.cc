/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Leases on prefixes: a row each, which tells who has it and until when. A lease that has expired is
 * taken over by whoever comes first; the row is compared and changed in one step.
 */

#include "hb_store.hh"

#include <algorithm>
#include <thread>

namespace simidx_hbase {
namespace {

const char FREE[] = "free";
const int FIRST_PAUSE_MS = 5, LAST_PAUSE_MS = 100;

bool is_held(const std::string &value, const std::string &token, int64_t now)
{
	return value.size() > 8 && value.compare(8, std::string::npos, token) != 0 &&
	       (int64_t)get_number(value, 0, 8) >= now;
}

class TakeRequest : public Request {
public:
	TakeRequest(const std::string &table, const std::string &row, const std::string &old,
		    gateway::Put put) : table_(table), row_(row), old_(old), put_(std::move(put)) {}
	void send(gateway::GatewayClient &client) override
	{
		client.send_checkAndPut(table_, row_, FAMILY, COLUMN_OWNER, old_, put_);
	}
	void receive(gateway::GatewayClient &client) override
	{
		stored = client.recv_checkAndPut();
		done = true;
	}
	bool stored = false;

private:
	const std::string &table_;
	std::string row_, old_;
	gateway::Put put_;
};

} // namespace

/**
 * Rows are tried together and count only as far as all before them were got. So nobody holds one while
 * waiting for another one that comes earlier in the order, and two writers never wait for each other.
 */
int Store::lease(const simidx_engine_probe *prefix, size_t n, int wait_ms)
{
	Deadline deadline = writing(), patience(wait_ms < 0 ? INT32_MAX : wait_ms);
	std::string table = config_.docs_table();
	std::vector<std::string> keys;
	int pause_ms = FIRST_PAUSE_MS;

	if (read_only_)
		fail(SIMIDX_E_READ_ONLY, "%s: opened read-only", config_.index_table().c_str());
	for (size_t i = 0; i < n; i++)
		keys.push_back(lease_key(prefix[i].table, prefix[i].prefix));
	/* Two tables may be asked for one prefix, and one prefix twice. */
	for (size_t i = 0; i < keys.size();)
		if (std::find(keys.begin(), keys.begin() + (long)i, keys[i]) != keys.begin() + (long)i)
			keys.erase(keys.begin() + (long)i);
		else
			i++;
	while (!keys.empty()) {
		auto rows = get_rows(table, keys, deadline);
		std::vector<TakeRequest> requests;
		std::vector<Request *> list;
		std::vector<Lease> wanted;

		requests.reserve(keys.size());
		for (size_t i = 0; i < keys.size(); i++) {
			const gateway::Cell *cell = find_cell(rows[i], COLUMN_OWNER);
			Lease lease;

			if (cell && is_held(cell->value, token_, now()))
				break;
			if (cell)
				saw_timestamp(cell->timestamp);
			lease.key = keys[i];
			lease.until = now() + config_.lease_s * 1000;
			put_number(lease.value, (uint64_t)lease.until, 8);
			lease.value += token_;
			wanted.push_back(lease);
			requests.emplace_back(table, lease.key, cell ? cell->value : "",
					      put(lease.key, COLUMN_OWNER, lease.value, timestamp(),
						  gateway::Durability::SYNC));
			list.push_back(&requests.back());
		}
		if (!list.empty())
			pool_.run(list, 16, deadline);
		size_t got = 0;
		while (got < requests.size() && requests[got].stored)
			got++;
		std::vector<Lease> early;
		for (size_t i = got; i < requests.size(); i++)
			if (requests[i].stored)
				early.push_back(wanted[i]);
		leases_.insert(leases_.end(), wanted.begin(), wanted.begin() + (long)got);
		keys.erase(keys.begin(), keys.begin() + (long)got);
		for (const Lease &lease : early)
			put_if(lease.key, COLUMN_OWNER, lease.value, FREE, timestamp(), deadline);
		if (keys.empty())
			break;
		/* One that was refused may be one's own, of which an answer was lost: it is read again. */
		if (!requests.empty())
			continue;
		if (patience.left() == 0) {
			release_leases();
			fail(SIMIDX_E_BUSY, "another writer has a lease on a prefix");
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(
			std::min(pause_ms, std::max(1, patience.left()))));
		pause_ms = std::min(2 * pause_ms, LAST_PAUSE_MS);
		if (patience.left() > 0)
			deadline = writing();
	}
	return SIMIDX_OK;
}

/** Leases that cannot be given back in two seconds end by themselves. */
int Store::release_leases()
{
	Deadline deadline(std::min(config_.write_ms, 2000));
	std::string table = config_.docs_table();
	std::vector<TakeRequest> requests;
	std::vector<Request *> list;
	bool lost = false;

	requests.reserve(leases_.size());
	for (const Lease &lease : leases_) {
		requests.emplace_back(table, lease.key, lease.value,
				      put(lease.key, COLUMN_OWNER, FREE, timestamp(),
					  gateway::Durability::SYNC));
		list.push_back(&requests.back());
	}
	std::vector<Lease> leases;
	leases.swap(leases_);
	if (list.empty())
		return SIMIDX_OK;
	pool_.run(list, 16, deadline);
	for (size_t i = 0; i < requests.size(); i++)
		lost = lost || (!requests[i].stored && leases[i].until <= now());
	if (lost)
		fail(SIMIDX_E_STATE, "a lease had expired after %d s, and another writer has taken it",
		     config_.lease_s);
	return SIMIDX_OK;
}

} // namespace simidx_hbase

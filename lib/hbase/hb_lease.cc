/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Leases on prefixes: a row each, which tells who has it and until when. The row is compared and
 * changed in one step. A lease that has expired goes to the one who comes first, but only when its
 * holder can store nothing more: what it had begun is finished, and its number taken from it.
 */

#include "hb_store.hh"

#include <algorithm>
#include <set>
#include <thread>

namespace simidx_hbase {
namespace {

const int FIRST_PAUSE_MS = 5, LAST_PAUSE_MS = 100;
const unsigned WINDOW = 16;
const int GIVE_BACK_MS = 2000;

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
 * Whether the holder of a lease that has expired has ended. If it was killed after its journal, its
 * batch has to be stored first, so that whoever has the lease next finds its documents. If it was
 * only slow, it must not write its journal any more, which it can do only as long as its number is
 * its own.
 */
bool Store::has_ended(const Lease &lease, const Deadline &deadline)
{
	for (WriterRow &row :
	     writer_rows({ COLUMN_COUNTS, COLUMN_JOURNAL, COLUMN_OWNER }, deadline)) {
		bool begun = !row.journal.empty() && row.journal_timestamp <= lease.until;
		bool holders = token_of(row.owner) == token_of(lease.value);

		if ((!begun && !holders) || has_number(row))
			continue;
		if (!can_have(row) || !claim_writer(row, deadline))
			return false;
		free_writer(row, deadline);
	}
	return true;
}

/**
 * Exchange the values of leases. Returns for each whether it had the one that it was to have. Where
 * an answer is missing, some may be exchanged, or be so later: then all are kept, to be given back.
 */
std::vector<bool> Store::exchange(const std::vector<Lease> &leases,
				  const std::vector<std::string> &from,
				  const std::vector<std::string> &to, const Deadline &deadline)
{
	std::string table = config_.docs_table();
	std::vector<TakeRequest> requests;
	std::vector<Request *> list;
	std::vector<bool> stored;

	requests.reserve(leases.size());
	for (size_t i = 0; i < leases.size(); i++) {
		requests.emplace_back(table, leases[i].key, from[i],
				      put(leases[i].key, COLUMN_OWNER, to[i], timestamp(),
					  gateway::Durability::SYNC));
		list.push_back(&requests.back());
	}
	try {
		if (!list.empty())
			pool_.run(list, WINDOW, deadline);
	} catch (const Failure &) {
		kept_leases_.insert(kept_leases_.end(), leases.begin(), leases.end());
		throw;
	}
	for (const TakeRequest &request : requests)
		stored.push_back(request.stored);
	return stored;
}

/**
 * Try to take leases, of which `leases` has the values as they are now. Afterwards it has those
 * that were to be stored. Returns for each whether it was.
 */
std::vector<bool> Store::try_leases(std::vector<Lease> &leases, const Deadline &deadline)
{
	std::vector<std::string> from, to;

	for (Lease &lease : leases) {
		from.push_back(lease.value);
		lease.until = now() + config_.lease_s * 1000;
		lease.value = owner_value(lease.until, token_);
		to.push_back(lease.value);
	}
	return exchange(leases, from, to, deadline);
}

void Store::note_lease(const Lease &lease)
{
	int64_t half = lease.until - config_.lease_s * 500;

	renew_at_ = leases_.empty() ? half : std::min(renew_at_, half);
	leases_[lease.key] = lease;
	kept_leases_.erase(std::remove_if(kept_leases_.begin(), kept_leases_.end(),
					  [&](const Lease &kept) { return kept.key == lease.key; }),
			   kept_leases_.end());
}

/**
 * Rows are tried together and count only as far as all before them were got. So nobody holds one
 * while waiting for another one that comes earlier in the order, and two writers never wait for
 * each other. One that has leases of an earlier call does not wait at all, as that order does not
 * hold for them.
 */
int Store::lease(const simidx_engine_probe *prefix, size_t n, int wait_ms)
{
	Deadline deadline = writing(), wait_limit(wait_ms < 0 ? INT32_MAX : wait_ms);
	const bool waits = leases_.empty();
	std::vector<std::string> keys, taken;
	int pause_ms = FIRST_PAUSE_MS;

	if (read_only_)
		fail(SIMIDX_E_READ_ONLY, "%s: opened read-only", config_.index_table().c_str());
	/* A search that follows must find what an earlier commit was storing when it failed. */
	if (writer_.unfinished)
		become_writer(deadline);
	give_back_kept();
	for (size_t i = 0; i < n; i++) {
		std::string key = lease_key(prefix[i].table, prefix[i].prefix);
		if (!leases_.count(key) && std::find(keys.begin(), keys.end(), key) == keys.end())
			keys.push_back(key);
	}
	renew_leases(deadline);
	while (!keys.empty()) {
		auto rows = get_rows(config_.docs_table(), keys, deadline);
		std::vector<Lease> wanted;

		for (size_t i = 0; i < keys.size(); i++) {
			const gateway::Cell *cell = find_cell(rows[i], COLUMN_OWNER);
			Lease lease;

			lease.key = keys[i];
			if (cell) {
				saw_timestamp(cell->timestamp);
				lease.value = cell->value;
			}
			std::string holder = token_of(lease.value);
			if (!holder.empty() && holder != token_) {
				lease.until = (int64_t)get_number(lease.value, 0, 8);
				if (!has_passed(lease.until, now()) || !has_ended(lease, deadline))
					break;
			}
			wanted.push_back(lease);
		}
		std::vector<bool> stored = try_leases(wanted, deadline);
		size_t got = (size_t)(std::find(stored.begin(), stored.end(), false) -
				      stored.begin());
		for (size_t i = 0; i < wanted.size(); i++)
			if (i < got)
				note_lease(wanted[i]);
			else if (stored[i])
				kept_leases_.push_back(wanted[i]);
		give_back_kept();
		taken.insert(taken.end(), keys.begin(), keys.begin() + (long)got);
		keys.erase(keys.begin(), keys.begin() + (long)got);
		/*
		 * One that was refused may be one's own, of which an answer was lost: it is read
		 * again.
		 */
		if (keys.empty() || !wanted.empty())
			continue;
		if (!waits || wait_limit.left() == 0) {
			give_back(taken);
			fail(SIMIDX_E_BUSY, waits ? "another writer has a lease on a prefix" :
						    "another writer has a lease on a prefix, and "
						    "may be waiting for one of this transaction: "
						    "commit it first");
		}
		std::this_thread::sleep_for(std::chrono::milliseconds(
			std::min(pause_ms, std::max(1, wait_limit.left()))));
		pause_ms = std::min(2 * pause_ms, LAST_PAUSE_MS);
		if (wait_limit.left() > 0)
			deadline = writing();
		renew_leases(deadline); /* those that were got so far */
	}
	return SIMIDX_OK;
}

/** Have all leases for at least half of their time. It fails where another writer has had one. */
void Store::renew_leases(const Deadline &deadline)
{
	std::vector<Lease> leases;
	std::vector<std::string> keys;

	if (leases_.empty() || now() < renew_at_)
		return;
	for (const auto &one : leases_) {
		leases.push_back(one.second);
		keys.push_back(one.first);
	}
	std::vector<bool> stored = try_leases(leases, deadline);
	/* Where an answer was lost, now or at the last try, the row says what is stored. */
	std::vector<gateway::Result> rows;
	if (std::find(stored.begin(), stored.end(), false) != stored.end())
		rows = get_rows(config_.docs_table(), keys, deadline);
	renew_at_ = INT64_MAX;
	for (size_t i = 0; i < leases.size(); i++) {
		if (!stored[i]) {
			const gateway::Cell *cell = find_cell(rows[i], COLUMN_OWNER);
			if (!cell || token_of(cell->value) != token_) {
				renew_at_ = 0; /* the next try is to fail, too */
				fail(SIMIDX_E_STATE, "a lease has expired after %d s, and another "
				     "writer has taken it; nothing is stored", config_.lease_s);
			}
			leases[i].value = cell->value;
			leases[i].until = (int64_t)get_number(cell->value, 0, 8);
		}
		note_lease(leases[i]);
	}
}

/**
 * Give leases back. Those that cannot be given back now are kept for later, and end by themselves.
 */
void Store::free_leases(const std::vector<Lease> &leases)
{
	Deadline deadline(std::min(config_.write_ms, GIVE_BACK_MS));
	std::vector<std::string> from, to;
	std::set<std::string> freed;

	for (const Lease &lease : leases) {
		from.push_back(lease.value);
		to.push_back(free_value(token_, timestamp()));
	}
	std::vector<bool> stored = exchange(leases, from, to, deadline);
	/* Of a renewal that has failed, only one of two values can have been there. */
	for (size_t i = 0; i < leases.size(); i++)
		if (stored[i])
			freed.insert(leases[i].key);
	for (const Lease &lease : leases)
		if (lease.until <= now() && !freed.count(lease.key))
			fail(SIMIDX_E_STATE,
			     "a lease had expired after %d s, and another writer has taken it",
			     config_.lease_s);
}

void Store::give_back(const std::vector<std::string> &keys)
{
	std::vector<Lease> leases;

	for (const std::string &key : keys) {
		leases.push_back(leases_[key]);
		leases_.erase(key);
	}
	free_leases(leases);
}

/**
 * Leases that were kept for it, as far as they have not ended by themselves and are not had still.
 */
void Store::give_back_kept()
{
	std::vector<Lease> leases, held;

	for (const Lease &lease : kept_leases_)
		if (leases_.count(lease.key))
			held.push_back(lease);
		else if (!has_passed(lease.until, now()))
			leases.push_back(lease);
	kept_leases_.swap(held);
	try {
		free_leases(leases);
	} catch (const Failure &) {
		/* Then they are kept again. */
	}
}

int Store::release_leases()
{
	std::vector<Lease> leases;

	for (const Lease &lease : kept_leases_)
		if (!has_passed(lease.until, now()))
			leases.push_back(lease);
	for (const auto &one : leases_)
		leases.push_back(one.second);
	leases_.clear();
	kept_leases_.clear();
	/* Who had one now would not find what is going to be stored. It must not be had before
	   that, or before it expires: who takes it then finishes the batch first. */
	if (writer_.unfinished)
		kept_leases_.swap(leases);
	free_leases(leases);
	return SIMIDX_OK;
}

} // namespace simidx_hbase

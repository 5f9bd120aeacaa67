/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hb_pool.hh"

#include <thrift/TApplicationException.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TProtocolException.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/THttpClient.h>

#include <algorithm>
#include <random>
#include <thread>
#include <unistd.h>

namespace simidx_hbase {

using apache::thrift::TApplicationException;
using apache::thrift::TException;
using apache::thrift::protocol::TBinaryProtocol;
using apache::thrift::protocol::TBinaryProtocolT;
using apache::thrift::protocol::TProtocolException;
using apache::thrift::transport::TBufferedTransport;
using apache::thrift::transport::TFramedTransport;
using apache::thrift::transport::THttpClient;
using apache::thrift::transport::TTransport;
using apache::thrift::transport::TTransportException;

namespace {

/* A gateway closes what is idle for 60 seconds; by then this side must not use it any more. */
const auto MAX_IDLE = std::chrono::seconds(40);
/* A gateway that could not be reached is passed over for that long, if there are others. */
const auto BAD_TIME = std::chrono::seconds(5);
/* Nobody listens at the first attempt: most likely the URI is wrong, so it is not tried for long. */
const int FIRST_MS = 3000;
const int CONNECT_MS = 3000;
const int FIRST_PAUSE_MS = 50, LAST_PAUSE_MS = 2000;
/* Sizes that an answer may claim before it has sent them. */
const int MAX_STRING = 16 << 20, MAX_LIST = 1 << 16;

template <class P> std::unique_ptr<gateway::GatewayClient> make_client(std::shared_ptr<P> protocol)
{
	protocol->setStringSizeLimit(MAX_STRING);
	protocol->setContainerSizeLimit(MAX_LIST);
	protocol->setStrict(true, true);
	return std::make_unique<gateway::GatewayClient>(protocol);
}

/** HBase is down or not ready, though the gateway says that asking again is of no use. */
bool is_down(const std::string &message)
{
	return message.find("could not be completed in") != std::string::npos;
}

} // namespace

void Trouble::note(Level new_level, int new_code, const std::string &new_text)
{
	if (new_level < level)
		return;
	level = new_level;
	code = new_code;
	text = new_text;
}

Pool::Pool(const Config &config)
	: config_(config), process_(getpid()), bad_until_(config.gateways.size())
{
}

bool Pool::forked() const
{
	return getpid() != process_;
}

Pool::~Pool()
{
	if (forked())
		for (auto &link : idle_)
			link->wire->abandon();
}

/* ---------------------------------------------------------------------------------------------
 * Connections
 */

std::unique_ptr<Link> Pool::connect(const Deadline &deadline)
{
	size_t n = config_.gateways.size();
	bool all_bad = true;
	std::string why;

	{
		std::lock_guard<std::mutex> lock(mutex_);
		for (auto until : bad_until_)
			all_bad = all_bad && until > Clock::now();
	}
	for (size_t i = 0; i < n; i++) {
		const Address &address = config_.gateways[i];
		{
			std::lock_guard<std::mutex> lock(mutex_);
			if (!all_bad && bad_until_[i] > Clock::now())
				continue;
		}
		try {
			auto link = std::make_unique<Link>();
			link->gateway = i;
			link->wire = connect_wire(address,
						  Deadline(std::min(CONNECT_MS, deadline.left())));
			if (config_.transport == Transport::BINARY) {
				auto buffered = std::make_shared<TBufferedTransport>(
					link->wire, 64 << 10, link->wire->getConfiguration());
				link->client = make_client(
					std::make_shared<TBinaryProtocolT<TBufferedTransport>>(buffered));
			} else if (config_.transport == Transport::FRAMED) {
				link->client = make_client(std::make_shared<TBinaryProtocol>(
					std::make_shared<TFramedTransport>(
						link->wire, link->wire->getConfiguration())));
			} else {
				link->client = make_client(std::make_shared<TBinaryProtocol>(
					std::make_shared<THttpClient>(link->wire, address.host,
								      config_.path,
								      link->wire->getConfiguration())));
			}
			link->last_use = Clock::now();
			reached_ = true;
			return link;
		} catch (const TTransportException &e) {
			why = address.name() + ": " + e.what();
			std::lock_guard<std::mutex> lock(mutex_);
			bad_until_[i] = Clock::now() + BAD_TIME;
			if (e.getType() == TTransportException::BAD_ARGS && n == 1)
				fail(SIMIDX_E_IO, "%s", why.c_str());
		}
	}
	throw TTransportException(TTransportException::NOT_OPEN, why);
}

/** Between one and n connections; fewer where others have them. Empty: there is trouble. */
std::vector<std::unique_ptr<Link>> Pool::acquire(size_t n, const Deadline &deadline, Trouble &trouble)
{
	std::vector<std::unique_ptr<Link>> links;
	size_t fresh = 0;

	{
		std::unique_lock<std::mutex> lock(mutex_);
		if (!freed_.wait_for(lock, std::chrono::milliseconds(deadline.left()), [this] {
			    return !idle_.empty() || open_ < config_.connections;
		    })) {
			trouble.note(Trouble::LATER, SIMIDX_E_IO, "all connections are in use");
			return links;
		}
		while (links.size() + fresh < n) {
			if (!idle_.empty()) {
				auto link = std::move(idle_.back());
				idle_.pop_back();
				if (Clock::now() - link->last_use < MAX_IDLE)
					links.push_back(std::move(link));
				else
					open_--;
			} else if (open_ < config_.connections) {
				open_++;
				fresh++;
			} else {
				break;
			}
		}
	}
	for (; fresh > 0; fresh--) {
		try {
			links.push_back(connect(deadline));
		} catch (const TTransportException &e) {
			if (links.empty())
				trouble.note(Trouble::LATER, SIMIDX_E_IO, e.what());
			break;
		} catch (...) {
			/* What was counted and not opened is given back, also those that follow. */
			std::lock_guard<std::mutex> lock(mutex_);
			open_ -= fresh;
			for (auto &link : links)
				idle_.push_back(std::move(link));
			throw;
		}
	}
	if (fresh > 0) {
		std::lock_guard<std::mutex> lock(mutex_);
		open_ -= fresh;
		freed_.notify_all();
	}
	return links;
}

void Pool::release(std::unique_ptr<Link> link, bool alive)
{
	std::lock_guard<std::mutex> lock(mutex_);

	if (alive) {
		link->last_use = Clock::now();
		idle_.push_back(std::move(link));
	} else {
		open_--;
	}
	freed_.notify_one();
}

/* ---------------------------------------------------------------------------------------------
 * Requests
 */

/** The connection of a lane is of no use any more: says why, in the exception that is handled. */
void Pool::lost(Lane &lane, Trouble &trouble)
{
	std::string where = config_.gateways[lane.link->gateway].name() + ": ";

	lane.alive = false;
	if (!lane.link->used) {
		std::lock_guard<std::mutex> lock(mutex_);
		bad_until_[lane.link->gateway] = Clock::now() + BAD_TIME;
	}
	try {
		throw;
	} catch (const TTransportException &e) {
		bool closed = e.getType() == TTransportException::END_OF_FILE;

		if (closed && lane.link->used)
			trouble.note(Trouble::STALE, SIMIDX_E_IO, where + "the connection was closed");
		else if (closed && !ever_)
			trouble.note(Trouble::LATER, SIMIDX_E_IO,
				     where + "closed without an answer; does it speak another "
					     "transport (binary, framed, http)?");
		else
			trouble.note(Trouble::LATER, SIMIDX_E_IO, where + one_line(e.what()));
	} catch (const TProtocolException &e) {
		trouble.note(Trouble::ONCE, SIMIDX_E_IO,
			     where + "this is no answer of a Thrift2 gateway: " + one_line(e.what()));
	} catch (const TException &e) {
		trouble.note(Trouble::ONCE, SIMIDX_E_IO, where + one_line(e.what()));
	}
}

/** Send what may be sent. */
void Pool::fill(Lane &lane, unsigned window, Trouble &trouble)
{
	try {
		while (lane.sent < lane.queue.size() && lane.sent - lane.received < window)
			lane.queue[lane.sent++]->send(*lane.link->client);
		lane.link->wire->push();
	} catch (const TException &) {
		lost(lane, trouble);
	}
}

/** An error of which HBase says that asking again does not help. */
void Pool::refused(const std::string &message, const std::string &where, Trouble &trouble)
{
	/* Of a table that is missing, the message is no more than the name. */
	for (const std::string &table : { config_.index_table(), config_.docs_table() })
		if (message == table || (message.find("TableNotFound") != std::string::npos &&
					 message.find(table) != std::string::npos)) {
			trouble.note(Trouble::FATAL, SIMIDX_E_NOT_FOUND,
				     where + "there is no table " + table);
			return;
		}
	trouble.note(Trouble::FATAL,
		     message.find("AccessDenied") != std::string::npos ? SIMIDX_E_PERMISSION :
									 SIMIDX_E_IO,
		     where + message);
}

/** Read one answer. An error that the gateway reports leaves the connection in order. */
void Pool::take(Lane &lane, Trouble &trouble)
{
	Request *request = lane.queue[lane.received];
	std::string where = config_.gateways[lane.link->gateway].name() + ": ";

	try {
		lane.link->wire->next_answer();
		request->receive(*lane.link->client);
		ever_ = true;
	} catch (const gateway::IOError &e) {
		request->failed = true;
		ever_ = true;
		if (e.__isset.can_retry && !e.can_retry && !is_down(e.message))
			refused(one_line(e.message), where, trouble);
		else
			trouble.note(Trouble::LATER, SIMIDX_E_IO, where + one_line(e.message));
	} catch (const TApplicationException &e) {
		request->failed = true;
		if (e.getType() == TApplicationException::UNKNOWN_METHOD)
			trouble.note(Trouble::FATAL, SIMIDX_E_IO,
				     where + "this is no Thrift2 gateway: " + one_line(e.what()));
		else
			trouble.note(Trouble::ONCE, SIMIDX_E_IO, where + one_line(e.what()));
	} catch (const TException &) {
		lost(lane, trouble);
		return;
	}
	lane.received++;
	lane.link->used = true;
}

/** Ask each once. Returns those that have to be asked again. */
std::vector<Request *> Pool::pass(const std::vector<Request *> &requests, unsigned window,
				  const Deadline &deadline, simidx_engine_cost *cost,
				  const bool *stop, Trouble &trouble)
{
	std::vector<Request *> again;
	auto links = acquire(requests.size(), deadline, trouble);
	std::vector<Lane> lanes(links.size());
	bool busy = !lanes.empty(), stopped = false;

	if (lanes.empty())
		return requests;
	/* A connection of HTTP carries one request at a time. */
	if (config_.transport == Transport::HTTP)
		window = 1;
	for (size_t i = 0; i < lanes.size(); i++) {
		lanes[i].link = std::move(links[i]);
		lanes[i].link->wire->begin(&deadline);
	}
	for (size_t i = 0; i < requests.size(); i++) {
		requests[i]->failed = false;
		lanes[i % lanes.size()].queue.push_back(requests[i]);
	}
	uint64_t before = 0, after = 0;
	for (auto &lane : lanes)
		before += lane.link->wire->received();
	try {
		for (auto &lane : lanes)
			fill(lane, window, trouble);
		while (busy && !stopped) {
			busy = false;
			for (auto &lane : lanes) {
				if (!lane.alive || lane.received == lane.sent)
					continue;
				take(lane, trouble);
				stopped = stop && *stop;
				if (stopped)
					break;
				if (lane.alive)
					fill(lane, window, trouble);
				busy = true;
			}
		}
	} catch (...) {
		for (auto &lane : lanes)
			release(std::move(lane.link), false);
		throw;
	}
	for (auto &lane : lanes) {
		after += lane.link->wire->received();
		release(std::move(lane.link), lane.alive && lane.received == lane.sent);
	}
	if (cost) {
		cost->round_trips++;
		cost->requests += requests.size();
		cost->bytes += after - before;
	}
	for (Request *request : requests)
		if (!request->done && !stopped)
			again.push_back(request);
	return again;
}

/** Wait before the n-th attempt: longer each time, and not all clients at the same moment. */
void Pool::pause(unsigned n, const Deadline &deadline)
{
	static thread_local std::minstd_rand random{ std::random_device{}() };
	int ms = n > 6 ? LAST_PAUSE_MS : std::min(FIRST_PAUSE_MS << n, LAST_PAUSE_MS);

	ms = ms / 2 + (int)(random() % (unsigned)ms);
	std::this_thread::sleep_for(std::chrono::milliseconds(std::min(ms, deadline.left())));
}

void Pool::run(const std::vector<Request *> &requests, unsigned window, const Deadline &deadline,
	       simidx_engine_cost *cost, const bool *stop)
{
	std::vector<Request *> pending = requests;
	unsigned stale = 0, once = 0, later = 0;
	auto begin = Clock::now();

	if (forked())
		fail(SIMIDX_E_FORK, "the index was opened before fork()");
	while (!pending.empty()) {
		Trouble trouble;
		/* One gateway that does not answer must leave time for the others. */
		Deadline turn(config_.gateways.size() > 1 ?
				      std::min(deadline.left(), std::max(deadline.all() / 2, 1)) :
				      deadline.left());

		pending = pass(pending, window, turn, cost, stop, trouble);
		if (trouble.level == Trouble::NONE)
			continue;
		bool given_up = trouble.level == Trouble::FATAL ||
				(trouble.level == Trouble::ONCE && once++ > 0);
		if (given_up)
			fail(trouble.code, "%s", trouble.text.c_str());
		if (!reached_ && Clock::now() - begin > std::chrono::milliseconds(FIRST_MS))
			fail(trouble.code, "%s", trouble.text.c_str());
		if (deadline.left() == 0)
			fail(SIMIDX_E_IO, "no answer within %d.%03d s; the last try: %s",
			     deadline.all() / 1000, deadline.all() % 1000, trouble.text.c_str());
		if (trouble.level == Trouble::STALE && stale++ == 0) {
			/* What is idle was closed by the same gateway, most likely. */
			std::lock_guard<std::mutex> lock(mutex_);
			open_ -= idle_.size();
			idle_.clear();
			continue;
		}
		pause(later++, deadline);
	}
}

void Pool::run(Request &request, const Deadline &deadline, simidx_engine_cost *cost)
{
	run(std::vector<Request *>{ &request }, 1, deadline, cost);
}

} // namespace simidx_hbase

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hb_pool.hh"

#include <thrift/TApplicationException.h>
#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/protocol/TProtocolException.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/THttpClient.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <numeric>
#include <random>
#include <thread>
#include <unistd.h>

namespace simidx_hbase {

using apache::thrift::TApplicationException;
using apache::thrift::TException;
using apache::thrift::protocol::TBinaryProtocol;
using apache::thrift::protocol::TBinaryProtocolT;
using apache::thrift::protocol::TMessageType;
using apache::thrift::protocol::TProtocolException;
using apache::thrift::transport::TBufferedTransport;
using apache::thrift::transport::TFramedTransport;
using apache::thrift::transport::THttpClient;
using apache::thrift::transport::TTransport;
using apache::thrift::transport::TTransportException;

namespace {

/* A gateway closes what is idle for 60 seconds; by then this side must not use it any more. */
const auto MAX_IDLE = std::chrono::seconds(40);
/* If there are others, a gateway that could not be reached is passed over for that long. One that
   did not answer in time has cost much more, so it is passed over for longer. */
const auto BAD_TIME = std::chrono::seconds(5), LATE_TIME = std::chrono::seconds(60);
/* Nobody listens at the first attempt: most likely the URI is wrong, so it is not tried for
   long. */
const int FIRST_MS = 3000;
const int CONNECT_MS = 3000;
const int FIRST_PAUSE_MS = 50, LAST_PAUSE_MS = 2000;
/* Sizes that an answer may claim before it has sent them. */
const int MAX_STRING = 16 << 20, MAX_LIST = 1 << 16;

/* Until a gateway has answered, each has so long for its first answer if there are others; in the
   next turn twice that. */
const int FIRST_ANSWER_MS = 2000;

/** Thrift's protocol, but requests are numbered, and each answer must have the number of its
    request. */
template <class P> class Numbered : public P {
public:
	using P::P;

	uint32_t writeMessageBegin_virt(const std::string &name, const TMessageType type,
					const int32_t) override
	{
		return P::writeMessageBegin_virt(name, type, (int32_t)sent_++);
	}

	uint32_t readMessageBegin_virt(std::string &name, TMessageType &type,
				       int32_t &number) override
	{
		uint32_t n = P::readMessageBegin_virt(name, type, number);

		if ((uint32_t)number != received_++)
			throw TProtocolException(TProtocolException::INVALID_DATA,
						 "it has the number of another request");
		return n;
	}

private:
	uint32_t sent_ = 0, received_ = 0;
};

template <class P> std::unique_ptr<gateway::GatewayClient> make_client(std::shared_ptr<P> protocol)
{
	protocol->setStringSizeLimit(MAX_STRING);
	protocol->setContainerSizeLimit(MAX_LIST);
	protocol->setStrict(true, true);
	return std::make_unique<gateway::GatewayClient>(protocol);
}

/**
 * The entry of a gateway, for as long as the process lives. It is only looked for when an index is
 * opened, and what it has can be read and written at any time, also after fork().
 */
Health *health_of(Transport transport, const Address &address)
{
	static std::mutex mutex;
	static auto &all = *new std::map<std::pair<Transport, std::string>, Health>;
	std::lock_guard<std::mutex> lock(mutex);

	return &all[{ transport, address.name() }];
}

void set_later(std::atomic<Clock::rep> &time, Clock::time_point to)
{
	Clock::rep now = time, value = to.time_since_epoch().count();

	while (now < value && !time.compare_exchange_weak(now, value))
		;
}

/** HBase is down or not ready, though the gateway says that asking again is of no use. */
bool is_down(const std::string &message)
{
	return message.find("could not be completed in") != std::string::npos;
}

/** A status of HTTP that says that the same request may have another answer a bit later. */
bool may_pass(const std::string &code)
{
	bool never = code == "501" || code == "505"; /* the method, the version are not supported */

	return code == "408" || code == "429" || (code[0] == '5' && !never);
}

/** HTTP as Thrift has it, but an error repeats what the gateway has said. */
class HttpClient : public THttpClient {
public:
	using THttpClient::THttpClient;

protected:
	/** False: another status line follows. */
	bool parseStatusLine(char *line) override
	{
		const char *space = strchr(line, ' ');
		std::string code = space ? std::string(space + 1, strnlen(space + 1, 3)) : "";

		if (strncmp(line, "HTTP/1.", 7) != 0 || code.size() < 3)
			throw TTransportException(TTransportException::CORRUPTED_DATA,
						  "this is no answer of HTTP");
		if (code == "200" || code == "100")
			return code == "200";
		throw TTransportException(may_pass(code) ? TTransportException::UNKNOWN :
							   TTransportException::CORRUPTED_DATA,
					  std::string("the answer is ") + line);
	}
};

} // namespace

void Trouble::note(Level new_level, int new_code, const std::string &new_text)
{
	if (new_level < level)
		return;
	level = new_level;
	code = new_code;
	text = new_text;
}

Link::Link(Pool &in) : pool(&in)
{
	pool->open_++;
}

Link::~Link()
{
	if (!pool)
		return;
	std::lock_guard<std::mutex> lock(pool->mutex_);
	pool->open_--;
	pool->freed_.notify_one();
}

Pool::Pool(const Config &config)
	: config_(config), process_(getpid())
{
	for (const Address &address : config.gateways)
		health_.push_back(health_of(config.transport, address));
	idle_.reserve(config.connections);
	if (config.transport == Transport::HTTPS)
		tls_ = std::make_unique<Tls>(config.ca_file);
}

bool Pool::forked() const
{
	return getpid() != process_;
}

Pool::~Pool()
{
	/* In a child process the lock may be one that nobody ever opens. */
	for (auto &link : idle_)
		link->pool = nullptr;
}

/* ---------------------------------------------------------------------------------------------
 * Connections
 */

/** Connect to the gateway of a link. */
void Pool::connect_to(Link &link, const Deadline &deadline)
{
	const Address &address = config_.gateways[link.gateway];

	link.wire = tls_ ? tls_->make_wire(address.host) : std::make_shared<Wire>();
	link.wire->connect(address, Deadline(std::min(CONNECT_MS, deadline.left())));
	reached_ = true;
	link.wire->greet(deadline);

	auto limits = link.wire->getConfiguration();
	if (config_.transport == Transport::BINARY)
		link.client = make_client(
			std::make_shared<Numbered<TBinaryProtocolT<TBufferedTransport>>>(
				std::make_shared<TBufferedTransport>(link.wire, 64 << 10, limits)));
	else if (config_.transport == Transport::FRAMED)
		link.client = make_client(std::make_shared<Numbered<TBinaryProtocol>>(
			std::make_shared<TFramedTransport>(link.wire, limits)));
	else
		link.client = make_client(std::make_shared<Numbered<TBinaryProtocol>>(
			std::make_shared<HttpClient>(link.wire, address.name(), config_.path,
						     limits)));
	link.last_use = Clock::now();
}

void Pool::mark_bad(size_t gateway, Clock::duration how_long)
{
	set_later(health_[gateway]->bad_until, Clock::now() + how_long);
}

/** Gateways in the order in which they are tried; if all are bad, first the one that is so no
    longer soonest. */
std::vector<size_t> Pool::to_try()
{
	std::vector<size_t> good, all(config_.gateways.size());
	std::vector<Clock::rep> until;
	auto now = Clock::now().time_since_epoch().count();

	/* Others may change them while this goes on. */
	for (const Health *health : health_)
		until.push_back(health->bad_until);
	std::iota(all.begin(), all.end(), 0);
	for (size_t i : all)
		if (until[i] <= now)
			good.push_back(i);
	std::stable_sort(all.begin(), all.end(),
			 [&](size_t a, size_t b) { return until[a] < until[b]; });
	return good.empty() ? all : good;
}

/** Connect to the first gateway that can be reached. */
void Pool::connect(Link &link, const Deadline &deadline)
{
	size_t n = config_.gateways.size(), hopeless = 0;
	TTransportException why(TTransportException::NOT_OPEN);

	for (size_t i : to_try()) {
		try {
			link.gateway = i;
			connect_to(link, deadline);
			return;
		} catch (const TTransportException &e) {
			bool never = e.getType() == TTransportException::BAD_ARGS;
			hopeless += never;
			if (never || why.getType() != TTransportException::BAD_ARGS)
				why = TTransportException(e.getType(), config_.gateways[i].name() +
									       ": " + e.what());
			mark_bad(i, e.getType() == TTransportException::TIMED_OUT ? LATE_TIME
										  : BAD_TIME);
		}
		/* The others are tried in the next turn, which has time for them. */
		if (deadline.left() == 0)
			break;
	}
	if (hopeless == n)
		fail(SIMIDX_E_IO, "%s", why.what());
	throw why;
}

/** Whether an idle connection can be taken to be in order. The lock is held. */
bool Pool::is_usable(const Link &link) const
{
	return Clock::now() - link.last_use < MAX_IDLE &&
	       link.last_use.time_since_epoch().count() > health_[link.gateway]->late;
}

/** Between one and n connections; fewer where others have them. Empty: there is trouble. */
std::vector<std::unique_ptr<Link>> Pool::acquire(size_t n, const Deadline &deadline,
						 Trouble &trouble)
{
	std::vector<std::unique_ptr<Link>> links, fresh, old;

	/* From here to the end of the lock nothing may fail, because a link that dies takes it,
	   too. */
	for (auto *list : { &links, &fresh, &old })
		list->reserve(config_.connections);
	{
		std::unique_lock<std::mutex> lock(mutex_);
		if (!freed_.wait_for(lock, std::chrono::milliseconds(deadline.left()), [this] {
			    return !idle_.empty() || open_ < config_.connections;
		    })) {
			trouble.note(Trouble::LATER, SIMIDX_E_IO, "all connections are in use");
			return links;
		}
		while (links.size() + fresh.size() < n) {
			if (!idle_.empty()) {
				bool good = is_usable(*idle_.back());
				(good ? links : old).push_back(std::move(idle_.back()));
				idle_.pop_back();
			} else if (open_ < config_.connections + old.size()) {
				fresh.push_back(std::make_unique<Link>(*this));
			} else {
				break;
			}
		}
	}
	old.clear();
	for (auto &link : fresh) {
		try {
			connect(*link, deadline);
			links.push_back(std::move(link));
		} catch (const Failure &) {
			if (links.empty())
				throw;
			break;
		} catch (const TTransportException &e) {
			bool closed = e.getType() == TTransportException::END_OF_FILE;
			bool late = e.getType() == TTransportException::TIMED_OUT;
			if (links.empty())
				trouble.note(late	       ? Trouble::LATE :
					     closed && !ever_ ? Trouble::ONCE :
								Trouble::LATER,
					     SIMIDX_E_IO, e.what());
			break;
		}
	}
	return links;
}

/** Keep a connection for the next call. */
void Pool::release(std::unique_ptr<Link> link)
{
	std::lock_guard<std::mutex> lock(mutex_);

	idle_.push_back(std::move(link));
	freed_.notify_one();
}

/** Close what is idle. */
void Pool::drop_idle()
{
	std::vector<std::unique_ptr<Link>> old;

	old.reserve(config_.connections);
	std::lock_guard<std::mutex> lock(mutex_);
	old.swap(idle_);
}

/* ---------------------------------------------------------------------------------------------
 * Requests
 */

/** The time is over. The gateway may hang, so none of its connections is used that was idle
    meanwhile. */
void Pool::late(const Lane &lane, Trouble &trouble, const std::string &text)
{
	/* Where the time was over before, it was another gateway that was waited for. */
	if (lane.waited) {
		mark_bad(lane.link->gateway, LATE_TIME);
		set_later(health_[lane.link->gateway]->late, Clock::now());
	}
	trouble.note(Trouble::LATE, SIMIDX_E_IO, text);
}

/** The connection of a lane is of no use any more: says why, in the exception that is handled. */
void Pool::lost(Lane &lane, Trouble &trouble)
{
	std::string where = config_.gateways[lane.link->gateway].name() + ": ";

	lane.alive = false;
	if (!lane.link->used)
		mark_bad(lane.link->gateway, BAD_TIME);
	try {
		throw;
	} catch (const TTransportException &e) {
		bool closed = e.getType() == TTransportException::END_OF_FILE;
		std::string text = one_line(e.what());
		std::string hint =
			ever_ ? ""
			      : "; does it speak another transport (binary, framed, http, https)?";

		if (closed && lane.link->used)
			trouble.note(Trouble::STALE, SIMIDX_E_IO,
				     where + "the connection was closed");
		else if (closed && !ever_)
			trouble.note(Trouble::LATER, SIMIDX_E_IO,
				     where + "closed without an answer" + hint);
		else if (e.getType() == TTransportException::TIMED_OUT)
			late(lane, trouble, where + text + hint);
		else if (e.getType() == TTransportException::CORRUPTED_DATA)
			trouble.note(Trouble::ONCE, SIMIDX_E_IO, where + text);
		else
			trouble.note(Trouble::LATER, SIMIDX_E_IO, where + text);
	} catch (const TProtocolException &e) {
		trouble.note(
			Trouble::ONCE, SIMIDX_E_IO,
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
	lane.link->last_use = Clock::now();
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
	if (config_.transport == Transport::HTTP || config_.transport == Transport::HTTPS)
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
	for (auto &lane : lanes)
		fill(lane, window, trouble);
	while (busy && !stopped) {
		busy = false;
		for (auto &lane : lanes) {
			if (!lane.alive || lane.received == lane.sent)
				continue;
			lane.waited = deadline.left() > 0;
			take(lane, trouble);
			stopped = stop && *stop;
			if (stopped)
				break;
			if (lane.alive)
				fill(lane, window, trouble);
			busy = true;
		}
	}
	for (auto &lane : lanes) {
		after += lane.link->wire->received();
		if (lane.alive && lane.received == lane.sent)
			release(std::move(lane.link));
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

/**
 * How long one gateway is waited for: one that does not answer must leave time for the others. The
 * first question of a process is one that a gateway answers by itself, so it need not take long.
 *
 * @param silent  turns without an answer so far
 */
int Pool::turn_ms(const Deadline &deadline, unsigned silent) const
{
	int most = std::max(deadline.all() / 2, 1);

	if (config_.gateways.size() == 1)
		return deadline.all();
	return ever_ || silent > 10 ? most : std::min(most, FIRST_ANSWER_MS << silent);
}

void Pool::run(const std::vector<Request *> &requests, unsigned window, const Deadline &deadline,
	       simidx_engine_cost *cost, const bool *stop)
{
	std::vector<Request *> pending = requests;
	unsigned stale = 0, once = 0, later = 0, silent = 0;
	auto begin = Clock::now();
	std::string why;

	if (forked())
		fail(SIMIDX_E_FORK, "the index was opened before fork()");
	while (!pending.empty()) {
		Trouble trouble;
		Deadline turn(std::min(deadline.left(), turn_ms(deadline, silent)));

		pending = pass(pending, window, turn, cost, stop, trouble);
		if (trouble.level == Trouble::NONE)
			continue;
		bool given_up = trouble.level == Trouble::FATAL ||
				(trouble.level == Trouble::ONCE && once++ > 0);
		if (given_up)
			fail(trouble.code, "%s", trouble.text.c_str());
		if (!reached_ && Clock::now() - begin > std::chrono::milliseconds(FIRST_MS))
			fail(trouble.code, "%s", trouble.text.c_str());
		silent += trouble.level == Trouble::LATE;
		/* That a try was cut short says less than what was wrong before. */
		if (trouble.level > Trouble::LATE || why.empty())
			why = trouble.text;
		if (trouble.level == Trouble::STALE && stale++ == 0)
			drop_idle(); /* closed by the same gateway, most likely */
		else
			pause(later++, deadline);
		if (deadline.left() == 0)
			fail(SIMIDX_E_IO, "no answer within %d.%03d s; the last try: %s",
			     deadline.all() / 1000, deadline.all() % 1000, why.c_str());
	}
}

void Pool::run(Request &request, const Deadline &deadline, simidx_engine_cost *cost)
{
	run(std::vector<Request *>{ &request }, 1, deadline, cost);
}

} // namespace simidx_hbase

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Connections to the gateways, and what is asked through them. A gateway answers the requests of a
 * connection in their order. So a list of requests is spread over the connections, sent without
 * waiting, and then the answers are read. What was not answered is asked again, by another
 * connection or gateway, until the deadline: every request may be carried out twice. Those for
 * which that is not so (checkAndPut) are built so that asking again tells what became of them.
 */

#ifndef HB_POOL_HH
#define HB_POOL_HH

#include <simidx_engine.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "Gateway.h"
#include "hb_failure.hh"
#include "hb_tls.hh"
#include "hb_uri.hh"
#include "hb_wire.hh"

namespace simidx_hbase {

/** One call of the gateway. */
class Request {
public:
	virtual ~Request() = default;
	virtual void send(gateway::GatewayClient &client) = 0;
	/** May leave `done` false and change what send() asks for: then it is sent again. */
	virtual void receive(gateway::GatewayClient &client) = 0;

	bool done = false;
	bool failed = false; /**< the last answer was an error */
};

/** A call that is made alone. */
class Call : public Request {
public:
	using Function = std::function<void(gateway::GatewayClient &)>;
	explicit Call(Function function) : function_(std::move(function)) {}
	void send(gateway::GatewayClient &) override {}
	void receive(gateway::GatewayClient &client) override
	{
		function_(client);
		done = true;
	}

private:
	Function function_;
};

class Pool;

/**
 * What is known of a gateway: times of Clock, 0 where there is none. All pools of the process share
 * it, so that a gateway that hangs is waited for once, however many indexes are opened.
 */
struct Health {
	std::atomic<Clock::rep> bad_until{ 0 }; /**< until then it is passed over */
	std::atomic<Clock::rep> late{ 0 };      /**< when it did not answer in time */
};

/**
 * A connection, or one that is being made. It counts among those of its pool as long as it lives.
 */
struct Link {
	/** The pool's lock is held. */
	explicit Link(Pool &pool);
	/** The pool's lock is not held. */
	~Link();

	Pool *pool; /**< NULL: it is not counted any more */
	std::shared_ptr<Wire> wire;
	std::unique_ptr<gateway::GatewayClient> client;
	size_t gateway = 0;
	bool used = false; /**< it has answered before */
	Clock::time_point last_use;
};

/**
 * Why a request has no answer yet: the deadline has passed; the connection was closed while it was
 * idle; it may be better later; it is to be tried just once more; it will never be better.
 */
struct Trouble {
	enum Level { NONE, LATE, STALE, LATER, ONCE, FATAL } level = NONE;
	int code = SIMIDX_E_IO;
	std::string text;
	void note(Level level, int code, const std::string &text);
};

class Pool {
	friend struct Link;

public:
	explicit Pool(const Config &config);
	~Pool();

	/**
	 * Make all requests. Throws a Failure when one is refused for good, or at the deadline.
	 *
	 * @param window  requests that may wait for their answers on one connection; small where
	 *                they are large, so that both sides cannot wait for each other
	 * @param stop    not NULL: looked at after each answer; true ends it, without a failure
	 */
	void run(const std::vector<Request *> &requests, unsigned window, const Deadline &deadline,
		 simidx_engine_cost *cost = nullptr, const bool *stop = nullptr);
	void run(Request &request, const Deadline &deadline, simidx_engine_cost *cost = nullptr);

	/** Whether this is a child process of the one that has opened the connections. */
	bool forked() const;

private:
	struct Lane {
		std::unique_ptr<Link> link;
		std::vector<Request *> queue;
		size_t sent = 0, received = 0;
		bool alive = true;
		bool waited = true; /**< there was time for its last answer */
	};

	std::vector<Request *> pass(const std::vector<Request *> &requests, unsigned window,
				    const Deadline &deadline, simidx_engine_cost *cost,
				    const bool *stop, Trouble &trouble);
	void fill(Lane &lane, unsigned window, Trouble &trouble);
	void take(Lane &lane, Trouble &trouble);
	void lost(Lane &lane, Trouble &trouble);
	void late(const Lane &lane, Trouble &trouble, const std::string &text);
	void refused(const std::string &message, const std::string &where, Trouble &trouble);
	std::vector<std::unique_ptr<Link>> acquire(size_t n, const Deadline &deadline,
						   Trouble &trouble);
	bool is_usable(const Link &link) const;
	void release(std::unique_ptr<Link> link);
	void connect(Link &link, const Deadline &deadline);
	void connect_to(Link &link, const Deadline &deadline);
	void drop_idle();
	void mark_bad(size_t gateway, Clock::duration how_long);
	std::vector<size_t> to_try();
	int turn_ms(const Deadline &deadline, unsigned silent) const;
	void pause(unsigned n, const Deadline &deadline);

	const Config &config_;
	const int process_;
	std::unique_ptr<Tls> tls_; /**< or NULL */
	std::mutex mutex_;
	std::condition_variable freed_;
	size_t open_ = 0;             /**< connections, idle or in use */
	std::vector<std::unique_ptr<Link>> idle_;
	std::atomic<bool> reached_{ false }; /**< a gateway could be connected to */
	std::atomic<bool> ever_{ false };    /**< a gateway has answered */
	std::vector<Health *> health_;       /**< of each gateway */
};

} // namespace simidx_hbase

#endif /* HB_POOL_HH */

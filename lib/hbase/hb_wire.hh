/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Bytes to and from a gateway. Thrift's own socket waits for each piece anew, so that a gateway
 * that sends a byte now and then is never late; and it prints. This one keeps to a deadline, takes
 * a limited number of bytes, raises no signal, and sends only when it is told to or begins to read:
 * requests that follow each other leave together.
 */

#ifndef HB_WIRE_HH
#define HB_WIRE_HH

#include <thrift/transport/TVirtualTransport.h>

#include <chrono>
#include <memory>
#include <string>

#include "hb_uri.hh"

namespace simidx_hbase {

using Clock = std::chrono::steady_clock;

/** A moment by which something has to be done. */
class Deadline {
public:
	explicit Deadline(int ms) : end_(Clock::now() + std::chrono::milliseconds(ms)), ms_(ms) {}
	/** Milliseconds that are left, rounded up; 0 when it has passed. */
	int left() const;
	int all() const { return ms_; }

private:
	Clock::time_point end_;
	int ms_;
};

/** Most bytes that one answer may have. */
const size_t MAX_ANSWER = 64u << 20;

class Wire : public apache::thrift::transport::TVirtualTransport<Wire> {
public:
	Wire();
	~Wire() override;

	/**
	 * Connect to a gateway. A host may have several addresses: they are tried in turn, and each
	 * has its share of the time, as one that is not routed may never answer. Throws a
	 * TTransportException: NOT_OPEN where nobody listens, TIMED_OUT, BAD_ARGS where the host is
	 * not known.
	 */
	void connect(const Address &address, const Deadline &deadline);
	/**
	 * What comes before the first request: nothing, or the handshake of TLS. Throws a
	 * TTransportException: TIMED_OUT, END_OF_FILE where the gateway has closed the connection,
	 * BAD_ARGS where the two can never agree.
	 */
	virtual void greet(const Deadline &) {}
	/** From now on, and for the next answer. */
	void begin(const Deadline *deadline);
	/** The next answer begins. */
	void next_answer() { answer_ = 0; }
	/** Bytes that were ever received. */
	uint64_t received() const { return received_; }
	/** Send what is waiting. */
	void push();
	/** Close without a word to the other side, and so also right after a fork(). */
	void abandon();

	bool isOpen() const override { return fd_ >= 0; }
	void open() override {}
	void close() override { abandon(); }
	bool peek() override { return isOpen(); }
	uint32_t read(uint8_t *buffer, uint32_t size);
	void write(const uint8_t *data, uint32_t size);
	void flush() override {}

protected:
	/** As recv() and send(), but wait until the deadline. */
	virtual size_t receive(uint8_t *buffer, size_t size);
	virtual size_t send(const uint8_t *data, size_t size);
	/** Throws TIMED_OUT once the deadline has passed. */
	void check_deadline() const;

private:
	void wait(short events);

	int fd_ = -1;
	std::string name_; /**< of the gateway, for messages */
	const Deadline *deadline_ = nullptr;
	std::string out_;
	uint64_t received_ = 0;
	size_t answer_ = 0;
};

} // namespace simidx_hbase

#endif /* HB_WIRE_HH */

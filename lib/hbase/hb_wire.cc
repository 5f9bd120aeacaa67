/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hb_wire.hh"

#include "hb_failure.hh"

#include <thrift/transport/TTransportException.h>

#include <climits>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace simidx_hbase {

using apache::thrift::transport::TTransportException;

int Deadline::left() const
{
	auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now())
			    .count();
	return left < 0 ? 0 : left < INT_MAX ? (int)left + 1 : INT_MAX;
}

Wire::Wire()
    : apache::thrift::transport::TVirtualTransport<Wire>(
	      std::make_shared<apache::thrift::TConfiguration>((int)MAX_ANSWER, (int)MAX_ANSWER))
{
}

Wire::~Wire()
{
	Wire::abandon();
}

void Wire::abandon()
{
	if (fd_ >= 0)
		::close(fd_);
	fd_ = -1;
}

void Wire::begin(const Deadline *deadline)
{
	deadline_ = deadline;
	answer_ = 0;
}

void Wire::check_deadline() const
{
	if (deadline_->left() == 0)
		throw TTransportException(TTransportException::TIMED_OUT, "no answer in time");
}

void Wire::wait(short events)
{
	struct pollfd poll_fd = { fd_, events, 0 };
	int n;

	do {
		check_deadline();
		n = poll(&poll_fd, 1, deadline_->left());
	} while (n == 0 || (n < 0 && errno == EINTR));
}

size_t Wire::receive(uint8_t *buffer, size_t size)
{
	for (;;) {
		ssize_t n = recv(fd_, buffer, size, MSG_DONTWAIT);

		if (n >= 0)
			return (size_t)n;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			wait(POLLIN);
		else if (errno == ECONNRESET || errno == EPIPE)
			return 0;
		else if (errno != EINTR)
			throw TTransportException(TTransportException::UNKNOWN, strerror(errno));
	}
}

size_t Wire::send(const uint8_t *data, size_t size)
{
	for (;;) {
		ssize_t n = ::send(fd_, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n >= 0)
			return (size_t)n;
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			wait(POLLOUT);
		else if (errno == ECONNRESET || errno == EPIPE)
			throw TTransportException(TTransportException::END_OF_FILE,
						  "the connection was closed");
		else if (errno != EINTR)
			throw TTransportException(TTransportException::UNKNOWN, strerror(errno));
	}
}

uint32_t Wire::read(uint8_t *buffer, uint32_t size)
{
	push();
	check_deadline();
	size_t n = receive(buffer, size);
	received_ += n;
	answer_ += n;
	if (answer_ > MAX_ANSWER)
		/* It would be as long again. */
		fail(SIMIDX_E_IO, "%.200s: an answer of more than 64 MiB", name_.c_str());
	return (uint32_t)n;
}

void Wire::write(const uint8_t *data, uint32_t size)
{
	out_.append((const char *)data, size);
	if (out_.size() >= 256u << 10)
		push();
}

void Wire::push()
{
	size_t at = 0;

	while (at < out_.size())
		at += send((const uint8_t *)out_.data() + at, out_.size() - at);
	out_.clear();
}

namespace {

/** A connected socket, or -1 with errno. */
int connect_to(const struct addrinfo *to, const Deadline &deadline)
{
	int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK,
			to->ai_protocol);
	int on = 1, error = 0, n;
	socklen_t size = sizeof(error);

	if (fd < 0)
		return -1;
	if (connect(fd, to->ai_addr, to->ai_addrlen) != 0) {
		struct pollfd poll_fd = { fd, POLLOUT, 0 };

		if (errno != EINPROGRESS)
			goto fail;
		do
			n = poll(&poll_fd, 1, deadline.left());
		while (n < 0 && errno == EINTR);
		if (n == 0)
			errno = ETIMEDOUT;
		if (n <= 0 || getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0)
			goto fail;
		if (error) {
			errno = error;
			goto fail;
		}
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	return fd;
fail:
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

} // namespace

void Wire::connect(const Address &address, const Deadline &deadline)
{
	struct addrinfo hints = {}, *found = nullptr;
	int error, n = 0;

	name_ = address.name();
	hints.ai_socktype = SOCK_STREAM;
	error = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
	if (error)
		throw TTransportException(error == EAI_AGAIN ? TTransportException::NOT_OPEN
							     : TTransportException::BAD_ARGS,
					  std::string("the host is not found: ") +
						  gai_strerror(error));
	for (const struct addrinfo *to = found; to; to = to->ai_next)
		n++;
	for (const struct addrinfo *to = found; to && fd_ < 0; to = to->ai_next, n--)
		fd_ = connect_to(to, Deadline(deadline.left() / n));
	error = errno;
	freeaddrinfo(found);
	if (fd_ < 0)
		throw TTransportException(error == ETIMEDOUT ? TTransportException::TIMED_OUT :
							       TTransportException::NOT_OPEN,
					  std::string("cannot connect: ") + strerror(error));
}

} // namespace simidx_hbase

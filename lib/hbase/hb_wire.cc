/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hb_wire.hh"

#include <thrift/TOutput.h>
#include <thrift/transport/TSSLSocket.h>
#include <thrift/transport/TTransportException.h>

#include <csignal>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace simidx_hbase {

using apache::thrift::transport::TSSLSocket;
using apache::thrift::transport::TSSLSocketFactory;
using apache::thrift::transport::TTransportException;

int Deadline::left() const
{
	auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end_ - Clock::now()).count();
	return left < 0 ? 0 : (int)left + 1;
}

Wire::Wire(int fd, std::shared_ptr<apache::thrift::TConfiguration> config)
	: apache::thrift::transport::TVirtualTransport<Wire>(config), fd_(fd)
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

void Wire::late()
{
	throw TTransportException(TTransportException::TIMED_OUT, "no answer in time");
}

void Wire::wait(short events)
{
	struct pollfd poll_fd = { fd_, events, 0 };
	int left, n;

	do {
		left = deadline_->left();
		if (left == 0)
			late();
		n = poll(&poll_fd, 1, left);
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
	if (deadline_->left() == 0)
		late();
	size_t n = receive(buffer, size);
	received_ += n;
	answer_ += n;
	if (answer_ > MAX_ANSWER)
		throw TTransportException(TTransportException::CORRUPTED_DATA,
					  "an answer of more than 64 MiB");
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

/* ---------------------------------------------------------------------------------------------
 * TLS. OpenSSL writes with write(), so the signal of a closed connection is kept off the thread.
 */

namespace {

class NoPipeSignal {
public:
	NoPipeSignal()
	{
		sigset_t pending;

		sigemptyset(&pipe_);
		sigaddset(&pipe_, SIGPIPE);
		sigpending(&pending);
		was_pending_ = sigismember(&pending, SIGPIPE);
		pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
	}
	~NoPipeSignal()
	{
		const struct timespec now = { 0, 0 };

		if (!was_pending_)
			while (sigtimedwait(&pipe_, nullptr, &now) < 0 && errno == EINTR)
				;
		pthread_sigmask(SIG_SETMASK, &before_, nullptr);
	}
	NoPipeSignal(const NoPipeSignal &) = delete;

private:
	sigset_t pipe_, before_;
	int was_pending_;
};

class TlsWire : public Wire {
public:
	TlsWire(std::shared_ptr<TSSLSocketFactory> factory, int fd, const std::string &host,
		std::shared_ptr<apache::thrift::TConfiguration> config)
		: Wire(-1, config), factory_(factory), socket_(factory->createSocket(fd))
	{
		fd_ = fd;
		socket_->setHost(host);
	}
	~TlsWire() override { TlsWire::close(); }

	void close() override
	{
		if (!socket_)
			return;
		NoPipeSignal quiet;
		socket_->close();
		socket_.reset();
		fd_ = -1;
	}
	/* The state of TLS is not freed: that would say goodbye in the name of the parent process. */
	void abandon() override
	{
		if (!socket_)
			return;
		new std::shared_ptr<TSSLSocket>(socket_);
		socket_.reset();
		Wire::abandon();
	}

protected:
	size_t receive(uint8_t *buffer, size_t size) override
	{
		NoPipeSignal quiet;
		limit();
		return socket_->read(buffer, (uint32_t)size);
	}
	size_t send(const uint8_t *data, size_t size) override
	{
		NoPipeSignal quiet;
		limit();
		socket_->write(data, (uint32_t)size);
		return size;
	}

private:
	void limit()
	{
		int left = deadline_->left();

		if (left == 0)
			late();
		socket_->setRecvTimeout(left);
		socket_->setSendTimeout(left);
	}

	std::shared_ptr<TSSLSocketFactory> factory_;
	std::shared_ptr<TSSLSocket> socket_;
};

std::shared_ptr<TSSLSocketFactory> make_factory(const Config &config)
{
	/* Thrift prints what goes wrong in TLS; a library must not. */
	static const bool quiet = (apache::thrift::GlobalOutput.setOutputFunction([](const char *) {}),
				   true);
	auto factory = std::make_shared<TSSLSocketFactory>();

	(void)quiet;
	factory->authenticate(true);
	factory->loadTrustedCertificates(config.ca.empty() ? "/etc/ssl/certs/ca-certificates.crt" :
							     config.ca.c_str());
	return factory;
}

/** A connected socket, or -1 with errno. */
int connect_to(const struct addrinfo *to, const Deadline &deadline)
{
	int fd = socket(to->ai_family, to->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, to->ai_protocol);
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

std::shared_ptr<Wire> connect_wire(const Address &address, const Config &config,
				   const Deadline &deadline)
{
	struct addrinfo hints = {}, *found = nullptr;
	int fd = -1, error;

	hints.ai_socktype = SOCK_STREAM;
	error = getaddrinfo(address.host.c_str(), address.port.c_str(), &hints, &found);
	if (error)
		throw TTransportException(error == EAI_AGAIN ? TTransportException::NOT_OPEN :
							       TTransportException::BAD_ARGS,
					  std::string("the host is not found: ") + gai_strerror(error));
	for (const struct addrinfo *to = found; to && fd < 0; to = to->ai_next)
		fd = connect_to(to, deadline);
	error = errno;
	freeaddrinfo(found);
	if (fd < 0)
		throw TTransportException(error == ETIMEDOUT ? TTransportException::TIMED_OUT :
							       TTransportException::NOT_OPEN,
					  std::string("cannot connect: ") + strerror(error));

	auto limits = std::make_shared<apache::thrift::TConfiguration>((int)MAX_ANSWER, (int)MAX_ANSWER);
	if (config.transport != Transport::HTTPS)
		return std::make_shared<Wire>(fd, limits);
	try {
		/* TLS waits in the system's calls, for which the socket has timeouts. */
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
		return std::make_shared<TlsWire>(make_factory(config), fd, address.host, limits);
	} catch (...) {
		close(fd);
		throw;
	}
}

} // namespace simidx_hbase

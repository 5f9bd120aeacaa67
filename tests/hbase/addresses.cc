/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A host with two addresses, of which the first one swallows what it is sent, like an IPv6 address
 * that is not routed: the second one is reached within the time. If no address is left, the time is
 * kept, too.
 */

#include <arpa/inet.h>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hb_failure.hh"
#include "hb_wire.hh"

extern "C" {
#include "hbase/ht_engine.h"
}

namespace {

/* The addresses of every host. */
struct sockaddr_in addresses[2];
struct addrinfo found[2];

int listener(int backlog, struct sockaddr_in *address)
{
	socklen_t size = sizeof(*address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	memset(address, 0, sizeof(*address));
	address->sin_family = AF_INET;
	address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	HT_CHECK(fd >= 0 && bind(fd, (struct sockaddr *)address, size) == 0 &&
		 listen(fd, backlog) == 0 &&
		 getsockname(fd, (struct sockaddr *)address, &size) == 0);
	return fd;
}

/* Connect to a listener until it takes no more, so that the next one gets no answer. */
void fill(const struct sockaddr_in *address)
{
	for (int n = 0; n < 10; n++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

		HT_CHECK(fd >= 0);
		(void)!connect(fd, (const struct sockaddr *)address, sizeof(*address));
	}
}

/* Milliseconds that connecting takes. */
long connects(bool expected)
{
	auto begin = simidx_hbase::Clock::now();
	simidx_hbase::Wire wire;
	bool connected = true;

	try {
		wire.connect({ "host", "1" }, simidx_hbase::Deadline(1000));
	} catch (const apache::thrift::transport::TTransportException &e) {
		HT_CHECK(e.getType() == apache::thrift::transport::TTransportException::TIMED_OUT);
		connected = false;
	}
	HT_CHECK(connected == expected);
	return (long)std::chrono::duration_cast<std::chrono::milliseconds>(
		       simidx_hbase::Clock::now() - begin)
		.count();
}

} // namespace

/* In the place of the system's. */
extern "C" int getaddrinfo(const char *, const char *, const struct addrinfo *,
			   struct addrinfo **result)
{
	for (int i = 0; i < 2; i++) {
		found[i].ai_family = AF_INET;
		found[i].ai_socktype = SOCK_STREAM;
		found[i].ai_addr = (struct sockaddr *)&addresses[i];
		found[i].ai_addrlen = sizeof(addresses[i]);
	}
	found[0].ai_next = &found[1];
	*result = found;
	return 0;
}

extern "C" void freeaddrinfo(struct addrinfo *)
{
}

int main()
{
	int full = listener(0, &addresses[0]), free = listener(10, &addresses[1]);
	long ms;

	fill(&addresses[0]);
	ms = connects(true);
	HT_CHECK(ms >= 400 && ms < 1000); /* half of the time is for the first one */
	addresses[1] = addresses[0];
	ms = connects(false);
	HT_CHECK(ms >= 900 && ms < 2000);
	close(full);
	close(free);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hbase/ht_proxy.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hbase/ht_engine.h"

#define MAX_NAME 40
#define BUFFER (1 << 20)

struct proxy {
	int gateway_port, listener;
	ht_request request;
	void *ctx;
};

struct connection {
	const struct proxy *proxy;
	int client;
};

static int tcp(int port, int listening)
{
	struct sockaddr_in address;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	memset(&address, 0, sizeof(address));
	address.sin_family = AF_INET;
	address.sin_port = htons((uint16_t)port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	HT_CHECK(fd >= 0);
	if (listening)
		HT_CHECK(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
			 listen(fd, 10) == 0);
	else
		HT_CHECK(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	return fd;
}

int ht_is_change(const char *name)
{
	static const char *const names[] = { "putMultiple", "deleteMultiple", "mutateRow",
					     "checkAndPut", "createTable",    "disableTable",
					     "deleteTable" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return 1;
	return 0;
}

/* The name of the first request in some bytes; empty where none begins there. */
static void find_name(const char *data, size_t n, char name[MAX_NAME])
{
	name[0] = '\0';
	for (size_t i = 0; i + 8 < n; i++) {
		size_t size = (unsigned char)data[i + 7];

		if (memcmp(data + i, "\x80\x01\0\1\0\0\0", 7) != 0 || size >= MAX_NAME ||
		    i + 8 + size > n)
			continue;
		memcpy(name, data + i + 8, size);
		name[size] = '\0';
		return;
	}
}

static void send_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t sent = send(fd, data, n, MSG_NOSIGNAL);
		if (sent <= 0)
			return;
		data += sent;
		n -= (size_t)sent;
	}
}

/* A handle waits for the answer before it sends more, so a request begins with what is received. */
static void pass_on(const struct connection *c, int server, char *data)
{
	struct pollfd side[2] = { { c->client, POLLIN, 0 }, { server, POLLIN, 0 } };
	enum ht_verdict verdict = HT_PASS;

	for (;;) {
		char name[MAX_NAME];
		ssize_t n;

		/* A handle that has given up does not hear the answer; the test does. */
		side[0].fd = verdict == HT_CUT_ANSWER ? -1 : c->client;
		side[0].revents = 0;
		HT_CHECK(poll(side, 2, -1) > 0);
		if (side[0].revents) {
			n = recv(c->client, data, BUFFER, 0);
			if (n <= 0)
				return;
			find_name(data, (size_t)n, name);
			if (*name)
				verdict = c->proxy->request(c->proxy->ctx, name, data, (size_t)n);
			if (verdict == HT_CUT)
				return;
			send_all(server, data, (size_t)n);
		}
		if (side[1].revents) {
			n = recv(server, data, BUFFER, 0);
			if (n > 0 && verdict == HT_CUT_ANSWER)
				c->proxy->request(c->proxy->ctx, NULL, NULL, 0);
			if (n <= 0 || verdict == HT_CUT_ANSWER)
				return;
			send_all(c->client, data, (size_t)n);
		}
	}
}

static void *serve(void *arg)
{
	struct connection *c = arg;
	int server = tcp(c->proxy->gateway_port, 0), on = 1;
	char *data = malloc(BUFFER);

	HT_CHECK(data);
	/*
	 * Several answers to a handle that waits for all of them would wait for its
	 * acknowledgements.
	 */
	setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(c->client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	pass_on(c, server, data);
	free(data);
	close(server);
	close(c->client);
	free(c);
	return NULL;
}

static void *accept_all(void *arg)
{
	const struct proxy *proxy = arg;

	for (;;) {
		int client = accept(proxy->listener, NULL, NULL);
		struct connection *c = malloc(sizeof(*c));
		pthread_t thread;

		HT_CHECK(c && client >= 0);
		c->proxy = proxy;
		c->client = client;
		HT_CHECK(pthread_create(&thread, NULL, serve, c) == 0 &&
			 pthread_detach(thread) == 0);
	}
	return NULL;
}

int ht_proxy(int gateway_port, ht_request request, void *ctx)
{
	struct proxy *proxy = malloc(sizeof(*proxy));
	struct sockaddr_in address;
	socklen_t size = sizeof(address);
	pthread_t thread;

	HT_CHECK(proxy);
	proxy->gateway_port = gateway_port;
	proxy->request = request;
	proxy->ctx = ctx;
	proxy->listener = tcp(0, 1);
	HT_CHECK(getsockname(proxy->listener, (struct sockaddr *)&address, &size) == 0);
	HT_CHECK(pthread_create(&thread, NULL, accept_all, proxy) == 0 &&
		 pthread_detach(thread) == 0);
	return ntohs(address.sin_port);
}

/* ---- holding ---- */

struct ht_holder {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	const char *name, *text;
	int number; /* 0 = none is to be held */
	int is_held;
};

static enum ht_verdict hold(void *ctx, const char *name, const char *data, size_t n)
{
	ht_holder *h = ctx;

	pthread_mutex_lock(&h->lock);
	if (h->number > 0 && (h->name ? strcmp(name, h->name) == 0 : ht_is_change(name)) &&
	    (!h->text || memmem(data, n, h->text, strlen(h->text))) && --h->number == 0) {
		h->is_held = 1;
		pthread_cond_broadcast(&h->changed);
		while (h->is_held)
			pthread_cond_wait(&h->changed, &h->lock);
	}
	pthread_mutex_unlock(&h->lock);
	return HT_PASS;
}

ht_holder *ht_holder_new(int gateway_port, int *port)
{
	ht_holder *h = calloc(1, sizeof(*h));

	HT_CHECK(h && pthread_mutex_init(&h->lock, NULL) == 0 &&
		 pthread_cond_init(&h->changed, NULL) == 0);
	*port = ht_proxy(gateway_port, hold, h);
	return h;
}

void ht_hold(ht_holder *h, const char *name, const char *text, int number)
{
	pthread_mutex_lock(&h->lock);
	h->name = name;
	h->text = text;
	h->number = number;
	pthread_mutex_unlock(&h->lock);
}

void ht_await(ht_holder *h)
{
	pthread_mutex_lock(&h->lock);
	while (!h->is_held)
		pthread_cond_wait(&h->changed, &h->lock);
	pthread_mutex_unlock(&h->lock);
}

void ht_let_go(ht_holder *h)
{
	pthread_mutex_lock(&h->lock);
	h->is_held = 0;
	pthread_cond_broadcast(&h->changed);
	pthread_mutex_unlock(&h->lock);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hb_tls.hh"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <thrift/transport/TTransportException.h>

#include <algorithm>
#include <arpa/inet.h>
#include <cstring>

#include "hb_failure.hh"

namespace simidx_hbase {
namespace {

using apache::thrift::transport::TTransportException;

/* Encrypted bytes that are read at once. A record of TLS has 16 KiB and a few bytes. */
const size_t PIECE = 32 << 10;
/* Bytes that are encrypted before they are sent. */
const size_t SEND_PIECE = 64 << 10;

/** The first reason in this thread's list of errors, which is emptied. */
std::string reason()
{
	unsigned long error = ERR_peek_error();
	const char *text = ERR_GET_LIB(error) == ERR_LIB_SYS ? strerror(ERR_GET_REASON(error)) :
							       ERR_reason_error_string(error);
	char number[40];

	snprintf(number, sizeof(number), "OpenSSL's error %lx", error);
	std::string found = text ? text : number;
	ERR_clear_error();
	return found;
}

bool is_ip_address(const std::string &host)
{
	unsigned char bytes[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
	       inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

class TlsWire : public Wire {
public:
	TlsWire(SSL_CTX *context, const std::string &host);
	~TlsWire() override;
	void greet(const Deadline &deadline) override;

protected:
	size_t receive(uint8_t *buffer, size_t size) override
	{
		int most = (int)std::min(size, PIECE);
		return (size_t)drive([&] { return SSL_read(ssl_, buffer, most); });
	}
	size_t send(const uint8_t *data, size_t size) override
	{
		int most = (int)std::min(size, SEND_PIECE);
		int n = drive([&] { return SSL_write(ssl_, data, most); });
		if (n == 0)
			throw TTransportException(TTransportException::END_OF_FILE,
						  "the connection was closed");
		return (size_t)n;
	}

private:
	template <class Step> int drive(Step step);
	void send_encrypted();
	bool receive_encrypted();
	[[noreturn]] void broken();

	SSL *ssl_;
	BIO *in_, *out_; /**< encrypted bytes; they belong to ssl_ */
	uint8_t buffer_[PIECE];
};

TlsWire::TlsWire(SSL_CTX *context, const std::string &host)
	: ssl_(SSL_new(context)), in_(BIO_new(BIO_s_mem())), out_(BIO_new(BIO_s_mem()))
{
	int ok = ssl_ && in_ && out_;

	if (ssl_) {
		X509_VERIFY_PARAM *wanted = SSL_get0_param(ssl_);
		X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
		if (is_ip_address(host))
			ok = ok && X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) == 1;
		else
			ok = ok &&
			     X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size()) == 1 &&
			     SSL_set_tlsext_host_name(ssl_, host.c_str()) == 1;
	}
	if (!ok) {
		std::string why = reason();
		BIO_free(in_);
		BIO_free(out_);
		SSL_free(ssl_);
		throw TTransportException(TTransportException::BAD_ARGS, "no TLS: " + why);
	}
	SSL_set_bio(ssl_, in_, out_);
	SSL_set_connect_state(ssl_);
}

TlsWire::~TlsWire()
{
	/*
	 * No word to the gateway, which is often gone; and no session is kept that could be marked
	 * as bad.
	 */
	SSL_set_shutdown(ssl_, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
	SSL_free(ssl_);
}

/** Send what OpenSSL wants to have sent. */
void TlsWire::send_encrypted()
{
	char *bytes;
	size_t size = (size_t)BIO_get_mem_data(out_, &bytes), at = 0;

	while (at < size)
		at += Wire::send((const uint8_t *)bytes + at, size - at);
	(void)BIO_reset(out_);
}

/** Give OpenSSL more of what has come. False: the gateway has closed the connection. */
bool TlsWire::receive_encrypted()
{
	size_t n = Wire::receive(buffer_, sizeof(buffer_));

	if (n > 0 && BIO_write(in_, buffer_, (int)n) != (int)n)
		throw std::bad_alloc();
	return n > 0;
}

/**
 * What the gateway has sent is no TLS, or says that there is an error, or its certificate is not
 * right.
 */
void TlsWire::broken()
{
	long verified = SSL_get_verify_result(ssl_);
	int why = ERR_GET_REASON(ERR_peek_error());
	std::string text = reason();

	try {
		send_encrypted(); /* the gateway is to know, too */
	} catch (const TTransportException &) {
	}
	if (SSL_is_init_finished(ssl_))
		throw TTransportException(TTransportException::CORRUPTED_DATA, "TLS: " + text);
	if (verified != X509_V_OK)
		text = std::string("the certificate is "
				   "refused: ") + X509_verify_cert_error_string(verified);
	else if (why == SSL_R_WRONG_VERSION_NUMBER)
		text = "the answer is no TLS (" + text + "); was the gateway started with TLS?";
	else
		text = "the TLS handshake failed: " + text;
	throw TTransportException(TTransportException::BAD_ARGS, text);
}

/**
 * Do one step of OpenSSL's, as often as it takes: each time it says what it has to send or to get
 * first. Returns what the step has, or 0 when the gateway has closed the connection.
 */
template <class Step> int TlsWire::drive(Step step)
{
	for (;;) {
		/* A gateway that sends without end is late, too. */
		check_deadline();
		/* Errors that others have left here would be taken for those of this step. */
		ERR_clear_error();
		int n = step();
		int what = n > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl_, n);
		if (what == SSL_ERROR_SSL || what == SSL_ERROR_SYSCALL)
			broken();
		send_encrypted();
		if (n > 0)
			return n;
		if (what == SSL_ERROR_ZERO_RETURN || !receive_encrypted())
			return 0;
	}
}

void TlsWire::greet(const Deadline &deadline)
{
	begin(&deadline);
	try {
		if (drive([&] { return SSL_do_handshake(ssl_); }) == 0)
			throw TTransportException(TTransportException::END_OF_FILE);
	} catch (const TTransportException &e) {
		if (e.getType() == TTransportException::BAD_ARGS)
			throw;
		bool late = e.getType() == TTransportException::TIMED_OUT;
		throw TTransportException(e.getType(),
					  std::string(late ? "no end of" : "closed during") +
						  " the TLS handshake; was the "
						  "gateway started with TLS?");
	}
}

} // namespace

Tls::Tls(const std::string &ca_file) : context_(SSL_CTX_new(TLS_client_method()))
{
	const char *file = ca_file.c_str();
	bool ok = context_ && SSL_CTX_set_min_proto_version(context_, TLS1_2_VERSION) == 1;

	if (ok)
		ok = (ca_file.empty()
			      ? SSL_CTX_set_default_verify_paths(context_)
			      : SSL_CTX_load_verify_locations(context_, file, nullptr)) == 1;
	if (!ok) {
		std::string why = reason();
		SSL_CTX_free(context_);
		fail(SIMIDX_E_IO, "%.250s: no certificates of authorities: %.200s",
		     ca_file.empty() ? "the system" : file, why.c_str());
	}
	SSL_CTX_set_verify(context_, SSL_VERIFY_PEER, nullptr);
	SSL_CTX_set_session_cache_mode(context_, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(context_, SSL_OP_NO_RENEGOTIATION);
	ERR_clear_error();
}

Tls::~Tls()
{
	SSL_CTX_free(context_);
}

std::shared_ptr<Wire> Tls::make_wire(const std::string &host) const
{
	return std::make_shared<TlsWire>(context_, host);
}

} // namespace simidx_hbase

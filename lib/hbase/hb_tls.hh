/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Encrypted connections (TLS) to gateways that prove by a certificate who they are. OpenSSL works
 * on buffers in memory and never sees the socket; Wire moves these bytes to and from the gateway.
 * So whatever the gateway does, the deadline is kept, and a connection that ends raises no signal.
 */

#ifndef HB_TLS_HH
#define HB_TLS_HH

#include <memory>
#include <string>

#include "hb_uri.hh"
#include "hb_wire.hh"

struct ssl_ctx_st;

namespace simidx_hbase {

/** What all encrypted connections of a pool share. Any thread may use it. */
class Tls {
public:
	/**
	 * @param ca_file  PEM, certificates of the authorities that are trusted; read here, once.
	 *                 Empty: those that the system trusts
	 *
	 * Throws a Failure when the file cannot be read.
	 */
	explicit Tls(const std::string &ca_file);
	~Tls();
	Tls(const Tls &) = delete;
	Tls &operator=(const Tls &) = delete;

	/** A connection yet to be made. Its gateway must have a certificate for this host. */
	std::shared_ptr<Wire> make_wire(const std::string &host) const;

private:
	struct ssl_ctx_st *context_;
};

} // namespace simidx_hbase

#endif /* HB_TLS_HH */

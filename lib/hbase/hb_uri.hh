/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What a URI says. Its parts are described in simidx_hbase.h. */

#ifndef HB_URI_HH
#define HB_URI_HH

#include <string>
#include <vector>

#include "hbase_types.h"

namespace simidx_hbase {

const int LONGEST_LEASE_S = 3600;

enum class Transport { BINARY, FRAMED, HTTP, HTTPS };

struct Address {
	std::string host;
	std::string port;
	/** An IPv6 address in brackets. */
	std::string name() const
	{
		return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
	}
};

struct Config {
	std::vector<Address> gateways;
	std::string space; /**< namespace, or empty */
	std::string table;
	Transport transport = Transport::BINARY;
	std::string path = "/";   /**< of HTTP */
	std::string ca_file;      /**< of HTTPS; empty: the authorities that the system trusts */
	int read_ms = 30000;      /**< deadline of what only reads */
	int write_ms = 0;         /**< of what writes; 0 = six times that */
	unsigned connections = 8;
	int lease_s = 60;
	int regions = 16;         /**< that each of the two tables is created with, about */
	gateway::Durability::type full = gateway::Durability::FSYNC;
	gateway::Durability::type normal = gateway::Durability::SYNC;
	gateway::Compression::type compression = gateway::Compression::NONE;

	/** As the gateway's calls name tables. */
	std::string index_table() const
	{
		/* HBase itself leaves this namespace away, in its messages, too. */
		return (space.empty() || space == "default" ? "" : space + ":") + table;
	}
	std::string docs_table() const { return index_table() + "_docs"; }
};

/** Throws a Failure with SIMIDX_E_ARG. */
Config parse_uri(const char *uri);

} // namespace simidx_hbase

#endif /* HB_URI_HH */

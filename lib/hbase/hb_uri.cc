/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hb_uri.hh"

#include <simidx.h>

#include <cstdlib>
#include <cstring>

#include "hb_failure.hh"

namespace simidx_hbase {
namespace {

[[noreturn]] void bad(const char *uri, const std::string &why)
{
	fail(SIMIDX_E_ARG, "%.200s: %.200s; expected hbase://HOST[:PORT][,HOST[:PORT]...]/"
	     "[NAMESPACE:]TABLE[?OPTION=VALUE&...]", uri, why.c_str());
}

/** HBase's own rule for names of tables and namespaces. */
bool is_name(const std::string &name, bool of_table)
{
	if (name.empty() || name.size() > 200 || (of_table && (name[0] == '.' || name[0] == '-')))
		return false;
	for (char c : name)
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || (of_table && (c == '-' || c == '.'))))
			return false;
	return true;
}

bool is_number(const std::string &digits, long min, long max)
{
	if (digits.empty() || digits.size() > 9 ||
	    digits.find_first_not_of("0123456789") != std::string::npos)
		return false;
	long n = atol(digits.c_str());
	return n >= min && n <= max;
}

long number(const char *uri, const std::string &key, const std::string &value, long min, long max)
{
	if (!is_number(value, min, max))
		bad(uri, key + "=" + value + " is not a number from " + std::to_string(min) +
				 " to " + std::to_string(max));
	return atol(value.c_str());
}

/** Seconds, with a fraction if need be, in milliseconds. */
int milliseconds(const char *uri, const std::string &key, const std::string &value)
{
	size_t dot = value.find('.');
	std::string fraction = dot == std::string::npos ? "" : value.substr(dot + 1);

	if (!is_number(value.substr(0, dot), 0, 86400) || fraction.size() > 3 ||
	    (dot != std::string::npos && !is_number(fraction, 0, 999)))
		bad(uri, key + "=" + value + " is not a number of seconds up to 86400");
	fraction.resize(3, '0');
	int ms = atoi(value.c_str()) * 1000 + atoi(fraction.c_str());
	if (ms == 0)
		bad(uri, key + " must be above 0");
	return ms;
}

Address address(const char *uri, const std::string &text)
{
	Address a;
	size_t end = text.size(), colon;

	if (!text.empty() && text[0] == '[') {
		end = text.find(']');
		if (end == std::string::npos)
			bad(uri, "a host begins with [ and does not end with ]");
		a.host = text.substr(1, end - 1);
		colon = end + 1 < text.size() ? end + 1 : std::string::npos;
		if (colon != std::string::npos && text[colon] != ':')
			bad(uri, "after ] only a port may follow");
	} else {
		colon = text.find(':');
		a.host = text.substr(0, colon);
	}
	a.port = colon == std::string::npos ? "9090" : text.substr(colon + 1);
	if (a.host.empty())
		bad(uri, "a host is missing");
	if (!is_number(a.port, 1, 65535))
		bad(uri, "\"" + a.port + "\" is not a port");
	return a;
}

void set_transport(const char *uri, Config &config, const std::string &value)
{
	if (value == "binary")
		config.transport = Transport::BINARY;
	else if (value == "framed")
		config.transport = Transport::FRAMED;
	else if (value == "http")
		config.transport = Transport::HTTP;
	else if (value == "https")
		config.transport = Transport::HTTPS;
	else
		bad(uri, "transport=" + value + " is none of binary, framed, http, https");
}

void set_durability(const char *uri, Config &config, const std::string &value)
{
	using gateway::Durability;

	if (value == "fsync") {
		config.full = Durability::FSYNC;
		config.normal = Durability::SYNC;
	} else if (value == "sync") {
		config.full = config.normal = Durability::SYNC;
	} else if (value == "async") {
		config.full = config.normal = Durability::ASYNC;
	} else {
		bad(uri, "durability=" + value + " is none of fsync, sync, async");
	}
}

void set_compression(const char *uri, Config &config, const std::string &value)
{
	static const struct {
		const char *name;
		gateway::Compression::type type;
	} known[] = {
		{ "none", gateway::Compression::NONE },     { "gz", gateway::Compression::GZ },
		{ "snappy", gateway::Compression::SNAPPY }, { "lz4", gateway::Compression::LZ4 },
		{ "zstd", gateway::Compression::ZSTD },
	};

	for (const auto &one : known)
		if (value == one.name) {
			config.compression = one.type;
			return;
		}
	bad(uri, "compression=" + value + " is none of none, gz, snappy, lz4, zstd");
}

void set_option(const char *uri, Config &config, const std::string &key, const std::string &value)
{
	if (key == "transport")
		set_transport(uri, config, value);
	else if (key == "path" && value.size() > 0 && value[0] == '/')
		config.path = value;
	else if (key == "ca")
		config.ca_file = value;
	else if (key == "timeout")
		config.read_ms = milliseconds(uri, key, value);
	else if (key == "write-timeout")
		config.write_ms = milliseconds(uri, key, value);
	else if (key == "connections")
		config.connections = (unsigned)number(uri, key, value, 1, 64);
	else if (key == "lease")
		config.lease_s = (int)number(uri, key, value, 1, LONGEST_LEASE_S);
	else if (key == "regions")
		config.regions = (int)number(uri, key, value, 1, 10000);
	else if (key == "durability")
		set_durability(uri, config, value);
	else if (key == "compression")
		set_compression(uri, config, value);
	else
		bad(uri, "there is no option \"" + key + "\", but transport, path, ca, timeout, "
			 "write-timeout, connections, lease, durability, regions, compression");
}

} // namespace

Config parse_uri(const char *uri)
{
	static const char scheme[] = "hbase://";
	Config config;

	if (!uri || strncmp(uri, scheme, strlen(scheme)) != 0)
		bad(uri ? uri : "no URI", "it does not begin with hbase://");
	std::string rest = uri + strlen(scheme);
	if (rest.size() > 4000)
		bad(uri, "it is longer than 4000 bytes");
	for (char c : rest)
		if ((unsigned char)c <= 0x20 || c == 0x7f)
			bad("hbase://...", "it has a space or a control character");

	size_t mark = rest.find('?');
	std::string options = mark == std::string::npos ? "" : rest.substr(mark + 1);
	rest = rest.substr(0, mark);
	size_t slash = rest.find('/');
	if (slash == std::string::npos)
		bad(uri, "no table");

	std::string hosts = rest.substr(0, slash) + ",";
	for (size_t at = 0, comma; (comma = hosts.find(',', at)) != std::string::npos;
	     at = comma + 1)
		config.gateways.push_back(address(uri, hosts.substr(at, comma - at)));

	config.table = rest.substr(slash + 1);
	size_t colon = config.table.find(':');
	if (colon != std::string::npos) {
		config.space = config.table.substr(0, colon);
		config.table = config.table.substr(colon + 1);
		if (!is_name(config.space, false))
			bad(uri, "\"" + config.space + "\" is not a name of a namespace");
	}
	if (!is_name(config.table, true))
		bad(uri, "\"" + config.table + "\" is not a name of a table");

	if (!options.empty())
		options += '&';
	for (size_t at = 0, end; (end = options.find('&', at)) != std::string::npos; at = end + 1) {
		std::string option = options.substr(at, end - at);
		size_t equals = option.find('=');
		if (equals == std::string::npos || equals + 1 == option.size())
			bad(uri, "\"" + option + "\" has no value");
		set_option(uri, config, option.substr(0, equals), option.substr(equals + 1));
	}
	/* Who names an authority wants encryption. */
	if (!config.ca_file.empty() && config.transport != Transport::HTTPS)
		bad(uri, "ca is for transport=https");
	if (config.write_ms == 0)
		config.write_ms = config.read_ms > INT32_MAX / 6 ? INT32_MAX : config.read_ms * 6;
	return config;
}

} // namespace simidx_hbase

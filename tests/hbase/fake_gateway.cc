/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A gateway without an HBase: rows in memory, with HBase's rules for timestamps and deletions, as
 * far as the engine needs them; and with faults. Prints its port and serves until it is killed.
 *
 * Usage: fake_gateway [PORT] [OPTION...]
 *   framed, http     another transport
 *   https=FILE       HTTP over TLS; the file has the key and the certificate
 *   tls1.1           no newer version of TLS than that
 *   log              print "connected" for each connection
 *   idle=MS          close connections that are idle for so long
 *   slow=MS          wait before each answer
 *   error=TEXT       refuse all calls but the first one, for good
 *   end=N            end at the N-th call
 *   down=N           refuse the first N calls as HBase does while it starts
 *   table=NAME       have a table that is somebody else's
 *   late=N           know nothing of a table that is there when it is read for the first N times,
 *                    as HBase may while the table is being made
 *   thrift1          say that it is a gateway of Thrift 1
 *   silent           accept connections and never answer
 *   line=TEXT        answer this line
 *   garbage          answer bytes that are no Thrift
 *   huge             answer a list that claims to have two milliards of elements
 *   large            answer fields of 8 MiB that do not end
 *   endless          answer one byte each 10 ms, of a string that does not end
 *   half=N           close the connection in the middle of each N-th answer
 *   twice=N          send each N-th answer twice
 *   relay=PORT       be a gateway that is at this port of 127.0.0.1
 *   drip=N           a relay: once the client has sent N times, answer one byte each 100 ms
 */

#include <thrift/protocol/TBinaryProtocol.h>
#include <thrift/server/TThreadedServer.h>
#include <thrift/transport/TBufferTransports.h>
#include <thrift/transport/THttpServer.h>
#include <thrift/transport/TSSLServerSocket.h>
#include <thrift/transport/TSSLSocket.h>
#include <thrift/transport/TServerSocket.h>
#include <thrift/TOutput.h>

#include <arpa/inet.h>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <poll.h>
#include <random>
#include <set>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

#include "Gateway.h"

using namespace apache::thrift;
using namespace apache::thrift::protocol;
using namespace apache::thrift::server;
using namespace apache::thrift::transport;
using namespace simidx_hbase::gateway;

namespace {

int slow_ms, half, twice, idle_ms, down, end_at, late;
bool is_thrift1;
std::string refusal, foreign;

/** The versions of a cell: only the newest one is kept, and the newest mark of a deletion. */
struct Versions {
	bool there = false;
	std::string value;
	int64_t timestamp = -1, deleted = -1;
	bool visible() const { return there && timestamp > deleted; }
};

using Columns = std::map<std::string, Versions>;
using Table = std::map<std::string, Columns>;

[[noreturn]] void refuse(const std::string &message, bool can_retry)
{
	IOError e;

	e.__set_message(message);
	e.__set_can_retry(can_retry);
	throw e;
}

class Memory : public GatewayIf {
public:
	Memory()
	{
		if (!foreign.empty())
			tables_[foreign];
	}
	ServerKind::type getThriftServerType() override
	{
		pause();
		return is_thrift1 ? ServerKind::THRIFT1 : ServerKind::THRIFT2;
	}
	bool tableExists(const TableName &name) override
	{
		auto lock = begin();
		return tables_.count(full(name)) > 0;
	}
	void createTable(const TableDescriptor &table,
			 const std::vector<std::string> &splits) override
	{
		auto lock = begin();
		if (std::set<std::string>(splits.begin(), splits.end()).size() != splits.size())
			refuse("All split keys must be unique", false);
		if (!table.table.space.empty() && !spaces_.count(table.table.space))
			refuse("org.apache.hadoop.hbase.NamespaceNotFoundException", false);
		if (!tables_.emplace(full(table.table), Table()).second)
			refuse("org.apache.hadoop.hbase.TableExistsException: " + full(table.table),
			       false);
		descriptors_[full(table.table)] = table;
	}
	void getTableDescriptor(TableDescriptor &table, const TableName &name) override
	{
		auto lock = begin();
		if (!tables_.count(full(name)))
			refuse("org.apache.hadoop.hbase.TableNotFoundException: " + full(name),
			       false);
		table = descriptors_[full(name)];
	}
	bool isTableEnabled(const TableName &name) override
	{
		auto lock = begin();
		return !disabled_.count(full(name));
	}
	void disableTable(const TableName &name) override
	{
		auto lock = begin();
		find(full(name));
		disabled_.insert(full(name));
	}
	void deleteTable(const TableName &name) override
	{
		auto lock = begin();
		if (!tables_.count(full(name)))
			refuse(full(name), false);
		if (!disabled_.erase(full(name)))
			refuse("org.apache.hadoop.hbase.TableNotDisabledException: " + full(name),
			       false);
		tables_.erase(full(name));
	}
	void createNamespace(const NamespaceDescriptor &space) override
	{
		auto lock = begin();
		if (!spaces_.insert(space.name).second)
			refuse("org.apache.hadoop.hbase.NamespaceExistException: " + space.name,
			       false);
	}
	void putMultiple(const std::string &table, const std::vector<Put> &puts) override
	{
		auto lock = begin();
		for (const Put &put : puts)
			store(find(table), put);
	}
	void deleteMultiple(std::vector<Delete> &, const std::string &table,
			    const std::vector<Delete> &deletes) override
	{
		auto lock = begin();
		for (const Delete &one : deletes)
			forget(find(table), one);
	}
	void mutateRow(const std::string &table, const RowMutations &mutations) override
	{
		auto lock = begin();
		for (const Mutation &mutation : mutations.mutations)
			if (mutation.__isset.put)
				store(find(table), mutation.put);
			else
				forget(find(table), mutation.remove);
	}
	void getMultiple(std::vector<Result> &results, const std::string &table,
			 const std::vector<Get> &gets) override
	{
		auto lock = begin();
		if (tables_.count(table) && late-- > 0)
			refuse("org.apache.hadoop.hbase.TableNotFoundException: " + table, false);
		for (const Get &get : gets)
			results.push_back(read(find(table), get.row, get.columns));
	}
	void existsAll(std::vector<bool> &results, const std::string &table,
		       const std::vector<Get> &gets) override
	{
		auto lock = begin();
		for (const Get &get : gets)
			results.push_back(read(find(table), get.row, {}).cells.size() > 0);
	}
	void getScannerResults(std::vector<Result> &results, const std::string &table,
			       const Scan &scan, int32_t rows) override
	{
		auto lock = begin();
		Table &in = find(table);
		for (auto row = in.lower_bound(scan.start); row != in.end(); ++row) {
			if ((!scan.stop.empty() && row->first >= scan.stop) ||
			    results.size() >= (size_t)rows)
				break;
			Result result = read(in, row->first, scan.columns);
			if (!result.cells.empty())
				results.push_back(std::move(result));
		}
	}
	bool checkAndPut(const std::string &table, const std::string &row, const std::string &,
			 const std::string &column, const std::string &value,
			 const Put &put) override
	{
		auto lock = begin();
		Versions &now = find(table)[row][column];
		if ((now.visible() ? now.value : "") != value)
			return false;
		store(find(table), put);
		return true;
	}

private:
	void pause()
	{
		if (slow_ms)
			std::this_thread::sleep_for(std::chrono::milliseconds(slow_ms));
	}
	std::unique_lock<std::mutex> begin()
	{
		pause();
		std::unique_lock<std::mutex> lock(mutex_);
		if (end_at && --end_at == 0)
			_exit(0);
		if (!refusal.empty())
			refuse(refusal, false);
		if (down > 0) {
			down--;
			refuse("Zookeeper LIST could not be completed in 10000 ms", false);
		}
		return lock;
	}
	static std::string full(const TableName &name)
	{
		return (name.space.empty() || name.space == "default" ? "" : name.space + ":") +
		       name.name;
	}
	Table &find(const std::string &long_name)
	{
		std::string name = long_name.substr(long_name.compare(0, 8, "default:") == 0 ? 8
											     : 0);
		auto found = tables_.find(name);
		if (found == tables_.end())
			refuse(name, false);
		if (disabled_.count(name))
			refuse("org.apache.hadoop.hbase.TableNotEnabledException: " + name, false);
		return found->second;
	}
	static void store(Table &table, const Put &put)
	{
		if (put.cells.empty())
			throw std::runtime_error("a put without cells");
		for (const Cell &cell : put.cells) {
			Versions &now = table[put.row][cell.column];
			if (cell.timestamp >= now.timestamp) {
				now.there = true;
				now.value = cell.value;
				now.timestamp = cell.timestamp;
			}
		}
	}
	static void forget(Table &table, const Delete &one)
	{
		for (const Column &column : one.columns) {
			Versions &now = table[one.row][column.column];
			now.deleted = std::max(now.deleted, column.timestamp);
		}
	}
	/** The cells of these columns, or of all where none is named. */
	static Result read(const Table &table, const std::string &row,
			   const std::vector<Column> &wanted)
	{
		Result result;
		auto found = table.find(row);

		if (found == table.end())
			return result;
		for (const auto &column : found->second) {
			Cell cell;
			bool asked = wanted.empty();
			for (const Column &one : wanted)
				asked = asked || one.column == column.first;
			if (!asked || !column.second.visible())
				continue;
			cell.family = "d";
			cell.column = column.first;
			cell.value = column.second.value;
			cell.__set_timestamp(column.second.timestamp);
			result.cells.push_back(cell);
		}
		if (!result.cells.empty())
			result.__set_row(row);
		return result;
	}

	std::mutex mutex_;
	std::map<std::string, Table> tables_;
	std::map<std::string, TableDescriptor> descriptors_;
	std::set<std::string> disabled_;
	std::set<std::string> spaces_{ "default" };
};

/** A connection that ends in the middle of each N-th answer, or has some of them twice. */
class HalfTransport : public TBufferedTransport {
public:
  explicit HalfTransport(std::shared_ptr<TTransport> socket)
      : TBufferedTransport(socket), socket_(socket)
  {
  }
	void flush() override
	{
		static std::atomic<int> answers;

		if (half && ++answers % half == 0) {
			std::string bytes((const char *)wBuf_.get(),
					  (size_t)(wBase_ - wBuf_.get()));
			socket_->write((const uint8_t *)bytes.data(), (uint32_t)bytes.size() / 2);
			socket_->flush();
			/* To close it sends what is left: nothing. */
			wBase_ = wBuf_.get();
			throw TTransportException(TTransportException::END_OF_FILE);
		}
		if (twice && ++answers % twice == 0) {
			std::string bytes((const char *)wBuf_.get(),
					  (size_t)(wBase_ - wBuf_.get()));
			socket_->write((const uint8_t *)bytes.data(), (uint32_t)bytes.size());
		}
		TBufferedTransport::flush();
	}

private:
	std::shared_ptr<TTransport> socket_;
};

class HalfFactory : public TTransportFactory {
public:
	std::shared_ptr<TTransport> getTransport(std::shared_ptr<TTransport> socket) override
	{
		return std::make_shared<HalfTransport>(socket);
	}
};

struct sockaddr_in loopback(int port)
{
	struct sockaddr_in address = {};

	address.sin_family = AF_INET;
	address.sin_port = htons((uint16_t)port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return address;
}

/** Listen at a port, or at any one where it is 0, and print which one. */
int listen_at(int port)
{
	struct sockaddr_in address = loopback(port);
	socklen_t size = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 10) ||
	    getsockname(listener, (struct sockaddr *)&address, &size))
		exit(2);
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	return listener;
}

/** One connection of a relay. */
void relay(int client, int port, int drip_from)
{
	struct sockaddr_in address = loopback(port);
	int gateway = socket(AF_INET, SOCK_STREAM, 0), sent = 0;
	char bytes[65536];
	ssize_t n = 1;

	if (connect(gateway, (struct sockaddr *)&address, sizeof(address)))
		n = 0;
	while (n > 0) {
		struct pollfd fds[] = { { client, POLLIN, 0 }, { gateway, POLLIN, 0 } };
		poll(fds, 2, -1);
		if (fds[0].revents) {
			n = recv(client, bytes, sizeof(bytes), 0);
			sent++;
			if (n > 0)
				n = send(gateway, bytes, (size_t)n, MSG_NOSIGNAL);
		} else if (sent >= drip_from) {
			usleep(100000);
			n = recv(gateway, bytes, 1, 0);
			if (n > 0)
				n = send(client, bytes, (size_t)n, MSG_NOSIGNAL);
		} else {
			n = recv(gateway, bytes, sizeof(bytes), 0);
			if (n > 0)
				n = send(client, bytes, (size_t)n, MSG_NOSIGNAL);
		}
	}
	close(client);
	close(gateway);
}

[[noreturn]] void be_relay(int port, int to, int drip_from)
{
	int listener = listen_at(port);

	for (;;) {
		int client = accept(listener, nullptr, nullptr);
		std::thread(relay, client, to, drip_from).detach();
	}
}

/** Anything but Thrift. */
[[noreturn]] void misbehave(int port, const std::string &how, const std::string &line)
{
	int listener = listen_at(port);

	for (;;) {
		int fd = accept(listener, nullptr, nullptr);
		std::thread([fd, how, line] {
			char in[4096];
			std::string name = "getThriftServerType",
				    out("\x80\x01\x00\x02\x00\x00\x00", 7);
			while (recv(fd, in, sizeof(in), 0) > 0) {
				if (how == "silent")
					continue;
				if (how == "line") {
					out = line + "\r\n\r\n";
				} else if (how == "garbage") {
					std::minstd_rand random;
					for (out.clear(); out.size() < 1000;)
						out.push_back((char)random());
				} else if (how == "huge") {
					/* Field 5, a list of structs. */
					out += (char)name.size() + name + std::string(4, '\0') +
					       std::string("\x0f\x00\x05\x0c\x7f\xff\xff\xff", 8);
				} else {
					/* Field 5, a string that is as long as it may be. */
					out += (char)name.size() + name + std::string(4, '\0') +
					       std::string("\x0b\x00\x05\x00\xff\xff\xff", 7);
				}
				std::string field = std::string("\x0b\x00\x05\x00\x80\x00\x00", 7) +
						    std::string(8 << 20, 'x');
				if (how == "large")
					out.resize(7 + 1 + name.size() + 4);
				send(fd, out.data(), out.size(), MSG_NOSIGNAL);
				while (how == "large" &&
				       send(fd, field.data(), field.size(), MSG_NOSIGNAL) > 0)
					;
				while (how == "endless" && send(fd, "x", 1, MSG_NOSIGNAL) == 1)
					usleep(10000);
			}
			close(fd);
		}).detach();
	}
}

std::shared_ptr<TServerSocket> tls_socket(int port, const std::string &file, SSLProtocol protocol)
{
	auto factory = std::make_shared<TSSLSocketFactory>(protocol);

	factory->server(true);
	factory->authenticate(false);
	if (protocol == TLSv1_1)
		factory->ciphers("ALL:@SECLEVEL=0");
	factory->loadCertificate(file.c_str());
	factory->loadPrivateKey(file.c_str());
	return std::make_shared<TSSLServerSocket>("127.0.0.1", port, factory);
}

/** What the options say, besides the faults. */
struct Setup {
	std::shared_ptr<TTransportFactory> transport = std::make_shared<HalfFactory>();
	std::string certificate;
	SSLProtocol protocol = SSLTLS;
	int port = 0, relay_to = 0, drip = INT_MAX;
	bool log = false;
};

/** False: there is no such option. */
bool set(Setup &setup, const std::string &option, const std::string &value)
{
	if (option == "framed") {
		setup.transport = std::make_shared<TFramedTransportFactory>();
	} else if (option == "http") {
		setup.transport = std::make_shared<THttpServerTransportFactory>();
	} else if (option == "https") {
		setup.transport = std::make_shared<THttpServerTransportFactory>();
		setup.certificate = value;
	} else if (option == "tls1.1") {
		setup.protocol = TLSv1_1;
	} else if (option == "log") {
		setup.log = true;
	} else if (option == "relay") {
		setup.relay_to = atoi(value.c_str());
	} else if (option == "drip") {
		setup.drip = atoi(value.c_str());
	} else if (option == "idle") {
		idle_ms = atoi(value.c_str());
	} else if (option == "slow") {
		slow_ms = atoi(value.c_str());
	} else if (option == "half") {
		half = atoi(value.c_str());
	} else if (option == "twice") {
		twice = atoi(value.c_str());
	} else if (option == "end") {
		end_at = atoi(value.c_str());
	} else if (option == "down") {
		down = atoi(value.c_str());
	} else if (option == "error") {
		refusal = value;
	} else if (option == "late") {
		late = atoi(value.c_str());
	} else if (option == "table") {
		foreign = value;
	} else if (option == "thrift1") {
		is_thrift1 = true;
	} else {
		setup.port = atoi(option.c_str());
		return setup.port > 0;
	}
	return true;
}

/** Prints the port, once the server listens, and connections. */
class Announce : public TServerEventHandler {
public:
	Announce(std::shared_ptr<TServerSocket> socket, bool log) : socket_(socket), log_(log) {}
	void preServe() override
	{
		printf("%d\n", socket_->getPort());
		fflush(stdout);
	}
	void *createContext(std::shared_ptr<TProtocol>, std::shared_ptr<TProtocol>) override
	{
		if (log_)
			printf("connected\n");
		fflush(stdout);
		return nullptr;
	}

private:
	std::shared_ptr<TServerSocket> socket_;
	bool log_;
};

} // namespace

int main(int argc, char **argv)
{
	Setup setup;

	signal(SIGPIPE, SIG_IGN);
	GlobalOutput.setOutputFunction([](const char *) {});
	for (int i = 1; i < argc; i++) {
		std::string option = argv[i], value;
		size_t equals = option.find('=');
		if (equals != std::string::npos) {
			value = option.substr(equals + 1);
			option.resize(equals);
		}
		if (option == "silent" || option == "line" || option == "garbage" ||
		    option == "huge" || option == "large" || option == "endless")
			misbehave(setup.port, option, value);
		if (!set(setup, option, value))
			return 2;
	}
	if (setup.relay_to)
		be_relay(setup.port, setup.relay_to, setup.drip);
	auto socket = setup.certificate.empty() ?
			      std::make_shared<TServerSocket>("127.0.0.1", setup.port) :
			      tls_socket(setup.port, setup.certificate, setup.protocol);
	if (idle_ms)
		socket->setRecvTimeout(idle_ms);
	TThreadedServer server(std::make_shared<GatewayProcessor>(std::make_shared<Memory>()),
			       socket, setup.transport, std::make_shared<TBinaryProtocolFactory>());
	server.setServerEventHandler(std::make_shared<Announce>(socket, setup.log));
	server.serve();
	return 0;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Making an index and finding it again. It has two tables: its own one has the rows of the index,
 * and the one whose name ends in _docs has the rest. Among that is the layout, a row that tells
 * what this is. It says "making" until all is there.
 */

#include "hb_store.hh"

#include <algorithm>
#include <cstring>
#include <thread>

namespace simidx_hbase {
namespace {

const char MAGIC[] = "simidx on HBase\n";
const size_t MAGIC_SIZE = sizeof(MAGIC) - 1;
const size_t PIECE = 1 << 20, MAX_DESCRIPTION = 64 << 20;
const char COLUMN_LAYOUT[] = "v";

/* An attribute of the table of documents, by which it is known before it has a layout. */
const char ATTRIBUTE[] = "simidx", ATTRIBUTE_DOCS[] = "documents";

const uint64_t MAKING = 1, READY = 2, DROPPING = 3;

/** The row of the layout. */
struct Layout {
	uint64_t format = FORMAT, state = MAKING, n_tables = 0, size = 0, hash = 0;
	int64_t since = 0;
	std::string token; /**< of who has made it: two indexes of one name differ */
};

std::string layout_value(const Layout &layout)
{
	std::string value(MAGIC, MAGIC_SIZE);

	put_number(value, layout.format, 4);
	put_number(value, layout.state, 1);
	put_number(value, layout.n_tables, 1);
	put_number(value, layout.size, 4);
	put_number(value, layout.hash, 8);
	put_number(value, (uint64_t)layout.since, 8);
	return value + layout.token;
}

bool parse_layout(const std::string &value, Layout &out)
{
	if (value.size() < MAGIC_SIZE + 4 || value.compare(0, MAGIC_SIZE, MAGIC) != 0)
		return false;
	out.format = get_number(value, MAGIC_SIZE, 4);
	if (out.format != FORMAT)
		return true;
	if (value.size() != MAGIC_SIZE + 42)
		return false;
	out.state = get_number(value, MAGIC_SIZE + 4, 1);
	out.n_tables = get_number(value, MAGIC_SIZE + 5, 1);
	out.size = get_number(value, MAGIC_SIZE + 6, 4);
	out.hash = get_number(value, MAGIC_SIZE + 10, 8);
	out.since = (int64_t)get_number(value, MAGIC_SIZE + 18, 8);
	out.token = value.substr(MAGIC_SIZE + 26);
	return out.state >= MAKING && out.state <= DROPPING && out.n_tables > 0 &&
	       out.n_tables <= MAX_TABLES && out.size <= MAX_DESCRIPTION;
}

std::string text_key(size_t piece)
{
	std::string key(1, ROW_TEXT);

	put_number(key, piece, 2);
	return key;
}

gateway::TableName table_name(const Config &config, const char *suffix)
{
	gateway::TableName name;

	if (!config.space.empty())
		name.__set_space(config.space);
	name.name = config.table + suffix;
	return name;
}

bool exists(Pool &pool, const gateway::TableName &name, const Deadline &deadline)
{
	bool there = false;
	Call call([&](gateway::GatewayClient &client) { there = client.tableExists(name); });

	pool.run(call, deadline);
	return there;
}

bool is_enabled(Pool &pool, const gateway::TableName &name, const Deadline &deadline)
{
	bool enabled = false;
	Call call([&](gateway::GatewayClient &client) { enabled = client.isTableEnabled(name); });

	pool.run(call, deadline);
	return enabled;
}

/** Whether a table was made to be that of an index's documents. */
bool has_attribute(Pool &pool, const gateway::TableName &name, const Deadline &deadline)
{
	gateway::TableDescriptor table;
	Call call([&](gateway::GatewayClient &client) { client.getTableDescriptor(table, name); });

	pool.run(call, deadline);
	auto found = table.attributes.find(ATTRIBUTE);
	return found != table.attributes.end() && found->second == ATTRIBUTE_DOCS;
}

/**
 * Splits of the table of documents: all of them for documents and labels, of which there are many.
 */
std::vector<std::string> document_splits(int regions)
{
	std::vector<std::string> splits;
	unsigned n = (unsigned)std::min<int>(regions, SALTS);

	for (unsigned i = 1; i < n; i++) {
		std::string key(1, ROW_DOCUMENT);
		put_number(key, i * SALTS / n, 1);
		splits.push_back(key);
	}
	for (unsigned i = 0; i < n; i++) {
		std::string key(1, ROW_LABEL);
		put_number(key, i * 256 / n, 1);
		splits.push_back(key);
	}
	return splits;
}

std::vector<std::string> index_splits(int regions)
{
	std::vector<std::string> splits;

	for (int i = 1; i < regions; i++) {
		std::string key;
		put_number(key, (uint64_t)i * (1ull << 32) / (uint64_t)regions, 4);
		splits.push_back(key);
	}
	return splits;
}

/** Make a table unless it is there. */
void create_table(Pool &pool, const Config &config, bool of_index, const Deadline &deadline)
{
	gateway::TableDescriptor table;
	gateway::Family family;
	std::vector<std::string> splits = of_index ? index_splits(config.regions) :
						     document_splits(config.regions);

	table.table = table_name(config, of_index ? "" : "_docs");
	if (exists(pool, table.table, deadline))
		return;
	family.name = FAMILY;
	family.__set_max_versions(1);
	family.__set_compression(config.compression);
	family.__set_encoding(gateway::Encoding::FAST_DIFF);
	family.__set_bloom(of_index ? gateway::Bloom::ROW_PREFIX : gateway::Bloom::ROW);
	if (of_index)
		family.__set_configuration({ { "RowPrefixBloomFilter.prefix_length", "5" } });
	table.__set_families({ family });
	if (!of_index)
		table.__set_attributes({ { ATTRIBUTE, ATTRIBUTE_DOCS } });
	Call call([&](gateway::GatewayClient &client) {
		try {
			client.createTable(table, splits);
		} catch (const gateway::IOError &e) {
			/* Somebody else was faster, or an attempt whose answer was lost. */
			if (e.message.find("TableExistsException") == std::string::npos &&
			    e.message.find("Table already exists") == std::string::npos)
				throw;
		}
	});
	pool.run(call, deadline);
	/* The gateway answers when the regions are assigned; a retry may come before. */
	while (!exists(pool, table.table, deadline) && deadline.left() > 0)
		std::this_thread::sleep_for(std::chrono::milliseconds(100));
}

/**
 * Drop a table. Each call may have been made before, by this process, whose answer was lost, or by
 * another one. HBase's message does not always say so: of a missing table it may be no more than
 * the name.
 */
void drop_table(Pool &pool, const gateway::TableName &name, const Deadline &deadline)
{
	if (!exists(pool, name, deadline))
		return;
	Call disable([&](gateway::GatewayClient &client) {
		try {
			client.disableTable(name);
		} catch (const gateway::IOError &) {
			if (client.tableExists(name) && client.isTableEnabled(name))
				throw;
		}
	});
	pool.run(disable, deadline);
	Call remove([&](gateway::GatewayClient &client) {
		try {
			client.deleteTable(name);
		} catch (const gateway::IOError &) {
			if (client.tableExists(name))
				throw;
		}
	});
	pool.run(remove, deadline);
}

void create_space(Pool &pool, const Config &config, const Deadline &deadline)
{
	gateway::NamespaceDescriptor space;

	if (config.space.empty() || config.space == "default")
		return;
	space.name = config.space;
	Call call([&](gateway::GatewayClient &client) {
		try {
			client.createNamespace(space);
		} catch (const gateway::IOError &e) {
			if (e.message.find("NamespaceExistException") == std::string::npos &&
			    e.message.find("already exists") == std::string::npos)
				throw;
		}
	});
	pool.run(call, deadline);
}

/** Whether there is an index, and of which state. */
class Place {
public:
  Place(Store &store, const Deadline &deadline) : store_(store), deadline_(deadline)
  {
	  look();
  }

	void look()
	{
		const Config &config = store_.config();

		docs_there = exists(store_.pool(), table_name(config, "_docs"), deadline_);
		index_there = exists(store_.pool(), table_name(config, ""), deadline_);
		value.clear();
		is_ours = is_disabled = false;
		if (!docs_there)
			return;
		if (!index_there &&
		    !is_enabled(store_.pool(), table_name(config, "_docs"), deadline_)) {
			/* That is how a kill leaves it, right before it is dropped. */
			is_ours = is_disabled = is_left_docs();
			layout.state = DROPPING;
			return;
		}
		auto rows = read_layout_row();
		const gateway::Cell *cell = rows.empty() ? nullptr
							 : find_cell(rows[0], COLUMN_LAYOUT);
		if (!cell)
			return;
		value = cell->value;
		timestamp = cell->timestamp;
		is_ours = parse_layout(value, layout);
		if (is_ours && layout.format != FORMAT)
			fail(SIMIDX_E_VERSION,
			     "%s: an index of version %llu; this library reads "
			     "version %u",
			     config.index_table().c_str(), (unsigned long long)layout.format,
			     FORMAT);
	}

	/** Refuse what is there, if it is something else. */
	void must_be_ours() const
	{
		if ((docs_there || index_there) && !is_ours && !is_left_docs())
			fail(SIMIDX_E_NOT_INDEX,
			     "%s: there is a table %s, which is no index of "
			     "simidx",
			     store_.config().index_table().c_str(),
			     (docs_there ? store_.config().docs_table()
					 : store_.config().index_table())
				     .c_str());
	}

	bool docs_there = false, index_there = false, is_ours = false, is_disabled = false;
	Layout layout;
	std::string value;
	int64_t timestamp = 0;

private:
	/**
	 * A table that is just being made, or dropped, may be named and not be there yet, or not
	 * any more.
	 */
	std::vector<gateway::Result> read_layout_row()
	{
		for (;;) {
			try {
				return store_.get_rows(store_.config().docs_table(),
						       { std::string(1, ROW_LAYOUT) }, deadline_);
			} catch (const Failure &failure) {
				if (failure.code != SIMIDX_E_NOT_FOUND || deadline_.left() == 0)
					throw;
			}
			std::this_thread::sleep_for(std::chrono::milliseconds(100));
			docs_there = exists(store_.pool(), table_name(store_.config(), "_docs"),
					    deadline_);
			if (!docs_there)
				return {};
		}
	}

	/**
	 * A table of documents without a layout is all that is left when its maker was killed
	 * early.
	 */
	bool is_left_docs() const
	{
		return docs_there && !index_there && value.empty() &&
		       has_attribute(store_.pool(), table_name(store_.config(), "_docs"),
				     deadline_);
	}

	Store &store_;
	const Deadline &deadline_;
};

/** Drop both tables. A kill in the middle of it leaves what everybody knows to be dropped. */
void drop(Store &store, const Place &place, const Deadline &deadline)
{
	const Config &config = store.config();
	std::string row(1, ROW_LAYOUT);
	Layout layout = place.layout;

	layout.state = DROPPING;
	layout.since = store.now();
	layout.token = store.token();
	store.saw_timestamp(place.timestamp);
	if (place.is_ours && !place.is_disabled &&
	    !store.put_if(row, COLUMN_LAYOUT, place.value, layout_value(layout), store.timestamp(),
			  deadline))
		fail(SIMIDX_E_BUSY, "%s: another process is making it",
		     config.index_table().c_str());
	drop_table(store.pool(), table_name(config, ""), deadline);
	drop_table(store.pool(), table_name(config, "_docs"), deadline);
}

/**
 * Make what is missing of an index, after its layout was claimed. False: somebody else took over.
 */
bool make(Store &store, const simidx_engine_open *how, const Deadline &deadline)
{
	const Config &config = store.config();
	Place place(store, deadline);
	std::string description((const char *)how->description, how->description_size);
	Layout layout;

	if (place.is_ours && place.layout.state == READY && place.index_there)
		return false;
	layout.n_tables = how->n_tables;
	layout.size = description.size();
	layout.hash = checksum(description);
	layout.since = store.now();
	layout.token = store.token();
	store.saw_timestamp(place.timestamp);
	std::string mine = layout_value(layout), row(1, ROW_LAYOUT);
	if (!store.put_if(row, COLUMN_LAYOUT, place.value, mine, store.timestamp(), deadline))
		return false;
	std::vector<gateway::Put> puts;
	for (size_t at = 0, i = 0; at < description.size(); at += PIECE, i++)
		puts.push_back(put(text_key(i), "", description.substr(at, PIECE),
				   store.timestamp(), config.full));
	store.put_rows(config.docs_table(), std::move(puts), deadline);
	create_table(store.pool(), config, true, deadline);
	layout.state = READY;
	return store.put_if(row, COLUMN_LAYOUT, mine, layout_value(layout), store.timestamp(),
			    deadline);
}

} // namespace

/** Read the layout and the description of an index that is ready. */
void Store::read_layout(const Deadline &deadline, bool creating)
{
	Place place(*this, deadline);
	std::string table = config_.index_table();

	if (!place.docs_there && !place.index_there)
		fail(SIMIDX_E_NOT_FOUND, "%s: there is no such index", table.c_str());
	if (!place.is_ours)
		place.must_be_ours();
	if (!place.is_ours || place.layout.state != READY || !place.index_there)
		/* Where the making has not ended no document can be, so it is as if nothing was
		   there. What is not ours got here only as an empty table, which is how a making
		   begins. */
		fail(creating ? SIMIDX_E_BUSY :
		     !place.is_ours || place.layout.state != READY ? SIMIDX_E_NOT_FOUND :
								     SIMIDX_E_NOT_INDEX,
		     "%s: half an index, as its making has not ended; create it "
		     "again", table.c_str());

	std::vector<std::string> keys;
	for (size_t at = 0, i = 0; at < place.layout.size; at += PIECE, i++)
		keys.push_back(text_key(i));
	std::string description;
	for (const auto &row : get_rows(config_.docs_table(), keys, deadline))
		if (const gateway::Cell *cell = find_cell(row, ""))
			description += cell->value;
	if (description.size() != place.layout.size || checksum(description) != place.layout.hash)
		fail(SIMIDX_E_CORRUPT, "%s: its description is damaged", table.c_str());
	n_tables_ = (unsigned)place.layout.n_tables;
	layout_ = place.value;
	description_ = std::move(description);
}

void Store::open(const simidx_engine_open *how)
{
	bool create = how->flags & SIMIDX_OPEN_CREATE;
	Deadline deadline(create ? config_.write_ms : config_.read_ms);
	gateway::ServerKind::type kind = gateway::ServerKind::THRIFT2;
	Call call([&](gateway::GatewayClient &client) { kind = client.getThriftServerType(); });

	pool_.run(call, Deadline(config_.read_ms));
	if (kind != gateway::ServerKind::THRIFT2)
		fail(SIMIDX_E_IO, "%s: a gateway of Thrift 1; the one of Thrift 2 is needed",
		     config_.gateways[0].name().c_str());
	if (!create) {
		read_layout(deadline, false);
		return;
	}

	if (how->n_tables < 1 || how->n_tables > MAX_TABLES ||
	    how->description_size > MAX_DESCRIPTION)
		fail(SIMIDX_E_ARG, "%u tables, %zu bytes of description", how->n_tables,
		     how->description_size);
	Place place(*this, deadline);
	place.must_be_ours();
	bool ready = place.is_ours && place.layout.state == READY && place.index_there;
	if (ready && (how->flags & SIMIDX_ENGINE_MUST_CREATE))
		fail(SIMIDX_E_EXISTS, "%s: there is an index", config_.index_table().c_str());
	if (ready && !(how->flags & SIMIDX_ENGINE_TRUNCATE)) {
		read_layout(deadline, false);
		return;
	}
	if (config_.transport == Transport::FRAMED && config_.regions > 1)
		fail(SIMIDX_E_UNSUPPORTED, "%s: a framed gateway cannot make tables of several "
		     "regions: create the index through another one, or with regions=1",
		     config_.index_table().c_str());
	bool drops = how->flags & SIMIDX_ENGINE_TRUNCATE;
	/* Another one may be making it: wait, and take over from one that has not ended in time. */
	for (bool made = false; !made;) {
		place.look();
		ready = place.is_ours && place.layout.state == READY && place.index_there;
		if (ready && (how->flags & SIMIDX_ENGINE_MUST_CREATE))
			fail(SIMIDX_E_EXISTS, "%s: there is an index",
			     config_.index_table().c_str());
		if (ready && !drops)
			break;
		bool others = place.is_ours && place.layout.state != READY &&
			      !has_passed(place.layout.since, now() - config_.lease_s * 1000);
		if (others) {
			if (deadline.left() == 0)
				fail(SIMIDX_E_BUSY, "%s: another process is making it",
				     config_.index_table().c_str());
			std::this_thread::sleep_for(std::chrono::milliseconds(100));
			continue;
		}
		if (drops || (place.is_ours && place.layout.state == DROPPING))
			drop(*this, place, deadline);
		drops = false;
		create_space(pool_, config_, deadline);
		create_table(pool_, config_, false, deadline);
		made = make(*this, how, deadline);
	}
	read_layout(deadline, true);
}

} // namespace simidx_hbase

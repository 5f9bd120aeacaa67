/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hb_rows.hh"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace simidx_hbase {
namespace {

const unsigned CHANGE_BEFORE = 1, CHANGE_AFTER = 2, CHANGE_BEFORE_LABEL = 4;
const size_t HASH_SIZE = 16;
const size_t OWNER_SIZE = 24;

/** Reads bytes that may be too few: then all that follows is zero, and ok() false. */
class Cursor {
public:
	explicit Cursor(const std::string &bytes) : bytes_(bytes) {}
	uint64_t number(int size)
	{
		if (!has((size_t)size))
			return 0;
		uint64_t value = get_number(bytes_, at_, size);
		at_ += (size_t)size;
		return value;
	}
	std::string text(size_t size)
	{
		if (!has(size))
			return "";
		at_ += size;
		return bytes_.substr(at_ - size, size);
	}
	bool ok() const { return ok_; }
	bool at_end() const { return ok_ && at_ == bytes_.size(); }
	size_t left() const { return bytes_.size() - at_; }

private:
	bool has(size_t size)
	{
		ok_ = ok_ && bytes_.size() - at_ >= size;
		return ok_;
	}

	const std::string &bytes_;
	size_t at_ = 0;
	bool ok_ = true;
};

bool parse_document_value(const std::string &bytes, Document &out)
{
	Cursor in(bytes);
	unsigned version = (unsigned)in.number(1), flags = (unsigned)in.number(1);

	out.deleted = flags & SIMIDX_HBASE_IS_DELETED;
	out.labelled = flags & SIMIDX_HBASE_HAS_LABEL;
	out.flags = (flags & SIMIDX_HBASE_HAS_FP2 ? SIMIDX_DOC_FP2 : 0) |
		    (flags & SIMIDX_HBASE_LACKS_FP2 ? SIMIDX_DOC_FP2_UNKNOWN : 0);
	out.fp = in.number(8);
	out.fp2 = flags & SIMIDX_HBASE_HAS_FP2 ? in.number(8) : 0;
	if (!in.ok() || version != FORMAT || (flags & ~15u))
		return false;
	out.label = in.text(in.left());
	return out.labelled ? out.label.size() <= SIMIDX_MAX_LABEL : out.label.empty();
}

} // namespace

void put_number(std::string &out, uint64_t value, int bytes)
{
	while (bytes-- > 0)
		out.push_back((char)(value >> (8 * bytes)));
}

uint64_t get_number(const std::string &in, size_t at, int bytes)
{
	uint64_t value = 0;

	for (int i = 0; i < bytes; i++)
		value = value << 8 | (unsigned char)in[at + (size_t)i];
	return value;
}

std::string index_prefix(unsigned table, uint32_t prefix)
{
	std::string key;

	key.reserve(INDEX_KEY_SIZE);
	put_number(key, prefix, 4);
	put_number(key, table + 1, 1);
	return key;
}

std::string index_key(unsigned table, uint32_t prefix, uint64_t fp, uint64_t id)
{
	std::string key = index_prefix(table, prefix);

	put_number(key, fp, 8);
	put_number(key, id, 8);
	return key;
}

std::string above(const std::string &prefix)
{
	return prefix + std::string(17, '\xff');
}

unsigned salt(uint64_t id)
{
	id = (id ^ id >> 30) * 0xbf58476d1ce4e5b9u;
	id = (id ^ id >> 27) * 0x94d049bb133111ebu;
	return (unsigned)(id >> 60) % SALTS;
}

std::string document_key(uint64_t id)
{
	std::string key(1, ROW_DOCUMENT);

	put_number(key, salt(id), 1);
	put_number(key, id, 8);
	return key;
}

std::string label_hash(const char *label, size_t size)
{
	XXH128_hash_t hash = XXH3_128bits(label, size);
	std::string bytes;

	put_number(bytes, hash.high64, 8);
	put_number(bytes, hash.low64, 8);
	return bytes;
}

std::string label_key(const std::string &hash)
{
	return ROW_LABEL + hash;
}

std::string writer_key(unsigned writer)
{
	std::string key(1, ROW_WRITER);

	put_number(key, writer, 2);
	return key;
}

std::string lease_key(unsigned table, uint32_t prefix)
{
	std::string key(1, ROW_LEASE);

	put_number(key, table + 1, 1);
	put_number(key, prefix, 4);
	return key;
}

std::string owner_value(int64_t until, const std::string &token)
{
	std::string value;

	put_number(value, (uint64_t)until, 8);
	return value + token;
}

std::string free_value(const std::string &token, int64_t timestamp)
{
	std::string value = "free" + token;

	put_number(value, (uint64_t)timestamp, 8);
	return value;
}

std::string token_of(const std::string &value)
{
	return value.size() == OWNER_SIZE ? value.substr(8) : "";
}

int64_t until_of(const std::string &value)
{
	return value.size() == OWNER_SIZE ? (int64_t)get_number(value, 0, 8) : 0;
}

std::string document_value(const Document &document)
{
	std::string value;
	unsigned flags = (document.flags & SIMIDX_DOC_FP2 ? SIMIDX_HBASE_HAS_FP2 : 0) |
			 (document.flags & SIMIDX_DOC_FP2_UNKNOWN ? SIMIDX_HBASE_LACKS_FP2 : 0) |
			 (document.labelled ? SIMIDX_HBASE_HAS_LABEL : 0) |
			 (document.deleted ? SIMIDX_HBASE_IS_DELETED : 0);

	put_number(value, FORMAT, 1);
	put_number(value, flags, 1);
	put_number(value, document.fp, 8);
	if (document.flags & SIMIDX_DOC_FP2)
		put_number(value, document.fp2, 8);
	if (document.labelled)
		value += document.label;
	return value;
}

bool parse_document(const gateway::Result &row, Document &out)
{
	if (row.row.size() != 10 || row.row[0] != ROW_DOCUMENT || row.cells.size() != 1 ||
	    !row.cells[0].column.empty())
		return false;
	out.id = get_number(row.row, 2, 8);
	out.timestamp = row.cells[0].timestamp;
	return out.id <= SIMIDX_MAX_ID && row.row == document_key(out.id) &&
	       parse_document_value(row.cells[0].value, out);
}

std::string batch_bytes(const Batch &batch, unsigned n_tables)
{
	std::string out;

	put_number(out, FORMAT, 1);
	put_number(out, (uint64_t)batch.timestamp, 8);
	put_number(out, batch.has_mark, 1);
	put_number(out, batch.mark.size(), 4);
	out += batch.mark;
	put_number(out, batch.changes.size(), 4);
	for (const Change &change : batch.changes) {
		put_number(out,
			   (change.has_before ? CHANGE_BEFORE : 0) |
				   (change.has_after ? CHANGE_AFTER : 0) |
				   (change.before_label_hash.empty() ? 0 : CHANGE_BEFORE_LABEL),
			   1);
		put_number(out, change.after.id, 8);
		if (change.has_before) {
			put_number(out, change.before_fp, 8);
			for (unsigned t = 0; t < n_tables; t++)
				put_number(out, change.before_prefix[t], 4);
			out += change.before_label_hash;
		}
		if (change.has_after) {
			std::string value = document_value(change.after);
			for (unsigned t = 0; t < n_tables; t++)
				put_number(out, change.after_prefix[t], 4);
			put_number(out, value.size(), 4);
			out += value;
		}
	}
	return out;
}

bool parse_batch(const std::string &bytes, unsigned n_tables, Batch &out)
{
	Cursor in(bytes);

	if (in.number(1) != FORMAT)
		return false;
	out.timestamp = (int64_t)in.number(8);
	out.has_mark = in.number(1) != 0;
	out.mark = in.text(in.number(4));
	for (uint64_t n = in.number(4); n > 0 && in.ok(); n--) {
		Change change;
		unsigned flags = (unsigned)in.number(1);

		change.has_before = flags & CHANGE_BEFORE;
		change.has_after = flags & CHANGE_AFTER;
		change.after.id = in.number(8);
		if (change.has_before) {
			change.before_fp = in.number(8);
			for (unsigned t = 0; t < n_tables; t++)
				change.before_prefix.push_back((uint32_t)in.number(4));
			if (flags & CHANGE_BEFORE_LABEL)
				change.before_label_hash = in.text(HASH_SIZE);
		}
		if (change.has_after) {
			for (unsigned t = 0; t < n_tables; t++)
				change.after_prefix.push_back((uint32_t)in.number(4));
			if (!parse_document_value(in.text(in.number(4)), change.after))
				return false;
		}
		out.changes.push_back(std::move(change));
	}
	return in.at_end();
}

uint64_t checksum(const std::string &bytes)
{
	return XXH3_64bits(bytes.data(), bytes.size());
}

gateway::Cell cell(const std::string &column, const std::string &value, int64_t timestamp)
{
	gateway::Cell c;

	c.family = FAMILY;
	c.column = column;
	c.value = value;
	c.__set_timestamp(timestamp);
	return c;
}

gateway::Put put(const std::string &row, const std::string &column, const std::string &value,
		 int64_t timestamp, gateway::Durability::type durability)
{
	gateway::Put p;

	p.row = row;
	p.cells.push_back(cell(column, value, timestamp));
	p.__set_durability(durability);
	return p;
}

gateway::Delete remove(const std::string &row, const std::string &column, int64_t timestamp,
		       gateway::Durability::type durability)
{
	gateway::Delete d;
	gateway::Column c;

	c.family = FAMILY;
	c.__set_column(column);
	c.__set_timestamp(timestamp);
	d.row = row;
	d.__set_columns({ c });
	d.__set_type(gateway::DeleteType::ALL_VERSIONS);
	d.__set_durability(durability);
	return d;
}

const gateway::Cell *find_cell(const gateway::Result &row, const std::string &column)
{
	for (const gateway::Cell &c : row.cells)
		if (c.column == column)
			return &c;
	return nullptr;
}

} // namespace simidx_hbase

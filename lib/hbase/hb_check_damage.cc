/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Documents whose own row cannot be read. The rows of the index have the fingerprint and the id in
 * their keys, so that most of such a document can be made again: all but its label and its second
 * fingerprint.
 */

#include "hb_check.hh"

#include <algorithm>

namespace simidx_hbase {
namespace {

const size_t DOCUMENT_KEY_SIZE = 10;

/** The timestamp of the document, or where it has none, that of anything else in its row. */
int64_t timestamp_of(const gateway::Result &row)
{
	const gateway::Cell *document = find_cell(row, "");
	int64_t timestamp = 0;

	if (document)
		return document->timestamp;
	for (const gateway::Cell &cell : row.cells)
		timestamp = std::max(timestamp, cell.timestamp);
	return timestamp;
}

/** A row may be damaged only by having more than a document. */
bool parse_rest(const gateway::Result &row, Document &out)
{
	const gateway::Cell *document = find_cell(row, "");
	gateway::Result rest;

	if (!document)
		return false;
	rest.row = row.row;
	rest.cells.push_back(*document);
	return parse_document(rest, out);
}

} // namespace

void Checker::note_damaged(const gateway::Result &row)
{
	uint64_t id = row.row.size() == DOCUMENT_KEY_SIZE ? get_number(row.row, 2, 8)
							  : SIMIDX_NO_ID;

	if (id <= SIMIDX_MAX_ID && row.row == document_key(id))
		damaged_[id].row = row;
	else
		unknown_row(docs_, row, row.cells, "row that is none of a document");
}

/** Somebody may be about to store another version of it. */
bool Checker::is_at_work_on(uint64_t id, const Damaged &damaged) const
{
	bool young = pending_.count(id) || is_young(timestamp_of(damaged.row));

	for (const Row &row : damaged.rows)
		young = young || is_young(row.timestamp);
	return young;
}

/** False where the rows of the index are not those of one fingerprint, in all tables. */
bool Checker::find_fingerprint(const Damaged &damaged, Document &out)
{
	std::set<unsigned> tables;
	std::set<uint64_t> fps;

	for (const Row &row : damaged.rows) {
		if (get_number(row.key, 0, 4) != prefixes(row.fp)[row.table])
			return false;
		tables.insert(row.table);
		fps.insert(row.fp);
	}
	if (fps.size() != 1 || tables.size() != store_.n_tables())
		return false;
	out.fp = *fps.begin();
	out.flags = has_fp2_ ? SIMIDX_DOC_FP2_UNKNOWN : 0;
	return true;
}

/**
 * Put the document in the place of its row, or remove the row. Both have the timestamp of what is
 * there: the version that a writer is about to store is later and stays.
 */
void Checker::mend_damaged(const Damaged &damaged, const Document *document)
{
	const std::string &key = damaged.row.row;
	gateway::Durability::type durability = store_.config().full;
	std::vector<gateway::Delete> deletes;
	Deadline deadline = store_.writing();

	for (const gateway::Cell &cell : damaged.row.cells)
		if (!document || !cell.column.empty())
			deletes.push_back(remove(key, cell.column, cell.timestamp, durability));
	if (document)
		store_.put_rows(docs_, { put(key, "", document_value(*document),
					     timestamp_of(damaged.row), durability) }, deadline);
	store_.delete_rows(docs_, std::move(deletes), deadline);
}

/** After all rows were read. What is lost is told as a problem that could not be mended. */
void Checker::look_at_damaged()
{
	if (!damaged_.empty())
		look_for_writers();
	for (auto it = damaged_.begin(); it != damaged_.end();) {
		const Damaged &damaged = it->second;
		std::string text = "document " + std::to_string(it->first);
		bool mends = mend_ && !is_at_work_on(it->first, damaged);
		Document document;

		bool whole = parse_rest(damaged.row, document);
		if (!whole)
			document = Document();
		document.id = it->first;
		bool known = whole || find_fingerprint(damaged, document);
		if (mends)
			mend_damaged(damaged, known ? &document : nullptr);
		if (whole)
			text += ": its row has columns that are none of a document";
		else if (known)
			text += mends ? ": its row was damaged; made again from its other rows, "
					"without a label"
				      : ": its row is damaged; its other rows have the fingerprint";
		else
			text += mends ? ": its row was damaged; removed, as the fingerprint is lost"
				      : ": its row is damaged, and the fingerprint is lost";
		problem(docs_, text, mends && whole);
		max_id_ = std::max(max_id_, document.id + 1);
		if (mends && known && !document.deleted)
			count(document);
		it = mends ? damaged_.erase(it) : std::next(it);
	}
}

} // namespace simidx_hbase

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Comparing the tables with each other. Everything is read once: documents say which rows there
 * must be, and for each table and first byte of the prefix both sides are counted and summed up.
 * Only where sums differ, rows are compared one by one. Others may write meanwhile, so what looks
 * wrong is looked at again, and what is younger than a batch can take is left alone.
 */

#include "hb_check.hh"

#include <algorithm>
#include <cinttypes>
#include <cstdio>

namespace simidx_hbase {
namespace {

const int DOCUMENT_PAGE = 500, ROW_PAGE = 5000;
const size_t AT_ONCE = 4;   /* ranges */
const size_t GROUP = 500;   /* rows that are compared together */
const int64_t DAY_MS = 86400000;
const size_t LABEL_KEY_SIZE = 17;

bool is_label(const gateway::Result &row, const gateway::Cell &cell)
{
	return row.row.size() == LABEL_KEY_SIZE && cell.column.size() == 8;
}

} // namespace

std::string hex(const std::string &bytes)
{
	static const char digits[] = "0123456789abcdef";
	std::string text;

	for (unsigned char c : bytes) {
		text.push_back(digits[c >> 4]);
		text.push_back(digits[c & 15]);
	}
	return text;
}

/* ---------------------------------------------------------------------------------------------
 * Reading everything
 */

template <class F>
void Checker::each(const std::string &table,
		   std::vector<std::pair<std::string, std::string>> ranges, int limit, F f)
{
	while (!ranges.empty()) {
		std::vector<std::pair<std::string, std::string>> now, rest;
		size_t n = std::min(AT_ONCE, ranges.size());

		now.assign(ranges.end() - (long)n, ranges.end());
		ranges.resize(ranges.size() - n);
		auto found = store_.pages(table, now, limit, store_.reading());
		for (size_t i = 0; i < found.size(); i++) {
			for (const auto &row : found[i])
				f(row);
			if (found[i].size() == (size_t)limit)
				ranges.emplace_back(found[i].back().row + '\0', now[i].second);
		}
	}
}

template <class F> void Checker::each_document(F f)
{
	std::vector<std::pair<std::string, std::string>> ranges;

	for (unsigned s = 0; s < SALTS; s++) {
		std::string start(1, ROW_DOCUMENT);
		put_number(start, s, 1);
		ranges.emplace_back(start, above(start));
	}
	each(docs_, ranges, DOCUMENT_PAGE, f);
}

template <class F> void Checker::each_row(F f)
{
	std::vector<std::pair<std::string, std::string>> ranges;

	for (unsigned i = 0; i < 256; i++)
		ranges.emplace_back(std::string(i > 0, (char)i),
				    i < 255 ? std::string(1, (char)(i + 1)) : std::string());
	each(index_, ranges, ROW_PAGE, f);
}

template <class F> void Checker::each_label(F f)
{
	std::string start(1, ROW_LABEL), stop(1, ROW_LABEL + 1);

	each(docs_, { { start, stop } }, ROW_PAGE, f);
}

void Checker::read_documents()
{
	each_document([&](const gateway::Result &row) {
		Document document;

		if (!parse_document(row, document)) {
			note_damaged(row);
			return;
		}
		max_id_ = std::max(max_id_, document.id + 1);
		if (!document.deleted)
			count(document);
	});
}

/** A document that is there: the rows and the label that it must have. */
void Checker::count(const Document &document)
{
	auto prefix = prefixes(document.fp);

	check_->documents++;
	has_fp2_ = has_fp2_ || document.flags & (SIMIDX_DOC_FP2 | SIMIDX_DOC_FP2_UNKNOWN);
	for (unsigned t = 0; t < store_.n_tables(); t++)
		documents_[t * 256 + (prefix[t] >> 24)].add(
			index_key(t, prefix[t], document.fp, document.id));
	if (document.labelled) {
		std::string key = label_hash(document.label.data(), document.label.size());
		unsigned first = (unsigned char)key[0];

		n_labels_++;
		put_number(key, document.id, 8);
		document_labels_[first].add(key);
	}
	if (check_->documents % 10000 == 0)
		progress("documents", check_->documents, 0);
}

void Checker::read_rows()
{
	uint64_t total = check_->documents * store_.n_tables();

	each_row([&](const gateway::Result &row) {
		check_->rows++;
		if (check_->rows % 10000 == 0)
			progress("rows", check_->rows, total);
		unsigned t = row.row.size() == INDEX_KEY_SIZE ? (unsigned char)row.row[4] - 1u
							      : MAX_TABLES;
		if (t < store_.n_tables() && row.cells.size() == 1 && row.cells[0].column.empty()) {
			uint64_t id = get_number(row.row, 13, 8);
			auto damaged = damaged_.find(id);

			rows_[t * 256 + (unsigned char)row.row[0]].add(row.row);
			if (damaged != damaged_.end())
				damaged->second.rows.push_back({ row.row, t,
								 get_number(row.row, 5, 8), id,
								 row.cells[0].timestamp });
			return;
		}
		unknown_row(index_, row, row.cells, "row that is none of an index");
	});
}

void Checker::read_labels()
{
	each_label([&](const gateway::Result &row) {
		std::vector<gateway::Cell> others;

		for (const auto &cell : row.cells)
			if (is_label(row, cell))
				label_rows_[(unsigned char)row.row[1]].add(row.row.substr(1) +
									   cell.column);
			else
				others.push_back(cell);
		if (!others.empty())
			unknown_row(docs_, row, others, "label that has none of a document");
	});
}

/** Rows of the table of documents that are of no kind. */
void Checker::read_others()
{
	auto key = [](int first) { return std::string(1, (char)first); };
	std::string documents = key(ROW_DOCUMENT), documents_end = documents;

	put_number(documents, 0, 1);
	put_number(documents_end, SALTS, 1);
	each(docs_, { { "", key(ROW_COUNTER) }, { key(ROW_COUNTER) + '\0', documents },
		      { documents_end, key(ROW_LEASE) }, { key(ROW_LEASE + 1), key(ROW_LABEL) },
		      { key(ROW_LAYOUT) + '\0', key(ROW_WRITER) }, { key(ROW_TEXT + 1), "" } },
	     DOCUMENT_PAGE, [&](const gateway::Result &row) {
		unknown_row(docs_, row, row.cells, "row that is none of an index");
	});
}

/** Cells that nobody has stored in earnest. */
void Checker::unknown_row(const std::string &table, const gateway::Result &row,
			  const std::vector<gateway::Cell> &cells, const char *what)
{
	std::vector<gateway::Delete> deletes;

	for (const gateway::Cell &cell : cells)
		deletes.push_back(
			remove(row.row, cell.column, cell.timestamp, store_.config().full));
	if (mend_)
		store_.delete_rows(table, std::move(deletes), store_.writing());
	problem(table, std::string("a ") + what + ": key " + hex(row.row), mend_);
}

/* ---------------------------------------------------------------------------------------------
 * Comparing one by one
 */

/** Documents without one of their rows. */
void Checker::find_missing()
{
	std::vector<Document> group;

	each_document([&](const gateway::Result &row) {
		Document document;
		bool suspect = false;

		if (!parse_document(row, document) || document.deleted ||
		    pending_.count(document.id))
			return;
		auto prefix = prefixes(document.fp);
		for (unsigned t = 0; t < store_.n_tables(); t++) {
			size_t i = t * 256 + (prefix[t] >> 24);
			suspect = suspect || documents_[i] != rows_[i];
		}
		if (document.labelled) {
			auto first = (unsigned char)label_hash(document.label.data(),
							       document.label.size())[0];
			suspect = suspect || document_labels_[first] != label_rows_[first];
		}
		if (suspect)
			group.push_back(std::move(document));
		if (group.size() == GROUP)
			missing_of(group);
	});
	missing_of(group);
}

void Checker::missing_of(std::vector<Document> &group)
{
	std::vector<std::string> keys, label_keys;
	std::vector<uint64_t> ids;
	std::map<uint64_t, std::string> lacks;
	unsigned n_tables = store_.n_tables();

	for (const Document &document : group) {
		auto prefix = prefixes(document.fp);
		for (unsigned t = 0; t < n_tables; t++)
			keys.push_back(index_key(t, prefix[t], document.fp, document.id));
		label_keys.push_back(document.labelled ?
					     label_key(label_hash(document.label.data(),
								  document.label.size())) :
					     std::string(1, ROW_LABEL));
	}
	if (group.empty())
		return;
	auto rows = store_.get_rows(index_, keys, store_.reading());
	auto labels = store_.get_rows(docs_, label_keys, store_.reading());
	for (size_t i = 0; i < group.size(); i++) {
		std::string column;
		put_number(column, group[i].id, 8);
		for (unsigned t = 0; t < n_tables; t++)
			if (rows[i * n_tables + t].cells.empty())
				lacks[group[i].id] += " " + std::to_string(t + 1);
		if (group[i].labelled && !find_cell(labels[i], column))
			lacks[group[i].id] += " labels";
		if (lacks.count(group[i].id))
			ids.push_back(group[i].id);
	}
	/* A document that has changed since it was read has lost its old rows rightly. */
	for (const Document &now :
	     store_.get_documents(ids, store_.reading(), nullptr, false, true))
		for (const Document &then : group) {
			char text[200];
			if (then.id != now.id || then.timestamp != now.timestamp)
				continue;
			if (mend_)
				mend_document(now);
			snprintf(text, sizeof(text),
				 "document %" PRIu64 " has no row in these tables:%.100s", now.id,
				 lacks[now.id].c_str());
			problem(index_, text, mend_);
		}
	group.clear();
}

/**
 * Store rows of a document, above whatever has hidden them. Its own row stays as it is: a writer
 * may be about to replace it. Then what was put here is a stray, which nobody finds.
 */
void Checker::mend_document(const Document &document)
{
	auto prefix = prefixes(document.fp);
	std::vector<gateway::Put> puts, labels;
	Deadline deadline = store_.writing();

	store_.saw_timestamp(document.timestamp);
	int64_t ts = store_.timestamp();
	for (unsigned t = 0; t < store_.n_tables(); t++)
		puts.push_back(put(index_key(t, prefix[t], document.fp, document.id), "", "", ts,
				   store_.config().full));
	store_.put_rows(index_, std::move(puts), deadline);
	if (document.labelled) {
		std::string column;
		put_number(column, document.id, 8);
		labels.push_back(
			put(label_key(label_hash(document.label.data(), document.label.size())),
			    column, "1", ts, store_.config().full));
		store_.put_rows(docs_, std::move(labels), deadline);
	}
}

/** Rows of documents that are not there, or have another fingerprint. */
void Checker::find_strays()
{
	std::vector<Row> group;

	each_row([&](const gateway::Result &row) {
		if (row.row.size() != INDEX_KEY_SIZE || row.cells.size() != 1)
			return;
		unsigned t = (unsigned char)row.row[4] - 1u;
		size_t i = t * 256 + (unsigned char)row.row[0];
		if (t >= store_.n_tables() || !(documents_[i] != rows_[i]))
			return;
		group.push_back({ row.row, t, get_number(row.row, 5, 8), get_number(row.row, 13, 8),
				  row.cells[0].timestamp });
		if (group.size() == GROUP)
			strays_of(group);
	});
	strays_of(group);
	label_strays();
}

void Checker::strays_of(std::vector<Row> &group)
{
	std::map<uint64_t, Document> documents;
	std::vector<uint64_t> ids;

	if (group.empty())
		return;
	for (const Row &row : group)
		ids.push_back(row.id);
	std::sort(ids.begin(), ids.end());
	ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
	for (auto &document : store_.get_documents(ids, store_.reading(), nullptr, true, true))
		documents[document.id] = document;
	look_for_writers();
	for (const Row &row : group) {
		auto found = documents.find(row.id);
		bool there = found != documents.end() && !found->second.deleted;
		char text[200];

		if (there && found->second.fp == row.fp &&
		    get_number(row.key, 0, 4) == prefixes(row.fp)[row.table])
			continue;
		if (pending_.count(row.id) || damaged_.count(row.id) || is_young(row.timestamp) ||
		    (found != documents.end() && is_young(found->second.timestamp)))
			continue;
		if (mend_)
			store_.delete_rows(
				index_,
				{ remove(row.key, "", row.timestamp, store_.config().full) },
				store_.writing());
		snprintf(text, sizeof(text),
			 "table %u has a row of document %" PRIu64 " with fingerprint %016" PRIx64
			 ", %s",
			 row.table + 1, row.id, row.fp,
			 there ? "which has another one" : "which does not exist");
		problem(index_, text, mend_);
	}
	group.clear();
}

void Checker::label_strays()
{
	std::vector<std::pair<std::string, gateway::Cell>> group;
	auto flush = [&] {
		std::vector<uint64_t> ids;
		std::map<uint64_t, std::string> holders;

		for (const auto &one : group)
			ids.push_back(get_number(one.second.column, 0, 8));
		for (const Document &document :
		     store_.get_documents(ids, store_.reading(), nullptr, true, true))
			if (!document.deleted && document.labelled)
				holders[document.id] = label_key(label_hash(document.label.data(),
									    document.label.size()));
		look_for_writers();
		for (const auto &one : group) {
			uint64_t id = get_number(one.second.column, 0, 8);
			if (holders[id] == one.first || pending_.count(id) || damaged_.count(id) ||
			    is_young(one.second.timestamp))
				continue;
			if (mend_)
				store_.delete_rows(docs_, { remove(one.first, one.second.column,
								   one.second.timestamp,
								   store_.config().full) },
						   store_.writing());
			problem(docs_, "a label points to document " + std::to_string(id) +
				       ", which does not have it", mend_);
		}
		group.clear();
	};

	each_label([&](const gateway::Result &row) {
		for (const auto &cell : row.cells)
			if (is_label(row, cell) && document_labels_[(unsigned char)row.row[1]] !=
							   label_rows_[(unsigned char)row.row[1]])
				group.emplace_back(row.row, cell);
		if (group.size() >= GROUP)
			flush();
	});
	if (!group.empty())
		flush();
}

/** Remove what has served its time: rows of documents that were deleted, and leases, a day ago. */
void Checker::forget()
{
	int64_t limit = store_.now() - DAY_MS;
	std::vector<gateway::Delete> deletes;
	std::string start(1, ROW_LEASE), stop(1, ROW_LEASE + 1);
	auto flush = [&](size_t at_least) {
		if (deletes.size() < at_least)
			return;
		store_.delete_rows(docs_, std::move(deletes), store_.writing());
		deletes.clear();
	};

	each_document([&](const gateway::Result &row) {
		Document document;

		if (!parse_document(row, document) || !document.deleted ||
		    document.timestamp >= limit)
			return;
		deletes.push_back(remove(row.row, "", document.timestamp, store_.config().full));
		flush(GROUP);
	});
	each(docs_, { { start, stop } }, ROW_PAGE, [&](const gateway::Result &row) {
		for (const auto &cell : row.cells)
			if (cell.timestamp < limit - store_.config().lease_s * 1000)
				deletes.push_back(remove(row.row, cell.column, cell.timestamp,
							 store_.config().full));
		flush(GROUP);
	});
	flush(1);
}

void Store::check(simidx_engine_check *check)
{
	if (read_only_ && (check->flags & SIMIDX_ENGINE_MEND))
		fail(SIMIDX_E_READ_ONLY, "%s: opened read-only", config_.index_table().c_str());
	durability_ = config_.full;
	Checker(*this, check).run();
}

} // namespace simidx_hbase

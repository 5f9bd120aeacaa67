/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Scans of prefixes, look-ups and walks. */

#include "hb_store.hh"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace simidx_hbase {
namespace {

/* The first page of a probe is as large as most need. Those that follow grow, to be fewer. */
const int PAGE = 4096, LAST_PAGE = 60000;
/*
 * A request of a scan has about 120 bytes: this many of them fit into the buffers of a connection.
 */
const unsigned SCAN_WINDOW = 64;

/* Of a gateway beside HBase in one network, in microseconds: bench/bn_hbase. */
const double ROUND_TRIP = 700, PROBE = 80, ROW = 1.5, SCAN_ROW = 4;
const unsigned TEXT_PROBES = 16;

/** One probe, page by page. Its rows are handed over as they come. */
class ProbeRequest : public Request {
public:
	ProbeRequest(const std::string &table, const simidx_engine_probe &probe, size_t number,
		     simidx_engine_rows rows, void *ctx, bool *stop)
		: table_(table), prefix_(index_prefix(probe.table, probe.prefix)), number_(number),
		  rows_(rows), ctx_(ctx), stop_(stop)
	{
		scan_.__set_start(prefix_);
		scan_.__set_stop(above(prefix_));
		scan_.__set_read_type(gateway::ReadType::PREAD);
		set_page(PAGE);
	}

	void send(gateway::GatewayClient &client) override
	{
		client.send_getScannerResults(table_, scan_, page_);
	}

	void receive(gateway::GatewayClient &client) override
	{
		std::vector<gateway::Result> results;
		std::vector<uint64_t> fp, id;
		enum simidx_engine_next next = SIMIDX_ENGINE_ON;

		client.recv_getScannerResults(results);
		for (const auto &result : results) {
			if (result.row.compare(0, prefix_.size(), prefix_) != 0)
				fail(SIMIDX_E_IO,
				     "the gateway has answered a row that was not asked for");
			if (result.row.size() != INDEX_KEY_SIZE)
				continue; /* check() tells of it */
			fp.push_back(get_number(result.row, 5, 8));
			id.push_back(get_number(result.row, 13, 8));
		}
		if (!fp.empty())
			next = rows_(ctx_, number_, fp.data(), id.data(), fp.size());
		if (next == SIMIDX_ENGINE_END)
			*stop_ = true;
		if (next != SIMIDX_ENGINE_ON || results.size() < (size_t)page_) {
			done = true;
			return;
		}
		scan_.__set_start(results.back().row + '\0');
		set_page(std::min(4 * page_, LAST_PAGE));
	}

private:
	void set_page(int page)
	{
		page_ = page;
		scan_.__set_caching(page);
		scan_.__set_limit(page);
	}

	const std::string &table_;
	std::string prefix_;
	size_t number_;
	simidx_engine_rows rows_;
	void *ctx_;
	bool *stop_;
	int page_ = 0;
	gateway::Scan scan_;
};

/** Hand a document over. */
enum simidx_engine_next deliver_one(const Document &document, size_t i,
				    simidx_engine_document deliver, void *ctx)
{
	simidx_match match;

	memset(&match, 0, sizeof(match));
	match.id = document.id;
	match.fp = document.fp;
	if (document.flags & SIMIDX_DOC_FP2) {
		match.fp2 = document.fp2;
		match.flags |= SIMIDX_MATCH_FP2;
	}
	if (document.labelled) {
		match.label = document.label.data();
		match.label_size = document.label.size();
		match.flags |= SIMIDX_MATCH_LABEL;
	}
	return deliver(ctx, i, &match);
}

[[noreturn]] void fail_damaged(const Config &config, const gateway::Result &row)
{
	uint64_t id = row.row.size() == 10 ? get_number(row.row, 2, 8) : SIMIDX_NO_ID;

	fail(SIMIDX_E_CORRUPT, "%s: the row of document %llu is "
			       "damaged", config.index_table().c_str(),
	     (unsigned long long)id);
}

} // namespace

void Store::info(simidx_engine_info *out)
{
	simidx_engine_info made;
	int64_t documents = 0, labels = 0;
	uint64_t next_id = 0;

	/* Batches that are under way do not count yet: searches need not find their documents. */
	for (const WriterRow &row : writer_rows({ COLUMN_COUNTS }, reading(), &next_id)) {
		documents += row.documents;
		labels += row.labels;
	}
	memset(&made, 0, sizeof(made));
	made.size = out->size;
	made.capabilities = SIMIDX_ENGINE_LEASES;
	made.text_probes = TEXT_PROBES;
	made.description = description_.data();
	made.description_size = description_.size();
	made.documents = documents > 0 ? (uint64_t)documents : 0;
	made.labels = labels > 0 ? (uint64_t)labels : 0;
	made.next_id = next_id;
	made.round_trip = ROUND_TRIP;
	made.probe = PROBE;
	made.row = ROW;
	made.scan_row = SCAN_ROW;
	memcpy(out, &made, std::min(out->size, sizeof(made)));
}

void Store::scan(const simidx_engine_probe *probe, size_t n, simidx_engine_rows rows, void *ctx,
		 simidx_engine_cost *cost)
{
	std::string table = config_.index_table();
	std::vector<ProbeRequest> requests;
	std::vector<Request *> list;
	bool stop = false;

	finish_left_once();
	requests.reserve(n);
	for (size_t i = 0; i < n; i++) {
		if (probe[i].table >= n_tables_)
			fail(SIMIDX_E_ARG, "table %u of %u", probe[i].table, n_tables_);
		requests.emplace_back(table, probe[i], i, rows, ctx, &stop);
		list.push_back(&requests.back());
	}
	if (n > 0)
		pool_.run(list, SCAN_WINDOW, reading(), cost, &stop);
}

std::vector<Document> Store::get_documents(const std::vector<uint64_t> &ids,
					   const Deadline &deadline, simidx_engine_cost *cost,
					   bool deleted_too, bool pass_damaged)
{
	std::vector<std::string> keys;
	std::vector<Document> found;

	if (ids.empty())
		return found;
	for (uint64_t id : ids)
		keys.push_back(document_key(id));
	for (const auto &row : get_rows(config_.docs_table(), keys, deadline, cost)) {
		Document document;

		if (row.cells.empty())
			continue;
		bool sound = parse_document(row, document);
		if (!sound && pass_damaged)
			continue;
		if (!sound)
			fail_damaged(config_, row);
		if (deleted_too || !document.deleted)
			found.push_back(std::move(document));
	}
	return found;
}

int Store::find_ids(const uint64_t *id, size_t n, simidx_engine_document deliver, void *ctx,
		    simidx_engine_cost *cost)
{
	std::map<uint64_t, std::vector<size_t>> asked;
	std::vector<uint64_t> ids;

	finish_left_once();
	for (size_t i = 0; i < n; i++) {
		auto &list = asked[id[i]];
		if (list.empty())
			ids.push_back(id[i]);
		list.push_back(i);
	}
	for (const Document &document : get_documents(ids, reading(), cost, false))
		for (size_t i : asked[document.id])
			if (deliver_one(document, i, deliver, ctx) != SIMIDX_ENGINE_ON)
				fail(SIMIDX_E_STOPPED, "stopped by the caller");
	return SIMIDX_OK;
}

int Store::find_labels(const simidx_engine_bytes *label, size_t n, simidx_engine_document deliver,
		       void *ctx, simidx_engine_cost *cost)
{
	std::vector<std::string> keys;
	std::vector<uint64_t> ids;
	std::vector<std::vector<uint64_t>> holders(n);
	std::map<uint64_t, Document> documents;

	if (n == 0)
		return SIMIDX_OK;
	finish_left_once();
	Deadline deadline = reading();
	for (size_t i = 0; i < n; i++)
		keys.push_back(label_key(label_hash((const char *)label[i].data, label[i].size)));
	auto rows = get_rows(config_.docs_table(), keys, deadline, cost);
	for (size_t i = 0; i < n; i++)
		for (const auto &cell : rows[i].cells)
			if (cell.column.size() == 8) {
				holders[i].push_back(get_number(cell.column, 0, 8));
				ids.push_back(holders[i].back());
			}
	std::sort(ids.begin(), ids.end());
	ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
	for (auto &document : get_documents(ids, deadline, cost, false)) {
		uint64_t key = document.id;
		documents[key] = std::move(document);
	}
	/* Columns come in their order, which is that of the ids. */
	for (size_t i = 0; i < n; i++)
		for (uint64_t id : holders[i]) {
			auto found = documents.find(id);
			if (found == documents.end() || !found->second.labelled ||
			    found->second.label.size() != label[i].size ||
			    memcmp(found->second.label.data(), label[i].data, label[i].size) != 0)
				continue;
			if (deliver_one(found->second, i, deliver, ctx) != SIMIDX_ENGINE_ON)
				fail(SIMIDX_E_STOPPED, "stopped by the caller");
			break;
		}
	return SIMIDX_OK;
}

/**
 * Documents lie in SALTS ranges, each ordered by id. A page of each is read; as far as the pages of
 * all of them reach, the order of ids is known.
 */
int Store::walk(uint64_t from, size_t n_max, simidx_engine_document deliver, void *ctx)
{
	finish_left_once();
	Deadline deadline = reading();
	size_t delivered = 0;

	while (delivered < n_max) {
		std::vector<std::pair<std::string, std::string>> ranges;
		std::vector<Document> documents;
		uint64_t reach = UINT64_MAX;
		size_t left = n_max - delivered;
		int limit = (int)std::min<size_t>(left / SALTS + left / SALTS / 4 + 2, 1000);

		for (unsigned s = 0; s < SALTS; s++) {
			std::string start(1, ROW_DOCUMENT);
			put_number(start, s, 1);
			std::string stop = above(start);
			put_number(start, from, 8);
			ranges.emplace_back(start, stop);
		}
		for (const auto &rows : pages(config_.docs_table(), ranges, limit, deadline)) {
			for (const auto &row : rows) {
				documents.emplace_back();
				if (!parse_document(row, documents.back()))
					fail_damaged(config_, row);
			}
			if (rows.size() == (size_t)limit)
				reach = std::min(reach, documents.back().id);
		}
		std::sort(documents.begin(), documents.end(),
			  [](const Document &a, const Document &b) { return a.id < b.id; });
		for (const Document &document : documents) {
			if (document.id > reach || delivered == n_max)
				break;
			if (document.deleted)
				continue;
			delivered++;
			if (deliver_one(document, 0, deliver, ctx) != SIMIDX_ENGINE_ON)
				fail(SIMIDX_E_STOPPED, "stopped by the caller");
		}
		if (reach == UINT64_MAX)
			break;
		from = reach + 1;
	}
	return SIMIDX_OK;
}

/**
 * A batch whose journal is there is going to be stored, so its mark counts. Journals are read
 * first: one that is finished meanwhile has left its mark in the row.
 */
void Store::get_mark(void **data, size_t *size)
{
	Deadline deadline = reading();
	std::string mark;
	int64_t last = -1;

	*data = nullptr;
	*size = 0;
	for (const WriterRow &row : writer_rows({ COLUMN_JOURNAL }, deadline)) {
		Batch batch;
		size_t pieces = 0;

		if (row.journal.empty() || !read_journal(row, batch, pieces, deadline))
			continue;
		if (batch.has_mark && batch.timestamp > last) {
			mark = batch.mark;
			last = batch.timestamp;
		}
	}
	for (const WriterRow &row : writer_rows({ COLUMN_MARK }, deadline))
		if (row.mark_timestamp > last) {
			mark = row.mark;
			last = row.mark_timestamp;
		}
	if (mark.empty())
		return;
	*data = malloc(mark.size());
	if (!*data)
		throw std::bad_alloc();
	memcpy(*data, mark.data(), mark.size());
	*size = mark.size();
}

} // namespace simidx_hbase

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Comparing the tables with each other: what the files of hb_check share. */

#ifndef HB_CHECK_HH
#define HB_CHECK_HH

#include <set>

#include "hb_store.hh"

namespace simidx_hbase {

/** A count and a sum that do not depend on the order. */
struct Sum {
	uint64_t n = 0, hashes = 0;
	void add(const std::string &bytes)
	{
		n++;
		hashes += checksum(bytes);
	}
	bool operator!=(const Sum &other) const { return n != other.n || hashes != other.hashes; }
};

/** A row of the index. */
struct Row {
	std::string key;
	unsigned table;
	uint64_t fp, id;
	int64_t timestamp;
};

/** A document whose row cannot be read. */
struct Damaged {
	gateway::Result row;
	std::vector<Row> rows; /**< of the index, with its id */
};

/** For messages. */
std::string hex(const std::string &bytes);

class Checker {
public:
	Checker(Store &store, simidx_engine_check *check)
		: store_(store), check_(check), mend_(check->flags & SIMIDX_ENGINE_MEND),
		  index_(store.config().index_table()), docs_(store.config().docs_table()),
		  documents_(store.n_tables() * 256), rows_(store.n_tables() * 256),
		  document_labels_(256), label_rows_(256)
	{
	}

	void run()
	{
		check_->rows = check_->documents = check_->problems = check_->mended = 0;
		begin_ = store_.timestamp();
		journals();
		read_documents();
		read_rows();
		look_at_damaged();
		read_labels();
		read_others();
		for (size_t i = 0; i < documents_.size(); i++)
			differ_ = differ_ || documents_[i] != rows_[i];
		for (size_t i = 0; i < 256; i++)
			differ_ = differ_ || document_labels_[i] != label_rows_[i];
		if (differ_) {
			find_missing();
			find_strays();
		}
		counts();
		if (mend_)
			forget();
	}

private:
	void problem(const std::string &table, const std::string &text, bool mended)
	{
		simidx_problem one = { table.c_str(), text.c_str() };

		check_->problems++;
		check_->mended += mended;
		if (check_->problem)
			check_->problem(check_->ctx, &one);
	}
	void progress(const char *phase, uint64_t done, uint64_t total)
	{
		if (check_->progress)
			check_->progress(check_->ctx, phase, done, total);
	}
	std::vector<uint32_t> prefixes(uint64_t fp)
	{
		std::vector<uint32_t> prefix(store_.n_tables());

		check_->prefixes(check_->ctx, fp, prefix.data());
		return prefix;
	}
	/**
	 * What was read before look_for_writers() may be of a batch that is under way. Where nobody
	 * has been at work there is none, whatever the clock said that the timestamp is from.
	 */
	bool is_young(int64_t timestamp) const
	{
		int64_t batch = (int64_t)store_.config().write_ms + store_.config().lease_s * 1000;
		return live_ && timestamp >= begin_ - batch;
	}

	template <class F>
	void each(const std::string &table, std::vector<std::pair<std::string, std::string>> ranges,
		  int limit, F f);
	template <class F> void each_document(F f);
	template <class F> void each_row(F f);
	template <class F> void each_label(F f);

	void journals();
	bool has_changed(const WriterRow &then, const Deadline &deadline);
	static std::string state(const WriterRow &row);
	std::vector<WriterRow> look_for_writers(uint64_t *next_id = nullptr);
	void read_documents();
	void count(const Document &document);
	void read_rows();
	void read_labels();
	void read_others();
	void unknown_row(const std::string &table, const gateway::Result &row,
			 const std::vector<gateway::Cell> &cells, const char *what);
	void note_damaged(const gateway::Result &row);
	void look_at_damaged();
	bool is_at_work_on(uint64_t id, const Damaged &damaged) const;
	bool find_fingerprint(const Damaged &damaged, Document &out);
	void mend_damaged(const Damaged &damaged, const Document *document);

	void find_missing();
	void missing_of(std::vector<Document> &group);
	void mend_document(const Document &document);
	void find_strays();
	void strays_of(std::vector<Row> &group);
	void label_strays();
	void counts();
	void forget();

	Store &store_;
	const std::vector<std::string> columns_ = { COLUMN_COUNTS, COLUMN_JOURNAL, COLUMN_OWNER };
	simidx_engine_check *check_;
	bool mend_;
	std::string index_, docs_;
	bool live_ = false;   /**< other writers are at work */
	std::set<uint64_t> pending_; /**< documents of batches that are not finished */
	std::map<uint64_t, Damaged> damaged_; /**< by id; without those that were mended */
	bool has_fp2_ = false;       /**< documents have second fingerprints */
	std::map<unsigned, std::string> seen_; /**< what writers' rows said at the beginning */
	bool differ_ = false;
	int64_t begin_ = 0;
	std::vector<Sum> documents_, rows_, document_labels_, label_rows_;
	uint64_t n_labels_ = 0, max_id_ = 0;
};

} // namespace simidx_hbase

#endif /* HB_CHECK_HH */

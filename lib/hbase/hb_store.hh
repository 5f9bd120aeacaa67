/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* An open index: what its functions share, and what each of them does. */

#ifndef HB_STORE_HH
#define HB_STORE_HH

#include <simidx_engine.h>

#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "hb_pool.hh"
#include "hb_rows.hh"
#include "hb_uri.hh"

namespace simidx_hbase {

/** By so much, in milliseconds, clocks may differ beside the longest lease. */
const int64_t CLOCKS_MS = 60000;

/**
 * Whether a time has passed that somebody has set, in milliseconds since 1970. One beyond the
 * longest lease was set by a clock that was wrong. It counts as passed, too, as nobody could wait
 * for it.
 */
inline bool has_passed(int64_t until, int64_t now)
{
	return until < now || until > now + LONGEST_LEASE_S * 1000 + CLOCKS_MS;
}

/** A lease on the prefix of a table. */
struct Lease {
	std::string key;
	std::string value; /**< of the cell */
	int64_t until = 0; /**< in milliseconds since 1970 */
};

/**
 * The row of a writer. A writer is whoever has its number; it has one batch under way at most,
 * whose journal is in the row. Numbers of writers that have ended are taken again, and with them
 * the counts.
 */
struct Writer {
	bool mine = false;
	bool has_marks = false;  /**< its row says that it stores marks */
	bool unfinished = false; /**< the journal may be there, or is: finish it first */
	int64_t begun = 0;       /**< timestamp of the batch that was stored last, or may be
	                              stored */
	unsigned number = 0;
	std::string owner;       /**< value of the cell of the owner */
	int64_t until = 0;
	int64_t documents = 0, labels = 0;
};

/** What a writer's row says. */
struct WriterRow {
	unsigned number = 0;
	std::string owner;
	int64_t owner_timestamp = 0;
	int64_t documents = 0, labels = 0;
	int64_t counts_timestamp = 0;
	std::string journal;     /**< the journal's own cell; empty: no batch is under way */
	int64_t journal_timestamp = 0;
	int64_t last_timestamp = 0; /**< of any cell that was read */
	std::string mark;
	int64_t mark_timestamp = -1;
	std::string marks;       /**< token of the writer that stores marks */

	/** Nobody has the number any more. */
	bool is_free(int64_t now) const;
	/**
	 * The same for one who only reads, whose clock may be another one than those of writers.
	 */
	bool is_left(int64_t now) const;
	/**
	 * The one that has the number, or had it last, stores marks, and what it has sent may still
	 * arrive.
	 */
	bool is_marking() const;
};

/** What is done with batches that are under way, before a number is had. */
enum class Finish {
	ENDED,         /**< those of writers that have ended are finished, as their numbers are
	                    free */
	ALL,           /**< those of others, too, so that look-ups find them */
	SHUT_OUT_MARKS /**< moreover, this one goes on after the mark, and no other one that has
	                    begun before */
};

class Checker;

class Store {
public:
	Store(const char *uri, const simidx_engine_open *how);
	~Store() = default;

	/* hb_open.cc */
	void open(const simidx_engine_open *how);

	/* hb_read.cc */
	void info(simidx_engine_info *out);
	void scan(const simidx_engine_probe *probe, size_t n, simidx_engine_rows rows, void *ctx,
		  simidx_engine_cost *cost);
	int find_ids(const uint64_t *id, size_t n, simidx_engine_document deliver, void *ctx,
		     simidx_engine_cost *cost);
	int find_labels(const simidx_engine_bytes *label, size_t n, simidx_engine_document deliver,
			void *ctx, simidx_engine_cost *cost);
	int walk(uint64_t from, size_t n_max, simidx_engine_document deliver, void *ctx);
	void get_mark(void **data, size_t *size);

	/* hb_write.cc */
	/** `resumes`: and take the place of others that set marks. */
	void begin(bool resumes);
	int write(const simidx_engine_batch *batch);
	/** `repairs`: also where there are documents, but no next id. */
	uint64_t reserve_ids(uint64_t n, uint64_t at_least, bool repairs = false);

	/* hb_writer.cc */
	void end_writing() noexcept;

	/* hb_check.cc */
	void check(simidx_engine_check *check);

	/* hb_lease.cc */
	int lease(const simidx_engine_probe *prefix, size_t n, int wait_ms);
	int release_leases();

	/**
	 * What changes something is done by one at a time: a writer of this handle, a check, or a
	 * look-up that finishes what others have left. The last one does not wait, and has no turn
	 * if another one has it.
	 */
	class Turn {
	public:
		explicit Turn(Store &store, bool waits = true);
		~Turn();
		Turn(const Turn &) = delete;
		Turn &operator=(const Turn &) = delete;
		explicit operator bool() const { return mine_; }

	private:
		Store &store_;
		bool mine_;
	};

	/** Give up without a word to the gateways. */
	bool forked() const { return pool_.forked(); }

	/* What the parts share: hb_store.cc. */
	const Config &config() const { return config_; }
	Pool &pool() { return pool_; }
	unsigned n_tables() const { return n_tables_; }
	Deadline reading() const { return Deadline(config_.read_ms); }
	Deadline writing() const { return Deadline(config_.write_ms); }

	std::vector<gateway::Result> get_rows(const std::string &table,
					      const std::vector<std::string> &keys,
					      const Deadline &deadline,
					      simidx_engine_cost *cost = nullptr,
					      const std::string &column = std::string());
	/** Store rows, each with the durability that it names. */
	void put_rows(const std::string &table, std::vector<gateway::Put> rows,
		      const Deadline &deadline);
	/** The same for rows of both tables at once, in no order. */
	void put_rows(std::vector<gateway::Put> index, std::vector<gateway::Put> docs,
		      const Deadline &deadline);
	void delete_rows(const std::string &table, std::vector<gateway::Delete> rows,
			 const Deadline &deadline);
	void delete_rows(std::vector<gateway::Delete> index, std::vector<gateway::Delete> docs,
			 const Deadline &deadline);
	/** A page of rows from `start` on, below `stop`. */
	std::vector<gateway::Result> page(const std::string &table, const std::string &start,
					  const std::string &stop, int limit,
					  const Deadline &deadline);
	/** Several pages at once. Of the first range, only these columns, if there are any. */
	std::vector<std::vector<gateway::Result>>
	pages(const std::string &table,
	      const std::vector<std::pair<std::string, std::string>> &ranges, int limit,
	      const Deadline &deadline, const std::vector<std::string> &columns = {});
	/**
	 * Put a cell if the cell has `old` (empty: is not there). When the answer is lost, the row
	 * tells: `value` must differ from what anybody else would store.
	 */
	bool put_if(const std::string &row, const std::string &column, const std::string &old,
		    const std::string &value, int64_t timestamp, const Deadline &deadline);

	std::vector<Document> get_documents(const std::vector<uint64_t> &ids,
					    const Deadline &deadline, simidx_engine_cost *cost,
					    bool deleted_too, bool pass_damaged = false);
	/**
	 * hb_writer.cc: these columns of the rows of all writers. SIMIDX_E_MOVED if it is another
	 * index now.
	 */
	std::vector<WriterRow> writer_rows(const std::vector<std::string> &columns,
					   const Deadline &deadline, uint64_t *next_id = nullptr);
	/**
	 * Who has gone on after the mark last (Finish::SHUT_OUT_MARKS): differs each time. Empty:
	 * nobody has.
	 */
	std::string resumed(const Deadline &deadline);
	/** Read the journal of a writer, piece by piece. False where it is damaged. */
	bool read_journal(const WriterRow &row, Batch &batch, size_t &pieces,
			  const Deadline &deadline);
	/** Write what is left to do of the journal of a row that was claimed, and remove it. */
	void finish_journal(const WriterRow &row, const Deadline &deadline);
	void finish_batch(unsigned writer, const Batch &batch, size_t pieces,
			  const Deadline &deadline, bool replay);

	static int64_t now();
	/** A timestamp above all that this handle has used and seen. */
	int64_t timestamp();
	void saw_timestamp(int64_t timestamp);
	/** 16 bytes that nobody else has. */
	const std::string &token() const { return token_; }

private:
	friend class Checker;

	void read_layout(const Deadline &deadline, bool creating);
	WriterRow read_writer(unsigned writer, const Deadline &deadline);
	bool has_number(const WriterRow &row) const;
	bool can_have(const WriterRow &row) const;
	void forget_pieces(unsigned writer, const Deadline &deadline);
	bool claim_writer(WriterRow &row, const Deadline &deadline);
	void free_writer(WriterRow &row, const Deadline &deadline);
	void free_number(unsigned number, const std::string &owner, int ms) noexcept;
	bool take_number(WriterRow &row, const Deadline &deadline);
	bool finish_batches(std::vector<WriterRow> &rows, Finish which, const Deadline &deadline);
	void finish_left_once() noexcept;
	void finish_left();
	void become_writer(const Deadline &deadline, Finish which = Finish::ENDED);
	void go_on_after_mark(const Deadline &deadline);
	void announce_marks(int64_t timestamp, const Deadline &deadline);
	void put_as_owner(const gateway::Put &put, const Deadline &deadline);
	void store_batch(const Batch &batch, const Deadline &deadline);

	bool has_ended(const Lease &lease, const Deadline &deadline);
	std::vector<bool> exchange(const std::vector<Lease> &leases,
				   const std::vector<std::string> &from,
				   const std::vector<std::string> &to, const Deadline &deadline);
	std::vector<bool> try_leases(std::vector<Lease> &leases, const Deadline &deadline);
	void note_lease(const Lease &lease);
	void renew_leases(const Deadline &deadline);
	void free_leases(const std::vector<Lease> &leases);
	void give_back(const std::vector<std::string> &keys);
	void give_back_kept();

	Config config_;
	Pool pool_;
	std::string token_;
	unsigned n_tables_ = 0;
	bool read_only_ = false;
	std::string layout_;      /**< value of the cell of the layout: which index this is */
	std::string description_;
	int64_t last_timestamp_ = 0;
	Writer writer_;
	/**
	 * A number that was claimed, and neither had nor given back since as a request has failed.
	 */
	unsigned claimed_number_ = 0;
	std::string claimed_owner_; /**< empty: there is none */
	std::mutex turn_mutex_;
	std::condition_variable turn_ended_;
	bool turn_ = false;       /**< somebody has it */
	std::mutex left_mutex_;   /**< of finish_left_once() */
	std::atomic<bool> has_finished_left_{ false };
	bool is_ready_ = false;   /**< batches of others that were under way at the beginning are
	                               finished */
	std::string resumed_;     /**< what resumed() has said at the beginning, or when this one
	                               went on */
	gateway::Durability::type durability_ = gateway::Durability::SYNC;
	std::map<std::string, Lease> leases_; /**< by their keys */
	/**
	 * To be given back later: of transactions whose batch is not finished, as nobody is to have
	 * them before it is; and those of which a request has failed.
	 */
	std::vector<Lease> kept_leases_;
	int64_t renew_at_ = 0; /**< when the first of them has half of its time left */
	/** Ids that this handle was given and nobody has stored yet: begin, end. */
	std::map<uint64_t, uint64_t> own_ids_;
};

} // namespace simidx_hbase

#endif /* HB_STORE_HH */

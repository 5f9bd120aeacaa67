/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Storing a batch. HBase changes one row at a time; doc/hbase-design.md says how a batch becomes
 * whole all the same, and why each step may be done twice.
 */

#include "hb_store.hh"

#include <algorithm>
#include <cstring>
#include <set>

namespace simidx_hbase {
namespace {

const size_t PIECE = 512 << 10; /* of a journal */
const size_t MAX_PIECES = 256;  /* so 128 MiB are the most that a batch may have */
const char COLUMN_LAYOUT[] = "v";

std::string piece_column(size_t i)
{
	std::string column(1, COLUMN_PIECE);

	put_number(column, i, 2);
	return column;
}

std::string counts_value(int64_t documents, int64_t labels)
{
	std::string value;

	put_number(value, (uint64_t)documents, 8);
	put_number(value, (uint64_t)labels, 8);
	return value;
}

/**
 * The journal's own cell: it is complete if its pieces are these. Counts are here, as all who ask
 * for them read this cell, and not the pieces.
 */
std::string journal_value(const Batch &batch, const std::string &bytes)
{
	std::string value = counts_value(batch.documents, batch.labels);

	put_number(value, bytes.size(), 8);
	put_number(value, checksum(bytes), 8);
	return value;
}

} // namespace

/**
 * Pieces of a journal that was not written to its end mean nothing, but their timestamp may be
 * above those of the next journal, and hide it.
 */
void Store::forget_pieces(unsigned writer, const Deadline &deadline)
{
	auto rows = get_rows(config_.docs_table(), { writer_key(writer) }, deadline, nullptr,
			     piece_column(0));
	const gateway::Cell *first = find_cell(rows[0], piece_column(0));

	if (!first)
		return;
	saw_timestamp(first->timestamp);
	gateway::Delete all = remove(writer_key(writer), piece_column(0), first->timestamp,
				     durability_);
	for (size_t i = 1; i < MAX_PIECES; i++)
		all.columns.push_back(
			remove("", piece_column(i), first->timestamp, durability_).columns[0]);
	delete_rows(config_.docs_table(), { all }, deadline);
}

/** What has to be done after the journal. `replay`: somebody may have gone on meanwhile. */
void Store::finish_batch(unsigned writer, const Batch &batch, size_t pieces,
			 const Deadline &deadline, bool replay)
{
	std::vector<gateway::Put> index_puts, label_puts, document_puts;
	std::vector<gateway::Delete> index_deletes, label_deletes;
	std::set<uint64_t> passed;
	int64_t ts = batch.timestamp;

	if (replay) {
		/* A later version of a document stays. The rows of this one are not made, or
		   unmade. What is damaged is overwritten if it is older, and otherwise left to
		   repair. */
		std::vector<uint64_t> ids;
		for (const Change &change : batch.changes)
			ids.push_back(change.after.id);
		for (const Document &document : get_documents(ids, deadline, nullptr, true, true))
			if (document.timestamp > ts)
				passed.insert(document.id);
	}
	for (const Change &change : batch.changes) {
		uint64_t id = change.after.id;
		std::string column;
		put_number(column, id, 8);
		std::string new_hash = change.has_after && change.after.labelled
					       ? label_hash(change.after.label.data(),
							    change.after.label.size())
					       : std::string();
		bool stays = change.has_after && !passed.count(id);
		bool same_rows = change.has_before && stays && change.before_fp == change.after.fp;

		for (unsigned t = 0; t < n_tables_ && change.has_after; t++) {
			std::string key = index_key(t, change.after_prefix[t], change.after.fp, id);
			if (stays)
				index_puts.push_back(put(key, "", "", ts, durability_));
			else
				index_deletes.push_back(remove(key, "", ts, durability_));
		}
		for (unsigned t = 0; t < n_tables_ && change.has_before && !same_rows; t++)
			index_deletes.push_back(remove(
				index_key(t, change.before_prefix[t], change.before_fp, id), "", ts,
				durability_));
		if (!new_hash.empty() && stays)
			label_puts.push_back(
				put(label_key(new_hash), column, "1", ts, durability_));
		else if (!new_hash.empty())
			label_deletes.push_back(
				remove(label_key(new_hash), column, ts, durability_));
		if (!change.before_label_hash.empty() &&
		    (!stays || change.before_label_hash != new_hash))
			label_deletes.push_back(remove(label_key(change.before_label_hash), column,
						       ts, durability_));
		Document row = change.after;
		row.deleted = !change.has_after;
		if (!passed.count(id))
			document_puts.push_back(put(document_key(id), "", document_value(row), ts,
						    durability_));
	}
	put_rows(std::move(index_puts), std::move(label_puts), deadline);
	put_rows(config_.docs_table(), std::move(document_puts), deadline);
	delete_rows(std::move(index_deletes), std::move(label_deletes), deadline);

	/* Counts, mark and the end of the journal are one row, and so one step. */
	std::string row = writer_key(writer);
	gateway::RowMutations last;
	gateway::Mutation store, forget;
	gateway::Put counts = put(row, COLUMN_COUNTS, counts_value(batch.documents, batch.labels),
				  ts, durability_);
	if (batch.has_mark)
		counts.cells.push_back(cell(COLUMN_MARK, batch.mark, ts));
	store.__set_put(counts);
	gateway::Delete journal = remove(row, COLUMN_JOURNAL, ts, durability_);
	for (size_t i = 0; i < pieces; i++)
		journal.columns.push_back(remove(row, piece_column(i), ts, durability_).columns[0]);
	forget.__set_remove(journal);
	last.row = row;
	last.mutations = { store, forget };
	Call call([&](gateway::GatewayClient &client) {
		client.mutateRow(config_.docs_table(), last);
	});
	pool_.run(call, deadline);
}

bool Store::read_journal(const WriterRow &row, Batch &batch, size_t &pieces,
			 const Deadline &deadline)
{
	std::string bytes;
	uint64_t size = row.journal.size() == JOURNAL_SIZE ? get_number(row.journal, 16, 8) : 0;

	pieces = (size + PIECE - 1) / PIECE;
	if (size == 0 || size > MAX_PIECES * PIECE)
		return false;
	batch.documents = (int64_t)get_number(row.journal, 0, 8);
	batch.labels = (int64_t)get_number(row.journal, 8, 8);
	for (size_t i = 0; i < pieces; i++) {
		std::string column = piece_column(i);
		auto rows = get_rows(config_.docs_table(), { writer_key(row.number) }, deadline,
				     nullptr, column);
		if (const gateway::Cell *piece = find_cell(rows[0], column))
			bytes += piece->value;
	}
	return bytes.size() == size && checksum(bytes) == get_number(row.journal, 24, 8) &&
	       parse_batch(bytes, n_tables_, batch);
}

void Store::finish_journal(const WriterRow &row, const Deadline &deadline)
{
	Batch batch;
	size_t pieces = 0;

	if (!read_journal(row, batch, pieces, deadline)) {
		/* One that was only slow may have finished it meanwhile. */
		if (read_writer(row.number, deadline).journal != row.journal)
			return;
		fail(SIMIDX_E_CORRUPT, "%s: the journal of writer %u is damaged",
		     config_.index_table().c_str(), row.number);
	}
	saw_timestamp(batch.timestamp);
	finish_batch(row.number, batch, pieces, deadline, true);
}

/**
 * Store in one's own row, if the number is still one's own: in an index that has taken the place of
 * this one it is not.
 */
void Store::put_as_owner(const gateway::Put &put, const Deadline &deadline)
{
	bool stored = false;
	unsigned tries = 0;
	Call call([&](gateway::GatewayClient &client) {
		tries++;
		stored = client.checkAndPut(config_.docs_table(), put.row, FAMILY, COLUMN_OWNER,
					    writer_.owner, put);
	});

	pool_.run(call, deadline);
	if (stored)
		return;
	if (tries > 1)
		fail(SIMIDX_E_IO, "an answer was lost, and then the number of this writer was "
				  "another's");
	writer_.mine = writer_.unfinished = false;
	auto layout = get_rows(config_.docs_table(), { std::string(1, ROW_LAYOUT) }, deadline);
	const gateway::Cell *cell = find_cell(layout[0], COLUMN_LAYOUT);
	if (!cell || cell->value != layout_)
		fail(SIMIDX_E_MOVED, "%s: the index was replaced by another one; nothing is stored",
		     config_.index_table().c_str());
	fail(SIMIDX_E_STATE, "another writer has taken the place of this one, which was silent for "
	     "more than %d s, or whose load was resumed elsewhere; nothing is "
	     "stored", config_.lease_s);
}

/** Write the journal: from then on the batch is going to be stored, by this writer or another. */
void Store::store_batch(const Batch &batch, const Deadline &deadline)
{
	std::string bytes = batch_bytes(batch, n_tables_), row = writer_key(writer_.number);
	size_t last_piece = (bytes.size() - 1) / PIECE;
	gateway::Put last = put(row, COLUMN_JOURNAL, journal_value(batch, bytes), batch.timestamp,
				durability_);

	if (bytes.size() > MAX_PIECES * PIECE)
		fail(SIMIDX_E_RANGE, "a batch of %zu bytes; at most %zu can be committed at once",
		     bytes.size(), MAX_PIECES * PIECE);
	if (batch.has_mark && !writer_.has_marks)
		announce_marks(batch.timestamp, deadline);
	for (size_t at = 0, i = 0; at < bytes.size(); at += PIECE, i++) {
		gateway::Cell piece = cell(piece_column(i), bytes.substr(at, PIECE),
					   batch.timestamp);
		if (at + PIECE >= bytes.size()) {
			last.cells.push_back(piece);
		} else {
			gateway::Put alone;
			alone.row = row;
			alone.cells.push_back(piece);
			alone.__set_durability(durability_);
			put_as_owner(alone, deadline);
		}
	}
	renew_leases(deadline);
	writer_.unfinished = true;
	writer_.begun = batch.timestamp;
	try {
		put_as_owner(last, deadline);
		finish_batch(writer_.number, batch, last_piece + 1, deadline, false);
	} catch (const Failure &failure) {
		if (!writer_.mine)
			throw;
		throw Failure(SIMIDX_E_UNKNOWN, failure.sys_errno,
			      "some of the batch may be stored, and the next writer will store the "
			      "rest: " +
				      failure.text);
	} catch (const std::bad_alloc &) {
		throw Failure(SIMIDX_E_UNKNOWN, 0, "out of memory");
	}
	writer_.unfinished = false;
	writer_.documents = batch.documents;
	writer_.labels = batch.labels;
}

void Store::begin(bool resumes)
{
	Deadline deadline = writing();

	if (read_only_)
		fail(SIMIDX_E_READ_ONLY, "%s: opened read-only", config_.index_table().c_str());
	durability_ = config_.full;
	become_writer(deadline, resumes	  ? Finish::SHUT_OUT_MARKS
				: is_ready_ ? Finish::ENDED
					    : Finish::ALL);
	is_ready_ = true;
	has_finished_left_ = true;
	give_back_kept();
}

int Store::write(const simidx_engine_batch *given)
{
	Deadline deadline = writing();
	Batch batch;
	std::vector<uint64_t> unsure;

	if (read_only_)
		fail(SIMIDX_E_READ_ONLY, "%s: opened read-only", config_.index_table().c_str());
	durability_ = given->durability == SIMIDX_DURABILITY_FULL ? config_.full : config_.normal;
	become_writer(deadline, is_ready_ ? Finish::ENDED : Finish::ALL);
	is_ready_ = true;
	give_back_kept();

	batch.documents = writer_.documents;
	batch.labels = writer_.labels;
	batch.has_mark = given->mark != nullptr;
	if (given->mark)
		batch.mark.assign((const char *)given->mark, given->mark_size);
	for (size_t i = 0; i < given->n; i++) {
		const simidx_engine_change &from = given->change[i];
		Change to;

		to.after.id = from.id;
		if (from.before) {
			to.has_before = true;
			to.before_fp = from.before->fp;
			to.before_prefix.assign(from.before->prefix,
						from.before->prefix + n_tables_);
			if (from.before->label)
				to.before_label_hash = label_hash(from.before->label,
								  from.before->label_size);
			batch.documents--;
			batch.labels -= from.before->label != nullptr;
		}
		if (from.after) {
			to.has_after = true;
			to.after.fp = from.after->fp;
			to.after.fp2 = from.after->fp2;
			to.after.flags = from.after->flags;
			to.after.labelled = from.after->label != nullptr;
			if (from.after->label)
				to.after.label.assign(from.after->label, from.after->label_size);
			to.after_prefix.assign(from.after->prefix, from.after->prefix + n_tables_);
			batch.documents++;
			batch.labels += from.after->label != nullptr;
		}
		/* An id that only this handle was given has no row yet; others may have one. */
		auto range = own_ids_.upper_bound(from.id);
		if (range == own_ids_.begin() || std::prev(range)->second <= from.id)
			unsure.push_back(from.id);
		batch.changes.push_back(std::move(to));
	}
	for (const Document &document : get_documents(unsure, deadline, nullptr, true))
		saw_timestamp(document.timestamp);
	batch.timestamp = timestamp();
	store_batch(batch, deadline);
	for (const Change &change : batch.changes) {
		/* From now on the id has a row. Ids are used in their order, most often. */
		auto range = own_ids_.upper_bound(change.after.id);
		if (range == own_ids_.begin() || (--range)->second <= change.after.id)
			continue;
		uint64_t end = range->second;
		own_ids_.erase(range);
		if (change.after.id + 1 < end)
			own_ids_[change.after.id + 1] = end;
	}
	return SIMIDX_OK;
}

uint64_t Store::reserve_ids(uint64_t n, uint64_t at_least, bool repairs)
{
	Deadline deadline = writing();
	std::string row(1, ROW_COUNTER);
	bool has_documents = false;

	if (read_only_)
		fail(SIMIDX_E_READ_ONLY, "%s: opened read-only", config_.index_table().c_str());
	for (;;) {
		auto rows = get_rows(config_.docs_table(), { row }, deadline);
		const gateway::Cell *cell = find_cell(rows[0], "");
		std::string old = cell ? cell->value : "", value;
		uint64_t next = old.size() >= 8 ? get_number(old, 0, 8) : 0;
		uint64_t first = std::max(next, at_least);

		if (cell)
			saw_timestamp(cell->timestamp);
		if (old.size() < 8 && !repairs) {
			/*
			 * A new index. Or others have stored documents since: then it is there by
			 * now.
			 */
			if (has_documents)
				fail(SIMIDX_E_CORRUPT, "%s: the next id is lost, so that ids of "
				     "documents would be given again; repair stores it anew",
				     config_.index_table().c_str());
			std::string first_key(1, ROW_DOCUMENT), end(1, ROW_DOCUMENT + 1);
			has_documents = !page(config_.docs_table(), first_key, end, 1, deadline)
						 .empty();
			if (has_documents)
				continue;
		}
		if (n == 0 && at_least <= next)
			return next;
		if (first > SIMIDX_MAX_ID + 1 || n > SIMIDX_MAX_ID + 1 - first)
			fail(SIMIDX_E_RANGE, "no ids are left");
		put_number(value, first + n, 8);
		value += token_;
		put_number(value, (uint64_t)timestamp(), 8);
		if (put_if(row, "", old, value, last_timestamp_, deadline)) {
			if (n > 0)
				own_ids_[first] = first + n;
			return first;
		}
		if (deadline.left() == 0)
			fail(SIMIDX_E_IO, "others take ids too fast");
	}
}

} // namespace simidx_hbase

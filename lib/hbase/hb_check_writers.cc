/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* What the rows of writers say: batches that were not finished, who is at work, and counts. */

#include "hb_check.hh"

#include <cinttypes>
#include <cstdio>

namespace simidx_hbase {

/** Batches that were begun by writers that have ended. */
void Checker::journals()
{
	Deadline deadline = store_.writing();
	bool any = false;

	for (const WriterRow &row : store_.writer_rows(columns_, deadline)) {
		Batch batch;
		size_t pieces = 0;
		bool own = store_.writer_.mine && row.owner == store_.writer_.owner;
		bool at_work = !own && !row.is_free(store_.now());
		bool sound = !row.journal.empty() &&
			     store_.read_journal(row, batch, pieces, deadline);

		live_ = live_ || at_work;
		if (sound && (at_work || !mend_))
			for (const Change &change : batch.changes)
				pending_.insert(change.after.id);
		if (at_work || row.journal.empty())
			continue;
		if (!sound && has_changed(row, deadline))
			continue; /* another one has finished it meanwhile */
		std::string who = "writer " + std::to_string(row.number);
		if (sound) {
			problem(docs_, who + " has not finished a batch of " +
				       std::to_string(batch.changes.size()) + " documents", mend_);
			any = true;
			continue;
		}
		if (mend_)
			store_.delete_rows(docs_, { remove(writer_key(row.number), COLUMN_JOURNAL,
							   row.journal_timestamp,
							   store_.config().full) },
					   deadline);
		problem(docs_, who + " has a damaged journal", mend_);
	}
	if (mend_ && any) {
		store_.durability_ = store_.config().full;
		store_.writer_.unfinished = true;
		store_.become_writer(deadline);
	}
	for (const WriterRow &row : store_.writer_rows(columns_, deadline))
		seen_[row.number] = state(row);
}

/** The journal of a row is not the one that was there. */
bool Checker::has_changed(const WriterRow &then, const Deadline &deadline)
{
	for (const WriterRow &now : store_.writer_rows(columns_, deadline))
		if (now.number == then.number)
			return now.journal != then.journal ||
			       now.journal_timestamp != then.journal_timestamp;
	return true;
}

std::string Checker::state(const WriterRow &row)
{
	return row.owner + " " + std::to_string(row.counts_timestamp) + " " +
	       std::to_string(row.journal_timestamp);
}

/** A writer that has a number, or has done something since the beginning, was at work. */
std::vector<WriterRow> Checker::look_for_writers(uint64_t *next_id)
{
	auto rows = store_.writer_rows(columns_, store_.reading(), next_id);

	for (const WriterRow &row : rows) {
		auto then = seen_.find(row.number);
		bool own = store_.writer_.mine && row.owner == store_.writer_.owner;
		bool changed = then == seen_.end() || then->second != state(row);

		live_ = live_ || (!own && (changed || !row.is_free(store_.now())));
	}
	return rows;
}

void Checker::counts()
{
	uint64_t next_id = 0;
	int64_t documents = 0, labels = 0;
	char text[200];

	/*
	 * Counts that somebody has changed since the beginning are not compared, so both come from
	 * here.
	 */
	for (const WriterRow &row : look_for_writers(&next_id)) {
		documents += row.documents;
		labels += row.labels;
	}
	if (max_id_ > next_id) {
		if (mend_)
			store_.reserve_ids(0, max_id_, true);
		snprintf(text, sizeof(text), "the next id is %" PRIu64 ", but document %" PRIu64
			 " is or was there", next_id, max_id_ - 1);
		problem(docs_, text, mend_);
	}
	/* With other writers at work the numbers are of different moments. */
	if (live_ || !pending_.empty() || !damaged_.empty() ||
	    (documents == (int64_t)check_->documents && labels == (int64_t)n_labels_))
		return;
	if (mend_) {
		Deadline deadline = store_.writing();
		store_.become_writer(deadline);
		Writer &writer = store_.writer_;
		std::string value;
		writer.documents += (int64_t)check_->documents - documents;
		writer.labels += (int64_t)n_labels_ - labels;
		put_number(value, (uint64_t)writer.documents, 8);
		put_number(value, (uint64_t)writer.labels, 8);
		store_.put_rows(docs_, { put(writer_key(writer.number), COLUMN_COUNTS, value,
					     store_.timestamp(), store_.config().full) }, deadline);
	}
	snprintf(text, sizeof(text),
		 "%" PRId64 " documents and %" PRId64 " labels are counted, "
		 "but "
		 "%" PRIu64 " and %" PRIu64 " are there",
		 documents, labels, check_->documents, n_labels_);
	problem(docs_, text, mend_);
}

} // namespace simidx_hbase

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Writers and their rows: who has which number, and what is to be done before a number can be had.
 */

#include "hb_store.hh"

#include <algorithm>
#include <thread>

namespace simidx_hbase {
namespace {

const unsigned WRITERS = 0xffff;
const char COLUMN_LAYOUT[] = "v";
const int WRITER_ROWS = 1000;
const int PAUSE_MS = 50;
/* Not the pieces of journals. */
const std::vector<std::string> WRITER_COLUMNS = { COLUMN_COUNTS, COLUMN_JOURNAL, COLUMN_MARKS,
						  COLUMN_OWNER };
/* A handle that is closed waits no longer than this for a gateway. */
const int END_MS = 2000;
/* A look-up waits so long for what others have left, and no longer than half of its deadline. */
const int LEFT_MS = 2000;
/* Who could not finish a batch gives its number back. So long, look-ups do not try again. */
const int64_t LEFT_PAUSE_MS = 10000;

WriterRow parse_writer(const gateway::Result &row)
{
	WriterRow out;

	out.number = (unsigned)get_number(row.row, 1, 2);
	for (const auto &cell : row.cells) {
		out.last_timestamp = std::max(out.last_timestamp, cell.timestamp);
		if (cell.column == COLUMN_OWNER) {
			out.owner = cell.value;
			out.owner_timestamp = cell.timestamp;
		} else if (cell.column == COLUMN_COUNTS && cell.value.size() == 16) {
			out.documents = (int64_t)get_number(cell.value, 0, 8);
			out.labels = (int64_t)get_number(cell.value, 8, 8);
			out.counts_timestamp = cell.timestamp;
		} else if (cell.column == COLUMN_MARK) {
			out.mark = cell.value;
			out.mark_timestamp = cell.timestamp;
		} else if (cell.column == COLUMN_MARKS) {
			out.marks = cell.value;
		} else if (cell.column == COLUMN_JOURNAL) {
			out.journal = cell.value;
			out.journal_timestamp = cell.timestamp;
		}
	}
	return out;
}

} // namespace

bool WriterRow::is_free(int64_t now) const
{
	return token_of(owner).empty() || has_passed(until_of(owner), now);
}

/**
 * A look-up must not take the number of a writer that is at work, although the clock of this host
 * may be ahead. So the time of the writer must have passed by once more its length, which is from
 * when it was stored until when it lasts, both by the writer's clock.
 */
bool WriterRow::is_left(int64_t now) const
{
	if (token_of(owner).empty())
		return now < owner_timestamp || now - owner_timestamp > LEFT_PAUSE_MS;
	int64_t until = until_of(owner), longest = LONGEST_LEASE_S * 1000;
	int64_t length = until - owner_timestamp;

	return until < now - (length > 0 && length < longest ? length : longest);
}

bool WriterRow::is_marking() const
{
	return !marks.empty() && marks == token_of(owner);
}

/**
 * The rows of all writers, the next id, and whether the index is still the one that was opened.
 * Pieces of journals are among the columns of writers, so nobody asks for all columns.
 */
std::vector<WriterRow> Store::writer_rows(const std::vector<std::string> &columns,
					  const Deadline &deadline, uint64_t *next_id)
{
	std::vector<WriterRow> all;
	std::string start(1, ROW_WRITER), stop(1, ROW_WRITER + 1), counter(1, ROW_COUNTER);
	std::string layout(1, ROW_LAYOUT);
	std::vector<std::pair<std::string, std::string>> ranges = {
		{ start, stop }, { layout, layout + '\0' }, { counter, counter + '\0' }
	};

	if (next_id)
		*next_id = 0;
	for (;;) {
		auto found = pages(config_.docs_table(), ranges, WRITER_ROWS, deadline, columns);
		for (const auto &row : found[0])
			if (row.row.size() == 3)
				all.push_back(parse_writer(row));
		if (ranges.size() > 1) {
			const gateway::Cell *cell =
				found[1].empty() ? nullptr : find_cell(found[1][0], COLUMN_LAYOUT);
			if (!cell || cell->value != layout_)
				fail(SIMIDX_E_MOVED, "%s: the index was replaced by another one",
				     config_.index_table().c_str());
			cell = found[2].empty() ? nullptr : find_cell(found[2][0], "");
			if (next_id && cell && cell->value.size() >= 8)
				*next_id = get_number(cell->value, 0, 8);
		}
		if (found[0].size() < (size_t)WRITER_ROWS)
			return all;
		ranges = { { found[0].back().row + '\0', stop } };
	}
}

/** What the row of a writer says now. */
WriterRow Store::read_writer(unsigned writer, const Deadline &deadline)
{
	std::string key = writer_key(writer);
	auto rows = pages(config_.docs_table(), { { key, key + '\0' } }, 1, deadline,
			  WRITER_COLUMNS);
	WriterRow row;

	if (!rows[0].empty())
		row = parse_writer(rows[0][0]);
	row.number = writer;
	return row;
}

/** This handle writes with the number of the row. */
bool Store::has_number(const WriterRow &row) const
{
	return writer_.mine && row.number == writer_.number && row.owner == writer_.owner;
}

/**
 * A number can be had if nobody has it, or this handle: it may have taken one in order to finish a
 * batch of another writer, and failed.
 */
bool Store::can_have(const WriterRow &row) const
{
	return row.is_free(now()) || token_of(row.owner) == token_;
}

/**
 * Take a number that can be had, and store what its journal has, if there is one. `row` is what was
 * read of it; afterwards it is what the row is now. Until the owner's cell is changed, the writer
 * before may store its journal or its counts, and others may have come and gone: so the row is read
 * after that.
 */
bool Store::claim_writer(WriterRow &row, const Deadline &deadline)
{
	int64_t until = now() + config_.lease_s * 1000;
	std::string value = owner_value(until, token_);

	if (value == row.owner)
		value = owner_value(until + 1, token_);
	saw_timestamp(row.last_timestamp);
	if (!put_if(writer_key(row.number), COLUMN_OWNER, row.owner, value, timestamp(), deadline))
		return false;
	claimed_number_ = row.number;
	claimed_owner_ = value;
	row = read_writer(row.number, deadline);
	if (row.owner == value && !row.journal.empty()) {
		finish_journal(row, deadline);
		row = read_writer(row.number, deadline);
	}
	saw_timestamp(row.last_timestamp);
	if (row.owner != value)
		claimed_owner_.clear();
	return row.owner == value;
}

/** Give a number back that was claimed. */
void Store::free_writer(WriterRow &row, const Deadline &deadline)
{
	int64_t ts = timestamp();
	std::string value = free_value(token_, ts);

	put_if(writer_key(row.number), COLUMN_OWNER, row.owner, value, ts, deadline);
	row.owner = value;
	claimed_owner_.clear();
}

/** Have a number, unless another one has it now. */
bool Store::take_number(WriterRow &row, const Deadline &deadline)
{
	if (!claim_writer(row, deadline))
		return false;
	forget_pieces(row.number, deadline);
	claimed_owner_.clear();
	writer_.mine = true;
	writer_.number = row.number;
	writer_.owner = row.owner;
	writer_.until = until_of(row.owner);
	writer_.documents = row.documents;
	writer_.labels = row.labels;
	return true;
}

/**
 * Store what writers that have ended have left undone, what this one has not finished, and of
 * others what `which` says. A journal that is still on its way does not arrive once the number was
 * claimed. Until then it does, also where the time of its writer has passed. Returns false where
 * that is to be tried again, as another one was at it.
 */
bool Store::finish_batches(std::vector<WriterRow> &rows, Finish which, const Deadline &deadline)
{
	bool finished = true;

	for (WriterRow &row : rows) {
		bool ours = writer_.unfinished && row.number == writer_.number;
		bool journal = !row.journal.empty();
		bool shut_out = which == Finish::SHUT_OUT_MARKS && row.is_marking() &&
				!has_number(row);

		if (shut_out || (can_have(row) && (journal || ours))) {
			if (claim_writer(row, deadline))
				free_writer(row, deadline);
			else if (ours || which != Finish::ENDED)
				finished = false;
		} else if (ours && journal && row.journal_timestamp == writer_.begun) {
			finished = false;
		} else if (which != Finish::ENDED && journal && !has_number(row)) {
			/*
			 * Its writer may be at it, too, or be gone: every step may be done twice.
			 */
			finish_journal(row, deadline);
		}
	}
	return finished;
}

/**
 * Before the first look-up of a handle, finish what writers that have ended have left, so that
 * look-ups and counts agree. This is no change of the handle's own, so one that only reads does it,
 * too. Where it must not, or cannot now, the next writer does it; so it does where one of this
 * handle is at work.
 */
void Store::finish_left_once() noexcept
{
	if (has_finished_left_)
		return;
	try {
		std::lock_guard<std::mutex> others_wait(left_mutex_);
		Turn turn(*this, false);

		if (has_finished_left_ || !turn)
			return;
		/* A number that is claimed or had is the writer's business. */
		if (claimed_owner_.empty() && !writer_.mine && !writer_.unfinished)
			finish_left();
		has_finished_left_ = true;
	} catch (...) {
		has_finished_left_ = true;
	}
}

void Store::finish_left()
{
	int ms = std::min(config_.read_ms / 2, LEFT_MS), end_ms = ms / 4;
	Deadline deadline(ms - end_ms);
	std::vector<WriterRow> left;

	for (WriterRow &row : writer_rows({ COLUMN_JOURNAL, COLUMN_OWNER }, deadline))
		if (!row.journal.empty() && row.is_left(now()))
			left.push_back(std::move(row));
	for (size_t i = 0; i < left.size() && deadline.left() > 0; i++) {
		/* One that cannot be finished must leave time for the others. */
		Deadline one(i + 1 < left.size() ? deadline.left() / 2 : deadline.left());

		try {
			if (claim_writer(left[i], one))
				free_writer(left[i], one);
		} catch (const Failure &) {
			/* Whoever comes next may have more luck. */
		}
		if (!claimed_owner_.empty()) {
			free_number(claimed_number_, claimed_owner_, end_ms);
			claimed_owner_.clear();
		}
	}
}

/**
 * Have a number, for a while from now on. What other writers have left undone is finished here,
 * because the numbers that they had are free now.
 */
void Store::become_writer(const Deadline &deadline, Finish which)
{
	unsigned unused = 0;
	WriterRow *any = nullptr;

	if (which == Finish::ENDED && writer_.mine && !writer_.unfinished &&
	    writer_.until - now() > config_.lease_s * 500)
		return;
	if (which == Finish::SHUT_OUT_MARKS)
		go_on_after_mark(deadline);
	else if (which == Finish::ALL)
		resumed_ = resumed(deadline);
	auto rows = writer_rows(WRITER_COLUMNS, deadline);
	while (!finish_batches(rows, which, deadline)) {
		if (deadline.left() == 0)
			fail(SIMIDX_E_BUSY, "%s: other writers are at work on batches that must be "
			     "stored first", config_.index_table().c_str());
		std::this_thread::sleep_for(std::chrono::milliseconds(PAUSE_MS));
		rows = writer_rows(WRITER_COLUMNS, deadline);
	}
	writer_.unfinished = false;

	for (WriterRow &row : rows) {
		unused = std::max(unused, row.number + 1);
		/* the mark that is stored last is to be the latest */
		saw_timestamp(row.last_timestamp);
		if (can_have(row) && (!any || has_number(row)))
			any = &row;
	}
	/* With the same number, nobody has shut it out. With another one it has to look. */
	writer_.has_marks = writer_.has_marks && any && has_number(*any);
	writer_.mine = false;
	if (any && take_number(*any, deadline))
		return;
	writer_.has_marks = false;
	/* Others may be at the same: the next number is only one's own once it is stored. */
	for (; unused < WRITERS; unused++) {
		WriterRow fresh;
		fresh.number = unused;
		if (take_number(fresh, deadline))
			return;
	}
	fail(SIMIDX_E_BUSY, "%s: all %u numbers of writers are "
			    "taken", config_.index_table().c_str(),
	     WRITERS);
}

std::string Store::resumed(const Deadline &deadline)
{
	auto rows = get_rows(config_.docs_table(), { std::string(1, ROW_COUNTER) }, deadline,
			     nullptr, COLUMN_MARKS);
	const gateway::Cell *cell = find_cell(rows[0], COLUMN_MARKS);

	if (!cell)
		return "";
	saw_timestamp(cell->timestamp);
	return cell->value;
}

/**
 * Go on after the mark, in the place of all that have begun before. Those that have announced that
 * they store marks lose their numbers after that; those that announce it later see that somebody
 * goes on.
 */
void Store::go_on_after_mark(const Deadline &deadline)
{
	for (;;) {
		std::string old = resumed(deadline), value = token_;
		int64_t ts = timestamp();

		put_number(value, (uint64_t)ts, 8);
		if (put_if(std::string(1, ROW_COUNTER), COLUMN_MARKS, old, value, ts, deadline)) {
			resumed_ = value;
			return;
		}
		if (deadline.left() == 0)
			fail(SIMIDX_E_BUSY, "%s: others go on after the mark, too",
			     config_.index_table().c_str());
	}
}

/**
 * Before the first journal with a mark, say that one stores marks: who goes on after the mark from
 * now on shuts this one out. Somebody may have done so before that.
 */
void Store::announce_marks(int64_t timestamp, const Deadline &deadline)
{
	put_as_owner(put(writer_key(writer_.number), COLUMN_MARKS, token_, timestamp, durability_),
		     deadline);
	if (resumed(deadline) != resumed_)
		fail(SIMIDX_E_STATE, "%s: another load goes on after the mark, in the place of "
		     "this one; nothing is stored", config_.index_table().c_str());
	writer_.has_marks = true;
}

void Store::free_number(unsigned number, const std::string &owner, int ms) noexcept
{
	try {
		int64_t ts = timestamp();
		put_if(writer_key(number), COLUMN_OWNER, owner, free_value(token_, ts), ts,
		       Deadline(ms));
	} catch (...) {
		/* Then the number is free when its time has passed. */
	}
}

void Store::end_writing() noexcept
{
	int ms = std::min(config_.write_ms, END_MS);

	try {
		release_leases();
	} catch (...) {
		/* They end by themselves. */
	}
	/*
	 * Also where a batch is not finished: its journal cannot arrive any more, or the next
	 * writer finds it.
	 */
	if (writer_.mine)
		free_number(writer_.number, writer_.owner, ms);
	if (!claimed_owner_.empty())
		free_number(claimed_number_, claimed_owner_, ms);
	claimed_owner_.clear();
	writer_.mine = false;
}

} // namespace simidx_hbase

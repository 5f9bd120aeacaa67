/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_end.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"

int ld_end_fail(struct ld_run *run, const simidx_error *err)
{
	run->failure = err->code;
	return ld_target_fail(&run->target, err);
}

int ld_end_too_many(const struct ld_run *run)
{
	return tl_error("more than %s rejected (--max-errors)",
			tl_counted(run->options->max_errors, "row was", "rows were"));
}

/*
 * A loader has put another one in the place of the one that is open, and
 * after a failure that one may answer nothing any more.
 */
int ld_end_measure(struct ld_run *run, int has_failed)
{
	struct ld_target *target = &run->target;
	/* Where nothing could be stored, what was to be replaced stays. */
	int is_anew = has_failed || !target->index ||
		      (target->state == LD_DONE && target->loader);
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx *index = target->index;
	int is_silent = run->failure == SIMIDX_E_IO || run->failure == SIMIDX_E_UNKNOWN, is_there;

	how.flags = SIMIDX_OPEN_READ_ONLY | ld_open_flags(run->options);
	if (has_failed)
		ld_target_release(target);
	/* A gateway that hangs is not to be waited for again, least of all after a signal. */
	if (has_failed && (is_silent || tl_stop_requested()) && tl_path_is_uri(run->options->index))
		return 0;
	if (is_anew && simidx_open(run->options->index, &how, &index, NULL))
		return 0;
	is_there = index && !simidx_get_info(index, &info, NULL);
	run->report.is_unmeasured = index && !is_there;
	if (is_there) {
		run->report.index_bytes = info.file_bytes;
		run->report.documents = info.documents;
	}
	if (is_anew)
		simidx_close(index);
	return is_there;
}

/* How to find out whether the last of it is stored: only the disk knows. */
static void advise_unknown(const struct ld_run *run, int is_measured)
{
	const char *path = run->options->index;
	char room[TL_PATH_WORD_SIZE];
	const char *word = tl_path_word(path, room);
	const char *resume = ld_has_inputs(run->options) ?
				     "; 'simidx-load --resume' with the same inputs stores what is "
				     "missing" : "";

	if (run->with)
		tl_error("%s: 'simidx-query stats %s' shows %s documents if it is stored, %s if "
			 "not, as long as nobody else changes the "
			 "index%s", path, word, tl_count(run->with), tl_count(run->without),
			 resume);
	else if (is_measured && (run->options->mode == LD_ADD || run->options->mode == LD_IF_NEW))
		tl_error("%s: 'simidx-query stats %s' shows %s documents as long as it is "
			 "there%s", path, word, tl_count(run->report.documents), resume);
	else
		tl_error("%s: 'simidx-query stats %s' shows what is stored%s", path, word, resume);
}

void ld_end_tell(const struct ld_run *run, int is_measured)
{
	const struct ld_target *target = &run->target;
	const char *path = run->options->index;
	const char *rows = tl_count(run->rows_committed);
	int is_one = run->rows_committed == 1;
	const char *were = is_one ? "row was" : "rows were", *resume = "";

	if (tl_stop_requested())
		tl_error("stopped by a signal");
	if (target->state == LD_DONE)
		return;
	/* It would only meet the same damage again. */
	if (run->rows_committed && run->failure != SIMIDX_E_CORRUPT)
		resume = run->failure == SIMIDX_E_STATE
				 ? "; --resume goes on, unless another load does so"
			 : is_one ? "; --resume goes on after it"
				  : "; --resume goes on after them";
	if (run->is_unknown)
		advise_unknown(run, is_measured);
	else if (target->has_inserted && is_measured)
		tl_error("%s: holds %s; of this input %s %s committed%s", path,
			 tl_counted(run->report.documents, "document", "documents"), rows, were,
			 resume);
	else if (target->has_inserted)
		tl_error("%s: of this input %s %s committed%s", path, rows, were, resume);
	else if (tl_stop_requested())
		tl_error("%s: nothing has changed; run the load again", path);
	else if (run->put)
		tl_error("%s: nothing has changed", path);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_resume.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int dd_resume_read(const struct dd_options *options, struct dd_mark *mark)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	char text[DD_MARK_SIZE];
	simidx *index = NULL;
	simidx_info info;
	simidx_error err;
	size_t n = 0;
	int rc;

	*mark = (struct dd_mark){ 0 };
	if (tl_path_is_missing(options->index, &err))
		return 0;
	how.flags = dd_trust_flags(options, options->index);
	rc = tl_path_open(options->index, &how, &index, &info, &err);
	if (!rc)
		rc = simidx_get_mark(index, text, sizeof(text) - 1, &n, &err);
	simidx_close(index);
	if (rc == SIMIDX_E_NOT_FOUND)
		return 0;
	if (rc)
		return tl_index_error(options->index, &err);
	text[n < sizeof(text) ? n : 0] = '\0';
	dd_mark_read(text, mark);
	return 0;
}

uint64_t dd_resume_digest(uint64_t digest, const char *path, uint64_t size)
{
	const uint64_t parts[3] = { digest, simidx_feature_hash(path, strlen(path)), size };

	return simidx_feature_hash(parts, sizeof(parts));
}

uint64_t dd_resume_size(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
}

int dd_resume_check(const struct dd_options *options, const struct dd_mark *mark,
		    const struct dd_inputs *inputs, int *goes_on, int *is_done)
{
	const char *index = options->index;

	*goes_on = mark->has_position && mark->is_open;
	*is_done = 0;
	if (*goes_on && (mark->kind > SIMIDX_DEDUP_FINGERPRINTS || mark->remember < 0))
		return tl_error("%s: --resume: its mark is damaged", index);
	if (*goes_on && mark->names != inputs->names)
		return tl_error("%s: --resume: the run that did not finish had other "
				"inputs or options, such as --output-dir or --similarity", index);
	if (*goes_on) {
		tl_notice("%s: going on after row %s of these inputs", index,
			  tl_count(mark->at.rows));
		return 0;
	}
	if (!mark->has_position) {
		tl_notice("%s: no run to resume: starting a new one", index);
		return 0;
	}
	if (!inputs->is_known)
		return tl_error("%s: the last run finished, so there is nothing to resume: "
				"without --resume these inputs are read", index);
	*is_done = mark->at.inputs == inputs->n && mark->at.digest == inputs->digest &&
		   mark->names == inputs->names;
	if (*is_done)
		tl_notice("%s: the last run of these inputs finished: there is nothing to "
			  "resume", index);
	else
		tl_notice("%s: the last run finished, and had other inputs or options: "
			  "beginning", index);
	return 0;
}

int dd_resume_cut(struct dd_sink *sink, const char *path, const struct dd_place *place)
{
	struct dd_place here = dd_mark_place(dd_sink_fd(sink));
	const char *name = path ? path : "standard output";

	if (!here.inode && !place->inode)
		return 0;
	/* A file system may get another number when it is mounted again. */
	if (here.inode != place->inode || here.born != place->born)
		return tl_error("%s: is not the file that the unfinished run wrote to, nor is a "
				"copy of it, so --resume cannot go on: put that file in its place, "
				"or begin again with a new index and new outputs", name);
	if (here.length < place->length)
		return tl_error("%s: has %llu bytes, and %llu were committed, so --resume cannot "
				"go on: begin again with a new index and new outputs%s", name,
				(unsigned long long)here.length, (unsigned long long)place->length,
				path ? "" : " (>> adds to a file)");
	if (ftruncate(dd_sink_fd(sink), (off_t)place->length) ||
	    lseek(dd_sink_fd(sink), 0, SEEK_END) < 0)
		return tl_error("%s: cannot remove what was not committed: %s", name,
				strerror(errno));
	return 0;
}

int dd_resume_pass(struct in_reader *reader, const struct dd_position *at)
{
	enum in_result rc = in_reader_pass(reader, at->offset, at->line);

	if (rc == IN_FATAL && tl_stop_requested())
		return 0;
	return rc == IN_ROW ? 0 : tl_error("%s: --resume: %s", reader->path, reader->reason);
}

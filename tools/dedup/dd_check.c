/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_check.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "dedup/dd_files.h"
#include "dedup/dd_memory.h"
#include "dedup/dd_shards.h"
#include "input/in_guard.h"

#include <inttypes.h>
#include <sys/stat.h>

/* Whether lists can be read twice. */
static int has_files_only(const struct in_files_options *inputs)
{
	struct stat status;

	for (size_t i = 0; i < inputs->lists.n; i++)
		if (stat(inputs->lists.at[i], &status) || !S_ISREG(status.st_mode))
			return 0;
	return 1;
}

int dd_check_is_written(const char *path)
{
	return in_guard_is_output(path) == IN_OUTPUT_HAD_BYTES &&
	       tl_error("%s: is an input, so nothing can be written to it: let --dups, "
			"--evidence or standard output be another file", path);
}

int dd_check_inputs(const struct dd_options *options, uint64_t most)
{
	struct in_files *files;
	struct in_file input;
	uint64_t tables = 0, n = 0;
	char count[TL_NUMBER_SIZE];
	enum in_result rc;
	int code = 0;

	if (!has_files_only(&options->inputs))
		return options->output_dir ?
			       tl_usage_error("--output-dir looks at all names before it reads, so a "
					      "list of --files-from must be a file") :
			       0;
	files = in_files_open(&options->inputs);
	if (!files)
		return tl_error("out of memory");
	while (!code && !tl_stop_requested() &&
	       ((rc = in_files_next(files, &input)) == IN_ROW || rc == IN_REJECTED))
		if (rc == IN_ROW && !input.is_stdin) {
			code = dd_check_is_written(input.path) ? TL_TROUBLE : 0;
			tables += dd_files_bytes(input.path);
			n++;
		}
	in_files_close(files);
	if (!code && options->output_dir)
		code = dd_shards_check(options);
	if (code || tables <= most)
		return code;
	return tl_error("--memory is too small: there are %s files, which need at least --memory "
			"%" PRIu64 "M",
			tl_write_count(n, count), dd_memory_megabytes(tables, options->threads));
}

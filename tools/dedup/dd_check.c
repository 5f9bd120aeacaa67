/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_check.h"

#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"
#include "dedup/dd_files.h"
#include "dedup/dd_fit.h"
#include "dedup/dd_memory.h"
#include "input/in_codec.h"
#include "input/in_guard.h"
#include "input/in_source.h"
#include "input/in_written.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is written ---- */

/* Rows are written as they came, whatever the name of --output says. */
static void look_at_name(const struct dd_options *options)
{
	const struct in_files_options *inputs = &options->inputs;
	const char *path = options->output;
	const struct in_format *rows = inputs->format, *named;

	if (!path)
		return;
	if (!rows && inputs->n_operands)
		rows = in_format_of_path(inputs->operands[0], NULL);
	if (!rows || rows == &in_format_text)
		return;
	named = in_format_of_path(path, NULL);
	if (in_path_ends_in(path, ".json .parquet .xlsx .arrow") ||
	    (named && named != &in_format_text && named != rows))
		tl_notice("--output %s: rows are written as they came, in the format %s: name it "
			  ".%s", path, rows->name, rows->name);
}

/* An operand that is not there, where another program would write to it. */
static void look_at_missing(const struct dd_options *options)
{
	char **operands = options->inputs.operands;
	const struct in_format *first, *second;
	int is_second;

	if (options->inputs.n_operands != 2 || strcmp(operands[1], "-") == 0)
		return;
	is_second = access(operands[1], F_OK) == 0;
	first = in_format_of_path(operands[0], NULL);
	second = in_format_of_path(operands[1], NULL);
	if (options->drop_list && is_second && access(operands[0], F_OK))
		tl_notice("%s: is not there; --drop-list goes to standard output: > FILE",
			  operands[0]);
	else if (!is_second && ((second == first && second != &in_format_text) ||
				(options->inputs.recursive && tl_path_is_directory(operands[0]))))
		tl_notice("%s: is not there; what is found is not written to it, but to standard "
			  "output: > FILE; --stream prints %s that stay", operands[1],
			  options->inputs.recursive ? "names of files" : "the rows");
}

/* Groups of rows go to a file without messages, where those that stay may be meant. */
static void look_at_groups(const struct dd_options *options)
{
	const struct in_files_options *inputs = &options->inputs;
	const struct in_format *format =
		inputs->format	   ? inputs->format :
		inputs->n_operands ? in_format_of_path(inputs->operands[0], NULL) : NULL;
	struct stat out, err;

	if (!options->stream && !options->pairs && !options->drop_list && format &&
	    format != &in_format_text && !fstat(STDOUT_FILENO, &out) && S_ISREG(out.st_mode) &&
	    !fstat(STDERR_FILENO, &err) && (out.st_ino != err.st_ino || out.st_dev != err.st_dev))
		tl_notice("groups are written, not rows; --stream writes the rows that stay");
}

/* Whether a line of columns begins with a similarity, an estimate or a distance. */
static int begins_as_columns(const char *line)
{
	const char *number = line + (*line == '~');
	size_t n = strspn(number, "0123456789.");

	return (n && number[n] == '\t') || strncmp(line, "same\t", 5) == 0 ||
	       strncmp(line, "fp\t", 3) == 0;
}

/* Lines are added to those of an earlier run, and to no other file. */
static int check_lines(const struct in_written *written, int is_json)
{
	char line[256];
	size_t n = 0;
	int is_own;

	if (written->is_there && written->may_have_lines)
		in_source_head(written->path, !in_codec_of_path(written->path), line,
			       sizeof(line) - 1, &n);
	line[n] = '\0';
	is_own = is_json ? strncmp(line, "{\"similarity\":", 14) == 0 ||
				   strncmp(line, "{\"distance\":", 12) == 0 :
			   begins_as_columns(line);
	if (!*line || is_own)
		return 0;
	return tl_error("%s: does not begin with a line that %s%s writes: name another file",
			written->path, is_json && strcmp(written->option, "--dups") == 0 ?
					       "--json " : "", written->option);
}

/* Standard output has the result. */
static int check_written(const struct in_written *written, const struct dd_options *options)
{
	if (written->path && strcmp(written->path, "-") == 0)
		return tl_usage_error("%s: standard output has what is %s; name a file",
				      written->option, options->stream ? "new" : "found");
	return 0;
}

int dd_check_outputs(const struct dd_options *options)
{
	const struct in_files_options *inputs = &options->inputs;
	int adds = options->index != NULL, goes_on = options->resume;
	struct in_written written[] = {
		in_written_look("--dups", options->dups, adds),
		in_written_look("--evidence", options->evidence, adds),
		in_written_look("--list-binary", options->list_binary, goes_on),
		in_written_look("--output", options->output, adds),
		in_written_look("--rejects", options->rejects, goes_on),
		in_written_look("--summary", options->summary, goes_on)
	};
	const size_t n = sizeof(written) / sizeof(written[0]);
	int code;

	written[n - 1].begins = IN_WRITTEN_SUMMARY;
	look_at_name(options);
	look_at_missing(options);
	look_at_groups(options);
	code = in_written_check_inputs(written, n, inputs, 1);
	for (size_t i = 0; !code && i < n; i++)
		code = check_written(&written[i], options);
	if (!code)
		code = in_written_check(written, n, options->index, 1);
	if (!code)
		code = check_lines(&written[0], options->json);
	return code ? code : check_lines(&written[1], 1);
}

/* ---- inputs ---- */

/* Whether lists can be read twice. */
static int has_files_only(const struct in_files_options *inputs)
{
	for (size_t i = 0; i < inputs->lists.n; i++)
		if (!tl_path_is_file(inputs->lists.at[i]))
			return 0;
	return 1;
}

/* What a document has, and what all have. */
static const char *const singular[] = { "a text", "features", "a fingerprint" };
static const char *const plural[] = { "texts", "features", "fingerprints" };

enum simidx_dedup_kind dd_check_kind_of(const struct in_row *row)
{
	return row->kind == IN_TEXT	? SIMIDX_DEDUP_TEXTS :
	       row->kind == IN_FEATURES ? SIMIDX_DEDUP_FEATURES :
					  SIMIDX_DEDUP_FINGERPRINTS;
}

int dd_check_kind(const struct dd_options *options, enum simidx_dedup_kind kind)
{
	const char *comparing = dd_fit_comparing(options);
	const char *of_texts = options->accept >= 0 ? "--accept" :
			       options->no_verify   ? "--no-verify" :
						      comparing;

	if (kind == SIMIDX_DEDUP_FEATURES && comparing)
		return tl_usage_error("%s is about texts, and the inputs have features", comparing);
	if (kind == SIMIDX_DEDUP_TEXTS && options->radius >= 0 && !options->no_verify && !comparing)
		tl_example_mend(NULL, 0, "--no-verify");
	if (kind == SIMIDX_DEDUP_TEXTS && options->radius >= 0 && !options->no_verify)
		return tl_usage_error(
			"--radius is about fingerprints; for texts it goes with --no-verify");
	if (kind != SIMIDX_DEDUP_FINGERPRINTS && options->bits_given)
		return tl_usage_error("--bits is about bare fingerprints, and the inputs have %s",
				      plural[kind]);
	if (kind == SIMIDX_DEDUP_FINGERPRINTS && of_texts)
		return tl_usage_error("%s is about texts, and the inputs have fingerprints",
				      of_texts);
	return 0;
}

int dd_check_is_other(enum simidx_dedup_kind kind, enum simidx_dedup_kind before, char reason[],
		      size_t size)
{
	snprintf(reason, size, "%s, and the inputs before have %s", singular[kind], plural[before]);
	return kind != before;
}

/* What is known of all inputs, and what their tables take. */
struct looking {
	struct dd_inputs *all;
	uint64_t n_files, tables;
};

static int note(void *ctx, const struct in_file *input)
{
	struct looking *looking = ctx;
	struct dd_inputs *all = looking->all;

	if (input->is_stdin || !in_guard_is_output(input->path)) {
		all->is_known &= !input->is_stdin && tl_path_is_file(input->path);
		all->n++;
		all->digest = dd_resume_digest(all->digest, input->path,
					       input->is_stdin ? 0 : dd_resume_size(input->path));
		all->names = dd_resume_digest(all->names, input->path, 0);
	}
	if (input->is_stdin)
		return 0;
	looking->n_files++;
	looking->tables += dd_files_bytes(input->path);
	return in_written_is_met(input->path) ? TL_TROUBLE : 0;
}

/* What decides, and what a row is: two runs that go on with each other have the same. */
static uint64_t digest_options(const struct dd_options *options, uint64_t digest)
{
	const struct in_columns *columns = &options->inputs.columns;
	const char *const words[] = { columns->text, columns->label, columns->id, columns->fp };
	char numbers[128];

	snprintf(numbers, sizeof(numbers), "%.17g %d %d %d %d %d %u %d %d",
		 options->similarity, options->accept, options->radius, options->compare_all,
		 options->no_verify, options->inputs.format_word, options->bits,
		 columns->header, columns->delimiter);
	digest = dd_resume_digest(digest, numbers, 0);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		digest = dd_resume_digest(digest, words[i] ? words[i] : "", 0);
	for (size_t i = 0; i < options->against.n; i++)
		digest = dd_resume_digest(digest, options->against.at[i], 0);
	return digest;
}

int dd_check_inputs(const struct dd_options *options, uint64_t most, struct dd_inputs *all)
{
	struct looking looking = { .all = all };
	int code;

	*all = (struct dd_inputs){ .names = digest_options(options, 0) };
	if (!has_files_only(&options->inputs))
		return options->output_dir ?
			       tl_usage_error("--output-dir looks at all names before it reads, "
					      "so a list of --files-from must be a file") :
			       0;
	all->is_known = 1;
	if (options->output_dir)
		all->names = dd_resume_digest(0, options->output_dir, 0);
	code = in_files_each(&options->inputs, note, &looking);
	if (!options->output_dir)
		all->names = 0;
	all->names = digest_options(options, all->names);
	if (code || looking.tables <= most)
		return code;
	return tl_error("--memory is too small: there are %s files, which need at least --memory "
			"%" PRIu64 "M", tl_count(looking.n_files),
			dd_memory_megabytes(looking.tables, options->threads));
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_options.h"

#include "common/tl_features.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "input/in_guard.h"
#include "common/tl_options.h"
#include "load/ld_help.h"
#include "load/ld_report.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_load.h>

/* Options without a letter. */
enum long_option {
	OPT_BITS = TL_LONG_OPTION,
	OPT_CREATE,
	OPT_DURABILITY,
	OPT_EXPECT,
	OPT_FEATURES_BY,
	OPT_FILES_FROM,
	OPT_FILL,
	OPT_FORCE,
	OPT_FP2,
	OPT_FROM,
	OPT_HELP,
	OPT_IDS,
	OPT_LAYOUT,
	OPT_MAX_ERRORS,
	OPT_MEMORY,
	OPT_MERGE,
	OPT_MODE,
	OPT_NO_FP2,
	OPT_ON_DUPLICATE,
	OPT_PLAN,
	OPT_REJECTS,
	OPT_RESUME,
	OPT_SUMMARY,
	OPT_THREADS,
	OPT_TMPDIR,
	OPT_VERSION,
	OPT_WAIT
};

static const struct option long_options[] = {
	{ "bits", required_argument, NULL, OPT_BITS },
	{ "create", required_argument, NULL, OPT_CREATE },
	{ "durability", required_argument, NULL, OPT_DURABILITY },
	{ "expect", required_argument, NULL, OPT_EXPECT },
	{ "features-by", required_argument, NULL, OPT_FEATURES_BY },
	{ "files-from", required_argument, NULL, OPT_FILES_FROM },
	{ "fill", required_argument, NULL, OPT_FILL },
	{ "force", no_argument, NULL, OPT_FORCE },
	{ "format", required_argument, NULL, 'F' },
	{ "fp2", no_argument, NULL, OPT_FP2 },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "ids", required_argument, NULL, OPT_IDS },
	{ "layout", required_argument, NULL, OPT_LAYOUT },
	{ "max-errors", required_argument, NULL, OPT_MAX_ERRORS },
	{ "memory", required_argument, NULL, OPT_MEMORY },
	{ "merge", required_argument, NULL, OPT_MERGE },
	{ "mode", required_argument, NULL, OPT_MODE },
	{ "no-fp2", no_argument, NULL, OPT_NO_FP2 },
	{ "on-duplicate", required_argument, NULL, OPT_ON_DUPLICATE },
	{ "plan", required_argument, NULL, OPT_PLAN },
	{ "quiet", no_argument, NULL, 'q' },
	{ "recursive", required_argument, NULL, 'r' },
	{ "rejects", required_argument, NULL, OPT_REJECTS },
	{ "resume", no_argument, NULL, OPT_RESUME },
	{ "summary", required_argument, NULL, OPT_SUMMARY },
	{ "threads", required_argument, NULL, OPT_THREADS },
	{ "tmpdir", required_argument, NULL, OPT_TMPDIR },
	{ "version", no_argument, NULL, OPT_VERSION },
	{ "wait", required_argument, NULL, OPT_WAIT },
	IN_COLUMNS_OPTIONS,
	TL_TEXT_OPTIONS,
	{ NULL, 0, NULL, 0 }
};

/* In the order of the enums that they stand for. */
static const char *const create_words[] = { "if-missing", "must", "truncate", NULL };
static const char *const merge_words[] = { "auto", "always", "never", NULL };
static const char *const layout_words[] = { "blocks", "rows", NULL };
static const char *const durability_words[] = { "full", "normal", NULL };
static const char *const ids_words[] = { "auto", "none", NULL };
static const char *const mode_words[] = { "auto", "insert", "rebuild", NULL };
static const char *const duplicate_words[] = { "reject", "first", "last", NULL };

#define MIN_MEMORY ((uint64_t)64 << 20)
#define DEFAULT_MEMORY ((uint64_t)1 << 30)
#define MAX_THREADS 256

static int add_name(char ***names, size_t *n, char *name)
{
	char **larger = realloc(*names, (*n + 1) * sizeof(*larger));

	if (!larger) {
		tl_error("out of memory");
		return -1;
	}
	*names = larger;
	larger[(*n)++] = name;
	return 0;
}

static int set_word(const char *name, const char *const *words, int *out)
{
	*out = tl_option_word(name, optarg, words);
	return *out < 0 ? -1 : 0;
}

static int set_number(const char *name, uint64_t min, uint64_t max, uint64_t *out)
{
	return tl_option_number(name, optarg, min, max, out);
}

/* A number of bytes, perhaps with K, M or G behind it. */
static int set_memory(struct ld_options *options)
{
	uint64_t number;

	if (!tl_parse_bytes(optarg, strlen(optarg), SIZE_MAX / 2, &number) &&
	    number >= MIN_MEMORY) {
		options->memory = number;
		return 0;
	}
	tl_usage_error("--memory: expected a size of at least 64M, such as 400M or 2G, "
		       "found '%s'",
		       optarg);
	return -1;
}

static int set_format(struct ld_options *options)
{
	if (tl_option_word("--format", optarg, in_format_names) < 0)
		return -1;
	options->inputs.format = in_format_named(optarg);
	return 0;
}

/* Options about the inputs. Returns 0, -1 after a message, 1 if it is none of them. */
static int take_input_option(struct ld_options *options, int c)
{
	struct in_files_options *inputs = &options->inputs;

	switch (c) {
	case 'F':
		return set_format(options);
	case 'r':
		return add_name(&inputs->directories, &inputs->n_directories, optarg);
	case '0':
		inputs->separator = '\0';
		return 0;
	case OPT_FILES_FROM:
		return add_name(&inputs->lists, &inputs->n_lists, optarg);
	default:
		return in_columns_take(&inputs->columns, c, optarg);
	}
}

/* Options about the index. Returns as take_input_option(). */
static int take_index_option(struct ld_options *options, int c)
{
	uint64_t number = 0;
	int word = 0, rc = 0;

	switch (c) {
	case OPT_BITS:
		rc = set_number("--bits", SIMIDX_MIN_BITS, SIMIDX_MAX_BITS, &number);
		options->bits = (unsigned)number;
		return rc;
	case OPT_CREATE:
		rc = set_word("--create", create_words, &word);
		options->create = (enum ld_create)word;
		return rc;
	case OPT_FEATURES_BY:
		options->features_by = optarg;
		return tl_features_check(optarg);
	case OPT_FILL:
		rc = set_number("--fill", 50, 100, &number);
		options->fill = (unsigned)number;
		return rc;
	case OPT_FP2:
		options->fp2 = 1;
		return 0;
	case OPT_NO_FP2:
		options->fp2 = 0;
		return 0;
	case OPT_IDS:
		return set_word("--ids", ids_words, &options->no_ids);
	case OPT_LAYOUT:
		return set_word("--layout", layout_words, &options->layout);
	case OPT_EXPECT:
		return tl_option_number("--expect", optarg, 1, SIMIDX_MAX_ID, &options->expect);
	case OPT_PLAN:
		options->plan = optarg;
		return 0;
	default:
		return 1;
	}
}

/* Options about loading in bulk. Returns as take_input_option(). */
static int take_bulk_option(struct ld_options *options, int c)
{
	uint64_t number = 0;
	int word = 0, rc = 0;

	switch (c) {
	case OPT_FROM:
		return add_name(&options->from, &options->n_from, optarg);
	case OPT_MEMORY:
		return set_memory(options);
	case OPT_MODE:
		rc = set_word("--mode", mode_words, &word);
		options->mode = (enum ld_mode)word;
		return rc;
	case OPT_ON_DUPLICATE:
		rc = set_word("--on-duplicate", duplicate_words, &word);
		options->duplicates = (unsigned)word;
		return rc;
	case OPT_RESUME:
		options->resume = 1;
		return 0;
	case OPT_THREADS:
		rc = set_number("--threads", 1, MAX_THREADS, &number);
		options->threads = (unsigned)number;
		return rc;
	case OPT_TMPDIR:
		options->tmpdir = optarg;
		return 0;
	default:
		return 1;
	}
}

/* Options about what is told. Returns as take_input_option(). */
static int take_telling_option(struct ld_options *options, int c)
{
	switch (c) {
	case 'q':
		tl_set_quiet(1);
		return 0;
	case OPT_MAX_ERRORS:
		return set_number("--max-errors", 0, UINT64_MAX - 1, &options->max_errors);
	case OPT_REJECTS:
		options->rejects = optarg;
		return 0;
	case OPT_SUMMARY:
		options->summary = optarg;
		return 0;
	default:
		return 1;
	}
}

/* Options about writing. Returns as take_input_option(). */
static int take_writing_option(struct ld_options *options, int c)
{
	uint64_t number = 0;
	int word = 0, rc = 0;

	switch (c) {
	case OPT_DURABILITY:
		rc = set_word("--durability", durability_words, &word);
		options->durability = (unsigned)word;
		return rc;
	case OPT_FORCE:
		options->force = 1;
		return 0;
	case OPT_MERGE:
		rc = set_word("--merge", merge_words, &word);
		options->merge = (enum ld_merge)word;
		return rc;
	case OPT_WAIT:
		rc = set_number("--wait", 0, INT_MAX, &number);
		options->wait_ms = (int)number;
		return rc;
	default:
		return 1;
	}
}

/* Why the index is going to be built whole, whatever comes; or NULL. */
static const char *reason_to_build(const struct ld_options *options)
{
	if (options->n_from)
		return "--from";
	if (options->mode == LD_MODE_REBUILD)
		return "--mode rebuild";
	return options->duplicates == SIMIDX_DUPLICATES_LAST ? "--on-duplicate last" : NULL;
}

/* Whether a file may be one of texts. */
static int has_texts(const struct ld_options *options, const char *path)
{
	const struct in_format *format = options->inputs.format;
	const char *reason;

	if (!format)
		format = in_format_of_path(path, &reason);
	return format == &in_format_text || format == &in_format_jsonl;
}

/* Whether any input may; files of lists and directories have the format text by themselves. */
static int may_have_texts(const struct ld_options *options)
{
	const struct in_files_options *inputs = &options->inputs;

	if (inputs->n_lists + inputs->n_directories && has_texts(options, ""))
		return 1;
	for (size_t i = 0; i < inputs->n_operands; i++)
		if (has_texts(options, inputs->operands[i]))
			return 1;
	return 0;
}

/* Unless short texts are to match exactly, what becomes of them is a matter of this run alone. */
static int check_short(const struct ld_options *options)
{
	const struct tl_text_options *text = &options->text;
	int rejects = text->short_texts == TL_SHORT_REJECT;

	if (text->short_texts == TL_SHORT_EXACT || (!text->how.min_tokens && !rejects) ||
	    may_have_texts(options))
		return LD_PROCEED;
	return tl_usage_error("%s goes with texts, and no input has any",
			      rejects ? "--short reject" : "--min-tokens");
}

/* Options that exclude each other, or that this build cannot follow. */
static int check_together(const struct ld_options *options)
{
	const char *builds = reason_to_build(options);

	if (options->merge == LD_MERGE_NEVER && builds)
		return tl_usage_error("--merge never: %s builds the index whole, with everything "
				      "merged",
				      builds);
	if (options->inputs.separator == '\0' && !options->inputs.n_lists)
		return tl_usage_error("-0 is about the lists of --files-from, and none is given");
	if (options->mode == LD_MODE_INSERT && options->n_from)
		return tl_usage_error("--from: indexes are taken over by a rebuild only, so "
				      "--mode insert does not fit");
	if (options->mode == LD_MODE_INSERT &&
	    options->duplicates == SIMIDX_DUPLICATES_LAST)
		return tl_usage_error("--on-duplicate last: documents are replaced by a rebuild "
				      "only, so --mode insert does not fit");
	if (options->resume && builds)
		return tl_usage_error("--resume: a rebuild stores all or nothing, so there is "
				      "nothing to resume");
	if (options->resume && options->create != LD_CREATE_IF_MISSING)
		return tl_usage_error("--resume goes on with an index that is there, so --create "
				      "does not fit");
	if (options->features_by && tl_text_is_given(&options->text))
		return tl_usage_error("--features-by is about features that others have made of "
				      "texts, so options about texts do not fit");
	return check_short(options);
}

static int take_operands(int argc, char **argv, struct ld_options *options)
{
	struct in_files_options *inputs = &options->inputs;
	size_t i;

	if (optind == argc)
		return tl_usage_error("no index given");
	options->index = argv[optind++];
	in_guard_add(options->index);
	for (i = 0; i < options->n_from; i++)
		in_guard_add(options->from[i]);
	if (strcmp(options->index, "-") == 0)
		return tl_usage_error("'-' stands for no stored index, and this needs one");
	inputs->operands = argv + optind;
	inputs->n_operands = (size_t)(argc - optind);
	if (inputs->n_operands + inputs->n_lists + inputs->n_directories + options->n_from == 0)
		return tl_usage_error("no input given");
	for (i = 0; i < inputs->n_operands; i++)
		if (strcmp(inputs->operands[i], "-") == 0 && !inputs->format)
			return tl_usage_error("standard input needs its format: -F FORMAT");
	if (in_files_check(inputs, &options->total_bytes))
		return TL_TROUBLE;
	return check_together(options);
}

int ld_parse_options(int argc, char **argv, struct ld_options *options)
{
	int c, rc;

	memset(options, 0, sizeof(*options));
	options->inputs.separator = '\n';
	options->layout = options->no_ids = options->fp2 = options->wait_ms = -1;
	options->memory = DEFAULT_MEMORY;
	options->max_errors = UINT64_MAX;
	while ((c = tl_next_option(argc, argv, ":0F:qr:", long_options)) != TL_OPTION_END) {
		if (c == TL_OPTION_BAD)
			return TL_TROUBLE;
		if (c == OPT_HELP)
			return tl_print_help(ld_help);
		if (c == OPT_VERSION)
			return tl_print_version();
		rc = take_input_option(options, c);
		if (rc > 0)
			rc = tl_text_take(&options->text, c, optarg);
		if (rc > 0)
			rc = take_index_option(options, c);
		if (rc > 0)
			rc = take_bulk_option(options, c);
		if (rc > 0)
			rc = take_writing_option(options, c);
		if (rc > 0)
			rc = take_telling_option(options, c);
		if (rc)
			return TL_TROUBLE;
	}
	return take_operands(argc, argv, options);
}

void ld_free_options(struct ld_options *options)
{
	free(options->inputs.lists);
	free(options->inputs.directories);
	free(options->from);
	tl_text_options_free(&options->text);
}

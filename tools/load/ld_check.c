/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_check.h"

#include "common/tl_example.h"
#include "common/tl_features.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"
#include "input/in_codec.h"
#include "input/in_written.h"

#include <string.h>
#include <unistd.h>

#include <simidx_load.h>

/* Why the index is going to be built whole, whatever comes; or NULL. */
static const char *reason_to_build(const struct ld_options *options)
{
	if (options->from.n)
		return "--from";
	return options->write == LD_WRITE_REBUILD ? "--write rebuild" : NULL;
}

/* Whether a file may be one of texts. */
static int has_texts(const struct ld_options *options, const char *path)
{
	const struct in_format *format = options->inputs.format;

	if (!format)
		format = in_format_of_path(path, NULL);
	return format && in_format_may_have_texts(format, &options->inputs.columns);
}

/* Whether any input may; files of lists and directories have the format text by themselves. */
static int may_have_texts(const struct ld_options *options)
{
	const struct in_files_options *inputs = &options->inputs;

	if ((inputs->lists.n || inputs->recursive) && has_texts(options, ""))
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
		return TL_PROCEED;
	return tl_usage_error("%s goes with texts, and no input has any",
			      rejects ? "--short reject" : "--min-tokens");
}

static int reads_keys(const struct ld_options *options)
{
	return options->inputs.format == &in_format_ids ||
	       options->inputs.format == &in_format_labels;
}

static int check_name(const char *option, const char *path)
{
	return path && in_codec_misleads(path, 0) ?
		       tl_usage_error("%s %s: %s", option, path, in_codec_misleads(path, 0)) :
		       TL_PROCEED;
}

/* How many options write to standard output. */
static int count_outputs(const struct ld_options *options)
{
	return (options->rejects && strcmp(options->rejects, "-") == 0) +
	       (options->summary && strcmp(options->summary, "-") == 0) +
	       (options->emit != LD_EMIT_NONE);
}

/* A format of which the keys alone can be read. */
static int has_keys(const struct in_format *format)
{
	return format == &in_format_ids || format == &in_format_labels ||
	       format == &in_format_tsv || format == &in_format_csv || format == &in_format_jsonl ||
	       format == &in_format_dump;
}

int ld_check_keys(const struct ld_options *options)
{
	static const char takes[] = "--mode delete reads ids, labels, tsv, csv, jsonl or dump, not";
	const struct in_files_options *inputs = &options->inputs;

	for (size_t i = 0; i < inputs->n_operands; i++) {
		const char *key = inputs->operands[i];

		if (strcmp(key, "-") && access(key, F_OK))
			return tl_error("%s: no such file; a few: simidx-query delete INDEX --%s "
					"%s", key, key[strspn(key, "0123456789")] ? "label" : "id",
					key);
	}
	if (inputs->format && has_keys(inputs->format))
		return TL_PROCEED;
	if (inputs->format)
		return tl_usage_error("%s %s", takes, inputs->format->name);
	for (size_t i = 0; i < inputs->n_operands; i++) {
		const struct in_format *format = in_format_of_path(inputs->operands[i], NULL);

		if (format && !has_keys(format))
			return tl_usage_error("%s: %s %s: -F tells what it is; of a label: "
					      "simidx-query delete --label INDEX %s",
					      inputs->operands[i], takes, format->name,
					      inputs->operands[i]);
	}
	return TL_PROCEED;
}

/* What --mode delete has no use for. */
static int check_delete(const struct ld_options *options)
{
	const struct in_files_options *inputs = &options->inputs;

	if (inputs->lists.n || inputs->recursive)
		return tl_usage_error("--mode delete: %s finds files to store, so it does not fit",
				      inputs->lists.n ? "--files-from" : "-r");
	if (inputs->columns.text || inputs->columns.time)
		return tl_usage_error("--mode delete reads ids and labels, so %s does not fit",
				      inputs->columns.text ? "--text-field" : "--time");
	if (options->create != LD_CREATE_IF_MISSING)
		return tl_usage_error(
			"--mode delete needs an existing index, so --create does not fit");
	return TL_PROCEED;
}

/* What fits --mode. */
static int check_mode(const struct ld_options *options)
{
	const char *mode = ld_mode_words[options->mode], *builds = reason_to_build(options);
	int by_key = options->mode == LD_REPLACE || options->mode == LD_DELETE;

	if (options->mode != LD_IF_NEW &&
	    (options->radius >= 0 || options->accept >= 0 || options->touch ||
	     options->emit != LD_EMIT_NONE)) {
		if (options->mode == LD_ADD)
			tl_example_mend(NULL, 0, "--mode if-new");
		return tl_usage_error("%s goes with --mode if-new",
				      options->radius >= 0   ? "--radius"
				      : options->accept >= 0 ? "--accept"
				      : options->touch	     ? "--touch"
							     : "--emit");
	}
	if (tl_check_distances(options->radius, options->accept))
		return TL_TROUBLE;
	if (options->accept >= 0 && !may_have_texts(options) &&
	    options->inputs.format != &in_format_features)
		return tl_usage_error("--accept goes with texts, and no input has any");
	if (options->mode != LD_ADD && builds)
		return tl_usage_error("--mode %s changes the index row by row, so %s does not fit",
				      mode, builds);
	if (options->times && options->no_ids > 0)
		return tl_usage_error("--times needs ids, so --ids none does not fit");
	if (by_key && options->no_ids > 0)
		return tl_usage_error("--mode %s needs ids, so --ids none does not fit", mode);
	if (by_key && options->duplicates != SIMIDX_DUPLICATES_REJECT)
		return tl_usage_error("--on-duplicate goes with --mode add and if-new");
	if (options->mode != LD_DELETE && reads_keys(options))
		return tl_usage_error("-F %s goes with --mode delete",
				      options->inputs.format->name);
	if (options->mode == LD_DELETE)
		return check_delete(options);
	return options->emit == LD_EMIT_NEW ? in_files_check_lines(&options->inputs, "--emit new") :
					      TL_PROCEED;
}

int ld_check_merge_only(const struct ld_options *options)
{
	if (ld_has_inputs(options) || options->from.n)
		return tl_usage_error("--merge-only stores nothing, so it takes no INPUT");
	if (options->mode != LD_ADD || options->touch || options->resume ||
	    options->write != LD_WRITE_AUTO || options->create != LD_CREATE_IF_MISSING ||
	    options->merge == LD_MERGE_NEVER)
		return tl_usage_error("--merge-only: options about storing documents do not fit");
	return TL_PROCEED;
}

/* A full dump says itself how its texts were handled. */
static int check_full(const struct ld_options *options)
{
	if (options->inputs.format != &in_format_full)
		return TL_PROCEED;
	if (options->features_by || tl_text_is_given(&options->text))
		return tl_usage_error(
			"-F full: the first line says how texts have become fingerprints, so %s "
			"not fit",
			options->features_by ? "--features-by does" : "options about texts do");
	return TL_PROCEED;
}

/* What an engine cannot do: it takes documents by a writer alone. */
static int check_uri(const struct ld_options *options)
{
	if (!tl_path_is_uri(options->index))
		return TL_PROCEED;
	if (options->from.n)
		return tl_usage_error(
			"--from: not into %s, which an engine holds; 'simidx-query dump --format "
			"full' and -F full move an index there",
			options->index);
	if (options->write == LD_WRITE_REBUILD)
		return tl_usage_error("--write rebuild: not for %s, which an engine holds",
				      options->index);
	return TL_PROCEED;
}

/* What others have is not written over. */
static int check_written(const struct ld_options *options)
{
	struct in_written written[] = {
		in_written_look("--rejects", options->rejects, options->resume),
		in_written_look("--summary", options->summary, options->resume)
	};
	int prints = count_outputs(options) > 0;

	written[1].begins = IN_WRITTEN_SUMMARY;
	if (in_written_check_inputs(written, 2, &options->inputs, prints) ||
	    in_written_check(written, 2, options->index, prints))
		return TL_TROUBLE;
	return TL_PROCEED;
}

int ld_check_together(const struct ld_options *options)
{
	const char *builds = reason_to_build(options);
	int inserts = options->write == LD_WRITE_INSERT;
	int code = check_mode(options);

	if (code == TL_PROCEED)
		code = check_full(options);
	if (code == TL_PROCEED)
		code = check_uri(options);

	if (code != TL_PROCEED)
		return code;
	if (options->merge == LD_MERGE_NEVER && builds)
		return tl_usage_error("--merge never: %s builds the index whole, with everything "
				      "merged",
				      builds);
	if (options->inputs.nul_lists && !options->inputs.lists.n && !reads_keys(options))
		return tl_usage_error("-0 is about the lists of --files-from and about -F ids and "
				      "labels, and none is given");
	if (in_files_check_found(&options->inputs) != TL_PROCEED)
		return TL_TROUBLE;
	if (inserts && options->from.n)
		return tl_usage_error("--from: indexes are taken over by a rebuild only, so "
				      "--write insert does not fit");
	if (options->resume && builds)
		return tl_usage_error("--resume: a rebuild stores all or nothing, so there is "
				      "nothing to resume");
	if (options->resume && options->create != LD_CREATE_IF_MISSING)
		return tl_usage_error("--resume goes on with an existing index, so --create "
				      "does not fit");
	if (check_name("--rejects", options->rejects) != TL_PROCEED ||
	    check_name("--summary", options->summary) != TL_PROCEED)
		return TL_TROUBLE;
	if (count_outputs(options) > 1)
		return tl_usage_error(
			"of --rejects, --summary and --emit only one can go to standard output");
	if (check_written(options) != TL_PROCEED)
		return TL_TROUBLE;
	if (options->features_by && tl_features_check(options->features_by))
		return TL_TROUBLE;
	if (options->features_by && tl_text_is_given(&options->text))
		return tl_usage_error("--features-by is about features that others have made of "
				      "texts, so options about texts do not fit");
	return check_short(options);
}

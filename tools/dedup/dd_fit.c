/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_fit.h"

#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_path.h"
#include "input/in_codec.h"

#include <string.h>
#include <unistd.h>

const char *dd_fit_comparing(const struct dd_options *options)
{
	return options->similarity_given	? "--similarity" :
	       options->identical		? "--identical" :
	       options->near_misses		? "--near-misses" :
	       options->evidence_texts		? "--evidence-texts" :
	       dd_keep_option(&options->keep)	? dd_keep_option(&options->keep) :
	       options->compare_all		? "--all" :
	       options->spill != UINT64_MAX	? "--spill" :
	       options->remember > 0		? "--remember" :
						  NULL;
}

/* A file that is written to, compressed as its name says if it may be. */
static int check_file(const char *option, const char *path, int may_pack)
{
	const struct in_codec *codec = path && may_pack ? in_codec_of_path(path) : NULL;
	const char *misleads = path ? in_codec_misleads(path, may_pack) : NULL;

	if (path && !*path)
		return tl_usage_error("%s: FILE is empty", option);
	if (codec && in_codec_missing(codec))
		return tl_usage_error("%s: cannot be written %s", path, in_codec_missing(codec));
	return misleads ? tl_usage_error("%s %s: %s", option, path, misleads) : TL_PROCEED;
}

static int check_evidence(const struct dd_options *options)
{
	if (!options->evidence && (options->near_misses || options->evidence_texts))
		return tl_usage_error("%s goes with --evidence", options->near_misses ?
							 "--near-misses" : "--evidence-texts");
	if (options->pairs && (options->evidence || options->max_group))
		return tl_usage_error("%s is about what is left out, and with --pairs nothing is",
				      options->evidence ? "--evidence" : "--max-group");
	if (options->max_group && options->index)
		return tl_usage_error("--max-group counts within one run, so --index does not go "
				      "with it");
	return check_file("--evidence", options->evidence, 1);
}

static const char *only_of_stream(const struct dd_options *options)
{
	return options->dups	     ? "--dups" :
	       options->index	     ? "--index" :
	       options->output	     ? "--output" :
	       options->output_dir ? "--output-dir" :
				       NULL;
}

/* Who may stay. */
static int check_keep(struct dd_options *options)
{
	const char *other = dd_keep_option(&options->keep);
	int is_first = options->stream || options->pairs || options->no_verify;

	if (other && options->stream)
		return tl_usage_error("--stream keeps the first, as what is written cannot be "
				      "taken back, so %s does not go with it; sort the rows "
				      "before, what is to stay first, or have the others listed: "
				      "simidx-dedup --drop-list %s ...", other, other);
	if (options->pairs && (options->keep.is_given || other))
		return tl_usage_error("%s is about what is left out, and with --pairs nothing is",
				      options->keep.is_given ? "--keep" : other);
	options->inputs.columns.value = options->keep.field;
	return dd_keep_check(&options->keep, is_first ? DD_KEEP_FIRST : DD_KEEP_LONGEST);
}

/* A file or a directory, and the one that was meant. */
static int check_places(const struct dd_options *options)
{
	if (options->output && *options->output &&
	    (options->output[strlen(options->output) - 1] == '/' ||
	     tl_path_is_directory(options->output))) {
		if (!options->inputs.recursive || options->inputs.format_word)
			tl_example_mend_option("output", "--output-dir");
		return tl_usage_error("--output: '%s' is a directory; --output-dir writes a file "
				      "in it for each input; of what -r finds -F jsonl or another "
				      "tells the format", options->output);
	}
	if (options->output && options->output_dir)
		return tl_usage_error("--output and --output-dir exclude each other");
	if (options->output_dir && !*options->output_dir)
		return tl_usage_error("--output-dir: DIR is empty");
	if (options->output_dir && !access(options->output_dir, F_OK) &&
	    !tl_path_is_directory(options->output_dir))
		return tl_usage_error("--output-dir: '%s' is a file, and DIR is a directory",
				      options->output_dir);
	if (options->output_dir && tl_path_is_index(options->output_dir))
		return tl_usage_error("--output-dir: '%s' is an index, and --index names one",
				      options->output_dir);
	return TL_PROCEED;
}

/* What would be written are groups, unless that is asked for. */
static int refuse_without_stream(const struct dd_options *options)
{
	int may_be_groups = options->output && options->inputs.recursive;

	if (!may_be_groups && !options->pairs && !options->drop_list && !options->identical &&
	    !options->binary && !dd_keep_option(&options->keep))
		tl_example_mend(NULL, 0, "--stream");
	return tl_usage_error("%s goes with --stream%s", only_of_stream(options),
			      options->output ? "; groups go to standard output: > FILE" :
						": give that, too");
}

/* Names that end with a NUL byte are for xargs -0. */
static int refuse_null(const struct dd_options *options)
{
	if (!options->pairs && !options->json)
		tl_example_mend(NULL, 0, "--drop-list");
	return tl_usage_error("-0 is about --files-from, --drop-list, --list-binary and "
			      "--stream, and none is given");
}

int dd_fit_check(struct dd_options *options)
{
	if (check_evidence(options) != TL_PROCEED || check_keep(options) != TL_PROCEED)
		return TL_TROUBLE;
	if (options->pairs + options->drop_list + options->stream > 1)
		return tl_usage_error("only one of --pairs, --drop-list and --stream can be given; "
				      "what --stream leaves out is written by --dups FILE");
	if (!options->stream && options->output_dir && options->inputs.recursive)
		return tl_usage_error("--output-dir goes with --stream, and is for files of rows; "
				      "of whole files --drop-list prints what can be deleted");
	if (!options->stream && only_of_stream(options))
		return refuse_without_stream(options);
	if (check_places(options) != TL_PROCEED)
		return TL_TROUBLE;
	if (check_file("--dups", options->dups, 1) != TL_PROCEED ||
	    check_file("--output", options->output, 1) != TL_PROCEED ||
	    check_file("--rejects", options->rejects, 0) != TL_PROCEED ||
	    check_file("--summary", options->summary, 0) != TL_PROCEED ||
	    check_file("--list-binary", options->list_binary, 0) != TL_PROCEED)
		return TL_TROUBLE;
	if (options->resume && (!options->index || tl_path_is_uri(options->index)))
		return tl_usage_error(options->index ?
					      "--resume needs an index in a directory" :
					      "--resume goes with --index");
	if (options->identical && options->stream) {
		if (!options->similarity_given)
			tl_example_mend_option("identical", "--similarity 1");
		return tl_usage_error("--identical is about groups, --drop-list and --pairs, so "
				      "--stream does not go with it; --similarity 1 does");
	}
	if (options->identical && options->similarity_given)
		return tl_usage_error("--identical asks for the same bytes, so --similarity does "
				      "not go with it");
	if (options->binary && (options->pairs || options->stream))
		return tl_usage_error("--binary is about groups and --drop-list, so %s does not go "
				      "with it", options->pairs ? "--pairs" : "--stream");
	if (options->remember >= 0 && !options->index)
		return tl_usage_error("--remember is about the index of --index");
	if (options->against.n && options->pairs)
		return tl_usage_error(
			"--pairs are pairs of inputs, so --against does not go with it");
	if (options->is_untrusted && !options->index && !options->against.n)
		return tl_usage_error("--untrusted is about the indexes of --index and --against");
	if (options->json && (options->drop_list || (options->stream && !options->dups)))
		return tl_usage_error("--json does not fit %s",
				      options->stream ? "--stream without --dups" : "--drop-list");
	if (tl_check_distances(options->radius, options->accept))
		return TL_TROUBLE;
	if (options->no_verify && dd_fit_comparing(options))
		return tl_usage_error("%s is about comparing texts, which --no-verify leaves out",
				      dd_fit_comparing(options));
	if (options->inputs.nul_lists && !options->inputs.lists.n && !options->drop_list &&
	    !options->stream && !options->list_binary)
		return refuse_null(options);
	if (in_files_check_found(&options->inputs) != TL_PROCEED)
		return TL_TROUBLE;
	return options->stream ? in_files_check_lines(&options->inputs, "--stream") : TL_PROCEED;
}

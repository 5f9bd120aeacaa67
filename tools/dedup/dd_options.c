/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_options.h"

#include "common/tl_advice.h"
#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_others.h"
#include "common/tl_path.h"
#include "dedup/dd_fit.h"
#include "dedup/dd_memory.h"
#include "input/in_guard.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx.h>

/* The largest sum of weights: 128 of 255. */
#define MAX_ACCEPT (128 * 255)

/* Show a percentage, or a fraction as others write it, as the number that is meant. */
static int refuse_similarity(const char *value, double number, const char *end)
{
	const char *digits = strncmp(value, "0,", 2) == 0 ? value + 2 : "";
	int is_percent = number >= 10 && number <= 100 &&
			 (!*end || tl_others_list("% pct percent", end));
	int is_fraction = number > 0 && number <= 1 && !end[strspn(end, " ")] && *value != ' ' &&
			  !strpbrk(value, "xX");
	char right[32] = "0.8";

	if (is_percent || is_fraction)
		snprintf(right, sizeof(right), "%g", is_percent ? number / 100 : number);
	else if (!digits[strspn(digits, "0123456789")] && digits[strspn(digits, "0")])
		snprintf(right, sizeof(right), "0.%s", digits);
	if (is_percent || is_fraction || *digits)
		tl_example_mend(value, strlen(value), right);
	return tl_usage_error("--similarity: expected a number above 0 and at most 1, such as %s, "
			      "found '%s'", right, value);
}

/* A decimal fraction above 0 and at most 1: digits and one point. */
static int call_similarity(void *options, const char *value)
{
	char *end;
	double similarity = strtod(value, &end);

	if (strspn(value, "0123456789.") != strlen(value) || *end || end == value ||
	    similarity <= 0 || similarity > 1)
		return refuse_similarity(value, similarity, end);
	((struct dd_options *)options)->similarity = similarity;
	((struct dd_options *)options)->similarity_given = 1;
	return 0;
}

static const struct tl_option near_rows[] = {
	{ 0, "similarity", "S", TL_CALL(call_similarity),
	  .otherwise = TL_STRING(SIMIDX_DEDUP_SIMILARITY), .help = "texts are near from this on",
	  .more = "How similar two texts must be, above 0 and at most 1. The "
		  "similarity is the number of runs of five neighbouring words that both texts "
		  "have, divided by the number of those that any of the two has. Where a script "
		  "has no spaces between words (Han, kana, Thai, Lao, Khmer, Burmese), each letter "
		  "stands for a word." },
	{ 0, "identical", NULL, TL_FLAG(struct dd_options, identical),
	  .help = "only texts of the same bytes",
	  .more = "Print only what has the same bytes as another text, in groups, --drop-list and "
		  "--pairs. What is only similar stays, and is in no group. A compressed file "
		  "that would be one text is not unpacked, so it is no text (--binary)." },
	{ 0, "binary", NULL, TL_FLAG(struct dd_options, binary),
	  .help = "also files that are no texts, if their bytes are equal",
	  .more = "Files that are no texts, as they have a NUL byte in their first 8 KiB, are near "
		  "to others of the same bytes, and to nothing else. Those of one size are read "
		  "again in the end and compared, and their groups are the last. Compressed files "
		  "are compared as they are. Without this such files are skipped, or rejected if "
		  "they are named. Only for groups and --drop-list." },
	{ 0, "no-verify", NULL, TL_FLAG(struct dd_options, no_verify),
	  .help = "trust the fingerprints of texts",
	  .more = "Do not compare the texts: two fingerprints of each decide. That is faster, and "
		  "texts made from one template may be taken for copies of each other." },
	{ 'k', "radius", "K", TL_NUMBER(struct dd_options, radius, 0, SIMIDX_MAX_RADIUS),
	  .otherwise = TL_STRING(SIMIDX_DEFAULT_RADIUS),
	  .help = "fingerprints are near up to K bits",
	  .more = "Bare fingerprints are near if they differ in at most K bits. With "
		  "--no-verify also for texts, by their first fingerprint alone." },
	{ 0, "accept", "A", TL_NUMBER(struct dd_options, accept, 0, MAX_ACCEPT),
	  .help = "weight up to which texts are compared",
	  .more = "Texts are compared if the bits in which their fingerprints differ weigh at most "
		  "A, as 'simidx-query search --help' explains. Without this option A goes by "
		  "--similarity: 320 for 0.8, 120 more for each tenth less, and 200 from 0.9 on. "
		  "With --no-verify they are near then, and A is "
		  TL_STRING(SIMIDX_TEXT_RADIUS_IF_NEW) " without this option, for features and "
		  "with an index of an older version "
		  TL_STRING(SIMIDX_TEXT_RADIUS_IF_NEW_SAME) "." },
	{ 0, "all", NULL, TL_FLAG(struct dd_options, compare_all),
	  .help = "compare with all texts that may be near",
	  .more = "Compare a text with all that are within --accept. Without this it is compared "
		  "with the " TL_STRING(SIMIDX_DEDUP_MOST_COMPARED) " nearest at most; the "
		  "summary says how often that was not enough. "
		  "--pairs always compares with all." },
	{ 0 },
};

/* As enum simidx_dedup_remember. */
static const char *const remember_words[] = { "fingerprint", "sketch", "text", NULL };

const char *dd_remember_word(int remember)
{
	return remember_words[remember];
}

static const struct tl_option output_rows[] = {
	{ 0, "pairs", NULL, TL_FLAG(struct dd_options, pairs),
	  .help = "print all pairs of near documents",
	  .more = "Print each pair of near documents, and not groups: the similarity, the later "
		  "document and the earlier one. A text is compared with all that are within "
		  "--accept, as with --all." },
	{ 0, "drop-list", NULL, TL_FLAG(struct dd_options, drop_list),
	  .help = "print only what you can delete; with -0 for xargs -0",
	  .more = "Print only what you can delete: paths, of rows labels or FILE:LINE, one a "
		  "line and without escapes. A row whose label names another row or a file, "
		  "too, is FILE:LINE. With -0 names end with NUL bytes, for xargs -0, and so do "
		  "the names that --files-from reads. Without -0 a name with line ends is skipped, "
		  "with a warning and exit status 1, and so is one that another row has as its "
		  "label. With --against rows are FILE:LINE, as its documents may have the same "
		  "labels. What fingerprints alone decided is only "
		  "counted, unless --no-verify is given or the rows have no texts. Labels and "
		  "FILE:LINE may be names of other files: do not delete these as files." },
	{ 0, "stream", NULL, TL_FLAG(struct dd_options, stream),
	  .help = "write the inputs that are new, as they come",
	  .more = "Be a filter: write each input that is near to none before it to standard "
		  "output, in the order of the inputs. A row is written as it came, line by line; "
		  "of a file that is one text the path is written, with escapes in a name that has "
		  "line ends. With -0 such paths have no escapes and end with a NUL byte, and so "
		  "do the names that --files-from reads. The line of --header is written first, "
		  "once, unless the output is a file that begins with it; an input whose header "
		  "is another one is rejected. For fingerprints, or many processes at once: "
		  "'simidx-load --mode if-new --emit new'." },
	{ 0, "output", "FILE", TL_TEXT(struct dd_options, output),
	  .help = "with --stream: write what is new to FILE",
	  .more = "With --stream: write what is new to FILE and not to standard output. Nothing is "
		  "replaced: FILE must be new or empty, but with --index lines are added to those "
		  "of earlier runs. A "
		  "name that ends in .gz or .zst is compressed; one run at a time writes to such a "
		  "file. FILE must not be an input, which is an error; only a new one may be in a "
		  "directory or list, and is left out there." },
	{ 0, "output-dir", "DIR", TL_TEXT(struct dd_options, output_dir),
	  .help = "with --stream: what is new to a file for each input",
	  .more = "With --stream: write what is new to a file in the directory DIR for each input, "
		  "which is compressed where the name of the input says so. An input a/x.jsonl "
		  "goes to DIR/x.jsonl. Of -r a its files go to DIR/a/..., of -r a/ to DIR/..., "
		  "and what --files-from lists as a/x.jsonl goes to DIR/a/x.jsonl. Directories "
		  "are made. If two inputs would go to one file, or one to a file that has "
		  "contents or is an input, nothing is read. An input of which nothing stays gives "
		  "an empty file. The line of --header is written to each file. Only for files of "
		  "rows; one that is reached twice is written once, under its first name." },
	{ 0, "dups", "FILE", TL_TEXT(struct dd_options, dups),
	  .help = "with --stream: write to FILE what was left out",
	  .more = "With --stream: write to FILE what was left out: how similar it is, what it is, "
		  "and to what it is near, separated by tabs; then the labels of both, where rows "
		  "have some. FILE as of --output. What INDEX has with the same label is known and "
		  "not written; but a row without a label that an earlier run has kept is written "
		  "as near to 'id N', which may be the row itself, so that nothing should be "
		  "removed that is near to an id." },
	{ 0, "index", "INDEX", TL_TEXT(struct dd_options, index),
	  .help = "with --stream: remember what was new in INDEX",
	  .more = "With --stream: remember what was new in the index INDEX, which is made if it is "
		  "not there; what is in it is not new. --remember says what decides then. What "
		  "was left out and would not be by that is remembered, too, without its label: "
		  "the same inputs again leave out all that was left out before, but for "
		  "documents that are reported as compared without a match (--all). What was "
		  "written is synced before the commit that remembers it: after a crash the "
		  "same inputs again, with >> to the same file, give each new one at least once." },
	{ 0, "resume", NULL, TL_FLAG(struct dd_options, resume),
	  .help = "with --index: go on with a run that was killed",
	  .more = "With --index: go on where the last run has made its last commit, if it did "
		  "not finish. The options and inputs must be the same; those before that "
		  "place are checked by their names, order and sizes. The files that are "
		  "written are cut to what was committed, also where others have added to them "
		  "since, so that nothing is lost or written twice; a later file of "
		  "--output-dir that has contents is renamed to NAME.uncommitted.1, or the "
		  "next number. Standard output must be the same file again (>>); from a pipe "
		  "nothing can be taken back. A pipe that is an input must bring the same "
		  "bytes again. What was kept before is decided by as of an earlier run: with "
		  "--remember text that changes no decision. After a run that finished nothing "
		  "is done, or other inputs are begun; so they are if no run has begun. Two "
		  "runs with one INDEX at a time cannot both be resumed. Not with an index of "
		  "an engine." },
	{ 0, "remember", "WHAT", TL_WORD(struct dd_options, remember, remember_words),
	  .otherwise = "sketch", .help = "of texts in INDEX: fingerprint, sketch or text",
	  .more = "With --index: what of each text that is new is kept in INDEX for the runs to "
		  "come: fingerprint, sketch or text. It is chosen when the "
		  "index is made, and stays. sketch: at most 200 bytes, from which the "
		  "similarity is estimated. It is written as '~83', and its standard error is "
		  "1.4 percent at 80 and less above; of texts of more than 3,000 words '~100' "
		  "may differ in a few. text: the text itself, compressed, with which later "
		  "ones are compared exactly; of one of more than 8 MB a sketch. The summary "
		  "says how many bytes that takes. fingerprint: nothing else. The fingerprints "
		  "decide then (up to a weight of " TL_STRING(SIMIDX_TEXT_RADIUS_IF_NEW) ", as "
		  "with --no-verify), and the similarity is 'fp'. An index of an earlier "
		  "version or of an engine, one made with --no-verify, and one of features or bare "
		  "fingerprints have fingerprints alone." },
	{ 0, "against", "INDEX", TL_LIST(struct dd_options, against),
	  .help = "leave out what is near to documents of INDEX",
	  .more = "Leave out, too, what is near to a document of the index INDEX, which is only "
		  "read. May be given several times. What that index has decides: texts, "
		  "sketches, or fingerprints alone, as one of --index (see --remember). It must "
		  "have the profile of what is compared with it. Where a document is near to one "
		  "of INDEX, that is named by its label or as 'id N', followed by a tab and INDEX. "
		  "In groups it is the one that is kept. Not with --pairs, which are pairs of "
		  "inputs." },
	{ 0, "untrusted", NULL, TL_FLAG(struct dd_options, is_untrusted),
	  .help = "check the pages of INDEX before they are used",
	  .more = "Check the pages of the indexes of --index and --against before anything relies "
		  "on them. For an index that others could write or that may be damaged: it can "
		  "end the program by a signal otherwise. One that belongs to another user is "
		  "always checked. It takes a quarter of a second for 10 million documents." },
	{ 0, "rejects", "FILE", TL_TEXT(struct dd_options, rejects),
	  .help = "write rejected rows to FILE",
	  .more = "Write a line to FILE for each row or input that is rejected: where it is, a "
		  "tab, and the reason. FILE must be new or empty, and no input; with --resume "
		  "lines are added to it, and a row may be in it twice." },
	{ 0, "summary", "FILE", TL_TEXT(struct dd_options, summary),
	  .help = "write counts, times and sizes to FILE as JSON",
	  .more = "Write counts, times and sizes to FILE as JSON, also when the run fails or is "
		  "interrupted. FILE must be new or empty, or have an earlier summary, and be no "
		  "input; with --resume a line is added to it." },
	{ 0, "list-binary", "FILE", TL_TEXT(struct dd_options, list_binary),
	  .help = "write names of files that are no texts to FILE",
	  .more = "Write the name of each file that is no text to FILE, a line each, as --stream "
		  "writes names. FILE as of --rejects." },
	{ 0, "json", NULL, TL_FLAG(struct dd_options, json), .help = "print a JSON object a line" },
	{ 'q', "quiet", NULL, TL_FLAG(struct dd_options, quiet),
	  .help = "no notices, no progress, no summary" },
	{ 0 },
};

static const struct tl_option evidence_rows[] = {
	{ 0, "evidence", "FILE", TL_TEXT(struct dd_options, evidence),
	  .help = "write to FILE why each row is left out",
	  .more = "Write to FILE a JSON object a line for each row that is left out: which row it "
		  "is and what it is near to, with their places, how similar they are and by "
		  "which rule. 'simidx-query review FILE' shows such pairs. A name that ends in "
		  ".gz or .zst is compressed. As with --dups nothing is replaced, and with --index "
		  "lines are added; what INDEX has with the same label is known and not written. "
		  "One run at a time writes to a compressed file. Not with --pairs." },
	{ 0, "near-misses", "N", TL_NUMBER(struct dd_options, near_misses, 1, 99),
	  .help = "with --evidence: also what is N % below the limit",
	  .more = "With --evidence: write also rows that are kept though a text they were compared "
		  "with is at most N percent less similar than --similarity asks for, with the "
		  "most similar one. No more texts are compared for it, so that one far below "
		  "the limit may not be found (--accept)." },
	{ 0, "evidence-texts", "N", TL_COUNT(struct dd_options, evidence_texts, 1, 10000),
	  .help = "with --evidence: N characters of both texts",
	  .more = "With --evidence: write also N characters of both texts, from round the first "
		  "difference. For each row that is left out the other text is read again." },
	{ 0, "max-group", "N", TL_COUNT(struct dd_options, max_group, 1, UINT32_MAX - 1),
	  .otherwise = "no limit", .help = "leave out at most N for one document",
	  .more = "Leave out at most N documents for one that this run has kept. "
		  "What is near to it beyond these stays, with a notice: a template is "
		  "found so, whose texts are no copies. Not with --pairs or --index." },
	{ 0 },
};

static const struct tl_option resource_rows[] = {
	{ 0, "threads", "N", TL_NUMBER(struct dd_options, threads, 1, TL_MAX_THREADS),
	  .otherwise = "one a core", .help = "number of threads",
	  .more = "The number of threads. Without this option they are not more than --memory is "
		  "enough for." },
	{ 0, "memory", "BYTES", TL_SIZE(struct dd_options, memory, 0, UINT64_MAX),
	  .standard = "1G", .help = "at least 56M, and 2M a thread",
	  .more = "How much memory may be used: at least 56M and 2M for each thread. When what "
		  "must be known until the end fills one half, the run ends with exit 2: all that "
		  "was read before is decided and printed, and a message says where reading "
		  "stopped. If there are too many files, or likely too many rows, a message says "
		  "so at the beginning. A text that is too long for the other half is looked at "
		  "in parts, compared by a sketch, or rejected; a notice says so. doc/dedup.md "
		  "says what takes how much." },
	{ 0, "spill", "BYTES", TL_SIZE(struct dd_options, spill, 0, UINT64_MAX),
	  .otherwise = "a tenth of the free space",
	  .help = "disk for texts that cannot be read again",
	  .more = "Texts of pipes and compressed files cannot be read again, so they are stored in "
		  "up to three temporary files, each up to this size: "
		  "those that stay, those that --keep or --identical may need, and those "
		  "that are decided again. Beyond it fingerprints decide, and the similarity is "
		  "'fp'." },
	{ 0, "tmpdir", "DIR", TL_TEXT(struct dd_options, tmpdir),
	  .otherwise = "$TMPDIR or /tmp", .help = "where temporary files go",
	  .more = "The directory for temporary files. Without --index "
		  "the index is one of them. What a run that was killed has left there, the next "
		  "one removes." },
	{ 0, "bits", "F", TL_NUMBER(struct dd_options, bits, SIMIDX_MIN_BITS, SIMIDX_MAX_BITS),
	  .otherwise = TL_STRING(SIMIDX_DEFAULT_BITS),
	  .help = "bits of a bare fingerprint, 16..64" },
	{ 0 },
};

static const struct tl_option rows[] = {
	{ TL_SECTION("Inputs and how they are written") },
	{ TL_GROUP(in_files_rows, struct dd_options, inputs) },
	{ TL_SECTION("What is near") },
	{ TL_ROWS(near_rows) },
	{ TL_SECTION("What is printed") },
	{ TL_ROWS(output_rows) },
	{ TL_SECTION("Which one stays") },
	{ TL_GROUP(dd_keep_rows, struct dd_options, keep) },
	{ TL_SECTION("Why it was decided so") },
	{ TL_ROWS(evidence_rows) },
	{ TL_SECTION("Resources") },
	{ TL_ROWS(resource_rows) },
	{ TL_HELP_ROW },
	{ TL_VERSION_ROW },
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("A line for each document of a group, the one that stays first, then the "
		       "others by their similarity to it: the group, which is the number of its "
		       "first document in the order of the inputs; the similarity in percent; keep "
		       "or drop; the path, or FILE:LINE; of a row with a label that. The columns "
		       "are separated by tabs. Documents that are near to none are left out. A "
		       "document is compared with those that are kept, first with one that has a "
		       "rare run of words in common with it, then in the order in which their "
		       "fingerprints are near to its own, and joins the first one that is near "
		       "enough; then --keep says which of a group stays.") },
	{ TL_PARAGRAPH("The similarity is 'same' where both texts have the same bytes, and for the "
		       "document that is kept; '100.0' is of texts that have the same runs of "
		       "words in other bytes. It is 'fp' where a text could not be read again, so "
		       "that fingerprints decided, and such as '~83' where it is estimated. Of "
		       "bare fingerprints it is the number of bits that differ.") },
	{ TL_PARAGRAPH("With --json: group, similarity (null for fp) or for bare fingerprints "
		       "distance, estimate (true, if it is one, and then percent without "
		       "decimals), same (true, if the bytes are the same), keep, path, line, "
		       "label; of a document of --against in place of path and line: label, if it "
		       "has one, id, index. With --pairs: similarity or distance, and path, line, "
		       "label, path2, line2, label2; so in --dups, where id2 is the id in the "
		       "index, and a document of an earlier run or of --against has label2, if it "
		       "has a label, and no path2, and one of --against has index2. What is not "
		       "UTF-8 is in path_hex, path2_hex, label_hex, label2_hex, index_hex or "
		       "index2_hex instead, two hex digits a byte.") },
	{ TL_PARAGRAPH("Evidence has: similarity, estimate or distance as above; limit, what "
		       "--similarity was; rule: equal (the same bytes), text (compared), sketch "
		       "(estimated) or fingerprint; keep: false, and true for a near miss. Then, "
		       "of the row: path, line, offset and length in bytes where it can be read "
		       "again, id and label if it has them, format, text_field, header and "
		       "delimiter as the options were, hash (XXH3 of the text), and with "
		       "--evidence-texts excerpt. A file "
		       "that is no text has the format binary, and no hash or excerpt. The same "
		       "with a 2 at the end of each name of what it is near to; of a document of "
		       "an earlier run or of --against these are id2, its id there, label2 and "
		       "index2.") },
	{ TL_PARAGRAPH("At the end the ten largest groups that had ten or more left out are "
		       "listed, each with the beginning of the text that stays; --stream without "
		       "--dups names a row that was left out for it. There is also a "
		       "warning, also with -q, if for one document more than 1,000 were left "
		       "out and more than 1 % of all.") },
	{ TL_PARAGRAPH("A text that is contained in a much longer one is not near to it. Texts "
		       "without words are near to texts of the same bytes only, and empty ones to "
		       "nothing. A file that is reached twice counts once, also by another name of "
		       "it (a hard link); if it can be deleted, each of its paths has a line. "
		       "A file that has changed since it was read, or its owner, mode or hard "
		       "links, is left out of groups and of --drop-list, with a notice. Its "
		       "texts cannot be compared any more, so that fingerprints decide, also "
		       "with a notice. But rows may be added to a file of rows: those before "
		       "them are compared.") },
	{ TL_SECTION("Formats") },
	{ TL_PARAGRAPH("As 'simidx-load --help' describes them. All inputs have texts, or all have "
		       "fingerprints, or all have features, which others have made of texts. Of "
		       "features two fingerprints are made as of texts, and these decide "
		       "(--accept, default: " TL_STRING(SIMIDX_TEXT_RADIUS_IF_NEW_SAME) "), so "
		       "that the similarity is 'fp'.") },
	{ TL_SECTION("Exit status") },
	{ TL_TERM("0", "Done, with or without duplicates.") },
	{ TL_TERM("1", "Some inputs or rows could not be read; the others were.") },
	{ TL_TERM("2", "It could not be done, no input could be read, or it was interrupted; with "
		       "--index also if the output was closed, as then not all is remembered.") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-dedup -r articles/",
		     "Groups of near-duplicates among the texts of a directory.") },
	{ TL_EXAMPLE("simidx-dedup -r --drop-list -0 articles/ | xargs -0r rm --",
		     "Delete what is near to another one. Look at the groups first.") },
	{ TL_EXAMPLE("zcat crawl.jsonl.gz | simidx-dedup --stream -F jsonl - >new.jsonl",
		     "The rows whose \"text\" is near to none before.") },
	{ TL_EXAMPLE("simidx-dedup --stream --index seen today.jsonl >>new.jsonl",
		     "The same day by day: what was new is remembered in the index seen.") },
	{ TL_EXAMPLE("simidx-dedup --stream --against test train.jsonl >clean.jsonl",
		     "The rows that are near neither to each other nor to a document of the index "
		     "test.") },
	{ 0 },
};

const struct tl_command dd_command = {
	.name = "simidx-dedup",
	.operands = "INPUT...",
	.shortest = "INPUT",
	.least = 0,
	.most = INT_MAX,
	.tasks = "-r DIR: groups of near texts; -r --drop-list DIR: files that can go; --stream "
		 "FILE: rows that stay; --stream --dups OUT FILE: rows left out, too; --stream "
		 "--index INDEX FILE: rows that no earlier run has had; --stream --against INDEX "
		 "FILE: rows that are not in INDEX; --text-field NAME: which field; --pairs FILE: "
		 "pairs; --similarity S, --keep RULE, --exclude PATTERN, --threads N, --json",
	.summary = "find near-duplicates among files and rows",
	.about = "Find near-duplicates among the inputs: files, rows of files, or with -r all "
		 "files of directories. Groups of them are printed, and what you can delete of "
		 "each. Nothing is deleted.",
	.options = rows,
};

/* ---- the command line ---- */

/* A file of rows, where an index is to be made of it first. */
static int refuse_file(const char *option, const char *path)
{
	char room[TL_PATH_WORD_SIZE];

	if (in_format_of_path(path, NULL) == &in_format_text)
		return tl_usage_error("%s: '%s' is a file, and an index is a directory", option,
				      path);
	return tl_usage_error("%s: '%s' is a file and no index; 'simidx-dedup -q --stream --index "
			      "INDEX %s >/dev/null' makes one of its rows", option, path,
			      tl_path_word(path, room));
}

static int check_indexes(const struct dd_options *options)
{
	const char *index = options->index;

	if (index && (!*index || strcmp(index, "-") == 0))
		return tl_usage_error("--index: '%s' is no index", index);
	if (index && tl_path_refuse_scheme(index))
		return TL_TROUBLE;
	if (index && tl_path_is_file(index))
		return refuse_file("--index", index);
	if (index)
		in_guard_add(index);
	if (options->output_dir)
		in_guard_add(options->output_dir);
	for (size_t i = 0; i < options->against.n; i++) {
		const char *path = options->against.at[i];

		if (!*path || strcmp(path, "-") == 0)
			return tl_usage_error("--against: '%s' is no index", path);
		if (tl_path_is_file(path))
			return refuse_file("--against", path);
		if (index && (strcmp(index, path) == 0 || tl_path_is_same(index, path)))
			return tl_usage_error("--against: '%s' is the index of --index", path);
		in_guard_add(path);
	}
	return options->against.n <= DD_MOST_AGAINST ?
		       TL_PROCEED :
		       tl_usage_error("--against can be given %d times at most", DD_MOST_AGAINST);
}

static int take_operands(struct dd_options *options, char **operands, size_t n)
{
	struct in_files_options *inputs = &options->inputs;
	size_t directories = 0;

	if (check_indexes(options) != TL_PROCEED)
		return TL_TROUBLE;
	inputs->format = in_format_at(inputs->format_word);
	inputs->may_recurse = inputs->may_be_missing = 1;
	inputs->operands = operands;
	inputs->n_operands = n;
	if (!n && !inputs->lists.n)
		return tl_refuse_no_input();
	if (n && tl_refuse_word(operands[0], operands[1]))
		return TL_TROUBLE;
	/* As simidx-load has it. */
	if (n > 1 && options->stream && !options->index && access(operands[0], F_OK) &&
	    !strpbrk(operands[0], "./*?~,-")) {
		tl_example_mend(operands[0], 0, "--index ");
		return tl_usage_error("%s: is not there: INPUTs are files, and --index makes an "
				      "index", operands[0]);
	}
	for (size_t i = 0; i < n; i++) {
		if (tl_path_is_index(operands[i]) &&
		    (!inputs->recursive || tl_path_has_locks(operands[i]))) {
			if (n > 1)
				tl_example_mend(operands[i], 0, "--against ");
			return tl_usage_error("%s: is an index, and INPUTs are files: --index and "
					      "--against name indexes", operands[i]);
		}
		if (n > 1 && !operands[i][strspn(operands[i], "/")])
			return tl_usage_error("'%s' is the root directory, and separates nothing; "
					      "--prefer DIR says what stays", operands[i]);
		directories += (size_t)tl_path_is_directory(operands[i]);
	}
	if (n && directories == n && !inputs->recursive && !inputs->lists.n) {
		tl_example_mend(NULL, 0, "-r");
		return tl_usage_error("%s: is a directory: -r reads the files in it", operands[0]);
	}
	if (in_files_check_dash(inputs) != TL_PROCEED || dd_fit_check(options) != TL_PROCEED ||
	    dd_memory_check(options->memory, &options->threads) != TL_PROCEED)
		return TL_TROUBLE;
	if (in_files_check(inputs, &options->total_bytes))
		return TL_TROUBLE;
	if (!inputs->lists.n)
		dd_keep_look(&options->keep, operands, n);
	return TL_PROCEED;
}

int dd_parse_options(int argc, char **argv, struct dd_options *options)
{
	int code;

	memset(options, 0, sizeof(*options));
	options->similarity = SIMIDX_DEDUP_SIMILARITY;
	options->radius = options->accept = options->remember = -1;
	options->spill = UINT64_MAX;
	code = tl_parse(&dd_command, options, NULL, argc, argv);
	if (code != TL_PROCEED)
		return code;
	tl_set_quiet(options->quiet);
	if (options->identical && !options->similarity_given)
		options->similarity = 1;
	options->bits_given = options->bits > 0;
	if (!options->bits_given)
		options->bits = SIMIDX_DEFAULT_BITS;
	options->tmpdir = tl_path_temporary(options->tmpdir, "/tmp");
	return take_operands(options, argv + optind, (size_t)(argc - optind));
}

unsigned dd_trust_flags(const struct dd_options *options, const char *path)
{
	return options->is_untrusted || (path && tl_path_is_foreign(path)) ?
		       SIMIDX_OPEN_UNTRUSTED : 0;
}

void dd_free_options(struct dd_options *options)
{
	in_files_free_options(&options->inputs);
	free(options->against.at);
	dd_keep_free(&options->keep);
}

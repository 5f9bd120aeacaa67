/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_options.h"

#include "common/tl_advice.h"
#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_others.h"
#include "common/tl_path.h"
#include "input/in_guard.h"
#include "load/ld_check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the order of the enums that they stand for. */
static const char *const create_words[] = { "if-missing", "must", "truncate", NULL };
static const char *const merge_words[] = { "auto", "always", "never", "beside", NULL };
static const char *const layout_words[] = { "blocks", "rows", NULL };
static const char *const durability_words[] = { "full", "normal", NULL };
static const char *const ids_words[] = { "auto", "none", NULL };
static const char *const write_words[] = { "auto", "insert", "rebuild", NULL };
static const char *const duplicate_words[] = { "reject", "first", NULL };
static const char *const emit_words[] = { "none", "new", "dup", "all", NULL };
const char *const ld_mode_words[] = { "add", "if-new", "replace", "delete", NULL };

/* The largest sum of weights: 128 of 255. */
#define MAX_ACCEPT (128 * 255)

#define MIN_MEMORY ((uint64_t)64 << 20)

/* Octal digits; the owner must be able to read and write. */
static int call_permissions(void *options, const char *value)
{
	char *end;
	unsigned long mode = strtoul(value, &end, 8);

	if (*value < '0' || *value > '7' || *end || mode > 0777 || (mode & 0600) != 0600)
		return tl_usage_error("--permissions: expected octal digits such as 640, with "
				      "read and write for the owner, found '%s'", value);
	((struct ld_options *)options)->permissions = (unsigned)mode;
	return 0;
}

/* ---- the table ---- */

static const struct tl_option index_rows[] = {
	{ 0, "create", "WHEN", TL_WORD(struct ld_options, create, create_words),
	  .standard = "if-missing", .help = "if-missing, must or truncate",
	  .more = "When an index is made. if-missing: if INDEX is not there; must: always, so it "
		  "must not be there; truncate: always, and an existing index is replaced: "
		  "when a new one has been built, with --write insert, --merge never and "
		  "--mode if-new or replace, and in HBase always, at the first row that is not "
		  "rejected." },
	{ 0, "plan", "PLAN", TL_TEXT(struct ld_options, plan), .otherwise = "auto",
	  .help = "4x16, 10x26, 16x28, 20x31, 3x22, 2x32 or auto",
	  .more = "Which sorted tables the index has: 4x16, 10x26, 16x28, 20x31, 3x22, 2x32 or "
		  "auto. auto is 4x16, or 3x22 if --expect is above 50M. "
		  "'simidx-query plan' compares them." },
	{ 0, "expect", "N", TL_COUNT(struct ld_options, expect, 1, SIMIDX_MAX_ID),
	  .help = "documents that the index is going to have" },
	{ 0, "layout", "LAYOUT", TL_WORD(struct ld_options, layout, layout_words),
	  .otherwise = "blocks", .help = "blocks or rows",
	  .more = "How documents are stored: blocks, which are compressed, or rows, as they "
		  "are." },
	{ 0, "fill", "PERCENT", TL_NUMBER(struct ld_options, fill, 50, 100),
	  .otherwise = "90", .help = "how full blocks are made, 50..100" },
	{ 0, "bits", "F", TL_NUMBER(struct ld_options, bits, SIMIDX_MIN_BITS, SIMIDX_MAX_BITS),
	  .otherwise = TL_STRING(SIMIDX_DEFAULT_BITS), .help = "bits of a fingerprint, 16..64" },
	{ 0, "ids", "auto|none", TL_WORD(struct ld_options, no_ids, ids_words),
	  .otherwise = "auto", .help = "none: distinct fingerprints only",
	  .more = "Whether documents have ids. auto: yes, and labels if they are "
		  "given; none: the index keeps distinct fingerprints only, without ids and "
		  "labels." },
	{ 0, "fp2", NULL, TL_SET(struct ld_options, fp2, 1),
	  .help = "with a second fingerprint for each document",
	  .more = "With a second fingerprint for each document. An index of texts that has ids "
		  "does so by itself." },
	{ 0, "no-fp2", NULL, TL_SET(struct ld_options, fp2, 0),
	  .help = "without second fingerprints" },
	{ 0, "times", NULL, TL_FLAG(struct ld_options, times),
	  .help = "with a time for each document",
	  .more = "With a time for each document, in seconds since 1970: that of --time, else when "
		  "it was stored. Then simidx-query can delete the old ones, or leave them out of "
		  "searches." },
	{ 0, "permissions", "MODE", TL_CALL(call_permissions),
	  .otherwise = "600", .help = "of its files, such as 640",
	  .more = "Permissions of its files in octal digits, such as 640 or 644, "
		  "whatever the umask. The directory gets the same and search. Who may search must "
		  "be able to write lock.mdb, or use --static." },
	{ TL_PARAGRAPH("These options must match an index that exists already.") },
	{ 0 },
};

static const struct tl_option time_rows[] = {
	{ 0, "time", "NAME", TL_TEXT(struct ld_options, inputs.columns.time),
	  .help = "tsv, csv, jsonl: the column of times, or its number",
	  .more = "The column or member that has the time of a document, in an index with --times: "
		  "a name, or without a header a number. It has seconds since 1970, or a date and "
		  "time with a zone as RFC 3339 writes them, such as 2026-11-26T09:15:00+01:00; in "
		  "jsonl a string or a whole number. Where it is empty or missing the time is "
		  "unknown; a row with anything else is rejected. Times in the future are kept, "
		  "and counted." },
	{ 0 },
};

static const struct tl_option text_rows[] = {
	{ TL_GROUP(tl_text_rows, struct ld_options, text) },
	{ 0, "features-by", "NAME", TL_TEXT(struct ld_options, features_by),
	  .help = "who makes the features of -F features and jsonl",
	  .more = "Other programs make features of the texts, in a way that has this name: say "
		  "which program, its version and its word lists. The index keeps the name, and "
		  "every load and search must give the same." },
	{ TL_PARAGRAPH("An index is one of texts if one of these options, but not --min-tokens or "
		       "--short flag or reject, is given or if the first row is a text; else it "
		       "is one of fingerprints. It remembers how its texts were handled. Of "
		       "lists in files it keeps only a hash, so these files must be given again "
		       "when it is loaded or searched; what differs is refused. --min-tokens and "
		       "--short flag or reject are about one run, and only one with texts.") },
	{ 0 },
};

static const struct tl_option write_rows[] = {
	{ 0, "mode", "MODE", TL_WORD(struct ld_options, mode, ld_mode_words), .standard = "add",
	  .help = "add, if-new, replace or delete",
	  .more = "What is done with a row. add: store it. if-new: store it unless a near "
		  "document is stored, also one of an earlier row; such a row is left out, "
		  "which is no error. replace: store it in the place of the document with its "
		  "id, without an id of the one with its label, whose id it keeps; if there is "
		  "none, add it. The row is the whole document: without a label it has none "
		  "afterwards. delete: delete the document with its id, without an id the one "
		  "with its label; see Deleting below. All but add change the index row by "
		  "row, so that nothing is rebuilt. To compare the texts themselves: "
		  "'simidx-dedup --stream --index'." },
	{ 'k', "radius", "K", TL_NUMBER(struct ld_options, radius, 0, SIMIDX_MAX_RADIUS),
	  .help = "if-new: near is what differs in at most K bits",
	  .more = "With --mode if-new: near is what differs in at most K bits. The default for "
		  "fingerprints is " TL_STRING(SIMIDX_DEFAULT_RADIUS) ", and for texts where the "
		  "index has no second fingerprints." },
	{ 0, "accept", "A", TL_NUMBER(struct ld_options, accept, 0, MAX_ACCEPT),
	  .otherwise = TL_STRING(SIMIDX_TEXT_RADIUS_IF_NEW),
	  .help = "if-new: texts are near up to weight A",
	  .more = "With --mode if-new: a text is near if the bits that differ weigh at most A, as "
		  "'simidx-query search --help' explains, and are at most "
		  TL_STRING(SIMIDX_TEXT_BITS_IF_NEW) " of the first "
		  "fingerprint (" TL_STRING(SIMIDX_TEXT_BITS) " where there is no second one), not "
		  "counting those of weight 0. "
		  "Features are texts, too; fingerprints are not. The default is "
		  TL_STRING(SIMIDX_TEXT_RADIUS_IF_NEW) " where the "
		  "second fingerprints of the index were made from runs of three words, and "
		  TL_STRING(SIMIDX_TEXT_RADIUS_IF_NEW_SAME) " "
		  "where they were made from the features of the first ones: stricter than a "
		  "search, as no one checks what is left out. Notices made from one template can "
		  "be as near to each other as copies are; --emit dup shows what is left out." },
	{ 0, "touch", NULL, TL_FLAG(struct ld_options, touch),
	  .help = "if-new: the near document gets the time of the row",
	  .more = "With --mode if-new, in an index with --times: where a row is left out, the "
		  "nearest document that is near gets its time, that of --time or now, unless it "
		  "has a later one. So what is still seen does not grow old. A row whose id or "
		  "label is in use is no error then: the document that has it gets the time. But "
		  "where a row has both, and no document has both, nothing is touched, and "
		  "--on-duplicate says what is done." },
	{ 0, "emit", "WHICH", TL_WORD(struct ld_options, emit, emit_words), .standard = "none",
	  .help = "if-new: print new, dup or all rows",
	  .more = "With --mode if-new: write rows to standard output, in the order of the input. "
		  "new: those that were stored, line by line as they came; of a file that is one "
		  "document its path. dup: for each that was left out a line with columns that are "
		  "separated by tabs: where the row is (FILE:LINE), its label, and of the nearest "
		  "document that is near the id, the distance (bits that differ), the weight (of "
		  "these bits; without weights the distance) and the label. all: both in such "
		  "lines, with a first column new or dup; a new row has its own id in the fourth "
		  "one, and the rest is empty. Labels have the escapes \\t \\n \\r \\\\ \\xHH. "
		  "Rows that are rejected, or left out because their id or label is in use, and "
		  "the line of --header are not written.\n"
		  "Lines are handed over, and synced if standard output is a file, before the "
		  "commit that remembers their rows. So a load that fails or is killed may have "
		  "written lines whose rows are not stored; when it goes on with --resume (and "
		  ">>), these come again and none is lost. Half a line at the end of the file is "
		  "then removed. With an index in Redis, where a commit decides, lines come after "
		  "it: a load that is killed just then has stored rows without their lines. "
		  "For a row that another writer stored first, only the id of the near "
		  "document is known." },
	{ 0, "write", "HOW", TL_WORD(struct ld_options, write, write_words), .standard = "auto",
	  .help = "auto, insert or rebuild",
	  .more = "How documents get into the index. insert: add the documents to the index and "
		  "commit now and then (--commit), while others read it. rebuild: build a new "
		  "index of its documents and the inputs, and put it in the place of the old "
		  "one. auto: build an index that is not there; insert into one that is, but "
		  "when more than 100,000 documents and more than 5 % of the index have come, "
		  "rebuild it with the rest." },
	{ 0, "from", "OTHER", TL_LIST(struct ld_options, from),
	  .help = "first take over the documents of this index",
	  .more = "Take over all documents of the index OTHER before those of the inputs, by a "
		  "rebuild. May be repeated." },
	{ 0, "on-duplicate", "WHAT", TL_WORD(struct ld_options, duplicates, duplicate_words),
	  .standard = "reject", .help = "reject or first",
	  .more = "What to do when an id or label is already in use. reject: the row is an error; "
		  "first: keep the stored document, which is no error. --mode replace is "
		  "for those that are to take its place, and --touch for those that are seen "
		  "again." },
	{ 0, "resume", NULL, TL_FLAG(struct ld_options, resume),
	  .help = "go on with a load that was interrupted",
	  .more = "Go on with a load by insertion that was interrupted. The inputs must be the "
		  "same, and standard input must bring the same again. If nothing of them was "
		  "stored yet, begin. A load that has finished has nothing left to do. Of "
		  "two that go on at once, one ends with an error. With an index in HBase a load "
		  "that is still at work does, too." },
	{ 0, "commit", "N", TL_COUNT(struct ld_options, commit, 1, SIMIDX_MAX_ID),
	  .standard = "100K", .help = "commit after N rows",
	  .more = "When rows are inserted, replaced or deleted: commit after N of them, and "
		  "earlier when their labels have 16 MB, after 5 seconds, and when the input has "
		  "paused for a second. Others see them then and get their turn to write, and "
		  "standard output gets what --emit says." },
	{ 0, "merge", "WHEN", TL_WORD(struct ld_options, merge, merge_words), .standard = "auto",
	  .help = "auto, always, never or beside",
	  .more = "When documents that were inserted are moved into the sorted tables. auto: when "
		  "they are many, and at the end of a load that makes the index; always: also at "
		  "the end of any other load; never: insert into a new index, too, and leave them "
		  "where they are; beside: as auto, but by a thread while rows are inserted, so "
		  "that commits are short. A commit waits where the thread falls behind." },
	{ 0, "merge-only", NULL, TL_FLAG(struct ld_options, merge_only),
	  .help = "no INPUT: merge what others have inserted",
	  .more = "Without INPUT: move the documents that were inserted into the sorted tables, "
		  "while other processes go on inserting. With --merge never these need not stop "
		  "to do it themselves." },
	{ 0, "durability", "LEVEL", TL_WORD(struct ld_options, durability, durability_words),
	  .standard = "full", .help = "full, or normal: faster commits",
	  .more = "What a power cut may do. full: what is committed survives it; normal: the last "
		  "commits may be lost, and the index stays sound." },
	{ 0, "wait", "MS", TL_NUMBER(struct ld_options, wait_ms, 0, INT_MAX),
	  .otherwise = "no limit", .help = "longest wait for another writer",
	  .more = "The longest wait, in milliseconds, for another process that writes INDEX." },
	{ 0, "force", NULL, TL_FLAG(struct ld_options, force),
	  .help = "accept a network file system, at your own risk" },
	{ 0, "untrusted", NULL, TL_FLAG(struct ld_options, is_untrusted),
	  .help = "check the pages of indexes before they are used",
	  .more = "Check the pages of INDEX, and of indexes that are taken over, before anything "
		  "relies on them. For files that others could write or that may be damaged: they "
		  "can end the program by a signal otherwise. It takes a quarter of a second for "
		  "10 million documents." },
	{ 0 },
};

static const struct tl_option resource_rows[] = {
	{ 0, "memory", "SIZE", TL_SIZE(struct ld_options, memory, MIN_MEMORY, SIZE_MAX / 2),
	  .standard = "1G", .help = "memory to build in, at least 64M",
	  .more = "Memory to build in, at least 64M; K, M, G and T are binary." },
	{ 0, "tmpdir", "DIR", TL_TEXT(struct ld_options, tmpdir),
	  .otherwise = "$TMPDIR, or beside INDEX",
	  .help = "where temporary files are made" },
	{ 0, "threads", "N", TL_NUMBER(struct ld_options, threads, 1, TL_MAX_THREADS),
	  .otherwise = "one a core", .help = "threads for texts and building" },
	{ TL_PARAGRAPH("Whether the disk has room, for the index and for temporary files, is "
		       "estimated as soon as the first rows have shown how much is to come, and "
		       "again before building; for standard input, directories and lists only "
		       "then.") },
	{ 0 },
};

static const struct tl_option report_rows[] = {
	{ 0, "rejects", "FILE", TL_TEXT(struct ld_options, rejects),
	  .help = "write rejected rows to FILE",
	  .more = "Write a line to FILE for each row that is rejected, or that --mode delete does "
		  "not find: where it is, a tab, and the reason. '-' is standard output. FILE must "
		  "be new or empty, and no input; with --resume lines are added to it." },
	{ 0, "max-errors", "N", TL_COUNT(struct ld_options, max_errors, 0, UINT64_MAX - 1),
	  .otherwise = "no limit", .help = "stop when more than N rows are rejected",
	  .more = "Stop when more than N rows are rejected. A load whose first "
		  "1,000 rows are all rejected stops in any case." },
	{ 0, "summary", "FILE", TL_TEXT(struct ld_options, summary),
	  .help = "write counts, times and sizes to FILE as JSON",
	  .more = "Write counts, times and sizes to FILE as JSON, also when the load fails or is "
		  "interrupted. '-' is standard output. FILE must be new or empty, or have an "
		  "earlier summary, and be no input; with --resume a line is added to it." },
	{ 'q', "quiet", NULL, TL_FLAG(struct ld_options, quiet),
	  .help = "print errors only" },
	{ TL_HELP_ROW },
	{ TL_VERSION_ROW },
	{ TL_PARAGRAPH("A row that cannot be stored is reported with its file and line, and left "
		       "out; after 20 of them, or three together that have the same mistake, "
		       "the others are only counted. When an index is built, "
		       "rows whose id or label is in use are found at the end. They are reported "
		       "then, in the order of the input, at most 100,000 at a time. An id that was "
		       "assigned to such a row stays unused, while an insertion gives it to the "
		       "next row.") },
	{ TL_PARAGRAPH("A commit is stored whole or not at all, and so is an index that is built: "
		       "until it is complete, nothing of it can be seen. But a new index that is "
		       "built of standard input becomes visible when 5 seconds have passed and its "
		       "rows come in pauses of 0.2 seconds or more: those that follow are "
		       "inserted. --write rebuild, --create truncate, --from and -F full build it "
		       "whole.") },
	{ 0 },
};

static const struct tl_option format_rows[] = {
	{ TL_TERM("text", "A file is one text in UTF-8, with its path as its label. Files with a "
			  "NUL byte in their first 8 KiB are no texts and are skipped. Convert "
			  "other encodings first, for example with iconv.") },
	{ TL_TERM("lines", "A fingerprint a line; ids are assigned.") },
	{ TL_TERM("tsv", "The columns id, fingerprint, label. An id that is empty is assigned; the "
			 "label may be empty or missing, and has the escapes \\t \\n \\r \\\\ "
			 "\\xHH. With --text-field, or a header that names \"text\" and no "
			 "\"fp\", a row has a text and no fingerprint; then an id that is no "
			 "number is the label, empty lines are no rows, and a text with other "
			 "backslashes has no escapes.") },
	{ TL_TERM("csv", "The same separated by commas, quoted as RFC 4180 says, without "
			 "escapes.") },
	{ TL_TERM("jsonl", "An object a line. \"id\": an integer is the id, a string the label. "
			   "\"label\" or \"label_hex\". One of \"text\", of \"fp\", perhaps with "
			   "\"fp2\" (null: it has one that is not known), and of \"features\": "
			   "[[\"word\", weight], ...]. Other members mean nothing.") },
	{ TL_TERM("bin", "Records of two little-endian 64-bit numbers, fingerprint and id. An id "
			 "of 2^64-1 is assigned.") },
	{ TL_TERM("npy", "A NumPy array of fingerprints, one dimension, uint64 or int64; ids are "
			 "assigned.") },
	{ TL_TERM("dump", "What 'simidx-query dump' prints; its times count in an index with "
			  "times.") },
	{ TL_TERM("full", "What 'simidx-query dump --format full' prints, to make the same index "
			  "again, or to add it to one of the same kind. The first line says what "
			  "the index was: a new one gets its bits, profile and kind of documents, "
			  "and its plan, layout and fill where no option says otherwise. In the "
			  "end the next id is no smaller than that of the line, and the mark of "
			  "the line is stored. A dump that was cut is an error.") },
	{ TL_TERM("features", "A file is one document, with its path as its label. A line is a "
			      "feature, a tab and its weight.") },
	{ TL_TERM("ids", "With --mode delete: an id a line.") },
	{ TL_TERM("labels", "With --mode delete: a label a line, with the escapes of tsv; with -0 "
			    "as it is.") },
	{ TL_PARAGRAPH("Whatever begins as gzip or zstd does is decompressed, a text only if its "
		       "name ends in .gz or .zst. The ending before that tells the format: "
		       "x.tsv.gz is tsv. Lines and rows may have 64 MiB, text files 1 GiB. "
		       "Assigned ids go on from the largest, beginning with 0.") },
	{ 0 },
};

static const struct tl_option rows[] = {
	{ TL_SECTION("Inputs and how they are written") },
	{ TL_GROUP(in_files_load_rows, struct ld_options, inputs) },
	{ TL_ROWS(time_rows) },
	{ TL_SECTION("The index, when it is made") },
	{ TL_ROWS(index_rows) },
	{ TL_SECTION("How texts become fingerprints, when the index is made") },
	{ TL_ROWS(text_rows) },
	{ TL_SECTION("Writing") },
	{ TL_ROWS(write_rows) },
	{ TL_SECTION("Resources") },
	{ TL_ROWS(resource_rows) },
	{ TL_SECTION("Messages") },
	{ TL_ROWS(report_rows) },
	{ TL_SECTION("Formats") },
	{ TL_ROWS(format_rows) },
	{ TL_SECTION("Deleting") },
	{ TL_PARAGRAPH("With --mode delete an INPUT is a file, or '-', that says what to delete. "
		       "-F ids: an id a line; -F labels: a label a line; -F tsv, csv, jsonl or "
		       "dump, or a file with such a name: the id of each row, or its label if it "
		       "has no id; fingerprints and texts are not read and need not be there. "
		       "Without --header the columns of a table are id, fingerprint and label, or "
		       "those of --id-field and --label-field.") },
	{ TL_PARAGRAPH("What is not there is counted. The bytes of what is deleted stay in the "
		       "file until their place is needed; 'simidx-query compact' removes them.") },
	{ TL_SECTION("Exit status") },
	{ TL_TERM("0", "All is stored.") },
	{ TL_TERM("1", "Some rows were rejected, inputs that were named were skipped, or documents "
		       "to delete were not there; the others are stored or deleted.") },
	{ TL_TERM("2", "The load failed or was interrupted: the index is as it was at the last "
		       "commit. Where the disk failed so late that nobody can tell whether "
		       "something is stored, a message says so, and how to look.") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-load -r articles.index articles/", "All texts in a directory.") },
	{ TL_EXAMPLE("simidx-load --header --fp-field simhash --label-field url pages pages.csv",
		     "Fingerprints that another program made, with their URLs.") },
	{ TL_EXAMPLE("find . -name '*.txt' -print0 | simidx-load -0 --files-from - texts",
		     "The files that another command finds.") },
	{ TL_EXAMPLE("simidx-load --mode if-new --emit new seen pages.jsonl >new.jsonl",
		     "The pages that are near to none that was seen before, nor to each other; all "
		     "of them are remembered.") },
	{ TL_EXAMPLE("simidx-load --mode if-new --emit dup seen pages.jsonl",
		     "The others: pages.jsonl:7, its label, then 42, 1, 9 and http://example.org/ "
		     "for the seventh line, if it differs from document 42 in one bit of weight "
		     "9.") },
	{ TL_EXAMPLE("simidx-load --mode replace articles.index today.jsonl",
		     "New versions of stored articles, and new ones.") },
	{ TL_EXAMPLE("ls articles/old-*.txt | simidx-load --mode delete -F labels articles.index -",
		     "Delete documents by their labels, one a line.") },
	{ TL_EXAMPLE("simidx-load --mode delete -F ids index ids.txt",
		     "Delete documents by their ids, one a line.") },
	{ TL_EXAMPLE("simidx-load --times --time seen --mode if-new --touch seen pages.jsonl",
		     "Remember the pages that are new, and of those that are not, when each was "
		     "seen last.") },
	{ TL_EXAMPLE("simidx-load --from old --plan 3x22 new",
		     "The same documents with another plan.") },
	{ 0 },
};

const struct tl_command ld_command = {
	.name = "simidx-load",
	.operands = "INDEX INPUT...",
	.shortest = "INDEX INPUT",
	.least = 1,
	.most = INT_MAX,
	.tasks = "INDEX FILE: store rows; -r INDEX DIR: files; --mode if-new INDEX FILE: what is "
		 "new; --mode replace INDEX FILE: new versions; --mode delete -F ids INDEX FILE: "
		 "delete; --text-field NAME: which field; --from OLD NEW: documents of an index; "
		 "--accept A, --radius K, --stem LANGUAGE, --bits F, --max-errors N, --wait MS, "
		 "--threads N",
	.summary = "store, replace and delete documents in a near-duplicate index",
	.about = "Store, replace and delete documents in the near-duplicate index INDEX, a "
		 "directory or the URI of an index that an engine holds, which is made if it "
		 "is not there. An INPUT is a file, or with -r a directory; '-' is standard "
		 "input and needs -F. With --from no INPUT is needed.",
	.options = rows,
};

/* ---- the command line ---- */

/* An INPUT before INDEX, or a command: of another program, or one to make an index. */
static int refuse_first(char **operands, size_t n)
{
	const char *first = operands[0], *second = n > 1 ? operands[1] : "";
	int is_there = access(first, F_OK) == 0, is_index = tl_path_is_index(first);
	int lacks_second = strcmp(second, "-") && access(second, F_OK);
	simidx_error err;

	if (n == 1)
		return tl_others_list("help version", first) ? tl_refuse_word(first, NULL) : 0;
	if (n > 2 && lacks_second && !is_there &&
	    tl_others_list("create init build add insert index", first))
		tl_example_mend(first, strlen(first), tl_path_is_directory(operands[2]) &&
						!tl_example_find("recursive") ? "-r" : "");
	if (is_index)
		return lacks_second ? tl_refuse_word(second, NULL) : 0;
	if (is_there && (tl_path_is_index(second) ||
			 (n == 2 && lacks_second && tl_path_is_directory(first) &&
			  !tl_path_is_missing(first, &err))))
		return tl_usage_error("'%s' is no index, and '%s' is %s: INDEX comes first", first,
				      second, lacks_second ? "not there" : "one");
	return (n > 2 && lacks_second) || tl_path_is_index(second) ? tl_refuse_word(first, second) :
								     0;
}

static int take_operands(struct ld_options *options, char **operands, size_t n)
{
	struct in_files_options *inputs = &options->inputs;
	simidx_error err;
	size_t i;
	int code;

	options->index = operands[0];
	options->tmpdir = tl_path_temporary(options->tmpdir, NULL);
	if (strcmp(options->index, "-") == 0)
		return tl_usage_error("'-' is standard input, and no index");
	if (tl_path_refuse_scheme(options->index) || refuse_first(operands, n))
		return TL_TROUBLE;
	in_guard_add(options->index);
	for (i = 0; i < options->from.n; i++)
		in_guard_add(options->from.at[i]);
	inputs->format = in_format_at(inputs->format_word);
	inputs->columns.keys_only = options->mode == LD_DELETE;
	inputs->columns.tells_unread = !inputs->columns.keys_only;
	inputs->columns.nul_ends = inputs->columns.keys_only && inputs->nul_lists;
	inputs->may_recurse = 1;
	inputs->operands = operands + 1;
	inputs->n_operands = n - 1;
	if (options->merge_only)
		return ld_check_merge_only(options);
	if (!ld_has_inputs(options) && !options->from.n && !tl_path_is_index(options->index) &&
	    !tl_path_is_uri(options->index) && !tl_path_is_missing(options->index, &err))
		return tl_refuse_no_index(options->index);
	if (!ld_has_inputs(options) && !options->from.n)
		return tl_refuse_no_input();
	if (tl_path_is_file(options->index))
		return tl_usage_error("%s is a file; the index comes first, and is a directory",
				      options->index);
	if (in_files_check_dash(inputs) != TL_PROCEED)
		return TL_TROUBLE;
	if (options->mode == LD_DELETE && ld_check_keys(options) != TL_PROCEED)
		return TL_TROUBLE;
	if (in_files_check(inputs, &options->total_bytes))
		return TL_TROUBLE;
	code = ld_check_together(options);
	if (options->mode != LD_ADD || tl_path_is_uri(options->index))
		options->write = LD_WRITE_INSERT;
	return code;
}

unsigned ld_open_flags(const struct ld_options *options)
{
	return (options->force ? SIMIDX_OPEN_FORCE : 0) |
	       (options->is_untrusted ? SIMIDX_OPEN_UNTRUSTED : 0);
}

int ld_has_inputs(const struct ld_options *options)
{
	return options->inputs.n_operands + options->inputs.lists.n > 0;
}

int ld_parse_options(int argc, char **argv, struct ld_options *options)
{
	int code;

	memset(options, 0, sizeof(*options));
	options->layout = options->no_ids = options->fp2 = options->wait_ms = -1;
	options->radius = options->accept = -1;
	options->max_errors = UINT64_MAX;
	code = tl_parse(&ld_command, options, NULL, argc, argv);
	if (code != TL_PROCEED)
		return code;
	tl_set_quiet(options->quiet);
	return take_operands(options, argv + optind, (size_t)(argc - optind));
}

void ld_free_options(struct ld_options *options)
{
	in_files_free_options(&options->inputs);
	free(options->from.at);
	tl_text_options_free(&options->text);
}

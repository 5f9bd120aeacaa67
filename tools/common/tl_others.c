/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_others.h"

#include "common/tl_example.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

/* What other programs call an option of ours; of several the first that a command has. */
static const struct {
	const char *ours, *theirs;
} other_names[] = {
	{ "similarity",
	  "threshold thresh treshold jaccard cutoff score min-score min-similarity near fuzzy" },
	{ "radius", "distance hamming k max-distance fuzziness tolerance bit-diff" },
	{ "nearest", "top knn top-k" }, { "bits", "dim fp-bits hash-size f" },
	{ "identical", "exact checksum same" },
	{ "text-field",
	  "column field text-column text-key json-key json-field key col content subset "
	  "skip-fields dedup-key" },
	{ "id-field", "id-column id-key" }, { "label-field", "name url" },
	{ "delimiter", "sep separator field-separator" },
	{ "format", "input-format json-lines" },
	{ "threads", "jobs workers num-proc cores nproc parallel num-workers" },
	{ "memory", "ram buffer-size" },
	{ "tmpdir", "work-dir temp temp-dir temporary-directory cache-dir" },
	{ "drop-list", "delete move interactive trash remove to-delete rm list omit-first drops "
		       "delete-duplicates" },
	{ "files-from", "file-list" }, { "max-bytes", "max-size size-limit" },
	{ "recursive", "recurse" }, { "hidden", "all-files" },
	{ "stream", "streaming filter uniq new" },
	{ "exclude", "ignore filter skip" }, { "null", "print0 zero" },
	{ "prefer", "original protect keep-in keep-dir" },
	{ "index", "db state cache index-dir seen history previous save save-index new-index "
		   "load-index" },
	{ "against",
	  "compare base baseline old exclude-index not-in reference isolate compare-dest" },
	{ "resume", "continue" },
	{ "permissions", "chmod umask" },
	{ "output", "output-file out output-to out-file" },
	{ "output-dir", "outdir" }, { "dups", "removed dropped" }, { "evidence", "explain why" },
	{ "summary", "report stats" }, { "help", "usage man" },
	{ "quiet", "silent" }, { "json", "output-format" },
	{ "limit", "max head max-count max-results hits" },
	{ "documents", "docs rows expect" }, { "newer-than", "since" },
	{ "older-than", "before" }, { "time", "timestamp timestamp-field time-field" },
	{ "rejects", "errors error-file error-log bad-rows" }, { "header", "csv-header" },
	{ "grams", "ngram ngrams ngram-size shingle" },
	{ "stem", "lang stemmer" },
	{ "min-tokens", "min-length min-words" },
	{ "extractor", "tokenizer analyzer" }, { "times", "timestamps" },
	{ "merge-only", "optimize force-merge" }, { "commit", "batch batch-size" },
	{ "mode", "on-conflict" }, { "create", "if-exists" }, { "durability", "sync nosync" },
};

/*
 * What other programs have and ours do without, and what to do instead. `needs` is the option of a
 * command without which that would not be true there; behind '-' one that must be given, and behind
 * ':' the commands; or NULL. What stands first in quotes and begins with '-' would be typed in its
 * place.
 */
static const struct {
	const char *theirs, *needs, *instead;
} without[] = {
	{ "output out output-file out-file index db seen", "mode",
	  "the index is the first operand: simidx-load INDEX INPUT" },
	{ "output out output-file out-file to dest", ":backup", "DEST is the operand after INDEX" },
	{ "output out output-file out-file", ":compact repair", "NEW is the operand after INDEX" },
	{ "output out output-file out-file", ":export", "DIR is the operand after INDEX" },
	{ "output", NULL, "results go to standard output: > FILE" },
	{ "ext include glob type ext-filter", "files-from",
	  "find DIR -name '*.txt' | ... --files-from - chooses by names" },
	{ "size", "prefer",
	  "find DIR -type f -size +1k | ... --files-from - chooses by size; the last line has "
	  "the bytes that can be deleted" },
	{ "min-size size", "files-from",
	  "find DIR -type f -size +1k | ... --files-from - chooses by size" },
	{ "depth max-depth", "files-from",
	  "find DIR -maxdepth 1 -type f | ... --files-from - chooses by depth" },
	{ "in-place", "stream",
	  "'--stream' writes what stays: > NEW; what is read stays as it is" },
	{ "input in path file", "stream",
	  "files stand without an option; '--stream' writes what stays: > NEW" },
	{ "log", "dups", "--rejects FILE lists rejected rows, --dups FILE what --stream left out" },
	{ "log", "rejects", "--rejects FILE lists rejected rows" },
	{ "mark tag annotate add-column", "stream",
	  "no row is marked; --dups FILE lists those left out, and to what they are near" },
	{ "limit head max max-count", "stream",
	  "head -n N FILE | simidx-dedup -F FORMAT - reads so many rows" },
	{ "percent", "similarity", "--similarity 0.9 is 90 percent" },
	{ "distance hamming k max-distance fuzziness tolerance bit-diff", "similarity",
	  "--similarity 0.9 is about texts, --radius 3 about fingerprints without texts" },
	{ "exact checksum same", "-stream", "'--similarity 1' asks for the same words" },
	{ "duplicates invert inverse", "-stream", "'--dups' lists what is left out" },
	{ "invert inverse", "dups", "groups are what is near; of --stream --dups lists it" },
	{ "force overwrite truncate", "output-dir",
	  "nothing is replaced: name a new FILE or DIR, or remove the old one" },
	{ "clear reset", "against", "'rm -r INDEX' forgets what was remembered" },
	{ "diff show view", "evidence",
	  "--evidence FILE writes pairs, 'simidx-query review FILE' shows them" },
	{ "mode", "stream", "rows that are new: --stream, or 'simidx-load --mode if-new'" },
	{ "gpu cuda device", NULL, "no GPU is used; --threads N says how many cores" },
	{ "config conf", NULL, "no file has options; a script of the shell can" },
	{ "string sentence phrase", "explain",
	  "--text reads files: echo 'WORDS' | simidx-query search --text INDEX -" },
	{ "stats info", "mode", "'simidx-query stats INDEX' tells what is in it" },
	{ "list ls", "mode", "'simidx-query dump INDEX' lists what is stored" },
	{ "all", "explain",
	  "all that are within --radius or --accept are printed; 'simidx-query dump INDEX' "
	  "prints every document" },
	{ "in-place", "dry-run", "'simidx-query repair INDEX NEW' makes a new index" },
	{ "overwrite-new", ":backup compact export repair",
	  "nothing is replaced: name a place where nothing is, or rm -r it first" },
	{ "move-to move-dir trash-dir", "drop-list",
	  "'--drop-list' prints what can be moved: | xargs -d '\\n' mv -t DIR" },
	{ "link hard-link symlink make-hard-links make-symlinks link-hard link-soft", "drop-list",
	  "'--drop-list' prints what could be a link, groups also to what; nothing is linked" },
	{ "no-update read-only dry-run simulate", "-index",
	  "--against in place of --index remembers nothing" },
	{ "dry-run simulate", "-stream", "--stream prints what is new; no input is changed" },
	{ "ttl expire", "stream",
	  "nothing is forgotten; of an index with times 'simidx-query delete --older-than' does" },
	{ "refresh", NULL, "what is committed is found at once" },
	{ "csv tsv json jsonl ndjson", ":export",
	  "'simidx-query dump INDEX' prints columns, and --json objects" },
	{ "csv tsv", "prefer",
	  "files are read so by their names, others with -F csv or tsv; --header if they have one; "
	  "'--json' prints objects" },
	{ "k", "-text", "--radius K finds what differs in K bits, --nearest N the N nearest" },
	{ "max-errors", "rejects",
	  "rows that cannot be read are skipped, and counted; --rejects FILE lists them" },
	{ "strict", "stream", "the exit status is 1 if a row could not be read" },
	{ "near-duplicates near-dups", "prefer", "near texts are found anyway" },
	{ "files0-from", "files-from", "'-0 --files-from' reads such a list" },
	{ "force-output", "-stream",
	  "nothing is replaced: name a new FILE or DIR, or remove the old one" },
	{ "name", "mode",
	  "a file that is one text has its path as its label; --label-field names that of rows" },
	{ "text-of-file", "mode", "a file is one text without an option" },
	{ "skip ignore", "if-new", "--on-duplicate first keeps what is stored" },
	{ "replace update overwrite", "first", "--mode replace stores this one" },
	{ "overwrite truncate", "rebuild", "--create truncate replaces an index" },
	{ "rebuild", "if-new", "--write rebuild builds all anew" },
	{ "skip drop ignore", "exact", "reject leaves such texts out" },
	{ "always", "truncate", "truncate replaces an index that is there, must refuses it" },
	{ "; , | :", "csv", "--delimiter is what separates columns" },
	{ "rebuild", "write", "'--write rebuild' builds all anew" },
	{ "in-place", ":compact", "without NEW it is compacted in its place" },
	{ "version-or-verbose", "quiet",
	  "a terminal shows progress, unless -q is given; --version prints the version" },
	{ "skip-errors ignore-errors keep-going", NULL,
	  "rows that cannot be read are skipped, and counted" },
	{ "ignore-case lower lowercase normalize", NULL, "upper and lower case are one in texts" },
	{ "progress verbose debug", "quiet", "a terminal shows progress, unless -q is given" },
	{ "minhash hash lang language num-perm seed bands batch-size method algorithm simhash "
	  "chunk-size shuffle lsh num-hashes permutations num-bucket bucket rows weights",
	  "stream", "there is nothing to choose: doc/dedup.md" },
	{ "ngram n-grams grams ngram-size shingle shingles", "stream",
	  "a run has five words always" },
	{ "stop stem stopwords", "stream", "words are compared as they are, and none is left out" },
	{ "noempty", "stream", "an empty file is near to nothing" },
	{ "recursive", ":pairs clusters similar",
	  "'simidx-dedup --pairs -r DIR' compares files" },
	{ "recursive", "explain", "the files of a directory are named: --text DIR/*" },
	{ "recursive", "static", "the files of a directory are named: DIR/*" },
	{ "drop-list", "static",
	  "'simidx-query clusters --drop-list INDEX' prints what can be deleted" },
	{ "repair", NULL, "'simidx-query repair INDEX NEW' saves what is sound" },
	{ "format", "older-than", "'simidx-load --mode delete -F labels INDEX FILE' reads a list" },
	{ "dry-run simulate", "drop-list", "'--drop-list' prints what can be deleted; nothing is" },
	{ "summarize", "prefer", "the last line is a summary" },
	{ "noprompt immediate yes", "prefer", "nothing is asked, as nothing is deleted" },
	{ "symlinks follow", "prefer", "links in directories are not followed" },
	{ "hardlinks", "prefer", "a file of several names counts once" },
	{ "no-hidden", "hidden", "hidden files are left out, unless --hidden is given" },
	{ "show-size", "prefer", "the last line has the bytes that can be deleted" },
	{ "sameline", "prefer", "groups have a line for each file; --drop-list prints names" },
	{ "groups clusters cluster group repeated all-repeated", "prefer",
	  "groups are printed anyway" },
	{ "newest", "prefer", "'--keep newest' chooses the one that stays" },
	{ "oldest", "prefer", "'--keep oldest' chooses the one that stays" },
	{ "longest", "prefer", "'--keep longest' is the default" },
	{ "first", "prefer", "'--keep first' chooses the one that stays" },
	{ "encoding charset", "files-from", "texts are UTF-8: iconv -f FROM -t UTF-8 makes it" },
	{ "dry-run", "mode", "nothing tries a load without storing" },
	{ "stopwords", "stem", "--stop leaves words out" },
	{ "language", "stem", "--stem takes endings of English words away" },
	{ "duplicates", "dups", "groups are printed anyway; of --stream --dups writes them" },
	{ "sort", "json", "what is printed has columns: | sort -k 2" },
	{ "csv tsv jsonl ndjson", "explain",
	  "--json prints objects, columns are separated by tabs; -F is about rows of queries" },
	{ "jsonl ndjson", "delimiter", "'-F jsonl' reads such rows" },
	{ "lines line-by-line", "delimiter",
	  "-F tsv --text-field 1 reads a text a line, -F lines a fingerprint a line" },
	{ "csv", "delimiter", "'-F csv' reads such rows" },
	{ "csv tsv", "json", "'--json' prints objects; columns are separated by tabs" },
	{ "tsv", "delimiter", "'-F tsv' reads such rows" },
	{ "pretty", "json", "'--json' | jq . does it" },
	{ "overwrite truncate recreate drop drop-existing", "create",
	  "'--create truncate' replaces an index" },
	{ "append", "mode", "rows are added to an index that is there" },
	{ "update replace upsert", "mode",
	  "'--mode replace' stores a row in the place of another one" },
	{ "if-new unique dedup", "mode", "'--mode if-new' stores what is new" },
	{ "if-new unique dedup", "stream", "'--stream' prints what is new" },
	{ "stream", "mode",
	  "--mode if-new stores what is new; 'simidx-dedup --stream' compares texts" },
	{ "keep", "mode", "of near texts 'simidx-dedup --keep' chooses the one that stays" },
	{ "prefer", "mode", "of near texts 'simidx-dedup --prefer' chooses the one that stays" },
	{ "dups", "mode",
	  "'simidx-dedup --dups' lists what is near; here --emit writes what is new" },
	{ "id", "static", "'simidx-query get --id INDEX N' looks a document up" },
	{ "label", "static", "'simidx-query get --label INDEX LABEL' looks a document up" },
	{ "all", "older-than", "'rm -r INDEX' deletes all" },
	{ "all", "id", "'simidx-query dump INDEX' prints all documents" },
	{ "search find query", "files-from",
	  "'simidx-query search --text INDEX FILE' finds what is near to a text" },
	{ "text", "id", "'simidx-query search --text INDEX FILE' finds what is near to a text" },
	{ "text show-text", "static", "an index has no texts; its labels name them" },
	{ "fix", "static", "'simidx-query repair INDEX NEW' saves what is sound" },
	{ "index db", "static", "INDEX is the first operand of a command" },
	{ "init", "mode", "the first load makes an index: simidx-load INDEX INPUT" },
	{ "delete", "mode",
	  "--mode delete -F ids INDEX FILE reads a list; a few: simidx-query delete --id INDEX N" },
	{ "tfidf", "idf", "--weights tfidf --idf FILE; 'simidx-query idf' makes FILE" },
	{ "limit", "sample", "'--sample' shows so many pairs" },
	{ "limit", "static", "what is printed has lines: | head -n N" },
	{ "map-size", "mode", "an index grows by itself" },
	{ "no-color", "color", "'--color never'" },
	{ "no-summary", "quiet", "'-q' prints no summary" },
	{ "no-progress", "quiet", "'-q' shows none" },
	{ "quick", "no-verify", "'--no-verify' is faster: fingerprints decide" },
	{ "min-group", "drop-list", "| cut -f 1 | uniq -c counts what each group has" },
	{ "ignore-whitespace ignore-punctuation", "stream",
	  "case, punctuation and white space do not count" },
	{ "strip-html", "stream", "HTML is not parsed: pandoc -t plain makes texts" },
	{ "gzip compress zstd", "output", "--output FILE.gz is compressed" },
	{ "append", "stream", ">> FILE adds lines" },
	{ "export print", "stream", "results go to standard output: > FILE" },
	{ "format", "json", "--json prints objects" },
	{ "input in path file query", "explain",
	  "--text FILE reads a text, -F lines FILE fingerprints, one a line" },
	{ "input in path file", NULL, "files stand without an option" },
	{ "count", "drop-list", "the last line counts; --drop-list | wc -l does, too" },
	{ "reverse", "drop-list", "--keep says which one of a group stays" },
	{ "html", "evidence", "--evidence FILE, then simidx-query review --html PAGE FILE" },
	{ "order", "prefer", "--keep newest, oldest, longest or first says which one stays" },
	{ "time", "prefer", "--keep max:FIELD goes by dates of rows" },
	{ "one-file-system", "files-from", "find DIR -xdev -type f | ... --files-from - does it" },
	{ "percent score similarity threshold jaccard min-score", "mode",
	  "--mode if-new with --radius K or --accept A; percent: simidx-dedup" },
	{ "percent score similarity threshold min-score", ":similar",
	  "it is printed how similar they are" },
	{ "percent score similarity threshold min-score", "explain",
	  "fingerprints cannot tell percent: --radius N, or simidx-dedup for texts" },
	{ "size", "documents", "'--documents' says how many" },
	{ "size", "nearest", "'--limit' prints so many documents" },
	{ "size", "json", "'simidx-query stats INDEX' has the bytes of each table" },
	{ "redis host port server hbase storage storage-config cluster user pass password", NULL,
	  "an index in an engine is named redis://HOST:PORT/NAME" },
	{ "exact same", "explain", "'--radius 0' finds the same fingerprint" },
	{ "fields columns source", "static", "what is printed has columns: | cut -f 1" },
	{ "min-length min-tokens min-words", "stream", "short texts are compared, too" },
	{ "skip-duplicates ignore-duplicates insert-or-ignore ignore-existing if-not-exists",
	  "on-duplicate",
	  "'--on-duplicate first' keeps what is stored" },
	{ "ttl expire", "times",
	  "--times keeps times; then 'simidx-query delete --older-than 30d INDEX' forgets" },
	{ "columns fields schema", "fp-field",
	  "--id-field, --fp-field and --text-field name them" },
	{ "gzip compress zstd", ":backup compact export", "tar -czf FILE.tar.gz packs the copy" },
	{ "gzip compress zstd", NULL, "| gzip compresses what is printed" },
	{ "top", "prefer", "groups are printed as they are found: | head -n N" },
	{ "color colour no-color", "prefer", "nothing has colours" },
	{ "to dest", "stream", "what is found goes to standard output: > FILE" },
	{ "stdin", NULL, "standard input is '-', and -F tells its format" },
	{ "parquet arrow feather", "jsonl",
	  "duckdb -c \"COPY (FROM 'FILE') TO '/dev/stdout' (FORMAT json)\" | ... -F jsonl - reads "
	  "Parquet" },
	{ "id", "mode", "ids are assigned, or those of rows: --id-field NAME" },
	{ "decimal", "fp-encoding", "'--fp-encoding dec' reads decimal numbers" },
	{ "minhash num-perm num-hashes permutations bands lsh", "mode",
	  "there is nothing to choose: each text has fingerprints" },
	{ "timeout", "wait", "--wait MS is in milliseconds" },
	{ "create", "stream", "--index INDEX makes INDEX if it is not there" },
	{ "json", "mode", "'--summary -' prints counts as JSON" },
	{ "table", "jsonl", "a terminal has columns, and --json prints objects" },
	{ "files-from", "explain", "| xargs simidx-query search --text INDEX" },
	{ "min-size min-group", ":clusters", "a cluster has two documents or more" },
	{ "quick fast", ":verify", "all is read; --check of a search looks at what that reads" },
	{ "plan", ":plan", "--documents, --radius and --bits say what is planned for" },
	{ "z", "output", "-0 ends names with NUL bytes; --output FILE.gz is compressed" },
};

/* What letters stand for in other programs, by a name that is known above. */
static const struct {
	char letter;
	const char *name;
} other_letters[] = {
	{ 'i', "seen" }, { 'n', "documents" }, { 'r', "recursive" }, { 'F', "format" },
	{ 'G', "min-size" }, { 'd', "delete" }, { 'd', "distance" }, { 'j', "jobs" },
	{ 'A', "nohidden" }, { 'H', "hardlinks" }, { 'N', "noprompt" }, { 'S', "show-size" },
	{ 'T', "files-from" }, { 'f', "force-output" }, { 'f', "omitfirst" },
	{ 'i', "ignore-case" }, { 'm', "summarize" },
	{ 'm', "mode" }, { 'm', "limit" }, { 'z', "z" }, { 'z', "null" }, { 'z', "gzip" },
	{ 'X', "exclude" }, { 'O', "order" }, { 'Z', "null" }, { 'c', "count" },
	{ 'L', "link" }, { 'B', "link" }, { 'D', "group" }, { 'P', "print" },
	{ 'I', "isolate" }, { '1', "sameline" }, { '?', "help" }, { 'n', "dry-run" },
	{ 'n', "head" }, { 'n', "limit" }, { 'o', "output" }, { 'u', "unique" },
	{ 'v', "version-or-verbose" }, { 'x', "exclude" }, { 'Q', "quick" }, { 't', "threshold" },
	{ 'p', "percent" }, { 'l', "list" },
	{ 'g', "glob" }, { 'b', "bits" }, { 'b', "binary" }, { 'k', "key" }, { 'V', "version" },
	{ 'f', "overwrite-new" },
};

/* What stands between parts of words, or before them. */
static const char *pass_marks(const char *at)
{
	return at + strspn(at, "-_.");
}

int tl_others_list(const char *list, const char *word)
{
	for (const char *at, *have; *list; list += strcspn(list, " ")) {
		list += *list == ' ';
		at = pass_marks(word);
		have = list;
		for (; *at && tolower((unsigned char)*at) == *have; at = pass_marks(at + 1))
			have = pass_marks(have + 1);
		if (!*at && (!*have || *have == ' '))
			return 1;
	}
	return 0;
}

const char *tl_others_find(const char *word, size_t length, const char *const *names)
{
	for (; *names; names++)
		if (strncmp(word, *names, length) == 0 && !(*names)[length])
			return *names;
	return NULL;
}

static int holds(const char *needs, const char *const *names)
{
	return !needs	     ? 1 :
	       *needs == '-' ? tl_example_find(needs + 1) != NULL :
	       *needs == ':' ? tl_others_list(needs + 1, tl_example_command()->name) :
			       tl_others_find(needs, strlen(needs), names) != NULL;
}

const char *tl_others_instead(const char *word, const char *const *names)
{
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		if (holds(without[i].needs, names) && tl_others_list(without[i].theirs, word))
			return without[i].instead;
	return NULL;
}

int tl_others_have(const char *word)
{
	int have = 0;

	for (size_t i = 0; !have && i < sizeof(other_names) / sizeof(other_names[0]); i++)
		have = tl_others_list(other_names[i].theirs, word);
	for (size_t i = 0; !have && i < sizeof(without) / sizeof(without[0]); i++)
		have = tl_others_list(without[i].theirs, word);
	return have;
}

const char *tl_others_name(const char *word, const char *const *names)
{
	const char *ours = NULL;

	for (size_t i = 0; !ours && i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (tl_others_list(other_names[i].theirs, word))
			ours = tl_others_find(other_names[i].ours, strlen(other_names[i].ours),
					      names);
	return ours;
}

const char *tl_others_letter(int letter, int i)
{
	for (size_t k = 0; k < sizeof(other_letters) / sizeof(other_letters[0]); k++)
		if (other_letters[k].letter == letter && i-- == 0)
			return other_letters[k].name;
	return NULL;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_others.h"

#include <stddef.h>
#include <string.h>

/* What other programs call an option of ours; of several the first that a command has. */
static const struct {
	const char *theirs, *ours;
} other_names[] = {
	{ "threshold", "similarity" }, { "column", "text-field" },    { "all-files", "hidden" },
	{ "field", "text-field" },     { "jobs", "threads" },	  { "workers", "threads" },
	{ "num-proc", "threads" },     { "distance", "radius" },  { "top", "nearest" },
	{ "delete", "drop-list" },     { "file-list", "files-from" },
	{ "hard-link", "drop-list" },  { "move", "drop-list" },   { "max-size", "max-bytes" },
	{ "hardlink", "drop-list" },   { "symlink", "drop-list" }, { "interactive", "drop-list" },
	{ "recurse", "recursive" }, { "input-format", "format" },
	{ "jaccard", "similarity" },   { "trash", "drop-list" },  { "remove", "drop-list" },
	{ "cutoff", "similarity" },    { "percent", "similarity" }, { "score", "similarity" },
	{ "ignore", "exclude" },
	{ "filter", "exclude" },       { "sep", "delimiter" },	  { "separator", "delimiter" },
	{ "db", "index" },	       { "state", "index" },	  { "cache", "index" },
	{ "compare", "against" },      { "base", "against" },	  { "exclude-index", "against" },
	{ "not-in", "against" },       { "continue", "resume" },  { "outdir", "output-dir" },
	{ "streaming", "stream" },     { "explain", "evidence" }, { "why", "evidence" },
	{ "report", "summary" },       { "cores", "threads" },	  { "nproc", "threads" },
	{ "parallel", "threads" },     { "name", "label-field" }, { "to-delete", "drop-list" },
	{ "knn", "nearest" },	       { "min-score", "accept" }, { "since", "newer-than" },
	{ "max", "limit" },	       { "output-format", "json" }, { "json-lines", "format" },
	{ "docs", "documents" },       { "rows", "documents" },	  { "size", "documents" },
	{ "ngram", "grams" },	       { "n-grams", "grams" },	  { "ngram-size", "grams" },
	{ "shingle", "grams" },	       { "lang", "stem" },
	{ "batch", "commit" },	       { "batch-size", "commit" }, { "head", "limit" },
	{ "max-count", "limit" },      { "top-k", "nearest" },
	{ "size-limit", "max-bytes" }, { "maxsize", "max-bytes" },
	{ "text-column", "text-field" }, { "text-key", "text-field" },
	{ "id-column", "id-field" },   { "id-key", "id-field" },  { "num-workers", "threads" },
	{ "hamming", "radius" },       { "reference", "against" }, { "index-dir", "index" },
	{ "output-file", "output" },   { "removed", "dups" },	  { "key", "text-field" },
	{ "link", "drop-list" },       { "log", "rejects" },
	{ "exact", "identical" },      { "omitfirst", "drop-list" }, { "order", "keep" },
	{ "isolate", "against" },      { "rm", "drop-list" },	  { "list", "drop-list" },
	{ "stats", "summary" },	       { "usage", "help" },	  { "k", "radius" },
	{ "before", "older-than" },    { "out", "output" },
	{ "deleteduplicates", "drop-list" }, { "makehardlinks", "drop-list" },
	{ "makesymlinks", "drop-list" },  { "print0", "null" },
	{ "ngrams", "grams" },	       { "on-conflict", "mode" },
	{ "if-exists", "create" },
	{ "zero", "null" },	       { "silent", "quiet" },	  { "work-dir", "tmpdir" },
	{ "ram", "memory" },	       { "original", "prefer" },  { "protect", "prefer" },
	{ "col", "text-field" },       { "content", "text-field" }, { "url", "label-field" },
	{ "buffer-size", "memory" },   { "subset", "text-field" },    { "skip", "exclude" },
	{ "checksum", "identical" },
	{ "same", "identical" },       { "seen", "index" },	  { "history", "index" },
	{ "previous", "index" },       { "limit", "sample" },	  { "sync", "durability" },
	{ "nosync", "durability" },    { "max-distance", "radius" },
};

/*
 * What other programs have and ours do without, and what to do instead. `needs` is the option of a
 * command without which that would not be true there; or NULL. What stands first in quotes and
 * begins with '-' would be typed in its place.
 */
static const struct {
	const char *theirs, *needs, *instead;
} without[] = {
	{ "output", "mode", "the index is the first operand: simidx-load INDEX INPUT" },
	{ "output", NULL, "results go to standard output: > FILE" },
	{ "ext", "files-from", "find DIR -name '*.txt' | ... --files-from - chooses by names" },
	{ "include", "files-from", "find DIR -name '*.txt' | ... --files-from - chooses by names" },
	{ "min-size", "files-from",
	  "find DIR -type f -size +1k | ... --files-from - chooses by size" },
	{ "minsize", "files-from",
	  "find DIR -type f -size +1k | ... --files-from - chooses by size" },
	{ "size", "files-from", "find DIR -type f -size +1k | ... --files-from - chooses by size" },
	{ "depth", "files-from",
	  "find DIR -maxdepth 1 -type f | ... --files-from - chooses by depth" },
	{ "max-depth", "files-from",
	  "find DIR -maxdepth 1 -type f | ... --files-from - chooses by depth" },
	{ "in-place", "stream", "what is read stays as it is; results go to another file" },
	{ "skip-errors", NULL, "rows that cannot be read are skipped, and counted" },
	{ "ignore-case", NULL, "upper and lower case are one in texts" },
	{ "progress", "quiet", "a terminal shows progress, unless -q is given" },
	{ "verbose", "quiet", "a terminal shows progress, unless -q is given" },
	{ "debug", "quiet", "a terminal shows progress, unless -q is given" },
	{ "minhash", "stream", "there is nothing to choose: doc/dedup.md" },
	{ "hash", "stream", "there is nothing to choose: doc/dedup.md" },
	{ "lang", "stream", "there is nothing to choose: doc/dedup.md" },
	{ "num-perm", "stream", "there is nothing to choose: doc/dedup.md" },
	{ "seed", "stream", "there is nothing to choose: doc/dedup.md" },
	{ "bands", "stream", "there is nothing to choose: doc/dedup.md" },
	{ "ngram", "stream", "a run has five words always" },
	{ "n-grams", "stream", "a run has five words always" },
	{ "ngram-size", "stream", "a run has five words always" },
	{ "shingle", "stream", "a run has five words always" },
	{ "stop", "stream", "words are compared as they are, and none is left out" },
	{ "stem", "stream", "words are compared as they are, and none is left out" },
	{ "stopwords", "stream", "words are compared as they are, and none is left out" },
	{ "noempty", "stream", "an empty file is near to nothing" },
	{ "lower", "stream", "upper and lower case are one in texts" },
	{ "batch-size", "stream", "there is nothing to choose: doc/dedup.md" },
	{ "recursive", "explain", "the files of a directory are named: --text DIR/*" },
	{ "drop-list", "static",
	  "'simidx-query clusters --drop-list INDEX' prints what can be deleted" },
	{ "repair", NULL, "'simidx-query repair INDEX NEW' saves what is sound" },
	{ "verify", NULL, "'simidx-query verify INDEX' checks an index" },
	{ "format", "older-than", "'simidx-load --mode delete -F labels INDEX FILE' reads a list" },
	{ "dry-run", "drop-list", "'--drop-list' prints what can be deleted; nothing is" },
	{ "dryrun", "drop-list", "'--drop-list' prints what can be deleted; nothing is" },
	{ "simulate", "drop-list", "'--drop-list' prints what can be deleted; nothing is" },
	{ "summarize", "prefer", "the last line is a summary" },
	{ "noprompt", "prefer", "nothing is asked, as nothing is deleted" },
	{ "immediate", "prefer", "nothing is asked, as nothing is deleted" },
	{ "yes", "prefer", "nothing is asked, as nothing is deleted" },
	{ "symlinks", "prefer", "links in directories are not followed" },
	{ "follow", "prefer", "links in directories are not followed" },
	{ "hardlinks", "prefer", "a file of several names counts once" },
	{ "nohidden", "hidden", "hidden files are left out, unless --hidden is given" },
	{ "show-size", "prefer", "the last line has the bytes that can be deleted" },
	{ "sameline", "prefer", "groups have a line for each file; --drop-list prints names" },
	{ "groups", "prefer", "groups are printed anyway" },
	{ "clusters", "prefer", "groups are printed anyway" },
	{ "newest", "prefer", "'--keep newest' chooses the one that stays" },
	{ "oldest", "prefer", "'--keep oldest' chooses the one that stays" },
	{ "longest", "prefer", "'--keep longest' is the default" },
	{ "first", "prefer", "'--keep first' chooses the one that stays" },
	{ "encoding", "files-from", "texts are UTF-8: iconv -f FROM -t UTF-8 makes it" },
	{ "charset", "files-from", "texts are UTF-8: iconv -f FROM -t UTF-8 makes it" },
	{ "maxdepth", "files-from",
	  "find DIR -maxdepth 1 -type f | ... --files-from - chooses by depth" },
	{ "glob", "files-from", "find DIR -name '*.txt' | ... --files-from - chooses by names" },
	{ "inplace", "stream", "what is read stays as it is; results go to another file" },
	{ "dry-run", "mode", "nothing tries a load without storing" },
	{ "stopwords", "stem", "--stop leaves words out" },
	{ "language", "stem", "--stem takes endings of English words away" },
	{ "duplicates", "dups", "groups are printed anyway; of --stream --dups writes them" },
	{ "sort", "json", "what is printed has columns: | sort -k 2" },
	{ "no-hidden", "hidden", "hidden files are left out, unless --hidden is given" },
	{ "jsonl", "delimiter", "'-F jsonl' reads such rows" },
	{ "ndjson", "delimiter", "'-F jsonl' reads such rows" },
	{ "lines", "delimiter", "'-F lines' reads fingerprints, one a line" },
	{ "csv", "delimiter", "'-F csv' reads such rows" },
	{ "csv", "json", "'--json' prints objects; columns are separated by tabs" },
	{ "tsv", "delimiter", "'-F tsv' reads such rows" },
	{ "tsv", "json", "'--json' prints objects; columns are separated by tabs" },
	{ "pretty", "json", "'--json' | jq . does it" },
	{ "overwrite", "create", "'--create truncate' replaces an index" },
	{ "truncate", "create", "'--create truncate' replaces an index" },
	{ "append", "mode", "rows are added to an index that is there" },
	{ "update", "mode", "'--mode replace' stores a row in the place of another one" },
	{ "replace", "mode", "'--mode replace' stores a row in the place of another one" },
	{ "if-new", "mode", "'--mode if-new' stores what is new" },
	{ "if-new", "stream", "'--stream' prints what is new" },
	{ "unique", "mode", "'--mode if-new' stores what is new" },
	{ "unique", "stream", "'--stream' prints what is new" },
	{ "dedup", "mode", "'--mode if-new' stores what is new" },
	{ "dedup", "stream", "--stream prints what is new" },
	{ "stream", "mode", "--mode if-new stores what is new; 'simidx-dedup --stream' compares "
			    "texts" },
	{ "keep", "mode", "of near texts 'simidx-dedup --keep' chooses the one that stays" },
	{ "prefer", "mode", "of near texts 'simidx-dedup --prefer' chooses the one that stays" },
	{ "dups", "mode", "'simidx-dedup --dups' lists what is near; here --emit writes what is "
			  "new" },
	{ "id", "static", "'simidx-query get --id INDEX N' looks a document up" },
	{ "label", "static", "'simidx-query get --label INDEX LABEL' looks a document up" },
	{ "all", "older-than", "'rm -r INDEX' deletes all" },
	{ "all", "id", "'simidx-query dump INDEX' prints all documents" },
	{ "text", "id", "'simidx-query search --text INDEX FILE' finds what is near to a text" },
	{ "text", "static", "an index has no texts; its labels name them" },
	{ "fix", "static", "'simidx-query repair INDEX NEW' saves what is sound" },
	{ "index", "static", "INDEX is the first operand of a command" },
	{ "db", "static", "INDEX is the first operand of a command" },
	{ "index", "mode", "the index is the first operand: simidx-load INDEX INPUT" },
	{ "db", "mode", "the index is the first operand: simidx-load INDEX INPUT" },
	{ "init", "mode", "the first load makes an index: simidx-load INDEX INPUT" },
	{ "delete", "mode",
	  "'--mode delete', or of a few simidx-query delete --label INDEX LABEL" },
	{ "tfidf", "idf", "--weights tfidf --idf FILE; 'simidx-query idf' makes FILE" },
	{ "limit", "static", "what is printed has lines: | head -n N" },
	{ "mapsize", "mode", "an index grows by itself" },
	{ "map-size", "mode", "an index grows by itself" },
	{ "no-color", "color", "'--color never'" },
	{ "no-summary", "quiet", "'-q' prints no summary" },
	{ "no-progress", "quiet", "'-q' shows none" },
	{ "quick", "no-verify", "'--no-verify' is faster: fingerprints decide" },
	{ "min-group", "drop-list", "| cut -f 1 | uniq -c counts what each group has" },
	{ "ignore-whitespace", "stream", "case, punctuation and white space do not count" },
	{ "ignore-punctuation", "stream", "case, punctuation and white space do not count" },
	{ "strip-html", "stream", "HTML is not parsed: pandoc -t plain makes texts" },
	{ "gzip", "output", "--output FILE.gz is compressed" },
	{ "compress", "output", "--output FILE.gz is compressed" },
	{ "append", "stream", ">> FILE adds lines" },
	{ "save", "stream", "results go to standard output: > FILE" },
	{ "export", "stream", "results go to standard output: > FILE" },
	{ "format", "json", "--json prints objects" },
	{ "input", NULL, "an INPUT stands without an option" },
	{ "in", NULL, "an INPUT stands without an option" },
	{ "path", NULL, "an INPUT stands without an option" },
	{ "count", "drop-list", "the last line counts; --drop-list | wc -l does, too" },
	{ "reverse", "drop-list", "--keep says which one of a group stays" },
	{ "html", "evidence", "--evidence FILE, then simidx-query review --html PAGE FILE" },
	{ "time", "prefer", "--keep max:FIELD goes by dates of rows" },
	{ "type", "files-from", "find DIR -name '*.txt' | ... --files-from - chooses by names" },
	{ "one-file-system", "files-from", "find DIR -xdev -type f | ... --files-from - does it" },
	{ "method", "stream", "there is nothing to choose: doc/dedup.md" },
	{ "algorithm", "stream", "there is nothing to choose: doc/dedup.md" },
	{ "simhash", "stream", "there is nothing to choose: doc/dedup.md" },
	{ "percent", "radius",
	  "fingerprints cannot tell percent: --radius N, or simidx-dedup for texts" },
	{ "score", "radius",
	  "fingerprints cannot tell percent: --radius N, or simidx-dedup for texts" },
	{ "size", "json", "'simidx-query stats INDEX' has the bytes of each table" },
	{ "similarity", "radius",
	  "fingerprints cannot tell percent: --radius N, or simidx-dedup for texts" },
	{ "threshold", "radius",
	  "fingerprints cannot tell percent: --radius N, or simidx-dedup for texts" },
};

/* What letters stand for in other programs, by a name that is known above. */
static const struct {
	char letter;
	const char *name;
} other_letters[] = {
	{ 'i', "seen" }, { 'n', "documents" }, { 'r', "recursive" }, { 'F', "format" },
	{ 'G', "min-size" }, { 'd', "delete" }, { 'd', "distance" }, { 'j', "jobs" },
	{ 'A', "nohidden" }, { 'H', "hardlinks" }, { 'N', "noprompt" }, { 'S', "show-size" },
	{ 'T', "files-from" }, { 'f', "omitfirst" }, { 'i', "ignore-case" }, { 'm', "mode" },
	{ 'm', "summarize" }, { 'm', "limit" }, { 'z', "null" }, { 'X', "exclude" },
	{ 'O', "order" },
	{ 'I', "isolate" }, { '1', "sameline" }, { '?', "help" }, { 'n', "dry-run" },
	{ 'n', "head" }, { 'n', "limit" }, { 'o', "output" }, { 'u', "unique" },
	{ 'v', "progress" }, { 'x', "exclude" }, { 'Q', "quick" },
};

const char *tl_others_find(const char *word, size_t length, const char *const *names)
{
	for (; *names; names++)
		if (strncmp(word, *names, length) == 0 && !(*names)[length])
			return *names;
	return NULL;
}

const char *tl_others_instead(const char *word, const char *const *names)
{
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		const char *needs = without[i].needs;

		if (strcmp(word, without[i].theirs) == 0 &&
		    (!needs || tl_others_find(needs, strlen(needs), names)))
			return without[i].instead;
	}
	return NULL;
}

int tl_others_have(const char *word)
{
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (strcmp(word, other_names[i].theirs) == 0)
			return 1;
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		if (strcmp(word, without[i].theirs) == 0)
			return 1;
	return 0;
}

const char *tl_others_name(const char *word, const char *const *names)
{
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++) {
		const char *ours = other_names[i].ours;

		if (strcmp(word, other_names[i].theirs) != 0)
			continue;
		ours = tl_others_find(ours, strlen(ours), names);
		if (ours)
			return ours;
	}
	return NULL;
}

const char *tl_others_letter(int letter, int i)
{
	for (size_t k = 0; k < sizeof(other_letters) / sizeof(other_letters[0]); k++)
		if (other_letters[k].letter == letter && i-- == 0)
			return other_letters[k].name;
	return NULL;
}

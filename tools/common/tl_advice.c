/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_advice.h"

#include "common/tl_msg.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Letters to put in, take away or change to make one word of another; of long ones, the start. */
static size_t edit_distance(const char *a, const char *b)
{
	enum { MAX = 31 };
	size_t n = strlen(a), m = strlen(b), row[MAX + 1], left, above;

	n = n < MAX ? n : MAX;
	m = m < MAX ? m : MAX;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		left = row[0];
		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			above = row[j];
			row[j] = left + (a[i - 1] != b[j - 1]);
			if (above + 1 < row[j])
				row[j] = above + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			left = above;
		}
	}
	return row[m];
}

const char *tl_nearest_word(const char *word, const char *const *words)
{
	const char *nearest = NULL;
	size_t n = strlen(word), distance;
	size_t best = n < 4 ? 2 : 3; /* so many letters are another word */

	for (; *words; words++) {
		distance = edit_distance(word, *words);
		/* "full" is not "null", nor "scan" "plan". */
		if (*word != **words && (distance > 1 || (n < 5 && strlen(*words) == n)))
			continue;
		if (distance < best) {
			best = distance;
			nearest = *words;
		}
	}
	return nearest;
}

/* What other programs call an option of ours; of several the first that a command has. */
static const struct {
	const char *theirs, *ours;
} other_names[] = {
	{ "threshold", "similarity" }, { "column", "text-field" },    { "all-files", "hidden" },
	{ "field", "text-field" },     { "jobs", "threads" },	  { "workers", "threads" },
	{ "num-proc", "threads" },     { "distance", "radius" },  { "top", "nearest" },
	{ "delete", "drop-list" },     { "dry-run", "drop-list" },
	{ "hard-link", "drop-list" },  { "move", "drop-list" },   { "max-size", "max-bytes" },
	{ "hardlink", "drop-list" },   { "symlink", "drop-list" }, { "interactive", "drop-list" },
	{ "summarize", "summary" },    { "recurse", "recursive" }, { "input-format", "format" },
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
	{ "before", "older-than" },    { "out", "output" },	  { "dryrun", "drop-list" },
	{ "deleteduplicates", "drop-list" }, { "makehardlinks", "drop-list" },
	{ "makesymlinks", "drop-list" }, { "simulate", "drop-list" }, { "print0", "null" },
	{ "ngrams", "grams" },	       { "on-conflict", "mode" },
	{ "if-exists", "create" },
	{ "zero", "null" },	       { "silent", "quiet" },	  { "work-dir", "tmpdir" },
	{ "ram", "memory" },	       { "original", "prefer" },  { "protect", "prefer" },
	{ "col", "text-field" },       { "content", "text-field" }, { "url", "label-field" },
	{ "sync", "durability" },      { "nosync", "durability" }, { "max-distance", "radius" },
};

/*
 * What other programs have and ours do without, and what to do instead. `needs` is the option of a
 * command without which that would not be true there; or NULL.
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
	{ "newest", "prefer", "--keep newest chooses the one that stays" },
	{ "oldest", "prefer", "--keep oldest chooses the one that stays" },
	{ "longest", "prefer", "--keep longest is the default" },
	{ "first", "prefer", "--keep first chooses the one that stays" },
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
	{ "jsonl", "delimiter", "-F jsonl reads such rows" },
	{ "ndjson", "delimiter", "-F jsonl reads such rows" },
	{ "lines", "delimiter", "-F lines reads fingerprints, one a line" },
	{ "csv", "delimiter", "-F csv reads such rows" },
	{ "csv", "json", "columns are separated by tabs; --json prints objects" },
	{ "tsv", "delimiter", "-F tsv reads such rows" },
	{ "tsv", "json", "columns are separated by tabs; --json prints objects" },
	{ "pretty", "json", "--json | jq . does it" },
	{ "overwrite", "create", "--create truncate replaces an index" },
	{ "append", "mode", "rows are added to an index that is there" },
	{ "update", "mode", "--mode replace stores a row in the place of another one" },
	{ "replace", "mode", "--mode replace stores a row in the place of another one" },
	{ "if-new", "mode", "--mode if-new stores what is new" },
	{ "if-new", "stream", "--stream prints what is new" },
	{ "unique", "mode", "--mode if-new stores what is new" },
	{ "unique", "stream", "--stream prints what is new" },
	{ "dedup", "mode", "--mode if-new stores what is new" },
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
	{ "text", "static", "an index has no texts; its labels name them" },
	{ "fix", "static", "'simidx-query repair INDEX NEW' saves what is sound" },
	{ "index", "static", "INDEX is the first operand of a command" },
	{ "db", "static", "INDEX is the first operand of a command" },
	{ "index", "mode", "the index is the first operand: simidx-load INDEX INPUT" },
	{ "db", "mode", "the index is the first operand: simidx-load INDEX INPUT" },
	{ "init", "mode", "the first load makes an index: simidx-load INDEX INPUT" },
	{ "delete", "mode", "--mode delete, or of a few simidx-query delete --label INDEX LABEL" },
	{ "tfidf", "idf", "--weights tfidf --idf FILE; 'simidx-query idf' makes FILE" },
	{ "limit", "static", "what is printed has lines: | head -n N" },
	{ "mapsize", "mode", "an index grows by itself" },
	{ "map-size", "mode", "an index grows by itself" },
	{ "no-color", "color", "--color never" },
	{ "no-summary", "quiet", "-q prints no summary" },
	{ "no-progress", "quiet", "-q shows none" },
	{ "quick", "no-verify", "--no-verify is faster: fingerprints decide" },
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

static const char *find_name(const char *word, size_t length, const char *const *names)
{
	for (; *names; names++)
		if (strncmp(word, *names, length) == 0 && !(*names)[length])
			return *names;
	return NULL;
}

static const char *find_instead(const char *word, const char *const *names)
{
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
		const char *needs = without[i].needs;

		if (strcmp(word, without[i].theirs) == 0 &&
		    (!needs || find_name(needs, strlen(needs), names)))
			return without[i].instead;
	}
	return NULL;
}

/* Whether other programs have it: then it is not one of ours, misspelt. */
static int is_of_others(const char *word)
{
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (strcmp(word, other_names[i].theirs) == 0)
			return 1;
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		if (strcmp(word, without[i].theirs) == 0)
			return 1;
	return 0;
}

static const char *find_other_name(const char *word, const char *const *names)
{
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++) {
		const char *ours = other_names[i].ours;

		if (strcmp(word, other_names[i].theirs) != 0)
			continue;
		ours = find_name(ours, strlen(ours), names);
		if (ours)
			return ours;
	}
	return NULL;
}

/* The option that is a part of a word: "min-similarity" has "similarity". */
static const char *find_part(const char *word, const char *const *names)
{
	const char *found = NULL;

	for (size_t length; *word && !found; word += length + (word[length] == '-')) {
		length = strcspn(word, "-");
		found = find_name(word, length, names);
	}
	return found;
}

/*
 * What a part of a word is to other programs: "minimal-file-size" has "size". "no-size" is another
 * matter, and "max" is a part of many.
 */
static void look_at_parts(const char *word, const char *const *names, const char **nearest,
			  const char **instead)
{
	char part[64];

	if (strncmp(word, "no-", 3) == 0 || strncmp(word, "ignore-", 7) == 0)
		return;
	word += strncmp(word, "max-", 4) == 0 ? 4 : 0;
	for (size_t n; *word && !*nearest && !*instead; word += n + (word[n] == '-')) {
		n = strcspn(word, "-");
		snprintf(part, sizeof(part), "%.*s", (int)n, word);
		*nearest = find_other_name(part, names);
		*instead = *nearest ? NULL : find_instead(part, names);
	}
}

/* A long option as it was given, without dashes and value, as names are written. */
static void read_word(const char *spelled, char word[64])
{
	size_t length = strcspn(spelled, "=:");

	snprintf(word, 64, "%.*s", (int)(length > 2 ? length - 2 : 0), spelled + 2);
	for (char *c = word; *c; c++)
		*c = *c == '_' ? '-' : (char)tolower(*c);
}

int tl_means_other(const char *spelled, const char *const *names)
{
	char word[64];

	if (strncmp(spelled, "--", 2) != 0)
		return 0;
	read_word(spelled, word);
	return !find_name(word, strlen(word), names) &&
	       (find_other_name(word, names) || find_instead(word, names));
}

void tl_refuse_name(const char *spelled, const char *const *names)
{
	size_t length = strcspn(spelled, "="), begins = 0, used = 0;
	const char *nearest, *instead;
	char word[64], could[512] = "";

	for (size_t i = 0; names[i]; i++) {
		if (length < 3 || strncmp(names[i], spelled + 2, length - 2) != 0)
			continue;
		begins++;
		if (used + strlen(names[i]) + 6 < sizeof(could))
			used += (size_t)snprintf(could + used, sizeof(could) - used, "%s--%s",
						 used ? ", " : "", names[i]);
	}
	read_word(spelled, word);
	instead = find_instead(word, names);
	nearest = find_other_name(word, names);
	if (!nearest && !is_of_others(word))
		nearest = tl_nearest_word(word, names);
	if (!nearest && !is_of_others(word))
		nearest = find_part(word, names);
	if (!nearest && !is_of_others(word))
		look_at_parts(word, names, &nearest, &instead);
	if (begins > 1 && !instead && !find_other_name(word, names))
		tl_usage_error("option '%s' could be %s", spelled, could);
	else if (nearest && strncmp(word, "no-", 3) == 0 && strcmp(nearest, word + 3) == 0)
		tl_usage_error("unknown option '%s'; it is so without --%s", spelled, nearest);
	else if (nearest)
		tl_usage_error("unknown option '%s'; is --%s meant?", spelled, nearest);
	else if (instead)
		tl_usage_error("unknown option '%s'; %s", spelled, instead);
	else
		tl_usage_error("unknown option '%s'; -h lists what there is", spelled);
}

/* What letters stand for in other programs, by a name that is known above. */
static const struct {
	char letter;
	const char *name;
} other_letters[] = {
	{ 'G', "min-size" }, { 'd', "delete" }, { 'd', "distance" }, { 'j', "jobs" },
	{ 'A', "nohidden" }, { 'H', "hardlinks" }, { 'N', "noprompt" }, { 'S', "show-size" },
	{ 'T', "files-from" }, { 'f', "omitfirst" }, { 'i', "ignore-case" }, { 'm', "mode" },
	{ 'm', "summarize" }, { 'z', "null" }, { 'X', "exclude" }, { 'O', "order" },
	{ 'I', "isolate" }, { '1', "sameline" }, { '?', "help" }, { 'n', "dry-run" },
	{ 'n', "head" }, { 'n', "limit" }, { 'o', "output" }, { 'u', "unique" },
	{ 'v', "progress" }, { 'x', "exclude" },
};

/* Options whose names begin so, and a letter of the other case. */
static void list_so(int letter, const char *const *names, const char *letters, char *out,
		    size_t size)
{
	int other = isalpha(letter) ? letter ^ ('a' ^ 'A') : 0;
	size_t used = 0;

	if (other && strchr(letters, other))
		used = (size_t)snprintf(out, size, "-%c", other);
	for (; *names; names++)
		if (**names == tolower(letter) && used + strlen(*names) + 6 < size)
			used += (size_t)snprintf(out + used, size - used, "%s--%s",
						 used ? ", " : "", *names);
}

/* Whether a word is a character between columns, alone or behind a letter. */
static int is_delimiter(const char *word)
{
	size_t n = word ? strlen(word) : 0;

	return n && n < sizeof("-d,") && strchr(",;|:\t", word[n - 1]);
}

void tl_refuse_letter(int letter, const char *word, const char *const *names, const char *letters)
{
	const char *nearest = is_delimiter(word) ? find_name("delimiter", 9, names) : NULL;
	const char *instead = NULL;
	char could[512] = "";

	if (tl_refuse_long(word, names))
		return;
	for (size_t i = 0; i < sizeof(other_letters) / sizeof(other_letters[0]); i++) {
		const char *name = other_letters[i].name;

		if (other_letters[i].letter != letter || nearest || instead)
			continue;
		nearest = find_other_name(name, names);
		if (!nearest)
			nearest = find_name(name, strlen(name), names);
		instead = find_instead(name, names);
	}
	list_so(letter, names, letters, could, sizeof(could));
	if (isdigit(letter) && !instead)
		tl_usage_error("unknown option '-%c'; '--' goes before arguments that begin with "
			       "'-'",
			       letter);
	else if (nearest)
		tl_usage_error("unknown option '-%c'; is --%s meant?", letter, nearest);
	else if (instead)
		tl_usage_error("unknown option '-%c'; %s", letter, instead);
	else if (strchr(could, ','))
		tl_usage_error("unknown option '-%c'; is one of these meant? %s", letter, could);
	else if (*could)
		tl_usage_error("unknown option '-%c'; is %s meant?", letter, could);
	else
		tl_usage_error("unknown option '-%c'; -h lists what there is", letter);
}

int tl_refuse_long(const char *word, const char *const *names)
{
	const char *nearest, *instead;
	char spelled[64], name[64];

	if (!word || strncmp(word, "--", 2) == 0 || *word != '-' || strlen(word) < 4)
		return 0;
	snprintf(spelled, sizeof(spelled), "-%s", word);
	read_word(spelled, name);
	if (strcmp(name, "name") == 0 || strcmp(name, "iname") == 0)
		strcpy(name, "glob"); /* of find(1) */
	nearest = find_name(name, strlen(name), names);
	if (!nearest)
		nearest = find_other_name(name, names);
	instead = find_instead(name, names);
	if (nearest)
		return tl_usage_error("unknown option '%s'; is --%s meant?", word, nearest);
	return instead ? tl_usage_error("unknown option '%s'; %s", word, instead) : 0;
}

const char *tl_nearest_value(const char *value, const char *const *words)
{
	/* What others call it; of several the first that is among the words. */
	static const struct {
		const char *theirs, *ours;
	} others[] = {
		{ "ndjson", "jsonl" },	 { "jsonlines", "jsonl" },   { "json", "jsonl" },
		{ "update", "replace" },    { "upsert", "replace" },
		{ "append", "add" },	 { "overwrite", "replace" }, { "insert", "add" },
		{ "new", "if-new" },	 { "new", "must" },	     { "yes", "must" },
		{ "decimal", "dec" },	 { "hex", "lines" },	     { "remove", "delete" },
		{ "overwrite", "truncate" }, { "newest", "last" },   { "oldest", "first" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(value, others[i].theirs) == 0 &&
		    find_name(others[i].ours, strlen(others[i].ours), words))
			return others[i].ours;
	return tl_nearest_word(value, words);
}

int tl_refuse_word(const char *word)
{
	static const char *const words[] = { "search", "get", "dump", "pairs", "clusters", "stats",
					     "verify", "repair", "delete", "similar" };
	static const char *const not_here[] = { "stream", "groups", "find", "run", "dedup", "dup",
						"dups", "scan", "add", "create", "index", "init" };

	if (access(word, F_OK) == 0)
		return 0;
	if (strcmp(word, "help") == 0)
		return tl_usage_error("there is no file 'help'; --help prints what there is");
	for (size_t i = 0; i < sizeof(not_here) / sizeof(not_here[0]); i++)
		if (strcmp(word, not_here[i]) == 0)
			return tl_usage_error("there is no file '%s', and %s has no commands", word,
					      tl_program());
	if (strcmp(word, "load") == 0)
		return tl_usage_error("there is no file 'load'; simidx-load INDEX INPUT loads");
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(word, words[i]) == 0)
			return tl_usage_error("there is no file '%s'; it is a command of "
					      "simidx-query", word);
	return 0;
}

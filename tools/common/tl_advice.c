/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_advice.h"

#include "common/tl_example.h"
#include "common/tl_help.h"
#include "common/tl_msg.h"
#include "common/tl_others.h"
#include "common/tl_owners.h"
#include "common/tl_path.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/*
 * Letters to put in, take away, change or exchange with the next one to make one word of another;
 * of long ones, the start.
 */
static size_t edit_distance(const char *a, const char *b)
{
	enum { MAX = 31 };
	size_t n = strlen(a), m = strlen(b), d[MAX + 1][MAX + 1], one;

	n = n < MAX ? n : MAX;
	m = m < MAX ? m : MAX;
	for (size_t i = 0; i <= n; i++)
		for (size_t j = 0; j <= m; j++) {
			d[i][j] = i ? i : j;
			if (!i || !j)
				continue;
			d[i][j] = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			one = (d[i - 1][j] < d[i][j - 1] ? d[i - 1][j] : d[i][j - 1]) + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    d[i - 2][j - 2] + 1 < one)
				one = d[i - 2][j - 2] + 1;
			if (one < d[i][j])
				d[i][j] = one;
		}
	return d[n][m];
}

/* So many letters are another word. */
#define OTHER_WORD 3

/* How near a word is to another; OTHER_WORD = it is not. */
static size_t distance_of(const char *word, const char *other)
{
	size_t n = strlen(word), distance = edit_distance(word, other);

	/* "full" is not "null", nor "scan" "plan". */
	if (*word != *other && (distance > 1 || (n < 5 && strlen(other) == n)))
		return OTHER_WORD;
	return distance < (n < 4 ? 2 : OTHER_WORD) ? distance : OTHER_WORD;
}

const char *tl_nearest_word(const char *word, const char *const *words)
{
	const char *nearest = NULL;
	size_t best = OTHER_WORD, distance;

	for (; *words; words++) {
		distance = distance_of(word, *words);
		/* Of two that are as near, two letters are rather exchanged. */
		if (distance < best || (distance < OTHER_WORD && distance == best &&
					strlen(*words) == strlen(word))) {
			best = distance;
			nearest = *words;
		}
	}
	return nearest;
}

/* Names that are looked for in their directories: a list may have a million that are not there. */
#define MOST_LOOKED 20

const char *tl_nearest_file(const char *path)
{
	static char nearest[NAME_MAX + 1];
	static int n_looked;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	char parent[PATH_MAX];
	const struct dirent *entry;
	DIR *directory;
	size_t best = OTHER_WORD, distance;
	int longer;

	tl_path_parent(path, parent, sizeof(parent));
	directory = *name && n_looked++ < MOST_LOOKED ? opendir(parent) : NULL;
	while (directory && (entry = readdir(directory)) != NULL) {
		if (*entry->d_name == '.' || strcmp(entry->d_name, name) == 0)
			continue;
		distance = distance_of(name, entry->d_name);
		/* A letter is rather missing than one too many; and always the same. */
		longer = (int)strlen(entry->d_name) - (int)strlen(nearest);
		if (distance < best ||
		    (distance < OTHER_WORD && distance == best &&
		     (longer > 0 || (!longer && strcmp(entry->d_name, nearest) < 0)))) {
			best = distance;
			snprintf(nearest, sizeof(nearest), "%s", entry->d_name);
		}
	}
	if (directory)
		closedir(directory);
	return best < OTHER_WORD ? nearest : NULL;
}

/*
 * The option that is a part of a word, or what that is to other programs: "min-similarity" has
 * "similarity", "minimal-file-size" has "size". "no-size" is another matter, and some are parts of
 * many.
 */
static void look_at_parts(const char *word, const char *const *names, const char **nearest,
			  const char **instead)
{
	int is_ours = strncmp(word, "no-", 3) == 0 || strncmp(word, "ignore-", 7) == 0;
	char part[64];

	for (size_t n; *word && !*nearest && !*instead; word += n + (word[n] == '-')) {
		n = strcspn(word, "-");
		snprintf(part, sizeof(part), "%.*s", (int)n, word);
		*nearest = tl_others_find(word, n, names);
		if (*nearest || is_ours || tl_others_list("max file", part))
			continue;
		*nearest = tl_others_name(part, names);
		*instead = *nearest ? NULL : tl_others_instead(part, names);
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

/* The option that is so called, but for case and dashes; or NULL. */
static const char *find_spelt(const char *word, const char *const *names)
{
	while (*names && !tl_others_list(*names, word))
		names++;
	return *names;
}

/* The option that a word is, or is to other programs, or what to do instead; 0 if none is known. */
static int look_up(const char *word, const char *const *names, const char **nearest,
		   const char **instead)
{
	*nearest = find_spelt(word, names);
	*instead = *nearest ? NULL : tl_others_instead(word, names);
	if (!*nearest && !*instead)
		*nearest = tl_others_name(word, names);
	return *nearest || *instead;
}

int tl_means_other(const char *spelled, const char *const *names)
{
	char word[64];

	if (strncmp(spelled, "--", 2) != 0)
		return 0;
	read_word(spelled, word);
	return !tl_others_find(word, strlen(word), names) &&
	       (tl_others_name(word, names) || tl_others_instead(word, names));
}

/* An option without which another one means nothing, as words of a line; or "". */
static const char *goes_with(const char *name)
{
	return tl_others_list("index output output-dir dups", name) && tl_example_has("stream") &&
			       !tl_example_find("stream") ? "--stream " :
	       strcmp(name, "null") == 0 && tl_example_has("drop-list") &&
			       !tl_example_find("files-from") && !tl_example_find("drop-list") &&
			       !tl_example_find("stream") ? "--drop-list " : "";
}

/*
 * Refuse the first `n` bytes of an argument, or the last letter of several: an option of ours is
 * meant, or something else.
 */
static int refuse_as(const char *spelled, size_t n, const char *nearest, const char *instead,
		     int is_sure)
{
	char right[64] = "";
	int shown = n <= 2 ? (int)n : (int)strlen(spelled); /* of a letter, no value */
	const char *before = n == 1 ? " " : "", *dash = n == 1 ? "-" : "";

	/* Of files it would be a list of those that stay. */
	if (nearest && strcmp(nearest, "output") == 0 && *goes_with(nearest) &&
	    tl_example_find("recursive"))
		return tl_usage_error("unknown option '%s%.*s'; groups go to standard output: "
				      "> FILE; --output goes with --stream", dash, shown, spelled);
	if (nearest)
		snprintf(right, sizeof(right), "%s%s--%s%s", before, goes_with(nearest), nearest,
			 n == 2 ? " " : "");
	else if (strncmp(instead, "'-", 2) == 0)
		snprintf(right, sizeof(right), "%s%.*s", before, (int)strcspn(instead + 1, "'"),
			 instead + 1);
	else if (strncmp(instead, "'simidx", 7) == 0)
		tl_example_is(instead + 1);
	/* What was given need not be given again. */
	if (*right && is_sure && !tl_example_find(right + strlen(before) + 2))
		tl_example_mend(spelled, n, right);
	if (nearest)
		return tl_usage_error("unknown option '%s%.*s'; is --%s meant?", dash, shown,
				      spelled, nearest);
	return tl_usage_error("unknown option '%s%.*s'; %s", dash, shown, spelled, instead);
}

int tl_refuse_meant(const char *spelled, const char *meant)
{
	return refuse_as(spelled, strcspn(spelled, "="), meant, NULL, 1);
}

/* List the options whose names begin so; returns their number. */
static size_t list_so(const char *begins, size_t n, const char *const *names, char *out,
		      size_t size)
{
	size_t used = 0, found = 0;

	for (; n && *names; names++) {
		if (strncmp(*names, begins, n) != 0)
			continue;
		found++;
		if (used + strlen(*names) + 6 < size)
			used += (size_t)snprintf(out + used, size - used, "%s--%s",
						 used ? ", " : "", *names);
	}
	return found;
}

void tl_refuse_name(const char *spelled, const char *const *names)
{
	size_t length = strcspn(spelled, "=");
	char word[64], could[512] = "";
	const char *nearest, *instead, *own;
	int is_sure;

	read_word(spelled, word);
	is_sure = look_up(word, names, &nearest, &instead);
	own = tl_nearest_word(word, names);
	/* "ids" is rather "id" here than of another tool. */
	if (!is_sure && !(own && strncmp(word, own, strlen(own)) == 0) &&
	    tl_owners_refuse(word, spelled))
		return;
	if (!is_sure && list_so(spelled + 2, length - 2, names, could, sizeof(could)) > 1) {
		tl_usage_error("option '%s' could be %s", spelled, could);
		return;
	}
	if (!is_sure && !tl_others_have(word)) {
		nearest = own;
		is_sure = nearest != NULL;
		if (!is_sure)
			look_at_parts(word, names, &nearest, &instead);
	}
	if (nearest && strncmp(word, "no-", 3) == 0 && strcmp(nearest, word + 3) == 0)
		tl_usage_error("unknown option '%s'; it is so without --%s", spelled, nearest);
	else if (nearest || instead)
		refuse_as(spelled, length, nearest, instead, is_sure);
	else
		tl_usage_error("unknown option '%s'; there are: %s", spelled,
			       tl_help_tasks(tl_example_command()));
}

/* Whether a word is a character between columns, alone or behind a letter. */
static int is_delimiter(const char *word)
{
	size_t n = word ? strlen(word) : 0;

	return n && n < sizeof("-d,") && strchr(",;|:\t", word[n - 1]);
}

void tl_refuse_letter(int letter, const char *spelled, const char *next, const char *const *names)
{
	const char *delimiter = is_delimiter(next) ? tl_others_find("delimiter", 9, names) : NULL;
	const char *nearest = delimiter, *instead = NULL, *other, *name;
	char alone[3] = { '-', (char)letter };

	if (tl_refuse_long(next, names))
		return;
	for (int i = 0; !instead && !delimiter && (name = tl_others_letter(letter, i)); i++) {
		/* One that needs a value is not meant where none follows, if another one is. */
		if (nearest && (!tl_example_needs_value(nearest) || (next && *next != '-')))
			break;
		look_up(name, names, &other, &instead);
		nearest = other ? other : instead ? NULL : nearest;
	}
	if (isdigit(letter) && !instead)
		tl_usage_error("unknown option '-%c'; %s'--' goes before arguments that begin with "
			       "'-'", letter,
			       tl_others_find("limit", 5, names) ? "--limit N prints so many; " :
								   "");
	else if (nearest || instead)
		refuse_as(spelled ? spelled : alone, spelled && *spelled != '-' ? 1 : 2, nearest,
			  instead, 1);
	else
		tl_usage_error("unknown option '-%c'; there are: %s", letter,
			       tl_help_tasks(tl_example_command()));
}

int tl_refuse_long(const char *word, const char *const *names)
{
	const char *nearest, *instead;
	char spelled[64], name[64];

	if (!word || strncmp(word, "--", 2) == 0 || *word != '-' || strlen(word) < 4 ||
	    word[2] == '=')
		return 0;
	snprintf(spelled, sizeof(spelled), "-%s", word);
	read_word(spelled, name);
	if (strcmp(name, "name") == 0 || strcmp(name, "iname") == 0)
		strcpy(name, "glob"); /* of find(1) */
	return look_up(name, names, &nearest, &instead) ?
		       refuse_as(word, strcspn(word, "="), nearest, instead, 1) : 0;
}

const char *tl_known_value(const char *value, const char *const *words)
{
	/* What others call it; of several the first that is among the words. */
	static const struct {
		const char *ours, *theirs;
	} others[] = {
		{ "jsonl", "ndjson jsonlines json json.gz jsonl.gz" }, { "lines", "hex" },
		{ "text", "txt md markdown html plain" }, { "dec", "decimal" },
		{ "replace", "update upsert overwrite" }, { "add", "append insert" },
		{ "if-new", "new unique dedup" }, { "delete", "remove" }, { "must", "new" },
		{ "if-missing", "yes auto" }, { "always", "yes on true" },
		{ "new", "yes on true" },
		{ "never", "no off false" }, { "truncate", "overwrite" }, { "last", "newest" },
		{ "first", "oldest ignore skip" },
		{ "longest", "biggest largest" }, { "shortest", "smallest" },
		{ "oldest", "old" }, { "newest", "new last" }, { "normal", "none off no" },
		{ "full", "always fsync sync" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (tl_others_list(others[i].theirs, value) &&
		    tl_others_find(others[i].ours, strlen(others[i].ours), words))
			return others[i].ours;
	return find_spelt(value, words);
}

const char *tl_nearest_value(const char *value, const char *const *words)
{
	const char *known = tl_known_value(value, words);

	return known ? known : tl_nearest_word(value, words);
}

int tl_refuse_word(const char *word, const char *next)
{
	int is_query = tl_others_list("search get dump export pairs clusters stats verify backup "
				      "compact repair delete idf similar review", word);
	const char *told =
		access(word, F_OK) == 0		     ? NULL :
		strcmp(word, "help") == 0	     ? "--help prints what there is" :
		strcmp(word, "version") == 0	     ? "--version prints it" :
		strcmp(word, "load") == 0	     ? "simidx-load INDEX INPUT loads" :
		is_query			     ? "it is a command of simidx-query" :
		tl_others_list("compare diff", word) ? "'simidx-query similar A B' compares texts" :
		tl_others_list("stream groups find run dedup dup filter unique uniq minhash "
			       "simhash dups scan add create insert index init build", word) ?
						       "there are no commands" : NULL;

	if (told && *told == '-')
		tl_example_mend(word, 0, "--");
	if (told && is_query && next && tl_path_is_index(next))
		tl_example_is_of("simidx-query");
	if (told && strcmp(word, "delete") == 0)
		tl_example_mend(word, strlen(word), "delete --label");
	return told ? tl_usage_error("there is no file '%s'; %s", word, told) : 0;
}

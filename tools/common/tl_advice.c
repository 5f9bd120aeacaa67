/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_advice.h"

#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_others.h"
#include "common/tl_path.h"

#include <ctype.h>
#include <dirent.h>
#include <limits.h>
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

/* Names that are looked for in their directories: a list may have a million that are not there. */
#define MOST_LOOKED 20

const char *tl_nearest_file(const char *path)
{
	static char nearest[NAME_MAX + 1];
	static int n_looked;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *words[2] = { NULL };
	char parent[PATH_MAX];
	const struct dirent *entry;
	DIR *directory;
	int is_found = 0;

	tl_path_parent(path, parent, sizeof(parent));
	directory = *name && n_looked++ < MOST_LOOKED ? opendir(parent) : NULL;
	while (directory && !is_found && (entry = readdir(directory)) != NULL) {
		words[0] = entry->d_name;
		is_found = *entry->d_name != '.' && strcmp(entry->d_name, name) != 0 &&
			   tl_nearest_word(name, words);
		if (is_found)
			snprintf(nearest, sizeof(nearest), "%s", entry->d_name);
	}
	if (directory)
		closedir(directory);
	return is_found ? nearest : NULL;
}

/* Those of simidx-query. */
#define QUERY_COMMANDS \
	"search get dump export pairs clusters stats verify backup compact repair delete idf " \
	"similar review"

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

int tl_means_other(const char *spelled, const char *const *names)
{
	char word[64];

	if (strncmp(spelled, "--", 2) != 0)
		return 0;
	read_word(spelled, word);
	return !tl_others_find(word, strlen(word), names) &&
	       (tl_others_name(word, names) || tl_others_instead(word, names));
}

/*
 * Refuse the first `n` bytes of an argument, or the last letter of several: an option of ours is
 * meant, or something else.
 */
static int refuse_as(const char *spelled, size_t n, const char *nearest, const char *instead,
		     int is_sure)
{
	static char right[64];
	int shown = n <= 2 ? (int)n : (int)strlen(spelled); /* of a letter, no value */
	int is_quoted = !nearest && strncmp(instead, "'-", 2) == 0;
	const char *before = n == 1 ? " " : "", *dash = n == 1 ? "-" : "";
	const char *index = is_quoted && !strncmp(instead, "'--against'", 11) ?
				    tl_example_find("index") : NULL;
	int may_mend = is_sure && (nearest || (is_quoted && !spelled[n]));

	if (nearest)
		snprintf(right, sizeof(right), "%s--%s%s", before, nearest, n == 2 ? " " : "");
	else if (is_quoted)
		snprintf(right, sizeof(right), "%s%.*s", before, (int)strcspn(instead + 1, "'"),
			 instead + 1);
	/* What was given need not be given again. */
	may_mend = may_mend && !tl_example_find(right + strlen(before) + 2);
	if (index)
		tl_example_mend(index, strcspn(index, "="), right);
	else if (may_mend)
		tl_example_mend(spelled, n, right);
	if (index || may_mend)
		tl_example_is(NULL);
	else if (!nearest && strncmp(instead, "'simidx", 7) == 0)
		tl_example_is(instead + 1);
	if (nearest)
		return tl_usage_error("unknown option '%s%.*s'; is --%s meant?", dash, shown,
				      spelled, nearest);
	return tl_usage_error("unknown option '%s%.*s'; %s", dash, shown, spelled, instead);
}

/* Add options whose names begin so to a list. Returns their number. */
static size_t list_so(const char *begins, size_t n, const char *const *names, char *out,
		      size_t size)
{
	size_t used = strlen(out), found = 0;

	for (; *names; names++) {
		if (strncmp(*names, begins, n) != 0)
			continue;
		found++;
		if (used + strlen(*names) + 6 < size)
			used += (size_t)snprintf(out + used, size - used, "%s--%s",
						 used ? ", " : "", *names);
	}
	return found;
}

/* Without it a command would do what was not to be done: no line without it is right. */
static void refuse_without(const char *name)
{
	if (tl_others_list("dry-run simulate no-act pretend no-update read-only test percent limit "
			   "head max-count mark tag annotate add-column", name))
		tl_example_is("");
}

/* Whether what stands behind a word is a value as that option has it. */
static int fits_value(const char *nearest, const char *next)
{
	return next && ((isdigit((unsigned char)*next) && access(next, F_OK)) ||
			(tl_path_is_index(next) && tl_others_list("index against", nearest)));
}

void tl_refuse_name(const char *spelled, const char *next, const char *const *names)
{
	static char tells[96];
	size_t length = strcspn(spelled, "="), begins;
	const char *nearest, *instead;
	char word[64], could[512] = "";
	int is_sure;

	begins = length < 3 ? 0 : list_so(spelled + 2, length - 2, names, could, sizeof(could));
	read_word(spelled, word);
	instead = tl_others_instead(word, names);
	nearest = tl_others_find(word, strlen(word), names);
	if (!nearest)
		nearest = tl_others_name(word, names);
	if (!nearest && !instead && tl_others_list(QUERY_COMMANDS, word)) {
		snprintf(tells, sizeof(tells), "'simidx-query help %.32s' tells of that command",
			 word);
		instead = tells;
	}
	if (!nearest && !instead && !tl_others_have(word))
		nearest = tl_nearest_word(word, names);
	is_sure = nearest || instead;
	if (!is_sure && !tl_others_have(word))
		look_at_parts(word, names, &nearest, &instead);
	is_sure = is_sure || (nearest && fits_value(nearest, strchr(spelled, '=') ?
							     strchr(spelled, '=') + 1 : next));
	refuse_without(word);
	if (begins > 1 && !instead && !tl_others_name(word, names)) {
		tl_example_is("");
		tl_usage_error("option '%s' could be %s", spelled, could);
	} else if (nearest && strncmp(word, "no-", 3) == 0 && strcmp(nearest, word + 3) == 0)
		tl_usage_error("unknown option '%s'; it is so without --%s", spelled, nearest);
	else if (nearest || instead)
		refuse_as(spelled, length, nearest, instead, is_sure);
	else
		tl_usage_error("unknown option '%s'; -h lists what there is", spelled);
}

/* Whether a word is a character between columns, alone or behind a letter. */
static int is_delimiter(const char *word)
{
	size_t n = word ? strlen(word) : 0;

	return n && n < sizeof("-d,") && strchr(",;|:\t", word[n - 1]);
}

void tl_refuse_letter(int letter, const char *spelled, const char *next, const char *const *names,
		      const char *letters)
{
	const char *nearest = is_delimiter(next) ? tl_others_find("delimiter", 9, names) : NULL;
	const char *instead = NULL, *name;
	char could[512] = "", alone[3] = { '-', (char)letter }, lower = (char)tolower(letter);

	if (tl_refuse_long(next, names))
		return;
	for (int i = 0; !nearest && !instead && (name = tl_others_letter(letter, i)); i++) {
		nearest = tl_others_name(name, names);
		if (!nearest)
			nearest = tl_others_find(name, strlen(name), names);
		instead = tl_others_instead(name, names);
		if (instead)
			refuse_without(name);
	}
	if (isalpha(letter) && strchr(letters, letter ^ ('a' ^ 'A')))
		snprintf(could, sizeof(could), "-%c", letter ^ ('a' ^ 'A'));
	list_so(&lower, 1, names, could, sizeof(could));
	if (isdigit(letter) && !instead)
		tl_usage_error("unknown option '-%c'; '--' goes before arguments that begin with "
			       "'-'",
			       letter);
	else if (nearest || instead)
		refuse_as(spelled ? spelled : alone, spelled && *spelled != '-' ? 1 : 2, nearest,
			  instead, 1);
	else
		tl_usage_error("unknown option '-%c'; %s%s%s", letter,
			       strchr(could, ',') ? "is one of these meant? " :
			       *could		  ? "is " : "-h lists what there is",
			       could, *could && !strchr(could, ',') ? " meant?" : "");
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
	nearest = tl_others_find(name, strlen(name), names);
	if (!nearest)
		nearest = tl_others_name(name, names);
	instead = tl_others_instead(name, names);
	return nearest || instead ? refuse_as(word, strcspn(word, "="), nearest, instead, 1) : 0;
}

const char *tl_nearest_value(const char *value, const char *const *words)
{
	/* What others call it; of several the first that is among the words. */
	static const struct {
		const char *ours, *theirs;
	} others[] = {
		{ "jsonl", "ndjson jsonlines json json.gz jsonl.gz" }, { "lines", "hex" },
		{ "text", "txt md markdown html plain" }, { "dec", "decimal" },
		{ "replace", "update upsert overwrite" }, { "add", "append insert" },
		{ "if-new", "new unique dedup" }, { "delete", "remove" }, { "must", "new yes" },
		{ "truncate", "overwrite" }, { "last", "newest" },
		{ "first", "oldest ignore skip" },
		{ "longest", "biggest largest" }, { "shortest", "smallest" },
		{ "oldest", "old" }, { "newest", "new last" }, { "normal", "none off no" },
		{ "full", "always fsync sync" },
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (tl_others_list(others[i].theirs, value) &&
		    tl_others_find(others[i].ours, strlen(others[i].ours), words))
			return others[i].ours;
	for (size_t i = 0; words[i]; i++)
		if (tl_others_list(words[i], value))
			return words[i];
	return tl_nearest_word(value, words);
}

int tl_refuse_word(const char *word)
{
	const char *told =
		access(word, F_OK) == 0		     ? NULL :
		strcmp(word, "help") == 0	     ? "--help prints what there is" :
		strcmp(word, "load") == 0	     ? "simidx-load INDEX INPUT loads" :
		tl_others_list(QUERY_COMMANDS, word) ? "it is a command of simidx-query" :
		tl_others_list("stream groups find run dedup dup filter unique uniq minhash "
			       "simhash dups scan add create index init", word) ?
						       "there are no commands" : NULL;

	return told ? tl_usage_error("there is no file '%s'; %s", word, told) : 0;
}

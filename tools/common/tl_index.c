/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_index.h"

#include "common/tl_advice.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int tl_begins_with_path(const simidx_error *err, const char *path)
{
	size_t length = strlen(path);
	char next = length && strncmp(err->text, path, length) == 0 ? err->text[length] : 'x';

	return next == ':' || next == '/' || next == ' ';
}

/* An engine that this project has, but that this program was built without. */
static void advise_engine(const char *path, const simidx_error *err)
{
	int is_hbase = strncmp(path, "hbase:", 6) == 0;

	if (!strstr(err->text, "no engine for"))
		return;
	if (is_hbase || !strncmp(path, "redis", 5) || !strncmp(path, "unix:", 5))
		tl_notice("'./configure --with-%s' builds it with one",
			  is_hbase ? "hbase" : "redis");
	tl_notice("without one an index is a directory: 'simidx-load INDEX INPUT'");
}

/* What an option is to be given, where the library wants a dictionary or has one in vain. */
static const char *advise_idf(const simidx_error *err)
{
	if (err->code != SIMIDX_E_ARG || !strstr(err->text, "\"word idf\""))
		return "";
	return strstr(err->text, "is for the weights") ?
		       "; --weights tfidf uses what --idf names" :
		       "; 'simidx-query idf FILE >words.idf' makes one, --idf words.idf names it";
}

void tl_advise_parent(const char *path, const simidx_error *err)
{
	const char *at = strstr(err->text, " in the directory ");
	const char *end = at ? strstr(at, ": No such file") : NULL;

	if (end && memchr(at, ':', (size_t)(end - at)))
		tl_error("%s: only a directory of this machine can be written to", path);
	else if (end)
		tl_error("%s: 'mkdir -p %.*s' makes that directory", path, (int)(end - at - 18),
			 at + 18);
}

/* Names that differ in digits alone are no mistakes: one each day. */
static int differ_in_digits(const char *a, const char *b)
{
	static const char digits[] = "0123456789";

	for (;; a++, b++) {
		a += strspn(a, digits);
		b += strspn(b, digits);
		if (*a != *b)
			return 0;
		if (!*a)
			return 1;
	}
}

const char *tl_index_nearest(const char *path)
{
	const char *other = tl_nearest_file(path);
	char parent[PATH_MAX], at[PATH_MAX + NAME_MAX + 2];

	if (!other || differ_in_digits(other, strrchr(path, '/') ? strrchr(path, '/') + 1 : path))
		return NULL;
	tl_path_parent(path, parent, sizeof(parent));
	snprintf(at, sizeof(at), "%s/%s", parent, other);
	return tl_path_is_index(at) ? other : NULL;
}

/* An index that cannot be used as it was meant. */
static void advise_index(const char *path, const simidx_error *err)
{
	char room[TL_PATH_WORD_SIZE], parent[PATH_MAX];
	const char *word = tl_path_word(path, room);
	const char *last = strrchr(path, '/'), *nearest;
	simidx_error unasked;

	if (err->code == SIMIDX_E_NOT_INDEX && strstr(err->text, "it is no LMDB file"))
		tl_error("%s: if it was an index, restore a backup, or load the documents again",
			 path);
	else if (err->code == SIMIDX_E_NOT_INDEX && tl_path_has_locks(path))
		tl_error("%s: its " TL_DATA_FILE " is gone: restore a backup, or load the "
			 "documents again", path);
	else if (err->code == SIMIDX_E_NOT_INDEX && last && strcmp(last, "/" TL_DATA_FILE) == 0)
		tl_error("%s: the index is the directory: %.*s", path, (int)(last - path), path);
	else if (err->code == SIMIDX_E_NOT_FOUND && strpbrk(path, "*?"))
		tl_error("%s: a shell replaces * and ? where files match, and not in quotes", path);
	else if (err->code == SIMIDX_E_NOT_FOUND && (nearest = tl_index_nearest(path)))
		tl_error("%s: is %s meant?", path, nearest);
	else if ((err->code == SIMIDX_E_NOT_FOUND && strstr(err->text, "no index")) ||
		 (err->code == SIMIDX_E_NOT_INDEX && tl_path_is_missing(path, &unasked)))
		tl_error("%s: '%s %s INPUT' makes an index", path,
			 strcmp(tl_program(), "simidx-dedup") ? "simidx-load" :
				 "simidx-dedup --stream --index", word);
	else if (err->code == SIMIDX_E_NOT_INDEX &&
		 (strstr(err->text, "not a directory") || strstr(err->text, "it has no ")))
		tl_error("%s: an index is a directory that simidx-load or 'simidx-dedup --index' "
			 "has made of files: 'simidx-load INDEX %s%s'", path,
			 strstr(err->text, "it has no ") ? "-r " : "", word);
	else if (err->code == SIMIDX_E_MISMATCH)
		tl_error("%s: 'simidx-query stats %s' shows what it holds%s", path,
			 access(path, F_OK) ? "INDEX" : word,
			 strcmp(tl_program(), "simidx-query") ?
				 "; another name makes a new index" :
				 "; 'simidx-load NEW INPUT' makes an index of what you have");
	else if (strstr(err->text, "(SIMIDX_OPEN_STATIC)") &&
		 strcmp(tl_program(), "simidx-query"))
		tl_error("%s: only who may write in it can add to it: 'ls -l %s' shows whose it is",
			 path, word);
	else if (tl_path_is_uri(path) && strstr(err->text, "Connection refused"))
		tl_error("%s: no server answers there: start it, or name another HOST:PORT", path);
	/* The library names the flag, as it knows of no options. */
	else if (strstr(err->text, "(SIMIDX_OPEN_STATIC)"))
		tl_notice("%s: 'simidx-query --static' opens it so, to read; 'simidx-query backup "
			  "--static %s COPY' makes a copy that is yours", path, word);
	else if (err->code == SIMIDX_E_PERMISSION && strstr(err->text, "cannot make "))
		tl_error("%s: name a place that is yours", path);
	else if (err->code == SIMIDX_E_PERMISSION && !tl_path_is_uri(path)) {
		tl_path_parent(path, parent, sizeof(parent));
		tl_error("%s: 'ls -ld %s' shows whose it is; name a place that is yours", path,
			 access(path, F_OK) ? tl_path_word(parent, room) : word);
	}
}

int tl_index_error(const char *path, const simidx_error *err)
{
	int names_path = !path || tl_begins_with_path(err, path);
	/* All arguments that can be wrong are options, or made of some. */
	int (*tell)(const char *format, ...) = err->code == SIMIDX_E_ARG ? tl_usage_error
									 : tl_error;

	tell("%s%s%s%s", names_path ? "" : path, names_path ? "" : ": ", err->text,
	     advise_idf(err));
	if (err->code == SIMIDX_E_CORRUPT && path)
		tl_advise_damage(path, 0);
	if (err->code == SIMIDX_E_UNSUPPORTED && path)
		advise_engine(path, err);
	if (path)
		advise_index(path, err);
	if (path)
		tl_advise_parent(path, err);
	return TL_TROUBLE;
}

void tl_advise_damage(const char *path, int is_listed)
{
	char room[TL_PATH_WORD_SIZE];
	const char *word = tl_path_word(path, room);

	if (tl_path_is_uri(path))
		tl_error("%s: 'simidx-query repair %s' mends what a commit that was cut off has "
			 "left",
			 path, word);
	else if (is_listed)
		tl_error("%s: restore a backup, or save what is sound with 'simidx-query repair "
			 "%s NEW'",
			 path, word);
	else
		tl_error("%s: 'simidx-query verify %s' lists what is damaged; restore a backup, "
			 "or save what is sound with 'simidx-query repair %s NEW'",
			 path, word, word);
}

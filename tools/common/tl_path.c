/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_path.h"

#include "common/tl_crash.h"
#include "common/tl_msg.h"
#include "common/tl_others.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Ports of servers have so many digits. */
#define PORT_DIGITS 4

int tl_path_is_uri(const char *path)
{
	size_t n = strspn(path, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n && *path >= 'a' && !strncmp(path + n, "://", 3);
}

int tl_path_refuse_scheme(const char *path)
{
	const char *colon = path + strcspn(path, ":/");
	char scheme[8];

	if (*colon != ':' || access(path, F_OK) == 0)
		return 0;
	snprintf(scheme, sizeof(scheme), "%.*s", (int)(colon - path), path);
	if (tl_others_list("hbase redis rediss", scheme) && !tl_path_is_uri(path))
		return tl_usage_error("'%s' is a directory; an index in an engine is named "
				      "%s://HOST/NAME", path, scheme);
	/* HOST:PORT, and not a time. */
	if (colon > path && strlen(colon) > PORT_DIGITS &&
	    !colon[1 + strspn(colon + 1, "0123456789")])
		return tl_usage_error("'%s': an index in an engine is named redis://HOST:PORT/NAME "
				      "or hbase://HOST:PORT/NAME, and a directory ./%s", path,
				      path);
	if (tl_others_list("sqlite lmdb file", scheme))
		return tl_usage_error("'%s': an index is a directory, named without %s:; ./%s is "
				      "one", path, scheme, path);
	return 0;
}

void tl_path_hide_passwords(char *text)
{
	for (char *at = strstr(text, "://"); at; at = strstr(at, "://")) {
		char *colon, *end;

		at += 3;
		end = at + strcspn(at, " ?");
		while (end > at && *end != '@')
			end--;
		colon = memchr(at, ':', (size_t)(end - at));
		if (colon && end - colon > 3) {
			memcpy(colon + 1, "***", 3);
			memmove(colon + 4, end, strlen(end) + 1);
		} else if (colon) {
			memset(colon + 1, '*', (size_t)(end - colon) - 1);
		}
	}
}

static int engine_lacks(const char *uri, simidx_error *err)
{
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx *index;
	int rc;

	how.flags = SIMIDX_OPEN_READ_ONLY;
	rc = simidx_open(uri, &how, &index, err);
	simidx_close(index);
	return rc == SIMIDX_E_NOT_FOUND;
}

int tl_path_is_missing(const char *path, simidx_error *err)
{
	struct stat status;
	const struct dirent *entry;
	DIR *directory;
	int missing = 1;

	*err = (simidx_error){ 0 };
	if (tl_path_is_uri(path))
		return engine_lacks(path, err);
	if (lstat(path, &status))
		return 1;
	directory = opendir(path);
	if (!directory)
		return 0;
	while (missing && (entry = readdir(directory)) != NULL)
		missing = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	closedir(directory);
	return missing;
}

static int is_kind(const char *path, mode_t kind)
{
	struct stat status;

	return !stat(path, &status) && (status.st_mode & S_IFMT) == kind;
}

int tl_path_is_file(const char *path)
{
	return is_kind(path, S_IFREG);
}

int tl_path_is_directory(const char *path)
{
	return is_kind(path, S_IFDIR);
}

static int is_foreign(const char *path)
{
	struct stat status;

	return !stat(path, &status) && status.st_uid != geteuid();
}

static int has_file(const char *directory, const char *name)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/%s", directory, name);

	return n < (int)sizeof(path) && access(path, F_OK) == 0;
}

int tl_path_is_index(const char *path)
{
	return has_file(path, TL_DATA_FILE);
}

int tl_path_has_locks(const char *path)
{
	return has_file(path, TL_READERS_FILE) || has_file(path, TL_LOCK_FILE);
}

int tl_path_is_foreign(const char *path)
{
	char *data;
	int foreign;

	if (tl_path_is_uri(path))
		return 0;
	if (asprintf(&data, "%s/" TL_DATA_FILE, path) < 0)
		return 1;
	foreign = is_foreign(path) || is_foreign(data);
	free(data);
	return foreign;
}

int tl_path_is_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

const char *tl_path_word(const char *path, char word[TL_PATH_WORD_SIZE])
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
				    "_-./:,=@%+";
	char *out = word;

	if (!path[strspn(path, plain)] || 2 * strlen(path) + 3 > TL_PATH_WORD_SIZE)
		return path;
	*out++ = '"';
	for (; *path; path++) {
		if (strchr("\"\\$`", *path))
			*out++ = '\\';
		*out++ = *path;
	}
	*out++ = '"';
	*out = '\0';
	return word;
}

void tl_path_parent(const char *path, char *out, size_t size)
{
	const char *end = path + strlen(path);

	while (end > path + 1 && end[-1] == '/')
		end--;
	while (end > path && end[-1] != '/')
		end--;
	while (end > path + 1 && end[-1] == '/')
		end--;
	if (end == path)
		snprintf(out, size, ".");
	else
		snprintf(out, size, "%.*s", (int)(end - path), path);
}

int tl_path_sync_parent(const char *path)
{
	char parent[PATH_MAX];
	int fd, rc;

	tl_path_parent(path, parent, sizeof(parent));
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* Some file systems sync no directories. */
	rc = fd < 0 || (fsync(fd) && errno != EINVAL) ? -1 : 0;
	if (fd >= 0)
		close(fd);
	return rc;
}

const char *tl_path_temporary(const char *chosen, const char *otherwise)
{
	const char *named = getenv("TMPDIR");

	if (chosen)
		return chosen;
	return named && *named ? named : otherwise;
}

int tl_path_nameless(const char *dir, const char *name)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
	char *path;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT))
		return fd;
	if (asprintf(&path, "%s/" TL_PRIVATE_PREFIX "%s-XXXXXX", dir, name) < 0)
		return -1;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

FILE *tl_path_nameless_file(const char *dir, const char *name)
{
	int fd = tl_path_nameless(dir, name);
	FILE *file = fd >= 0 ? fdopen(fd, "w+") : NULL;

	if (fd >= 0 && !file)
		close(fd);
	return file;
}

int tl_path_open(const char *path, const simidx_open_options *how, simidx **out,
		 simidx_info *info, simidx_error *err)
{
	static const simidx_info nothing = SIMIDX_INFO_INIT;
	char word[TL_PATH_WORD_SIZE];
	int rc;

	if (!(how->flags & SIMIDX_OPEN_UNTRUSTED) && !tl_path_is_uri(path))
		tl_crash_names(tl_path_word(path, word));
	do {
		*info = nothing;
		if (simidx_open(path, how, out, err))
			return err->code;
		rc = simidx_get_info(*out, info, err);
		if (rc) {
			simidx_close(*out);
			*out = NULL;
		}
	} while (rc == SIMIDX_E_MOVED);
	return rc;
}

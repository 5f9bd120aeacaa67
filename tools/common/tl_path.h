/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is at the path of an index, and files without a path.
 */

#ifndef TL_PATH_H
#define TL_PATH_H

#include <simidx_info.h>

#include <stdio.h>

/** What an index is made of (doc/format.md), and what directories begin with that the library
 * builds in. */
#define TL_DATA_FILE "data.mdb"
#define TL_READERS_FILE "lock.mdb"
#define TL_LOCK_FILE "write.lock"
#define TL_PRIVATE_PREFIX ".simidx-"

/** Whether it is the URI of an index that an engine holds (simidx_engine.h), "scheme://...". */
int tl_path_is_uri(const char *path);

/**
 * Refuse "hbase:pages", "localhost:6379", "file:pages" and the like, which name a directory and
 * hardly mean one, unless it is there. Returns 0, or TL_TROUBLE with a message.
 */
int tl_path_refuse_scheme(const char *path);

/** In a text, take each password of a URI, "scheme://USER:PASSWORD@HOST/...", to be "***". */
void tl_path_hide_passwords(char *text);

/**
 * Nothing at the path, or an empty directory: simidx_create() takes both. With a URI: its engine
 * has no such index.
 *
 * @param err  set to why an engine could not tell, or to no error
 */
int tl_path_is_missing(const char *path, simidx_error *err);

/** Whether there is a regular file, or a directory; links are followed. */
int tl_path_is_file(const char *path);
int tl_path_is_directory(const char *path);

/** Whether a directory looks like an index: it has the data file of one. */
int tl_path_is_index(const char *path);

/** Whether a directory that looks like an index has a file of locks, too. */
int tl_path_has_locks(const char *path);

/**
 * Whether an index that is there, or its directory, belongs to another user than the one that runs
 * this.
 */
int tl_path_is_foreign(const char *path);

/** Whether two paths lead to the same file or directory, which is there. */
int tl_path_is_same(const char *a, const char *b);

/** Room for the path of an index as a word of the shell. */
#define TL_PATH_WORD_SIZE 16384

/**
 * A path or URI as it can be typed in a shell: in double quotes where it has signs that mean
 * something there.
 *
 * @return `path` itself, or what `word` has; for a path that is too long, `path`
 */
const char *tl_path_word(const char *path, char word[TL_PATH_WORD_SIZE]);

/** The directory that a path is in; "." for one without slashes. Cut to `size` bytes. */
void tl_path_parent(const char *path, char *out, size_t size);

/** Sync the directory of a path, as a new file lasts only then. -1 with errno if it cannot be. */
int tl_path_sync_parent(const char *path);

/**
 * Where temporary files go: to `chosen`, else to the directory that the environment names by
 * TMPDIR, else to `otherwise`, which may be NULL.
 */
const char *tl_path_temporary(const char *chosen, const char *otherwise);

/**
 * Make a temporary file that goes away with its last descriptor: without a name from the start
 * where the file system can, else unlinked at once.
 *
 * @param dir   where its room is taken from
 * @param name  what its name begins with where it has one for a moment, such as "rows"
 * @return a descriptor, of reading and writing; -1 with errno
 */
int tl_path_nameless(const char *dir, const char *name);

/** As tl_path_nameless(), as a file; NULL with errno. */
FILE *tl_path_nameless_file(const char *dir, const char *name);

/**
 * Open an index and look into it. Another one may take its place between the two, and then that
 * one is opened. *out is NULL on failure.
 *
 * @param how   of simidx_open()
 * @param info  its strings live as long as the index
 * @return 0 or the code in err
 */
int tl_path_open(const char *path, const simidx_open_options *how, simidx **out,
		 simidx_info *info, simidx_error *err);

#endif /* TL_PATH_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is wrong with an index, as the library says it, and what can be done about it.
 */

#ifndef TL_INDEX_H
#define TL_INDEX_H

#include <simidx.h>

/**
 * Whether a message begins with a path, as those do that are about the files themselves: then it
 * needs no other path before it.
 */
int tl_begins_with_path(const simidx_error *err, const char *path);

/**
 * As tl_error() for an error of the library, with the path of the index in front unless that is
 * NULL. If an option has a value that the library refuses, as tl_usage_error().
 */
int tl_index_error(const char *path, const simidx_error *err);

/** Where an error is about the directory in which something is to be made: how to make that. */
void tl_advise_parent(const char *path, const simidx_error *err);

/** Say what can be done about a damaged index; `is_listed`: after a list of what is damaged. */
void tl_advise_damage(const char *path, int is_listed);

/** Another index of the same directory that is nearly so called; or NULL. */
const char *tl_index_nearest(const char *path);

#endif /* TL_INDEX_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A directory of this run below that of temporary files, with the index of a run that is to remember
 * nothing. It is locked as long as the run lives, so that a later one knows what is left of a run
 * that was killed, and removes it.
 */

#ifndef DD_ROOM_H
#define DD_ROOM_H

struct dd_room;

/**
 * Make the directory, and remove those of runs that are gone.
 *
 * @param tmpdir  where
 * @return NULL with a message
 */
struct dd_room *dd_room_new(const char *tmpdir);

/** Its path. */
const char *dd_room_path(const struct dd_room *room);

/** Remove it with what is in it: files, and directories with files. NULL is allowed. */
void dd_room_free(struct dd_room *room);

#endif /* DD_ROOM_H */

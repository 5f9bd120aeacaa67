/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A directory of this run below that of temporary files. Private indexes are in it; with --index it
 * stays empty but for a marker. The marker is a file that is locked as long as the run lives, so
 * that a later run knows what is left of one that was killed, and removes it. Only a directory that
 * has a marker of the same user or is empty, and a name as mkdtemp() makes it, is ever removed, and
 * of what is in it only what a run puts there.
 */

#ifndef DD_ROOM_H
#define DD_ROOM_H

#include <limits.h>

/** The names of the indexes in it: of what is kept, and of what stays in the end. */
#define DD_ROOM_INDEX "index"
#define DD_ROOM_SECOND "second"

/** It; others look at its path only. All zero: there is none. */
struct dd_room {
	char path[PATH_MAX];
	int fd; /* the marker, locked */
};

/**
 * Make the directory, and remove those of runs that are gone.
 *
 * @param tmpdir  where
 * @return 0, or TL_TROUBLE with a message
 */
int dd_room_make(struct dd_room *room, const char *tmpdir);

/** Remove it with the indexes in it, if it was made. */
void dd_room_remove(struct dd_room *room);

#endif /* DD_ROOM_H */

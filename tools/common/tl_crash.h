/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What to do when a damaged index ends the program by a signal. LMDB trusts what is in its file, so
 * a page that is damaged can do that, unless the index is opened with --untrusted.
 */

#ifndef TL_CRASH_H
#define TL_CRASH_H

/**
 * From now on, if a fault of memory or abort() ends the program, name this index, the one that was
 * given last, and what tells whether it is damaged. The program ends by the signal as before.
 *
 * @param word  its path as a word of a shell (tl_path_word())
 */
void tl_crash_names(const char *word);

#endif /* TL_CRASH_H */

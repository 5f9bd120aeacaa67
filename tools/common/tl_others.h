/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What other programs call what ours have, and what they have that ours do without. Words are names
 * of long options without dashes; `names` are those of a command, ending with NULL.
 */

#ifndef TL_OTHERS_H
#define TL_OTHERS_H

#include <stddef.h>

/**
 * Whether a list, with blanks between its words, has a word. Upper and lower case are one, and
 * '-', '_' and '.' do not count: "max-size" is "maxsize".
 */
int tl_others_list(const char *list, const char *word);

/** The name that a word of this length is; or NULL. */
const char *tl_others_find(const char *word, size_t length, const char *const *names);

/** Whether other programs have it: then it is not one of ours, misspelt. */
int tl_others_have(const char *word);

/** What the command calls it; or NULL. */
const char *tl_others_name(const char *word, const char *const *names);

/**
 * What to do instead, as the end of a sentence; or NULL. What stands first in quotes would be typed
 * in its place if it begins with '-', and is a whole command if it begins otherwise.
 */
const char *tl_others_instead(const char *word, const char *const *names);

/** A name that a letter of other programs stands for, number `i` from 0; or NULL. */
const char *tl_others_letter(int letter, int i);

#endif /* TL_OTHERS_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is meant by an option that no row has: one that is nearly so called, that other programs
 * call so, or what to do instead.
 */

#ifndef TL_ADVICE_H
#define TL_ADVICE_H

/** The word of a list, ending with NULL, that is most like another; NULL if none is like it. */
const char *tl_nearest_word(const char *word, const char *const *words);

/**
 * Name on stderr what was meant by a long option that no one has, or that several could be.
 *
 * @param spelled  as it was given, "--" and a value included
 * @param names    of all options, ending with NULL
 */
void tl_refuse_name(const char *spelled, const char *const *names);

/**
 * The same of a letter.
 *
 * @param letters  those that options have; others may stand between them
 */
void tl_refuse_letter(int letter, const char *const *names, const char *letters);

#endif /* TL_ADVICE_H */

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
 * Whether a long option, which may be the beginning of one of ours, is what other programs call
 * another one of ours.
 */
int tl_means_other(const char *spelled, const char *const *names);

/** Refuse a word of argv, of whose options this one is meant. Returns TL_TROUBLE. */
int tl_refuse_meant(const char *spelled, const char *meant);

/**
 * As tl_refuse_name(), of a letter.
 *
 * @param spelled  the word of argv that begins with it, or where it is the last letter of one;
 *                 NULL = it stands between other letters
 * @param next     the word that has it if more letters follow, or the next one; or NULL
 */
void tl_refuse_letter(int letter, const char *spelled, const char *next, const char *const *names);

/**
 * Refuse letters that are a long option of ours, or of others, with one dash. Returns 0 if they
 * are none, or TL_TROUBLE with a message.
 */
int tl_refuse_long(const char *word, const char *const *names);

/** The word of a list that a value is, but for case and dashes, or to other programs; or NULL. */
const char *tl_known_value(const char *value, const char *const *words);

/** The word of a list that a value is meant to be; NULL if none is like it. */
const char *tl_nearest_value(const char *value, const char *const *words);

/** Another file of the same directory that is nearly so called; or NULL. */
const char *tl_nearest_file(const char *path);

/**
 * Refuse the first operand of a tool without commands if there is no such file, and it is a command
 * of another one. `next` is the word behind it, or NULL. Returns 0, or TL_TROUBLE with a message.
 */
int tl_refuse_word(const char *word, const char *next);

#endif /* TL_ADVICE_H */

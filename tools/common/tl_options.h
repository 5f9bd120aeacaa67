/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * getopt_long() with messages of our own, and what both tools print about themselves.
 */

#ifndef TL_OPTIONS_H
#define TL_OPTIONS_H

#include <getopt.h>
#include <stdint.h>

/** Values of options without a letter begin here, above every character. */
#define TL_LONG_OPTION 256

/** From tl_next_option(): there are no more; a message about a bad one was printed. */
#define TL_OPTION_END -1
#define TL_OPTION_BAD '?'

/**
 * The next option; optarg and optind as getopt_long() leaves them. `shorts` must begin with
 * ":" (behind "+" if options end at the first operand). A bad option is told on stderr.
 */
int tl_next_option(int argc, char **argv, const char *shorts, const struct option *longs);

/** Start again on another argument list; argv[0] is skipped. */
void tl_restart_options(void);

/**
 * An unsigned decimal option value in min..max; anything else is told on stderr.
 *
 * @param name  the option, such as "--limit"
 * @return 0 or -1
 */
int tl_option_number(const char *name, const char *text, uint64_t min, uint64_t max,
		     uint64_t *out);

/**
 * Position of an option value in a list of words that ends with NULL; an unknown one is told
 * on stderr.
 *
 * @return the position, or -1
 */
int tl_option_word(const char *name, const char *text, const char *const *words);

/** Print lines up to a NULL. Returns TL_OK; tl_finish_output() is to follow. */
int tl_print_help(const char *const *lines);

/** Print what --version prints to stdout. Returns as tl_print_help(). */
int tl_print_version(void);

/**
 * Write out what stdout holds and close it.
 *
 * @param code  the exit code so far
 * @return code, or TL_TROUBLE with a message when not all could be written
 */
int tl_finish_output(int code);

/**
 * Whether stdout takes no more; tl_finish_output() will tell why. Ask after each row, while
 * errno is still that of the failure.
 */
int tl_output_failed(void);

/** Do not die of a closed pipe: writing to it fails instead, and that is reported. */
void tl_ignore_sigpipe(void);

#endif /* TL_OPTIONS_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Messages on stderr, exit codes and the request to stop. Every message is one line, "PROGRAM:
 * text", with control bytes and invalid UTF-8 escaped, so that no path or label can play with
 * a terminal. A progress line, if one stands, is taken away first.
 */

#ifndef TL_MSG_H
#define TL_MSG_H

#include <simidx.h>

/** Exit codes of both tools. */
enum tl_exit {
	TL_OK = 0,      /* something matched, all done */
	TL_PARTLY = 1,  /* nothing matched, rows rejected, damage found */
	TL_TROUBLE = 2  /* could not do it */
};

/** Name the program for messages; must come first. */
void tl_msg_init(const char *program);

/** The name given to tl_msg_init(). */
const char *tl_program(void);

/** Name the command whose --help tl_usage_error() points to; borrowed. NULL: the program's. */
void tl_set_command(const char *command);

/** Have tl_usage_error() show what this writes, a right command line; NULL: none. */
void tl_set_example(void (*write)(char *out, size_t size));

/** Whether notices, summaries and progress are wanted (they are, until this says no). */
void tl_set_quiet(int quiet);

/** Something failed: always printed. Returns TL_TROUBLE, so that it can end a function. */
int tl_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Memory that is all zero, for free(); NULL after a message that there is none. */
void *tl_alloc(size_t size);

/** How many errors were printed. */
uint64_t tl_n_errors(void);

/** Something to know: printed unless quiet. */
void tl_notice(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** As tl_error(), followed by where the options are explained. */
int tl_usage_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** Least time between two progress lines. */
#define TL_PROGRESS_SECONDS 0.2

/** Whether a progress line would be seen: stderr is a terminal and not quiet. */
int tl_progress_wanted(void);

/**
 * Whether it would be seen, and the last one is old enough.
 *
 * @param shown  when that was; then set to now
 */
int tl_progress_due(double *shown);

/**
 * Replace the progress line, of ASCII: what is wider than the terminal is cut off. Only where
 * tl_progress_wanted().
 */
void tl_progress_show(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** A callback for simidx_set_progress() that replaces the progress line. */
void tl_progress_phase(void *ctx, const char *phase, uint64_t done, uint64_t total);

/** Take the progress line away. */
void tl_progress_clear(void);

/**
 * Let SIGINT, SIGTERM and, unless it is ignored as nohup does, SIGHUP ask for a clean stop; a third
 * signal ends the program at once.
 */
void tl_stop_on_signals(void);

/** Whether a signal asked to stop. */
int tl_stop_requested(void);

/** The same, as a callback of the library. */
int tl_stop_wanted(void *ctx);

/** Seconds of a clock that only goes forward. */
double tl_seconds(void);

#endif /* TL_MSG_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Standard output: whether it still takes what is written, and why not.
 */

#ifndef TL_OUTPUT_H
#define TL_OUTPUT_H

/**
 * Write out what stdout holds and close it. A reader that went away, as head(1) does, is no error.
 * After a request to stop nobody waits for a reader: what it does not take now is dropped, and
 * told.
 *
 * @param code  the exit code so far
 * @return code, or TL_TROUBLE with a message when not all could be written. If the reader went away
 *         and nothing else went wrong, TL_TROUBLE becomes TL_OK
 */
int tl_finish_output(int code);

/**
 * Whether stdout takes no more; tl_finish_output() will tell why. Ask after each row, while
 * errno is still that of the failure.
 */
int tl_output_failed(void);

/** Whether it takes no more because its reader went away. */
int tl_output_closed(void);

/**
 * After tl_output_failed(): say why now, before what follows from it; tl_finish_output() will not
 * say it again. Returns TL_TROUBLE.
 */
int tl_tell_output(void);

/**
 * Do not die of a pipe that is closed or a file that has grown to the limit of the process: writing
 * fails instead, and that is told.
 */
void tl_ignore_signals(void);

#endif /* TL_OUTPUT_H */

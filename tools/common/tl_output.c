/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_output.h"

#include "common/tl_msg.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <unistd.h>

/* Why stdout first failed; 0 while it has not. */
static int output_errno;
static int output_is_told;

int tl_output_failed(void)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	/* What has failed since the write may have set errno, but a pipe tells if it was closed. */
	if (ferror(stdout) && !output_errno)
		output_errno = poll(&out, 1, 0) > 0 && out.revents & POLLERR ? EPIPE :
			       errno					     ? errno : EIO;
	return output_errno != 0;
}

int tl_output_closed(void)
{
	return tl_output_failed() && output_errno == EPIPE;
}

int tl_tell_output(void)
{
	output_is_told = 1;
	if (tl_output_closed())
		return tl_error("standard output was closed");
	if (output_errno == EINTR && tl_stop_requested())
		return tl_error("stopped by a signal");
	return tl_error("cannot write to standard output: %s", strerror(output_errno));
}

/* Who has asked to stop does not wait for a reader that does not read: what is left is dropped. */
static void drop_output(int code)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	if (poll(&out, 1, 0) != 0)
		return;
	__fpurge(stdout);
	if (code != TL_TROUBLE && !output_errno)
		output_errno = EINTR;
}

int tl_finish_output(int code)
{
	tl_output_failed();
	if (tl_stop_requested())
		drop_output(code);
	if (fclose(stdout) && !output_errno)
		output_errno = errno;
	if (output_errno == EPIPE)
		return code == TL_TROUBLE && !tl_n_errors() ? TL_OK : code;
	if (!output_errno)
		return code;
	/*
	 * The signal that has ended the command may have cut off a write, too: that is told once.
	 */
	if (tl_stop_requested() && code == TL_TROUBLE && tl_n_errors())
		return code;
	return output_is_told ? TL_TROUBLE : tl_tell_output();
}

void tl_ignore_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

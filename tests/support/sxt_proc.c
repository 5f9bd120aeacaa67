/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "sxt_proc.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "sxt_assert.h"

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

int sxt_in_child;

void sxt_end_child(const char *file, int line, const char *format, ...)
{
	va_list args;

	if (!sxt_in_child)
		return;
	va_start(args, format);
	fprintf(stderr, "%s:%d: ", file, line);
	vfprintf(stderr, format, args);
	fprintf(stderr, "\n");
	va_end(args);
	_exit(SXT_CHILD_FAILED);
}

void sxt_proc_start(sxt_proc *proc, int (*body)(sxt_proc *me, void *ctx), void *ctx)
{
	int down[2], up[2];

	if (pipe(down) || pipe(up))
		die("pipe");
	fflush(NULL);
	proc->pid = fork();
	if (proc->pid < 0)
		die("fork");
	proc->in = proc->pid ? up[0] : down[0];
	proc->out = proc->pid ? down[1] : up[1];
	close(proc->pid ? up[1] : down[1]);
	close(proc->pid ? down[0] : up[0]);
	if (proc->pid)
		return;
	sxt_in_child = 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(body(proc, ctx));
}

void sxt_proc_tell(sxt_proc *proc)
{
	if (write(proc->out, "", 1) != 1)
		die("tell");
}

int sxt_proc_wait(sxt_proc *proc)
{
	ssize_t got;
	char byte;

	do
		got = read(proc->in, &byte, 1);
	while (got < 0 && errno == EINTR);
	return got == 1 ? 0 : -1;
}

int sxt_proc_finish(sxt_proc *proc)
{
	int status;

	while (waitpid(proc->pid, &status, 0) < 0) {
		if (errno != EINTR)
			die("waitpid");
	}
	close(proc->in);
	close(proc->out);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void sxt_proc_kill(sxt_proc *proc)
{
	kill(proc->pid, SIGKILL);
	sxt_proc_finish(proc);
}

int sxt_proc_run(int (*body)(sxt_proc *me, void *ctx), void *ctx)
{
	sxt_proc proc;

	sxt_proc_start(&proc, body, ctx);
	return sxt_proc_finish(&proc);
}

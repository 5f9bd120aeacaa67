/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_msg.h"

#include "common/tl_escape.h"
#include "common/tl_path.h"
#include "common/tl_term.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A message names at most a path or two and a reason; what is longer is cut. */
#define MESSAGE_SIZE 12288

/* Not the second one: timeout(1) sends its signal to the process and then to the group. */
#define SIGNALS_TO_DIE 3

static const char *program_name = "simidx";
static const char *command_name; /* NULL = none yet */
static void (*write_example)(char *out, size_t size);
static int is_quiet;
static uint64_t n_errors;
static int progress_stands;
static volatile sig_atomic_t stop_signals;

/*
 * A standard descriptor that is closed would be given to the next file that is opened, and
 * messages would be written into the index. What takes its place fails as a closed one does.
 */
static void fill_standard_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
		    open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(TL_TROUBLE);
}

void tl_msg_init(const char *program)
{
	fill_standard_descriptors();
	program_name = program;
}

const char *tl_program(void)
{
	return program_name;
}

void tl_set_command(const char *command)
{
	command_name = command;
}

void tl_set_example(void (*write)(char *out, size_t size))
{
	write_example = write;
}

void tl_set_quiet(int quiet)
{
	is_quiet = quiet;
}

__attribute__((format(printf, 1, 0)))
static void print_message(const char *format, va_list ap)
{
	static char text[MESSAGE_SIZE];

	tl_progress_clear();
	vsnprintf(text, sizeof(text), format, ap);
	tl_path_hide_passwords(text);
	fprintf(stderr, "%s: ", program_name);
	tl_put_message(stderr, text, strlen(text));
	fputc('\n', stderr);
}

int tl_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_message(format, ap);
	va_end(ap);
	n_errors++;
	return TL_TROUBLE;
}

void *tl_alloc(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		tl_error("out of memory");
	return memory;
}

uint64_t tl_n_errors(void)
{
	return n_errors;
}

void tl_notice(const char *format, ...)
{
	va_list ap;

	if (is_quiet)
		return;
	va_start(ap, format);
	print_message(format, ap);
	va_end(ap);
}

/* What to type: a right command line, and where the others are. */
static void print_right(void)
{
	char example[MESSAGE_SIZE] = "", help[64];

	snprintf(help, sizeof(help), "%s%s%s --help", program_name, command_name ? " " : "",
		 command_name ? command_name : "");
	if (write_example)
		write_example(example, sizeof(example));
	fputs("Try '", stderr);
	tl_path_hide_passwords(example);
	tl_put_message(stderr, example, strlen(example));
	if (strcmp(example, help))
		fprintf(stderr, "%s%s", *example ? "', or '" : "", help);
	fputs("'.\n", stderr);
}

int tl_usage_error(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	print_message(format, ap);
	va_end(ap);
	n_errors++;
	print_right();
	return TL_TROUBLE;
}

int tl_progress_wanted(void)
{
	static int is_terminal = -1;

	/* Once: some ask for each row. */
	if (is_terminal < 0)
		is_terminal = isatty(STDERR_FILENO);
	return !is_quiet && is_terminal;
}

int tl_progress_due(double *shown)
{
	double now;

	if (!tl_progress_wanted() || (now = tl_seconds()) - *shown < TL_PROGRESS_SECONDS)
		return 0;
	*shown = now;
	return 1;
}

void tl_progress_show(const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* The last column stays free, as some terminals begin a new line after it. */
	fprintf(stderr, "\r%.*s\033[K", (int)tl_term_width(STDERR_FILENO) - 1, text);
	fflush(stderr);
	progress_stands = 1;
}

void tl_progress_phase(void *ctx, const char *phase, uint64_t done, uint64_t total)
{
	static double shown;

	(void)ctx;
	if (!tl_progress_due(&shown))
		return;
	if (total)
		tl_progress_show("%s %.0f %%", phase, 100.0 * (double)done / (double)total);
	else
		tl_progress_show("%s", phase);
}

void tl_progress_clear(void)
{
	if (!progress_stands)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	progress_stands = 0;
}

static void note_signal(int number)
{
	if (++stop_signals < SIGNALS_TO_DIE)
		return;
	signal(number, SIG_DFL);
	raise(number);
}

void tl_stop_on_signals(void)
{
	struct sigaction action, before;

	memset(&action, 0, sizeof(action));
	action.sa_handler = note_signal;
	/* No SA_RESTART: a read that waits for input shall notice. */
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	/* Under nohup it stays ignored. */
	if (!sigaction(SIGHUP, NULL, &before) && before.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

int tl_stop_requested(void)
{
	return stop_signals > 0;
}

int tl_stop_wanted(void *ctx)
{
	(void)ctx;
	return tl_stop_requested();
}

double tl_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

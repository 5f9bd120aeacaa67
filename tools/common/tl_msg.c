/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_msg.h"

#include "common/tl_escape.h"
#include "common/tl_path.h"
#include "common/tl_term.h"

#include <fcntl.h>
#include <limits.h>
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

int tl_begins_with_path(const simidx_error *err, const char *path)
{
	size_t length = strlen(path);
	char next = length && strncmp(err->text, path, length) == 0 ? err->text[length] : 'x';

	return next == ':' || next == '/' || next == ' ';
}

/* An engine that this project has, but that this program was built without. */
static void advise_engine(const char *path, const simidx_error *err)
{
	static const struct {
		const char *scheme, *option;
	} known[] = {
		{ "hbase://", "--with-hbase" }, { "redis://", "--with-redis" },
		{ "rediss://", "--with-redis" }, { "unix://", "--with-redis" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strncmp(path, known[i].scheme, strlen(known[i].scheme)) == 0 &&
		    strstr(err->text, "no engine for"))
			tl_notice("'./configure %s' builds it with one", known[i].option);
	if (strstr(err->text, "no engine for"))
		tl_notice("without one an index is a directory: 'simidx-load INDEX INPUT'");
}

/* What an option is to be given, where the library wants a dictionary or has one in vain. */
static const char *advise_idf(const simidx_error *err)
{
	if (err->code != SIMIDX_E_ARG || !strstr(err->text, "\"word idf\""))
		return "";
	return strstr(err->text, "is for the weights") ?
		       "; --weights tfidf uses what --idf names" :
		       "; 'simidx-query idf FILE >words.idf' makes one, --idf words.idf names it";
}

void tl_advise_parent(const char *path, const simidx_error *err)
{
	const char *at = strstr(err->text, " in the directory ");
	const char *end = at ? strstr(at, ": No such file") : NULL;

	if (end && memchr(at, ':', (size_t)(end - at)))
		tl_error("%s: only a directory of this machine can be written to", path);
	else if (end)
		tl_error("%s: 'mkdir -p %.*s' makes that directory", path, (int)(end - at - 18),
			 at + 18);
}

/* An index that cannot be used as it was meant. */
static void advise_index(const char *path, const simidx_error *err)
{
	char room[TL_PATH_WORD_SIZE], parent[PATH_MAX];
	const char *word = tl_path_word(path, room);
	const char *last = strrchr(path, '/');
	simidx_error unasked;

	if (err->code == SIMIDX_E_NOT_INDEX && strstr(err->text, "it is no LMDB file"))
		tl_error("%s: if it was an index, restore a backup, or load the documents again",
			 path);
	else if (err->code == SIMIDX_E_NOT_INDEX && last && strcmp(last, "/" TL_DATA_FILE) == 0)
		tl_error("%s: the index is the directory: %.*s", path, (int)(last - path), path);
	else if (err->code == SIMIDX_E_NOT_FOUND && strpbrk(path, "*?"))
		tl_error("%s: a shell replaces * and ? where files match, and not in quotes", path);
	else if ((err->code == SIMIDX_E_NOT_FOUND && strstr(err->text, "no index")) ||
		 (err->code == SIMIDX_E_NOT_INDEX && tl_path_is_missing(path, &unasked)))
		tl_error("%s: 'simidx-load %s INPUT' makes an index", path, word);
	else if (err->code == SIMIDX_E_NOT_INDEX &&
		 (strstr(err->text, "not a directory") || strstr(err->text, "it has no ")))
		tl_error("%s: an index is a directory that simidx-load or 'simidx-dedup --index' "
			 "has made of files: 'simidx-load INDEX %s%s'", path,
			 strstr(err->text, "it has no ") ? "-r " : "", word);
	else if (err->code == SIMIDX_E_MISMATCH)
		tl_error("%s: 'simidx-query stats %s' shows what it holds", path,
			 access(path, F_OK) ? "INDEX" : word);
	/* The library names the flag, as it knows of no options. */
	else if (strstr(err->text, "(SIMIDX_OPEN_STATIC)"))
		tl_notice("%s: 'simidx-query --static' opens it so, to read; 'simidx-query backup "
			  "--static %s COPY' makes a copy that is yours", path, word);
	else if (err->code == SIMIDX_E_PERMISSION && strstr(err->text, "cannot make "))
		tl_error("%s: name a place that is yours", path);
	else if (err->code == SIMIDX_E_PERMISSION && !tl_path_is_uri(path)) {
		tl_path_parent(path, parent, sizeof(parent));
		tl_error("%s: 'ls -ld %s' shows whose it is; name a place that is yours", path,
			 access(path, F_OK) ? tl_path_word(parent, room) : word);
	}
}

int tl_index_error(const char *path, const simidx_error *err)
{
	int names_path = !path || tl_begins_with_path(err, path);
	/* All arguments that can be wrong are options, or made of some. */
	int (*tell)(const char *format, ...) = err->code == SIMIDX_E_ARG ? tl_usage_error
									 : tl_error;

	tell("%s%s%s%s", names_path ? "" : path, names_path ? "" : ": ", err->text,
	     advise_idf(err));
	if (err->code == SIMIDX_E_CORRUPT && path)
		tl_advise_damage(path, 0);
	if (err->code == SIMIDX_E_UNSUPPORTED && path)
		advise_engine(path, err);
	if (path)
		advise_index(path, err);
	if (path)
		tl_advise_parent(path, err);
	return TL_TROUBLE;
}

void tl_advise_damage(const char *path, int is_listed)
{
	char room[TL_PATH_WORD_SIZE];
	const char *word = tl_path_word(path, room);

	if (tl_path_is_uri(path))
		tl_error("%s: 'simidx-query repair %s' mends what a commit that was cut off has "
			 "left",
			 path, word);
	else if (is_listed)
		tl_error("%s: restore a backup, or save what is sound with 'simidx-query repair "
			 "%s NEW'",
			 path, word);
	else
		tl_error("%s: 'simidx-query verify %s' lists what is damaged; restore a backup, "
			 "or save what is sound with 'simidx-query repair %s NEW'",
			 path, word, word);
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
	char example[MESSAGE_SIZE] = "";

	if (write_example)
		write_example(example, sizeof(example));
	fputs("Try '", stderr);
	tl_path_hide_passwords(example);
	tl_put_message(stderr, example, strlen(example));
	fprintf(stderr, "%s%s%s%s --help'.\n", *example ? "', or '" : "", program_name,
		command_name ? " " : "", command_name ? command_name : "");
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
	return !is_quiet && isatty(STDERR_FILENO);
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

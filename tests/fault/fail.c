/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Preloaded (LD_PRELOAD) into a tool: lets calls of the system fail, or allocations, those of other
 * libraries included.
 *
 *   FAIL_CALL=CLASS    which calls: a name of the table below
 *   FAIL_AT=N          the Nth of them, from 1 on; without it none fails
 *   FAIL_HOW=HOW       once, alone; on, it and all that follow; short, it alone does half of what
 *                      it is asked (reads and writes); late, it alone fails after it was done
 *                      (writes); gone, as late, and all that follow fail without being done;
 *                      kill, the process is killed in place of it; end, it is killed right after
 *                      it (writes)
 *   FAIL_ERRNO=NUMBER  of the failure; otherwise EIO, and of allocations always ENOMEM
 *   FAIL_COUNTS=FILE   in the end, a line for each class is appended: "CLASS N", the calls of it
 *
 * A sync that does not fail does nothing, nor do writes wait for the disk: it is processes that end
 * here, never the machine.
 *
 * What glibc calls by itself, such as the reads of fread(), is not seen; nor are writes to standard
 * output and error, without which nobody would learn what a tool has to say.
 */

#undef _FILE_OFFSET_BITS
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum class { OPEN, READ, WRITE, SYNC, RENAME, MAP, TRUNCATE, ALLOCATE, LOCK, CLOSE, MEMORY,
	     N_CLASSES };

static const char *const names[N_CLASSES] = { "open",   "read",  "write",    "sync",
					      "rename", "mmap",  "truncate", "allocate",
					      "lock",   "close", "memory" };

enum how { ONCE, ON, SHORT, LATE, GONE, KILL, END };

static long counts[N_CLASSES];
static enum class chosen = N_CLASSES;
static enum how how;
static long at;
static int fail_errno = EIO;
static const char *counts_to;

__attribute__((constructor)) static void begin(void)
{
	const char *name = getenv("FAIL_CALL"), *number = getenv("FAIL_AT");
	const char *manner = getenv("FAIL_HOW"), *error = getenv("FAIL_ERRNO");

	for (int c = 0; name && c < N_CLASSES; c++)
		if (strcmp(name, names[c]) == 0)
			chosen = c;
	at = number ? atol(number) : 0;
	how = !manner			    ? ONCE
	      : strcmp(manner, "on") == 0    ? ON
	      : strcmp(manner, "short") == 0 ? SHORT
	      : strcmp(manner, "late") == 0  ? LATE
	      : strcmp(manner, "gone") == 0  ? GONE
	      : strcmp(manner, "kill") == 0  ? KILL
	      : strcmp(manner, "end") == 0   ? END
					     : ONCE;
	if (error || chosen == MEMORY)
		fail_errno = error ? atoi(error) : ENOMEM;
	counts_to = getenv("FAIL_COUNTS");
}

static void *next(const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);

	if (!f)
		abort();
	return f;
}

__attribute__((destructor)) static void end(void)
{
	int (*open_it)(const char *, int, ...) = next("open");
	char line[64];
	int fd = counts_to ? open_it(counts_to, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;

	for (int c = 0; fd >= 0 && c < N_CLASSES; c++) {
		int n = snprintf(line, sizeof(line), "%s %ld\n", names[c], counts[c]);
		ssize_t (*write_it)(int, const void *, size_t) = next("write");

		if (write_it(fd, line, (size_t)n) != n)
			abort();
	}
}

/*
 * Allocations count from main() on: before it other libraries set themselves up, those in C++ among
 * them, which end the process when memory is short.
 */
static int (*real_main)(int, char **, char **);
static int is_in_main;

static int counted_main(int argc, char **argv, char **env)
{
	is_in_main = 1;
	return real_main(argc, argv, env);
}

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(int (*main)(int, char **, char **), int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	int (*start)(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
		     void (*)(void), void *) = next("__libc_start_main");

	real_main = main;
	return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

enum fate { WELL, FAILS, HALF, FAILS_LATE };

/* What becomes of the next call of a class. */
static enum fate fate(enum class c)
{
	long n;

	if (c == MEMORY && !is_in_main)
		return WELL;
	n = __atomic_add_fetch(&counts[c], 1, __ATOMIC_RELAXED);
	if (c != chosen || !at || n < at || (n > at && how != ON && how != GONE))
		return WELL;
	if (how == KILL)
		raise(SIGKILL);
	if (how == SHORT)
		return HALF;
	return how == LATE || how == END || (how == GONE && n == at) ? FAILS_LATE : FAILS;
}

static int fails(enum class c)
{
	if (fate(c) == WELL)
		return 0;
	errno = fail_errno;
	return 1;
}

/* ---- opening ---- */

#define WAITS (O_SYNC | O_DSYNC)

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

#define DEFINE_OPEN(name)                                                                          \
	int name(const char *path, int flags, ...)                                                 \
	{                                                                                          \
		int (*real)(const char *, int, ...) = next(#name);                                 \
		mode_t mode;                                                                       \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, flags);                                                               \
		mode = mode_of(flags, ap);                                                         \
		va_end(ap);                                                                        \
		return fails(OPEN) ? -1 : real(path, flags & ~WAITS, mode);                        \
	}

#define DEFINE_OPENAT(name)                                                                        \
	int name(int dir, const char *path, int flags, ...)                                        \
	{                                                                                          \
		int (*real)(int, const char *, int, ...) = next(#name);                            \
		mode_t mode;                                                                       \
		va_list ap;                                                                        \
                                                                                                   \
		va_start(ap, flags);                                                               \
		mode = mode_of(flags, ap);                                                         \
		va_end(ap);                                                                        \
		return fails(OPEN) ? -1 : real(dir, path, flags & ~WAITS, mode);                   \
	}

#define DEFINE_FOPEN(name)                                                                    \
	FILE *name(const char *path, const char *mode)                                        \
	{                                                                                     \
		FILE *(*real)(const char *, const char *) = next(#name);                      \
											      \
		return fails(OPEN) ? NULL : real(path, mode);                                 \
	}

DEFINE_OPEN(open)
DEFINE_OPEN(open64)
DEFINE_OPENAT(openat)
DEFINE_OPENAT(openat64)
DEFINE_FOPEN(fopen)
DEFINE_FOPEN(fopen64)

DIR *opendir(const char *path)
{
	DIR *(*real)(const char *) = next("opendir");

	return fails(OPEN) ? NULL : real(path);
}

char *mkdtemp(char *path)
{
	char *(*real)(char *) = next("mkdtemp");

	return fails(OPEN) ? NULL : real(path);
}

int close(int fd)
{
	int (*real)(int) = next("close");
	int rc = real(fd);

	return fails(CLOSE) ? -1 : rc;
}

/* ---- reading and writing ---- */

static ssize_t failed(void)
{
	if (how == END)
		raise(SIGKILL);
	errno = fail_errno;
	return -1;
}

#define DEFINE_READ(name, parameters, arguments)                                              \
	ssize_t name parameters                                                               \
	{                                                                                     \
		ssize_t (*real)parameters = next(#name);                                      \
		enum fate what = fate(READ);                                                  \
											      \
		if (what == FAILS || what == FAILS_LATE)                                      \
			return failed();                                                      \
		size = what == HALF ? (size + 1) / 2 : size;                                  \
		return real arguments;                                                        \
	}

#define DEFINE_WRITE(name, parameters, arguments)                                             \
	ssize_t name parameters                                                               \
	{                                                                                     \
		ssize_t (*real)parameters = next(#name), rc;                                  \
		enum fate what = fd > STDERR_FILENO ? fate(WRITE) : WELL;                     \
											      \
		if (what == FAILS)                                                            \
			return failed();                                                      \
		size = what == HALF ? (size + 1) / 2 : size;                                  \
		rc = real arguments;                                                          \
		return what == FAILS_LATE ? failed() : rc;                                    \
	}

DEFINE_READ(read, (int fd, void *to, size_t size), (fd, to, size))
DEFINE_READ(pread, (int fd, void *to, size_t size, off_t from), (fd, to, size, from))
DEFINE_READ(pread64, (int fd, void *to, size_t size, off64_t from), (fd, to, size, from))
DEFINE_WRITE(write, (int fd, const void *from, size_t size), (fd, from, size))
DEFINE_WRITE(pwrite, (int fd, const void *from, size_t size, off_t to), (fd, from, size, to))
DEFINE_WRITE(pwrite64, (int fd, const void *from, size_t size, off64_t to), (fd, from, size, to))

/* Half of one that has several pieces is half of the pieces. */
#define DEFINE_WRITEV(name, parameters, arguments)                                            \
	ssize_t name parameters                                                               \
	{                                                                                     \
		ssize_t (*real)parameters = next(#name), rc;                                  \
		enum fate what = fd > STDERR_FILENO ? fate(WRITE) : WELL;                     \
											      \
		if (what == FAILS)                                                            \
			return failed();                                                      \
		n = what == HALF ? (n + 1) / 2 : n;                                           \
		rc = real arguments;                                                          \
		return what == FAILS_LATE ? failed() : rc;                                    \
	}

DEFINE_WRITEV(writev, (int fd, const struct iovec *pieces, int n), (fd, pieces, n))
DEFINE_WRITEV(pwritev, (int fd, const struct iovec *pieces, int n, off_t to), (fd, pieces, n, to))
DEFINE_WRITEV(pwritev64, (int fd, const struct iovec *pieces, int n, off64_t to),
	      (fd, pieces, n, to))

/* ---- the others ---- */

#define DEFINE_FAILING(class, name, parameters, arguments)                                    \
	int name parameters                                                                   \
	{                                                                                     \
		int (*real)parameters = next(#name);                                          \
											      \
		return fails(class) ? -1 : real arguments;                                    \
	}

int fsync(int fd)
{
	(void)fd;
	return fails(SYNC) ? -1 : 0;
}

int fdatasync(int fd)
{
	return fsync(fd);
}

DEFINE_FAILING(RENAME, rename, (const char *from, const char *to), (from, to))
DEFINE_FAILING(RENAME, renameat, (int a, const char *from, int b, const char *to), (a, from, b, to))
DEFINE_FAILING(RENAME, renameat2,
	       (int a, const char *from, int b, const char *to, unsigned flags),
	       (a, from, b, to, flags))
DEFINE_FAILING(TRUNCATE, ftruncate, (int fd, off_t size), (fd, size))
DEFINE_FAILING(TRUNCATE, ftruncate64, (int fd, off64_t size), (fd, size))
DEFINE_FAILING(ALLOCATE, fallocate, (int fd, int mode, off_t from, off_t size),
	       (fd, mode, from, size))
DEFINE_FAILING(ALLOCATE, fallocate64, (int fd, int mode, off64_t from, off64_t size),
	       (fd, mode, from, size))
DEFINE_FAILING(LOCK, flock, (int fd, int operation), (fd, operation))

static int takes_lock(int command)
{
	return command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK ||
	       command == F_OFD_SETLKW;
}

#define DEFINE_FCNTL(name)                                                                    \
	int name(int fd, int command, ...)                                                    \
	{                                                                                     \
		int (*real)(int, int, ...) = next(#name);                                     \
		void *argument;                                                               \
		va_list ap;                                                                   \
											      \
		va_start(ap, command);                                                        \
		argument = va_arg(ap, void *);                                                \
		va_end(ap);                                                                   \
		return takes_lock(command) && fails(LOCK) ? -1 : real(fd, command, argument); \
	}

DEFINE_FCNTL(fcntl)
DEFINE_FCNTL(fcntl64)

#define DEFINE_MMAP(name, offset)                                                             \
	void *name(void *p, size_t size, int prot, int flags, int fd, offset from)            \
	{                                                                                     \
		void *(*real)(void *, size_t, int, int, int, offset) = next(#name);           \
											      \
		return fails(MAP) ? MAP_FAILED : real(p, size, prot, flags, fd, from);        \
	}

DEFINE_MMAP(mmap, off_t)
DEFINE_MMAP(mmap64, off64_t)

/* ---- memory ---- */

/* Looked up once, in the first thread, as elsewhere dlsym() may want memory itself. */
#define DEFINE_ALLOCATING(name, parameters, arguments)                                        \
	void *name parameters                                                                 \
	{                                                                                     \
		static void *(*real)parameters;                                               \
											      \
		if (!real)                                                                    \
			real = next(#name);                                                   \
		return fails(MEMORY) ? NULL : real arguments;                                 \
	}

DEFINE_ALLOCATING(malloc, (size_t size), (size))
DEFINE_ALLOCATING(calloc, (size_t n, size_t size), (n, size))
DEFINE_ALLOCATING(realloc, (void *p, size_t size), (p, size))
DEFINE_ALLOCATING(aligned_alloc, (size_t alignment, size_t size), (alignment, size))

int posix_memalign(void **out, size_t alignment, size_t size)
{
	static int (*real)(void **, size_t, size_t);

	if (!real)
		real = next("posix_memalign");
	return fails(MEMORY) ? fail_errno : real(out, alignment, size);
}

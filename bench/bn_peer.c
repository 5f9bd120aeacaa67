/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A contestant in a process of its own, such as those of bench/peers and mih-rs in bench/mih:
 *
 *     PROGRAM FILE RADIUS
 *
 * FILE has 64-bit words in the order of bytes of this machine: the number of documents, the number
 * of queries, the documents, the queries. The program may make files whose names begin with FILE.
 * It prints a line when its index is built, and a line for each line "WORK FIRST COUNT" that it
 * reads from its standard input, where WORK is check, mean, times or swept (bn_pass.h), and FIRST
 * is the number of the first query. So it takes its turns among the others. It ends with its input.
 * The lines are JSON objects with these members:
 *
 *     build_s, bytes (a document), max_queries (optional; 0: all)
 *     mean_us, p50_us, p99_us, n, sum (bn_rival.h; of "check", in hexadecimal, as a string)
 *
 * What needs too much memory or time to build its index takes no part.
 */

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bn_rival.h"
#include "bn_util.h"

#define MAX_BUILD_S 1800
#define MAX_GIB 16

struct peer {
	pid_t pid;
	FILE *to, *from;
};

static void write_words(FILE *file, const char *path, const uint64_t *words, uint64_t n)
{
	if (fwrite(words, sizeof(*words), n, file) != n)
		bn_die("%s: %s", path, strerror(errno));
}

static void write_set(const char *path, const struct bn_set *set)
{
	FILE *file = fopen(path, "wb");

	if (!file)
		bn_die("%s: %s", path, strerror(errno));
	write_words(file, path, &set->n, 1);
	write_words(file, path, &set->n_queries, 1);
	write_words(file, path, set->fp, set->n);
	write_words(file, path, set->query, set->n_queries);
	if (fclose(file))
		bn_die("%s: %s", path, strerror(errno));
}

static _Noreturn void be_program(const char *program, const char *path, const char *radius,
				 const int in[2], const int out[2])
{
	const struct rlimit limit = { (rlim_t)MAX_GIB << 30, (rlim_t)MAX_GIB << 30 };

	dup2(in[0], STDIN_FILENO);
	dup2(out[1], STDOUT_FILENO);
	close(in[0]);
	close(in[1]);
	close(out[0]);
	close(out[1]);
	setrlimit(RLIMIT_DATA, &limit);
	execl(program, program, path, radius, (char *)NULL);
	fprintf(stderr, "%s: %s: %s\n", bn_program, program, strerror(errno));
	_exit(127);
}

static void start(struct peer *peer, const char *program, const char *path, unsigned radius)
{
	char text[16];
	int in[2], out[2];

	if (pipe(in) || pipe(out))
		bn_die("pipe: %s", strerror(errno));
	/* Those that are begun later are not to hold these ends open. */
	fcntl(in[1], F_SETFD, FD_CLOEXEC);
	fcntl(out[0], F_SETFD, FD_CLOEXEC);
	snprintf(text, sizeof(text), "%u", radius);
	signal(SIGPIPE, SIG_IGN);
	fflush(NULL);
	peer->pid = fork();
	if (peer->pid < 0)
		bn_die("fork: %s", strerror(errno));
	if (!peer->pid)
		be_program(program, path, text, in, out);
	close(in[0]);
	close(out[1]);
	peer->to = fdopen(in[1], "w");
	peer->from = fdopen(out[0], "r");
}

static const char *find(const char *line, const char *name)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\":", name);
	at = strstr(line, key);
	return at ? at + strlen(key) : NULL;
}

static double number_of(const char *line, const char *name)
{
	const char *at = find(line, name);

	if (!at)
		bn_die("no %s in %s", name, line);
	return strtod(at, NULL);
}

static void peer_pass(struct bn_rival *rival, const char *work, uint64_t first, uint64_t n,
		      struct bn_figures *out)
{
	struct peer *peer = rival->self;
	char line[512];
	const char *sum;

	fprintf(peer->to, "%s %llu %llu\n", work, (unsigned long long)first,
		(unsigned long long)n);
	fflush(peer->to);
	if (!fgets(line, sizeof(line), peer->from))
		bn_die("%s has ended", rival->name);
	memset(out, 0, sizeof(*out));
	out->mean_us = number_of(line, "mean_us");
	out->p50_us = number_of(line, "p50_us");
	out->p99_us = number_of(line, "p99_us");
	out->sum.n = (uint64_t)number_of(line, "n");
	sum = find(line, "sum"); /* a string: too long for a double */
	out->sum.sum = sum ? strtoull(sum + 1, NULL, 16) : 0;
}

static void end(struct peer *peer)
{
	fclose(peer->to);
	fclose(peer->from);
	waitpid(peer->pid, NULL, 0);
	free(peer);
}

static void peer_destroy(struct bn_rival *rival)
{
	end(rival->self);
}

/* Its first line. Returns 0, or -1 with the reason why there is none. */
static int read_built(struct peer *peer, char *line, int size, char *reason)
{
	struct pollfd wait = { fileno(peer->from), POLLIN, 0 };

	if (!poll(&wait, 1, MAX_BUILD_S * 1000)) {
		kill(peer->pid, SIGKILL);
		snprintf(reason, BN_REASON, "not built within %d minutes", MAX_BUILD_S / 60);
		return -1;
	}
	if (!fgets(line, size, peer->from)) {
		snprintf(reason, BN_REASON, "ended before its index was built; it had %d GiB",
			 MAX_GIB);
		return -1;
	}
	return 0;
}

void bn_peer_name(const char *program, char name[BN_NAME])
{
	const char *slash = strrchr(program, '/');

	program = slash ? slash + 1 : program;
	snprintf(name, BN_NAME, "%.*s", (int)strcspn(program, "."), program);
}

int bn_peer_make(const struct bn_setup *setup, const char *program, struct bn_rival *rival,
		 char *reason)
{
	struct peer *peer = bn_alloc(1, sizeof(*peer));
	char path[4200], line[512];
	const char *most;
	int rc;

	memset(rival, 0, sizeof(*rival));
	bn_peer_name(program, rival->name);
	snprintf(path, sizeof(path), "%s/bench-%s-%ld", setup->dir, rival->name, (long)getpid());
	write_set(path, setup->set);
	start(peer, program, path, setup->radius);
	rc = read_built(peer, line, sizeof(line), reason);
	unlink(path);
	if (rc) {
		end(peer);
		return -1;
	}
	rival->build_s = number_of(line, "build_s");
	rival->bytes = number_of(line, "bytes");
	most = find(line, "max_queries");
	rival->max_queries = most ? strtoull(most, NULL, 10) : 0;
	rival->self = peer;
	rival->pass = peer_pass;
	rival->destroy = peer_destroy;
	return 0;
}

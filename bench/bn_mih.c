/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * mih-rs (Kanda's multi-index hashing in Rust) in a process of its own, bench/mih: it gets the
 * set and the queries in a file, then one line for each pass over its standard input, and
 * answers with one JSON line. So it takes its turns among the others.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bn_rival.h"
#include "bn_util.h"

struct mih {
	pid_t pid;
	FILE *to, *from;
};

static void write_words(FILE *file, const char *path, const uint64_t *words, uint64_t n)
{
	if (fwrite(words, sizeof(*words), n, file) != n)
		bn_die("%s: %s", path, strerror(errno));
}

/* Numbers of documents and queries, then these; in the order of bytes of this machine. */
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

static void start(struct mih *mih, const char *program, const char *path, unsigned radius)
{
	char text[16];
	int in[2], out[2];

	if (pipe(in) || pipe(out))
		bn_die("pipe: %s", strerror(errno));
	snprintf(text, sizeof(text), "%u", radius);
	signal(SIGPIPE, SIG_IGN);
	fflush(NULL);
	mih->pid = fork();
	if (mih->pid < 0)
		bn_die("fork: %s", strerror(errno));
	if (!mih->pid) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		close(in[0]);
		close(in[1]);
		close(out[0]);
		close(out[1]);
		execl(program, program, path, text, (char *)NULL);
		fprintf(stderr, "%s: %s: %s\n", bn_program, program, strerror(errno));
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	mih->to = fdopen(in[1], "w");
	mih->from = fdopen(out[0], "r");
}

/* A number in the next line; the line is kept in `line`. */
static double number_of(const char *line, const char *name)
{
	char key[32];
	const char *at;

	snprintf(key, sizeof(key), "\"%s\":", name);
	at = strstr(line, key);
	if (!at)
		bn_die("mih: no %s in %s", name, line);
	return strtod(at + strlen(key), NULL);
}

static void read_line(struct mih *mih, char *line, int size)
{
	if (!fgets(line, size, mih->from))
		bn_die("mih ended");
}

static void mih_pass(struct bn_rival *rival, const char *work, uint64_t first, uint64_t n,
		     struct bn_figures *out)
{
	struct mih *mih = rival->self;
	const char *sum;
	char line[512];

	fprintf(mih->to, "%s %llu %llu\n", work, (unsigned long long)first,
		(unsigned long long)n);
	fflush(mih->to);
	read_line(mih, line, sizeof(line));
	memset(out, 0, sizeof(*out));
	out->mean_us = number_of(line, "mean_us");
	out->p50_us = number_of(line, "p50_us");
	out->p99_us = number_of(line, "p99_us");
	out->sum.n = (uint64_t)number_of(line, "n");
	sum = strstr(line, "\"sum\":\""); /* a string: too long for a double */
	out->sum.sum = sum ? strtoull(sum + 7, NULL, 16) : 0;
}

static void mih_destroy(struct bn_rival *rival)
{
	struct mih *mih = rival->self;

	fclose(mih->to);
	fclose(mih->from);
	waitpid(mih->pid, NULL, 0);
	free(mih);
}

int bn_mih_make(const struct bn_setup *setup, struct bn_rival *rival, char *reason)
{
	struct mih *mih;
	char path[4200], line[512];

	if (!setup->mih) {
		snprintf(reason, BN_REASON, "no --mih PROGRAM; bench/mih.sh builds it");
		return -1;
	}
	memset(rival, 0, sizeof(*rival));
	mih = bn_alloc(1, sizeof(*mih));
	snprintf(path, sizeof(path), "%s/bench-mih-%ld", setup->dir, (long)getpid());
	write_set(path, setup->set);
	start(mih, setup->mih, path, setup->radius);
	read_line(mih, line, sizeof(line)); /* it has read the file and built its index */
	unlink(path);
	rival->build_s = number_of(line, "build_s");
	rival->bytes = number_of(line, "bytes");
	snprintf(rival->name, sizeof(rival->name), "mih-rs");
	rival->self = mih;
	rival->pass = mih_pass;
	rival->destroy = mih_destroy;
	return 0;
}

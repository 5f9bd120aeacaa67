/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The command line of simidx-dedup.
 */

#ifndef DD_OPTIONS_H
#define DD_OPTIONS_H

#include "common/tl_options.h"
#include "dedup/dd_keep.h"
#include "input/in_files.h"

#include <simidx_dedup.h>

/** Parsed options. NULL, 0 and -1 stand for "not given" where noted. */
struct dd_options {
	struct in_files_options inputs;
	uint64_t total_bytes;   /* of the inputs; 0 = not known */
	double similarity;      /* Jaccard, above 0 and at most 1 */
	int similarity_given;
	int no_verify;
	int radius;             /* -1 */
	int accept;             /* -1 */
	int identical;          /* then the similarity is 1 */
	int binary;             /* files that are no texts are compared */
	int compare_all;
	int pairs;
	int drop_list;
	int stream;
	const char *output;     /* NULL = standard output */
	const char *output_dir; /* NULL; a file for each input in it */
	const char *dups;       /* NULL */
	const char *rejects;    /* NULL */
	const char *summary;    /* NULL */
	const char *list_binary; /* NULL */
	const char *evidence;   /* NULL */
	unsigned near_misses;   /* percent below the similarity; 0 */
	uint64_t evidence_texts; /* characters; 0 */
	uint64_t max_group;     /* 0 = any size */
	struct dd_keep keep;
	const char *index;      /* NULL */
	int resume;
	int remember;           /* enum simidx_dedup_remember; -1 */
	struct tl_strings against;
	int is_untrusted;
	unsigned bits;          /* of bare fingerprints */
	int bits_given;
	uint64_t memory;        /* bytes, enough for the threads */
	uint64_t spill;         /* bytes; UINT64_MAX = a tenth of the free space */
	const char *tmpdir;     /* where temporary files go */
	unsigned threads;
	int json;
	int quiet;
};

/** The command line, for --help and manual pages. */
extern const struct tl_command dd_command;

/**
 * Read the command line and check that the inputs are there.
 *
 * @return TL_PROCEED, or the exit code of a program that has nothing more to do (--help, an
 *         error, which is told)
 */
int dd_parse_options(int argc, char **argv, struct dd_options *options);

/** Most indexes of --against: each takes a reader or two of each thread. */
#define DD_MOST_AGAINST 64

/** Flags of simidx_open() for an index that may not be trusted. NULL is allowed. */
unsigned dd_trust_flags(const struct dd_options *options, const char *path);

/** The word of --remember that stands for a number of enum simidx_dedup_remember. */
const char *dd_remember_word(int remember);

/** Free the lists of names. */
void dd_free_options(struct dd_options *options);

#endif /* DD_OPTIONS_H */

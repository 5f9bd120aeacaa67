/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The command line of simidx-load.
 */

#ifndef LD_OPTIONS_H
#define LD_OPTIONS_H

#include "input/in_files.h"

/** What to do about an index that is, or is not, there. */
enum ld_create { LD_CREATE_IF_MISSING, LD_CREATE_MUST, LD_CREATE_TRUNCATE };

/** When to merge. */
enum ld_merge { LD_MERGE_AUTO, LD_MERGE_ALWAYS, LD_MERGE_NEVER };

/** Parsed options. NULL, 0 and -1 stand for "not given" where noted. */
struct ld_options {
	const char *index;
	struct in_files_options inputs;
	uint64_t total_bytes;   /* of the inputs; 0 = not known */
	enum ld_create create;
	enum ld_merge merge;
	const char *plan;       /* NULL */
	const char *extractor;  /* NULL */
	int layout;             /* enum simidx_layout, or -1 */
	unsigned bits;          /* 0 */
	int no_ids;             /* 1 = none, 0 = auto, or -1 */
	int fp2;                /* 1 = --fp2, 0 = --no-fp2, or -1 */
	int wait_ms;            /* -1 = for ever */
	unsigned durability;    /* enum simidx_durability */
	int force;
};

/** What ld_parse_options() came to, besides an exit code. */
#define LD_PROCEED -1

/**
 * Read the command line and check that the inputs are there.
 *
 * @return LD_PROCEED, or the exit code of a program that has nothing more to do (--help, an
 *         error, which is told)
 */
int ld_parse_options(int argc, char **argv, struct ld_options *options);

/** Free the lists of names. */
void ld_free_options(struct ld_options *options);

#endif /* LD_OPTIONS_H */

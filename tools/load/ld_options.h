/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The command line of simidx-load.
 */

#ifndef LD_OPTIONS_H
#define LD_OPTIONS_H

#include "common/tl_text_options.h"
#include "input/in_files.h"

/** What to do about an index that is, or is not, there. */
enum ld_create { LD_CREATE_IF_MISSING, LD_CREATE_MUST, LD_CREATE_TRUNCATE };

/** When to merge. */
enum ld_merge { LD_MERGE_AUTO, LD_MERGE_ALWAYS, LD_MERGE_NEVER };

/** How documents get into an index that is there. */
enum ld_mode { LD_MODE_AUTO, LD_MODE_INSERT, LD_MODE_REBUILD };

/** Parsed options. NULL, 0 and -1 stand for "not given" where noted. */
struct ld_options {
	const char *index;
	struct in_files_options inputs;
	uint64_t total_bytes;   /* of the inputs; 0 = not known */
	enum ld_create create;
	enum ld_merge merge;
	const char *plan;       /* NULL */
	uint64_t expect;        /* documents, 0 = not known */
	struct tl_text_options text;
	const char *features_by; /* NULL */
	int layout;             /* enum simidx_layout, or -1 */
	unsigned bits;          /* 0 */
	int no_ids;             /* 1 = none, 0 = auto, or -1 */
	int fp2;                /* 1 = --fp2, 0 = --no-fp2, or -1 */
	int wait_ms;            /* -1 = for ever */
	unsigned durability;    /* enum simidx_durability */
	int force;
	enum ld_mode mode;
	int resume;
	char **from;            /* indexes to take over */
	size_t n_from;
	uint64_t memory;        /* bytes */
	const char *tmpdir;     /* NULL = that of the index */
	unsigned threads;       /* 0 = one a core */
	unsigned fill;          /* 0 */
	unsigned duplicates;    /* enum simidx_duplicates */
	const char *rejects;    /* NULL */
	uint64_t max_errors;    /* UINT64_MAX = any number */
	const char *summary;    /* NULL */
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

/** Free the lists of names and words. */
void ld_free_options(struct ld_options *options);

#endif /* LD_OPTIONS_H */

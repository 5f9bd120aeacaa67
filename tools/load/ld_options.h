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
enum ld_merge { LD_MERGE_AUTO, LD_MERGE_ALWAYS, LD_MERGE_NEVER, LD_MERGE_BESIDE };

/** What is done with a row. */
enum ld_mode { LD_ADD, LD_IF_NEW, LD_REPLACE, LD_DELETE };

/** Which rows of --mode if-new are written to standard output. */
enum ld_emitted { LD_EMIT_NONE, LD_EMIT_NEW, LD_EMIT_DUP, LD_EMIT_ALL };

/** How documents get into an index that is there. */
enum ld_write { LD_WRITE_AUTO, LD_WRITE_INSERT, LD_WRITE_REBUILD };

/** Parsed options. NULL, 0 and -1 stand for "not given" where noted; words are those of enums. */
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
	unsigned permissions;   /* of the files; 0 */
	int no_ids;             /* 1 = none, 0 = auto, or -1 */
	int fp2;                /* 1 = --fp2, 0 = --no-fp2, or -1 */
	int times;
	int wait_ms;            /* -1 = for ever */
	unsigned durability;    /* enum simidx_durability */
	int force;
	int is_untrusted;
	enum ld_write write;
	enum ld_mode mode;
	int radius;             /* -1 */
	int accept;             /* -1 */
	int touch;
	enum ld_emitted emit;
	uint64_t commit;        /* rows between two commits */
	int merge_only;
	int resume;
	struct tl_strings from; /* indexes to take over */
	uint64_t memory;        /* bytes */
	const char *tmpdir;     /* NULL = that of the index */
	unsigned threads;       /* 0 = one a core */
	unsigned fill;          /* 0 */
	unsigned duplicates;    /* enum simidx_duplicates, the first two */
	const char *rejects;    /* NULL */
	uint64_t max_errors;    /* UINT64_MAX = any number */
	const char *summary;    /* NULL */
	int quiet;
};

/** Room for a place in the inputs; one with a long path is cut in messages. */
#define LD_PLACE_SIZE 8192

/** The words of enum ld_mode. */
extern const char *const ld_mode_words[];

/** The command line, for --help and manual pages. */
extern const struct tl_command ld_command;

/**
 * Read the command line and check that the inputs are there.
 *
 * @return TL_PROCEED, or the exit code of a program that has nothing more to do (--help, an
 *         error, which is told)
 */
int ld_parse_options(int argc, char **argv, struct ld_options *options);

/** Flags of simidx_open() for all indexes that the load opens. */
unsigned ld_open_flags(const struct ld_options *options);

/** Whether there are inputs, not only indexes to take over. */
int ld_has_inputs(const struct ld_options *options);

/** Free the lists of names and words. */
void ld_free_options(struct ld_options *options);

#endif /* LD_OPTIONS_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the commands of simidx-query have in common.
 */

#ifndef QR_COMMAND_H
#define QR_COMMAND_H

#include "input/in_files.h"

#include <simidx_admin.h>

/** Given to every command. */
struct qr_context {
	const char *path;      /* of the index; "-" for none */
	struct in_files_options inputs; /* --input, -F; for commands on "-" */
	unsigned open_flags;   /* SIMIDX_OPEN_ flags */
	int json;              /* --json */
	unsigned threads;      /* --threads; 0 = one a core */
	uint64_t directory;    /* --directory, as in simidx_open_options */
	const char *kernel;    /* --kernel; NULL = the best */
	simidx *index;         /* NULL until qr_open() */
	simidx_info info;      /* as it was then */
};

/** A command; argv[0] is its name. */
struct qr_command {
	const char *name;
	const char *arguments;  /* for the usage line */
	const char *summary;    /* for the list of commands */
	/**
	 * Read the options, open the index and do it. Returns the exit code; stdout is closed
	 * by the caller.
	 */
	int (*run)(struct qr_context *ctx, int argc, char **argv);
	const char *const *help;  /* lines below the usage line, ending with NULL */
};

extern const struct qr_command qr_search;
extern const struct qr_command qr_get;
extern const struct qr_command qr_stats;
extern const struct qr_command qr_dump;
extern const struct qr_command qr_verify;
extern const struct qr_command qr_backup;
extern const struct qr_command qr_similar;
extern const struct qr_command qr_idf;

/** Whether a path stands for no stored index. */
int qr_is_no_index(const char *path);
extern const struct qr_command qr_plan;

/** Open the index and read what it is. Returns 0 or the code in err. */
int qr_try_open(struct qr_context *ctx, simidx_error *err);

/**
 * Whether a call that returned rc is to be made once more: the index was exchanged for another
 * one since it was opened (SIMIDX_E_MOVED), and what is at the path now has been opened. Readers
 * must be closed. Where that cannot be opened or has other fingerprints the old one stays open,
 * and err tells why.
 */
int qr_again(struct qr_context *ctx, int rc, simidx_error *err);

/** As qr_try_open(). Returns 0, or TL_TROUBLE with a message. */
int qr_open(struct qr_context *ctx);

/** Tell an error of the library. Returns TL_TROUBLE. */
int qr_fail(const struct qr_context *ctx, const simidx_error *err);

/** What qr_no_options() returns when the command is to go on. */
#define QR_PROCEED -1

/** Print a command's help to stdout. Returns the exit code. */
int qr_print_help(const struct qr_command *command);

/**
 * For commands whose only option is --help and which take `n` operands.
 *
 * @return QR_PROCEED with optind at the first operand, or the exit code
 */
int qr_no_options(const struct qr_command *command, int argc, char **argv, int n);

#endif /* QR_COMMAND_H */

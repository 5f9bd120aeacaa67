/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the commands of simidx-query have in common.
 */

#ifndef QR_COMMAND_H
#define QR_COMMAND_H

#include <simidx_info.h>

#include "common/tl_options.h"
#include "common/tl_term.h"

/** Given to every command: the options of all of them, the index and the operands. */
struct qr_context {
	int json;              /* --json */
	int quiet;             /* --quiet */
	int is_static;         /* --static */
	int force;             /* --force */
	int is_untrusted;      /* --untrusted */
	int check;             /* --check */
	int writes;            /* the index is opened to be changed */
	unsigned threads;      /* --threads; 0 = one a core */
	uint64_t block_index;  /* --block-index, as block_index_bytes of simidx_open_options */
	int kernel;            /* --kernel: place in qr_kernels; 0 = the best */
	enum tl_color color;   /* --color */
	int colors;            /* what is printed has colours */
	unsigned width;        /* of the terminal that stdout is; 0 = it is none */
	const char *path;      /* of the index; NULL = none was given */
	char **operands;       /* those behind INDEX */
	int n_operands;
	simidx *index;         /* NULL until qr_open() */
	simidx_info info;      /* as it was then */
};

/** A command. */
struct qr_command {
	/* First, so that a pointer to it is one to the command. "INDEX" may begin its operands. */
	struct tl_command line;
	/* The struct of its table, as it is without any option; NULL = it has none of its own. */
	void *options;
	/** The command line is read: do it. Returns the exit code; the caller closes stdout. */
	int (*run)(struct qr_context *ctx);
};

/** The words of --kernel, ending with NULL. */
extern const char *const qr_kernels[];

/** The program, whose options are those of every command. */
extern const struct tl_command qr_program;

extern const struct qr_command qr_search;
extern const struct qr_command qr_get;
extern const struct qr_command qr_dump;
extern const struct qr_command qr_pairs;
extern const struct qr_command qr_clusters;
extern const struct qr_command qr_stats;
extern const struct qr_command qr_verify;
extern const struct qr_command qr_repair;
extern const struct qr_command qr_backup;
extern const struct qr_command qr_delete;
extern const struct qr_command qr_compact;
extern const struct qr_command qr_export;
extern const struct qr_command qr_plan;
extern const struct qr_command qr_idf;
extern const struct qr_command qr_similar;
extern const struct qr_command qr_review;
extern const struct qr_command qr_help;

/**
 * Tell that there is no command so called as argv[0], and which one may be meant. Returns
 * TL_TROUBLE.
 */
int qr_refuse_command(char *const *argv);

/** Read the command line of a command, whose name is argv[0], and run it. Returns the exit code. */
int qr_run(const struct qr_command *command, struct qr_context *ctx, int argc, char **argv);

/** Say which index is meant. Returns 0, or TL_TROUBLE with a message. */
int qr_set_index(struct qr_context *ctx, const char *path);

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

/** If it is time for it, show how many documents are done; `what` is done. */
void qr_show_documents(const struct qr_context *ctx, const char *what, uint64_t done);

/** Of --static and --force, the flags for simidx_open_options and others. */
unsigned qr_open_flags(const struct qr_context *ctx);

/** Read the DATE of an option by tl_time_parse_cut(). Returns 0, or TL_TROUBLE with a message. */
int qr_read_cut(const char *option, const char *text, uint32_t *out);

/** Refuse an option if the index keeps no times. Returns 0, or TL_TROUBLE with a message. */
int qr_need_times(const struct qr_context *ctx, const char *option);

/** Tell an error of the library. Returns TL_TROUBLE. */
int qr_fail(const struct qr_context *ctx, const simidx_error *err);

/** The same, of a command whose status says whether damage was found: returns TL_PARTLY then. */
int qr_fail_damaged(const struct qr_context *ctx, const simidx_error *err);

#endif /* QR_COMMAND_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Which document of a group stays: --keep and --prefer.
 */

#ifndef DD_KEEP_H
#define DD_KEEP_H

#include "common/tl_options.h"
#include "dedup/dd_files.h"
#include "input/in_row.h"

/** What comes first, in the order of the words of --keep. */
enum dd_keep_rule {
	DD_KEEP_LONGEST,  /* the most bytes of text */
	DD_KEEP_SHORTEST,
	DD_KEEP_NEWEST,   /* the latest modification of its file */
	DD_KEEP_OLDEST,
	DD_KEEP_FIRST,    /* in the order of the inputs */
	DD_KEEP_MAX,      /* the largest value of a field */
	DD_KEEP_MIN
};

/** Most directories that come first. */
#define DD_KEEP_MAX_PREFER 255

/** The options. */
struct dd_keep {
	int is_given;             /* --keep */
	enum dd_keep_rule rule;   /* if so */
	const char *field;        /* of DD_KEEP_MAX and DD_KEEP_MIN; borrowed */
	struct tl_strings prefer; /* as they were typed */
	char **directory;         /* the same, as they are called from the root */
};

/** Their rows; the struct is struct dd_keep. */
extern const struct tl_option dd_keep_rows[];

/** The option that asks for another one than the first; NULL = none does. */
const char *dd_keep_option(const struct dd_keep *keep);

/**
 * Look up the directories of --prefer, and if --keep was not given, set the rule.
 *
 * @param rule  by default
 * @return TL_PROCEED, or TL_TROUBLE with a message
 */
int dd_keep_check(struct dd_keep *keep, enum dd_keep_rule rule);

/** Free what dd_keep_check() has looked up, and the list. */
void dd_keep_free(struct dd_keep *keep);

/**
 * A number for a document: the one with the largest of a group stays, and of equal ones the first.
 *
 * @param file  of which it is, for its time
 * @return 0: it has no such value, or one that is no number and no date
 */
uint64_t dd_keep_key(const struct dd_keep *keep, const struct in_row *row,
		     struct dd_files *files, uint32_t file);

/** What a document without a value lacks, for a message. */
const char *dd_keep_lacks(const struct dd_keep *keep);

/**
 * The number of the first directory of --prefer that a file is below, by one of its paths; or how
 * many directories there are.
 */
unsigned dd_keep_rank(const struct dd_keep *keep, struct dd_files *files, uint32_t file);

/** Tell of a directory of --prefer with which no input has to do. */
void dd_keep_look(const struct dd_keep *keep, char **operands, size_t n);

#endif /* DD_KEEP_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* The command line of a benchmark program: a table of its options, from which --help is printed. */

#ifndef BN_OPTIONS_H
#define BN_OPTIONS_H

enum bn_kind {
	BN_FLAG,    /**< no value; int, set to 1 */
	BN_TEXT,    /**< const char * */
	BN_COUNT,   /**< uint64_t, above 0 */
	BN_BYTES,   /**< uint64_t, above 0: bytes; K, M or G behind them is 2^10, 2^20, 2^30 */
	BN_SMALL,   /**< unsigned, above 0 */
	BN_SMALL_0, /**< unsigned */
};

struct bn_option {
	char letter;       /**< or 0 */
	const char *name;  /**< behind "--"; NULL ends a table */
	const char *value; /**< what --help calls it; NULL for flags */
	enum bn_kind kind;
	void *to;          /**< what is set, of the type that the kind names; holds the default */
	const char *help;  /**< may have several lines */
};

struct bn_usage {
	const char *operands; /**< what there is behind the options, if anything */
	int least, most;      /**< how many operands there may be */
	const char *about;    /**< lines, each with its end */
	const struct bn_option *options; /**< without --help */
	const char *more; /**< after the options: what is printed, and what it means; or NULL */
};

/**
 * Read the command line. Ends the program after --help with status 0, and with a message and
 * status 2 if something is wrong.
 *
 * @return number of the first operand in argv
 */
int bn_parse(const struct bn_usage *usage, int argc, char **argv);

#endif /* BN_OPTIONS_H */

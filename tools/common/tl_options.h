/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The command line of a program as one table. Each option is a row: its letter, its name, what its
 * value is called, which member of a struct keeps the value, a line for -h and the full text for
 * --help. Rows in between are headings, paragraphs and examples. Parsing, -h, --help, the manual
 * page and the completions of shells are all made from the table, so they cannot disagree.
 *
 * How a program uses it:
 *
 *	struct settings {
 *		int all;
 *		uint64_t limit;
 *		enum order order;
 *		struct tl_text_options text;
 *	};
 *
 *	static const char *const order_words[] = { "id", "name", NULL };
 *
 *	static const struct tl_option options[] = {
 *		{ TL_SECTION("What is printed") },
 *		{ 'a', "all", NULL, TL_FLAG(struct settings, all), .help = "old ones, too" },
 *		{ 0, "limit", "N", TL_COUNT(struct settings, limit, 1, UINT64_MAX),
 *		  .standard = "10M", .help = "at most N rows" },
 *		{ 0, "order", "id|name", TL_WORD(struct settings, order, order_words),
 *		  .help = "by what the rows are ordered",
 *		  .more = "By what the rows are ordered. Names are compared byte by byte." },
 *		{ TL_GROUP(tl_text_rows, struct settings, text) },
 *		{ TL_HELP_ROW },
 *		{ TL_VERSION_ROW },
 *		{ 0 },
 *	};
 *
 *	static const struct tl_command command = {
 *		.name = "simidx-list", .operands = "INDEX", .least = 1, .most = 1,
 *		.shortest = "INDEX",
 *		.summary = "list an index", .options = options,
 *	};
 *
 *	struct settings settings = { 0 };
 *	int code = tl_parse(&command, &settings, NULL, argc, argv);
 *
 *	if (code != TL_PROCEED)
 *		return code;
 *	... argv[optind] is INDEX ...
 *
 * Options may be abbreviated as getopt_long() allows: to any beginning that only one has. Options
 * and operands may be mixed; "--" ends the options. A file, directory or index whose name begins
 * with '-' is a value only behind '='. Of several values of one option the last one counts, and a
 * notice says so unless they are numbers; two files, directories or indexes are refused, unless the
 * option has a default.
 */

#ifndef TL_OPTIONS_H
#define TL_OPTIONS_H

#include <getopt.h>
#include <stddef.h>
#include <stdint.h>

/** What a row is. Write the macros below instead: they check the type of the member. */
enum tl_kind {
	TL_KIND_END,       /* ends a table: { 0 } */
	TL_KIND_SECTION,   /* a heading */
	TL_KIND_PARAGRAPH, /* text for --help */
	TL_KIND_TERM,      /* a word that is explained, as options are */
	TL_KIND_EXAMPLE,   /* a command, and what it does */
	TL_KIND_GROUP,     /* the rows of another table */
	TL_KIND_GIVEN,     /* where the name of the first given option of this table is kept */
	TL_KIND_FLAG,      /* options from here on */
	TL_KIND_TEXT,
	TL_KIND_NUMBER,
	TL_KIND_COUNT,
	TL_KIND_SIZE,
	TL_KIND_WORD,
	TL_KIND_LIST,
	TL_KIND_CALL,
	TL_KIND_HELP,
	TL_KIND_VERSION
};

/** A row. `help` and `more` are plain text in lines of any length; "\n" begins a paragraph. */
struct tl_option {
	char letter;              /* or 0 */
	const char *name;         /* without "--"; of a section or term, its title */
	const char *value;        /* what the value is called, such as "FILE"; NULL for flags */
	enum tl_kind kind;
	size_t at;                /* offset of the member that keeps the value */
	size_t width;             /* size of that member, of numbers: 4 or 8 */
	uint64_t min, max;        /* of numbers; a flag sets min; words count from min */
	const char *const *words; /* of TL_WORD, ending with NULL */
	const struct tl_option *group;
	int (*call)(void *options, const char *value);
	int may_repeat;           /* of TL_CALL: each value counts, as those of TL_LIST do */
	const char *standard;     /* the default, as it would be typed: set and shown; or NULL */
	/* What holds without the option: shown, not set; or NULL. -h shows a default where the line
	   has room. */
	const char *otherwise;
	const char *help;         /* for -h: one line of at most 53 bytes */
	const char *more;         /* for --help and the manual page; NULL = as help */
};

/** What a number is defined as, for texts with defaults: so these cannot differ from the code. */
#define TL_STRING(number) TL_STRING_AS_IS(number)
#define TL_STRING_AS_IS(number) #number

/** Values of a repeated option, each borrowed from argv; the list is for free(). */
struct tl_strings {
	char **at;
	size_t n;
};

/* An offset, if the member has one of two types. */
#define TL_AT(type, member, a, b) \
	_Generic(((type *)0)->member, a: offsetof(type, member), b: offsetof(type, member))
#define TL_AT_TEXT(type, member) \
	_Generic(((type *)0)->member, const char *: offsetof(type, member))
#define TL_AT_NUMBER(type, member)                                                      \
	_Generic(((type *)0)->member, int: offsetof(type, member),                      \
		 unsigned: offsetof(type, member), uint64_t: offsetof(type, member))

/** An int that becomes 1, or another number. */
#define TL_FLAG(type, member) TL_SET(type, member, 1)
#define TL_SET(type, member, number) \
	.kind = TL_KIND_FLAG, .at = TL_AT(type, member, int, unsigned), .min = (number)

/** A const char *: the value as it was typed, borrowed from argv. */
#define TL_TEXT(type, member) .kind = TL_KIND_TEXT, .at = TL_AT_TEXT(type, member)

/** An int, unsigned or uint64_t: a decimal number in least..most, which the type must hold. */
#define TL_NUMBER(type, member, least, most)                        \
	.kind = TL_KIND_NUMBER, .at = TL_AT_NUMBER(type, member),   \
	.width = sizeof(((type *)0)->member), .min = (least), .max = (most)

/** As TL_NUMBER; K, M, G or T after it stand for 10^3, 10^6, 10^9 and 10^12. */
#define TL_COUNT(type, member, least, most)                         \
	.kind = TL_KIND_COUNT, .at = TL_AT_NUMBER(type, member),    \
	.width = sizeof(((type *)0)->member), .min = (least), .max = (most)

/** A number of bytes, such as 1e9; K, M, G or T after it stand for 2^10, 2^20, 2^30 and 2^40. */
#define TL_SIZE(type, member, least, most)                          \
	.kind = TL_KIND_SIZE, .at = TL_AT_NUMBER(type, member),     \
	.width = sizeof(((type *)0)->member), .min = (least), .max = (most)

/** An int, unsigned or enum: the place of the value in a list of words, counted from `first`. */
#define TL_WORD(type, member, list) TL_WORD_FROM(type, member, list, 0)
#define TL_WORD_FROM(type, member, list, first) \
	.kind = TL_KIND_WORD, .at = TL_AT(type, member, int, unsigned), .words = (list), \
	.min = (first)

/** A struct tl_strings: the option may be repeated, and all values are kept in order. */
#define TL_LIST(type, member) \
	.kind = TL_KIND_LIST, \
	.at = _Generic(((type *)0)->member, struct tl_strings: offsetof(type, member))

/** `function` gets the struct of this table and the value; it returns 0, or TL_TROUBLE
 * after a message. */
#define TL_CALL(function) .kind = TL_KIND_CALL, .call = (function)

/** The rows of another table, whose struct is a member of this one. */
#define TL_GROUP(rows, type, struct_member) \
	.kind = TL_KIND_GROUP, .group = (rows), .at = offsetof(type, struct_member)

/** The rows of another table about the same struct. */
#define TL_ROWS(table) .kind = TL_KIND_GROUP, .group = (table)

/** A const char *: the name of the first option of this table that was given, or NULL. */
#define TL_GIVEN(type, member) .kind = TL_KIND_GIVEN, .at = TL_AT_TEXT(type, member)

/** Text between options, which --help and the manual page have. */
#define TL_SECTION(title) .kind = TL_KIND_SECTION, .name = (title)
#define TL_PARAGRAPH(text) .kind = TL_KIND_PARAGRAPH, .more = (text)
#define TL_TERM(word, text) .kind = TL_KIND_TERM, .name = (word), .more = (text)
#define TL_EXAMPLE(command, text) .kind = TL_KIND_EXAMPLE, .name = (command), .more = (text)

/** -h, --help and --version. */
#define TL_HELP_ROW \
	'h', "help", NULL, TL_KIND_HELP, .help = "-h: summary; --help: everything"
#define TL_VERSION_ROW 0, "version", NULL, TL_KIND_VERSION, .help = "print the version"

/** A program, or one of its commands. */
struct tl_command {
	const char *name;     /* as it is typed */
	const char *operands; /* such as "INDEX [QUERY]..."; NULL = none */
	int least, most;      /* how many of them there may be */
	/* What stands behind the name in the shortest right command line; of what is in capitals
	   nothing may be missing. */
	const char *shortest;
	/* What it can do, each with what to type, for who has typed an unknown option; NULL = its
	   options are listed. */
	const char *tasks;
	const char *summary;  /* what it does, in a few words, without a full stop */
	const char *about;    /* what it does, in paragraphs; or NULL */
	const struct tl_option *options;
	const struct tl_command *program;         /* of a command: whose; else NULL */
	const struct tl_command *const *commands; /* of a program that has some; else NULL */
};

/** Most threads that a program starts for --threads. */
#define TL_MAX_THREADS 256

/** So many threads as --threads says; 0: as many as there are processors. */
unsigned tl_threads(unsigned given);

/** What tl_parse() returns when the program is to go on. No exit code. */
#define TL_PROCEED -1

/** Say that INPUT is missing, and that '-' is one where something is piped. Returns TL_TROUBLE. */
int tl_refuse_no_input(void);

/** The same of INDEX, which has been taken for a value or is missing before this input. */
int tl_refuse_no_index(const char *input);

/**
 * Read a command line. First all members with a default get it; what has none is left as it was.
 * -h, --help and --version are done at once. Errors are told on stderr.
 *
 * Of a program with commands the options before the command are read.
 *
 * @param options  the struct of command->options
 * @param shared   the struct of command->program->options, which may be given after a command,
 *                 too; not set to defaults here. NULL if there is no program above the command
 * @param argv     argv[0] is passed over; operands are moved to the end
 * @return TL_PROCEED with optind at the first operand, or the exit code
 */
int tl_parse(const struct tl_command *command, void *options, void *shared, int argc,
	     char **argv);

/** A way through the rows of a table and of its groups: begin with { .row = { table } }. */
struct tl_rows {
	const struct tl_option *row[4];
	int depth;
};

/** The next row, which is never a group; NULL at the end. */
const struct tl_option *tl_rows_next(struct tl_rows *rows);

/** The command of this name, or NULL. */
const struct tl_command *tl_find_command(const struct tl_command *program, const char *name);

#endif /* TL_OPTIONS_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_options.h"

#include "common/tl_help.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <simidx_info.h>
#include <simidx_text.h>

/* More options than any command has, those of its groups and of all commands included. */
#define MAX_OPTIONS 96

/* What getopt_long() returns for the first option if it is given by name. */
#define BY_NAME 256

/* Above this a limit means nothing to a reader: messages leave it out. */
#define NO_LIMIT ((uint64_t)1 << 48)

/* Why stdout first failed; 0 while it has not. */
static int output_errno;
static int output_is_told;

/* ---- rows ---- */

const struct tl_option *tl_rows_next(struct tl_rows *rows)
{
	const struct tl_option *row;

	while (rows->depth >= 0) {
		row = rows->row[rows->depth];
		if (row->kind == TL_KIND_END) {
			rows->depth--;
			continue;
		}
		rows->row[rows->depth]++;
		if (row->kind != TL_KIND_GROUP)
			return row;
		rows->row[++rows->depth] = row->group;
	}
	return NULL;
}

/* An option that can be given, and where its values go. */
struct slot {
	const struct tl_option *row;
	char *base;
	char *given; /* where the name of the first given one is kept, or NULL */
};

/* All that getopt_long() and those who ask it need. */
struct slots {
	struct slot of[MAX_OPTIONS];
	int n;
	struct option longs[MAX_OPTIONS + 1];
	char shorts[2 * MAX_OPTIONS + 3];
};

static void add_slot(struct slots *slots, const struct tl_option *row, char *base, char *given)
{
	int i = slots->n;
	size_t end = strlen(slots->shorts);

	if (i == MAX_OPTIONS)
		return;
	slots->n++;
	slots->of[i] = (struct slot){ row, base, given };
	slots->longs[i] = (struct option){ row->name, row->value != NULL, NULL, BY_NAME + i };
	if (!row->letter)
		return;
	slots->shorts[end++] = row->letter;
	if (row->value)
		slots->shorts[end] = ':';
}

static void add_table(struct slots *slots, const struct tl_option *table, char *base)
{
	char *given = NULL;

	for (const struct tl_option *row = table; row->kind != TL_KIND_END; row++) {
		if (row->kind == TL_KIND_GROUP)
			add_table(slots, row->group, base + row->at);
		else if (row->kind == TL_KIND_GIVEN)
			given = base + row->at;
		else if (row->kind >= TL_KIND_FLAG)
			add_slot(slots, row, base, given);
	}
}

/* ---- values ---- */

static void store_number(const struct tl_option *row, void *to, uint64_t number)
{
	unsigned small = (unsigned)number;

	if (row->width == sizeof(number))
		memcpy(to, &number, sizeof(number));
	else
		memcpy(to, &small, sizeof(small));
}

/* Whether a text is a number as the option takes them, of whatever value. */
static int is_number(const struct tl_option *row, const char *text)
{
	size_t digits = strspn(text, "0123456789");
	const char *unit = text + digits;

	if (row->kind != TL_KIND_NUMBER && digits && *unit && strchr("KMGT", *unit))
		unit++;
	return digits && !*unit;
}

/* Tell what a number must be: both limits, or of very large ones only that which matters. */
static int refuse_number(const struct tl_option *row, const char *text, int is_above)
{
	int is_size = row->kind == TL_KIND_SIZE, is_count = row->kind == TL_KIND_COUNT;
	unsigned long long limit = is_above ? row->max : row->min;
	int is_in_m = is_size && limit >> 20;

	if (is_size && !limit)
		tl_usage_error("--%s: expected a size, such as 500K, 400M or 2G, found "
			       "'%s'", row->name, text);
	else if (!is_size && row->max < NO_LIMIT)
		tl_usage_error("--%s: expected a number in %llu..%llu, found '%s'", row->name,
			       (unsigned long long)row->min, (unsigned long long)row->max, text);
	else
		tl_usage_error("--%s: expected a %s of at %s %llu%s%s, found '%s'", row->name,
			       is_size ? "size" : "number", is_above ? "most" : "least",
			       is_in_m ? limit >> 20 : limit, is_in_m ? "M" : "",
			       is_above ? "" :
			       is_size	? ", such as 400M or 2G" :
			       is_count ? ", such as 5000 or 20M" :
					  "",
			       text);
	return -1;
}

static int set_number(const struct tl_option *row, void *to, const char *text)
{
	size_t length = strlen(text);
	uint64_t number;
	int rc;

	if (row->kind == TL_KIND_SIZE)
		rc = tl_parse_bytes(text, length, row->max, &number);
	else if (row->kind == TL_KIND_COUNT)
		rc = tl_parse_count(text, length, row->max, &number);
	else
		rc = tl_parse_decimal(text, length, row->max, &number);
	if (rc || number < row->min)
		return refuse_number(row, text, rc && is_number(row, text));
	store_number(row, to, number);
	return 0;
}

static int set_word(const struct tl_option *row, void *to, const char *text)
{
	char known[256] = "";

	for (unsigned i = 0; row->words[i]; i++) {
		if (strcmp(text, row->words[i]) == 0) {
			store_number(row, to, row->min + i);
			return 0;
		}
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i ? ", " : "", row->words[i]);
	}
	tl_usage_error("--%s: expected one of %s, found '%s'", row->name, known, text);
	return -1;
}

/* Returns 0, or -1 after a message. */
static int set(const struct slot *slot, char *text)
{
	const struct tl_option *row = slot->row;
	void *to = slot->base + row->at;
	struct tl_strings *list = to;
	char **larger;

	switch (row->kind) {
	case TL_KIND_FLAG:
		store_number(row, to, row->min);
		return 0;
	case TL_KIND_TEXT:
		memcpy(to, &text, sizeof(text));
		return 0;
	case TL_KIND_NUMBER:
	case TL_KIND_COUNT:
	case TL_KIND_SIZE:
		return set_number(row, to, text);
	case TL_KIND_WORD:
		return set_word(row, to, text);
	case TL_KIND_LIST:
		larger = realloc(list->at, (list->n + 1) * sizeof(*larger));
		if (!larger) {
			tl_error("out of memory");
			return -1;
		}
		list->at = larger;
		larger[list->n++] = text;
		return 0;
	case TL_KIND_CALL:
		return row->call(slot->base, text);
	default:
		return 0;
	}
}

/* ---- the command line ---- */

/* Letters to put in, take away or change to make one word of another; of long ones, the start. */
static size_t edit_distance(const char *a, const char *b)
{
	enum { MAX = 31 };
	size_t n = strlen(a), m = strlen(b), row[MAX + 1], left, above;

	n = n < MAX ? n : MAX;
	m = m < MAX ? m : MAX;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		left = row[0];
		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			above = row[j];
			row[j] = left + (a[i - 1] != b[j - 1]);
			if (above + 1 < row[j])
				row[j] = above + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			left = above;
		}
	}
	return row[m];
}

const char *tl_nearest_word(const char *word, const char *const *words)
{
	const char *nearest = NULL;
	size_t best = strlen(word) < 4 ? 2 : 3, distance; /* so many letters are another word */

	for (; *words; words++) {
		distance = edit_distance(word, *words);
		if (distance < best) {
			best = distance;
			nearest = *words;
		}
	}
	return nearest;
}

/* What other programs call an option of ours; of several the first that a command has. */
static const struct {
	const char *theirs, *ours;
} other_names[] = {
	{ "threshold", "similarity" }, { "threshold", "accept" }, { "column", "text-field" },
	{ "field", "text-field" },     { "jobs", "threads" },	  { "workers", "threads" },
	{ "num-proc", "threads" },     { "distance", "radius" },  { "top", "nearest" },
	{ "delete", "drop-list" },     { "dry-run", "drop-list" },
	{ "hard-link", "drop-list" },  { "move", "drop-list" },   { "max-size", "max-bytes" },
	{ "size-limit", "max-bytes" }, { "maxsize", "max-bytes" },
	{ "text-column", "text-field" }, { "text-key", "text-field" },
	{ "id-column", "id-field" },   { "id-key", "id-field" },  { "num-workers", "threads" },
	{ "hamming", "radius" },       { "reference", "against" }, { "index-dir", "index" },
	{ "output-file", "output" },   { "removed", "dups" },	  { "key", "text-field" },
	{ "link", "drop-list" },       { "log", "rejects" },
	{ "exact", "identical" },      { "omitfirst", "drop-list" }, { "order", "keep" },
};

/* What other programs have and ours do without. */
static const struct {
	const char *theirs, *instead;
} without[] = {
	{ "output", "results go to standard output: > FILE" },
	{ "ext", "find -name '*.txt' | ... --files-from - chooses by names" },
	{ "min-size", "find -size +1k | ... --files-from - chooses by size" },
	{ "minsize", "find -size +1k | ... --files-from - chooses by size" },
	{ "size", "find -size +1k | ... --files-from - chooses by size" },
	{ "include", "find -name '*.txt' | ... --files-from - chooses by names" },
	{ "in-place", "what is read stays as it is; results go to another file" },
	{ "update", "--mode replace stores a row in the place of another one" },
	{ "skip-errors", "rows that cannot be read are skipped, and counted" },
	{ "ignore-case", "upper and lower case are one in texts" },
	{ "progress", "a terminal shows it, unless -q is given" },
	{ "minhash", "there is nothing to choose: doc/text.md" },
	{ "hash", "there is nothing to choose: doc/text.md" },
	{ "lang", "there is nothing to choose: doc/text.md" },
	{ "num-perm", "there is nothing to choose: doc/text.md" },
	{ "seed", "there is nothing to choose: doc/text.md" },
	{ "ngram", "a run has five words always" },
	{ "n-grams", "a run has five words always" },
	{ "ngram-size", "a run has five words always" },
	{ "noempty", "an empty file is near to nothing" },
};

static const char *find_instead(const char *word)
{
	for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++)
		if (strcmp(word, without[i].theirs) == 0)
			return without[i].instead;
	return NULL;
}

static const char *find_other_name(const char *word, const char *const *names)
{
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		for (size_t k = 0; names[k] && strcmp(word, other_names[i].theirs) == 0; k++)
			if (strcmp(names[k], other_names[i].ours) == 0)
				return names[k];
	return NULL;
}

/* Name what was meant by a long option that no one has, or that several could be. */
static void refuse_name(const struct slots *slots, const char *spelled)
{
	size_t length = strcspn(spelled, "="), begins = 0, used = 0, n = 0;
	const char *names[MAX_OPTIONS + 1] = { NULL }, *nearest, *instead;
	char word[64], could[512] = "";

	for (int i = 0; i < slots->n; i++) {
		const char *name = slots->longs[i].name;

		names[n++] = name;
		if (length < 3 || strncmp(name, spelled + 2, length - 2) != 0)
			continue;
		begins++;
		if (used + strlen(name) + 6 < sizeof(could))
			used += (size_t)snprintf(could + used, sizeof(could) - used, "%s--%s",
						 used ? ", " : "", name);
	}
	snprintf(word, sizeof(word), "%.*s", (int)(length > 2 ? length - 2 : 0), spelled + 2);
	for (char *c = word; *c; c++)
		*c = *c == '_' ? '-' : *c;
	instead = find_instead(word);
	nearest = find_other_name(word, names);
	if (!nearest && !instead)
		nearest = tl_nearest_word(word, names);
	if (begins > 1)
		tl_usage_error("option '%s' could be %s", spelled, could);
	else if (nearest)
		tl_usage_error("unknown option '%s'; is --%s meant?", spelled, nearest);
	else if (instead)
		tl_usage_error("unknown option '%s'; %s", spelled, instead);
	else
		tl_usage_error("unknown option '%s'", spelled);
}

static int has_option(const struct slots *slots, const char *name)
{
	for (int i = 0; i < slots->n; i++)
		if (strcmp(slots->longs[i].name, name) == 0)
			return 1;
	return 0;
}

static void refuse(const struct slots *slots, int c, char **argv)
{
	const char *spelled = argv[optind - 1];
	int other_case = isalpha(optopt) ? optopt ^ ('a' ^ 'A') : 0;

	if (c == ':')
		tl_usage_error("option '%s' needs a value", spelled);
	else if (optopt >= BY_NAME)
		tl_usage_error("option '%s' takes no value", spelled);
	else if (optopt && other_case && strchr(slots->shorts, other_case))
		tl_usage_error("unknown option '-%c'; is -%c meant?", optopt, other_case);
	else if (isdigit(optopt))
		tl_usage_error("unknown option '-%c'; '--' goes before arguments that begin "
			       "with '-'",
			       optopt);
	else if (optopt == 'o')
		tl_usage_error("unknown option '-o'; results go to standard output: > FILE");
	else if (optopt == 'j' && has_option(slots, "threads"))
		tl_usage_error("unknown option '-j'; is --threads meant?");
	else if (optopt)
		tl_usage_error("unknown option '-%c'", optopt);
	else
		refuse_name(slots, spelled);
}

/* No file and no index has an empty name; a script wrote "$name" without a value. */
static int refuse_empty(const struct tl_command *command, int n, char **operands)
{
	const char *word = command->operands;
	int length;

	for (int i = 0; i < n; i++) {
		word += *word == '[';
		length = (int)strcspn(word, " .]");
		if (!*operands[i] && strncmp(word, "QUERY", 5) != 0 && strncmp(word, "KEY", 3) != 0)
			return tl_usage_error("%s%s%.*s is empty",
					      command->program ? command->name : "",
					      command->program ? ": " : "", length, word);
		if (strchr(word, ' '))
			word = strchr(word, ' ') + 1;
	}
	return TL_PROCEED;
}

static const char *advise_dash(void)
{
	return isatty(STDIN_FILENO) ? "" : ": '-' is standard input";
}

int tl_refuse_no_input(void)
{
	return tl_usage_error("INPUT is missing%s", advise_dash());
}

/* The number of operands fits, or say what is missing. */
static int check_operands(const struct tl_command *command, int n, char **operands)
{
	const char *word = command->operands, *prefix = command->program ? command->name : "";
	const char *between = command->program ? ": " : "";
	int length, i;

	if (n > command->most && command->most)
		return tl_usage_error("%s%sone argument too many: '%s'", prefix, between,
				      operands[command->most]);
	if (n > command->most)
		return tl_usage_error("%s%stakes no arguments, found '%s'", prefix, between,
				      operands[0]);
	if (n >= command->least)
		return refuse_empty(command, n, operands);
	for (i = 0; i < n && strchr(word, ' '); i++)
		word = strchr(word, ' ') + 1;
	length = (int)strcspn(word, " .");
	return tl_usage_error("%s%s%.*s is missing%s", prefix, between, length, word,
			      strncmp(word, "INPUT", 5) && strncmp(word, "QUERY", 5) ?
				      "" : advise_dash());
}

static int take_all(const struct tl_command *command, const struct slots *slots, int argc,
		    char **argv)
{
	int c, i;

	while ((c = getopt_long(argc, argv, slots->shorts, slots->longs, NULL)) != -1) {
		for (i = 0; i < slots->n && c != BY_NAME + i && c != slots->of[i].row->letter; i++)
			;
		if (c == '?' || c == ':' || i == slots->n) {
			refuse(slots, c, argv);
			return TL_TROUBLE;
		}
		if (slots->of[i].row->kind == TL_KIND_HELP)
			return tl_help_print(command, c >= BY_NAME);
		if (slots->of[i].row->kind == TL_KIND_VERSION)
			return tl_print_version();
		if (slots->of[i].given && !*(const char **)(void *)slots->of[i].given)
			*(const char **)(void *)slots->of[i].given = slots->of[i].row->name;
		if (set(&slots->of[i], optarg))
			return TL_TROUBLE;
	}
	if (command->commands)
		return TL_PROCEED;
	return check_operands(command, argc - optind, argv + optind);
}

int tl_parse(const struct tl_command *command, void *options, void *shared, int argc,
	     char **argv)
{
	struct slots slots = { .n = 0 };

	/* "+": what comes after the name of a command belongs to the command. */
	strcpy(slots.shorts, command->commands ? "+:" : ":");
	add_table(&slots, command->options, options);
	for (int i = 0; i < slots.n; i++)
		if (slots.of[i].row->standard &&
		    set(&slots.of[i], (char *)slots.of[i].row->standard))
			return TL_TROUBLE; /* the table is wrong */
	if (command->program)
		add_table(&slots, command->program->options, shared);
	tl_set_command(command->program ? command->name : NULL);
	opterr = 0;
	optind = 0; /* not 1: getopt_long() then forgets where it was */
	return take_all(command, &slots, argc, argv);
}

const struct tl_command *tl_find_command(const struct tl_command *program, const char *name)
{
	for (const struct tl_command *const *c = program->commands; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

/* ---- values that are read elsewhere ---- */

int tl_option_number(const char *name, const char *text, uint64_t min, uint64_t max,
		     uint64_t *out)
{
	if (!tl_parse_decimal(text, strlen(text), max, out) && *out >= min)
		return 0;
	tl_usage_error("%s: expected a number in %llu..%llu, found '%s'", name,
		       (unsigned long long)min, (unsigned long long)max, text);
	return -1;
}

/* ---- standard output ---- */

int tl_print_version(void)
{
	printf("%s %s\n", tl_program(), simidx_version());
	printf("%s\n", simidx_build_info());
	printf("%s\n", simidx_text_build_info());
	return TL_OK;
}

int tl_output_failed(void)
{
	if (ferror(stdout) && !output_errno)
		output_errno = errno ? errno : EIO;
	return output_errno != 0;
}

int tl_output_closed(void)
{
	return tl_output_failed() && output_errno == EPIPE;
}

int tl_tell_output(void)
{
	output_is_told = 1;
	if (tl_output_closed())
		return tl_error("standard output was closed");
	if (output_errno == EINTR && tl_stop_requested())
		return tl_error("stopped by a signal");
	return tl_error("cannot write to standard output: %s", strerror(output_errno));
}

/* Who has asked to stop does not wait for a reader that does not read: what is left is dropped. */
static void drop_output(int code)
{
	struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

	if (poll(&out, 1, 0) != 0)
		return;
	__fpurge(stdout);
	if (code != TL_TROUBLE && !output_errno)
		output_errno = EINTR;
}

int tl_finish_output(int code)
{
	tl_output_failed();
	if (tl_stop_requested())
		drop_output(code);
	if (fclose(stdout) && !output_errno)
		output_errno = errno;
	if (output_errno == EPIPE)
		return code == TL_TROUBLE && !tl_n_errors() ? TL_OK : code;
	if (!output_errno)
		return code;
	/*
	 * The signal that has ended the command may have cut off a write, too: that is told once.
	 */
	if (tl_stop_requested() && code == TL_TROUBLE && tl_n_errors())
		return code;
	return output_is_told ? TL_TROUBLE : tl_tell_output();
}

int tl_check_distances(int radius, int accept)
{
	if (radius < 0 || accept < 0)
		return 0;
	return tl_usage_error("--radius asks for the plain distance, which --accept has no use "
			      "for");
}

void tl_ignore_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_advice.h"
#include "common/tl_example.h"
#include "common/tl_help.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_others.h"
#include "common/tl_path.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int call_block_index(void *options, const char *value)
{
	struct qr_context *ctx = options;

	if (strcmp(value, "auto") == 0) {
		ctx->block_index = 0;
	} else if (strcmp(value, "never") == 0) {
		ctx->block_index = SIMIDX_BLOCK_INDEX_NEVER;
	} else if (tl_parse_bytes(value, strlen(value), UINT64_MAX / 2, &ctx->block_index) ||
		   !ctx->block_index) {
		return tl_usage_error("--block-index: expected auto, never or a size such as "
				      "400M, found '%s'", value);
	}
	return 0;
}

const char *const qr_kernels[] = { "auto", "scalar", "popcnt", "avx2", "avx512", "neon", NULL };

static const struct tl_option global_rows[] = {
	{ 0, "json", NULL, TL_FLAG(struct qr_context, json),
	  .help = "print JSON, one object a line" },
	{ 'q', "quiet", NULL, TL_FLAG(struct qr_context, quiet),
	  .help = "no progress, notices and summaries" },
	{ 0, "color", "WHEN", TL_WORD(struct qr_context, color, tl_color_words),
	  .standard = "auto", .help = "colours: auto, always or never",
	  .more = "When to mark the digits of fingerprints that differ from the query. auto: "
		  "on a terminal, unless the environment has NO_COLOR; always; never." },
	{ 0, "threads", "N", TL_NUMBER(struct qr_context, threads, 1, TL_MAX_THREADS),
	  .otherwise = "one a core", .help = "search with N threads" },
	{ 0, "static", NULL, TL_FLAG(struct qr_context, is_static),
	  .help = "take no locks, as no one writes to the index",
	  .more = "Take no locks. Only while no one writes to the index, as on a read-only file "
		  "system or if it belongs to another user." },
	{ 0, "force", NULL, TL_FLAG(struct qr_context, force),
	  .help = "accept a network file system, at your own risk" },
	{ 0, "untrusted", NULL, TL_FLAG(struct qr_context, is_untrusted),
	  .help = "check the pages of the file before they are used",
	  .more = "Check the pages of the index file before anything relies on them, as verify "
		  "does always. For an index that others could write or that may be damaged: such "
		  "a file can end the program by a signal otherwise. It takes a quarter of a "
		  "second for 10 million documents." },
	{ 0, "check", NULL, TL_FLAG(struct qr_context, check),
	  .help = "have searches check what they read",
	  .more = "Have searches check each block that they read for the first time, and labels: "
		  "damage ends them with an error instead of wrong answers. The first searches "
		  "take longer. dump, get, backup, compact and verify always check." },
	{ 0, "block-index", "auto|never|SIZE", TL_CALL(call_block_index), .standard = "auto",
	  .help = "memory for block indexes",
	  .more = "Memory for block indexes, which make many searches faster. auto: as "
		  "it pays; never: none; a size such as 400M or 2G: at most this." },
	{ 0, "kernel", "NAME", TL_WORD(struct qr_context, kernel, qr_kernels),
	  .standard = "auto", .help = "compare fingerprints by these instructions",
	  .more = "Compare fingerprints by these instructions. auto is the fastest that the CPU "
		  "has." },
	{ TL_HELP_ROW },
	{ TL_VERSION_ROW },
	{ 0 },
};

static const struct tl_command *const commands[] = {
	&qr_search.line, &qr_get.line,  &qr_dump.line, &qr_export.line, &qr_pairs.line,
	&qr_clusters.line, &qr_stats.line, &qr_verify.line,
	&qr_backup.line, &qr_delete.line, &qr_compact.line, &qr_repair.line, &qr_plan.line,
	&qr_idf.line, &qr_similar.line, &qr_review.line, &qr_help.line,
	NULL,
};

const struct tl_command qr_program = {
	.name = "simidx-query",
	.operands = "[INDEX] [ARGUMENT]...",
	.shortest = "stats INDEX",
	.summary = "search, check and change near-duplicate indexes",
	.about = "Search, inspect and check near-duplicate indexes, the directories that "
		 "simidx-load makes. delete, compact and repair change an index or make one.",
	.options = global_rows,
	.commands = commands,
};

/* ---- help ---- */

/* What other programs call a command of ours, or what does it here. */
static const struct {
	const char *ours, *theirs;
} other_names[] = {
	{ "search", "find grep near query mlt match knn lookup" },
	{ "get", "exists" },
	{ "help", "man usage" },
	{ "dump", "list ls cat print show keys scan select" },
	{ "clusters", "duplicates groups dup dups" },
	{ "stats", "info count size du tables settings schema db-size analyze" },
	{ "verify", "check fsck health integrity-check test validate" },
	{ "backup", "copy cp snapshot clone save bgsave vacuum-into" },
	{ "delete", "remove del" },
	{ "compact", "vacuum shrink optimize reindex gc force-merge" },
	{ "repair", "fix recover rebuild salvage" },
	{ "idf", "tfidf" },
	{ "similar", "similarity compare" },
	{ "delete deletes documents, 'rm -r INDEX' an index", "rm drop" },
	{ "'simidx-query delete --older-than 30d INDEX' deletes what is old", "prune expire" },
	{ "'rm -r INDEX' deletes an index", "flushdb flushall drop-index truncate" },
	{ "'simidx-load INDEX INPUT' makes and fills an index",
	  "load add insert import create new bulk index init put" },
	{ "'simidx-load --mode replace INDEX INPUT' stores rows in the place of others",
	  "update set upsert" },
	{ "'simidx-load --from A --from B NEW' joins indexes, --merge-only INDEX merges what was "
	  "inserted", "merge join union" },
	{ "mv INDEX NEW renames one that no program uses", "rename mv move" },
	{ "'simidx-dedup INPUT' finds near-duplicates among texts", "dedup" },
	{ "diff <(simidx-query dump A) <(simidx-query dump B) compares two indexes, "
	  "'simidx-query similar A B' two texts", "diff" },
	{ "'simidx-query search --explain INDEX QUERY' tells how it is looked up", "explain" },
	{ "'simidx-query similar A B' shows the fingerprints of two texts",
	  "hash simhash fingerprint" },
	{ "'simidx-query dump INDEX' prints all; | head or shuf takes some",
	  "sample head tail top random-key" },
	{ "'simidx-query --version' prints it", "version" },
	{ "'simidx-load --help' explains it", "simidx-load" },
	{ "'simidx-dedup --help' explains it", "simidx-dedup" },
	{ "'dump --format full' of the old program, then 'simidx-load -F full', makes a new index",
	  "upgrade migrate" },
	{ "there is no server: each command reads the index", "serve server watch daemon" },
	{ "a backup is an index: put it where the damaged one was", "restore" },
	{ "what is committed is found at once", "refresh flush commit sync" },
	{ "each command is one of the shell: simidx-query search INDEX --text FILE", "shell" },
};

/* Whether it is one, and no file is so called. */
static int is_fingerprint(const char *word)
{
	return access(word, F_OK) && !word[strspn(word, "0123456789abcdefABCDEF")];
}

/* Whether it is a decimal number and no fingerprint. */
static int is_id(const char *word)
{
	return *word && strlen(word) < 16 && !word[strspn(word, "0123456789")] &&
	       access(word, F_OK);
}

int qr_refuse_command(char *const *argv)
{
	const char *name = argv[0], *next = argv[1];
	const char *names[sizeof(commands) / sizeof(commands[0])] = { NULL }, *nearest;
	char list[256] = "", room[TL_PATH_WORD_SIZE];

	for (size_t i = 0; commands[i]; i++) {
		names[i] = commands[i]->name;
		snprintf(list + strlen(list), sizeof(list) - strlen(list), "%s%s",
			 i ? ", " : "", names[i]);
	}
	nearest = tl_nearest_value(name, names);
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (tl_others_list(other_names[i].theirs, name))
			nearest = other_names[i].ours;
	if (next && tl_find_command(&qr_program, next) && !(nearest && !strcmp(nearest, "help")))
		return tl_usage_error("unknown command '%s'; the command comes first: simidx-query "
				      "%s %s",
				      name, next, strcmp(name, "-") ? name : "...");
	if (tl_path_is_index(name) && tl_example_find("check"))
		tl_example_is("simidx-query verify INDEX");
	if (tl_path_is_index(name))
		return tl_usage_error("'%s' is an index; the command comes first: simidx-query "
				      "%s %s ...", name,
				      tl_example_find("check") ? "verify" : "search", name);
	if (strcmp(name, "dedup") == 0 && next && tl_path_is_index(next))
		nearest = "clusters";
	if (!nearest)
		return tl_usage_error("unknown command '%s'; there are %s", name, list);
	if (strncmp(nearest, "'simidx", 7) == 0)
		tl_example_is(nearest + 1);
	else if (strchr(nearest, ' '))
		tl_example_is("");
	if (strchr(nearest, ' '))
		return tl_usage_error("unknown command '%s'; %s", name, nearest);
	snprintf(list, sizeof(list), "simidx-query %s %s", nearest,
		 tl_find_command(&qr_program, nearest)->shortest);
	if (next && argv[2] && tl_others_list("get dump delete", nearest) && is_id(argv[2]) &&
	    strcasecmp(name, nearest))
		tl_example_mend(name, strlen(name), strcmp(nearest, "delete") ? "get --id" :
								"delete --id");
	else if (next && !argv[2] && strcmp(nearest, "repair") == 0 &&
		 snprintf(list, sizeof(list), "simidx-query repair %s NEW",
			  tl_path_word(next, room)) > 0)
		tl_example_is(list);
	else if (next && (strcmp(nearest, "search") || (argv[2] && is_fingerprint(argv[2]))))
		tl_example_mend(name, strlen(name), nearest);
	else
		tl_example_is(list);
	return tl_usage_error("unknown command '%s'; is %s meant?", name, nearest);
}

static int run_help(struct qr_context *ctx)
{
	const char *name = ctx->operands[0];
	const struct tl_command *command = name ? tl_find_command(&qr_program, name) : &qr_program;

	if (command)
		return tl_help_print(command, 1);
	tl_set_command(NULL);
	return qr_refuse_command((char *[]){ ctx->operands[0], NULL });
}

static const struct tl_option help_rows[] = {
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: printed. 2: there is no such command.") },
	{ 0 },
};

const struct qr_command qr_help = {
	.line = { .name = "help", .operands = "[COMMAND]", .most = 1,
		  .shortest = "search",
		  .summary = "print what --help prints, of a command or of the program",
		  .options = help_rows, .program = &qr_program },
	.run = run_help,
};

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "quality/qu_options.h"

#include <limits.h>

#include "bn_util.h"

#define MOST_OWN 16

struct qu_options qu_options_init(void)
{
	return (struct qu_options){ .plan = "4x16", .dir = "/tmp", .seeds = 3 };
}

int qu_parse(struct qu_options *options, const struct bn_option *own, const char *about,
	     const char *more, int argc, char **argv)
{
	const struct bn_option common[] = {
		{ 's', "seeds", "N", BN_COUNT, &options->seeds, "(3)" },
		{ 'p', "plan", "PLAN", BN_TEXT, &options->plan, "of the indexes (4x16)" },
		{ 't', "text-field", "NAME", BN_TEXT, &options->text_field,
		  "member of the rows that has the text (text)" },
		{ 'd', "dir", "DIR", BN_TEXT, &options->dir, "for temporary indexes (/tmp)" },
	};
	const size_t n_common = sizeof(common) / sizeof(common[0]);
	struct bn_option all[MOST_OWN + sizeof(common) / sizeof(common[0]) + 1] = { 0 };
	const struct bn_usage usage = {
		.operands = "PREFIX...",
		.least = 1,
		.most = INT_MAX,
		.about = about,
		.options = all,
		.more = more,
	};
	size_t n = 0;

	for (; own[n].name; n++) {
		if (n == MOST_OWN)
			bn_die("more than %d options", MOST_OWN);
		all[n] = own[n];
	}
	for (size_t i = 0; i < n_common; i++)
		all[n + i] = common[i];
	return bn_parse(&usage, argc, argv);
}

void qu_read_labelled(struct qu_set *set, const char *prefix, const struct qu_options *options)
{
	qu_set_read(set, prefix, options->text_field);
	if (set->is_of_edits)
		bn_die("%s: a collection of edits", set->name);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_causes.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"

#include <stdio.h>

/* Of fewer rows than one in so many the rows are wrong, and not the options. */
#define WRONG_SHARE 4

/* What the first row without the field has instead, and the option for it. */
static void write_advice(const struct in_causes *causes, char *out, size_t size)
{
	if (!*causes->names)
		snprintf(out, size, ", which has no strings");
	else if (*causes->longest)
		snprintf(out, size, ", whose strings are %s; the longest one: --text-field '%s'",
			 causes->names, causes->longest);
	else
		snprintf(out, size, ", whose strings are %s: --text-field names one",
			 causes->names);
}

/* "1,204 rows have no "text"". */
static void write_count(const struct in_causes *causes, enum in_cause cause, char *out, size_t size)
{
	uint64_t n = causes->cause[cause].n;
	const char *rows_have = tl_counted(n, "row has", "rows have");

	switch (cause) {
	case IN_NO_FIELD:
		snprintf(out, size, "%s no %s", rows_have, causes->field);
		break;
	case IN_NO_STRING:
		snprintf(out, size, "%s a %s that is no string", rows_have, causes->field);
		break;
	case IN_NAMES:
		snprintf(out, size, "%s like a header, and %s taken as a text: --header",
			 tl_counted(n, "line looks", "lines look"), n == 1 ? "was" : "were");
		break;
	case IN_NO_OBJECT:
		snprintf(out, size, "%s",
			 tl_counted(n, "line is no JSON object", "lines are no JSON objects"));
		break;
	default:
		snprintf(out, size, "%s too few columns", rows_have);
	}
}

/* Members that options name and no row has. */
static void tell_unseen(const struct in_causes *causes)
{
	const struct in_columns *columns = causes->unseen_of;
	struct in_name names[IN_MOST_TEXTS];
	size_t n = columns && columns->text ? in_columns_names(columns->text, names) : 0;

	if (causes->unseen & IN_UNSEEN_ID)
		tl_notice("no row has \"%s\" (--id-field)", columns->id);
	if (causes->unseen & IN_UNSEEN_LABEL)
		tl_notice("no row has \"%s\" (--label-field)", columns->label);
	if (causes->unseen & IN_UNSEEN_TIME)
		tl_notice("no row has \"%s\" (--time): all times are unknown", columns->time);
	for (size_t i = 0; i < n; i++)
		if (causes->unseen & (uint32_t)IN_UNSEEN_TEXT << i)
			tl_notice("no row has \"%.*s\" (--text-field)", (int)names[i].size,
				  names[i].name);
}

void in_causes_tell(const struct in_causes *causes, uint64_t rows)
{
	char count[160], advice[512];

	for (int i = 0; i < IN_N_CAUSES; i++) {
		if (!causes->cause[i].n)
			continue;
		write_count(causes, (enum in_cause)i, count, sizeof(count));
		*advice = '\0';
		if ((i == IN_NO_FIELD || (i == IN_NO_STRING && *causes->names)) &&
		    causes->cause[i].n >= rows / WRONG_SHARE)
			write_advice(causes, advice, sizeof(advice));
		if (i == IN_NO_OBJECT)
			snprintf(advice, sizeof(advice), "; a line is one object, such as {%s}",
				 "\"text\": \"some words\"");
		tl_notice("%s (%s%s%s)", count, causes->cause[i].n == 1 ? "" : "first: ",
			  causes->cause[i].first, advice);
	}
	tell_unseen(causes);
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_causes.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"

#include <stdio.h>
#include <string.h>

/* Of fewer rows than one in so many the rows are wrong, and not the options. */
#define WRONG_SHARE 4

/* What the first row without the field has instead, and the option for it. */
static void write_advice(const struct in_causes *causes, char *out, size_t size)
{
	if (!*causes->names)
		snprintf(out, size, ", which has no strings");
	else if (*causes->longest)
		snprintf(out, size, ", whose strings are %s; %s '%s'", causes->names,
			 causes->longest_is_fp ? "a fingerprint: --fp-field" :
						 "the longest one: --text-field", causes->longest);
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

size_t in_causes_names(const struct in_columns *columns,
		       struct in_name names[IN_CAUSES_TEXTS + IN_MOST_TEXTS])
{
	const char *const one[IN_CAUSES_TEXTS] = { columns->id, columns->label, columns->time,
						   columns->value };

	for (size_t i = 0; i < IN_CAUSES_TEXTS; i++)
		names[i] = (struct in_name){ one[i], one[i] ? strlen(one[i]) : 0 };
	return IN_CAUSES_TEXTS + (columns->text && strchr(columns->text, ',') ?
				  in_columns_names(columns->text, names + IN_CAUSES_TEXTS) : 0);
}

/* Members that options name and no row has. */
static void tell_unseen(const struct in_causes *causes)
{
	static const char *const options[] = { "--id-field", "--label-field",
					       "--time",
					       "--keep", "--text-field" };
	struct in_name names[IN_CAUSES_TEXTS + IN_MOST_TEXTS];
	size_t n = causes->unseen ? in_causes_names(causes->unseen_of, names) : 0;

	for (size_t i = 0; i < n; i++)
		if (causes->unseen >> i & 1)
			tl_notice("no row has \"%.*s\" (%s)%s; the first one has %s",
				  (int)names[i].size, names[i].name,
				  options[i < IN_CAUSES_TEXTS ? i : IN_CAUSES_TEXTS],
				  causes->unseen_of->time == names[i].name ?
					  ": all times are unknown" : "",
				  *causes->members ? causes->members : "none");
}

void in_causes_tell(const struct in_causes *causes, uint64_t rows)
{
	char count[160], advice[512];
	const char *first;

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
		first = causes->cause[i].n == 1 ? "" : "first: ";
		/* Where another field is right it is no matter of single rows. */
		if (*advice == ',' && *causes->longest)
			tl_error("%s (%s%s%s)", count, first, causes->cause[i].first, advice);
		else
			tl_notice("%s (%s%s%s)", count, first, causes->cause[i].first, advice);
	}
	tell_unseen(causes);
}

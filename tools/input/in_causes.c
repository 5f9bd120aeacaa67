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
	int is_one = n == 1;
	const char *count = tl_count(n);

	switch (cause) {
	case IN_NO_FIELD:
		snprintf(out, size, "%s row%s no %s", count, is_one ? " has" : "s have",
			 causes->field);
		break;
	case IN_NO_STRING:
		snprintf(out, size, "%s row%s a %s that is no string", count,
			 is_one ? " has" : "s have", causes->field);
		break;
	case IN_NO_LABEL:
		snprintf(out, size, "no row has the member that --label-field names");
		break;
	case IN_NAMES:
		snprintf(out, size, "%s line%s like a header, and %s taken as a text: --header",
			 count, is_one ? " looks" : "s look", is_one ? "was" : "were");
		break;
	case IN_NO_OBJECT:
		snprintf(out, size, "%s line%s", count,
			 is_one ? " is no JSON object" : "s are no JSON objects");
		break;
	default:
		snprintf(out, size, "%s row%s too few columns", count,
			 is_one ? " has" : "s have");
	}
}

void in_causes_tell(const struct in_causes *causes, uint64_t rows)
{
	char count[160], advice[512];

	for (int i = 0; i < IN_N_CAUSES; i++) {
		if (!causes->cause[i].n || (i == IN_NO_LABEL && causes->cause[i].n < rows))
			continue;
		write_count(causes, (enum in_cause)i, count, sizeof(count));
		*advice = '\0';
		if (i == IN_NO_FIELD && causes->cause[i].n >= rows / WRONG_SHARE)
			write_advice(causes, advice, sizeof(advice));
		if (i == IN_NO_LABEL)
			tl_notice("%s", count);
		else
			tl_notice("%s (%s%s%s)", count, causes->cause[i].n == 1 ? "" : "first: ",
				  causes->cause[i].first, advice);
	}
}

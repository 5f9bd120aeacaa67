/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "input/in_causes.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"

#include <stdio.h>

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

void in_causes_tell(const struct in_causes *causes)
{
	static const char *const one[IN_N_CAUSES] = {
		[IN_NO_FIELD] = "row has no %s",
		[IN_NO_STRING] = "row has a %s that is no string",
		[IN_NO_OBJECT] = "line is no JSON object",
		[IN_FEW_COLUMNS] = "row has too few columns",
	};
	static const char *const many[IN_N_CAUSES] = {
		[IN_NO_FIELD] = "rows have no %s",
		[IN_NO_STRING] = "rows have a %s that is no string",
		[IN_NO_OBJECT] = "lines are no JSON objects",
		[IN_FEW_COLUMNS] = "rows have too few columns",
	};
	char n[TL_NUMBER_SIZE], what[128], advice[512];

	for (int i = 0; i < IN_N_CAUSES; i++) {
		if (!causes->cause[i].n)
			continue;
		snprintf(what, sizeof(what), causes->cause[i].n == 1 ? one[i] : many[i],
			 causes->field);
		*advice = '\0';
		if (i == IN_NO_FIELD)
			write_advice(causes, advice, sizeof(advice));
		tl_notice("%s %s (%s%s%s)", tl_write_count(causes->cause[i].n, n), what,
			  causes->cause[i].n == 1 ? "" : "first: ", causes->cause[i].first, advice);
	}
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_value.h"

#include "common/tl_advice.h"
#include "common/tl_example.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_others.h"
#include "common/tl_path.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Above this a limit means nothing to a reader: messages leave it out. */
#define NO_LIMIT ((uint64_t)1 << 48)

/* So few milliseconds are rather meant to be seconds. */
#define FEW_MS 10

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
	else if (row->kind != TL_KIND_NUMBER && digits && *unit == 'e' && unit[1])
		unit += 1 + strspn(unit + 1, "0123456789");
	return digits && !*unit;
}

/* A file or index stands where a value should. */
#define IS_NAME ", the name of a file or index: "

/* A size or count with its unit as other programs write it: 10k, 5MB, 2GiB. NULL: it is none. */
static const char *nearest_number(const struct tl_option *row, const char *text)
{
	static char right[32];
	size_t n = strspn(text, "0123456789");

	if (row->kind == TL_KIND_NUMBER || !n || n > 18 || !isalpha((unsigned char)text[n]) ||
	    !tl_others_list("k m g t kb mb gb tb kib mib gib tib", text + n))
		return NULL;
	snprintf(right, sizeof(right), "%.*s%c", (int)n, text, toupper((unsigned char)text[n]));
	return strcmp(right, text) ? right : NULL;
}

/* Tell what a number must be: both limits, or of very large ones only that which matters. */
static int refuse_number(const struct tl_option *row, const char *text, int is_above)
{
	int is_size = row->kind == TL_KIND_SIZE, is_count = row->kind == TL_KIND_COUNT;
	unsigned long long limit = is_above ? row->max : row->min;
	int is_in_m = is_size && limit >> 20;
	const char *without = row->otherwise ? "; without it: " : "";
	const char *what = row->otherwise ? row->otherwise : "";

	if (!is_above && nearest_number(row, text)) {
		what = nearest_number(row, text);
		tl_example_mend(text, strlen(text), what);
		return tl_usage_error("--%s: found '%s'; is %s meant?", row->name, text, what);
	}
	if (access(text, F_OK) == 0) {
		without = IS_NAME;
		what = "the value is missing";
	} else if (row->letter == 'k' && isalpha((unsigned char)*text) &&
		   tl_example_has("text-field")) {
		without = "; a field is named by ";
		what = "--text-field";
		tl_example_mend_option(row->name, what);
	}
	if (is_size && !limit)
		return tl_usage_error("--%s: expected a size, such as 500K, 400M or 2G, found "
				      "'%s'%s%s", row->name, text, without, what);
	if (!is_size && row->max < NO_LIMIT)
		return tl_usage_error("--%s: expected a number%s in %llu..%llu, found '%s'%s%s",
				      row->name,
				      row->value && strcmp(row->value, "MS") == 0 ?
					      " of milliseconds" : "",
				      (unsigned long long)row->min,
				      (unsigned long long)row->max, text, without, what);
	return tl_usage_error("--%s: expected a %s of at %s %llu%s%s, found '%s'%s%s", row->name,
			      is_size ? "size" : "number", is_above ? "most" : "least",
			      is_in_m ? limit >> 20 : limit, is_in_m ? "M" : "",
			      is_above ? "" :
			      is_size  ? ", such as 400M or 2G" :
			      is_count ? ", such as 5000, 20M or 1e7" :
					 "",
			      text, without, what);
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
	if (row->value && strcmp(row->value, "MS") == 0 && number && number < FEW_MS)
		tl_notice("--%s %s is in milliseconds", row->name, text);
	return 0;
}

static int set_word(const struct tl_option *row, void *to, const char *text)
{
	char known[256] = "";
	const char *meant, *instead;
	/* Of output, for which other programs have it, --json is the option. */
	int may_be_output = row->letter == 'F' && tl_others_list("json", text) &&
			    strcmp(tl_program(), "simidx-load");

	for (unsigned i = 0; row->words[i]; i++) {
		if (strcmp(text, row->words[i]) == 0) {
			store_number(row, to, row->min + i);
			return 0;
		}
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i ? ", " : "", row->words[i]);
	}
	meant = tl_nearest_value(text, row->words);
	instead = meant ? NULL : tl_others_instead(text, row->words);
	if (strcmp(row->name, "merge") == 0 && tl_path_is_index(text))
		tl_example_is("simidx-load --merge-only INDEX");
	if (meant && !may_be_output)
		tl_example_mend(text, strlen(text), meant);
	return tl_usage_error("--%s: expected one of %s, found '%s'%s%s%s%s", row->name, known,
			      text, meant ? "; is " : instead ? "; " : "",
			      meant ? meant : instead ? instead : "", meant ? " meant?" : "",
			      may_be_output ? " --json is about what is printed" :
			      !meant && access(text, F_OK) == 0 ? IS_NAME "the value is missing" :
								  "");
}

int tl_value_set(const struct tl_option *row, char *base, char *text)
{
	void *to = base + row->at;
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
		if (!larger)
			return tl_error("out of memory");
		list->at = larger;
		larger[list->n++] = text;
		return 0;
	case TL_KIND_CALL:
		return row->call(base, text);
	default:
		return 0;
	}
}

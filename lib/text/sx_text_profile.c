/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * A profile is a line of words: the extractor's name, the version of all that is done here, and
 * then "key=value", always in this order. Keys that are not there are at "no". Any difference
 * between two profiles may make different fingerprints, so the order and the spelling are part
 * of the version.
 */

#include "text/sx_text_profile.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/sx_err.h"

#define VERSION "v1"

/* The hash of features, and of everything here. */
#define HASH "hash=xxh3-64"

/* The second fingerprint is made from runs of three; without it, from the same features. */
#define TRIPLES_VALUE "triples"
#define TRIPLES "fp2=" TRIPLES_VALUE

/* ------------------------------------------------------------------------------------------
 * Writing
 */

/** Append; SX_PROFILE_SIZE has room for all keys at their longest. */
__attribute__((format(printf, 3, 4))) static void add(char profile[SX_PROFILE_SIZE], size_t *n,
						      const char *format, ...)
{
	va_list ap;
	int printed;

	va_start(ap, format);
	printed = vsnprintf(profile + *n, SX_PROFILE_SIZE - *n, format, ap);
	va_end(ap);
	if (printed > 0 && (size_t)printed < SX_PROFILE_SIZE - *n)
		*n += (size_t)printed;
}

static void add_list(char profile[SX_PROFILE_SIZE], size_t *n, const char *key,
		     const sx_given *given)
{
	if (given->data)
		add(profile, n, " %s=%016" PRIx64, key, given->hash);
}

void sx_text_profile_format(char profile[SX_PROFILE_SIZE], const sx_settings *s)
{
	const char *separator = "=";
	size_t n = 0;
	unsigned gram;

	add(profile, &n, "%s " VERSION " bits=%u grams", s->name, s->bits);
	for (gram = 1; gram <= s->max_gram; gram++) {
		if (s->grams >> (gram - 1) & 1) {
			add(profile, &n, "%s%u", separator, gram);
			separator = ",";
		}
	}
	add(profile, &n, " weights=%s " HASH " seed=%" PRIu64, sx_weights_names[s->weights],
	    s->seed);
	if (s->triples)
		add(profile, &n, " " TRIPLES);
	if (s->top == SIMIDX_TEXT_TOP_AUTO)
		add(profile, &n, " top=auto");
	else if (s->top != SIMIDX_TEXT_TOP_ALL)
		add(profile, &n, " top=%u", (unsigned)s->top);
	if (s->stop)
		add(profile, &n, " stop=%s%s%s", s->stop & SX_STOP_EN ? "en" : "",
		    s->stop == (SX_STOP_EN | SX_STOP_ZH) ? "," : "",
		    s->stop & SX_STOP_ZH ? "zh" : "");
	add_list(profile, &n, "stop-words", &s->stop_words);
	add_list(profile, &n, "words", &s->words);
	add_list(profile, &n, "idf", &s->idf);
	if (*s->stem)
		add(profile, &n, " stem=%s", s->stem);
	if (s->exact)
		add(profile, &n, " exact=%u", (unsigned)s->min_tokens);
}

/* ------------------------------------------------------------------------------------------
 * Reading
 */

/** The value of a key, which ends at a blank or the end; NULL if it is not there. */
static const char *find(const char *profile, const char *key, size_t *size)
{
	size_t n = strlen(key);
	const char *at = profile;

	while ((at = strchr(at, ' ')) != NULL) {
		at++;
		if (!strncmp(at, key, n) && at[n] == '=') {
			*size = strcspn(at + n + 1, " ");
			return at + n + 1;
		}
	}
	*size = 0;
	return NULL;
}

/** Copy a value that fits; what does not fit is not one of ours and stays out. */
static const char *copy(const char *profile, const char *key, char *out, size_t room)
{
	size_t size;
	const char *value = find(profile, key, &size);

	if (!value || size >= room)
		return NULL;
	memcpy(out, value, size);
	out[size] = '\0';
	return out;
}

static unsigned read_grams(const char *profile)
{
	size_t size;
	const char *value = find(profile, "grams", &size);
	const char *end = value + size;
	unsigned grams = 0;
	unsigned long n;
	char *next;

	while (value && value < end) {
		n = strtoul(value, &next, 10);
		if (next == value || n < 1 || n > SIMIDX_TEXT_MAX_GRAM)
			return 0;
		grams |= 1u << (n - 1);
		value = next + (*next == ',');
	}
	return grams;
}

static uint64_t read_seed(const char *profile)
{
	size_t size;
	const char *value = find(profile, "seed", &size);

	return value ? strtoull(value, NULL, 10) : 0;
}

int sx_text_profile_has_triples(const char *profile)
{
	size_t size;
	const char *value = find(profile, "fp2", &size);

	return value && size == strlen(TRIPLES_VALUE) && !memcmp(value, TRIPLES_VALUE, size);
}

static uint32_t read_number(const char *profile, const char *key)
{
	size_t size;
	const char *value = find(profile, key, &size);
	unsigned long n = value ? strtoul(value, NULL, 10) : 0;

	return n < SIMIDX_TEXT_TOP_AUTO ? (uint32_t)n : 0;
}

static uint32_t read_top(const char *profile)
{
	size_t size;
	const char *value = find(profile, "top", &size);

	if (!value)
		return SIMIDX_TEXT_TOP_ALL;
	if (size == 4 && !memcmp(value, "auto", 4))
		return SIMIDX_TEXT_TOP_AUTO;
	return read_number(profile, "top");
}

int sx_text_profile_read(const char *profile, unsigned bits, simidx_text_options *o,
		    sx_profile_strings *strings, simidx_error *err)
{
	static const char version[] = " " VERSION " ";
	size_t length = profile ? strcspn(profile, " ") : 0;

	if (!length)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index holds bare fingerprints: it does not say how texts "
			       "become fingerprints");
	if (length < sizeof(strings->name)) {
		memcpy(strings->name, profile, length);
		strings->name[length] = '\0';
	}
	if (length >= sizeof(strings->name) ||
	    strncmp(profile + length, version, strlen(version)) != 0 ||
	    !sx_extractor_is_known(strings->name))
		return sx_fail(err, SIMIDX_E_UNSUPPORTED,
			       "the index needs the extractor \"%.64s\", unknown here", profile);
	if (!o->extractor)
		o->extractor = strings->name;
	if (!o->bits)
		o->bits = bits;
	if (!o->grams)
		o->grams = read_grams(profile);
	if (!o->weights)
		o->weights = copy(profile, "weights", strings->weights, sizeof(strings->weights));
	if (!o->top)
		o->top = read_top(profile);
	if (!o->seed && !o->seed_given)
		o->seed = read_seed(profile);
	if (!o->stop)
		o->stop = copy(profile, "stop", strings->stop, sizeof(strings->stop));
	if (!o->stem)
		o->stem = copy(profile, "stem", strings->stem, sizeof(strings->stem));
	if (read_number(profile, "exact")) {
		o->short_exact = 1;
		if (!o->min_tokens)
			o->min_tokens = read_number(profile, "exact");
	}
	return SIMIDX_OK;
}

/* ------------------------------------------------------------------------------------------
 * Comparing
 */

/** The word of a profile that has this word's key; the first word of all is the key "". */
static const char *counterpart(const char *profile, const char *word, size_t key, size_t *size)
{
	const char *at = profile + strcspn(profile, " ");

	for (*size = (size_t)(at - profile); key && *at; at += *size) {
		at += *at == ' ';
		*size = strcspn(at, " ");
		if (*size >= key && !memcmp(at, word, key) && (*size == key || at[key] == '='))
			return at;
	}
	return key ? NULL : profile;
}

/**
 * The first word of a profile that is not in another one, NULL if there is none; and what
 * stands there instead, NULL if nothing does.
 */
static const char *difference(const char *profile, const char *from, size_t *size,
			      const char **instead, size_t *instead_size)
{
	const char *at = profile;
	size_t key;

	for (; *at; at += *size) {
		at += *at == ' ';
		*size = strcspn(at, " ");
		key = at == profile ? 0 : strcspn(at, "= ");
		*instead = counterpart(from, at, key, instead_size);
		if (!*instead || *size != *instead_size || memcmp(at, *instead, *size) != 0)
			return at;
	}
	return NULL;
}

int sx_text_profile_check(const char *stored, const char *own, simidx_error *err)
{
	const char *word, *instead;
	size_t size, instead_size;

	if (!strcmp(stored, own))
		return SIMIDX_OK;
	word = difference(stored, own, &size, &instead, &instead_size);
	if (word && instead)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index makes fingerprints with %.*s, not with %.*s",
			       (int)size, word, (int)instead_size, instead);
	if (word)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index makes fingerprints with %.*s, which was not given",
			       (int)size, word);
	word = difference(own, stored, &size, &instead, &instead_size);
	if (word)
		return sx_fail(err, SIMIDX_E_MISMATCH,
			       "the index makes fingerprints without %.*s", (int)size, word);
	return sx_fail(err, SIMIDX_E_UNSUPPORTED,
		       "the profile \"%.160s\" of the index is in another order", stored);
}

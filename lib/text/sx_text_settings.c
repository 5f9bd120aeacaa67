/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_settings.h"

#include <stdio.h>
#include <string.h>

#include "util/sx_err.h"

/* N-grams of these lengths are features: bits of sx_settings.grams. */
#define GRAMS_1 1u
#define GRAMS_1_2 3u

#define TFIDF_TOP 20

static const struct extractor {
	const char *name;
	enum sx_tokens tokens;
	unsigned grams; /* 0: in the name */
	enum sx_weights weights;
	int triples;
	uint32_t top;
} extractors[] = {
	{ "words12", SX_TOKENS_WORDS, GRAMS_1_2, SX_SQRT, 1, SIMIDX_TEXT_TOP_ALL },
	{ "words1", SX_TOKENS_WORDS, GRAMS_1, SX_SQRT, 0, SIMIDX_TEXT_TOP_ALL },
	{ "han12", SX_TOKENS_HAN, GRAMS_1_2, SX_SQRT, 0, SIMIDX_TEXT_TOP_ALL },
	{ "unspaced12", SX_TOKENS_UNSPACED, GRAMS_1_2, SX_SQRT, 0, SIMIDX_TEXT_TOP_ALL },
	{ "tfidf", SX_TOKENS_WORDS, GRAMS_1, SX_TFIDF, 0, TFIDF_TOP },
	{ "char-", SX_TOKENS_CHARS, 0, SX_SQRT, 0, SIMIDX_TEXT_TOP_ALL },
};

#define N_EXTRACTORS (sizeof(extractors) / sizeof(extractors[0]))
#define KNOWN_EXTRACTORS "words12, words1, han12, unspaced12, tfidf, char-N with N = 1..16"

/* In the order of the enum. */
const char *const sx_weights_names[] = { "sqrt", "log", "raw", "binary", "tfidf" };

#define N_WEIGHTS (sizeof(sx_weights_names) / sizeof(sx_weights_names[0]))

/* The N of "char-N", as it is written: no sign, no zero in front. 0 if it is none. */
static unsigned read_gram(const char *digits)
{
	unsigned n = 0;

	if (digits[0] >= '1' && digits[0] <= '9')
		n = (unsigned)(digits[0] - '0');
	if (n && digits[1] >= '0' && digits[1] <= '9') {
		n = 10 * n + (unsigned)(digits[1] - '0');
		digits++;
	}
	return n && !digits[1] && n <= SIMIDX_TEXT_MAX_GRAM ? n : 0;
}

/** The extractor of a name, and its N; NULL if there is none. */
static const struct extractor *find_extractor(const char *name, unsigned *gram)
{
	for (const struct extractor *e = extractors; e < extractors + N_EXTRACTORS; e++) {
		*gram = 0;
		if (!e->grams && !strncmp(name, e->name, strlen(e->name)))
			*gram = read_gram(name + strlen(e->name));
		if (*gram || (e->grams && !strcmp(name, e->name)))
			return e;
	}
	return NULL;
}

int sx_extractor_is_known(const char *name)
{
	unsigned gram;

	return find_extractor(name, &gram) != NULL;
}

/* Name, tokens and what the extractor has as its defaults. */
static int set_extractor(sx_settings *s, const char *name, simidx_error *err)
{
	unsigned gram;
	const struct extractor *e = find_extractor(name, &gram);

	if (!e)
		return sx_fail(err, SIMIDX_E_ARG, "unknown extractor \"%.64s\"; known: %s", name,
			       KNOWN_EXTRACTORS);
	snprintf(s->name, sizeof(s->name), "%s", name);
	s->tokens = e->tokens;
	s->grams = gram ? 1u << (gram - 1) : e->grams;
	s->weights = e->weights;
	s->triples = e->triples;
	s->top = e->top;
	return SIMIDX_OK;
}

static int set_grams(sx_settings *s, unsigned grams, simidx_error *err)
{
	unsigned n;

	if (grams && s->tokens == SX_TOKENS_CHARS && grams != s->grams)
		return sx_fail(err, SIMIDX_E_ARG,
			       "the name of the extractor char-N says which n-grams it takes");
	if (grams >> SIMIDX_TEXT_MAX_GRAM)
		return sx_fail(err, SIMIDX_E_ARG, "n-grams of more than %d tokens",
			       SIMIDX_TEXT_MAX_GRAM);
	if (grams)
		s->grams = grams;
	for (n = 1; n <= SIMIDX_TEXT_MAX_GRAM; n++)
		if (s->grams >> (n - 1) & 1)
			s->max_gram = n;
	return SIMIDX_OK;
}

static int set_weights(sx_settings *s, const char *name, simidx_error *err)
{
	size_t i;

	for (i = 0; name && i < N_WEIGHTS; i++)
		if (!strcmp(name, sx_weights_names[i]))
			break;
	if (name && i == N_WEIGHTS)
		return sx_fail(err, SIMIDX_E_ARG,
			       "unknown weights \"%.64s\"; known: sqrt, log, raw, binary, tfidf",
			       name);
	if (name)
		s->weights = (enum sx_weights)i;
	if (s->weights == SX_TFIDF && s->tokens == SX_TOKENS_CHARS)
		return sx_fail(err, SIMIDX_E_ARG, "the weights tfidf are of words, and the "
			       "extractor char-N takes characters");
	if (s->weights == SX_TFIDF && !s->idf.data)
		return sx_fail(err, SIMIDX_E_ARG,
			       "the weights tfidf need a dictionary of lines \"word idf\"");
	if (s->weights != SX_TFIDF && s->idf.data)
		return sx_fail(err, SIMIDX_E_ARG,
			       "a dictionary of lines \"word idf\" is for the weights tfidf");
	return SIMIDX_OK;
}

static int set_stop(sx_settings *s, const char *names, simidx_error *err)
{
	size_t n;

	for (; names && *names; names += n + (names[n] == ',')) {
		n = strcspn(names, ",");
		if (n == 2 && !memcmp(names, "en", 2))
			s->stop |= SX_STOP_EN;
		else if (n == 2 && !memcmp(names, "zh", 2))
			s->stop |= SX_STOP_ZH;
		else
			return sx_fail(err, SIMIDX_E_ARG,
				       "unknown list of stop words \"%.64s\"; known: en, zh",
				       names);
	}
	return SIMIDX_OK;
}

static int set_stem(sx_settings *s, const char *language, simidx_error *err)
{
	size_t n = language ? strlen(language) : 0;

	if (!n)
		return SIMIDX_OK;
	if (n >= sizeof(s->stem) ||
	    strspn(language, "abcdefghijklmnopqrstuvwxyz_0123456789") != n)
		return sx_fail(err, SIMIDX_E_ARG, "\"%.64s\" is no language that libstemmer "
						  "knows", language);
	if (s->tokens == SX_TOKENS_CHARS)
		return sx_fail(
			err, SIMIDX_E_ARG,
			"stems are those of words, and the extractor char-N takes characters");
	memcpy(s->stem, language, n + 1);
	return SIMIDX_OK;
}

static int set_list(sx_given *given, const char *data, size_t size, simidx_error *err)
{
	if (!data)
		return SIMIDX_OK;
	if (size > SX_TEXT_MAX)
		return sx_fail(err, SIMIDX_E_RANGE, "a list of %zu bytes is longer than %zu",
			       size, SX_TEXT_MAX);
	given->data = data;
	given->size = size;
	given->hash = simidx_feature_hash(data, size);
	return SIMIDX_OK;
}

static int set_lists(sx_settings *s, const simidx_text_options *o, simidx_error *err)
{
	int rc = set_stop(s, o->stop, err);

	if (!rc)
		rc = set_list(&s->stop_words, o->stop_words, o->stop_words_size, err);
	if (!rc)
		rc = set_list(&s->words, o->words, o->words_size, err);
	if (!rc)
		rc = set_list(&s->idf, o->idf, o->idf_size, err);
	s->idf.name = o->idf_name ? o->idf_name : "IDF dictionary";
	if (!rc && s->tokens == SX_TOKENS_CHARS &&
	    (s->stop || s->stop_words.data || s->words.data))
		rc = sx_fail(err, SIMIDX_E_ARG,
			     "lists are of words, and the extractor char-N takes characters");
	return rc;
}

int sx_settings_make(sx_settings *s, const simidx_text_options *o, simidx_error *err)
{
	int rc;

	memset(s, 0, sizeof(*s));
	s->bits = o->bits ? o->bits : SIMIDX_DEFAULT_BITS;
	if (s->bits < SIMIDX_MIN_BITS || s->bits > SIMIDX_MAX_BITS)
		return sx_fail(err, SIMIDX_E_ARG, "fingerprints of %u bits; %d..%d are possible",
			       s->bits, SIMIDX_MIN_BITS, SIMIDX_MAX_BITS);
	rc = set_extractor(s, o->extractor ? o->extractor : "words12", err);
	if (!rc)
		rc = set_grams(s, o->grams, err);
	if (!rc)
		rc = set_lists(s, o, err);
	if (!rc)
		rc = set_weights(s, o->weights, err);
	if (!rc)
		rc = set_stem(s, o->stem, err);
	if (o->top)
		s->top = o->top;
	/* Few features, or those of a subject, are not meant to tell copies. */
	if (s->weights == SX_TFIDF || s->top != SIMIDX_TEXT_TOP_ALL)
		s->triples = 0;
	s->min_tokens = o->min_tokens ? o->min_tokens : SIMIDX_SHORT_TOKENS;
	s->exact = o->short_exact != 0;
	s->seed = o->seed;
	return rc;
}

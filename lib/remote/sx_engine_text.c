/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The text of an index of fingerprints with 64 bits is:
 *
 *	simidx 1
 *	bits 64
 *	plan 4x16
 *	flags fp2+times
 *	check_fps 2 0123456789abcdef fedcba9876543210
 *	profile 5
 *	words
 *
 * `flags` has "fp2", "times", both as above, or "none". The number of the profile is that of its
 * bytes, which end the text.
 */

#include "remote/sx_engine_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_err.h"

#define MAX_SIZE 65536
#define MAX_CHECK_FPS 64
#define HEAD_SIZE 256 /* of all lines but the fingerprints and the profile */

/* What has another one in it comes before that. */
static const struct {
	unsigned flags;
	const char *word;
} flags_words[] = { { SIMIDX_CREATE_FP2 | SIMIDX_CREATE_TIMES, "fp2+times" },
		    { SIMIDX_CREATE_FP2, "fp2" },
		    { SIMIDX_CREATE_TIMES, "times" },
		    { 0, "none" } };

#define N_FLAGS_WORDS (sizeof(flags_words) / sizeof(flags_words[0]))

static const char *flags_word(unsigned flags)
{
	size_t i = 0;

	while (i + 1 < N_FLAGS_WORDS && flags_words[i].flags != flags)
		i++;
	return flags_words[i].word;
}

int sx_engine_text_write(const sx_engine_text *t, char **out, size_t *size, simidx_error *err)
{
	size_t profile = strlen(t->profile), room = HEAD_SIZE + 17 * t->n_check_fps + profile;
	char *to = sx_realloc(NULL, room, 1);
	int n;

	*out = to;
	if (!to)
		return sx_fail_nomem(err);
	n = snprintf(to, room, "simidx %u\nbits %u\nplan %s\nflags %s\ncheck_fps %zu", t->format,
		     t->bits, t->plan, flags_word(t->flags),
		     t->n_check_fps);
	for (size_t i = 0; i < t->n_check_fps; i++)
		n += snprintf(to + n, room - (size_t)n, " %016" PRIx64, t->check_fps[i]);
	n += snprintf(to + n, room - (size_t)n, "\nprofile %zu\n", profile);
	memcpy(to + n, t->profile, profile);
	*size = (size_t)n + profile;
	return SIMIDX_OK;
}

/* What is left to read. */
struct rest {
	const char *at, *end;
};

/* Pass these characters. Returns 0 if something else stands there. */
static int pass(struct rest *r, const char *text)
{
	size_t n = strlen(text);

	if ((size_t)(r->end - r->at) < n || memcmp(r->at, text, n) != 0)
		return 0;
	r->at += n;
	return 1;
}

static int pass_number(struct rest *r, size_t max, size_t *out)
{
	const char *from = r->at;

	for (*out = 0; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
		*out = *out * 10 + (size_t)(*r->at - '0');
		if (*out > max)
			return 0;
	}
	return r->at > from;
}

static int pass_hex(struct rest *r, uint64_t *out)
{
	*out = 0;
	for (int i = 0; i < 16; i++, r->at++) {
		static const char digits[] = "0123456789abcdef";
		const char *digit = r->at < r->end && *r->at ? strchr(digits, *r->at) : NULL;

		if (!digit)
			return 0;
		*out = *out << 4 | (uint64_t)(digit - digits);
	}
	return 1;
}

static int pass_plan(struct rest *r, char plan[16])
{
	size_t n = 0;

	while (r->at < r->end && *r->at > ' ' && n < 15)
		plan[n++] = *r->at++;
	plan[n] = '\0';
	return n > 0;
}

static int pass_flags(struct rest *r, unsigned *flags)
{
	for (size_t i = 0; i < N_FLAGS_WORDS; i++) {
		*flags = flags_words[i].flags;
		if (pass(r, flags_words[i].word))
			return 1;
	}
	return 0;
}

/* All lines after the first one, up to the profile. 0: one of them is not as it should be. */
static int read_lines(struct rest *r, sx_engine_text *out, uint64_t *fps, size_t *profile)
{
	size_t bits;

	if (!pass(r, "\nbits ") || !pass_number(r, SIMIDX_MAX_BITS, &bits) ||
	    !pass(r, "\nplan ") || !pass_plan(r, out->plan) || !pass(r, "\nflags "))
		return 0;
	out->bits = (unsigned)bits;
	if (!pass_flags(r, &out->flags))
		return 0;
	if (!pass(r, "\ncheck_fps ") || !pass_number(r, MAX_CHECK_FPS, &out->n_check_fps))
		return 0;
	for (size_t i = 0; i < out->n_check_fps; i++)
		if (!pass(r, " ") || !pass_hex(r, &fps[i]))
			return 0;
	return pass(r, "\nprofile ") && pass_number(r, MAX_SIZE, profile) && pass(r, "\n") &&
	       *profile == (size_t)(r->end - r->at) && !memchr(r->at, '\0', *profile);
}

int sx_engine_text_read(const char *uri, const void *data, size_t size, sx_engine_text *out,
			char **profile, uint64_t **check_fps, simidx_error *err)
{
	struct rest r = { data, (const char *)data + (data ? size : 0) };
	size_t format, n_profile = 0;
	int rc = SIMIDX_OK;

	memset(out, 0, sizeof(*out));
	*profile = NULL;
	*check_fps = NULL;
	if (!data || size > MAX_SIZE || !pass(&r, "simidx ") || !pass_number(&r, 1000000, &format))
		return sx_fail(err, SIMIDX_E_CORRUPT,
			       "%s: the description of the index is damaged, at its "
			       "beginning", uri);
	if (format != SX_ENGINE_FORMAT)
		return sx_fail(err, SIMIDX_E_VERSION,
			       "%s: its description has format %zu; this library knows format "
			       "%d", uri,
			       format, SX_ENGINE_FORMAT);
	out->format = (unsigned)format;
	*check_fps = sx_calloc(MAX_CHECK_FPS, sizeof(**check_fps));
	if (!*check_fps)
		return sx_fail_nomem(err);
	if (!read_lines(&r, out, *check_fps, &n_profile)) {
		rc = sx_fail(err, SIMIDX_E_CORRUPT,
			     "%s: the description of the index is damaged, at byte %zu of %zu", uri,
			     (size_t)(r.at - (const char *)data), size);
	} else {
		*profile = sx_realloc(NULL, n_profile + 1, 1);
		if (!*profile)
			rc = sx_fail_nomem(err);
	}
	if (rc) {
		free(*check_fps);
		*check_fps = NULL;
		return rc;
	}
	memcpy(*profile, r.at, n_profile);
	(*profile)[n_profile] = '\0';
	out->profile = *profile;
	out->check_fps = *check_fps;
	return SIMIDX_OK;
}

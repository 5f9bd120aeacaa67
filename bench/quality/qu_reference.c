/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The default features of 1e0ng/simhash, a widely used Python package: 4-grams of the
 * characters of the lower-cased text that match [\w\u4e00-\u9fcc], hashed by the last 8 bytes
 * of MD5 as a big-endian number, each as heavy as it is frequent. A bit is 1 when more than
 * half of the weight has it, as in the library.
 */

#include "quality/qu_sketch.h"

#include <stdlib.h>

#include "bn_util.h"

#ifndef HAVE_CRYPTO

int qu_has_reference(void)
{
	return 0;
}

void qu_reference_features(const char *text, size_t size, struct qu_features *out)
{
	(void)text;
	(void)size;
	(void)out;
	bn_die(QU_REFERENCE " needs MD5: build with libcrypto");
}

void qu_reference_check(void)
{
}

#else

#include <openssl/evp.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>
#include <unicode/utf16.h>
#include <unicode/utf8.h>

#define GRAM 4

int qu_has_reference(void)
{
	return 1;
}

static void add(struct qu_features *to, const void *bytes, size_t size)
{
	unsigned char digest[EVP_MAX_MD_SIZE];
	unsigned int n = 0;
	uint64_t hash = 0;

	if (EVP_Digest(bytes, size, digest, &n, EVP_md5(), NULL) != 1 || n != 16)
		bn_die("libcrypto computes no MD5");
	for (unsigned i = 8; i < 16; i++)
		hash = hash << 8 | digest[i];
	qu_add_feature(to, hash, 1);
}

/* Python's \w: letters, whatever has a numeric value, and the underscore. */
static int is_word(UChar32 c)
{
	return c == '_' || u_isalpha(c) ||
	       u_getIntPropertyValue(c, UCHAR_NUMERIC_TYPE) != U_NT_NONE;
}

/* Lower case, in UTF-16: at most three times as many units as there were bytes. */
static UChar *lower_case(const char *text, size_t size, int32_t *n)
{
	UChar *units = bn_alloc(size + 1, sizeof(*units));
	UChar *lower = bn_alloc(3 * size + 1, sizeof(*lower));
	UErrorCode status = U_ZERO_ERROR;
	int32_t n_units = 0;

	if (size > INT32_MAX / 4)
		bn_die("a text is too long");
	u_strFromUTF8WithSub(units, (int32_t)size + 1, &n_units, text, (int32_t)size, 0xfffd,
			     NULL, &status);
	*n = u_strToLower(lower, (int32_t)(3 * size + 1), units, n_units, "", &status);
	if (U_FAILURE(status))
		bn_die("ICU: %s", u_errorName(status));
	free(units);
	return lower;
}

void qu_reference_features(const char *text, size_t size, struct qu_features *out)
{
	int32_t n = 0, used = 0, i = 0;
	UChar *lower = lower_case(text, size, &n);
	uint8_t *kept = bn_alloc((uint64_t)n + 1, 3);
	int32_t *start = bn_alloc((uint64_t)n + 1, sizeof(*start));
	size_t chars = 0, at = 0;

	while (i < n) {
		UChar32 c;

		U16_NEXT(lower, i, n, c);
		if (!is_word(c))
			continue;
		start[chars++] = used;
		U8_APPEND_UNSAFE(kept, used, c);
	}
	start[chars] = used;
	/* A text of fewer characters has one feature: all of it, be it empty. */
	do {
		size_t end = at + GRAM < chars ? at + GRAM : chars;

		add(out, kept + start[at], (size_t)(start[end] - start[at]));
	} while (++at + GRAM <= chars);
	free(lower);
	free(kept);
	free(start);
}

void qu_reference_check(void)
{
	struct qu_features features = { 0 };
	struct qu_fp made;

	add(&features, "aaa", 3);
	add(&features, "bbb", 3);
	qu_fingerprints(&features, 1, 0, &made);
	if (made.fp != UINT64_C(57087923692560392))
		bn_die(QU_REFERENCE ": not the value that it publishes for aaa and bbb");
	free(features.list);
}

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "text/sx_text_stem.h"

#include <limits.h>

#include "util/sx_err.h"

#ifdef HAVE_STEMMER

#include <stdio.h>
#include <string.h>

#include <libstemmer.h>

/* sx_stem is only a name for a stemmer of the library. */
static struct sb_stemmer *real(sx_stem *stem)
{
	return (struct sb_stemmer *)stem;
}

static int fail_unknown(const char *language, simidx_error *err)
{
	const char **name = sb_stemmer_list();
	char known[320] = "";
	size_t n = 0;

	for (; *name && n + strlen(*name) + 3 < sizeof(known); name++)
		n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s", n ? ", " : "", *name);
	return sx_fail(err, SIMIDX_E_ARG, "no stems for \"%.24s\"; known: %s", language, known);
}

int sx_stem_open(const char *language, sx_stem **out, simidx_error *err)
{
	*out = (sx_stem *)sb_stemmer_new(language, "UTF_8");
	return *out ? SIMIDX_OK : fail_unknown(language, err);
}

int sx_stem_word(sx_stem *stem, const char *word, size_t size, const char **out,
		 size_t *out_size, simidx_error *err)
{
	/* No language has such words. */
	*out = word;
	*out_size = size;
	if (size > INT_MAX / 4)
		return SIMIDX_OK;
	*out = (const char *)sb_stemmer_stem(real(stem), (const sb_symbol *)word, (int)size);
	if (!*out)
		return sx_fail_nomem(err);
	*out_size = (size_t)sb_stemmer_length(real(stem));
	return SIMIDX_OK;
}

void sx_stem_close(sx_stem *stem)
{
	if (stem)
		sb_stemmer_delete(real(stem));
}

const char *sx_stem_build_info(void)
{
	return ", libstemmer";
}

#else

int sx_stem_open(const char *language, sx_stem **out, simidx_error *err)
{
	*out = NULL;
	return sx_fail(err, SIMIDX_E_UNSUPPORTED,
		       "stems of %.24s: this library was built without libstemmer", language);
}

int sx_stem_word(sx_stem *stem, const char *word, size_t size, const char **out,
		 size_t *out_size, simidx_error *err)
{
	(void)stem;
	(void)err;
	*out = word;
	*out_size = size;
	return SIMIDX_OK;
}

void sx_stem_close(sx_stem *stem)
{
	(void)stem;
}

const char *sx_stem_build_info(void)
{
	return "";
}

#endif

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>
#include <string.h>

#include <simidx_info.h>

#include "text/sx_text.h"
#include "text/sx_text_lists_load.h"
#include "text/sx_text_stretch.h"
#include "util/sx_alloc.h"
#include "util/sx_err.h"
#include "util/sx_struct.h"

/** N-grams of words12. */
#define GRAMS_1_2 3u

static int is_plain(const sx_settings *s)
{
	return s->tokens == SX_TOKENS_WORDS && s->grams == GRAMS_1_2 && !s->stop &&
	       !s->stop_words.data && !s->words.data && !*s->stem && !s->exact;
}

/** An extractor that lacks its lists, profile and check fingerprints. */
static int begin(const sx_settings *settings, simidx_text **out, simidx_error *err)
{
	simidx_text *text = sx_calloc(1, sizeof(*text));

	*out = text;
	if (!text)
		return sx_fail_nomem(err);
	text->settings = *settings;
	text->plain = is_plain(settings);
	text->stretch = SX_STRETCH_BYTES;
	text->stretch_max = SX_STRETCH_MAX_BYTES;
	text->words.ascii = sx_ascii_shared();
	return *settings->stem ? sx_stem_open(settings->stem, &text->filter.stem, err) : SIMIDX_OK;
}

/** The caller's lists are read, so that they may go. */
static void forget_lists(sx_settings *settings)
{
	settings->stop_words.data = NULL;
	settings->words.data = NULL;
	settings->idf.data = NULL;
	settings->idf.name = NULL;
}

/** This also shows that ICU has all that it takes. */
static int make_check_fps(simidx_text *text, simidx_error *err)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	int rc = SIMIDX_OK;

	for (size_t i = 0; i < SX_N_CHECK_TEXTS && !rc; i++) {
		rc = simidx_text_fingerprint(text, sx_check_texts[i].text,
					     strlen(sx_check_texts[i].text), 0, &sketch, err);
		text->check_fps[i] = sketch.fp;
	}
	return rc;
}

static int open_settings(const sx_settings *settings, simidx_text **out, simidx_error *err)
{
	simidx_text *text;
	int rc = begin(settings, &text, err);

	if (!rc)
		rc = sx_lists_load(text, &text->lists, err);
	if (!rc) {
		sx_text_profile_format(text->profile, settings);
		forget_lists(&text->settings);
		rc = make_check_fps(text, err);
	}
	if (rc) {
		simidx_text_close(text);
		text = NULL;
	}
	*out = text;
	return rc;
}

/** What the caller's options say, those of any version; the defaults for NULL. */
static int read_options(const simidx_text_options *given, simidx_text_options *out,
			simidx_error *err)
{
	static const simidx_text_options defaults = SIMIDX_TEXT_OPTIONS_INIT;
	const simidx_text_options *options =
		sx_struct_read(given ? given : &defaults, sizeof(size_t), out, sizeof(*out));

	if (!options)
		return sx_fail(err, SIMIDX_E_ARG, "options: bad struct size");
	if (options != out)
		*out = *options;
	return SIMIDX_OK;
}

int simidx_text_open(const simidx_text_options *options, simidx_text **out, simidx_error *err)
{
	simidx_text_options own;
	sx_settings settings;
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "out is NULL");
	*out = NULL;
	rc = read_options(options, &own, err);
	if (!rc)
		rc = sx_settings_make(&settings, &own, err);
	return rc ? rc : open_settings(&settings, out, err);
}

int simidx_text_clone(const simidx_text *text, simidx_text **out, simidx_error *err)
{
	simidx_text *clone;
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "out is NULL");
	*out = NULL;
	if (!text)
		return sx_fail(err, SIMIDX_E_ARG, "extractor is NULL");
	rc = begin(&text->settings, &clone, err);
	if (rc) {
		simidx_text_close(clone);
		return rc;
	}
	clone->plain = text->plain;
	clone->lists = sx_lists_share(text->lists);
	memcpy(clone->profile, text->profile, sizeof(clone->profile));
	memcpy(clone->check_fps, text->check_fps, sizeof(clone->check_fps));
	*out = clone;
	return SIMIDX_OK;
}

/** An error of what the profile of an index says is not one of the caller's. */
static int open_like(const char *profile, const simidx_text_options *options, simidx_text **out,
		     simidx_error *err)
{
	sx_settings settings;
	char own[SX_PROFILE_SIZE];
	int rc = sx_settings_make(&settings, options, err);

	if (rc)
		return rc;
	/* Second fingerprints are made as those of the index, which nobody can ask for. */
	settings.triples = sx_text_profile_has_triples(profile);
	/* Before the lists are read: they may be large, and the wrong ones. */
	sx_text_profile_format(own, &settings);
	rc = sx_text_profile_check(profile, own, err);
	return rc ? rc : open_settings(&settings, out, err);
}

int simidx_text_open_for(simidx *index, const simidx_text_options *options, simidx_text **out,
			 simidx_error *err)
{
	simidx_text_options o;
	simidx_info info = SIMIDX_INFO_INIT;
	sx_profile_strings strings;
	simidx_text *text = NULL;
	int rc;

	sx_err_clear(err);
	if (!out)
		return sx_fail(err, SIMIDX_E_ARG, "out is NULL");
	*out = NULL;
	rc = read_options(options, &o, err);
	if (!rc)
		rc = simidx_get_info(index, &info, err);
	if (!rc)
		rc = sx_text_profile_read(info.profile, info.bits, &o, &strings, err);
	if (!rc)
		rc = open_like(info.profile, &o, &text, err);
	if (!rc)
		rc = sx_check_fps_compare(info.check_fps, info.n_check_fps, text->check_fps, err);
	if (rc) {
		simidx_text_close(text);
		return rc;
	}
	*out = text;
	return SIMIDX_OK;
}

void simidx_text_close(simidx_text *text)
{
	if (!text)
		return;
	free(text->units.at);
	free(text->spare.at);
	sx_words_free(&text->words);
	free(text->token.at);
	free(text->filter.waiting.at);
	free(text->filter.whole.at);
	sx_stem_close(text->filter.stem);
	free(text->grams.bytes.at);
	free(text->features.slot);
	sx_triples_free(&text->triples);
	sx_lists_release(text->lists);
	free(text);
}

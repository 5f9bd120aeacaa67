/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What an index of an engine is, as text that the engine keeps: lines of a name and a value, then
 * the profile.
 */

#ifndef SX_ENGINE_TEXT_H
#define SX_ENGINE_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <simidx.h>

#define SX_ENGINE_FORMAT 1 /* of the text */

/** The description of an index. What it points to belongs to who fills it in. */
typedef struct sx_engine_text {
	unsigned format;
	unsigned bits;
	unsigned flags; /* SIMIDX_CREATE_FP2, SIMIDX_CREATE_TIMES */
	char plan[16];
	const char *profile; /* NUL-terminated */
	const uint64_t *check_fps;
	size_t n_check_fps;
} sx_engine_text;

/** Write it; *out is to be freed. SIMIDX_E_NOMEM. */
int sx_engine_text_write(const sx_engine_text *text, char **out, size_t *size, simidx_error *err);

/**
 * Read it. *profile and *check_fps are copies, to be freed, and what `out` points to.
 *
 * @param uri  for the text of an error
 * @return SIMIDX_OK; SIMIDX_E_CORRUPT; SIMIDX_E_VERSION: it is of a later format; SIMIDX_E_NOMEM
 */
int sx_engine_text_read(const char *uri, const void *data, size_t size, sx_engine_text *out,
			char **profile, uint64_t **check_fps, simidx_error *err);

#endif /* SX_ENGINE_TEXT_H */

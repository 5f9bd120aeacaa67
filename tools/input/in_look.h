/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Whether the first bytes of an input say that it is written otherwise than its name or an option
 * says: as a JSON array, or as rows of JSON in a file that would be taken for one text.
 */

#ifndef IN_LOOK_H
#define IN_LOOK_H

#include <stddef.h>

#include "input/in_reader.h"

/** Room for what is told. */
#define IN_LOOK_SIZE 1024

/**
 * Look at bytes.
 *
 * @param path      for the advice, which has a command
 * @param format    in which it is to be read; text only if nobody has asked for text
 * @param bytes, n  the first ones; if the first line is longer, it is judged by its beginning
 * @param reason    set to what is wrong, and what to do
 * @return whether something is
 */
int in_look_at(const char *path, const struct in_format *format, const char *bytes, size_t n,
	       char reason[IN_LOOK_SIZE]);

/**
 * The same for a file, decompressed if need be. Where the first line is a JSON object, records of
 * bytes are refused, too, and of tables, fingerprints and features a notice tells it, as they may
 * have one. So does a notice of fingerprints that are to be hexadecimal and look decimal. What
 * cannot be read is not judged.
 */
int in_look_into(const char *path, const struct in_format *format, int is_hex,
		 char reason[IN_LOOK_SIZE]);

/** Whether a line has nothing but white space. */
int in_look_is_blank(const char *line, size_t n);

/** Whether a line is a decimal number. */
int in_look_is_decimal(const char *line, size_t n);

/**
 * The first line was rejected, for a reason: what the rows may be instead, as the end of a
 * sentence; "" if nothing is known of it.
 */
const char *in_look_advise(const struct in_format *format, const char *reason, const char *line,
			   size_t n);

/** A whole file was one text, and perhaps was not meant so: tell what reads lines of it. */
void in_look_tell_whole(const char *path);

#endif /* IN_LOOK_H */

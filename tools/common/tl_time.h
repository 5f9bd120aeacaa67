/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Times of documents from text, and as text: seconds since 1970, below 2^32, so up to the year
 * 2106. No locale, and no time zone of the machine.
 */

#ifndef TL_TIME_H
#define TL_TIME_H

#include <stddef.h>
#include <stdint.h>

/** What tl_time_parse() takes, for messages. */
#define TL_TIME_FORMS                                                                              \
	"seconds since 1970, or like 2026-11-26T08:15:00Z or 2026-11-26T09:15:00+01:00"

/** A time, but none that is from 1970 on and has 32 bits. */
#define TL_TIME_OUT 1

/** What it is out of, for messages. */
#define TL_TIME_RANGE "out of the range 1970-01-01T00:00:00Z to 2106-02-07T06:28:15Z (4294967295)"

/**
 * Decimal seconds since 1970, or a date and time with its zone as RFC 3339 writes them. A fraction
 * of a second does not count. A leap second is the last one of a day in UTC.
 *
 * @return 0; TL_TIME_OUT; -1 if it is none of these, or no date of the calendar
 */
int tl_time_parse(const char *s, size_t n, uint32_t *out);

/**
 * A date of any year, or a date and time with its zone, as RFC 3339 writes them.
 *
 * @param out  set to seconds since 1970 with their fraction, perhaps below 0; a date alone is its
 *             first second in UTC
 * @return 0, or -1 if it is none of these
 */
int tl_time_parse_any(const char *s, size_t n, double *out);

/** What tl_time_parse_cut() takes, for messages. */
#define TL_TIME_CUT_FORMS "30d, 12h, 2026-11-26, 2026-11-26T08:15:00Z or seconds since 1970"

/**
 * A time in the past: a number and "s", "m", "h", "d" or "w" for so many seconds, minutes, hours,
 * days or weeks before `now`; a date alone for its first second in UTC; or as tl_time_parse().
 * Returns as that.
 */
int tl_time_parse_cut(const char *s, uint32_t now, uint32_t *out);

#define TL_TIME_SIZE 21

/**
 * What tl_time_parse_cut() would take for a time that is written in another way, such as
 * 2026/06/01, 20260601, 30days or 1y. Returns `out`, or NULL if that cannot be told.
 */
const char *tl_time_nearest(const char *s, char out[TL_TIME_SIZE]);

/** As "2026-11-26T08:15:00Z". Returns `out`. */
const char *tl_time_write(uint32_t time, char out[TL_TIME_SIZE]);

#endif /* TL_TIME_H */

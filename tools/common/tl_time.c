/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_time.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/tl_number.h"

#define DIGITS "0123456789"

/* Two or four digits at s[at], from `least` to `most`; -1: they are none. */
static int field(const char *s, size_t at, size_t digits, int least, int most)
{
	uint64_t value;

	if (tl_parse_decimal(s + at, digits, (uint64_t)most, &value) || (int)value < least)
		return -1;
	return (int)value;
}

/* "2026-11-26", in seconds since 1970. */
static int parse_date(const char *s, size_t n, int64_t *out)
{
	struct tm tm = { 0 };
	int year, month, day;

	if (n < 10 || s[4] != '-' || s[7] != '-')
		return -1;
	year = field(s, 0, 4, 0, 9999);
	month = field(s, 5, 2, 1, 12);
	day = field(s, 8, 2, 1, 31);
	if (year < 0 || month < 0 || day < 0)
		return -1;
	tm.tm_year = year - 1900;
	tm.tm_mon = month - 1;
	tm.tm_mday = day;
	*out = (int64_t)timegm(&tm);
	/* A day that the month has not became one of the next. */
	if (tm.tm_mday != day)
		return -1;
	return 0;
}

/* "08:15:00", perhaps with a fraction; *used is how long it is. A leap second is 60. */
static int parse_clock(const char *s, size_t n, int64_t *out, size_t *used)
{
	int hour, minute, second;
	size_t at = 8;

	if (n < 8 || s[2] != ':' || s[5] != ':')
		return -1;
	hour = field(s, 0, 2, 0, 23);
	minute = field(s, 3, 2, 0, 59);
	second = field(s, 6, 2, 0, 60);
	if (hour < 0 || minute < 0 || second < 0)
		return -1;
	if (at < n && s[at] == '.') {
		for (at++; at < n && s[at] >= '0' && s[at] <= '9'; at++)
			;
		if (at == 9)
			return -1;
	}
	*out = hour * 3600 + minute * 60 + second;
	*used = at;
	return 0;
}

/* "Z" or "+01:00": how far the clock there is ahead. */
static int parse_zone(const char *s, size_t n, int64_t *out)
{
	int hours, minutes;

	*out = 0;
	if (n == 1 && (s[0] == 'Z' || s[0] == 'z'))
		return 0;
	if (n != 6 || (s[0] != '+' && s[0] != '-') || s[3] != ':')
		return -1;
	hours = field(s, 1, 2, 0, 23);
	minutes = field(s, 4, 2, 0, 59);
	if (hours < 0 || minutes < 0)
		return -1;
	*out = (hours * 3600 + minutes * 60) * (s[0] == '-' ? -1 : 1);
	return 0;
}

static int keep(int64_t time, uint32_t *out)
{
	if (time < 0 || time > UINT32_MAX)
		return TL_TIME_OUT;
	*out = (uint32_t)time;
	return 0;
}

/* Where the seconds of the clock begin in "2026-11-26T08:15:00Z". */
#define SECONDS_AT 17

/* A date and time with its zone. */
static int parse_moment(const char *s, size_t n, int64_t *out)
{
	int64_t date, clock, zone;
	size_t used;

	if (n < 12 || !memchr("Tt ", s[10], 3) || parse_date(s, n, &date) ||
	    parse_clock(s + 11, n - 11, &clock, &used) ||
	    parse_zone(s + 11 + used, n - 11 - used, &zone))
		return -1;
	if (s[SECONDS_AT] == '6' && (date + clock - zone) % 86400)
		return -1;
	*out = date + clock - zone;
	return 0;
}

int tl_time_parse(const char *s, size_t n, uint32_t *out)
{
	uint64_t seconds;
	int64_t moment;

	if (!tl_parse_decimal(s, n, INT64_MAX, &seconds))
		return keep((int64_t)seconds, out);
	return parse_moment(s, n, &moment) ? -1 : keep(moment, out);
}

int tl_time_parse_any(const char *s, size_t n, double *out)
{
	size_t at = SECONDS_AT + 2;
	double unit = 1;
	int64_t moment;

	if (n == 10 && !parse_date(s, n, &moment)) {
		*out = (double)moment;
		return 0;
	}
	if (parse_moment(s, n, &moment))
		return -1;
	*out = (double)moment;
	if (s[at] == '.')
		for (at++; s[at] >= '0' && s[at] <= '9'; at++)
			*out += (s[at] - '0') * (unit /= 10);
	return 0;
}

int tl_time_parse_cut(const char *s, uint32_t now, uint32_t *out)
{
	static const char units[] = "smhdw";
	static const uint32_t seconds[] = { 1, 60, 3600, 86400, 604800 };
	size_t n = strlen(s);
	const char *unit = n ? strchr(units, s[n - 1]) : NULL;
	uint64_t count;
	int64_t date;

	if (unit && !tl_parse_decimal(s, n - 1, INT64_MAX / 604800, &count))
		return keep((int64_t)now - (int64_t)(count * seconds[unit - units]), out);
	if (n == 10 && !parse_date(s, n, &date))
		return keep(date, out);
	return tl_time_parse(s, n, out);
}

/* A date with the year first or last, or of eight digits; or the first of a month. */
static int date_of(const char *s, char out[TL_TIME_SIZE])
{
	unsigned year, month, day = 1;
	int64_t moment;

	if (strspn(s, DIGITS) == 8)
		snprintf(out, TL_TIME_SIZE, "%.4s-%.2s-%.2s", s, s + 4, s + 6);
	if ((sscanf(strspn(s, DIGITS) == 8 ? out : s, "%4u%*1[-./]%2u%*1[-./]%2u", &year, &month,
		    &day) < 2 || year < 1000) &&
	    sscanf(s, "%2u%*1[./]%2u%*1[./]%4u", &day, &month, &year) != 3)
		return 0;
	snprintf(out, TL_TIME_SIZE, "%04u-%02u-%02u", year, month, day);
	return year > 1000 && !parse_date(out, 10, &moment);
}

const char *tl_time_nearest(const char *s, char out[TL_TIME_SIZE])
{
	const char *number = s + strcspn(s, DIGITS), *unit = number + strspn(number, DIGITS);
	unsigned long n = strtoul(number, NULL, 10);
	char moment[TL_TIME_SIZE];
	int64_t seconds;

	if (date_of(s, out)) {
		snprintf(moment, sizeof(moment), "%.19sZ", s);
		return strlen(s) == 19 && !parse_moment(moment, 20, &seconds) ?
			       strcpy(out, moment) : out;
	}
	unit += *unit == ' ';
	if (strcmp(s, "yesterday") == 0)
		return "1d";
	if (number == unit || n > 9999 || !strchr("smhdwySMHDWY", *unit) || !*unit)
		return NULL;
	if (*unit == 'M' || strncmp(unit, "mo", 2) == 0)
		snprintf(out, TL_TIME_SIZE, "%lud", n * 30);
	else if (*unit == 'y' || *unit == 'Y')
		snprintf(out, TL_TIME_SIZE, "%lud", n * 365);
	else
		snprintf(out, TL_TIME_SIZE, "%lu%c", n, tolower((unsigned char)*unit));
	return out;
}

const char *tl_time_write(uint32_t seconds, char out[TL_TIME_SIZE])
{
	time_t time = seconds;
	struct tm tm;

	gmtime_r(&time, &tm);
	strftime(out, TL_TIME_SIZE, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return out;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "rd_uri.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PASSWORD 1024

int rd_fail(simidx_error *err, int code, const char *format, ...)
{
	va_list ap;

	if (!err || err->code)
		return code;
	err->code = code;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return code;
}

int rd_fail_nomem(simidx_error *err)
{
	return rd_fail(err, SIMIDX_E_NOMEM, "out of memory");
}

/* ---- pieces ---- */

/* A copy of n bytes. */
static int copy(const char *from, size_t n, char **out, simidx_error *err)
{
	*out = strndup(from, n);
	return *out ? SIMIDX_OK : rd_fail_nomem(err);
}

static int read_number(const char *from, size_t n, unsigned most, unsigned *out)
{
	unsigned long value = 0;

	if (!n || n > 6)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (from[i] < '0' || from[i] > '9')
			return -1;
		value = value * 10 + (unsigned long)(from[i] - '0');
	}
	*out = (unsigned)value;
	return value > most ? -1 : 0;
}

static int set_name(struct rd_uri *u, const char *from, size_t n, simidx_error *err)
{
	static const char also[] = "._:-";

	if (!n || n > RD_MAX_NAME)
		return rd_fail(err, SIMIDX_E_ARG,
			       "the name of an index in Redis has 1 to %d characters", RD_MAX_NAME);
	for (size_t i = 0; i < n; i++) {
		char c = from[i];

		if (!(c >= '0' && c <= '9') && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
		    !strchr(also, c))
			return rd_fail(err, SIMIDX_E_ARG,
				       "the name of an index in Redis has letters, digits and any "
				       "of \"%s\" only", also);
	}
	memcpy(u->name, from, n);
	u->name[n] = '\0';
	return SIMIDX_OK;
}

/* ---- options ---- */

static int read_password(struct rd_uri *u, const char *path, simidx_error *err)
{
	char line[MAX_PASSWORD + 2];
	FILE *file = fopen(path, "r");
	size_t n;
	int rc;

	if (!file)
		return rd_fail(err, errno == EACCES ? SIMIDX_E_PERMISSION : SIMIDX_E_IO,
			       "%s: the file with the password: %s", path, strerror(errno));
	n = fread(line, 1, sizeof(line) - 1, file);
	line[n] = '\0';
	fclose(file);
	n = strcspn(line, "\r\n");
	rc = !n || n > MAX_PASSWORD
		     ? rd_fail(err, SIMIDX_E_ARG, "%s: its first line is no password of 1 to %d "
			       "bytes", path, MAX_PASSWORD) : copy(line, n, &u->password, err);
	explicit_bzero(line, sizeof(line));
	return rc;
}

/* One "option=value". */
static int read_option(struct rd_uri *u, const char *at, size_t n, char **file, simidx_error *err)
{
	const char *value = memchr(at, '=', n);
	size_t word = value ? (size_t)(value - at) : n, size = value ? n - word - 1 : 0;
	int is_bad = 0;

	value = value ? value + 1 : at + n;
	if (word == 2 && !memcmp(at, "db", 2))
		is_bad = read_number(value, size, 999999, &u->db);
	else if (word == 7 && !memcmp(at, "timeout", 7))
		is_bad = read_number(value, size, 3600, &u->timeout) || !u->timeout;
	else if (word == 4 && !memcmp(at, "name", 4) && u->socket)
		return set_name(u, value, size, err);
	else if (word == 4 && !memcmp(at, "user", 4) && !u->user)
		return copy(value, size, &u->user, err);
	else if (word == 13 && !memcmp(at, "password-file", 13) && !*file)
		return copy(value, size, file, err);
	else
		return rd_fail(err, SIMIDX_E_ARG, "the URI has an option that is not known, or "
			       "one twice: \"%.*s\"", (int)(word < 40 ? word : 40), at);
	return is_bad ? rd_fail(err, SIMIDX_E_ARG, "the URI has a bad value of %.*s", (int)word, at)
		      : SIMIDX_OK;
}

static int read_options(struct rd_uri *u, const char *at, char **file, simidx_error *err)
{
	int rc = SIMIDX_OK;

	while (!rc && *at) {
		size_t n = strcspn(at, "&");

		rc = read_option(u, at, n, file, err);
		at += n + (at[n] == '&');
	}
	return rc;
}

/* ---- where it is ---- */

/* "[USER[:PASSWORD]@]HOST[:PORT]", n bytes. */
static int read_server(struct rd_uri *u, const char *at, size_t n, simidx_error *err)
{
	const char *end = at + n, *host = at, *colon;
	int rc = SIMIDX_OK;

	for (const char *c = at; c < end; c++)
		if (*c == '@')
			host = c + 1;
	if (host > at) {
		size_t size = (size_t)(host - at) - 1;

		colon = memchr(at, ':', size);
		if (colon)
			rc = copy(colon + 1, (size_t)(host - colon) - 2, &u->password, err);
		size = colon ? (size_t)(colon - at) : size;
		if (!rc && size)
			rc = copy(at, size, &u->user, err);
	}
	if (rc)
		return rc;
	if (host < end && *host == '[') {
		const char *close = memchr(host, ']', (size_t)(end - host));

		if (!close)
			return rd_fail(err, SIMIDX_E_ARG, "the URI has a [ without a ]");
		colon = close + 1 < end ? close + 1 : NULL;
		rc = copy(host + 1, (size_t)(close - host) - 1, &u->host, err);
	} else {
		colon = memchr(host, ':', (size_t)(end - host));
		rc = copy(host, (size_t)((colon ? colon : end) - host), &u->host, err);
	}
	if (!rc && colon && (*colon != ':' || read_number(colon + 1, (size_t)(end - colon) - 1,
							  65535, &u->port) || !u->port))
		rc = rd_fail(err, SIMIDX_E_ARG, "the URI has a bad port");
	if (!rc && !*u->host)
		rc = rd_fail(err, SIMIDX_E_ARG, "the URI has no host");
	if (!rc)
		snprintf(u->place, sizeof(u->place), "%.200s:%u", u->host, u->port);
	return rc;
}

static int read_place(struct rd_uri *u, const char *text, const char **options, simidx_error *err)
{
	int is_socket = !strncmp(text, "unix://", 7);
	const char *at, *end, *slash;
	int rc;

	if (!strncmp(text, "rediss://", 9))
		return rd_fail(err, SIMIDX_E_UNSUPPORTED,
			       "this libsimidx-redis has no TLS: let stunnel listen on this "
			       "machine and forward to the server, and use redis:// to it");
	if (!is_socket && strncmp(text, "redis://", 8))
		return rd_fail(err, SIMIDX_E_ARG, "it does not begin with redis:// or unix://");
	at = text + (is_socket ? 7 : 8);
	end = at + strcspn(at, "?");
	*options = *end ? end + 1 : end;
	if (is_socket) {
		if (*at != '/' || end - at > 107)
			return rd_fail(err, SIMIDX_E_ARG,
				       "the path of a socket begins with / and has 107 bytes at "
				       "most");
		rc = copy(at, (size_t)(end - at), &u->socket, err);
		if (!rc)
			snprintf(u->place, sizeof(u->place), "%s", u->socket);
		return rc;
	}
	/* A password may have a slash in it, if it is written so. */
	slash = end;
	while (slash > at && slash[-1] != '/')
		slash--;
	if (slash == at)
		return rd_fail(err, SIMIDX_E_ARG, "the URI has no name of an index");
	rc = set_name(u, slash, (size_t)(end - slash), err);
	return rc ? rc : read_server(u, at, (size_t)(slash - at) - 1, err);
}

int rd_uri_read(const char *text, struct rd_uri *out, simidx_error *err)
{
	const char *options = "", *variable = getenv("SIMIDX_REDIS_PASSWORD");
	char *file = NULL;
	int rc;

	memset(out, 0, sizeof(*out));
	out->port = 6379;
	out->timeout = 30;
	rc = read_place(out, text, &options, err);
	if (!rc)
		rc = read_options(out, options, &file, err);
	if (!rc && !*out->name)
		rc = rd_fail(err, SIMIDX_E_ARG, "the URI has no name=NAME");
	if (!rc && !out->password && file)
		rc = read_password(out, file, err);
	else if (!rc && !out->password && variable && *variable)
		rc = copy(variable, strlen(variable), &out->password, err);
	if (!rc && out->user && !out->password)
		rc = rd_fail(err, SIMIDX_E_ARG,
			     "there is a user and no password: SIMIDX_REDIS_PASSWORD or "
			     "password-file gives one");
	free(file);
	return rc;
}

void rd_uri_free(struct rd_uri *u)
{
	if (u->password)
		explicit_bzero(u->password, strlen(u->password));
	free(u->host);
	free(u->socket);
	free(u->user);
	free(u->password);
	memset(u, 0, sizeof(*u));
}

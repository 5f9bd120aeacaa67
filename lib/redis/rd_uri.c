/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "rd_uri.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Digits that are a number from `least` to `most`; -1: they are not. */
static int read_number(const char *text, unsigned least, unsigned most, unsigned *out)
{
	char *end;

	if (*text < '0' || *text > '9' || strlen(text) > 6)
		return -1;
	*out = (unsigned)strtoul(text, &end, 10);
	return *end || *out < least || *out > most ? -1 : 0;
}

static int set_name(struct rd_uri *u, const char *name, simidx_error *err)
{
	size_t n = strlen(name);

	if (!n || n > RD_MAX_NAME ||
	    strspn(name, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ._:-") != n)
		return rd_fail(err, SIMIDX_E_ARG,
			       "the name of an index in Redis has 1 to %d letters, digits and any "
			       "of \"._:-\"", RD_MAX_NAME);
	memcpy(u->name, name, n + 1);
	return SIMIDX_OK;
}

static int read_password(struct rd_uri *u, const char *path, simidx_error *err)
{
	FILE *file = fopen(path, "r");
	size_t n;

	if (!file)
		return rd_fail(err, errno == EACCES ? SIMIDX_E_PERMISSION : SIMIDX_E_IO,
			       "%s: the file with the password: %s", path, strerror(errno));
	n = fread(u->secret, 1, sizeof(u->secret) - 1, file);
	fclose(file);
	u->secret[n] = '\0';
	n = strcspn(u->secret, "\r\n");
	if (!n || n == sizeof(u->secret) - 1)
		return rd_fail(err, SIMIDX_E_ARG, "%s: its first line is no password", path);
	u->secret[n] = '\0';
	u->password = u->secret;
	return SIMIDX_OK;
}

/* ---- options ---- */

/* A file for TLS: where a member has it, or NULL. */
static const char **tls_file(struct rd_uri *u, const char *option)
{
	return !strcmp(option, "ca")     ? &u->ca
	       : !strcmp(option, "cert") ? &u->cert
	       : !strcmp(option, "key")  ? &u->key
					 : NULL;
}

/* One "option=value". */
static int read_option(struct rd_uri *u, char *option, const char **file, simidx_error *err)
{
	char *value = strchr(option, '=');

	if (value)
		*value++ = '\0';
	else
		value = option + strlen(option);
	if (!strcmp(option, "name") && u->socket)
		return set_name(u, value, err);
	if (tls_file(u, option) && !u->is_tls)
		return rd_fail(err, SIMIDX_E_ARG, "the URI has the option \"%s\", which is for "
			       "rediss:// only", option);
	if (tls_file(u, option))
		*tls_file(u, option) = value;
	else if (!strcmp(option, "user") && !u->user)
		u->user = value;
	else if (!strcmp(option, "password-file"))
		*file = value;
	else if (strcmp(option, "db") != 0 && strcmp(option, "timeout") != 0)
		return rd_fail(err, SIMIDX_E_ARG, "the URI has an option that is not known: "
			       "\"%.40s\"", option);
	else if (*option == 'd' ? read_number(value, 0, 999999, &u->db)
				: read_number(value, 1, 3600, &u->timeout))
		return rd_fail(err, SIMIDX_E_ARG, "the URI has a bad value of %s", option);
	return SIMIDX_OK;
}

/* ---- where it is ---- */

/* "[USER[:PASSWORD]@]HOST[:PORT]". */
static int read_server(struct rd_uri *u, char *server, simidx_error *err)
{
	char *host = strrchr(server, '@'), *port = NULL;

	if (host) {
		*host++ = '\0';
		u->password = strchr(server, ':');
		if (u->password)
			*u->password++ = '\0';
		u->user = *server ? server : NULL;
		if (u->password && u->password[strcspn(u->password, " \t\r\n")])
			return rd_fail(err, SIMIDX_E_ARG,
				       "the password has blanks: SIMIDX_REDIS_PASSWORD or "
				       "password-file gives such a one");
	} else {
		host = server;
	}
	if (*host == '[') {
		port = strchr(++host, ']');
		if (!port)
			return rd_fail(err, SIMIDX_E_ARG, "the URI has a [ without a ]");
		*port++ = '\0';
		port = *port ? port : NULL;
	} else {
		port = strchr(host, ':');
	}
	if (port && (*port != ':' || read_number(port + 1, 1, 65535, &u->port)))
		return rd_fail(err, SIMIDX_E_ARG, "the URI has a bad port");
	if (port)
		*port = '\0';
	if (!*host)
		return rd_fail(err, SIMIDX_E_ARG, "the URI has no host");
	u->host = host;
	snprintf(u->place, sizeof(u->place), "%.200s:%u", host, u->port);
	return SIMIDX_OK;
}

static int read_place(struct rd_uri *u, simidx_error *err)
{
	char *at, *slash;
	int rc;

	u->is_tls = !strncmp(u->text, "rediss://", 9);
	at = u->text + strlen(u->is_tls ? "rediss://" : "redis://");
	if (!strncmp(u->text, "unix://", 7)) {
		u->socket = u->text + 7;
		snprintf(u->place, sizeof(u->place), "%s", u->socket);
		return *u->socket == '/' && strlen(u->socket) < 108
			       ? SIMIDX_OK
			       : rd_fail(err, SIMIDX_E_ARG, "the path of a socket begins with / "
					 "and has 107 bytes at most");
	}
	if (!u->is_tls && strncmp(u->text, "redis://", 8) != 0)
		return rd_fail(err, SIMIDX_E_ARG,
			       "it does not begin with redis://, rediss:// or unix://");
	/* A password may have slashes in it. */
	slash = strrchr(at, '/');
	if (!slash)
		return rd_fail(err, SIMIDX_E_ARG, "the URI has no name of an index");
	*slash = '\0';
	rc = set_name(u, slash + 1, err);
	return rc ? rc : read_server(u, at, err);
}

int rd_uri_read(const char *text, struct rd_uri *out, simidx_error *err)
{
	const char *variable = getenv("SIMIDX_REDIS_PASSWORD"), *file = NULL;
	char *options, *option;
	int rc;

	*out = (struct rd_uri){ .text = strdup(text), .size = strlen(text), .port = 6379,
				.timeout = 30 };
	if (!out->text)
		return rd_fail_nomem(err);
	options = strchr(out->text, '?');
	if (options)
		*options++ = '\0';
	rc = read_place(out, err);
	while (!rc && (option = strsep(&options, "&")))
		if (*option)
			rc = read_option(out, option, &file, err);
	if (!rc && !*out->name)
		rc = rd_fail(err, SIMIDX_E_ARG, "the URI has no name=NAME");
	if (!rc && !out->cert != !out->key)
		rc = rd_fail(err, SIMIDX_E_ARG, "the URI has one of cert and key: both or none");
	if (!rc && !out->password && file)
		return read_password(out, file, err);
	if (!rc && !out->password && variable && *variable) {
		if (strlen(variable) >= sizeof(out->secret))
			return rd_fail(err, SIMIDX_E_ARG, "SIMIDX_REDIS_PASSWORD is too long");
		strcpy(out->secret, variable);
		out->password = out->secret;
	}
	if (!rc && out->user && !out->password)
		rc = rd_fail(err, SIMIDX_E_ARG,
			     "there is a user and no password: SIMIDX_REDIS_PASSWORD or "
			     "password-file gives one");
	return rc;
}

void rd_uri_free(struct rd_uri *u)
{
	if (u->text)
		explicit_bzero(u->text, u->size);
	free(u->text);
	explicit_bzero(u, sizeof(*u));
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* With _GNU_SOURCE, glibc has another strerror_r(), which need not fill the buffer. */
#undef _GNU_SOURCE
#define _XOPEN_SOURCE 700

#include "util/sx_err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *simidx_strerror(int code)
{
	switch (code) {
#define TEXT_CASE(name, value, text) \
	case name:                   \
		return text;
		SIMIDX_ERRORS(TEXT_CASE)
#undef TEXT_CASE
	default:
		return "unknown error";
	}
}

const char *simidx_error_name(int code)
{
	switch (code) {
#define NAME_CASE(name, value, text) \
	case name:                   \
		return #name;
		SIMIDX_ERRORS(NAME_CASE)
#undef NAME_CASE
	default:
		return "SIMIDX_E_?";
	}
}

void sx_err_clear(simidx_error *err)
{
	if (!err)
		return;
	err->code = SIMIDX_OK;
	err->sys_errno = 0;
	err->text[0] = '\0';
	err->reserved = 0;
}

/*
 * The URI of an index may have a password, "scheme://USER:PASSWORD@HOST/...": three asterisks take
 * its place. A text that was cut off may have lost the @.
 */
static void hide_passwords(simidx_error *err)
{
	int is_cut = strlen(err->text) == sizeof(err->text) - 1;

	for (char *at = strstr(err->text, "://"); at; at = strstr(at, "://")) {
		char *colon, *end;

		at += 3;
		end = at + strcspn(at, " ?");
		while (end > at && *end != '@')
			end--;
		if (end == at && is_cut && !strpbrk(at, " ?"))
			end = at + strlen(at);
		colon = memchr(at, ':', (size_t)(end - at));
		if (colon && end - colon > 3) {
			memcpy(colon + 1, "***", 3);
			memmove(colon + 4, end, strlen(end) + 1);
		} else if (colon) {
			memset(colon + 1, '*', (size_t)(end - colon) - 1);
		}
	}
}

int sx_fail(simidx_error *err, int code, const char *format, ...)
{
	va_list ap;

	if (!err || err->code)
		return code;
	err->code = code;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	hide_passwords(err);
	return code;
}

int sx_code_of_errno(int sys_errno)
{
	switch (sys_errno) {
	case ENOMEM:
		return SIMIDX_E_NOMEM;
	case ENOENT:
		return SIMIDX_E_NOT_FOUND;
	case EACCES:
	case EPERM:
	case EROFS:
		return SIMIDX_E_PERMISSION;
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return SIMIDX_E_NO_SPACE;
	case EEXIST:
	case ENOTEMPTY:
		return SIMIDX_E_EXISTS;
	default:
		return SIMIDX_E_IO;
	}
}

int sx_fail_errno(simidx_error *err, int sys_errno, const char *format, ...)
{
	int code = sx_code_of_errno(sys_errno);
	char reason[96];
	size_t used;
	va_list ap;

	if (!err || err->code)
		return code;
	err->code = code;
	err->sys_errno = sys_errno;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	hide_passwords(err);
	/* This form is thread-safe and the same in every libc. */
	if (strerror_r(sys_errno, reason, sizeof(reason)))
		snprintf(reason, sizeof(reason), "error %d", sys_errno);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", reason);
	return code;
}

int sx_fail_nomem(simidx_error *err)
{
	return sx_fail(err, SIMIDX_E_NOMEM, "out of memory");
}

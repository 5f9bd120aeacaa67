/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_options.h"

#include "common/tl_msg.h"
#include "common/tl_number.h"
#include "common/tl_text.h"

#include <errno.h>
#include <signal.h>
#include <simidx_admin.h>
#include <stdio.h>
#include <string.h>

/* Why stdout first failed; 0 while it has not. */
static int output_errno;

int tl_next_option(int argc, char **argv, const char *shorts, const struct option *longs)
{
	int c;

	opterr = 0;
	c = getopt_long(argc, argv, shorts, longs, NULL);
	if (c == ':')
		tl_usage_error("option '%s' needs a value", argv[optind - 1]);
	else if (c == '?' && optopt != 0 && optopt < TL_LONG_OPTION && !strchr(shorts, optopt))
		tl_usage_error("unknown option '-%c'", optopt);
	else if (c == '?' && optopt != 0)
		tl_usage_error("option '%s' takes no value", argv[optind - 1]);
	else if (c == '?')
		tl_usage_error("unknown option '%s'", argv[optind - 1]);
	return c == ':' ? TL_OPTION_BAD : c;
}

void tl_restart_options(void)
{
	/* 0 rather than 1: glibc then also forgets where it was and rereads the mode. */
	optind = 0;
}

int tl_option_number(const char *name, const char *text, uint64_t min, uint64_t max,
		     uint64_t *out)
{
	if (!tl_parse_decimal(text, strlen(text), max, out) && *out >= min)
		return 0;
	tl_usage_error("%s: expected a number in %llu..%llu, found '%s'", name,
		       (unsigned long long)min, (unsigned long long)max, text);
	return -1;
}

int tl_option_word(const char *name, const char *text, const char *const *words)
{
	char known[256];
	size_t used = 0;
	int i, printed;

	known[0] = '\0';
	for (i = 0; words[i]; i++) {
		if (strcmp(text, words[i]) == 0)
			return i;
		printed = snprintf(known + used, sizeof(known) - used, "%s%s", i ? ", " : "",
				   words[i]);
		if (printed > 0 && (size_t)printed < sizeof(known) - used)
			used += (size_t)printed;
	}
	tl_usage_error("%s: expected one of %s, found '%s'", name, known, text);
	return -1;
}

int tl_print_help(const char *const *lines)
{
	for (; *lines && !tl_output_failed(); lines++)
		puts(*lines);
	return TL_OK;
}

int tl_print_version(void)
{
	printf("%s %s\n", tl_program(), simidx_version());
	printf("%s\n", simidx_build_info());
	printf("%s\n", tl_text_build_info());
	return TL_OK;
}

int tl_output_failed(void)
{
	if (ferror(stdout) && !output_errno)
		output_errno = errno ? errno : EIO;
	return output_errno != 0;
}

int tl_finish_output(int code)
{
	tl_output_failed();
	if (fclose(stdout) && !output_errno)
		output_errno = errno;
	if (!output_errno)
		return code;
	return tl_error("cannot write to standard output: %s", strerror(output_errno));
}

void tl_ignore_sigpipe(void)
{
	signal(SIGPIPE, SIG_IGN);
}

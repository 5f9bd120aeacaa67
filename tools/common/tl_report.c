/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "common/tl_report.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_number.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

/* Messages about single rows and files beyond this are only counted. */
#define MAX_REPORTED 20

/* And of rows that have the same mistake. */
#define MAX_SAME 3

const char *tl_report_advise(int reason)
{
	return reason == ENOENT	   ? "; mkdir -p makes its directory" :
	       reason == ENOTDIR   ? "; a file stands where a directory is to be: name another" :
	       reason == EISDIR	   ? "; name a file in it" :
	       reason == EACCES	   ? "; name a file in a directory that is yours" :
				     "";
}

int tl_report_open(const char *path, const char *mode, FILE **out)
{
	*out = NULL;
	if (!path)
		return 0;
	*out = strcmp(path, "-") == 0 ? stdout : fopen(path, mode);
	return *out ? 0 : tl_error("%s: cannot write: %s%s", path, strerror(errno),
				   tl_report_advise(errno));
}

int tl_report_close(FILE *out, const char *path, const char *what, int code)
{
	int failed, reason;

	if (!out || out == stdout)
		return code;
	failed = ferror(out);
	reason = fclose(out) ? errno : 0;
	return !failed && !reason ? code :
				    tl_error("%s: cannot write %s%s%s", path, what,
					     reason ? ": " : "", reason ? strerror(reason) : "");
}

/* How many rows of one file come together with the same reason, but for what was found there. */
static int count_same(const char *place, const char *reason)
{
	static char last[512];
	static int n_same;
	const char *line = strrchr(place, ':');
	char now[sizeof(last)];

	if (!line || line[1 + strspn(line + 1, "0123456789")])
		return n_same = 0;
	snprintf(now, sizeof(now), "%.*s%.*s", (int)(line - place), place,
		 (int)strcspn(reason, "';"), reason);
	n_same = strcmp(now, last) ? 1 : n_same + 1;
	strcpy(last, now);
	return n_same;
}

int tl_report_tells(uint64_t n, const char *what, const char *place, const char *reason)
{
	int n_same = count_same(place, reason);

	if (n <= MAX_REPORTED && n_same == MAX_SAME + 1)
		tl_error("more %s of this kind are only counted", what);
	if (n == MAX_REPORTED + 1 && n_same <= MAX_SAME)
		tl_error("more %s are only counted", what);
	return n <= MAX_REPORTED && n_same <= MAX_SAME;
}

void tl_report_reject(FILE *out, const char *place, const char *reason)
{
	if (!out)
		return;
	tl_put_message(out, place, strlen(place));
	fputc('\t', out);
	tl_put_message(out, reason, strlen(reason));
	fputc('\n', out);
}

void tl_remark_add(struct tl_remark *remark, const char *place)
{
	if (!remark->n++)
		remark->first = strdup(place);
}

void tl_remark_tell(const struct tl_remark *remark, const char *one, const char *many,
		    const char *advice)
{
	if (remark->n)
		tl_notice("%s (%s%s)%s", tl_counted(remark->n, one, many),
			  remark->n == 1 ? "" : "first: ", remark->first ? remark->first : "?",
			  advice);
}

uint64_t tl_report_peak(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024;
}

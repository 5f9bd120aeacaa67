/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_mark.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DONE "dd-mark2 done"

/*
 * Standard output or --output, --dups and --evidence: device, inode and length of each; 0 if it is no regular
 * file.
 */
#define OPEN "dd-mark2 open"
#define PLACE " %" PRIx64 " %" PRIx64 " %" PRIx64
#define SCANNED_PLACE " %" SCNx64 " %" SCNx64 " %" SCNx64

static void note(uint64_t place[3], int rc, const struct stat *status)
{
	memset(place, 0, 3 * sizeof(place[0]));
	if (rc || !S_ISREG(status->st_mode))
		return;
	place[0] = status->st_dev;
	place[1] = status->st_ino;
	place[2] = (uint64_t)status->st_size;
}

void dd_mark_write(char mark[DD_MARK_SIZE], const struct dd_options *options, int remember,
		   int is_complete)
{
	const char *word = dd_remember_word(remember);
	uint64_t output[3], dups[3], evidence[3];
	struct stat status;

	note(output, options->output ? stat(options->output, &status) :
				       fstat(STDOUT_FILENO, &status), &status);
	note(dups, options->dups ? stat(options->dups, &status) : -1, &status);
	note(evidence, options->evidence ? stat(options->evidence, &status) : -1, &status);
	if (is_complete)
		snprintf(mark, DD_MARK_SIZE, DONE " %s", word);
	else
		snprintf(mark, DD_MARK_SIZE, OPEN PLACE PLACE PLACE " %s", output[0], output[1],
			 output[2], dups[0], dups[1], dups[2], evidence[0], evidence[1],
			 evidence[2], word);
}

/* It is the last word. */
int dd_mark_remember(const char *mark)
{
	const char *word = strrchr(mark, ' ');

	if (strncmp(mark, DONE, strlen(DONE)) != 0 && strncmp(mark, OPEN, strlen(OPEN)) != 0)
		return -1;
	for (int i = SIMIDX_DEDUP_FINGERPRINT; i <= SIMIDX_DEDUP_TEXT; i++)
		if (word && strcmp(word + 1, dd_remember_word(i)) == 0)
			return i;
	return -1;
}

off_t dd_mark_committed(const char *mark, int fd)
{
	uint64_t here[3], there[9];
	struct stat status;
	int n;

	note(here, fstat(fd, &status), &status);
	n = sscanf(mark, OPEN SCANNED_PLACE SCANNED_PLACE SCANNED_PLACE, &there[0], &there[1],
		   &there[2], &there[3], &there[4], &there[5], &there[6], &there[7], &there[8]);
	/* Marks of earlier versions have two places. */
	for (int i = 0; here[1] && i + 3 <= n; i += 3)
		if (here[0] == there[i] && here[1] == there[i + 1])
			return (off_t)there[i + 2];
	return -1;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Fingerprints of 128 bits, as a 128-bit SimHash or an image hash has: the first 64 bits are the
 * fingerprint, the others the second fingerprint. With both radii k, a search finds exactly what
 * differs in k of all 128 bits or fewer: the first 64 bits alone then differ in no more than k.
 *
 *     cc wide.c -o wide $(pkg-config --cflags --libs libsimidx)
 *     ./wide index 5 0123456789abcdef0123456789abcdef <fingerprints
 *
 * Adds the lines of standard input, 32 hexadecimal digits each, to the index, which is made if it
 * is not there. Then prints what it has near to each fingerprint that is asked for, the nearest
 * first: the distance, the id, from 0 on in the order in which lines were added, the fingerprint.
 *
 * Exit status: 0 something is near, 1 nothing is, 2 it could not be done.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx.h>

static simidx_error err;
static size_t n_near;

static int bad(const char *what)
{
	snprintf(err.text, sizeof(err.text), "not 32 hexadecimal digits: %s", what);
	return -1;
}

static int parse(const char *digits, uint64_t *fp, uint64_t *fp2)
{
	char high[17] = "";

	if (strspn(digits, "0123456789abcdefABCDEF") != 32 || digits[32])
		return bad(digits);
	memcpy(high, digits, 16);
	*fp = strtoull(high, NULL, 16);
	*fp2 = strtoull(digits + 16, NULL, 16);
	return 0;
}

static int add_lines(simidx *index)
{
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_writer *writer;
	char line[100];
	int rc = simidx_writer_open(index, NULL, &writer, &err);

	doc.flags = SIMIDX_DOC_FP2;
	while (!rc && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		rc = parse(line, &doc.fp, &doc.fp2);
		if (!rc)
			rc = simidx_writer_put(writer, &doc, NULL, &err);
	}
	if (!rc)
		rc = simidx_writer_commit(writer, &err);
	simidx_writer_close(writer); /* forgets what was not committed */
	return rc;
}

static int search(simidx_reader *reader, const char *digits, unsigned k)
{
	simidx_results found = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	int rc = parse(digits, &query.fp, &query.fp2);

	query.flags = SIMIDX_QUERY_FP2;
	query.radius = k < 64 ? k : 64; /* in which the first 64 bits can differ */
	query.radius2 = k;
	query.limit = 0; /* all */
	if (!rc)
		rc = simidx_reader_search(reader, &query, &found, &err);
	for (size_t i = 0; !rc && i < found.n; i++) {
		const simidx_match *match = &found.matches[i];

		printf("%u\t%" PRIu64 "\t%016" PRIx64 "%016" PRIx64 "\n",
		       match->distance + match->distance2, match->id, match->fp, match->fp2);
	}
	n_near += rc ? 0 : found.n;
	return rc;
}

int main(int argc, char **argv)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_reader *reader = NULL;
	simidx *index = NULL;
	int rc;

	if (argc < 3) {
		fprintf(stderr, "usage: wide INDEX RADIUS [FINGERPRINT...] <FINGERPRINTS\n");
		return 2;
	}
	create.flags = SIMIDX_CREATE_FP2;
	how.flags = SIMIDX_OPEN_CREATE;
	how.create = &create;
	rc = simidx_open(argv[1], &how, &index, &err);
	if (!rc)
		rc = add_lines(index);
	if (!rc)
		rc = simidx_reader_open(index, &reader, &err);
	for (int i = 3; !rc && i < argc; i++)
		rc = search(reader, argv[i], (unsigned)strtoul(argv[2], NULL, 10));
	simidx_reader_close(reader);
	simidx_close(index);
	if (rc || fflush(stdout)) {
		fprintf(stderr, "wide: %s\n", rc ? err.text : "cannot write the answers");
		return 2;
	}
	return n_near ? 0 : 1;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Prints what an index of texts has that is near to a text on standard input, the nearest first:
 * weighted distance, id and label.
 *
 *     cc text_search.c -o text_search $(pkg-config --cflags --libs libsimidx-text)
 *     simidx-load index one.txt two.txt
 *     ./text_search index <new.txt
 *
 * Exit status: 0 something is near, 1 nothing is, 2 it could not be done.
 */

#include <stdio.h>

#include <simidx_text.h>

static char text[1 << 20];

static void print(const simidx_results *found)
{
	for (size_t i = 0; i < found->n; i++) {
		const simidx_match *match = &found->matches[i];

		printf("%u\t%llu\t%.*s\n", match->weighted_distance,
		       (unsigned long long)match->id, (int)match->label_size,
		       match->label ? match->label : "");
	}
}

int main(int argc, char **argv)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_results found = SIMIDX_RESULTS_INIT;
	simidx *index = NULL;
	simidx_text *extractor = NULL;
	simidx_reader *reader = NULL;
	simidx_error err;
	size_t size;
	int rc;

	if (argc != 2) {
		fprintf(stderr, "usage: text_search INDEX <FILE\n");
		return 2;
	}
	size = fread(text, 1, sizeof(text), stdin);
	rc = simidx_open(argv[1], NULL, &index, &err);
	/* Each of these is for many searches; every thread opens its own extractor and reader. */
	if (!rc)
		rc = simidx_text_open_for(index, NULL, &extractor, &err);
	if (!rc)
		rc = simidx_reader_open(index, &reader, &err);
	/* This is done for each text. */
	if (!rc)
		rc = simidx_text_query(extractor, index, text, size, &sketch, &query, &err);
	if (!rc) {
		query.flags |= SIMIDX_QUERY_LABELS;
		rc = simidx_reader_search(reader, &query, &found, &err);
	}
	if (rc)
		fprintf(stderr, "text_search: %s\n", err.text);
	else
		print(&found);
	rc = rc ? 2 : !found.n;
	simidx_reader_close(reader);
	simidx_text_close(extractor);
	simidx_close(index);
	return rc;
}

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Tells a crawler which pages are nearly the same as one that it had before. Any number of these
 * may run on one index at once; the first one makes it.
 *
 *     cc seen.c -o seen $(pkg-config --cflags --libs libsimidx-text)
 *     ./seen index <pages
 *
 * A line of the input is a URL, a tab and the words of the page. The answer is one, too, with tabs:
 *
 *     new    URL                the page is stored
 *     seen   URL OTHER WEIGHT   it is not: OTHER is nearly the same; 0 means the same words
 *     again  URL                the URL was stored already: it has these words from now on,
 *                               also if they are near to those of another page, as the index
 *                               is to say what each URL has today
 *     gone   URL                there are no words: the URL is not stored, or not any more
 *     bad    URL                nothing is done: the URL is empty, or it or the page is too long
 *
 * What is answered is stored, also after a power cut. Each page is a commit, so all processes have
 * their turn; many pages a commit are faster. Exit status: 0, or 2 if it fails, also when the index
 * was replaced (simidx-query compact): start it again with the lines that have no answer.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <simidx_text.h>

static simidx_error err;
static simidx *seen;
static simidx_text *words;
static simidx_writer *writer;

static int open_all(const char *path)
{
	simidx_create_options create = SIMIDX_CREATE_OPTIONS_INIT;
	simidx_open_options how = SIMIDX_OPEN_OPTIONS_INIT;
	simidx_text *usual;
	int rc = simidx_text_open(NULL, &usual, &err);

	if (rc)
		return rc;
	create.flags = SIMIDX_CREATE_FP2; /* texts have second fingerprints */
	create.profile = simidx_text_profile(usual);
	create.check_fps = simidx_text_check_fps(usual, &create.n_check_fps);
	how.flags = SIMIDX_OPEN_CREATE;
	how.create = &create;
	rc = simidx_open(path, &how, &seen, &err);
	simidx_text_close(usual);
	/* An index that was there may have been made by other rules. */
	if (!rc)
		rc = simidx_text_open_for(seen, NULL, &words, &err);
	return rc ? rc : simidx_writer_open(seen, NULL, &writer, &err);
}

static int done(int rc, const char *answer, const char *url)
{
	if (!rc)
		rc = simidx_writer_commit(writer, &err);
	if (!rc)
		printf("%s\t%s\n", answer, url);
	return rc;
}

static int judge(const char *url, const char *page)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_match other;
	int rc = simidx_text_query_if_new(words, seen, page, strlen(page), &sketch, &query, &err);

	if (rc == SIMIDX_E_RANGE || !*url || strlen(url) > SIMIDX_MAX_LABEL)
		return done(SIMIDX_OK, "bad", url);
	if (!rc && sketch.flags & SIMIDX_SKETCH_EMPTY) {
		rc = simidx_writer_delete_label(writer, url, strlen(url), &err);
		return done(rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc, "gone", url);
	}
	query.flags |= SIMIDX_QUERY_LABELS;
	doc.label = url;
	doc.label_size = strlen(url);
	doc.fp = sketch.fp;
	doc.fp2 = sketch.fp2;
	doc.flags = SIMIDX_DOC_FP2;
	rc = rc ? rc : simidx_writer_put_if_new(writer, &doc, &query, NULL, &other, &err);
	if (rc == SIMIDX_E_DUPLICATE)
		return done(simidx_writer_replace(writer, &doc, NULL, &err), "again", url);
	if (rc != SIMIDX_E_EXISTS)
		return done(rc, "new", url);
	printf("seen\t%s\t%.*s\t%u\n", url, (int)other.label_size, other.label ? other.label : "",
	       other.weighted_distance);
	simidx_writer_rollback(writer); /* nothing was changed: let the others have their turn */
	return SIMIDX_OK;
}

int main(int argc, char **argv)
{
	char *line = NULL, *page;
	size_t size = 0;
	int failed, rc = open_all(argc > 1 ? argv[1] : "seen.simidx");

	setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
	while (!rc && !ferror(stdout) && getline(&line, &size, stdin) > 0) {
		line[strcspn(line, "\n")] = '\0';
		page = line + strcspn(line, "\t");
		if (*page)
			*page++ = '\0';
		rc = judge(line, page);
	}
	failed = rc || fflush(stdout) || ferror(stdout);
	if (failed)
		fprintf(stderr, "seen: %s\n", rc ? err.text : "cannot write the answers");
	free(line);
	simidx_writer_close(writer);
	simidx_text_close(words);
	simidx_close(seen);
	return failed ? 2 : 0;
}

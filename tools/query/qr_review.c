/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_review.h"

#include "common/tl_advice.h"
#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "common/tl_report.h"
#include "input/in_lines.h"
#include "query/qr_texts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No line of evidence is longer: paths, labels and two excerpts, whatever of them is escaped. */
#define MOST_LINE ((size_t)1 << 20)
#define TOO_LONG "it is longer than 1 MiB"

/* Messages about single lines beyond this are only counted. */
#define MAX_REPORTED 20

/* If the first so many lines are none, all are. */
#define HOPELESS 10

static struct options {
	uint64_t sample;
	const char *html;
	const char *row;
} options;

/* ---- what is said ---- */

const char *qr_review_similarity(const struct in_pair *pair, char out[QR_SIMILARITY_SIZE])
{
	if (pair->has_distance)
		snprintf(out, QR_SIMILARITY_SIZE, "%" PRIu64 " bit%s", pair->distance,
			 pair->distance == 1 ? "" : "s");
	else if (pair->similarity < 0)
		snprintf(out, QR_SIMILARITY_SIZE, "no similarity");
	else
		snprintf(out, QR_SIMILARITY_SIZE, pair->is_estimate ? "about %.0f %%, limit %g" :
								      "%.1f %%, limit %g",
			 pair->similarity, pair->limit);
	return out;
}

const char *qr_review_fate(const struct in_pair *pair)
{
	return pair->is_kept ? "kept: a near miss" : "left out";
}

const char *qr_review_trouble(const struct in_side *side)
{
	switch (side->found) {
	case IN_FOUND:
		return NULL;
	case IN_CHANGED:
		return "the text has changed: another one is in its place";
	case IN_GONE:
		return "the text is gone: its file is not there";
	case IN_UNREADABLE:
		return "the text cannot be read: its file is damaged, special or protected";
	default:
		break;
	}
	if (side->index)
		return "the text is not in a file: an index remembers it";
	if (!side->has_hash)
		return "it is no text";
	if (!side->path)
		return "the text cannot be read again: no file is named";
	return strcmp(side->path, "-") ?
		       "the text cannot be read again: its format is not known" :
		       "the text cannot be read again: it came from standard input";
}

int qr_review_has_name(const struct in_side *side)
{
	return side->label && !(side->path && side->label_size == side->path_size &&
				memcmp(side->label, side->path, side->path_size) == 0);
}

int qr_review_words(const struct in_pair *pair,
		    void (*show)(void *ctx, const struct qr_shown *shown), void *ctx,
		    const char **note)
{
	const struct in_side *new = &pair->side[0], *old = &pair->side[1];
	struct qr_difference difference = { 0 };
	int rc = 0;

	*note = NULL;
	if (new->found == IN_FOUND && old->found == IN_FOUND)
		rc = qr_words_show(old->text, old->text_size, new->text, new->text_size, show, ctx,
				   &difference);
	else if (new->excerpt && old->excerpt)
		rc = qr_words_show(old->excerpt, old->excerpt_size, new->excerpt,
				   new->excerpt_size, show, ctx, &difference);
	else
		return 0;
	if (new->found != IN_FOUND || old->found != IN_FOUND)
		*note = "This is from the excerpts in the evidence.";
	else if (difference.is_rough)
		*note = "More than 1,000 words differ, so all between the first and the last is "
			"taken to.";
	else if (new->is_cut || old->is_cut)
		*note = "Only the first megabyte of each text was compared here.";
	else if (!difference.places && new->text_size == old->text_size &&
		 memcmp(new->text, old->text, new->text_size) == 0)
		*note = "The texts have the same bytes.";
	else if (!difference.places)
		*note = "No word differs, only what is between words.";
	return rc;
}

/* ---- reading ---- */

struct reading {
	const char *path;
	struct qr_sample *sample;
	struct in_lines lines;
	uint64_t met, rejected;
	/* Those before the first pair: told when there is one, else it is another kind of file. */
	struct early {
		uint64_t line;
		const char *reason;
	} early[HOPELESS];
};

static void tell(const struct reading *reading, uint64_t line, const char *reason)
{
	tl_error("%s:%" PRIu64 ": no evidence: %s", reading->path, line, reason);
}

static void reject(struct reading *reading, const char *reason)
{
	const struct early early = { reading->lines.line, reason };

	if (!reading->met)
		reading->early[reading->rejected] = early;
	else if (reading->rejected < MAX_REPORTED)
		tell(reading, early.line, reason);
	reading->rejected++;
}

static int is_same(const char *name, const char *bytes, size_t size)
{
	return bytes && strlen(name) == size && memcmp(name, bytes, size) == 0;
}

/* Whether a row is called so: by its label, its file, its file and line, or its id. */
static int is_called(const struct in_side *side, const char *name)
{
	char line[32], id[32];
	size_t n = side->path_size;

	snprintf(line, sizeof(line), ":%" PRIu64, side->line);
	snprintf(id, sizeof(id), "%" PRIu64, side->id);
	if (is_same(name, side->label, side->label_size) || is_same(name, side->path, n))
		return 1;
	if (side->path && side->line && strncmp(name, side->path, n) == 0)
		return strcmp(name + n, line) == 0;
	return side->id != SIMIDX_NO_ID && strcmp(name, id) == 0;
}

/* Returns -1 when memory is short. */
static int meet(struct reading *reading, struct in_pair *pair, const char *line, size_t size)
{
	const char *row = options.row; /* NULL: pairs of all rows are shown */

	pair->number = reading->lines.line;
	for (uint64_t i = 0; !reading->met && i < reading->rejected; i++)
		tell(reading, reading->early[i].line, reading->early[i].reason);
	reading->met++;
	if (row && !is_called(&pair->side[0], row) && !is_called(&pair->side[1], row))
		return 0;
	return qr_sample_meet(reading->sample, pair, line, size);
}

/* Returns 0 or an exit code. */
static int read_lines(struct reading *reading)
{
	struct in_lines *lines = &reading->lines;
	const char *path = reading->path, *line, *reason;
	struct in_pair pair;
	enum in_result rc;
	size_t size;
	int failed = 0;

	while ((rc = in_lines_next(lines, &line, &size)) == IN_ROW && !tl_stop_requested()) {
		if (!size)
			continue;
		if (in_evidence_parse(line, size, &pair, &reason))
			reject(reading, reason);
		else
			failed = meet(reading, &pair, line, size);
		in_pair_free(&pair);
		if (failed)
			return tl_error("out of memory");
		if (!reading->met && reading->rejected == HOPELESS)
			break;
	}
	if (tl_stop_requested())
		return tl_error("stopped by a signal");
	if (rc == IN_FATAL)
		return tl_error("%s: %s", path, lines->source.reason);
	if (rc == IN_REJECTED && (reading->met || !reading->rejected))
		reject(reading, TOO_LONG);
	if (!reading->met && reading->rejected)
		return tl_error("%s: is no evidence (line %" PRIu64 ": %s); give the file that "
				"simidx-dedup --evidence FILE has written", path,
				reading->early[0].line, reading->early[0].reason);
	if (reading->rejected > MAX_REPORTED)
		tl_error("%s: %" PRIu64 " lines in all are no evidence", path, reading->rejected);
	return rc == IN_REJECTED ? tl_error("%s: is not read on behind line %" PRIu64, path,
					    lines->line) : 0;
}

static int read_evidence(const char *path, struct qr_sample *sample, uint64_t *rejected)
{
	struct reading reading = { .path = path, .sample = sample,
				   .lines = { .most = MOST_LINE, .ends_at_long = 1 } };
	char word[TL_PATH_WORD_SIZE];
	int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	const char *nearest;
	struct stat status;
	int code, reason;

	reason = errno;
	nearest = fd < 0 && reason == ENOENT ? tl_nearest_file(path) : NULL;
	if (nearest)
		return tl_error("%s: cannot open: %s; is %s meant?", path, strerror(reason),
				nearest);
	if (fd < 0)
		return tl_error("%s: cannot open: %s; 'simidx-dedup --evidence %s INPUT' makes it",
				path, strerror(reason), tl_path_word(path, word));
	if (!fstat(fd, &status) && S_ISDIR(status.st_mode)) {
		close(fd);
		return tl_error("%s: is a directory, and review shows the pairs of a file that "
				"simidx-dedup --evidence has written", path);
	}
	in_lines_begin(&reading.lines, fd, '\n');
	code = read_lines(&reading);
	*rejected = reading.rejected;
	in_lines_free(&reading.lines);
	if (fd != STDIN_FILENO)
		close(fd);
	return code;
}

/* ---- the command ---- */

/* A new file, so that none is lost. */
static int write_page(const char *path, const struct qr_review *review)
{
	size_t n = review->sample.n_pairs;
	FILE *out = fopen(path, "wxe");
	int is_short, failed, is_stopped;

	if (!out && errno == EEXIST)
		return tl_error("%s: exists already: remove it, or name another file", path);
	if (!out)
		return tl_error("%s: cannot write: %s%s", path, strerror(errno),
				tl_report_advise(errno));
	is_short = qr_review_page(out, review);
	failed = ferror(out);
	failed |= fclose(out);
	is_stopped = !is_short && tl_stop_requested();
	if (!is_short && !failed && !is_stopped) {
		tl_notice("%s: has %zu pair%s", path, n, n == 1 ? "" : "s");
		return 0;
	}
	if (is_short || is_stopped)
		tl_error(is_short ? "out of memory" : "stopped by a signal");
	else
		tl_error("%s: cannot write: %s", path, strerror(errno));
	unlink(path);
	return TL_TROUBLE;
}

static int review(struct qr_context *ctx, const char *path)
{
	static struct qr_review review;
	struct qr_sample *sample = &review.sample;
	uint64_t rejected = 0;
	int code;

	review.path = path;
	sample->most = options.sample;
	code = read_evidence(path, sample, &rejected);
	if (!code && qr_sample_draw(sample))
		code = tl_error("out of memory");
	if (!code)
		code = qr_texts_read(sample->pair, sample->n_pairs);
	if (!code && tl_stop_requested())
		code = tl_error("stopped by a signal");
	if (!code && options.row && !sample->n_pairs) {
		tl_error("%s: has no row '%s': --row takes its label, FILE:LINE, FILE or id", path,
			 options.row);
		code = TL_PARTLY;
	}
	if (!code)
		code = options.html ? write_page(options.html, &review) :
				       qr_review_term(ctx, &review);
	qr_sample_free(sample);
	return !code && rejected ? TL_PARTLY : code;
}

static int run_review(struct qr_context *ctx)
{
	if (!*ctx->operands[0])
		return tl_usage_error("review: EVIDENCE is empty");
	if (ctx->json)
		return tl_usage_error("review is for people; EVIDENCE itself is JSON");
	if (options.html && !*options.html)
		return tl_usage_error("review: FILE is empty");
	if (options.row && !*options.row)
		return tl_usage_error("--row: NAME is empty");
	if (options.html && strcmp(options.html, "-") == 0)
		return tl_usage_error("--html: the page is written to a file; name one");
	if (in_evidence_missing())
		return tl_error("%s", in_evidence_missing());
	tl_stop_on_signals();
	return review(ctx, ctx->operands[0]);
}

static const struct tl_option rows[] = {
	{ 0, "sample", "N", TL_NUMBER(struct options, sample, 1, QR_MOST_SAMPLE),
	  .standard = "50", .help = "show at most N pairs",
	  .more = "Show at most N pairs. Of 50 there are 15 near misses, 15 of less than 5 points "
		  "above the limit, 7 of less than 10 and 5 of more, 2 of the same bytes and 5 "
		  "that fingerprints have decided; where there are too few of one, others "
		  "take their place. It is drawn by chance, but the same from the same EVIDENCE." },
	{ 0, "row", "NAME", TL_TEXT(struct options, row),
	  .help = "show only pairs of the row NAME",
	  .more = "Show only pairs of which one row is NAME: a label, FILE:LINE, a FILE, or an id. "
		  "So you see why a row was left out, and which rows were left out for one." },
	{ 0, "html", "FILE", TL_TEXT(struct options, html),
	  .help = "write a page of HTML to FILE",
	  .more = "Write them to the new file FILE as one page of HTML, without scripts and "
		  "without anything from elsewhere, light or dark as the browser is set." },
	{ TL_SECTION("What is shown") },
	{ TL_PARAGRAPH("Of each pair both rows with their places, how similar they are, and the "
		       "words round each difference: [-what only the one has that was kept-] and "
		       "{+what only the other has+}, or in colours. The texts are read again at "
		       "their places, so the command is to be run in the directory in which "
		       "simidx-dedup was. A text that is gone or has changed since is marked; of "
		       "such a pair the excerpts are shown that simidx-dedup --evidence-texts has "
		       "written. Control bytes are escaped, and so are characters that are not "
		       "seen or turn the direction of a text, such as U+200B and U+202E.") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-dedup --evidence why.jsonl --near-misses 5 rows.jsonl >groups",
		     "Write evidence of what is left out, and of what nearly is.") },
	{ TL_EXAMPLE("simidx-query review why.jsonl", "Look at 50 pairs of it.") },
	{ TL_EXAMPLE("simidx-query review --row rows.jsonl:17 why.jsonl",
		     "Why is row 17 left out?") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: shown. 1: some lines of EVIDENCE are none, or no pair has the "
		       "row of --row. 2: it could not be done, as "
		       "with a line of more than 1 MiB, which no evidence has.") },
	{ 0 },
};

const struct qr_command qr_review = {
	.line = { .name = "review", .operands = "EVIDENCE", .least = 1, .most = 1,
		  .shortest = "FILE",
		  .summary = "show pairs of rows that simidx-dedup took for near",
		  .about = "Show a sample of the pairs in EVIDENCE, a file that simidx-dedup "
			   "--evidence has written, or '-' for standard input: what differs in "
			   "their texts. Most of them are close to the limit.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_review,
};

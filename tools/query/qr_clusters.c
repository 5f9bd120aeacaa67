/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "query/qr_command.h"

#include "common/tl_escape.h"
#include "common/tl_msg.h"
#include "common/tl_output.h"
#include "input/in_room.h"
#include "query/qr_join.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <simidx_walk.h>

static struct options {
	struct qr_join join;
	unsigned link, keep;
	uint64_t max_size;
	int drop_list, order, null;
} options = { .join = QR_JOIN_INIT };

/* A document of a cluster, as --order needs it: by its id, or its fingerprint without ids. */
struct member {
	uint64_t cluster, name;
};

struct printing {
	struct qr_join_run run;
	uint64_t n;            /* members taken */
	struct in_room members; /* struct member: of --order, by cluster */
	int has_no_length;     /* a text of --keep longest, which has been said */
};

static void print_member(const struct printing *p, const simidx_member *m)
{
	int has_id = m->id != SIMIDX_NO_ID;

	if (options.drop_list) {
		if (m->is_keeper)
			return;
		qr_join_put_name(p->run.ctx, has_id, m->id, m->fp);
		putchar('\n');
		return;
	}
	qr_join_put_document(p->run.ctx, has_id, m->cluster, m->cluster);
	qr_join_put_document(p->run.ctx, has_id, m->id, m->fp);
	qr_join_put_distance(p->run.ctx, m->distance);
	printf("%s%s", m->is_keeper ? "keep" : "drop", p->run.ctx->width ? "  " : "\t");
	qr_join_put_labels(p->run.ctx, &m->label, &m->label_size, 1);
}

static void json_member(const struct printing *p, const simidx_member *m)
{
	struct tl_json json;

	if (options.drop_list && m->is_keeper)
		return;
	json = tl_json_line(stdout);
	if (options.drop_list) {
		if (m->id == SIMIDX_NO_ID)
			qr_json_fingerprint(&json, "fp", m->fp, p->run.ctx->info.bits);
		else
			tl_json_unsigned(&json, "id", m->id);
		qr_json_end(&json);
		return;
	}
	if (m->id == SIMIDX_NO_ID) {
		qr_json_fingerprint(&json, "cluster", m->cluster, p->run.ctx->info.bits);
	} else {
		tl_json_unsigned(&json, "cluster", m->cluster);
		tl_json_unsigned(&json, "id", m->id);
	}
	qr_json_fingerprint(&json, "fp", m->fp, p->run.ctx->info.bits);
	tl_json_unsigned(&json, "distance", m->distance);
	tl_json_bool(&json, "keep", (int)m->is_keeper);
	tl_json_bytes(&json, "label", m->label, m->label_size);
	qr_json_end(&json);
}

static int print_members(void *arg, const simidx_member *members, size_t n)
{
	struct printing *p = arg;

	if (!p->n && !options.drop_list)
		qr_join_put_titles(p->run.ctx, "", "cluster",
				   p->run.ctx->info.labels ? "distance        label" : "distance");
	for (size_t i = 0; i < n; i++) {
		if (p->run.ctx->json)
			json_member(p, &members[i]);
		else
			print_member(p, &members[i]);
		if (qr_join_ends())
			return 1;
		p->n++;
	}
	return 0;
}

/* ---- all documents in an order in which near ones stand together ---- */

static int keep_members(void *arg, const simidx_member *members, size_t n)
{
	struct printing *p = arg;
	struct member *kept;

	if (in_room_have(&p->members, (p->n + n) * sizeof(struct member)))
		return tl_error("out of memory");
	kept = p->members.bytes;
	for (size_t i = 0; i < n; i++) {
		uint64_t name = members[i].id == SIMIDX_NO_ID ? members[i].fp : members[i].id;

		kept[p->n++] = (struct member){ members[i].cluster, name };
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The label, as that is what files are called; the id where there is none. */
static void print_document(const struct printing *p, const simidx_match *document)
{
	int has_id = document->id != SIMIDX_NO_ID;

	if (document->label && options.null)
		fwrite(document->label, 1, document->label_size, stdout);
	else if (document->label)
		tl_put_escaped(stdout, document->label, document->label_size);
	else
		qr_join_put_name(p->run.ctx, has_id, document->id, document->fp);
	putchar(options.null ? 0 : '\n');
}

/* A document of a cluster. One that was deleted meanwhile is left out. */
static int print_kept(const struct printing *p, simidx_reader *reader, uint64_t name, int has_id,
		      simidx_error *err)
{
	simidx_match document = { .id = SIMIDX_NO_ID, .fp = name };
	int rc = has_id ? simidx_reader_find_id(reader, name, &document, err) : SIMIDX_OK;

	if (!rc)
		print_document(p, &document);
	return rc == SIMIDX_E_NOT_FOUND ? SIMIDX_OK : rc;
}

/* From member *next on: those of clusters that come before this one, and of it. */
static int print_clusters(const struct printing *p, size_t *next, uint64_t last,
			  simidx_reader *reader, simidx_error *err)
{
	int has_ids = !(p->run.ctx->info.flags & SIMIDX_CREATE_NO_IDS), rc = SIMIDX_OK;
	const struct member *member = p->members.bytes;

	for (; !rc && !qr_join_ends() && *next < p->n && member[*next].cluster <= last; ++*next)
		rc = print_kept(p, reader, member[*next].name, has_ids, err);
	return rc;
}

/*
 * By id, but the first document of a cluster brings the others. Clusters, walk and reader are three
 * snapshots. What was deleted between them is left out, and nothing else: a cluster whose first
 * document is gone comes before the next document of the walk.
 */
static int print_order(struct printing *p, simidx_walk *walk, simidx_reader *reader)
{
	uint64_t *names = malloc((p->n + 1) * sizeof(*names)); /* of members, ascending */
	size_t next = 0, passed = 0;
	simidx_match document;
	simidx_error err;
	int rc = SIMIDX_OK;

	if (!names)
		return tl_error("out of memory");
	for (size_t i = 0; i < p->n; i++)
		names[i] = ((const struct member *)p->members.bytes)[i].name;
	qsort(names, p->n, sizeof(*names), by_name);
	while (!rc && !qr_join_ends() && !(rc = simidx_walk_next(walk, &document, &err))) {
		uint64_t name = document.id == SIMIDX_NO_ID ? document.fp : document.id;

		rc = print_clusters(p, &next, name, reader, &err);
		while (passed < p->n && names[passed] < name)
			passed++;
		if (!rc && (passed == p->n || names[passed] != name))
			print_document(p, &document);
	}
	free(names);
	if (rc == SIMIDX_E_END)
		rc = print_clusters(p, &next, UINT64_MAX, reader, &err);
	if (rc)
		return qr_fail(p->run.ctx, &err);
	if (!qr_join_ends())
		return TL_OK;
	return tl_output_failed() ? TL_TROUBLE : tl_error("stopped by a signal");
}

static int order(struct printing *p, const simidx_join_options *o, const simidx_clusters_options *c)
{
	simidx_reader *reader = NULL;
	simidx_walk *walk = NULL;
	simidx_error err;
	int code, rc = simidx_clusters(p->run.ctx->index, o, c, keep_members, &err);

	if (p->has_no_length)
		return TL_TROUBLE;
	if (!rc)
		rc = simidx_walk_open(p->run.ctx->index, &walk, &err);
	if (!rc)
		rc = simidx_reader_open(p->run.ctx->index, &reader, &err);
	tl_progress_clear();
	code = rc ? qr_join_fail(p->run.ctx, &err) : print_order(p, walk, reader);
	simidx_reader_close(reader);
	simidx_walk_close(walk);
	free(p->members.bytes);
	return code;
}

/* ---- --keep longest ---- */

static int no_length(struct printing *p, uint64_t id, const char *label, const char *why)
{
	p->has_no_length = 1;
	return tl_error("document %" PRIu64 "%s%s: %s; --keep longest needs labels that are paths "
			"of files, as simidx-load has made them of texts, as seen from this "
			"directory",
			id, label ? ", label " : "", label ? label : "", why);
}

/* A text is as long as the file that its label names. */
static int find_length(void *arg, uint64_t id, const char *label, size_t size, uint64_t *length)
{
	struct printing *p = arg;
	struct stat status;
	char path[PATH_MAX];

	if (!label)
		return no_length(p, id, NULL, "it has no label");
	if (size >= sizeof(path) || memchr(label, 0, size))
		return no_length(p, id, NULL, "its label is no path");
	memcpy(path, label, size);
	path[size] = '\0';
	if (stat(path, &status))
		return no_length(p, id, path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		return no_length(p, id, path, "not a regular file");
	if (access(path, R_OK))
		return no_length(p, id, path, strerror(errno));
	*length = (uint64_t)status.st_size;
	return 0;
}

/* ---- clusters ---- */

static int cluster(struct printing *p, struct qr_context *ctx)
{
	simidx_join_options o = qr_join_options(ctx, &options.join);
	simidx_clusters_options c = SIMIDX_CLUSTERS_OPTIONS_INIT;
	simidx_error err;
	int rc;

	o.planned = qr_join_note_plan;
	o.ctx = p;
	c.link = options.link;
	c.keep = options.keep;
	c.max_size = options.max_size;
	c.length = find_length;
	if (options.order)
		return order(p, &o, &c);
	rc = simidx_clusters(ctx->index, &o, &c, print_members, &err);
	tl_progress_clear();
	if (p->has_no_length)
		return TL_TROUBLE;
	if (rc && !tl_output_failed())
		return qr_join_fail(ctx, &err);
	return p->n ? TL_OK : TL_PARTLY;
}

static int run_clusters(struct qr_context *ctx)
{
	struct printing printing = { .run = { .ctx = ctx, .join = &options.join } };

	if (options.order && (options.drop_list || ctx->json))
		return tl_usage_error("--order excludes --drop-list and --json");
	if (options.null && !options.order)
		return tl_usage_error("--null goes with --order");
	return qr_open(ctx) ? TL_TROUBLE : cluster(&printing, ctx);
}

/* In the order of enum simidx_link, and of enum simidx_keep. */
static const char *const links[] = { "star", "single", NULL };
static const char *const keeps[] = { "first", "last", "label", "longest", NULL };

static const struct tl_option rows[] = {
	{ TL_GROUP(qr_join_rows, struct options, join) },
	{ 0, "link", "star|single", TL_WORD(struct options, link, links),
	  .standard = "star", .help = "what belongs together",
	  .more = "What belongs together. star: all documents of a cluster are near to its "
		  "keeper. single: each is near to another one, so that chains may join what "
		  "is not alike." },
	{ 0, "max-size", "N", TL_COUNT(struct options, max_size, 2, UINT64_MAX),
	  .help = "at most N documents in a cluster" },
	{ 0, "keep", "first|last|label|longest", TL_WORD(struct options, keep, keeps),
	  .standard = "first", .help = "which document is kept",
	  .more = "Which document of a cluster is kept: the first, with the smallest id; "
		  "the last, with the largest id; the one whose label comes first by its bytes; or "
		  "the longest, which is the largest of the files that the labels name, and of "
		  "equal ones the one with the smallest id. For that, labels must be paths as "
		  "simidx-load makes them of the files of texts. They are looked up from the "
		  "directory in which the command runs, and those of documents that are near to "
		  "others must be regular files that can be read. A compressed file counts with "
		  "its compressed size." },
	{ 0, "drop-list", NULL, TL_FLAG(struct options, drop_list),
	  .help = "print only the ids that you can delete, one a line",
	  .more = "Print only the ids that you can delete, one a line, as 'simidx-load --mode "
		  "delete -F ids' reads them; of an index without ids their fingerprints." },
	{ 0, "order", NULL, TL_FLAG(struct options, order),
	  .help = "all labels, near documents together",
	  .more = "Print the labels of all documents of the index, one a line, by ascending id, "
		  "but the first one of a cluster is followed by the others of it. A document "
		  "without a label has its id there. A compressor that is given files in this "
		  "order finds what they have in common. Labels have the escapes of dump, which "
		  "tar undoes. Beside --memory this needs up to 48 bytes for each document of a "
		  "cluster." },
	{ '0', "null", NULL, TL_FLAG(struct options, null),
	  .help = "with --order: end labels with NUL" },
	{ TL_SECTION("Output") },
	{ TL_PARAGRAPH("A line for each document of a cluster, the keeper first: the cluster, "
		       "which is its smallest id, the id, the distance from the keeper in bits, "
		       "keep or drop, and the label, separated by tabs, or on a terminal in a "
		       "table. Documents that are near to none are left out. An index without ids "
		       "has fingerprints in their place. "
		       "With --json an object for each: cluster, id, fp, distance, keep, label.") },
	{ TL_SECTION("Examples") },
	{ TL_EXAMPLE("simidx-query clusters --keep label index",
		     "Near-duplicates, and which of them to keep.") },
	{ TL_EXAMPLE("simidx-query clusters --keep longest --drop-list index",
		     "The ids of all files but the longest of each cluster.") },
	{ TL_EXAMPLE("simidx-query clusters --drop-list ix | simidx-load --mode delete -F ids ix -",
		     "Keep one document of each cluster.") },
	{ TL_EXAMPLE("simidx-query clusters --order index | tar -cT - | zstd --long >all.tar.zst",
		     "Compress the files that an index is of, near ones one after another.") },
	{ TL_SECTION("Exit status") },
	{ TL_PARAGRAPH("0: there are clusters, or --order was given. 1: there are none. 2: "
		       "anything else.") },
	{ 0 },
};

const struct qr_command qr_clusters = {
	.line = { .name = "clusters", .operands = "INDEX", .least = 1, .most = 1,
		  .shortest = "INDEX",
		  .summary = "put near documents into clusters",
		  .about = "Put the near documents of one snapshot into clusters, each with one "
			   "that is kept and others that you can delete. Nothing is deleted.",
		  .options = rows, .program = &qr_program },
	.options = &options, .run = run_clusters,
};

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_mark.h"

#include "common/tl_index.h"
#include "common/tl_msg.h"
#include "input/in_full.h"

#include <endian.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The record: a name, then numbers of 8 bytes, little-endian: four, and a hash for each name. */
#define NAME IN_FULL_LOAD_MARK "2"
#define NAME_SIZE 8
enum { DIGEST = 1, FILES, ROWS, TOTAL, NAMES, RECORD_SIZE = NAMES + LD_MARK_NAMES };

/* What is read of the beginning of a file. */
#define HEAD_SIZE 65536

/* How a file begins. Returns 0, or -1 with a message. */
static int hash_head(const char *name, uint64_t *hash)
{
	static char head[HEAD_SIZE];
	FILE *file = fopen(name, "rbe");
	size_t n = file ? fread(head, 1, sizeof(head), file) : 0;
	int failed = !file || ferror(file);

	if (failed)
		tl_error("%s: cannot read: %s", name, strerror(errno));
	if (file)
		fclose(file);
	*hash = simidx_feature_hash(head, n);
	return failed ? -1 : 0;
}

/*
 * A name, and of a regular file what tells it from another one that gets the same name. Returns 0,
 * or something else with a message.
 */
static int describe(FILE *out, char kind, const char *name)
{
	struct stat status;
	uint64_t hash;

	if (fprintf(out, "%c%s", kind, name) < 0 || fputc('\0', out) < 0)
		return tl_error("out of memory");
	if (strcmp(name, "-") != 0 && !stat(name, &status) && S_ISREG(status.st_mode)) {
		if (hash_head(name, &hash))
			return -1;
		if (fprintf(out, "%llu %lld.%09ld %llx", (unsigned long long)status.st_size,
			    (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
			    (unsigned long long)hash) < 0)
			return tl_error("out of memory");
	}
	return fputc('\0', out) < 0 ? tl_error("out of memory") : 0;
}

static int reads_stdin(const struct in_files_options *inputs)
{
	return in_files_n_stdin(inputs->operands, inputs->n_operands) > 0;
}

static void note_names(const struct in_files_options *inputs, struct ld_mark *mark)
{
	size_t i, n = inputs->n_operands + inputs->lists.n;

	if (n > LD_MARK_NAMES || reads_stdin(inputs))
		return;
	for (i = 0; i < inputs->n_operands; i++)
		mark->name[mark->n_names++] = simidx_feature_hash(inputs->operands[i],
								  strlen(inputs->operands[i]));
	for (i = 0; i < inputs->lists.n; i++)
		mark->name[mark->n_names++] = simidx_feature_hash(inputs->lists.at[i],
								  strlen(inputs->lists.at[i]));
}

int ld_mark_begin(const struct ld_options *options, unsigned bits, struct ld_mark *mark)
{
	const struct in_files_options *inputs = &options->inputs;
	char *text = NULL;
	size_t i, size = 0;
	FILE *out = open_memstream(&text, &size);
	int failed = 0;

	memset(mark, 0, sizeof(*mark));
	if (!out)
		return tl_error("out of memory");
	fprintf(out, "%u %s %d %d %d", bits, inputs->format ? inputs->format->name : "",
		inputs->nul_lists, inputs->recursive, inputs->hidden);
	fprintf(out, " %d %d %d %s %s %s %s", inputs->columns.header,
		(int)inputs->columns.encoding, inputs->columns.delimiter,
		inputs->columns.id ? inputs->columns.id : "",
		inputs->columns.fp ? inputs->columns.fp : "",
		inputs->columns.label ? inputs->columns.label : "",
		inputs->columns.text ? inputs->columns.text : "");
	/* What was added is not to be deleted by a load that goes on. */
	if (options->mode != LD_ADD)
		fprintf(out, " mode %d", (int)options->mode);
	if (inputs->columns.time)
		fprintf(out, " time %s", inputs->columns.time);
	if (inputs->leave.max_bytes)
		fprintf(out, " most %llu", (unsigned long long)inputs->leave.max_bytes);
	for (i = 0; i < inputs->leave.exclude.n; i++)
		fprintf(out, " not %s%c", inputs->leave.exclude.at[i], '\0');
	for (i = 0; i < inputs->n_operands && !failed; i++)
		failed = describe(out, 'o', inputs->operands[i]);
	for (i = 0; i < inputs->lists.n && !failed; i++)
		failed = describe(out, 'l', inputs->lists.at[i]);
	if ((fclose(out) || !text) && !failed)
		failed = tl_error("out of memory");
	mark->digest = simidx_feature_hash(text, size);
	free(text);
	note_names(inputs, mark);
	return failed ? TL_TROUBLE : 0;
}

int ld_mark_set(const struct ld_options *options, simidx_writer *writer, simidx_loader *loader,
		const struct ld_mark *mark)
{
	uint64_t record[RECORD_SIZE] = { [DIGEST] = htole64(mark->digest),
					 [FILES] = htole64(mark->files),
					 [ROWS] = htole64(mark->rows),
					 [TOTAL] = htole64(mark->total) };
	size_t size = (NAMES + mark->n_names) * sizeof(*record);
	simidx_error err;
	int rc;

	memcpy(record, NAME, NAME_SIZE);
	for (size_t i = 0; i < mark->n_names; i++)
		record[NAMES + i] = htole64(mark->name[i]);
	rc = loader ? simidx_loader_set_mark(loader, record, size, &err)
		    : simidx_writer_set_mark(writer, record, size, &err);
	return rc ? tl_index_error(options->index, &err) : 0;
}

/* Returns 0, or -1 if it is not one of simidx-load. */
static int parse(const uint64_t record[RECORD_SIZE], size_t size, struct ld_mark *mark)
{
	size_t n = size / sizeof(*record);

	memset(mark, 0, sizeof(*mark));
	if (n < NAMES || n > RECORD_SIZE || size % sizeof(*record) ||
	    memcmp(record, NAME, NAME_SIZE) != 0)
		return -1;
	mark->digest = le64toh(record[DIGEST]);
	mark->files = le64toh(record[FILES]);
	mark->rows = le64toh(record[ROWS]);
	mark->total = le64toh(record[TOTAL]);
	mark->n_names = n - NAMES;
	for (size_t i = 0; i < mark->n_names; i++)
		mark->name[i] = le64toh(record[NAMES + i]);
	return 0;
}

/* Whether both loads say what they read, and no input is in both. */
static int are_apart(const struct ld_mark *a, const struct ld_mark *b)
{
	for (size_t i = 0; i < a->n_names; i++)
		for (size_t j = 0; j < b->n_names; j++)
			if (a->name[i] == b->name[j])
				return 0;
	return a->n_names && b->n_names;
}

/* Where a load of inputs `own` goes on, by the mark as it is now. */
static int get(struct ld_target *target, const struct ld_mark *own, struct ld_mark *mark)
{
	const struct ld_options *options = target->options;
	uint64_t record[RECORD_SIZE];
	simidx_error err;
	size_t n;
	int rc = ld_target_mark(target, record, sizeof(record), &n, &err);

	if (rc && rc != SIMIDX_E_NOT_FOUND)
		return tl_index_error(options->index, &err);
	if (!rc && target->documents && parse(record, n, mark))
		return tl_error("%s: --resume: it does not say how far a load has come",
				options->index);
	/*
	 * What is there was stored before this load. Or it was interrupted before its first commit.
	 */
	if (rc || !target->documents || (mark->files == LD_MARK_COMPLETE && are_apart(mark, own))) {
		*mark = *own;
		return 0;
	}
	/* What comes from standard input next cannot be told from what came before. */
	if (mark->files == LD_MARK_COMPLETE && reads_stdin(&options->inputs))
		return tl_error("%s: --resume: the last load finished", options->index);
	if (own->digest != mark->digest && mark->files == LD_MARK_COMPLETE)
		return tl_error("%s: --resume: the last load finished, and it had other "
				"inputs: load these without --resume",
				options->index);
	if (own->digest != mark->digest)
		return tl_error("%s: --resume: the load that was interrupted had other inputs",
				options->index);
	return 0;
}

void ld_mark_tell_dedup(struct ld_target *target)
{
	const char *index = target->options->index;
	char bytes[sizeof(IN_FULL_DEDUP_MARK) - 1];
	simidx_error err;
	size_t n;

	if (ld_target_mark(target, bytes, sizeof(bytes), &n, &err) || n < sizeof(bytes) ||
	    memcmp(bytes, IN_FULL_DEDUP_MARK, sizeof(bytes)) != 0)
		return;
	tl_notice("%s: is kept by simidx-dedup, but this stores all rows, near ones too: "
		  "'simidx-dedup --stream --index %s' stores what is new", index, index);
}

int ld_mark_check(struct ld_target *target, const struct ld_mark *start, int *failure)
{
	struct ld_mark own, now;
	simidx_info info = SIMIDX_INFO_INIT;
	simidx_error err;
	int rc, code = ld_mark_begin(target->options, target->bits, &own);

	if (code)
		return code;
	do
		rc = simidx_writer_begin(target->writer, &err);
	while (ld_target_again(target, rc, &err));
	*failure = rc;
	if (rc)
		return tl_index_error(target->options->index, &err);
	if (ld_target_describe(target, &info))
		return TL_TROUBLE;
	target->documents = info.documents;
	code = get(target, &own, &now);
	if (!code &&
	    (now.files != start->files || now.rows != start->rows || now.total != start->total))
		code = tl_error("%s: --resume: another load of these inputs has gone on meanwhile",
				target->options->index);
	return code;
}

int ld_mark_get(struct ld_target *target, struct ld_mark *mark)
{
	struct ld_mark own;
	int code = ld_mark_begin(target->options, target->bits, &own);

	/* What is refused must not disturb a load of other inputs, which may be at work. */
	if (!code)
		code = get(target, &own, mark);
	if (!code)
		code = ld_target_resume(target);
	return code ? code : get(target, &own, mark);
}

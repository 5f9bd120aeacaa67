/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "load/ld_mark.h"

#include "common/tl_msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The record: a name, then four numbers of 8 bytes, little-endian. */
#define NAME "ld-mark1"
#define NAME_SIZE 8
#define HEAD_SIZE 65536
#define MARK_SIZE (NAME_SIZE + 4 * 8)

static void put_u64(unsigned char *out, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		out[i] = (unsigned char)(value >> 8 * i);
}

static uint64_t get_u64(const unsigned char *in)
{
	uint64_t value = 0;

	for (int i = 0; i < 8; i++)
		value |= (uint64_t)in[i] << 8 * i;
	return value;
}

/* How a file begins. */
static uint64_t hash_head(const char *name)
{
	static char head[HEAD_SIZE];
	FILE *file = fopen(name, "rbe");
	size_t n = file ? fread(head, 1, sizeof(head), file) : 0;

	if (file)
		fclose(file);
	return simidx_feature_hash(head, n);
}

/* A name, and of a regular file what tells it from another one that gets the same name. */
static void describe(FILE *out, char kind, const char *name)
{
	struct stat status;

	fprintf(out, "%c%s", kind, name);
	fputc('\0', out);
	if (strcmp(name, "-") != 0 && !stat(name, &status) && S_ISREG(status.st_mode))
		fprintf(out, "%llu %lld.%09ld %llx", (unsigned long long)status.st_size,
			(long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
			(unsigned long long)hash_head(name));
	fputc('\0', out);
}

int ld_mark_digest(const struct ld_options *options, unsigned bits, uint64_t *digest)
{
	const struct in_files_options *inputs = &options->inputs;
	char *text = NULL;
	size_t i, size = 0;
	FILE *out = open_memstream(&text, &size);

	*digest = 0;
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
	for (i = 0; i < inputs->n_operands; i++)
		describe(out, 'o', inputs->operands[i]);
	for (i = 0; i < inputs->lists.n; i++)
		describe(out, 'l', inputs->lists.at[i]);
	if (fclose(out)) {
		free(text);
		return tl_error("out of memory");
	}
	*digest = simidx_feature_hash(text, size);
	free(text);
	return 0;
}

int ld_mark_set(const struct ld_options *options, simidx_writer *writer, simidx_loader *loader,
		const struct ld_mark *mark)
{
	unsigned char bytes[MARK_SIZE] = NAME;
	simidx_error err;
	int rc;

	put_u64(bytes + NAME_SIZE, mark->digest);
	put_u64(bytes + NAME_SIZE + 8, mark->files);
	put_u64(bytes + NAME_SIZE + 16, mark->rows);
	put_u64(bytes + NAME_SIZE + 24, mark->total);
	rc = loader ? simidx_loader_set_mark(loader, bytes, sizeof(bytes), &err)
		    : simidx_writer_set_mark(writer, bytes, sizeof(bytes), &err);
	return rc ? tl_index_error(options->index, &err) : 0;
}

int ld_mark_get(struct ld_target *target, struct ld_mark *mark)
{
	const struct ld_options *options = target->options;
	unsigned char bytes[MARK_SIZE];
	uint64_t digest;
	simidx_error err;
	size_t n;
	int rc = ld_target_mark(target, bytes, sizeof(bytes), &n, &err);

	if (rc == SIMIDX_E_NOT_FOUND || (!rc && (n != MARK_SIZE || memcmp(bytes, NAME, NAME_SIZE))))
		return tl_error("%s: --resume: it does not say how far a load has come",
				options->index);
	if (rc)
		return tl_index_error(options->index, &err);
	mark->digest = get_u64(bytes + NAME_SIZE);
	mark->files = get_u64(bytes + NAME_SIZE + 8);
	mark->rows = get_u64(bytes + NAME_SIZE + 16);
	mark->total = get_u64(bytes + NAME_SIZE + 24);
	rc = ld_mark_digest(options, target->bits, &digest);
	/* What comes from standard input next cannot be told from what came before. */
	if (!rc && mark->files == LD_MARK_COMPLETE &&
	    in_files_n_stdin(options->inputs.operands, options->inputs.n_operands))
		return tl_error("%s: --resume: the last load came to its end", options->index);
	if (!rc && digest != mark->digest)
		rc = tl_error("%s: --resume: the load that was interrupted had other inputs",
			      options->index);
	return rc;
}

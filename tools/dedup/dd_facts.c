/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_facts.h"

#include "common/tl_msg.h"
#include "common/tl_path.h"
#include "input/in_room.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is written at once. */
#define BLOCK ((size_t)256 << 10)

/* A record of the file; the label follows. */
struct record {
	uint64_t hash, offset, id;
	uint32_t length, label_size;
};

struct dd_facts {
	const char *tmpdir;
	int fd;
	uint64_t written;     /* bytes of the file */
	struct in_room block; /* what follows these: `n_block` bytes */
	size_t n_block;
	struct in_room at;    /* uint64_t: where the record of each row begins */
	size_t n;
	struct in_room label; /* of the last one that was got */
};

struct dd_facts *dd_facts_new(const char *tmpdir)
{
	struct dd_facts *facts = calloc(1, sizeof(*facts));

	if (!facts) {
		tl_error("out of memory");
		return NULL;
	}
	facts->tmpdir = tmpdir;
	facts->fd = tl_path_nameless(tmpdir, "facts");
	if (facts->fd >= 0)
		return facts;
	tl_error("%s: no temporary file can be made: %s", tmpdir, strerror(errno));
	free(facts);
	return NULL;
}

void dd_facts_free(struct dd_facts *facts)
{
	if (!facts)
		return;
	close(facts->fd);
	free(facts->block.bytes);
	free(facts->at.bytes);
	free(facts->label.bytes);
	free(facts);
}

struct dd_fact dd_fact_of(const simidx_dedup_row *row, uint64_t id)
{
	struct dd_fact fact = { .hash = simidx_feature_hash(row->text, row->text_size), .id = id };

	if (row->flags & SIMIDX_DEDUP_PLACED) {
		fact.offset = row->place.offset;
		fact.length = row->place.length;
	}
	if (row->label_size && row->label_size <= UINT32_MAX) {
		fact.label = row->label;
		fact.label_size = (uint32_t)row->label_size;
	}
	return fact;
}

static int write_block(struct dd_facts *facts)
{
	const char *bytes = facts->block.bytes;
	size_t done = 0;
	ssize_t n;

	while (done < facts->n_block) {
		n = pwrite(facts->fd, bytes + done, facts->n_block - done,
			   (off_t)(facts->written + done));
		if (n < 0 && errno != EINTR)
			return tl_error("cannot write to a temporary file in %s: %s",
					facts->tmpdir, strerror(errno));
		done += n < 0 ? 0 : (size_t)n;
	}
	facts->written += facts->n_block;
	facts->n_block = 0;
	return 0;
}

int dd_facts_add(struct dd_facts *facts, const struct dd_fact *fact)
{
	const struct record record = { fact->hash, fact->offset, fact->id, fact->length,
				       fact->label_size };
	uint64_t at = facts->written + facts->n_block;
	char *to;

	if (in_room_have(&facts->at, (facts->n + 1) * sizeof(at)) ||
	    in_room_have(&facts->block, facts->n_block + sizeof(record) + fact->label_size))
		return tl_error("out of memory");
	((uint64_t *)facts->at.bytes)[facts->n++] = at;
	to = (char *)facts->block.bytes + facts->n_block;
	memcpy(to, &record, sizeof(record));
	if (fact->label_size)
		memcpy(to + sizeof(record), fact->label, fact->label_size);
	facts->n_block += sizeof(record) + fact->label_size;
	return facts->n_block >= BLOCK ? write_block(facts) : 0;
}

/* Read from the file, or from what follows it. */
static int read_at(struct dd_facts *facts, uint64_t at, void *out, size_t size)
{
	size_t done = 0;
	ssize_t n;

	if (at >= facts->written) {
		memcpy(out, (const char *)facts->block.bytes + (at - facts->written), size);
		return 0;
	}
	while (done < size) {
		n = pread(facts->fd, (char *)out + done, size - done, (off_t)(at + done));
		if (n == 0)
			errno = EIO;
		if (n == 0 || (n < 0 && errno != EINTR))
			return tl_error("cannot read a temporary file in %s: %s", facts->tmpdir,
					strerror(errno));
		done += n < 0 ? 0 : (size_t)n;
	}
	return 0;
}

int dd_facts_get(struct dd_facts *facts, uint64_t handle, struct dd_fact *fact)
{
	uint64_t at = ((const uint64_t *)facts->at.bytes)[handle];
	struct record record;

	if (read_at(facts, at, &record, sizeof(record)))
		return TL_TROUBLE;
	if (in_room_have(&facts->label, record.label_size + 1))
		return tl_error("out of memory");
	*fact = (struct dd_fact){ record.hash, record.offset, record.id, record.length,
				  record.label_size, NULL };
	if (!record.label_size)
		return 0;
	fact->label = facts->label.bytes;
	return read_at(facts, at + sizeof(record), facts->label.bytes, record.label_size);
}

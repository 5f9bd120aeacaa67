/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "dedup/dd_facts.h"

#include "common/tl_msg.h"
#include "common/tl_path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* What is written at once. */
#define BLOCK ((size_t)256 << 10)

/* Without a limit, this share of what is free is for texts. */
#define FREE_SHARE 10

struct dd_facts {
	const char *tmpdir;
	int fd;
	uint64_t limit, texts; /* bytes of texts: at most, and so far */
	uint64_t written;      /* bytes of the file */
	struct in_room block;  /* what follows these: `n_block` bytes */
	size_t n_block;
};

struct dd_facts *dd_facts_new(const char *tmpdir, uint64_t limit)
{
	struct dd_facts *facts = tl_alloc(sizeof(*facts));
	struct statvfs room;

	if (!facts)
		return NULL;
	facts->tmpdir = tmpdir;
	facts->limit = limit;
	facts->fd = tl_path_nameless(tmpdir, "facts");
	if (facts->fd < 0) {
		tl_error("%s: no temporary file can be made: %s", tmpdir, strerror(errno));
		free(facts);
		return NULL;
	}
	if (limit == UINT64_MAX)
		facts->limit = fstatvfs(facts->fd, &room) ?
				       0 :
				       (uint64_t)room.f_bavail * room.f_frsize / FREE_SHARE;
	return facts;
}

void dd_facts_free(struct dd_facts *facts)
{
	if (!facts)
		return;
	close(facts->fd);
	free(facts->block.bytes);
	free(facts);
}

struct dd_fact dd_fact_of(const simidx_dedup_row *row)
{
	const struct dd_extra *extra = row->extra;
	struct dd_fact fact = { .name = extra->name, .size = row->text_size, .id = extra->id,
				.key = extra->key };

	if (row->text)
		fact.hash = simidx_feature_hash(row->text, row->text_size);
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

static int write_bytes(struct dd_facts *facts, const char *bytes, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pwrite(facts->fd, bytes + done, size - done, (off_t)(facts->written + done));
		if (n < 0 && errno != EINTR)
			return tl_error("cannot write to a temporary file in %s: %s",
					facts->tmpdir, strerror(errno));
		done += n < 0 ? 0 : (size_t)n;
	}
	facts->written += size;
	return 0;
}

static int write_block(struct dd_facts *facts)
{
	size_t n = facts->n_block;

	facts->n_block = 0;
	return write_bytes(facts, facts->block.bytes, n);
}

/* What is appended at once can be read at once: no part of it is in the file alone. */
static int append(struct dd_facts *facts, const void *bytes, size_t n)
{
	if (n >= BLOCK)
		return write_block(facts) ? TL_TROUBLE : write_bytes(facts, bytes, n);
	if (in_room_have(&facts->block, facts->n_block + n))
		return tl_error("out of memory");
	if (n)
		memcpy((char *)facts->block.bytes + facts->n_block, bytes, n);
	facts->n_block += n;
	return facts->n_block >= BLOCK ? write_block(facts) : 0;
}

int dd_facts_add(struct dd_facts *facts, const struct dd_fact *fact, const char *text, uint64_t *at)
{
	struct dd_fact copy = *fact;

	*at = facts->written + facts->n_block;
	copy.text = 0;
	copy.label = NULL;
	if (text && fact->size <= facts->limit - facts->texts) {
		facts->texts += fact->size;
		copy.text = *at + sizeof(copy) + fact->label_size;
	}
	if (append(facts, &copy, sizeof(copy)) || append(facts, fact->label, fact->label_size))
		return TL_TROUBLE;
	return copy.text ? append(facts, text, fact->size) : 0;
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

int dd_facts_get(struct dd_facts *facts, uint64_t at, struct in_room *label, struct dd_fact *fact)
{
	if (read_at(facts, at, fact, sizeof(*fact)))
		return TL_TROUBLE;
	fact->label = NULL;
	if (!fact->label_size)
		return 0;
	if (in_room_have(label, fact->label_size))
		return tl_error("out of memory");
	fact->label = label->bytes;
	return read_at(facts, at + sizeof(*fact), label->bytes, fact->label_size);
}

int dd_facts_text(struct dd_facts *facts, const struct dd_fact *fact, struct in_room *text)
{
	if (in_room_have(text, fact->size + 1))
		return tl_error("out of memory");
	return read_at(facts, fact->text, text->bytes, fact->size);
}

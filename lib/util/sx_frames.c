/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "util/sx_frames.h"

#include <stdlib.h>
#include <string.h>

#include "util/sx_alloc.h"
#include "util/sx_bytes.h"
#include "util/sx_err.h"

/*
 * A frame: records (2 bytes); of each word its bytes a record (1) and its smallest value (8);
 * then word by word the differences from that.
 */
#define COUNT_BYTES 2
#define WORD_BYTES 9

SX_INLINE size_t encode(unsigned words, const uint64_t *record, size_t n, unsigned char *out)
{
	unsigned char *at = out + COUNT_BYTES + words * WORD_BYTES;

	sx_store_le16(out, (uint16_t)n);
	for (unsigned w = 0; w < words; w++) {
		const uint64_t *word = record + w;
		uint64_t min = UINT64_MAX, max = 0;
		unsigned width;

		for (size_t i = 0; i < n; i++) {
			uint64_t x = word[i * words];

			min = x < min ? x : min;
			max = x > max ? x : max;
		}
		width = sx_bytes_for(max - min);
		out[COUNT_BYTES + w * WORD_BYTES] = (unsigned char)width;
		sx_store_le64(out + COUNT_BYTES + w * WORD_BYTES + 1, min);
		/* Whole words are stored; the next one overwrites what is too much. */
		for (size_t i = 0; width && i < n; i++, at += width)
			sx_store_le64(at, word[i * words] - min);
	}
	return (size_t)(at - out);
}

size_t sx_frame_encode(const uint64_t *record, size_t n, unsigned words, unsigned char *out)
{
	return SX_BY_WORDS(encode, words, record, n, out);
}

SX_INLINE size_t decode(unsigned words, const unsigned char *in, size_t size, uint64_t *record,
			size_t *n)
{
	size_t at = COUNT_BYTES + words * WORD_BYTES;

	if (size < at)
		return 0;
	*n = sx_load_le16(in);
	if (!*n || *n > SX_FRAME_RECORDS)
		return 0;
	for (unsigned w = 0; w < words; w++) {
		unsigned width = in[COUNT_BYTES + w * WORD_BYTES];
		uint64_t min = sx_load_le64(in + COUNT_BYTES + w * WORD_BYTES + 1);
		uint64_t mask = sx_low_bits(8 * width);
		const unsigned char *from = in + at;

		if (width > 8 || size - at < *n * width)
			return 0;
		for (size_t i = 0; i < *n; i++)
			record[i * words + w] = min + (sx_load_le64(from + i * width) & mask);
		at += *n * width;
	}
	return at;
}

size_t sx_frame_decode(const unsigned char *in, size_t size, unsigned words, uint64_t *record,
		       size_t *n)
{
	return SX_BY_WORDS(decode, words, in, size, record, n);
}

int sx_frames_write(sx_spill *spill, const uint64_t *record, size_t n, unsigned words,
		    simidx_error *err)
{
	unsigned char bytes[SX_FRAME_MAX_BYTES + SX_FRAME_SLACK];
	int rc = SIMIDX_OK;

	while (!rc && n) {
		size_t some = n < SX_FRAME_RECORDS ? n : SX_FRAME_RECORDS;

		rc = sx_spill_write(spill, bytes, sx_frame_encode(record, some, words, bytes), err);
		record += some * words;
		n -= some;
	}
	return rc;
}

int sx_frames_init(sx_frames *f, sx_spill *spill, unsigned words, size_t room, simidx_error *err)
{
	memset(f, 0, sizeof(*f));
	f->spill = spill;
	f->words = words;
	f->room = room < SX_FRAME_MAX_BYTES ? SX_FRAME_MAX_BYTES : room;
	f->bytes = sx_realloc(NULL, f->room + SX_FRAME_SLACK, 1);
	f->record = sx_realloc(NULL, SX_FRAME_RECORDS * words, sizeof(*f->record));
	return f->bytes && f->record ? SIMIDX_OK : sx_fail_nomem(err);
}

void sx_frames_free(sx_frames *f)
{
	free(f->bytes);
	free(f->record);
	memset(f, 0, sizeof(*f));
}

void sx_frames_seek(sx_frames *f, uint64_t at, uint64_t end)
{
	f->at = at;
	f->end = end;
	f->used = f->size = f->n = 0;
}

/* Move what is left to the front, and read on after it. */
static int fill(sx_frames *f, simidx_error *err)
{
	size_t left = f->size - f->used, some = f->room - left;
	int rc;

	if (some > f->end - f->at)
		some = (size_t)(f->end - f->at);
	memmove(f->bytes, f->bytes + f->used, left);
	rc = sx_spill_read(f->spill, f->at, f->bytes + left, some, err);
	f->at += some;
	f->used = 0;
	f->size = left + some;
	return rc;
}

int sx_frames_next(sx_frames *f, simidx_error *err)
{
	size_t bytes;
	int rc;

	f->n = 0;
	if (f->size - f->used < SX_FRAME_MAX_BYTES && f->at < f->end) {
		rc = fill(f, err);
		if (rc)
			return rc;
	}
	if (f->used == f->size)
		return SIMIDX_E_END;
	bytes = sx_frame_decode(f->bytes + f->used, f->size - f->used, f->words, f->record, &f->n);
	if (!bytes)
		return sx_fail(err, SIMIDX_E_IO, "a temporary file is damaged");
	f->used += bytes;
	return SIMIDX_OK;
}

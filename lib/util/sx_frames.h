/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Records of 64-bit words in a temporary file, in frames of up to 256: of each word the smallest
 * value of the frame, and for each record the difference from it in as few whole bytes as the
 * frame needs. Sorted records, and those that came one after another, take about half of what
 * they take as words.
 */

#ifndef SX_FRAMES_H
#define SX_FRAMES_H

#include "util/sx_sort.h"
#include "util/sx_spill.h"

#define SX_FRAME_RECORDS 256

/** Max. bytes of a frame. */
#define SX_FRAME_MAX_BYTES (2 + SX_SORT_MAX_WORDS * (9 + 8 * SX_FRAME_RECORDS))

/** Bytes that have to be there after a frame, since whole words are read and written. */
#define SX_FRAME_SLACK 8

/**
 * Encode n records, 1..SX_FRAME_RECORDS, of 1..SX_SORT_MAX_WORDS words.
 *
 * @param out  room for SX_FRAME_MAX_BYTES + SX_FRAME_SLACK bytes
 * @return bytes of the frame
 */
size_t sx_frame_encode(const uint64_t *record, size_t n, unsigned words, unsigned char *out);

/**
 * Decode the frame at the start of `size` bytes, which SX_FRAME_SLACK more follow.
 *
 * @param record  room for SX_FRAME_RECORDS records
 * @param n       how many there were
 * @return bytes of the frame; 0 if it does not end within `size` or is none
 */
size_t sx_frame_decode(const unsigned char *in, size_t size, unsigned words, uint64_t *record,
		       size_t *n);

/** Append n records, in as many frames as needed, all but the last of SX_FRAME_RECORDS. */
int sx_frames_write(sx_spill *spill, const uint64_t *record, size_t n, unsigned words,
		    simidx_error *err);

/** Reads the frames in a part of a temporary file. */
typedef struct sx_frames {
	sx_spill *spill;
	unsigned words;
	uint64_t at, end; /* bytes of the file that have not been read */
	unsigned char *bytes;
	size_t room, used, size; /* of bytes[]: for how many; taken; there */
	uint64_t *record;
	size_t n; /* records of the frame that was read last */
} sx_frames;

/**
 * @param room  bytes that are read at once; no less than one frame needs is taken
 */
int sx_frames_init(sx_frames *frames, sx_spill *spill, unsigned words, size_t room,
		   simidx_error *err);

/** One that was never begun, all zero, is allowed. */
void sx_frames_free(sx_frames *frames);

/** Begin to read at byte `at`; the first one after the last frame is `end`. */
void sx_frames_seek(sx_frames *frames, uint64_t at, uint64_t end);

/**
 * Read the next frame.
 *
 * @return SIMIDX_OK; SIMIDX_E_END after the last one, without setting err; SIMIDX_E_IO where
 *         the file holds something else
 */
int sx_frames_next(sx_frames *frames, simidx_error *err);

#endif /* SX_FRAMES_H */

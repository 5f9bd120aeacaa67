/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Texts of rows, once all is decided: read again from their files, from what the library has put
 * aside of kept rows, or from what the tool has of others.
 */

#ifndef DD_TEXTS_H
#define DD_TEXTS_H

#include "dedup/dd_work.h"

/** A text, or nothing. */
struct dd_text {
	const char *bytes; /* NULL: it is not there any more */
	size_t size;
};

/** All zero is none, and can be freed. */
struct dd_texts {
	const struct dd_work *work;
	struct dd_again *again;
	uint64_t most;          /* bytes of memory for a text */
	struct in_room room[2]; /* of texts that were put aside, for each seat */
};

/**
 * Begin, when all is decided.
 *
 * @param memory  bytes for two texts and the work at them
 * @return 0, or TL_TROUBLE with a message
 */
int dd_texts_begin(struct dd_texts *texts, const struct dd_work *work, uint64_t memory);

/** Free what it holds. */
void dd_texts_free(struct dd_texts *texts);

/**
 * The text of a row, as it was: it has the hash that it had.
 *
 * @param seat  0 or 1: it is valid until the next call with the same seat
 * @param near  names what is kept and has the same text, to which `fact` need not know a way; or
 *              NULL. Not while rows wait to be decided
 * @param text  set to it; to nothing, if it is not there any more, or too long for the memory
 * @return 0, or TL_TROUBLE with a message
 */
int dd_texts_get(struct dd_texts *texts, unsigned seat, const struct dd_fact *fact,
		 const simidx_dedup_near *near, struct dd_text *text);

/**
 * The text of a document that the library knows; nothing if it is not there any more.
 *
 * @return 0 or an exit code
 */
int dd_texts_find(simidx_dedup *dedup, const simidx_dedup_near *near, struct dd_text *text);

/** Free the room of long texts. */
void dd_texts_trim(struct dd_texts *texts);

#endif /* DD_TEXTS_H */

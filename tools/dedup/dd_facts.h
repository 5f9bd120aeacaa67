/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What evidence says of a kept row, to be had again when another row is left out for it. It is put
 * aside in a temporary file without a name.
 *
 * Memory: DD_FACTS_BYTES a kept row. Disk: 32 bytes and its label.
 */

#ifndef DD_FACTS_H
#define DD_FACTS_H

#include <simidx_dedup.h>

/** Bytes of memory for each kept row, until the end. */
#define DD_FACTS_BYTES sizeof(uint64_t)

/** What is known of a row besides its name. */
struct dd_fact {
	uint64_t hash;     /* of its text: simidx_feature_hash() */
	uint64_t offset;   /* of the row in its file */
	uint64_t id;       /* SIMIDX_NO_ID: it has none */
	uint32_t length;   /* of the row, in bytes; 0 = no place is known */
	uint32_t label_size;
	const char *label; /* NULL: it has none */
};

struct dd_facts;

/** None yet, below the directory `tmpdir`. NULL with a message. */
struct dd_facts *dd_facts_new(const char *tmpdir);

/** Free. NULL is allowed. */
void dd_facts_free(struct dd_facts *facts);

/** What is to be said of a row; `id` is that of the input. It borrows from the row. */
struct dd_fact dd_fact_of(const simidx_dedup_row *row, uint64_t id);

/** Note a kept row, in the order of their handles. Returns 0, or TL_TROUBLE with a message. */
int dd_facts_add(struct dd_facts *facts, const struct dd_fact *fact);

/**
 * What was noted of a kept row.
 *
 * @param fact  set to it; its label is valid until the next call
 * @return 0, or TL_TROUBLE with a message
 */
int dd_facts_get(struct dd_facts *facts, uint64_t handle, struct dd_fact *fact);

#endif /* DD_FACTS_H */

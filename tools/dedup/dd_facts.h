/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What is said of rows in the end, or when another row is left out for one: where they are, their
 * labels and hashes, and texts that cannot be read again. It is put aside in a temporary file
 * without a name.
 *
 * Memory: none for a row. Disk: 88 bytes, its label, and such a text.
 */

#ifndef DD_FACTS_H
#define DD_FACTS_H

#include <simidx_dedup.h>

#include "dedup/dd_mark.h"
#include "dedup/dd_name.h"
#include "input/in_room.h"

/** What is known of a row. */
struct dd_fact {
	struct dd_name name;
	uint64_t hash;     /* of its text: simidx_feature_hash(); 0: it has none */
	uint64_t size;     /* of its text, in bytes */
	uint64_t offset;   /* of the row in its file */
	uint64_t id;       /* SIMIDX_NO_ID: it has none */
	uint64_t key;      /* dd_keep_key() */
	uint64_t text;     /* where its text was put aside; 0 = it was not */
	uint32_t length;   /* of the row, in bytes; 0 = no place is known */
	uint32_t label_size;
	const char *label; /* NULL: it has none */
};

struct dd_facts;

/**
 * None yet.
 *
 * @param tmpdir  where the file is
 * @param limit   bytes of texts, at most; UINT64_MAX = a tenth of what is free there
 * @return NULL with a message
 */
struct dd_facts *dd_facts_new(const char *tmpdir, uint64_t limit);

/** Free. NULL is allowed. */
void dd_facts_free(struct dd_facts *facts);

/** What a row has as simidx_dedup_row.extra, with its line as it came after it, if it is to be
 * written. */
struct dd_extra {
	struct dd_name name;
	uint64_t id;  /* of the input; SIMIDX_NO_ID: it has none */
	uint64_t key; /* dd_keep_key() */
	struct dd_position end; /* behind the row */
	size_t line_size;
	char line[];
};

/** What is to be said of a row. It borrows from the row. */
struct dd_fact dd_fact_of(const simidx_dedup_row *row);

/**
 * Put aside what is known of a row.
 *
 * @param text  its text, if that is to be put aside, too, as far as there is room; or NULL
 * @param at    set to where it is, which is above those before
 * @return 0, or TL_TROUBLE with a message
 */
int dd_facts_add(struct dd_facts *facts, const struct dd_fact *fact, const char *text,
		 uint64_t *at);

/**
 * What was put aside of a row.
 *
 * @param label  room for its label
 * @return 0, or TL_TROUBLE with a message
 */
int dd_facts_get(struct dd_facts *facts, uint64_t at, struct in_room *label,
		 struct dd_fact *fact);

/** The text of a row, if it was put aside. Returns 0, or TL_TROUBLE with a message. */
int dd_facts_text(struct dd_facts *facts, const struct dd_fact *fact, struct in_room *text);

#endif /* DD_FACTS_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What one simidx_dedup has. A batch goes through three stages: sd_ahead.c, on all threads, what
 * can be done before anything of it is decided; sd_decide.c, row by row; and the commit,
 * sd_dedup.c. The first two compare by sd_compare.c.
 */

#ifndef SD_STATE_H
#define SD_STATE_H

#include <stdatomic.h>

#include <simidx_dedup.h>
#include <simidx_text.h>

#include "dedup/sd_kept.h"
#include "dedup/sd_note.h"
#include "dedup/sd_row.h"
#include "dedup/sd_shingles.h"
#include "dedup/sd_texts.h"

/** A document that is kept and matches a row, and how similar it is. */
struct sd_candidate {
	uint64_t id;
	unsigned distance;
	double similarity;
	int is_near;
	int is_estimate;         /* the similarity is of sketches */
};

/** A row of the batch. */
struct sd_item {
	simidx_dedup_row row;
	char *bytes;             /* what the row points to */
	simidx_sketch sketch;
	simidx_query query;      /* not made for an empty row */
	uint64_t crowd;          /* of sd_kept_crowd() */
	struct sd_shingles set;
	int has_set, needs_set;
	struct sd_candidate *found; /* what it was compared with in the index, by ids */
	size_t n_found;
	unsigned char brief[SD_NOTE_SKETCH_MAX]; /* a note with its sketch: `n_brief` bytes, or 0 */
	size_t n_brief;
	unsigned char *full;     /* a note with its text: `n_full` bytes, or 0 */
	size_t n_full;
	int is_out;              /* known ahead: it is near to something, and not kept */
	simidx_dedup_near out;   /* if keeper is SIMIDX_DEDUP_AGAINST: to this */
};

/** What a thread has for itself. */
struct sd_thread {
	simidx_text *text;       /* NULL but for texts */
	simidx_reader *reader;
	struct sd_texts_reader *texts; /* this and what follows: where texts are compared */
	struct sd_shingler *shingler;
	struct sd_shingles other;
	simidx_reader *notes;    /* a reader of its own, where the index has notes */
	struct sd_packer packer;
	struct sd_unpacker unpacker;
	struct sd_against_reader *against; /* of each index of the options */
	uint64_t n_empty;
	uint64_t n_foreign;      /* notes that say nothing */
	uint64_t n_exhausted;    /* of rows that were compared with those of other indexes */
};

/** What rows of a batch are told by that are candidates of each other. */
struct sd_print {
	uint64_t fp, fp2;
	int is_empty;
};

struct simidx_dedup {
	simidx_dedup_options options;
	char *tmpdir;            /* of the options */
	simidx_writer *writer;
	int failed;              /* a flush */
	int verifies;            /* texts are compared */
	int has_notes;           /* the index */
	struct sd_kept *kept;
	struct sd_texts *texts;
	struct sd_thread *thread;
	struct sd_item *item;
	struct sd_print *print;  /* of each item: together, as all are compared with all */
	size_t n;                /* in the batch */
	uint64_t bytes;          /* of it */
	size_t *kept_at;         /* items of the batch that are kept, in their order */
	size_t n_kept;
	uint64_t n_before;       /* rows that were kept before the batch */
	simidx_dedup_near *near; /* of one row */
	size_t near_room;
	uint64_t exhausted, most_bytes;
	uint64_t sketches, texts_noted, note_bytes;
};

static inline int sd_is_empty(const struct sd_item *item)
{
	return (item->sketch.flags & SIMIDX_SKETCH_EMPTY) != 0;
}

static inline int sd_stops(const simidx_dedup *dedup)
{
	return dedup->options.calls.stop && dedup->options.calls.stop(dedup->options.calls.ctx);
}

#endif /* SD_STATE_H */

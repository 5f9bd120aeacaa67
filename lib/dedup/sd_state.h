/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What one simidx_dedup has. A batch goes through three stages: sd_ahead.c, on all threads, what
 * can be done before anything of it is decided; sd_decide.c, row by row; and the commit,
 * sd_dedup.c. The first two compare by sd_compare.c. While threads are at the first stage, the
 * caller adds the rows of the next batch.
 */

#ifndef SD_STATE_H
#define SD_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include <simidx_dedup.h>
#include <simidx_text.h>

#include "dedup/sd_first.h"
#include "dedup/sd_kept.h"
#include "dedup/sd_note.h"
#include "dedup/sd_row.h"
#include "dedup/sd_seen.h"
#include "dedup/sd_seen_file.h"
#include "dedup/sd_shingles.h"
#include "dedup/sd_texts.h"

/** A document that is kept and matches a row, and how similar it is. */
struct sd_candidate {
	uint64_t id;
	unsigned distance;
	double similarity;
	int is_near;
	int is_estimate;         /* the similarity is of sketches */
	int is_later;            /* not compared yet */
	int is_equal;            /* the texts have the same bytes */
};

/** Documents to which hashes of a row lead, and how similar it is to each. */
struct sd_leads {
	struct sd_candidate of[SD_FIRST_MOST];
	size_t n;
	size_t at;     /* hashes that were looked up */
	uint64_t hash; /* that has led to the last one */
};

/** A row of the batch that another one matches, if it is put into the index. */
struct sd_beside {
	uint32_t item;
	unsigned distance;
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
	struct sd_leads leads;      /* what it was compared with before any search */
	struct sd_candidate *found; /* what its search found in the index, the nearest first */
	struct sd_beside *beside;   /* rows of the batch before it that match */
	size_t n_found, n_beside;
	size_t n_compared;       /* of those in the index: the first ones */
	int is_searched;         /* both are all that a search in its turn finds */
	int is_cut;              /* the limit has cut off more in the index */
	int is_put;              /* it is in the index, as `id` */
	uint64_t id;
	unsigned char brief[SD_NOTE_SKETCH_MAX]; /* a note with its sketch: `n_brief` bytes, or 0 */
	size_t n_brief;
	unsigned char *full;     /* a note with its text: `n_full` bytes, or 0 */
	size_t n_full;
	uint64_t own_hash;       /* that no text before it has; 0 = none is known */
	int is_new;              /* nothing before it can be near to it: it is not searched */
	int is_exhausted;        /* another index had more than it was compared with */
	int is_out;              /* known ahead: it is near to something, and not kept */
	simidx_dedup_near out;   /* if keeper is SIMIDX_DEDUP_AGAINST: to this */
	simidx_dedup_near nearest; /* most similar of what is not near; similarity 0 = none is */
};

/** What a thread has for itself. */
struct sd_thread {
	simidx_text *text;       /* NULL but for texts */
	simidx_reader *reader;
	struct sd_texts_reader *texts; /* this and what follows: where texts are compared */
	struct sd_shingler *shingler;
	struct sd_shingles own, other; /* parts of the sets of two texts that are compared */
	simidx_reader *notes;    /* a reader of its own, where the index has notes */
	struct sd_packer packer;
	struct sd_unpacker unpacker;
	struct sd_against_reader *against; /* of each index of the options */
	uint64_t bytes;          /* of memory for its work; 0 = no limit */
	int is_ahead;            /* what needs more memory is left to the decision */
	uint64_t n_empty;
	uint64_t n_unsearched;   /* of all threads, in the first one */
	uint64_t n_foreign;      /* notes that say nothing */
	uint64_t n_too_long;     /* comparisons for which memory was short */
};

/** Rows that are gathered for a batch. */
struct sd_filling {
	struct sd_item *item;
	size_t n;
	uint64_t bytes; /* of the rows */
};

/** The thread that leads the others through the first stage, if there is one, and its result. */
struct sd_ahead {
	int is_beside; /* there is one */
	atomic_int is_done;
	pthread_t thread;
	int rc;
	simidx_error err;
};

struct simidx_dedup {
	simidx_dedup_options options;
	char *tmpdir;            /* of the options */
	simidx_writer *writer;
	int failed;              /* a flush */
	atomic_int is_closing;   /* so that threads end early */
	int verifies;            /* texts are compared */
	int has_notes;           /* the index */
	struct sd_kept *kept;
	struct sd_texts *texts;
	struct sd_known known;   /* of all that is kept; both may be NULL */
	struct sd_seen_file *seen_file; /* the same for the next run; or NULL */
	struct sd_thread *thread;
	struct sd_filling filling; /* the next batch */
	uint64_t limit;          /* of memory for the work at the next batch; 0 = none */
	uint64_t bytes;          /* the same of the batch at hand */
	int is_begun;            /* there is a batch at hand: */
	struct sd_item *item;
	uint64_t *fp;            /* of each item: together, as all are compared with all */
	size_t n;                /* in the batch */
	struct sd_ahead ahead;
	size_t *kept_at;         /* items of the batch that are kept, in their order */
	size_t n_kept;
	uint64_t n_before;       /* rows that were kept before the batch */
	uint64_t documents;      /* of the index, before the batch */
	simidx_match *match;     /* of one row: its candidates, and what it is near to */
	simidx_dedup_near *near;
	size_t match_room, near_room;
	simidx_dedup_counts counts; /* by all batches that are decided */
};

static inline int sd_is_empty(const struct sd_item *item)
{
	return (item->sketch.flags & SIMIDX_SKETCH_EMPTY) != 0;
}

/* The row is asked about, and not decided. */
static inline int sd_is_asked(const struct sd_item *item)
{
	return (item->row.flags & SIMIDX_DEDUP_ASK) != 0;
}

/* All that a row is near to is told. */
static inline int sd_tells_all(const simidx_dedup *dedup, const struct sd_item *item)
{
	return dedup->options.flags & SIMIDX_DEDUP_PAIRS || sd_is_asked(item);
}

/** Whether a row is not to be compared with a document: it is asked about, and the caller knows. */
static inline int sd_skips(const simidx_dedup *dedup, const struct sd_item *item, uint64_t handle)
{
	const simidx_dedup_calls *calls = &dedup->options.calls;

	return sd_is_asked(item) && calls->skips && handle < SD_LEFT_OUT &&
	       calls->skips(calls->ctx, handle);
}

static inline int sd_stops(const simidx_dedup *dedup)
{
	return atomic_load_explicit(&dedup->is_closing, memory_order_relaxed) ||
	       (dedup->options.calls.stop &&
		dedup->options.calls.stop(dedup->options.calls.ctx));
}

#endif /* SD_STATE_H */

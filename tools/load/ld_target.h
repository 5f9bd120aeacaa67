/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The index that a load writes to, with its writer or its loader (ld_steps.h has the states). What
 * is at the path may be exchanged by others while a load goes on; then the load goes on in what
 * stands there, if that is an index of the same kind.
 */

#ifndef LD_TARGET_H
#define LD_TARGET_H

#include <simidx_info.h>
#include <simidx_load.h>

#include "common/tl_features.h"
#include "load/ld_from.h"
#include "load/ld_options.h"

/** How far a load has come. */
enum ld_state {
	LD_CLOSED,    /* nothing is written: neither writer nor loader */
	LD_INSERTING, /* there is a writer */
	LD_BUILDING,  /* there is a loader; nothing of it can be seen until it is finished */
	LD_DONE       /* all that came is in the index */
};

/** An index being loaded. */
struct ld_target {
	const struct ld_options *options;
	enum ld_state state;
	int is_new;             /* this load makes the index */
	int has_inserted;       /* documents were put into a writer */
	simidx *index;          /* the one that is there, or was made for a writer; or NULL */
	simidx_writer *writer;  /* LD_INSERTING, and LD_DONE after it */
	simidx_loader *loader;  /* LD_BUILDING, and LD_DONE after it */
	struct ld_from from;    /* the indexes to take over */
	const simidx_info *like; /* what a new index is to be like, where no option says; or NULL */
	simidx_text *text;      /* NULL until the first text */
	unsigned bits;
	int has_fp2;            /* the first row has a second fingerprint */
	unsigned flags;         /* SIMIDX_CREATE_NO_IDS, _FP2 and _TIMES of the index */
	char *profile;          /* of the index; NULL until it is known */
	uint64_t next_id;       /* of the index, as far as this load knows: it never goes back */
	uint64_t documents;     /* in it when it was opened, and what was committed by writers
				 * that are closed */
	uint64_t committed;     /* by writers that are closed */
	uint64_t used_bytes;
	double waiting_since;   /* for another writer; 0: not waiting */
	uint64_t changes;       /* calls of the writer, as simidx_rejudged numbers them */
	int rejudges;           /* commits of the writer may decide them again: the caller hears */
	void (*rejudged)(void *ctx, const simidx_rejudged *outcome);
	void *rejudged_ctx;
	/* For a loader; the caller sets the callbacks before the first row. */
	simidx_loader_options how;
};

/**
 * Open the index if it is there and is to be added to, else check that it may be made; open
 * those that are to be taken over. Nothing is written.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int ld_target_open(struct ld_target *target, const struct ld_options *options);

/**
 * Describe the index that is there: as simidx_get_info(), but of the one that stands there now.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int ld_target_describe(struct ld_target *target, simidx_info *info);

/** Another extractor like the target's, for a thread. Returns 0, or TL_TROUBLE with a message. */
int ld_target_extractor(struct ld_target *target, simidx_text **text);

/** From LD_CLOSED to LD_INSERTING: open a writer. Returns 0, or TL_TROUBLE with a message. */
int ld_target_insert(struct ld_target *target);

/**
 * Make a new index: with a loader, unless it is to grow commit by commit. The target is LD_BUILDING
 * then, or has an index that is open for a writer. That may be the one of another load which was
 * quicker.
 *
 * @param of_texts  it is for texts
 * @return 0, or TL_TROUBLE with a message
 */
int ld_target_create(struct ld_target *target, int of_texts);

/**
 * From LD_INSERTING, with nothing pending, or LD_CLOSED to LD_BUILDING: an index of what is there
 * and all that comes.
 *
 * @param rows  documents that are still to come, about; 0 = not known
 * @return 0, or TL_TROUBLE with a message
 */
int ld_target_rebuild(struct ld_target *target, uint64_t rows);

/**
 * From LD_BUILDING to LD_INSERTING: the loader has put a new index at the path, with so many
 * documents of this load.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int ld_target_show(struct ld_target *target, uint64_t stored);

/** An error of the index, or of one that is taken over: its message. Returns TL_TROUBLE. */
int ld_target_fail(const struct ld_target *target, const simidx_error *err);

/** Whether rows go already into an index of fingerprints, or of features that others made, so that
 * a text cannot. */
int ld_target_is_bare(const struct ld_target *target);

/**
 * After a call of the writer with nothing pending: whether to try again, perhaps with another
 * writer. After SIMIDX_E_BUSY until --wait is over or a signal has come; after SIMIDX_E_MOVED,
 * with the index that stands there now.
 */
int ld_target_again(struct ld_target *target, int rc, const simidx_error *err);

/**
 * Go on where a load has stopped, before the first row: what it has sent is stored by then or never
 * will be, and the documents are counted again. A load that is at work is ended by that. Returns 0,
 * or TL_TROUBLE with a message.
 */
int ld_target_resume(struct ld_target *target);

/** The mark of the index, before the first row; as simidx_get_mark(). */
int ld_target_mark(struct ld_target *target, void *bytes, size_t size, size_t *n,
		   simidx_error *err);

/** Documents that are built into the index beside those that are put. */
uint64_t ld_target_others(const struct ld_target *target);

/** Documents that were committed by writers. */
uint64_t ld_target_stored(const struct ld_target *target);

/** Whether each change is one document more, as --mode says. */
int ld_target_grows(const struct ld_target *target);

/**
 * What the load did or was about to do: "nothing", "build", "insert", "rebuild" or "insert,
 * rebuild".
 */
const char *ld_target_way(const struct ld_target *target);

/** Close the index, so that it can be opened anew, and what writes to it. The rest stays. */
void ld_target_release(struct ld_target *target);

/** Close what is open; what was not committed or finished is forgotten. */
void ld_target_close(struct ld_target *target);

#endif /* LD_TARGET_H */

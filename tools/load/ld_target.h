/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The index that a load writes to: found, or made, and what documents are put in with. That is
 * a loader where the index is built whole, else a writer.
 */

#ifndef LD_TARGET_H
#define LD_TARGET_H

#include <simidx_admin.h>
#include <simidx_load.h>

#include "common/tl_features.h"
#include "load/ld_options.h"

/** An index being loaded. */
struct ld_target {
	const struct ld_options *options;
	simidx *index;          /* the one that is there, or was made for a writer; or NULL */
	simidx_writer *writer;  /* NULL until the first row, and with a loader */
	simidx_loader *loader;  /* NULL until the first row, and with a writer */
	simidx **from;          /* the indexes to take over */
	simidx_info from_info;  /* of the first one; lives as long as that */
	simidx_text *text;   /* NULL until the first text */
	unsigned bits;
	unsigned flags;         /* SIMIDX_CREATE_NO_IDS and _FP2 of the index */
	int created;            /* it was not there */
	int of_texts;           /* then: it is one of texts */
	char *profile;          /* of the index that is open; or NULL */
	char made_by[TL_FEATURES_PROFILE_SIZE]; /* the profile for --features-by */
	uint64_t documents;     /* in it when it was opened */
	uint64_t stored;        /* committed by writers that are closed */
	uint64_t used_bytes;
	double waiting_since;   /* for another writer; 0: not waiting */
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
 * Get ready for a row: a loader or writer that fits, and the extractor if the row is a text.
 *
 * @param row  NULL at the end of an input without any row
 * @return 0, or TL_TROUBLE with a message
 */
int ld_target_prepare(struct ld_target *target, const struct in_row *row);

/** Another extractor like the target's, for a thread. Returns 0, or TL_TROUBLE with a message. */
int ld_target_extractor(struct ld_target *target, simidx_text **text);

/**
 * From a writer, with nothing pending, to a loader for all that comes. `documents` includes then
 * what was committed.
 *
 * @param rows  documents that are still to come, about; 0 = not known
 * @return 0, or TL_TROUBLE with a message
 */
int ld_target_rebuild(struct ld_target *target, uint64_t rows);

/** Whether documents go into an index of bare fingerprints already, or one of features that others
 * made, so that a text cannot. */
int ld_target_is_bare(const struct ld_target *target);

/**
 * After a call of the writer with nothing pending: whether to try again, perhaps with another
 * writer. After SIMIDX_E_BUSY until --wait is over or a signal has come; after SIMIDX_E_MOVED,
 * with the index that stands there now.
 */
int ld_target_again(struct ld_target *target, int rc);

/** The mark of the index, before the first row; as simidx_get_mark(). */
int ld_target_mark(struct ld_target *target, void *bytes, size_t size, size_t *n,
		   simidx_error *err);

/** Documents that were committed by writers. */
uint64_t ld_target_stored(const struct ld_target *target);

/** Put a document. Returns as simidx_writer_put() or simidx_loader_put(). */
int ld_target_put(struct ld_target *target, const simidx_doc *doc, simidx_error *err);

/** Directory for temporary files: that of --tmpdir, or the one that the index is in. */
void ld_target_tmpdir(const struct ld_options *options, char *out, size_t size);

/** Close what is open; what was not committed or finished is forgotten. */
void ld_target_close(struct ld_target *target);

#endif /* LD_TARGET_H */

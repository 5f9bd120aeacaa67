/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What a simidx_dedup knows of texts before any search: which hashes were seen (sd_seen.h), to what
 * hashes lead (sd_first.h), and the file that has both for the next run (sd_seen_file.h). Each may
 * be missing: then more texts are searched, and all is decided by that.
 */

#ifndef SD_KNOWN_H
#define SD_KNOWN_H

#include "dedup/sd_state.h"

/**
 * Begin, with what a file has of an index that has documents.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOMEM; what simidx_reader_open() and sd_seen_file_open() return
 */
int sd_known_open(simidx_dedup *dedup, simidx *index, simidx_error *err);

/** End; the file stays. */
void sd_known_close(simidx_dedup *dedup);

/** Know nothing any more, as the index has documents that were not added here. */
void sd_known_forget(simidx_dedup *dedup);

/** Let no hash lead to anything any more, as documents were deleted to which some may lead. */
void sd_known_forget_leads(simidx_dedup *dedup);

/** Give up the file. Also where the disk is full: the next run has its room for documents. */
void sd_known_drop_file(simidx_dedup *dedup);

/**
 * Before a commit: write to the file what the batch adds. Where that fails there is no file, and
 * the next run searches all texts.
 *
 * @return SIMIDX_OK; SIMIDX_E_NOMEM
 */
int sd_known_write(simidx_dedup *dedup, simidx_error *err);

#endif /* SD_KNOWN_H */

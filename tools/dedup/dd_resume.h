/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * --resume: a run that goes on where another one with the same inputs has made its last commit.
 * What both did before that must be the same: the inputs, in their order, and the files that are
 * written. These are cut to what was committed.
 */

#ifndef DD_RESUME_H
#define DD_RESUME_H

#include "dedup/dd_mark.h"
#include "dedup/dd_sink.h"

/**
 * Read the mark of the index of --index. If there is no index, or a mark of another program, it is
 * all zero.
 *
 * @return 0, or TL_TROUBLE with a message
 */
int dd_resume_read(const struct dd_options *options, struct dd_mark *mark);

/**
 * Add an input to the digest of those before it.
 *
 * @param size  of a regular file; of others, and of an input that is being read, 0
 */
uint64_t dd_resume_digest(uint64_t digest, const char *path, uint64_t size);

/** The size of a regular file; of others, and of what is not there, 0. */
uint64_t dd_resume_size(const char *path);

/** What all inputs are, as far as that is known before they are read. */
struct dd_inputs {
	int is_known;    /* 0: a list of them can be read only once, or one is no file */
	uint64_t n;
	uint64_t digest; /* with the sizes that they have now */
	uint64_t names;  /* a hash of what decides; with --output-dir of it and their paths, too */
};

/**
 * Look whether the run of a mark can be gone on with. Says so.
 *
 * @param mark     of dd_resume_read()
 * @param goes_on  set to whether it is; otherwise all is read, unless
 * @param is_done  set to whether there is nothing left to do
 * @return 0, or TL_TROUBLE with a message
 */
int dd_resume_check(const struct dd_options *options, const struct dd_mark *mark,
		    const struct dd_inputs *inputs, int *goes_on, int *is_done);

/**
 * Cut a file to what was committed.
 *
 * @param path   its name; NULL: standard output
 * @param place  as the mark has it; of what is no regular file nothing can be taken back
 * @return 0, or TL_TROUBLE with a message if it is another file, or shorter
 */
int dd_resume_cut(struct dd_sink *sink, const char *path, const struct dd_place *place);

/** Pass over what was decided of an input. Returns 0, or TL_TROUBLE with a message. */
int dd_resume_pass(struct in_reader *reader, const struct dd_position *at);

#endif /* DD_RESUME_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Two handles, each with a writer, on one index of the engine in memory, which has conditions.
 */

#ifndef SIDES_H
#define SIDES_H

#include <simidx_write.h>

#define URI "memory://rejudged?conditions"
#define FP UINT64_C(0x123456789abcdef0)
#define HEARD 64

/** A handle with a writer, and what that was told at its last commit. */
struct side {
	simidx *index;
	simidx_writer *w;
	simidx_rejudged heard[HEARD];
	size_t n_heard;
};

extern struct side a, b;

/** A new, empty index, and both of its sides. */
void sides_begin(void);

void sides_end(void);

/** Returns the code; *id is that of the document, or of what is in its way. */
int side_put_if_new(struct side *s, uint64_t fp, const char *label, unsigned radius,
		    uint64_t *id);

int side_put(struct side *s, uint64_t id, uint64_t fp, const char *label);

int side_replace(struct side *s, uint64_t id, uint64_t fp, const char *label);

int side_delete_label(struct side *s, const char *label);

void side_commit(struct side *s);

/** Documents that are there before a and b begin. */
void sides_store(const simidx_doc *docs, size_t n);

/** What b was told, from 0 on. */
void side_heard(size_t i, uint64_t change, int code, uint64_t id, uint64_t blocker);

/** The fingerprint of a document; fails if its label is another one. */
uint64_t sides_fp(uint64_t id, const char *label);

/** Documents of the index. */
uint64_t sides_count(void);

#endif /* SIDES_H */

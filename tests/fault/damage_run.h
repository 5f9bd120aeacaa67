/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Operations on an index whose data file may be damaged, each in a child process, whose end is
 * part of the result.
 */

#ifndef DAMAGE_RUN_H
#define DAMAGE_RUN_H

#include "damage_sample.h"

#if defined(__SANITIZE_ADDRESS__)
#define DMG_HAS_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DMG_HAS_ASAN 1
#endif
#endif
#ifndef DMG_HAS_ASAN
#define DMG_HAS_ASAN 0
#endif

/* Every operation once: X(name). */
#define DMG_OPS(X)                                                                                 \
	X(verify)                                                                                  \
	X(get) X(search) X(dump) X(backup) X(insert) X(merge) X(rebuild) X(compact) X(repair)

enum dmg_op {
#define DMG_ENUM(name) DMG_OP_##name,
	DMG_OPS(DMG_ENUM)
#undef DMG_ENUM
	DMG_N_OPS
};

extern const char *const dmg_op_names[DMG_N_OPS];

/** How a child ended. */
enum dmg_end {
	DMG_ENDED,
	DMG_SIGNAL,
	DMG_HANG,  /* it used up its time */
	DMG_STATUS /* something called exit(), such as a sanitizer */
};

typedef struct dmg_result {
	enum dmg_end end;
	int number;         /* of the signal, or the exit status */
	int code;           /* what the operation returned: the first SIMIDX_E_ code, or 0 */
	const char *stage;  /* the call that this came from */
	uint64_t commits;   /* whose contents its answers could be */
	int has_after;      /* it made a new content, which was verified and dumped */
	int verify_after;   /* with has_after: the code of simidx_verify() */
	int dump_after;     /* of a walk over all documents */
	uint64_t commits_after; /* whose contents these are, besides what was put */
	char text[512];     /* of the first error, or what a dying process printed */
} dmg_result;

/** A place to work in, one for each process that calls dmg_run(). */
typedef struct dmg_place {
	const dmg_sample *sample;
	const unsigned char *data; /* the damaged file */
	size_t size;
	unsigned open_flags;
	const char *dir;
	char *index, *copy, *printed; /* paths in it */
	dmg_result *shared;
} dmg_place;

/** Make a directory `dir`, which outlives the place. */
void dmg_place_make(dmg_place *place, const char *dir);

/**
 * Do one operation on a fresh copy of the file; for the verdict see the result. Random numbers
 * are drawn in the child, so the caller's do not depend on what it does.
 */
void dmg_run(dmg_place *place, enum dmg_op op, sxt_rng rng, dmg_result *result);

#endif /* DAMAGE_RUN_H */

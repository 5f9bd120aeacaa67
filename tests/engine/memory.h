/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * An engine for tests: it holds indexes in the memory of the process, under the scheme "memory".
 * What is after the scheme is the name of an index; it stays when its handles are closed. Writes
 * take the steps that simidx_engine.h allows, so they can be broken off in between. An index
 * whose name ends in "?conditions" has SIMIDX_ENGINE_CONDITIONS.
 */

#ifndef MEMORY_H
#define MEMORY_H

#include <simidx_engine.h>

/** What the engine has been told to do, and has done. All zero: it does as it should. */
typedef struct memory_faults {
	unsigned fail_in;    /* the call that is to fail: 1 = the next one; 0 = none */
	int fail_code;       /* what it returns; 0 = SIMIDX_E_IO */
	unsigned steps_left; /* with break_writes: of writes that are still done */
	int break_writes;    /* the next write stops after so many steps, and fails */
	int keeps_old_rows;  /* writes leave the rows of the versions before */
	int sends_twice;     /* each row of a scan is sent twice */
	int leases;          /* it has leases, from the next opening on */
	void (*before_write)(void); /* called when a write comes; NULL: nobody is */
	int refuses_all;     /* writes with conditions refuse all changes */
	unsigned n_refused;  /* changes that were refused so far */
	unsigned n_writes;   /* so far */
	unsigned n_whole;    /* conditions so far on the index as a whole */
	int expired;         /* the leases have expired: the next write says so */
	unsigned calls;      /* scans and look-ups so far */
	uint64_t probes;     /* of all scans so far */
	unsigned n_leased;   /* prefixes that were leased so far */
	unsigned n_begun;    /* calls of begin() and resume() so far that have done so */
	unsigned n_resumed;  /* of these, of resume() */
} memory_faults;

extern memory_faults memory_faults_now;

/** Register it. */
void memory_add(void);

/** Forget all indexes. None of them may be open. */
void memory_clear(void);

/** Have an index that is there another description. */
void memory_describe(const char *uri, const void *description, size_t size);

/** Rows in the tables of an index that is there. */
size_t memory_rows(const char *uri);

#endif /* MEMORY_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Allocations that fail. Linked with --wrap for malloc(), calloc() and realloc(). */

#ifndef SHORTAGE_H
#define SHORTAGE_H

#include "support/sxt_assert.h"

extern long shortage_left;      /* allocations up to the one that fails; LONG_MAX: none does */
extern int shortage_for_good;   /* all behind that one fail, too */
extern int shortage_has_failed; /* one has */

/**
 * From here on there is enough, as a call has failed: for no other reason. Check needs some, too.
 */
void shortage_end(int rc, const char *call);

/* With enough memory the same call is to succeed. */
#define must_answer(call)                                                                     \
	do {                                                                                  \
		int rc_ = (call);                                                             \
											      \
		if (rc_) {                                                                    \
			shortage_end(rc_, #call);                                             \
			ck_assert_sx(call, SIMIDX_OK);                                        \
		}                                                                             \
	} while (0)

#endif /* SHORTAGE_H */

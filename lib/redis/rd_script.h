/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Calls of the script that changes an index: rd_script.lua says what it is asked and answers.
 */

#ifndef RD_SCRIPT_H
#define RD_SCRIPT_H

#include "rd_index.h"

/** A call that is being made. All zero: none. */
struct rd_call {
	struct rd_args keys, args;
	uint64_t *place;     /* of each key but the header: table and prefix */
	size_t *slot, slots; /* numbers of keys, by place; 0: it is free */
	size_t n_keys, cap;
	const char **at;     /* all words, when it is complete */
	size_t *size, words;
};

/** Begin it: what is asked. */
void rd_call_begin(const struct rd_index *x, struct rd_call *call, const char *asked);

/** The number by which it names the key of a prefix, which is added unless it is there. */
size_t rd_call_key(const struct rd_index *x, struct rd_call *call, unsigned table,
		   uint32_t prefix);

/** How the script reads the number of a key. */
void rd_call_put_key(char to[3], size_t key);

/** Table and prefix of a key, by its number: as rd_place(). 0: there is no such number. */
uint64_t rd_call_place(const struct rd_call *call, size_t key);

static inline uint64_t rd_place(unsigned table, uint32_t prefix)
{
	return (uint64_t)(table + 1) << 32 | prefix;
}

/** Add a change of a document, but for its conditions and what comes after them. */
void rd_call_change(const struct rd_index *x, struct rd_call *call, uint64_t id,
		    struct rd_arg before, struct rd_arg after, const uint32_t *from,
		    const uint32_t *to);

/**
 * Make it. The answer is an array whose first element is a word, "ok" mostly.
 *
 * @param sent  set to whether it may have been executed although the call has failed; may be NULL
 * @return SIMIDX_OK; SIMIDX_E_MOVED; as rd_link_ask()
 */
int rd_call_make(struct rd_index *x, struct rd_call *call, redisReply **out, int *sent,
		 simidx_error *err);

/** The same where nothing but the word "ok" is of interest. */
int rd_call_do(struct rd_index *x, struct rd_call *call, simidx_error *err);

void rd_call_free(struct rd_call *call);

#endif /* RD_SCRIPT_H */

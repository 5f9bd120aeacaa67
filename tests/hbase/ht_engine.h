/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * What the tests of an engine share: they call its functions themselves, without libsimidx above
 * it. The plan is 4x16: table t has block t of the fingerprint as its prefix.
 */

#ifndef HT_ENGINE_H
#define HT_ENGINE_H

#include <simidx_engine.h>

#include <stdio.h>
#include <stdlib.h>

#define HT_TABLES 4

/** End the test, with the line, unless it holds. */
#define HT_CHECK(condition)                                                                       \
	do {                                                                                      \
		if (!(condition)) {                                                               \
			fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);   \
			exit(1);                                                                  \
		}                                                                                 \
	} while (0)

/** End the test unless a call has returned this code. */
#define HT_CODE(call, code)                                                                       \
	do {                                                                                      \
		int ht_code = (call);                                                             \
		if (ht_code != (code)) {                                                          \
			fprintf(stderr, "%s:%d: %s returned %s, not %s: %s\n", __FILE__, __LINE__, \
				#call, simidx_error_name(ht_code), simidx_error_name(code),       \
				ht_err.text);                                                     \
			exit(1);                                                                  \
		}                                                                                 \
	} while (0)

/** The error of the last call. */
extern simidx_error ht_err;

/** A document, as tests know it. */
typedef struct ht_doc {
	uint64_t id, fp, fp2;
	unsigned flags; /**< SIMIDX_DOC_ */
	int there;
	char *label;    /**< NULL = none */
	size_t label_size;
} ht_doc;

/** One that is there, without a label. */
ht_doc ht_document(uint64_t id, uint64_t fp);

/** The prefix of a fingerprint in each table. The first parameter is not used. */
void ht_prefixes(void *ctx, uint64_t fp, uint32_t *prefix);

/** Pseudo-random numbers. */
uint64_t ht_random(uint64_t *state);

/** Open an index. `flags` as in simidx_engine_open. */
void *ht_open(const char *uri, unsigned flags);

/** Store changes from one state of documents to another; n of each, with the same ids. */
int ht_write(void *state, const ht_doc *before, const ht_doc *after, size_t n, const char *mark,
	     unsigned durability);

/** Finish what was begun; ht_resume(): in the place of others that set marks. */
int ht_begin(void *state);
int ht_resume(void *state);

/** Whether a look-up by id gives just this document, or nothing where it is not there. */
int ht_is_stored(void *state, const ht_doc *doc);

/** Whether a scan of its prefix finds its row in each table. */
int ht_has_rows(void *state, const ht_doc *doc);

/** Compare all rows, and mend what is wrong if flags say so. Returns the number of problems. */
uint64_t ht_check(void *state, unsigned flags, simidx_engine_check *out);

#endif /* HT_ENGINE_H */

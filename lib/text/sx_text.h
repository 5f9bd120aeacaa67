/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The extractors in steps, each in a file of its own:
 *
 *   sx_text_settings.c   options -> what is to be done
 *   sx_text_profile.c    what an index remembers about that
 *   sx_text_lists.c      stop words and other lists; sx_text_dict.c, sx_text_stop.c
 *   sx_text_stretch.c    UTF-8 is cut into stretches that are handled one after the other
 *   sx_text_utf8.c       stretch -> UTF-16, invalid sequences -> U+FFFD
 *   sx_text_normalise.c  NFKC, then case fold, once each
 *   sx_text_words.c      word boundaries -> words, as UTF-8
 *   sx_text_ascii.c      UTF-8 of ASCII -> words, past the three steps before
 *   sx_text_features.c   words and pairs of words -> counts
 *   sx_text_tokens.h     other tokens than words, what is done to them, other n-grams
 *   sx_text_weight.c     counts -> weighted features
 *   sx_text_check.c     texts that show whether two installations agree
 *   sx_text.c            the handle, which runs the steps; sx_text_open.c makes it
 *
 * A text is not segmented as a whole but in stretches of about 64 KiB, which is faster, takes
 * little memory whatever the length of the text, and keeps ICU's 32-bit lengths far from their
 * limits. Stretches end only where neither normalisation nor word boundaries look across, so
 * the words are those of the whole text.
 */

#ifndef SX_TEXT_H
#define SX_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/utypes.h>

#include <simidx.h>
#include <simidx_text.h>

#include "text/sx_text_ascii.h"
#include "text/sx_text_lists.h"
#include "text/sx_text_settings.h"
#include "text/sx_text_tokens.h"

#define SX_TEXT_MAX ((size_t)1 << 30) /* longest text, bytes */

/* ------------------------------------------------------------------------------------------
 * Stretches
 */

/* A stretch ends at the first good place after this many bytes ... */
#define SX_STRETCH_BYTES ((size_t)64 << 10)

/*
 * ... and where there is none, after this many, between two characters. A word that is cut
 * there counts as two. NFKC and case folding make at most 6 UTF-16 units of a UTF-8 byte (18
 * of the 3 bytes of U+FDFA), so every length in a stretch stays below 2^30.
 */
#define SX_STRETCH_MAX_BYTES ((size_t)128 << 20)

/**
 * The length of the first stretch of a text: `size`, or the first length from `want` on after
 * which no step looks back and no step looks ahead, but at most `most` (4 or more).
 */
size_t sx_stretch(const uint8_t *utf8, size_t size, size_t want, size_t most);

/* ------------------------------------------------------------------------------------------
 * UTF-16
 */

/** A growing string of UTF-16 units. All zero is the empty one. */
typedef struct sx_units {
	UChar *at;
	size_t n, room;
} sx_units;

/** Make room for n units in all. */
int sx_units_reserve(sx_units *units, size_t n, simidx_error *err);

/** Turn a failed ICU call into an error; `what` names the step. Returns the code. */
int sx_fail_icu(simidx_error *err, UErrorCode status, const char *what);

/**
 * Decode a stretch into `out`. Each maximal subpart of an invalid sequence (Unicode, section
 * 3.9, "U+FFFD Substitution of Maximal Subparts") becomes one U+FFFD.
 */
int sx_decode(sx_units *out, const uint8_t *utf8, size_t size, simidx_error *err);

/**
 * Put `text` into NFKC. `spare` is working space; the two may change places.
 *
 * A run of more than 1,024 units without a place where normalisation can start anew, such as
 * a thousand combining marks on one letter, is normalised in pieces of that length: putting
 * marks in order takes quadratic time.
 */
int sx_nfkc(sx_units *text, sx_units *spare, simidx_error *err);

/**
 * Apply Unicode's full default case folding, the same in every locale. NFKC is not applied
 * again: the few characters whose folding is not in NFKC come out alike in all texts, because
 * all texts were in NFKC before.
 */
int sx_fold(sx_units *text, sx_units *spare, simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * Words
 */

#define SX_JOINT 0x1f       /* stands between the two words of a pair */
#define SX_WORDS_BATCH 1024 /* words handed on at a time */

/**
 * Splits text into words and hands them on in batches. The words lie one after the other in
 * UTF-8 with a joint between neighbours, so that a pair is as much a run of bytes as a word.
 *
 * Either all of the text comes as normalised UTF-16, or only the islands of other than ASCII
 * do, in lines of their own; then the words between these are found in the UTF-8.
 */
typedef struct sx_words {
	UBreakIterator *breaks;    /* NULL until it is needed */
	const UChar *units;        /* what ICU splits */
	int32_t unit;              /* up to where it is split */
	const sx_ascii *ascii;     /* NULL: islands are not looked for */
	const uint8_t *utf8;       /* the stretch; NULL: all of it is in `units` */
	size_t pos, size;          /* up to where the stretch is split; its size */
	size_t island, island_end; /* the first island that is not split yet */
	char *islands;             /* all of them, a line each */
	size_t islands_room;
	char *bytes; /* of the batch */
	size_t room;
	size_t n;                   /* words in the batch */
	size_t n_old;               /* 0 or 1: the last word of the batch before comes first */
	size_t end[SX_WORDS_BATCH]; /* of each word in `bytes`; the joint follows */
} sx_words;

/** Begin a text: no word comes before its first one. */
void sx_words_begin(sx_words *words);

/**
 * Take up a stretch of UTF-8, which must stay until the last batch of it. *utf8 and *size
 * become the part of it that ICU has to split, maybe nothing: to be decoded, normalised and
 * given to sx_words_split(). Without this call, all that is given there is split.
 */
int sx_words_stretch(sx_words *words, const uint8_t **utf8, size_t *size, simidx_error *err);

/** Take up the UTF-16 of a stretch; it must stay until the last batch of it. */
int sx_words_split(sx_words *words, const sx_units *units, simidx_error *err);

/** Fill the next batch. n == n_old means that the stretch has no more words. */
int sx_words_fill(sx_words *words, simidx_error *err);

/** Where word i begins in `bytes`. */
static inline size_t sx_words_start(const sx_words *words, size_t i)
{
	return i ? words->end[i - 1] + 1 : 0;
}

/** Give buffers, the break iterator and its caches back; the next stretch gets new ones. */
void sx_words_free(sx_words *words);

/* ------------------------------------------------------------------------------------------
 * Features
 */

#define SX_SMALL_COUNTS 64

/**
 * The multiset of a text's words and pairs, while it is counted: an open-addressing table by
 * hash, with the count in place of the weight.
 */
typedef struct sx_features {
	simidx_feature *slot; /* weight 0 = free */
	size_t room;          /* slots allocated */
	size_t n_slots;       /* slots in use, a power of two */
	size_t n;             /* features */
	uint64_t n_words;
	uint32_t weight_of[SX_SMALL_COUNTS]; /* by count; 0 = not known yet */
} sx_features;

/** Begin a text of `text_size` bytes. */
int sx_features_begin(sx_features *features, size_t text_size, simidx_error *err);

/** Count the words of a batch, but the old one, and the pairs that end with them. */
int sx_features_count(sx_features *features, const sx_words *words, simidx_error *err);

/** Count one feature; noting its bytes, if it is new and `names` is not NULL. */
int sx_features_add(sx_features *features, const char *bytes, size_t size, sx_gram_names *names,
		    simidx_error *err);

/**
 * Turn counts into weights and keep the heaviest: the first n slots hold the features
 * afterwards, in no particular order. Nothing more can be counted.
 */
void sx_features_finish(sx_features *features, const sx_settings *settings,
			const sx_lists *lists);

/** The hash under a seed; seed 0 changes nothing. */
uint64_t sx_seeded(uint64_t hash, uint64_t seed);

/** The heaviest first, ties by smaller hash. */
void sx_features_sort(sx_features *features);

/** floor(sqrt(count) * 2^16). */
uint32_t sx_sqrt_weight(uint32_t count);

/** floor((1 + ln(count)) * 2^16), for counts from 1 on. */
uint32_t sx_log_weight(uint32_t count);

/** ln(x) * 2^56, for x from 1 on, less than 2 too small. */
uint64_t sx_ln(uint64_t x);

/** By enum sx_weights. */
extern const char *const sx_weights_names[];

/* ------------------------------------------------------------------------------------------
 * Probes
 */

#define SX_N_CHECK_TEXTS 16

/** A check text: what it is called in messages, and the text, NUL-terminated UTF-8. */
typedef struct sx_check_text {
	const char *name;
	const char *text;
} sx_check_text;

/*
 * Changing a check text, or the order of them, makes every older index unusable for new texts: a
 * change needs a new version of the extractor.
 */
extern const sx_check_text sx_check_texts[SX_N_CHECK_TEXTS];

/** Compare the check fingerprints of an index with this installation's: SIMIDX_E_MISMATCH names one. */
int sx_check_fps_compare(const uint64_t *stored, size_t n_stored, const uint64_t *own,
		    simidx_error *err);

/* ------------------------------------------------------------------------------------------
 * The handle
 */

struct simidx_text {
	sx_settings settings; /* lists in it are not valid any more */
	sx_lists *lists;
	int plain;          /* words12 in its simplest form: no token is looked at */
	size_t stretch;     /* SX_STRETCH_BYTES, less in tests */
	size_t stretch_max; /* SX_STRETCH_MAX_BYTES, less in tests */
	sx_units units, spare;
	sx_words words;
	sx_bytes token;
	sx_chars chars;
	sx_filter filter;
	sx_grams grams;
	sx_features features;
	char profile[SX_PROFILE_SIZE];
	uint64_t check_fps[SX_N_CHECK_TEXTS];
};

/** Cut a text into tokens; nothing is done to them. */
int sx_text_tokens(simidx_text *text, const uint8_t *utf8, size_t size, sx_take_token *take,
		   void *ctx, simidx_error *err);

/**
 * Count the features of a text: on success text->features is finished.
 *
 * @param names  NULL, or where the bytes of all features are noted
 */
int sx_text_extract(simidx_text *text, const uint8_t *utf8, size_t size, sx_gram_names *names,
		    simidx_error *err);

#endif /* SX_TEXT_H */

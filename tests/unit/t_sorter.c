/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include <stdlib.h>
#include <string.h>

#include "support/sxt.h"
#include "support/sxt_fixture.h"
#include "util/sx_frames.h"
#include "util/sx_sorter.h"
#include "util/sx_spill.h"

#define MEMORY ((size_t)1 << 20)

/* ---- an independent stable sort: merge sort of record numbers ---- */

struct reference {
	const uint64_t *record;
	unsigned words, keys, shift;
};

static int is_after(const struct reference *r, size_t a, size_t b)
{
	const uint64_t *x = r->record + a * r->words, *y = r->record + b * r->words;

	if (x[0] >> r->shift != y[0] >> r->shift)
		return x[0] >> r->shift > y[0] >> r->shift;
	return r->keys > 1 && x[1] > y[1];
}

static void merge_sort(const struct reference *r, size_t *order, size_t *scratch, size_t n)
{
	size_t half = n / 2, i = 0, j = half, at = 0;

	if (n < 2)
		return;
	merge_sort(r, order, scratch, half);
	merge_sort(r, order + half, scratch, n - half);
	while (at < n) {
		if (j == n || (i < half && !is_after(r, order[i], order[j])))
			scratch[at++] = order[i++];
		else
			scratch[at++] = order[j++];
	}
	memcpy(order, scratch, n * sizeof(*order));
}

/* What keys are made of. */
enum keys {
	SMALL,      /* below a bound: few distinct ones, so that stability shows */
	ASCENDING,
	CLUSTERED,  /* equal but for some low bits: what begins with the high ones learns nothing */
	EXTREME     /* no bits, all bits and what is between them */
};

static uint64_t make_key(sxt_rng *rng, enum keys keys, uint64_t i, uint64_t range)
{
	switch (keys) {
	case SMALL:
		return sxt_rng_below(rng, range);
	case ASCENDING:
		return i;
	case CLUSTERED:
		return ((uint64_t)0x1234567 << 36 | sxt_rng_below(rng, range)) ^
		       sxt_rng_below(rng, 2) << 63;
	default:
		switch (sxt_rng_below(rng, 4)) {
		case 0:
			return 0;
		case 1:
			return UINT64_MAX;
		case 2:
			return UINT64_MAX - sxt_rng_below(rng, 3);
		default:
			return sxt_rng_u64(rng);
		}
	}
}

/* Read all, one by one or some at a time. */
static void check_order(sx_sorter *sorter, const uint64_t *record, const size_t *order, size_t n,
			unsigned words, int some)
{
	const uint64_t *got;
	size_t here = 0;

	for (size_t i = 0; i < n; here--, i++, got += words) {
		if (!here && some) {
			sxt_must(!sx_sorter_some(sorter, &got, &here, &sxt_err));
			sxt_must(here && here <= n - i && here <= SX_SORTER_SOME);
		} else if (!here) {
			sxt_must(!sx_sorter_next(sorter, &got, &sxt_err));
			here = 1;
		}
		sxt_must(!memcmp(got, record + order[i] * words, words * sizeof(*got)));
	}
	ck_assert_uint_eq(here, 0);
	ck_assert_int_eq(sx_sorter_next(sorter, &got, NULL), SIMIDX_E_END);
	ck_assert_int_eq(sx_sorter_some(sorter, &got, &here, NULL), SIMIDX_E_END);
}

/* Sort n records, and compare. */
static void check_keys(unsigned words, unsigned keys, unsigned shift, size_t n, uint64_t range,
		       enum keys kind)
{
	struct reference r = { NULL, words, keys, shift };
	uint64_t *record = calloc(n * words + 1, sizeof(*record));
	size_t *order = calloc(n + 1, sizeof(*order)), *scratch = calloc(n + 1, sizeof(*scratch));
	sx_sorter *sorter;
	sx_spill *spill;
	sxt_rng rng;

	sxt_rng_init(&rng, words * 100 + keys * 10 + n);
	for (size_t i = 0; i < n; i++) {
		record[i * words] = make_key(&rng, kind, i, range) << shift;
		for (unsigned w = 1; w < words; w++)
			record[i * words + w] = w == 1 && keys > 1 ? sxt_rng_below(&rng, 300) :
						w == 2 && i % 3    ? sxt_rng_u64(&rng) :
								     i;
	}
	r.record = record;
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	merge_sort(&r, order, scratch, n);
	ck_assert_sx(sx_sorter_new(words, keys, shift, MEMORY, t_dir, &sorter, &sxt_err),
		     SIMIDX_OK);
	for (size_t i = 0, more = 1; i < n; i += more, more = more % 7 + 1) {
		if (more > n - i)
			more = n - i;
		sxt_must(!sx_sorter_add_some(sorter, record + i * words, more, &sxt_err));
	}
	ck_assert_uint_eq(sx_sorter_count(sorter), n);
	ck_assert_sx(sx_sorter_finish(sorter, MEMORY, &sxt_err), SIMIDX_OK);
	/* Half of the memory holds records, the other half is where they are sorted to. */
	ck_assert_int_eq(sx_sorter_spilled(sorter) > 0, n > MEMORY / 2 / (8 * words));
	check_order(sorter, record, order, n, words, 1);
	ck_assert_sx(sx_sorter_rewind(sorter, &sxt_err), SIMIDX_OK);
	check_order(sorter, record, order, n, words, 0);
	spill = sx_sorter_take_spill(sorter);
	ck_assert_int_eq(spill != NULL, n > MEMORY / 2 / (8 * words));
	sx_sorter_free(sorter);
	/* The same once more, over what is in the file. */
	ck_assert_sx(sx_sorter_new(words, keys, shift, MEMORY, t_dir, &sorter, &sxt_err),
		     SIMIDX_OK);
	sx_sorter_give_spill(sorter, spill);
	for (size_t i = n; i-- > 0;)
		sxt_must(!sx_sorter_add(sorter, record + order[i] * words, &sxt_err));
	ck_assert_sx(sx_sorter_finish(sorter, MEMORY, &sxt_err), SIMIDX_OK);
	r.record = calloc(n * words + 1, sizeof(*record));
	for (size_t i = 0; i < n; i++) {
		memcpy((uint64_t *)r.record + i * words, record + order[n - 1 - i] * words,
		       words * sizeof(*record));
		scratch[i] = i;
	}
	merge_sort(&r, scratch, order, n);
	check_order(sorter, r.record, scratch, n, words, 1);
	sx_sorter_free(sorter);
	free((uint64_t *)r.record);
	free(record);
	free(order);
	free(scratch);
}

static void check(unsigned words, unsigned keys, unsigned shift, size_t n, uint64_t range,
		  int ascending)
{
	check_keys(words, keys, shift, n, range, ascending ? ASCENDING : SMALL);
}

START_TEST(test_sort_in_memory)
{
	static const size_t sizes[] = { 0, 1, 2, 3, 100, 5000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		for (unsigned words = 1; words <= SX_SORT_MAX_WORDS; words++) {
			check(words, 1, 0, sizes[i], 50, 0);
			if (words > 1)
				check(words, 2, 0, sizes[i], 50, 0);
		}
}
END_TEST

START_TEST(test_sort_by_files)
{
	for (unsigned words = 1; words <= SX_SORT_MAX_WORDS; words++) {
		check(words, 1, 0, 200000, 1000, 0);
		check(words, 1, 0, 200000, UINT64_MAX, 0);
		check(words, 1, 0, 200000, 1000, 1);
		if (words > 1)
			check(words, 2, 0, 200000, 300, 0);
	}
	/* Exactly full, and one more. */
	check(2, 1, 0, MEMORY / 32, 1000, 0);
	check(2, 1, 0, MEMORY / 32 + 1, 1000, 0);
}
END_TEST

START_TEST(test_sort_by_shifted_keys)
{
	check(1, 1, 48, 300000, 1 << 16, 0);
	check(1, 1, 63, 1000, 2, 0);
	check(3, 2, 20, 100000, 1 << 10, 0);
}
END_TEST

START_TEST(test_keys_that_are_hard_to_split)
{
	for (unsigned words = 1; words <= SX_SORT_MAX_WORDS; words++)
		for (unsigned keys = 1; keys <= 2 && keys <= words; keys++) {
			check_keys(words, keys, 0, 150000, 1 << 20, CLUSTERED);
			check_keys(words, keys, 0, 150000, 0, EXTREME);
			check_keys(words, keys, 0, 1000, 1 << 20, CLUSTERED);
			check_keys(words, keys, 0, 1000, 0, EXTREME);
		}
}
END_TEST

/* A random word of at most so many bytes, the extremes among them. */
static uint64_t random_word(sxt_rng *rng, unsigned bytes)
{
	uint64_t mask = bytes < 8 ? ((uint64_t)1 << 8 * bytes) - 1 : UINT64_MAX;

	switch (sxt_rng_below(rng, 16)) {
	case 0:
		return 0;
	case 1:
		return mask;
	default:
		return sxt_rng_u64(rng) & mask;
	}
}

/* Every number of words, bytes a word, and records. */
START_TEST(test_frame_gives_words_back)
{
	uint64_t record[SX_FRAME_RECORDS * SX_SORT_MAX_WORDS];
	uint64_t got[SX_FRAME_RECORDS * SX_SORT_MAX_WORDS];
	unsigned char bytes[SX_FRAME_MAX_BYTES + SX_FRAME_SLACK];
	sxt_rng rng;

	sxt_rng_init(&rng, 5);
	for (int round = 0; round < 4000; round++) {
		unsigned words = 1 + (unsigned)round % SX_SORT_MAX_WORDS;
		size_t n = 1 + (size_t)sxt_rng_below(&rng, SX_FRAME_RECORDS), back, size, most = 2;

		if (round % 3 == 0)
			n = round % 2 ? SX_FRAME_RECORDS : 1;
		for (unsigned w = 0; w < words; w++) {
			unsigned width = (unsigned)sxt_rng_below(&rng, 9);
			uint64_t base = sxt_rng_u64(&rng) << 8 * width % 64;

			/* No carry: the difference has `width` bytes or fewer. */
			for (size_t i = 0; i < n; i++)
				record[i * words + w] = (width < 8 ? base : 0) |
							random_word(&rng, width);
			most += 9 + n * width;
		}
		size = sx_frame_encode(record, n, words, bytes);
		ck_assert_uint_le(size, most);
		ck_assert_uint_eq(sx_frame_decode(bytes, size, words, got, &back), size);
		ck_assert_uint_eq(back, n);
		ck_assert_mem_eq(got, record, n * words * sizeof(*got));
		/* One that is cut short is none. */
		for (size_t cut = round % 50 ? size - 1 : 0; cut < size; cut++)
			sxt_must(!sx_frame_decode(bytes, cut, words, got, &back));
	}
}
END_TEST

/* Bytes that are no frame: of any kind, none is read beyond its end. */
START_TEST(test_bytes_that_are_no_frame)
{
	uint64_t got[SX_FRAME_RECORDS * SX_SORT_MAX_WORDS];
	sxt_rng rng;

	sxt_rng_init(&rng, 6);
	for (int round = 0; round < 20000; round++) {
		size_t size = (size_t)sxt_rng_below(&rng, 600), n = 0, used;
		unsigned char *bytes = malloc(size + SX_FRAME_SLACK);
		unsigned words = 1 + (unsigned)round % SX_SORT_MAX_WORDS;

		for (size_t i = 0; i < size + SX_FRAME_SLACK; i++)
			bytes[i] = (unsigned char)(sxt_rng_below(&rng, 3) ? sxt_rng_below(&rng, 10)
									  : sxt_rng_u64(&rng));
		if (size > 1)
			bytes[1] = (unsigned char)sxt_rng_below(&rng, 2);
		used = sx_frame_decode(bytes, size, words, got, &n);
		sxt_must(used <= size && (!used || (n >= 1 && n <= SX_FRAME_RECORDS)));
		free(bytes);
	}
}
END_TEST

/* A temporary file with frames, read in parts. */
START_TEST(test_frames_of_any_size)
{
	static const size_t counts[] = { 1, 256, 257, 10000 };
	uint64_t record[10000], start[5] = { 0 };
	sx_frames frames = { 0 };
	sx_spill *spill;

	sx_frames_free(&frames);
	for (uint64_t i = 0; i < 10000; i++)
		record[i] = i * i;
	ck_assert_sx(sx_spill_new(t_dir, 5000, &spill, &sxt_err), SIMIDX_OK);
	for (int i = 0; i < 4; i++) {
		ck_assert_sx(sx_frames_write(spill, record, counts[i], 1, &sxt_err), SIMIDX_OK);
		start[i + 1] = sx_spill_size(spill);
	}
	ck_assert_sx(sx_frames_init(&frames, spill, 1, 1, &sxt_err), SIMIDX_OK);
	for (int i = 4; i-- > 0;) {
		size_t n = 0;

		sx_frames_seek(&frames, start[i], start[i + 1]);
		while (n < counts[i]) {
			ck_assert_sx(sx_frames_next(&frames, &sxt_err), SIMIDX_OK);
			ck_assert_uint_le(frames.n, counts[i] - n);
			ck_assert_mem_eq(frames.record, record + n, frames.n * 8);
			n += frames.n;
		}
		ck_assert_int_eq(sx_frames_next(&frames, NULL), SIMIDX_E_END);
	}
	/* From the middle of one it is none, and an end that is not there is told. */
	sx_frames_seek(&frames, start[1], start[2] - 1);
	ck_assert_int_eq(sx_frames_next(&frames, NULL), SIMIDX_E_IO);
	sx_frames_seek(&frames, start[4], start[4] + 1);
	ck_assert_int_eq(sx_frames_next(&frames, NULL), SIMIDX_E_IO);
	sx_frames_free(&frames);
	sx_spill_free(spill);
}
END_TEST

START_TEST(test_no_directory_for_spills)
{
	uint64_t record[1] = { 0 };
	char *missing = sxt_path(t_dir, "missing");
	sx_sorter *sorter;
	int rc = SIMIDX_OK;

	ck_assert_sx(sx_sorter_new(1, 1, 0, MEMORY, missing, &sorter, &sxt_err), SIMIDX_OK);
	for (size_t i = 0; !rc && i < MEMORY; i++)
		rc = sx_sorter_add(sorter, record, &sxt_err);
	ck_assert_int_eq(rc, SIMIDX_E_NOT_FOUND);
	ck_assert_ptr_nonnull(strstr(sxt_err.text, missing));
	sx_sorter_free(sorter);
	free(missing);
}
END_TEST

START_TEST(test_spill_gives_bytes_back)
{
	unsigned char out[3000], in[3000];
	sx_spill *spill;
	uint64_t at = 0;
	sxt_rng rng;

	sxt_rng_init(&rng, 1);
	ck_assert_sx(sx_spill_new(t_dir, 1000, &spill, &sxt_err), SIMIDX_OK);
	for (unsigned i = 0; i < 500; i++) {
		size_t size = (size_t)sxt_rng_below(&rng, sizeof(out));

		memset(out, (int)(i & 0xff), size);
		ck_assert_uint_eq(sx_spill_size(spill), at);
		ck_assert_sx(sx_spill_write(spill, out, size, &sxt_err), SIMIDX_OK);
		/* What was written last, be it in the buffer or in the file. */
		ck_assert_sx(sx_spill_read(spill, at, in, size, &sxt_err), SIMIDX_OK);
		ck_assert_mem_eq(in, out, size);
		at += size;
	}
	ck_assert_sx(sx_spill_read(spill, at, in, 1, &sxt_err), SIMIDX_E_IO);
	/* Once more from the start, and nothing of before is read. */
	sx_spill_clear(spill);
	ck_assert_uint_eq(sx_spill_size(spill), 0);
	memset(out, 0xaa, sizeof(out));
	ck_assert_sx(sx_spill_write(spill, out, 700, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_spill_write(spill, out, 700, &sxt_err), SIMIDX_OK);
	ck_assert_sx(sx_spill_read(spill, 0, in, 1400, &sxt_err), SIMIDX_OK);
	ck_assert_mem_eq(in, out, 1400);
	sx_spill_free(spill);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_sort_in_memory, 0, 1 },
	{ &test_sort_by_files, 0, 1 },
	{ &test_sort_by_shifted_keys, 0, 1 },
	{ &test_keys_that_are_hard_to_split, 0, 1 },
	{ &test_frame_gives_words_back, 0, 1 },
	{ &test_bytes_that_are_no_frame, 0, 1 },
	{ &test_frames_of_any_size, 0, 1 },
	{ &test_no_directory_for_spills, 0, 1 },
	{ &test_spill_gives_bytes_back, 0, 1 },
};

SXT_SUITE(sorter, sxt_set_up_path, sxt_tear_down);

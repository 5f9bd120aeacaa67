/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Texts that are put aside, and had again. */

#include <stdlib.h>
#include <string.h>

#include "dedup/sd_texts.h"
#include "support/sxt.h"

static char *dir;
static simidx_dedup_options options;
static struct sd_texts *texts;

static void begin(uint64_t spill_limit)
{
	sd_texts_close(texts);
	options = (simidx_dedup_options)SIMIDX_DEDUP_OPTIONS_INIT;
	options.tmpdir = dir;
	options.spill_bytes = spill_limit;
	texts = sd_texts_open(&options);
	ck_assert_ptr_nonnull(texts);
}

static void set_up(void)
{
	dir = sxt_dir_make();
	begin(UINT64_MAX);
}

static void tear_down(void)
{
	sd_texts_close(texts);
	free(dir);
}

static uint64_t keep(const char *text, size_t size)
{
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;
	uint64_t handle = UINT64_MAX;

	row.text = text;
	row.text_size = size;
	ck_assert_int_eq(sd_texts_keep(texts, &row, &handle, NULL), SIMIDX_OK);
	return handle;
}

static int is_there(uint64_t handle, const char *text, size_t size)
{
	struct sd_texts_reader *reader = sd_texts_reader_open(texts, 0);
	const char *found;
	size_t n;
	int rc = sd_texts_get(reader, handle, &found, &n, NULL);

	if (rc) {
		ck_assert_int_eq(rc, SIMIDX_E_NOT_FOUND);
		ck_assert_uint_eq(n, 0);
	} else {
		ck_assert_uint_eq(n, size);
		ck_assert_int_eq(memcmp(found, text, n), 0);
	}
	sd_texts_reader_close(reader);
	return !rc;
}

/* Random bytes do not get smaller. */
START_TEST(test_spill_has_a_limit)
{
	unsigned char noise[4000];
	uint64_t handle[3];
	sxt_rng rng;

	begin(5000);
	sxt_rng_init(&rng, 1);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (unsigned char)sxt_rng_u64(&rng);
	for (int i = 0; i < 3; i++) {
		handle[i] = keep((const char *)noise, i == 2 ? 900 : sizeof(noise));
		ck_assert_uint_eq(handle[i], (uint64_t)i);
		ck_assert_int_eq(sd_texts_problem(texts) != NULL, i > 0);
	}
	ck_assert(is_there(handle[0], (const char *)noise, sizeof(noise)));
	ck_assert(!is_there(handle[1], NULL, 0));
	/* A smaller one still has room. */
	ck_assert(is_there(handle[2], (const char *)noise, 900));
	ck_assert_ptr_nonnull(strstr(sd_texts_problem(texts), "5000 bytes"));
}
END_TEST

START_TEST(test_spill_without_directory)
{
	uint64_t handle;

	sxt_remove(dir);
	begin(UINT64_MAX);
	handle = keep("text", 4);
	ck_assert(!is_there(handle, NULL, 0));
	ck_assert_ptr_nonnull(strstr(sd_texts_problem(texts), "No such file"));
}
END_TEST

START_TEST(test_equal_texts_get_smaller)
{
#if defined HAVE_ZSTD || defined HAVE_ZLIB
	static char text[100000];

	begin(sizeof(text) / 10);
	memset(text, 'x', sizeof(text));
	ck_assert(is_there(keep(text, sizeof(text)), text, sizeof(text)));
#else
	sxt_skip("built without compression");
#endif
}
END_TEST

/* A place that has another text by now. */
static int give_place(void *ctx, unsigned thread, const simidx_dedup_place *place,
		      const char **text, size_t *size)
{
	ck_assert_uint_eq(thread, 3);
	ck_assert_uint_eq(place->offset, ((uint64_t)1 << 48) - 1);
	ck_assert_uint_eq(place->source, UINT32_MAX);
	ck_assert_uint_eq(place->length, UINT32_MAX - 1);
	*text = ctx;
	*size = strlen(ctx);
	return *size == 4 ? SIMIDX_E_NOMEM : SIMIDX_OK;
}

START_TEST(test_places)
{
	simidx_dedup_row row = SIMIDX_DEDUP_ROW_INIT;
	struct sd_texts_reader *reader = sd_texts_reader_open(texts, 3);
	uint64_t handle, changed = 0, unread = 0;
	simidx_error err = { 0 };
	const char *text;
	size_t size;

	options.calls.read_text = give_place;
	row.text = "the text";
	row.text_size = 8;
	row.place = (simidx_dedup_place){ ((uint64_t)1 << 48) - 1, UINT32_MAX, UINT32_MAX - 1 };
	row.flags = SIMIDX_DEDUP_PLACED;
	ck_assert_int_eq(sd_texts_keep(texts, &row, &handle, NULL), SIMIDX_OK);
	options.calls.ctx = (char[]){ "the text" };
	ck_assert_int_eq(sd_texts_get(reader, handle, &text, &size, &err), SIMIDX_OK);
	ck_assert_uint_eq(size, 8);
	options.calls.ctx = (char[]){ "another" };
	ck_assert_int_eq(sd_texts_get(reader, handle, &text, &size, &err), SIMIDX_E_NOT_FOUND);
	options.calls.ctx = (char[]){ "four" };
	ck_assert_int_eq(sd_texts_get(reader, handle, &text, &size, &err), SIMIDX_E_NOMEM);
	ck_assert_int_eq(err.code, SIMIDX_E_NOMEM);
	sd_texts_count(reader, &changed, &unread);
	ck_assert_uint_eq(changed, 1);
	ck_assert_uint_eq(unread, 0);
	sd_texts_reader_close(reader);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_spill_has_a_limit, 0, 1 },
	{ &test_spill_without_directory, 0, 1 },
	{ &test_equal_texts_get_smaller, 0, 1 },
	{ &test_places, 0, 1 },
};

SXT_SUITE(sd_texts, set_up, tear_down);

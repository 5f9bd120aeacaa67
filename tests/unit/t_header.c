/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * The header record: every field at the place that doc/format.md gives it, and nothing else
 * accepted.
 */

#include <string.h>

#include "index/sx_header.h"
#include "support/sxt.h"
#include "util/sx_bytes.h"
#include "util/sx_hash.h"

static sx_header header;
static unsigned char bytes[SX_HEADER_MAX_SIZE];
static size_t size;

/* Every field with a value of its own. */
static void set_up(void)
{
	memset(&header, 0, sizeof(header));
	ck_assert_sx(sx_plan_make(&header.plan, "10x26", 48, &sxt_err), SIMIDX_OK);
	header.major = SX_FORMAT_MAJOR;
	header.minor = SX_FORMAT_MINOR;
	header.compat = 0x12345678;
	header.ro_compat = 0x9abcdef0;
	header.page_size = 4096;
	header.bits = 48;
	header.layout = SIMIDX_LAYOUT_ROWS;
	header.fill = 77;
	header.flags = SIMIDX_CREATE_FP2 | SX_FLAG_UNKNOWN_FP2 | SIMIDX_CREATE_NOTES;
	header.state = SX_STATE_MERGING | SX_STATE_PARTIAL;
	header.documents = 1001;
	header.labels = 1002;
	header.next_id = 1003;
	header.first_seq = 1004;
	header.next_seq = 1005;
	header.merged_fp = 1006;
	header.merged_id = 1007;
	header.merge_end = 1005;
	header.unknown_fp2 = 1009;
	header.commit = 1010;
	header.notes = 1011;
	for (unsigned t = 0; t < 10; t++) {
		header.table[t].rows = 2000 + t;
		header.table[t].digest = 3000 + t;
		header.table[t].generation = 4000 + t;
	}
	for (unsigned i = 0; i < 2; i++) {
		header.other[i].rows = 5000 + i;
		header.other[i].digest = 6000 + i;
		header.other[i].generation = 7000 + i;
	}
	memset(bytes, 0xee, sizeof(bytes));
	size = sx_header_encode(&header, bytes);
}

static uint64_t at(size_t place, unsigned n)
{
	uint64_t x = 0;

	while (n--)
		x = x << 8 | bytes[place + n];
	return x;
}

#define TABLES_AT 248

START_TEST(test_fields_lie_where_format_says)
{
	static const unsigned char column[96] = { 'f', 'p', '2', [8] = 8, [9] = 1 };
	static const char name[16] = "10x26";

	ck_assert_uint_eq(size, TABLES_AT + 12 * 48 + 8);
	ck_assert_mem_eq(bytes, "simidx\x1a\n", 8);
	ck_assert_uint_eq(at(8, 2), 0);
	ck_assert_uint_eq(at(10, 2), 3);
	ck_assert_uint_eq(at(12, 4), 0);
	ck_assert_uint_eq(at(16, 4), 0x9abcdef0);
	ck_assert_uint_eq(at(20, 4), 0x12345678);
	ck_assert_uint_eq(at(24, 4), 4096);
	ck_assert_uint_eq(at(28, 1), 48);
	ck_assert_uint_eq(at(29, 1), 1);
	ck_assert_uint_eq(at(30, 1), 77);
	ck_assert_uint_eq(at(31, 1), 10);
	ck_assert_mem_eq(bytes + 32, name, 16);
	ck_assert_uint_eq(at(48, 4), 4 | 8 | 32);
	ck_assert_uint_eq(at(52, 4), 6);
	for (unsigned i = 0; i < 7; i++)
		ck_assert_uint_eq(at(56 + 8 * i, 8), 1001 + i);
	ck_assert_uint_eq(at(112, 8), 1005);
	ck_assert_uint_eq(at(120, 8), 1009);
	ck_assert_uint_eq(at(128, 8), 1010);
	ck_assert_uint_eq(at(136, 8), 1);
	ck_assert_uint_eq(at(144, 8), 1011);
	ck_assert_mem_eq(bytes + 152, column, sizeof(column));
	for (unsigned t = 0; t < 12; t++) {
		uint64_t i = t < 10 ? t : t - 10, base = t < 10 ? 2000 : 5000;

		for (unsigned field = 0; field < 3; field++)
			ck_assert_uint_eq(at(TABLES_AT + 48 * t + 24 + 8 * field, 8),
					  base + 1000 * field + i);
		for (unsigned lead = 0; lead < 3; lead++)
			ck_assert_uint_eq(at(TABLES_AT + 48 * t + 8 * lead, 8),
					  t < 10 ? header.plan.table[t].lead[lead] : 0);
	}
	/* The first pair of 48 bits in five blocks: 10, 10, 10, 9, 9. */
	ck_assert_uint_eq(at(TABLES_AT, 8), 0xffc000000000);
	ck_assert_uint_eq(at(TABLES_AT + 8, 8), 0x003ff0000000);
	ck_assert_uint_eq(at(size - 8, 8), sx_hash(bytes, size - 8));
}
END_TEST

static int decode(size_t length)
{
	sx_slice slice = { bytes, length };
	simidx_error err = { 0 };
	sx_header out;
	int rc = sx_header_decode(&out, slice, &err);

	ck_assert_int_eq(rc, err.code);
	ck_assert(!rc || err.text[0]);
	return rc;
}

START_TEST(test_decode_of_encode_is_equal)
{
	sx_slice slice = { bytes, size };
	unsigned char again[SX_HEADER_MAX_SIZE];
	sx_header out;

	ck_assert_sx(sx_header_decode(&out, slice, &sxt_err), SIMIDX_OK);
	ck_assert_uint_eq(sx_header_encode(&out, again), size);
	ck_assert_mem_eq(again, bytes, size);
	ck_assert_str_eq(out.plan.name, "10x26");
	ck_assert_uint_eq(out.plan.table[9].prefix_mask, header.plan.table[9].prefix_mask);
}
END_TEST

START_TEST(test_cut_short_is_refused)
{
	for (size_t length = 0; length < size; length++)
		ck_assert_int_eq(decode(length),
				 length < TABLES_AT ? SIMIDX_E_NOT_INDEX : SIMIDX_E_CORRUPT);
	ck_assert_int_eq(decode(size + 1), SIMIDX_E_CORRUPT);
}
END_TEST

/* Magic, version and incompatible features are looked at before the checksum. */
START_TEST(test_any_flipped_bit_is_refused)
{
	for (size_t bit = 0; bit < 8 * size; bit++) {
		int want = SIMIDX_E_CORRUPT;

		if (bit < 8 * 8)
			want = SIMIDX_E_NOT_INDEX;
		else if (bit < 16 * 8)
			want = SIMIDX_E_VERSION;
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
		ck_assert_int_eq(decode(size), want);
		bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	ck_assert_int_eq(decode(size), SIMIDX_OK);
}
END_TEST

/* With the right checksum: what a value means counts. */
static void change(size_t place, unsigned n, uint64_t value, int want)
{
	unsigned char old[8];

	memcpy(old, bytes + place, n);
	for (unsigned i = 0; i < n; i++)
		bytes[place + i] = (unsigned char)(value >> 8 * i);
	sx_store_le64(bytes + size - 8, sx_hash(bytes, size - 8));
	ck_assert_int_eq(decode(size), want);
	memcpy(bytes + place, old, n);
	sx_store_le64(bytes + size - 8, sx_hash(bytes, size - 8));
}

START_TEST(test_impossible_values_are_refused)
{
	change(8, 2, 1, SIMIDX_E_VERSION);
	change(8, 2, 0xffff, SIMIDX_E_VERSION);
	change(10, 2, 0, SIMIDX_E_VERSION);
	change(10, 2, 1, SIMIDX_E_VERSION);
	change(10, 2, 2, SIMIDX_E_VERSION);
	change(10, 2, 4, SIMIDX_E_VERSION);
	for (unsigned bit = 0; bit < 32; bit++) {
		change(12, 4, UINT64_C(1) << bit, SIMIDX_E_VERSION);
		change(16, 4, UINT64_C(1) << bit, SIMIDX_OK);
		change(20, 4, UINT64_C(1) << bit, SIMIDX_OK);
	}
	change(28, 1, 15, SIMIDX_E_VERSION);
	change(28, 1, 65, SIMIDX_E_VERSION);
	change(28, 1, 47, SIMIDX_E_VERSION); /* the leads are those of 48 bits */
	change(29, 1, 2, SIMIDX_E_CORRUPT);
	change(30, 1, 49, SIMIDX_E_CORRUPT);
	change(30, 1, 101, SIMIDX_E_CORRUPT);
	change(31, 1, 9, SIMIDX_E_CORRUPT);
	change(31, 1, 255, SIMIDX_E_CORRUPT);
	change(32, 1, '2', SIMIDX_E_VERSION);
	change(47, 1, 'x', SIMIDX_E_VERSION);
	change(48, 4, 32, SIMIDX_E_VERSION); /* a column, but not fp2's flag */
	change(48, 4, 64 | 32 | 8 | 4, SIMIDX_E_CORRUPT);
	change(48, 4, 32 | 8 | 4 | 2, SIMIDX_E_CORRUPT); /* notes without ids */
	change(48, 4, 8 | 4, SIMIDX_E_CORRUPT); /* notes, but not their flag */
	change(48, 4, 32 | 16 | 8 | 4, SIMIDX_E_VERSION); /* times, but no column of them */
	change(48, 4, 32 | 4, SIMIDX_E_CORRUPT); /* what stands for unknown, but not its flag */
	change(52, 4, 6 | 8, SIMIDX_E_CORRUPT);
	change(52, 4, 6 | 1, SIMIDX_OK);
	change(52, 4, 4, SIMIDX_E_CORRUPT); /* partly merged, but no merge has begun */
	change(52, 4, 0, SIMIDX_E_CORRUPT); /* no merge has begun, but it has an end */
	change(72, 8, SIMIDX_MAX_ID + 1, SIMIDX_OK);
	change(72, 8, SIMIDX_MAX_ID + 2, SIMIDX_E_CORRUPT);
	change(80, 8, 1006, SIMIDX_E_CORRUPT);
	change(80, 8, 1003, SIMIDX_OK);
	change(112, 8, 1004, SIMIDX_E_CORRUPT);
	change(112, 8, 1006, SIMIDX_E_CORRUPT);
	change(120, 8, 0, SIMIDX_OK); /* any value can stand for unknown */
	change(128, 8, UINT64_MAX, SIMIDX_OK);
	change(136, 1, 0, SIMIDX_E_VERSION);
	change(136, 1, 2, SIMIDX_E_VERSION);
	for (unsigned i = 137; i < 144; i++)
		change(i, 1, i % 2 ? 1 : 0x80, SIMIDX_E_VERSION);
	change(144, 8, 0, SIMIDX_OK);
	change(154, 1, '3', SIMIDX_E_VERSION);
	change(160, 1, 4, SIMIDX_E_VERSION);
	change(161, 1, 0, SIMIDX_E_VERSION);
	change(168, 8, 1, SIMIDX_E_VERSION);
	change(176, 1, 'x', SIMIDX_E_VERSION);
	for (unsigned t = 0; t < 10; t++)
		change(TABLES_AT + 48 * t + 8 * (t % 3), 8, 0xff, SIMIDX_E_VERSION);
	ck_assert_int_eq(decode(size), SIMIDX_OK);
}
END_TEST

static const sxt_test tests[] = {
	{ &test_fields_lie_where_format_says, 0, 1 },
	{ &test_decode_of_encode_is_equal, 0, 1 },
	{ &test_cut_short_is_refused, 0, 1 },
	{ &test_any_flipped_bit_is_refused, 0, 1 },
	{ &test_impossible_values_are_refused, 0, 1 },
};

SXT_SUITE(header, set_up, NULL);

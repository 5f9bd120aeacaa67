/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/* Numbers that tools read and show, at the limits of each. */

#include <string.h>

#include "common/tl_number.h"
#include "support/sxt.h"

static void set_up(void)
{
}

static void tear_down(void)
{
}

typedef int parser(const char *s, size_t n, uint64_t max, uint64_t *out);

/* `as`: what the text is, or REFUSED. */
#define REFUSED UINT64_MAX

static void parses(parser *parse, const char *text, uint64_t max, uint64_t as)
{
	uint64_t value = 77;
	int rc = parse(text, strlen(text), max, &value);

	ck_assert_msg(rc == (as == REFUSED ? -1 : 0), "%s: %d", text, rc);
	if (!rc)
		ck_assert_uint_eq(value, as);
}

START_TEST(test_whole_numbers)
{
	parses(tl_parse_decimal, "18446744073709551614", UINT64_MAX, UINT64_MAX - 1);
	parses(tl_parse_decimal, "18446744073709551616", UINT64_MAX, REFUSED);
	parses(tl_parse_decimal, "184467440737095516140", UINT64_MAX, REFUSED);
	parses(tl_parse_decimal, "36893488147419103232", UINT64_MAX, REFUSED);
	parses(tl_parse_decimal, "7", 7, 7);
	parses(tl_parse_decimal, "8", 7, REFUSED);
	parses(tl_parse_decimal, "", 7, REFUSED);
	parses(tl_parse_decimal, "1/", 99, REFUSED);
	parses(tl_parse_decimal, "1:", 99, REFUSED);
}
END_TEST

START_TEST(test_counts)
{
	parses(tl_parse_count, "5K", 5000, 5000);
	parses(tl_parse_count, "5K", 4999, REFUSED);
	parses(tl_parse_count, "3M", UINT64_MAX, 3000000);
	parses(tl_parse_count, "3G", UINT64_MAX, 3000000000);
	parses(tl_parse_count, "3T", UINT64_MAX, 3000000000000);
	parses(tl_parse_count, "18446745T", UINT64_MAX, REFUSED);
	parses(tl_parse_count, "1e18", UINT64_MAX, 1000000000000000000);
	parses(tl_parse_count, "1e19", UINT64_MAX, REFUSED);
	parses(tl_parse_count, "2e0", 2, 2);
	parses(tl_parse_count, "e3", 5000, REFUSED);
	parses(tl_parse_count, "1e", 5000, REFUSED);
	parses(tl_parse_count, "1e1K", UINT64_MAX, REFUSED);
	parses(tl_parse_count, "K", 5000, REFUSED);
	parses(tl_parse_bytes, "5K", 5120, 5120);
	parses(tl_parse_bytes, "5K", 5119, REFUSED);
	parses(tl_parse_bytes, "3M", UINT64_MAX, 3 << 20);
	parses(tl_parse_bytes, "1G", UINT64_MAX, 1 << 30);
	parses(tl_parse_bytes, "1T", UINT64_MAX, UINT64_C(1) << 40);
	parses(tl_parse_bytes, "16777216T", UINT64_MAX, REFUSED);
	parses(tl_parse_bytes, "1e3", UINT64_MAX, 1000);
}
END_TEST

static void is_fixed(const char *text, uint64_t as)
{
	uint32_t value = 77;
	int rc = tl_parse_fixed(text, strlen(text), &value);

	ck_assert_msg(rc == (as == REFUSED ? -1 : 0), "%s: %d", text, rc);
	if (!rc)
		ck_assert_uint_eq(value, as);
}

START_TEST(test_fractions)
{
	is_fixed("0", 0);
	is_fixed("2.5", 0x28000);
	is_fixed("65535.99998", UINT32_MAX);
	is_fixed("65535.999999", REFUSED); /* rounded to 65536 */
	is_fixed("65536", REFUSED);
	/* Half of 1 / 65536 is .00000762939453125, of which twelve digits count. */
	is_fixed("0.000007629395", 1);
	is_fixed("0.0000076293949999", 0);
	is_fixed("0.33333333333333333333333333333333", 21845);
	is_fixed("1.x", REFUSED);
	is_fixed(".5", REFUSED);
}
END_TEST

START_TEST(test_digits)
{
	unsigned char bytes[2] = { 0, 0 };

	ck_assert_int_eq(tl_parse_hex("aF09", 4, bytes), 0);
	ck_assert_uint_eq(bytes[0], 0xaf);
	ck_assert_uint_eq(bytes[1], 0x09);
	ck_assert_int_eq(tl_parse_hex("aF0", 3, bytes), -1);
	ck_assert_int_eq(tl_parse_hex("g0", 2, bytes), -1);
	ck_assert_int_eq(tl_parse_hex("0g", 2, bytes), -1);
}
END_TEST

static void refused(const char *text, unsigned bits, const char *reason)
{
	char said[200];
	uint64_t fp;

	ck_assert_int_eq(tl_parse_fingerprint(text, strlen(text), bits, "fp", &fp, said,
					      sizeof(said)), -1);
	ck_assert_str_eq(said, reason);
}

START_TEST(test_fingerprints)
{
	char said[200];
	uint64_t fp;

	ck_assert_int_eq(tl_parse_fingerprint("0X1f", 4, 16, "fp", &fp, said, sizeof(said)), 0);
	ck_assert_uint_eq(fp, 0x1f);
	ck_assert_int_eq(tl_parse_fingerprint("1fffffffffffffff", 16, 61, "fp", &fp, said,
					      sizeof(said)), 0);
	refused("2000000000000000", 61, "fp: wider than 61 bits");
	refused("", 16, "fp: expected 1 to 4 hexadecimal digits, found 0");
	refused("0x", 16, "fp: expected 1 to 4 hexadecimal digits, found 0");
	refused("12345", 16, "fp: expected 1 to 4 hexadecimal digits, found 5");
	refused("12g4", 16,
		"fp: expected 1 to 4 hexadecimal digits, found 'g' in place of digit 3");
	refused("0xü", 16,
		"fp: expected 1 to 4 hexadecimal digits, found 'ü' in place of digit 1");
	refused("1\x1f", 16,
		"fp: expected 1 to 4 hexadecimal digits, found byte 0x1f in place of digit 2");
	refused("\x7f", 16,
		"fp: expected 1 to 4 hexadecimal digits, found byte 0x7f in place of digit 1");
	refused("\xff", 16,
		"fp: expected 1 to 4 hexadecimal digits, found byte 0xff in place of digit 1");
}
END_TEST

START_TEST(test_shown)
{
	ck_assert_str_eq(tl_count(0), "0");
	ck_assert_str_eq(tl_count(999), "999");
	ck_assert_str_eq(tl_count(1000), "1,000");
	ck_assert_str_eq(tl_count(1234567), "1,234,567");
	ck_assert_str_eq(tl_counted(1, "row", "rows"), "1 row");
	ck_assert_str_eq(tl_counted(0, "row", "rows"), "0 rows");
	ck_assert_str_eq(tl_amount(0), "0");
	ck_assert_str_eq(tl_amount(999.4), "999");
	ck_assert_str_eq(tl_amount(999.5), "1.00 K");
	ck_assert_str_eq(tl_amount(9994), "9.99 K");
	ck_assert_str_eq(tl_amount(9996), "10.0 K");
	ck_assert_str_eq(tl_amount(99940), "99.9 K");
	ck_assert_str_eq(tl_amount(99960), "100 K");
	ck_assert_str_eq(tl_amount(2e15), "2000 T");
	ck_assert_str_eq(tl_left(119), ", 119 s left");
	ck_assert_str_eq(tl_left(120), ", 2 min left");
}
END_TEST

static const sxt_test tests[] = {
	{ &test_whole_numbers, 0, 1 },
	{ &test_counts, 0, 1 },
	{ &test_fractions, 0, 1 },
	{ &test_digits, 0, 1 },
	{ &test_fingerprints, 0, 1 },
	{ &test_shown, 0, 1 },
};

SXT_SUITE(tl_number, set_up, tear_down);

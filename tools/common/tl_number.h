/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Numbers from text: exact, whole fields only, no sign, no blanks, no locale. strtoull() takes
 * "-1", " 1" and "1x", and half a fingerprint is as good as a wrong one.
 */

#ifndef TL_NUMBER_H
#define TL_NUMBER_H

#include <stddef.h>
#include <stdint.h>

/** Value of a hexadecimal digit, or -1. */
int tl_hex_digit(char c);

/**
 * Bytes from an even number of hexadecimal digits.
 *
 * @param out  room for n / 2 bytes
 * @return 0, or -1 if the digits are none or their number is odd
 */
int tl_parse_hex(const char *digits, size_t n, void *out);

/** Decimal digits only. Returns 0, or -1 if it is no number or above `max`. */
int tl_parse_decimal(const char *s, size_t n, uint64_t max, uint64_t *out);

/**
 * Digits with or without a fraction, "0" to "65535.99998", as 16.16 fixed point, rounded to the
 * nearest, a half up. Digits beyond the twelfth behind the point do not count.
 *
 * @return 0 or -1
 */
int tl_parse_fixed(const char *s, size_t n, uint32_t *out);

/**
 * As tl_parse_decimal(), perhaps with K, M, G or T after it for 10^3, 10^6, 10^9 and 10^12, or with
 * e and the number of zeros.
 */
int tl_parse_count(const char *s, size_t n, uint64_t max, uint64_t *out);

/** As tl_parse_decimal(), perhaps with K, M, G or T after it for powers of 1,024. */
int tl_parse_bytes(const char *s, size_t n, uint64_t max, uint64_t *out);

/** Bytes of a short text about a number. */
#define TL_NUMBER_SIZE 96

/**
 * Room for one. A thread has sixteen, which it uses in turn: so what the functions below return is
 * valid until sixteen more are written, which is enough for a message.
 */
char *tl_number_room(void);

/** A count with commas: "4,804". */
const char *tl_count(uint64_t count);

/** So many of something: "1 row", "4,804 rows". */
const char *tl_counted(uint64_t count, const char *one, const char *many);

/** An amount with three digits and what it is counted in: "804", "17.8 M". */
const char *tl_amount(double amount);

/** The time that is left: ", 12 s left", ", 3 min left". */
const char *tl_left(double seconds);

/** Digits of a fingerprint of `bits` bits. */
unsigned tl_hex_width(unsigned bits);

/**
 * A fingerprint of `bits` bits: 1 to tl_hex_width() hexadecimal digits, "0x" before them allowed.
 * Zeros in front may be missing, as "%x" in C, hex() in Python and toString(16) in JavaScript
 * leave them out.
 *
 * @param what    its name for the message, such as "fingerprint"
 * @param reason  on failure: what was expected and what was there
 * @param size    room there
 * @return 0 or -1
 */
int tl_parse_fingerprint(const char *s, size_t n, unsigned bits, const char *what,
			 uint64_t *out, char *reason, size_t size);

/**
 * An unsigned decimal value in min..max; anything else is told on stderr.
 *
 * @param name  the option, such as "--limit"
 * @return 0, or TL_TROUBLE after a message
 */
int tl_option_number(const char *name, const char *text, uint64_t min, uint64_t max,
		     uint64_t *out);

/**
 * Refuse --radius and --accept together; each is -1 if it is not given. Returns 0, or TL_TROUBLE
 * with a message.
 */
int tl_check_distances(int radius, int accept);

#endif /* TL_NUMBER_H */

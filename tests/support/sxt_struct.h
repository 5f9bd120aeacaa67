/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * To call functions with structs that are shorter and longer than ours. A struct lies in a room of
 * bytes that are all T_FILL, so that what is written beyond it is seen.
 */

#ifndef SXT_STRUCT_H
#define SXT_STRUCT_H

#include <stdint.h>
#include <string.h>

#include "support/sxt.h"
#include "util/sx_struct.h"

/** A field that is added at the end must change the size, so nothing ends in padding. */
#define T_ENDS_WITH(type, field)                                                      \
	_Static_assert(sizeof(void *) != 8 || SX_STRUCT_TO(type, field) == sizeof(type), \
		       #type " ends in padding")

#define T_FILL 0xa5
#define T_ROOM (2 * SX_STRUCT_MAX)

/** A struct and what lies after it. */
union t_room {
	uint64_t align;
	size_t size;
	unsigned char at[T_ROOM];
};

/** Gives a function what a caller has filled. Returns its code; sxt_err has the error. */
typedef int t_call_with(const void *given);

/** The same with what the function is to fill. */
typedef int t_call_out(void *out);

/** The first `size` bytes of `full`, as far as they go, and zeros. */
static inline void t_put_in(union t_room *room, const void *full, size_t full_size, size_t size)
{
	memset(room->at, T_FILL, sizeof(room->at));
	memset(room->at, 0, size);
	memcpy(room->at, full, size < full_size ? size : full_size);
	room->size = size;
}

/**
 * A call is tried with every size. `min` is the smallest that is to do: `full` has nothing but
 * zeros and what a call does not depend on after it.
 */
static inline void t_try_in(t_call_with *call, const void *full, size_t size, size_t min)
{
	union t_room room;

	for (size_t n = 0; n < min; n += n + 8 < min ? 8 : 1) {
		t_put_in(&room, full, size, n);
		ck_assert_msg(call(room.at) == SIMIDX_E_ARG, "%zu of %zu bytes", n, size);
	}
	for (size_t n = min; n < size; n += 4) {
		t_put_in(&room, full, size, n);
		ck_assert_msg(call(room.at) == SIMIDX_OK, "%zu of %zu bytes: %s", n, size,
			      sxt_err.text);
	}
	for (size_t n = size; n <= SX_STRUCT_MAX; n += n < size + 16 ? 1 : 509) {
		t_put_in(&room, full, size, n);
		ck_assert_msg(call(room.at) == SIMIDX_OK, "%zu of %zu bytes: %s", n, size,
			      sxt_err.text);
		for (size_t i = n - 1; i >= size; i -= i < size + 16 ? 1 : 13) {
			t_put_in(&room, full, size, n);
			room.at[i] = 1;
			ck_assert_msg(call(room.at) == SIMIDX_E_ARG, "%zu bytes, byte %zu", n, i);
		}
	}
	t_put_in(&room, full, size, SX_STRUCT_MAX + 1);
	ck_assert_int_eq(call(room.at), SIMIDX_E_ARG);
	t_put_in(&room, full, size, size);
	room.size = SIZE_MAX;
	ck_assert_int_eq(call(room.at), SIMIDX_E_ARG);
}

/**
 * Call with n bytes: what there is room for is as in `full`, what is beyond that is zero, and
 * nothing after it is touched.
 */
static inline void t_try_room(t_call_out *call, const void *full, size_t size, size_t n)
{
	size_t known = n < size ? n : size;
	union t_room room;

	memset(room.at, T_FILL, sizeof(room.at));
	room.size = n;
	ck_assert_msg(call(room.at) == SIMIDX_OK, "%zu of %zu bytes: %s", n, size, sxt_err.text);
	ck_assert_uint_eq(room.size, n);
	for (size_t i = sizeof(size_t); i < sizeof(room.at); i++) {
		unsigned want = i < known ? ((const unsigned char *)full)[i] : i < n ? 0 : T_FILL;

		if (room.at[i] != want)
			ck_abort_msg("%zu of %zu bytes, byte %zu: %u, not %u", n, size, i,
				     room.at[i], want);
	}
}

/** A size that is refused: nothing is written. */
static inline void t_try_no_room(t_call_out *call, size_t n)
{
	union t_room room;

	memset(room.at, T_FILL, sizeof(room.at));
	room.size = n;
	ck_assert_int_eq(call(room.at), SIMIDX_E_ARG);
	ck_assert_uint_eq(room.size, n);
	for (size_t i = sizeof(size_t); i < sizeof(room.at); i++)
		ck_assert(room.at[i] == T_FILL);
}

/** Every size, against a struct of our size that has been filled by the same call. */
static inline void t_try_out(t_call_out *call, const void *full, size_t size, size_t min)
{
	for (size_t n = min; n <= size + 16; n += 4)
		t_try_room(call, full, size, n);
	t_try_room(call, full, size, size + 1);
	t_try_room(call, full, size, SX_STRUCT_MAX);
	for (size_t n = 0; n < min; n += 4)
		t_try_no_room(call, n);
	t_try_no_room(call, min - 1);
	t_try_no_room(call, SX_STRUCT_MAX + 1);
	t_try_no_room(call, SIZE_MAX);
}

/** A call fills `type` of our size; then it is tried with others. */
#define T_TRY_OUT(call, type, INIT, min)                                              \
	do {                                                                          \
		type full = INIT;                                                     \
                                                                                      \
		ck_assert_sx(call(&full), SIMIDX_OK);                                 \
		ck_assert_uint_eq(full.size, sizeof(full));                           \
		t_try_out(call, &full, sizeof(full), min);                            \
	} while (0)

#endif /* SXT_STRUCT_H */

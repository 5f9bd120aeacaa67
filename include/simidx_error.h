/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * simidx_error.h - the codes that functions return, and what they tell of an error. It belongs to
 * simidx.h, which includes it and says what holds for all of them.
 */

#ifndef SIMIDX_ERROR_H
#define SIMIDX_ERROR_H

#include <stdint.h>

#if defined(__GNUC__)
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SIMIDX_CHECK_RESULT __attribute__((warn_unused_result))
#define SIMIDX_CONST __attribute__((const))
#define SIMIDX_PURE __attribute__((pure))
#else
#define SIMIDX_CHECK_RESULT
#define SIMIDX_CONST
#define SIMIDX_PURE
#endif

/* Every code once: X(name, value, text). */
#define SIMIDX_ERRORS(X)                                                                      \
	X(SIMIDX_OK, 0, "success")                                                            \
	X(SIMIDX_E_ARG, -1, "invalid argument")                                               \
	X(SIMIDX_E_NOMEM, -2, "out of memory")                                                \
	X(SIMIDX_E_STATE, -3, "call not allowed in this state")                               \
	X(SIMIDX_E_NOT_FOUND, -4, "not found")                                                \
	X(SIMIDX_E_END, -5, "no more entries")                                                \
	X(SIMIDX_E_EXISTS, -6, "already exists")                                              \
	X(SIMIDX_E_DUPLICATE, -7, "id or label is already in use")                            \
	X(SIMIDX_E_RANGE, -8, "value out of range")                                           \
	X(SIMIDX_E_MISMATCH, -9, "does not fit this index")                                   \
	X(SIMIDX_E_NOT_INDEX, -10, "not a simidx index")                                      \
	X(SIMIDX_E_VERSION, -11, "index format of another version")                           \
	X(SIMIDX_E_CORRUPT, -12, "index is damaged")                                          \
	X(SIMIDX_E_IO, -13, "input/output error")                                             \
	X(SIMIDX_E_NO_SPACE, -14, "no space left on the file system")                         \
	X(SIMIDX_E_MAP_FULL, -15, "memory map is full")                                       \
	X(SIMIDX_E_PERMISSION, -16, "permission denied")                                      \
	X(SIMIDX_E_READ_ONLY, -17, "index was opened read-only")                              \
	X(SIMIDX_E_BUSY, -18, "locked by another writer")                                     \
	X(SIMIDX_E_MOVED, -19, "index was replaced by another one; open it again")            \
	X(SIMIDX_E_FORK, -20, "handle was opened before fork()")                              \
	X(SIMIDX_E_UNSUPPORTED, -21, "not supported here")                                    \
	X(SIMIDX_E_STOPPED, -22, "stopped by the caller")                                     \
	X(SIMIDX_E_UNKNOWN, -23, "the outcome is not known")

enum simidx_code {
#define SIMIDX_ENUM(name, value, text) name = value,
	SIMIDX_ERRORS(SIMIDX_ENUM)
#undef SIMIDX_ENUM
};

/** What went wrong, in a struct that the caller owns. */
typedef struct simidx_error {
	int code;           /**< the SIMIDX_E_ code that the call returned, 0 if it succeeded */
	int sys_errno;      /**< the errno that caused it, or 0 */
	char text[496];     /**< one sentence, NUL-terminated, never empty on failure */
	uint64_t reserved;  /**< zero */
} simidx_error;

/** The fixed text of a code, a static string; "unknown error" for any other int. */
const char *simidx_strerror(int code) SIMIDX_CONST;

/** Its name, such as "SIMIDX_E_BUSY", a static string; "SIMIDX_E_?" for any other int. */
const char *simidx_error_name(int code) SIMIDX_CONST;

#ifdef __cplusplus
}
#endif
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#endif /* SIMIDX_ERROR_H */

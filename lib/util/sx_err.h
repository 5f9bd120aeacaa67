/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Filling a simidx_error. Functions return the code that they set, so that a failure is one
 * statement: return sx_fail(err, SIMIDX_E_RANGE, "id %" PRIu64 " is too large", id);
 */

#ifndef SX_ERR_H
#define SX_ERR_H

#include <simidx.h>

/** Forget an earlier error; every public function does this first. err may be NULL. */
void sx_err_clear(simidx_error *err);

/**
 * Set code and text, unless an error is already there: the first one wins, because what fails
 * while cleaning up is not the cause. err may be NULL. Returns `code`.
 */
int sx_fail(simidx_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/**
 * As sx_fail() for a failed system call: the code follows from `sys_errno` (no permission, no
 * space, ...), and its text is appended after ": ". Returns the code.
 */
int sx_fail_errno(simidx_error *err, int sys_errno, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/** Out of memory. Returns SIMIDX_E_NOMEM. */
int sx_fail_nomem(simidx_error *err);

/** The code that stands for an errno. */
int sx_code_of_errno(int sys_errno);

#endif /* SX_ERR_H */

/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

/*
 * Failures inside this library are exceptions, because Thrift's are. None leaves it: each function
 * that C can call runs in guarded(), which turns them into a code and a text.
 */

#ifndef HB_FAILURE_HH
#define HB_FAILURE_HH

#include <simidx.h>

#include <exception>
#include <new>
#include <string>

namespace simidx_hbase {

/** What a function of the interface returns, and why. */
struct Failure : std::exception {
	int code;         /**< SIMIDX_E_ */
	int sys_errno;    /**< or 0 */
	std::string text; /**< one sentence */

	Failure(int c, int e, std::string t) : code(c), sys_errno(e), text(std::move(t)) {}
	const char *what() const noexcept override { return text.c_str(); }
};

[[noreturn]] void fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));

/** Fill *err, which may be NULL. Returns the code. */
int report(simidx_error *err, int code, int sys_errno, const char *text) noexcept;

/** The first line of a message from outside, without control characters, cut at 200 bytes. */
std::string one_line(const std::string &message);

/** Run f; what it throws becomes a code. */
template <class F> int guarded(simidx_error *err, F f) noexcept
{
	try {
		if (err)
			report(err, SIMIDX_OK, 0, "");
		return f();
	} catch (const Failure &failure) {
		return report(err, failure.code, failure.sys_errno, failure.what());
	} catch (const std::bad_alloc &) {
		return report(err, SIMIDX_E_NOMEM, 0, "out of memory");
	} catch (const std::exception &other) {
		return report(err, SIMIDX_E_IO, 0, other.what());
	} catch (...) {
		return report(err, SIMIDX_E_IO, 0, "an unknown exception");
	}
}

} // namespace simidx_hbase

#endif /* HB_FAILURE_HH */

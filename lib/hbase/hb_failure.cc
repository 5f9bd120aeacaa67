/* SPDX-License-Identifier: MIT */
/* Copyright the libsimidx authors */

#include "hb_failure.hh"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace simidx_hbase {

void fail(int code, const char *format, ...)
{
	char text[496];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	throw Failure(code, 0, text);
}

int report(simidx_error *err, int code, int sys_errno, const char *text) noexcept
{
	if (!err)
		return code;
	memset(err, 0, sizeof(*err));
	err->code = code;
	err->sys_errno = sys_errno;
	if (code)
		snprintf(err->text, sizeof(err->text), "%s", *text ? text : simidx_strerror(code));
	return code;
}

std::string one_line(const std::string &message)
{
	std::string line;

	for (char c : message) {
		if (c == '\n' || line.size() >= 200)
			break;
		line.push_back((unsigned char)c < 0x20 || c == 0x7f ? ' ' : c);
	}
	return line.empty() ? "no message" : line;
}

} // namespace simidx_hbase

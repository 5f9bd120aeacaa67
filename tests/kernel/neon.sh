#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The kernels of 64-bit ARM, built by a cross compiler and run by an emulator (Debian:
# gcc-aarch64-linux-gnu, libc6-dev-arm64-cross, qemu-user). Only in `make check-long`; skipped
# where these are not installed, and on an ARM machine, where the unit tests do the same.
set -eu
skip() {
	echo "skipped: $*"
	exit 77
}
[ -n "${SIMIDX_LONG:-}" ] || skip 'only in make check-long'
[ "$(uname -m)" != aarch64 ] || skip 'on this machine the unit tests do it'
cc=aarch64-linux-gnu-gcc
command -v $cc >/dev/null || skip "there is no $cc"
command -v qemu-aarch64 >/dev/null || skip 'there is no qemu-aarch64'

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$SX_SRCDIR"
for optimize in -O2 '-O0 -fsanitize=undefined -fsanitize-undefined-trap-on-error'; do
	# shellcheck disable=SC2086
	$cc -std=gnu11 -Wall -Wextra -Wshadow -Werror $optimize -static -D_GNU_SOURCE -Ilib -Itests \
		-o "$tmp/run" tests/kernel/*.c lib/kernel/*.c
	qemu-aarch64 "$tmp/run" "${SIMIDX_SEED:-1}" neon
done

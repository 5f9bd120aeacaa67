#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Builds mih-rs as a contestant and prints the path of the program, for
#     bench/bn_search --peers "$(bench/mih.sh)" ...
# cargo fetches the crate. Usage: mih.sh [DIRECTORY to build in]
set -eu
src=$(cd "$(dirname "$0")" && pwd)/mih
to=${1:-bench/mih-build}

command -v cargo >/dev/null || {
	echo "mih.sh: cargo is not there" >&2
	exit 1
}
mkdir -p "$to"
to=$(cd "$to" && pwd)
# In a copy, because cargo writes a lock file beside Cargo.toml.
mkdir -p "$to/src"
cp "$src/Cargo.toml" "$to/"
cp "$src/src/main.rs" "$to/src/"
(cd "$to" && RUSTFLAGS='-C target-cpu=native' cargo build --release --quiet) >&2
echo "$to/target/release/mih-rs"

# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Read by check.sh, quickstart.sh and .ci/run, which stand in the top directory of the source.

packages='autoconf automake libtool pkg-config make gcc g++ libc6-dev
	liblmdb-dev lmdb-utils libxxhash-dev libicu-dev libstemmer-dev libjansson-dev zlib1g-dev libzstd-dev
	libssl-dev unicode-data zstd check'

say() {
	printf '\n== %s\n' "$*" >&2
}

missing_packages() {
	for package in $packages; do
		dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
			echo "$package"
	done
}

# Only what is missing is installed, so that a second run needs neither network nor root.
install_packages() {
	if ! command -v apt-get >/dev/null; then
		say 'No apt-get here: install what these Debian packages hold, if configure misses it:'
		echo $packages >&2
		return
	fi
	missing=$(missing_packages)
	[ -n "$missing" ] || return 0
	say "Installing" $missing
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		if ! command -v sudo >/dev/null; then
			echo "Neither root nor sudo. As root: apt-get install" $missing >&2
			exit 2
		fi
		sudo='sudo'
	fi
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get update -q
	$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
}

# build DIRECTORY [CONFIGURE-OPTION...]
build() {
	directory=$1
	shift
	[ -x configure ] && [ configure -nt configure.ac ] || autoreconf -fi
	mkdir -p "$directory"
	say "Building in $directory" "$@"
	(cd "$directory" && ../configure -q "$@" && make -s -j"$(nproc)" >/dev/null)
}

# The output of failed tests is shown: a log file on a build machine is easily lost.
run_tests() {
	say "Testing in $1"
	make -s -C "$1" -j"$(nproc)" check VERBOSE=1
}

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
set -eu
cd "$(dirname "$0")"

usage() {
	cat <<'END'
Usage: ./check.sh [--build-only] [--in DIRECTORY] [CONFIGURE-OPTION...]

Installs the packages that libsimidx needs (apt-get, with sudo unless root), builds it in
build/ and runs its tests. Options of configure are passed on: ./configure --help.

  --build-only    install what a build needs, and build; no tests
  --in DIRECTORY  build there, a folder of this one, instead of in build/
END
}

# To build, and to test too.
packages='autoconf automake libtool pkg-config make gcc libc6-dev
	liblmdb-dev libxxhash-dev libicu-dev libstemmer-dev libjansson-dev zlib1g-dev libzstd-dev'
test_packages='check g++ libssl-dev lmdb-utils unicode-data zstd'

say() {
	printf '\n== %s\n' "$*" >&2
}

# The output of a command that failed, and nothing of one that succeeded.
quietly() {
	log=$(mktemp)
	status=0
	"$@" >"$log" 2>&1 || status=$?
	[ $status -eq 0 ] || cat "$log" >&2
	rm -f "$log"
	return $status
}

missing_packages() {
	for package; do
		dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
			echo "$package"
	done
}

unknown_packages() {
	for package; do
		apt-cache show "$package" >/dev/null 2>&1 || echo "$package"
	done
}

# Whether a folder is one of this one, and none of the sources.
is_for_builds() {
	case $1 in
	'' | . | .. | */* | -*) return 1 ;;
	esac
	[ ! -e "$1" ] || [ -e "$1/config.log" ] || [ -z "$(ls -A "$1")" ]
}

# Whether configure, which may not be there yet, knows an option; or it sets a variable.
is_for_configure() {
	case $1 in
	-q | --quiet | --silent | --prefix=?* | --exec-prefix=?* | --build=?* | --host=?* | --*dir=?*) return ;;
	--with-* | --without-* | --enable-* | --disable-*) ;;
	-*) return 1 ;;
	[A-Za-z]*=*) return ;;
	*) return 1 ;;
	esac
	what=${1#--*-}
	{
		sed -n 's/.*\(AC_ARG_WITH\|AC_ARG_ENABLE\|SX_PART\|SX_ENGINE\)(\[\([a-z-]*\)\].*/\2/p' configure.ac m4/sx_*.m4
		printf '%s\n' aix-soname dependency-tracking fast-install gnu-ld libtool-lock maintainer-mode pic \
			shared silent-rules static sysroot
	} | grep -qx -e "${what%%=*}"
}

# What is wrong with an option, and what is right.
tell_wrong() {
	case $1 in
	--prefix | --exec-prefix | --host | --*dir) echo "'$1' has its value behind '=': $1=VALUE." ;;
	*build*) echo "'$1' is no option of it; is --build-only meant?" ;;
	*test* | *check* | *quick*) echo "'$1' is no option of it; tests run unless --build-only is given." ;;
	*) echo "'$1' is no option of it or of configure." ;;
	esac
}

# Only what is missing is installed, so that a second run needs neither network nor root.
install_packages() {
	if ! command -v apt-get >/dev/null; then
		say 'No apt-get here. What these Debian packages hold is needed:' "$@"
		return
	fi
	# shellcheck disable=SC2046 # one word a package, here and below
	set -- $(missing_packages "$@")
	[ $# -gt 0 ] || return 0
	sudo=
	if [ "$(id -u)" -ne 0 ]; then
		sudo=sudo
		command -v sudo >/dev/null || {
			echo 'Packages are missing, and this is neither root nor is sudo here. As root:' >&2
			echo "apt-get install $*" >&2
			exit 2
		}
	fi
	say 'Installing' "$@"
	quietly $sudo apt-get update -qq
	unknown=$(unknown_packages "$@")
	if [ -n "$unknown" ]; then
		echo 'apt knows no package' $unknown >&2
		echo 'On Ubuntu they are in "universe". As root, to have it:' >&2
		echo 'apt-get install software-properties-common && add-apt-repository universe' >&2
		exit 2
	fi
	quietly $sudo env DEBIAN_FRONTEND=noninteractive \
		apt-get install -qq -y --no-install-recommends "$@"
}

directory=build
test=yes
while [ $# -gt 0 ]; do
	case $1 in
	-h | --help) usage && exit ;;
	--build-only) test= ;;
	--in)
		[ $# -gt 1 ] && is_for_builds "$2" || {
			echo "check.sh: --in: expected a folder of this one, new or built in before, found '${2-}'" >&2
			exit 2
		}
		directory=$2
		shift
		;;
	*) break ;;
	esac
	shift
done

for option; do
	is_for_configure "$option" || {
		echo "check.sh: $(tell_wrong "$option") Try './check.sh --help'." >&2
		exit 2
	}
	# What an engine needs stands in its file.
	m4=m4/sx_${option#--with-}.m4
	[ ! -e "$m4" ] || packages="$packages $(sed -n 's/^# packages: //p' "$m4")"
done
# shellcheck disable=SC2086
install_packages $packages ${test:+$test_packages}

if [ ! -x configure ] || [ -n "$(find configure.ac -newer configure)" ]; then
	say 'Making configure'
	quietly autoreconf -fi
fi
mkdir -p "$directory"
cd "$directory"
say "Building in $directory" "$@"
if [ -n "$test" ] || [ $# -gt 0 ] || [ ! -e Makefile ]; then
	../configure -q "$@"
fi
quietly make -s -j"$(nproc)"
[ -n "$test" ] || exit 0

# The output of failed tests is shown: a log file on a build machine is easily lost.
quietly make -s -j"$(nproc)" check TESTS=
say "Testing in $directory"
# Many tests wait for a disk or a clock: twice as many as there are processors.
make -s -j"$((2 * $(nproc)))" check VERBOSE=1

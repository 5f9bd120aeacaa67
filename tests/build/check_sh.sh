#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# check.sh refuses a wrong option before it installs anything, and says what to do where apt does not know
# a package. On a machine where all packages are missing, and apt knows only some.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

mkdir fake
program() {
	printf '#!/bin/sh\n%s\n' "$2" >"fake/$1"
	chmod +x "fake/$1"
}
program dpkg-query 'exit 1'
program apt-get "echo \"\$@\" >>'$tmp/apt-get.log'; [ \"\$1\" = update ]"
program apt-cache "! grep -qx \"\$2\" '$tmp/unknown'"
program sudo 'exec "$@"'
touch unknown

# check_sh CODE OPTION...
check_sh() {
	local code=$1
	shift
	: >apt-get.log
	run "$code" env PATH="$tmp/fake:$PATH" "$SX_SRCDIR/check.sh" "$@"
}

for option in --foo --with-foo --enable-foo -x foo; do
	check_sh 2 --without-text "$option"
	says "'$option' is no option of it or of configure. Try './check.sh --help'."
	[ ! -s apt-get.log ] || fail "installed in spite of $option"
done

while read -r option told; do
	check_sh 2 "$option"
	says "check.sh: '$option' $told Try './check.sh --help'."
	[ ! -s apt-get.log ] || fail "installed in spite of $option"
done <<'END'
--prefix has its value behind '=': --prefix=VALUE.
--libdir has its value behind '=': --libdir=VALUE.
--build is no option of it; is --build-only meant?
build is no option of it; is --build-only meant?
--build_only is no option of it; is --build-only meant?
--test-only is no option of it; tests run unless --build-only is given.
--quick is no option of it; tests run unless --build-only is given.
END
check_sh 2 --build-only --prefix /opt
says "'--prefix' has its value behind '=': --prefix=VALUE."
run 2 "$SX_SRCDIR/quickstart.sh" --prefix=/opt
says "quickstart.sh: '--prefix=/opt' is no option of it; it installs only packages: './check.sh --build-only --prefix=DIR'"

for directory in lib . ../x lib/x /tmp/x ''; do
	check_sh 2 --in "$directory"
	says "check.sh: --in: expected a folder of this one, new or built in before, found '$directory'"
	[ ! -s apt-get.log ] || fail "installed in spite of --in $directory"
done

# These are taken: apt is asked, and installs nothing here.
for option in --with-hbase --with-redis --without-text --disable-tests --with-sanitizer=address --disable-static \
	--prefix=/opt CFLAGS=-O0; do
	check_sh 1 "$option"
	grep -q '^install.* liblmdb-dev' apt-get.log || fail "$option: $(cat err)"
done

printf 'check\nunicode-data\n' >unknown
check_sh 2
says 'apt knows no package check unicode-data'
says 'add-apt-repository universe'
if grep -q '^install' apt-get.log; then fail 'installed what apt does not know'; fi

finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Fails when a file includes what its layer may not know (CONTRIBUTING.md, "Layers"). The file
# `rooms` beside this one has the folders of lib, from the lowest one up. A folder with a version script
# is a library of its own: libsimidx-text or libsimidx-dedup, which may know util and public headers, or an
# engine, which may know public headers alone.
# Usage: layers.sh [TREE]
set -eu
cd "${1:-${SX_SRCDIR:-.}}"

engines=$(find lib -name 'libsimidx-*.map' | sed 's|/libsimidx-.*||' | grep -vxE 'lib/(dedup|text)' | sort | paste -s -d '|')
headers=$(find lib -name '*.h' | sed 's|^lib/||' | sort | tr '\n' ' ')
files=$(find include lib tools bench python tests/format \( -name '*.[ch]' -o -name '*.cc' -o -name '*.hh' \) 2>/dev/null |
	sort)
[ -n "$files" ]

status=0

# shellcheck disable=SC2086
awk -v headers="$headers" -v engines="${engines:-none}" -v rooms="$(tr '\n' ' ' <tests/build/rooms)" '
BEGIN {
	n = split(rooms, order, " ")
	for (i = 1; i <= n; i++)
		rank[order[i]] = i
	m = split(headers, list, " ")
	for (i = 1; i <= m; i++) {
		private[list[i]] = 1
		base = list[i]
		sub(/.*\//, "", base)
		private_base[base] = list[i]
	}
}
function bad(why) {
	printf "%s:%d: %s\n", FILENAME, FNR, why
	failures++
}
function only(where, what) {
	if (FILENAME !~ "^" where "/")
		bad(what " is known to " where " alone")
}
function is_other(folder) {
	return folder == "text" || folder == "dedup"
}
function check_lib(name, quoted,    mine, folder) {
	split(FILENAME, part, "/")
	mine = part[2]
	folder = name
	sub(/\/.*/, "", folder)
	if (name in private_base && !(name in private))
		bad("write the folder: \"" private_base[name] "\"")
	if (!(name in private)) {
		if (quoted)
			bad("no such header in lib: " name)
		return
	}
	if (!quoted)
		bad("private headers stand in quotes: " name)
	if (mine == folder)
		return
	if (is_other(mine) ? folder != "util" : rank[folder] > rank[mine] || !rank[folder])
		bad("lib/" mine " may not include \"" name "\": " (is_other(mine) ? \
		    "of lib it may know util alone" : "lib/" folder " is above it"))
}
FNR == 1 && FILENAME ~ /^lib\// {
	split(FILENAME, part, "/")
	if (!is_other(part[2]) && FILENAME !~ "^(" engines ")/" && !rank[part[2]])
		bad("lib/" part[2] " is not a known layer")
}
/->engine[^a-z_]/ && FILENAME ~ /^lib\// {
	only("lib/(remote|open)", "what an index has of an engine")
}
/^[ \t]*#[ \t]*include[ \t]*[<"]/ {
	quoted = $0 ~ /include[ \t]*"/
	name = $0
	sub(/^[^<"]*[<"]/, "", name)
	sub(/[>"].*/, "", name)
	base = name
	sub(/.*\//, "", base)

	# The seam is index/sx_backend.h: above it nobody asks what holds the tables.
	if (name ~ /^remote\/sx_(engine|engine_text|known)\.h$/ || name == "simidx_engine.h")
		only("(include|lib/(remote|open)|" engines "|tests|tools|bench)", name)
	if (name == "lmdb.h")
		only("(lib/store|bench|tests/format)", name)
	if (base ~ /^xx(h3|hash)\.h$/)
		only("(lib/util|" engines "|tests/format|tools/dedup|tools/query)", name)
	if (name ~ /^unicode\//)
		only("(lib/text|bench)", "ICU")
	if (name == "sqlite3.h")
		only("bench", name)
	if (name == "libstemmer.h")
		only("lib/text", "libstemmer")
	if (name == "jansson.h")
		only("(tools/input|bench/quality)", name)
	if (name == "zlib.h")
		only("(lib/dedup|tools/input)", name)
	if (name == "zstd.h")
		only("(lib/dedup|tools/input|bench/quality)", name)
	if (base == "check.h")
		bad("Check belongs to the tests")
	if (name ~ /(^|\/)\.\.\//)
		bad("no .. in an include: " name)

	if (name ~ /^thrift\//)
		only("(" engines ")", "Thrift")
	if (name ~ /^openssl\//)
		only("(" engines "|bench/quality)", "OpenSSL")
	if (name ~ /^hiredis\//)
		only("(" engines "|bench)", "hiredis")
	if (FILENAME ~ "^(" engines ")/") {
		split(FILENAME, part, "/")
		if ((name in private || base in private_base) && !((part[2] "/" name) in private))
			bad("an engine may know public headers only, not " name)
		next
	} else if (FILENAME ~ /^lib\//)
		check_lib(name, quoted)
	else if (FILENAME ~ /^python\// && (name in private || base in private_base))
		bad("the module of Python may know public headers only, not " name)
	else if (FILENAME ~ /^tools\// && (name in private || base in private_base))
		bad("a tool may not include a private header of lib: " name)
	else if (FILENAME ~ /^tests\/format\// && (name in private || base in private_base))
		bad("the decoder may not know the library: " name)
	else if (FILENAME ~ /^include\// && (quoted || base ~ /^sx_/))
		bad("a public header may include public ones only: " name)
	if (name == "simidx_text.h" && FILENAME ~ /^lib\// && FILENAME !~ /^lib\/(dedup|text)\//)
		bad("libsimidx may not know libsimidx-text")
}
END { exit failures > 0 }
' $files || status=1

# LMDB must not be used across a fork. Check runs tests in forked children, but an unchecked
# fixture in their parent; a test that got this wrong would pass now and then.
if grep -rn tcase_add_unchecked_fixture tests --include='*.[ch]'; then
	echo 'use tcase_add_checked_fixture() instead'
	status=1
fi

exit $status

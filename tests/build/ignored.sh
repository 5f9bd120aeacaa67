#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Fails unless .gitignore covers all that a build makes, in a folder of its own or inside the source
# tree. Both have the same names in them, so those of this build stand for both.
set -eu
cd "$SX_SRCDIR"

if [ ! -e .git ] || ! git ls-files >/dev/null 2>&1; then
	echo 'skipped: not a git checkout'
	exit 77
fi
if [ "$SX_SRCDIR" = "$SX_BUILDDIR" ]; then
	echo 'skipped: built inside the source tree: what is made and what is new cannot be told apart'
	exit 77
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

{
	# By this build. What else lies in its folder is not made inside the source tree.
	cd "$SX_BUILDDIR"
	for made in $(git -C "$SX_SRCDIR" ls-tree -d --name-only HEAD) Makefile config.* libtool stamp-h1; do
		[ ! -e "$made" ] || find "$made" -type f
	done
	cd "$SX_SRCDIR"
	# By autoreconf; automake keeps copies with ~ of what it replaces.
	find configure* aclocal.m4 config.h.in* Makefile.in build-aux autom4te.cache m4 -type f
	# The folders that the documents and scripts name.
	printf '%s/config.status\n' build build-minimal build-sanitizer build-clang
} | sort -u >"$tmp/made"
git ls-files | sort >"$tmp/tracked"
comm -23 "$tmp/made" "$tmp/tracked" >"$tmp/products"
[ "$(wc -l <"$tmp/products")" -gt 300 ] || {
	echo 'This build has made too little to tell.'
	exit 1
}

# With -v and -n, a path that no pattern matches has an empty one: "::<tab>path".
git check-ignore --no-index -v -n --stdin <"$tmp/products" >"$tmp/judged" || :
sed -n 's/^::\t//p' "$tmp/judged" >"$tmp/unmatched"
[ -s "$tmp/unmatched" ] || exit 0

# Tests beside this one build as well (tests/build/bench.sh). Their tools' temporary files, such as the
# archive that ar renames when it is whole, are gone after a moment; a product stays.
sleep 2
while read -r made; do
	[ ! -e "$made" ] && [ ! -e "$SX_BUILDDIR/$made" ] || echo "$made"
done <"$tmp/unmatched" >"$tmp/missing"
if grep . "$tmp/missing"; then
	echo 'made by a build and not in .gitignore'
	exit 1
fi

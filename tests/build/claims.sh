#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What documents say and a script can check: names of folders, files, functions and options, and
# numbers that stand in the code too.
# Usage: claims.sh [TREE]
set -euo pipefail
cd "${1:-$SX_SRCDIR}"
documents='README.md CONTRIBUTING.md bench/README.md bench/results/README.md doc/*.md'
status=0

bad() {
	echo "$*"
	status=1
}

# same NAME: of what the document has and what there is, one a line
same() {
	diff -u --label "document: $1" <(sort -u <<<"$2") --label 'tree' <(sort -u <<<"$3") || status=1
}

# has FILE STRING
has() {
	grep -qF -e "$2" "$1" || bad "$1 should say: $2"
}

# The number that a public header defines.
defined() { # NAME
	grep -h "^#define $1 [0-9]" include/*.h | grep -o '[0-9]*$' || bad "no header defines $1"
}

# --- Defaults of options stand in their table, once: help adds them

grep -rn --include='*.[ch]' '(default' tools | grep -v '^tools/common/tl_help.c:' && bad 'use .standard or .otherwise'

# --- Folders and layers, in CONTRIBUTING.md

for folder in lib/*/ tools/*/ tests/*/ bench/*/; do
	folder=${folder%/}
	[[ ! -e $folder/.gitignore && $folder != bench/mih-build && $folder != lib/.libs ]] || continue
	compgen -G "$folder/*.*" >/dev/null || continue
	has CONTRIBUTING.md "\`$folder"
done
same 'layers, highest first' \
	"$(sed -n 's/^| `lib\/\([a-z]\+\)` | .*/\1/p' CONTRIBUTING.md | cat -n)" \
	"$(tac tests/build/rooms | cat -n)"

# Pages and public headers.
for page in doc/*.md; do
	grep -F '| `doc/` |' CONTRIBUTING.md | grep -qF "\`${page#doc/}\`" || bad "CONTRIBUTING.md: doc/ should name $page"
done
for header in include/simidx*.h; do
	has README.md "\`${header#include/}\`"
done

# Who includes the headers of other libraries.
for header in lmdb.h xxhash.h 'unicode/*.h' libstemmer.h jansson.h zlib.h zstd.h openssl/evp.h openssl/ssl.h sqlite3.h; do
	included=$(grep -lE "#include <${header//\*/[a-z0-9]*}>" lib/*/*.[ch] lib/*/*.cc tools/*/*.[ch] bench/*.[ch] \
		bench/*/*.[ch] tests/*/*.[ch] 2>/dev/null | xargs -r -n 1 dirname | sort -u)
	claimed=$(grep -F "| \`$header\`" CONTRIBUTING.md | cut -d '|' -f 3 | grep -o '`[a-z/]*`' | tr -d '`')
	same "folders that include $header" "$claimed" "$included"
done

file=$(sed -n 's/^max_file=//p' tests/build/sizes.sh)
function=$(sed -n 's/^max_function=//p' tests/build/sizes.sh)
has CONTRIBUTING.md "above $file lines a file and $function a function"

# --- Names, in all documents

# Functions that are named are exported.
# shellcheck disable=SC2086 # a list of files
for name in $(grep -oh '`simidx_[a-z0-9_]*()`' $documents | tr -d '`()' | sort -u); do
	grep -qs "^[[:space:]]*$name;" lib/libsimidx.map lib/*/libsimidx-*.map ||
		bad "no such function: $name()"
done

# The changelog: names but for those that were removed or renamed are in the public headers.
for name in $(awk '/^- /{ old = /\*\*(Renamed|Removed)/ } !old' CHANGELOG.md |
	grep -oE '`(simidx_[a-z0-9_]+|SIMIDX_[A-Z0-9_]+)' | tr -d '`' | sort -u); do
	grep -qw "$name" include/*.h || bad "CHANGELOG.md: no such name: $name"
done
# Each plan, and each command.
for plan in $(grep -oE "\"[0-9]+x[0-9]+\"" lib/plan/sx_plan.c | tr -d "\"" | sort -u); do
	has CHANGELOG.md "$plan"
	has doc/format.md "| \`$plan\` |"
done
commands=$("$SX_BUILDDIR/tools/simidx-query" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')
for command in $commands; do
	has README.md "simidx-query $command"
done

# Files of the tree, named with a folder, and modules.
# shellcheck disable=SC2086
for path in $(grep -oh '`\(lib\|tools\|tests\|bench\|include\|doc\)/[a-zA-Z0-9_./-]*`' $documents |
	tr -d '`' | sort -u); do
	[[ -e $path || -e $path.c || $path =~ ^bench/bn_[a-z_]*$ ]] ||
		bad "no such file: $path"
done
for name in $(grep -oh '\<sx_[a-z0-9_]*\.[ch]\>' doc/*.md CONTRIBUTING.md | sort -u); do
	compgen -G "lib/*/$name" >/dev/null || bad "no such file in lib: $name"
done

# Options of the tools, of benchmarks and of configure.
known=$(mktemp)
trap 'rm -rf "$known"' EXIT
tools=$SX_BUILDDIR/tools
{
	"$tools/simidx-dedup" --help
	"$tools/simidx-load" --help
	"$tools/simidx-query" --help
	for command in $commands; do
		"$tools/simidx-query" $command --help
	done
	grep -hE '^\s*{ .*, "[a-z0-9-]+",' bench/*.c bench/quality/*.c | sed 's/.*, "\([a-z0-9-]*\)",.*/--\1/'
	cat bench/*.sh bench/peers/*.sh bench/quality/*.py check.sh quickstart.sh
	./configure --help | sed 'p; s/--enable-/--disable-/; s/--with-/--without-/'
} >"$known"
# Of other programs: apt-get, build of Python, git, pkg-config, zstd, text-dedup.
echo '--cflags --libs --version --help --long --column --ngram --num --download-only --sdist' >>"$known"
[ -n "${SX_TEXT-}" ] || documents= # such a build has fewer options
# shellcheck disable=SC2086
for option in $(grep -ohE '(^|[ `(])--[a-z][a-z0-9-]+' $documents /dev/null | grep -oE -e '--[a-z0-9-]+' | sort -u); do
	grep -qE -e "(^|[^a-z-])$option([^a-z-]|$)" "$known" || bad "no such option: $option"
done

# --- Numbers and formats

# needs MODULE: the least version that configure accepts.
needs() {
	sed -n "s/.*\[$1 >= \([0-9.]*\)\].*/\1/p" configure.ac
}
zstd=$(needs libzstd)
has README.md "| ICU | $(needs icu-uc) |"
has README.md "| jansson | $(needs jansson) |"
has README.md "| zlib, libzstd | $(needs zlib), ${zstd%.0} |"
has README.md "| Check | $(needs check) |"

version=$(sed -n 's/^#define SX_FORMAT_M[A-Z]* //p' lib/index/sx_header.h | paste -s -d .)
has doc/format.md "Version $version."
has CHANGELOG.md "**Format**: $version."
has doc/text.md "The default of $(defined SIMIDX_TEXT_RADIUS) finds"
has doc/text.md "\`--accept\` is then $(defined SIMIDX_TEXT_RADIUS_NO_FP2)"
has doc/text.md "$(defined SIMIDX_TEXT_PROBES) by"
has doc/text.md "($(defined SIMIDX_TEXT_PROBES_3X22) with the plan 3x22)"
has doc/text.md "fewer than $(defined SIMIDX_SHORT_TOKENS) words"

# The content of write.lock: doc/format.md, "Files".
dir=$(mktemp -d)
trap 'rm -rf "$known" "$dir"' EXIT
(cd "$dir" && "$tools/simidx-load" -q -F lines made - <<<0123456789abcdef)
same 'files of an index' "$(sed -n 's/^| `\(data.mdb\|[a-z]*\.lock\|lock.mdb\)` .*/\1/p' doc/format.md)" \
	"$(ls "$dir/made")"
[[ $(cat "$dir/made/write.lock") =~ ^(made)?$ ]] ||
	bad "write.lock holds $(cat "$dir/made/write.lock"): doc/format.md"

exit $status

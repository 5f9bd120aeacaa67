#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Installs into a private directory, looks at what is there, has a program found by pkg-config
# build and run against it, and uninstalls, which leaves nothing.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
stage=$tmp/stage
unset MAKEFLAGS MAKELEVEL

$SX_MAKE -C "$SX_BUILDDIR" install DESTDIR="$stage" >"$tmp/log" 2>&1 || {
	cat "$tmp/log"
	exit 1
}

fail() {
	echo "$*"
	exit 1
}

pc=$(find "$stage" -name libsimidx.pc)
[ -n "$pc" ] || fail 'libsimidx.pc is not installed'
pc_dir=${pc%/*}
lib_dir=${pc_dir%/pkgconfig}
PKG_CONFIG_PATH=$pc_dir
PKG_CONFIG_SYSROOT_DIR=$stage
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR

(cd "$stage" && find . -name '*.h' | sed 's|.*/||' | sort) >"$tmp/headers"
{
	printf '%s\n' simidx.h simidx_batch.h simidx_check.h simidx_engine.h simidx_error.h simidx_info.h \
		simidx_join.h simidx_load.h simidx_repair.h simidx_sketch.h simidx_walk.h simidx_write.h
	for library in ${SX_TEXT:+dedup text} ${SX_ENGINES-}; do
		echo "simidx_$library.h"
	done
} | sort | diff -u - "$tmp/headers" || fail 'installed headers are not the public ones'
! find "$stage" -name '*sx-*' | grep . || fail 'an internal library is installed'

# The tools start from here, though nothing says where our libraries are.
for tool in simidx-dedup simidx-load simidx-query; do
	path=$(find "$stage" -path "*/bin/$tool")
	[ -n "$path" ] || fail "$tool is not installed"
	"$path" --version || fail "$tool does not start after make install"
	for file in "man/man1/$tool.1" "bash-completion/completions/$tool" \
		"zsh/site-functions/_$tool" "fish/vendor_completions.d/$tool.fish"; do
		find "$stage" -path "*/share/$file" | grep -q . || fail "share/$file is not installed"
	done
done
LD_LIBRARY_PATH=$lib_dir${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH

cat >"$tmp/consumer.c" <<'EOF'
#include <stdio.h>
#include <string.h>

#include <simidx.h>

int main(int argc, char **argv)
{
	simidx_writer *writer = NULL;
	simidx_reader *reader = NULL;
	simidx_results results = SIMIDX_RESULTS_INIT;
	simidx_query query = SIMIDX_QUERY_INIT;
	simidx_doc doc = SIMIDX_DOC_INIT;
	simidx_error err;
	simidx *index = NULL;
	int ok;

	if (argc != 2 || strcmp(simidx_version(), SIMIDX_VERSION_STRING))
		return 2;
	doc.fp = 0xff;
	query.fp = 0xf8;
	ok = !simidx_create(argv[1], NULL, &index, &err) &&
	     !simidx_writer_open(index, NULL, &writer, &err) &&
	     !simidx_writer_put(writer, &doc, NULL, &err) && !simidx_writer_commit(writer, &err) &&
	     !simidx_reader_open(index, &reader, &err) &&
	     !simidx_reader_search(reader, &query, &results, &err);
	if (!ok)
		fprintf(stderr, "%s\n", err.text);
	else if (results.n != 1 || results.matches[0].distance != 3)
		ok = 0;
	simidx_reader_close(reader);
	simidx_writer_close(writer);
	simidx_close(index);
	return !ok;
}
EOF
cat >"$tmp/text.c" <<'EOF'
#include <stdio.h>

#include <simidx_text.h>

int main(void)
{
	simidx_sketch sketch = SIMIDX_SKETCH_INIT;
	simidx_text *text;
	simidx_error err;
	int failed;

	if (simidx_text_open(NULL, &text, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	failed = simidx_text_fingerprint(text, "three small words", 17, 0, &sketch, &err);
	simidx_text_close(text);
	return failed || sketch.n_tokens != 3;
}
EOF

cat >"$tmp/dedup.c" <<'EOF'
#include <simidx_dedup.h>

int main(void)
{
	simidx_dedup_options options = SIMIDX_DEDUP_OPTIONS_INIT;
	simidx_dedup *dedup;
	simidx_error err;

	return simidx_dedup_open(NULL, NULL, &options, &dedup, &err) != SIMIDX_E_ARG;
}
EOF

# build OUTPUT SOURCE MODULE [--static]
build() {
	output=$1
	source=$2
	shift 2
	flags=$($SX_PKG_CONFIG --cflags --libs "$@")
	echo "$*: $flags"
	# shellcheck disable=SC2086
	$SX_CC $SX_CFLAGS -o "$output" "$source" $flags
}

build "$tmp/consumer" "$tmp/consumer.c" libsimidx
"$tmp/consumer" "$tmp/index" || fail 'the installed library does not work'
if [ -n "${SX_TEXT-}" ]; then
	build "$tmp/text" "$tmp/text.c" libsimidx-text
	"$tmp/text" || fail 'the installed libsimidx-text does not work'
	build "$tmp/dedup" "$tmp/dedup.c" libsimidx-dedup
	"$tmp/dedup" || fail 'the installed libsimidx-dedup does not work'
fi
if [ -e "$lib_dir/libsimidx.a" ] && [ -e "$lib_dir/libsimidx.so" ]; then
	rm "$lib_dir"/libsimidx*.so*
	build "$tmp/static" "$tmp/consumer.c" --static libsimidx
	"$tmp/static" "$tmp/index2" || fail 'the installed static library does not work'
fi

$SX_MAKE -C "$SX_BUILDDIR" uninstall DESTDIR="$stage" >"$tmp/log" 2>&1 || {
	cat "$tmp/log"
	exit 1
}
! find "$stage" ! -type d | grep . || fail 'uninstall leaves these'

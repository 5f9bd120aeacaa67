#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Bytes that other programs leave in inputs, names that are too long, files that are none, and a limit
# of file sizes.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
documents() {
	"$query" stats "$1" | sed -n 's/^documents *//p'
}

if [ -n "${SX_JSON-}" ]; then
	printf '{"id":5\0,"fp":"0123456789abcdef"}\n' >nul.jsonl
	run 1 "$load" nul nul.jsonl
	says 'nul.jsonl:1: malformed JSON at column 8: a NUL byte'
	# What is put around numbers that are too large for the library that reads JSON is no input.
	printf '{"fp":["\\u0000123"]}\n{"fp":["\\u0000123"],"x":18446744073709551615}\n' >wrapped.jsonl
	run 1 "$load" --fp-encoding dec wrapped wrapped.jsonl
	says 'wrapped.jsonl:1: "fp": expected a string or a whole number'
	says 'wrapped.jsonl:2: malformed JSON'
	printf '{"fp":18446744073709551615,"label":"a\\"\\u0000b"}\n' >large.jsonl
	run 0 "$load" -q --fp-encoding dec large large.jsonl
	run 0 "$query" search large -k 0 ffffffffffffffff
	printf '\xef\xbb\xbf{"fp":"0123456789abcdef"}\n{"fp":"0"}\n' >mark.jsonl
	run 0 "$load" -q mark-json mark.jsonl
	[ "$(documents mark-json)" = 2 ] || fail 'a byte order mark has cost a row of JSON'
fi

printf '\xef\xbb\xbf0123456789abcdef\nfedcba9876543210\n' >mark.lines
run 0 "$load" -q mark -F lines mark.lines
[ "$(documents mark)" = 2 ] || fail 'a byte order mark has cost a row'
# In another place it is none.
printf '0123456789abcdef\n\xef\xbb\xbf0123456789abcdef\n' >late.lines
run 1 "$load" -q late -F lines late.lines
says 'late.lines:2: '

# Zeros after the last member, which gzip too passes over.
if [ -n "${SX_ZLIB-}" ]; then
	gzip -c mark.lines >padded.gz
	head -c 1000 /dev/zero >>padded.gz
	run 0 "$load" -q padded -F lines padded.gz
	[ "$(documents padded)" = 2 ] || fail 'zeros after the end have cost a row'
	printf 'x' >>padded.gz
	run 2 "$load" -q padded-2 -F lines padded.gz
	says 'padded.gz'
fi

# What is compressed in another way: how to unpack it.
touch rows.tsv.xz rows.bz2
for name in rows.tsv.xz rows.bz2; do
	for tool in "$load xz" "$dedup"; do
		# shellcheck disable=SC2086
		run 2 $tool $name
		says "$name: .xz and .bz2 are not read: xz -dc or bzip2 -dc FILE | ... -F FORMAT - unpacks it"
	done
done

# A list of fingerprints that is taken for a text, unless its format is given.
if [ -n "${SX_TEXT-}" ]; then
	printf '%016x\n' 1 2 3 >fps
	for tool in "$load listed" "$dedup"; do
		# shellcheck disable=SC2086
		run 0 $tool fps
		says '1 text looks like a list of fingerprints (fps): -F lines reads one a line'
		# shellcheck disable=SC2086
		run 0 ${tool/listed/listed-2} -F text fps
		! grep -q 'looks like' err || fail "told of what was asked for: $tool"
	done
fi

# The name is too long: found before the input is read, which here never ends.
long=$(printf 'a%.0s' {1..256})
run 2 timeout 60 "$load" -q "$long" -F lines - < <(yes 0123456789abcdef)
says 'File name too long'

# A lock file that is none.
rm mark/write.lock
mkfifo mark/write.lock
run 2 timeout 60 "$load" -q mark -F lines late.lines --write insert
says 'the lock file write.lock: Invalid argument'
rm mark/write.lock
ln -s /dev/zero mark/write.lock
run 2 timeout 60 "$load" -q mark -F lines late.lines --write insert
says 'the lock file write.lock: '
rm mark/write.lock

# No file may grow: what has been made answers, the rest says why not.
limited() {
	(
		ulimit -f 0
		"$@" 2>&1
		echo "exit $?"
	) | cat >limited
}
limited "$query" get mark 0123456789abcdef
grep -q '^exit 0' limited || { fail 'get under a limit of file sizes'; cat limited; }
rm mark/lock.mdb
limited "$query" get mark 0123456789abcdef
{ grep -q '^exit 2' limited && grep -q 'File too large' limited; } || { fail 'get without a lock file'; cat limited; }
limited "$load" -q mark -F lines late.lines
{ grep -q '^exit 2' limited && grep -q 'File too large' limited; } || { fail 'a load'; cat limited; }
limited "$load" -q fresh -F lines late.lines
{ grep -q '^exit 2' limited && grep -q 'File too large' limited; } || { fail 'a first load'; cat limited; }
[ ! -e fresh ] || fail 'something was made'
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# --help and --version, unknown options and commands, and what is not an argument.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

for tool in "$load" "$query"; do
	run 0 "$tool" --help
	grep -q '^Usage: simidx-' out || fail 'no usage line'
	run 0 "$tool" --version
	grep -qx "simidx-[a-z]* $SX_VERSION" out || fail 'no version line'
	grep -q 'LMDB .*xxHash ' out || fail 'no versions of the libraries'
	run 2 "$tool" --no-such-option
	says "unknown option '--no-such-option'"
	says "Try '"
	run 2 "$tool" -Z
	says "unknown option '-Z'"
	run 2 "$tool"
	run 2 "$tool" -
done

run 0 "$query" --help
[ -z "$(awk 'length($0) > 80' out)" ] || fail 'a line of --help is too long'
# Each option that --help names is known, and each line fits a terminal.
run 0 "$query" no-such-index search --help
grep '^  -' out | grep -oE -- '--[a-z0-9-]+' | sort -u >options
[ "$(wc -l <options)" -ge 24 ] || fail 'options are missing from search --help'
while read -r option; do
	"$query" no-such-index search "$option" 2>err >out </dev/null
	grep -q 'unknown option' err && fail "unknown: search $option"
done <options
run 0 "$load" --help
[ -z "$(awk 'length($0) > 80' out)" ] || fail 'a line of --help is too long'
grep '^  -' out | grep -oE -- '--[a-z0-9-]+' | sort -u >options
[ "$(wc -l <options)" -ge 18 ] || fail 'options are missing from --help'
while read -r option; do
	"$load" "$option" 2>err >out </dev/null
	grep -q 'unknown option' err && fail "unknown: $option"
done <options

for command in search get similar stats dump verify backup idf plan; do
	run 0 "$query" no-such-index "$command" --help
	grep -q "^Usage: simidx-query .* $command" out || fail "no usage line: $command"
	[ -z "$(awk 'length($0) > 80' out)" ] || fail "a line of $command --help is too long"
	run 2 "$query" no-such-index "$command" --no-such-option
	says "unknown option '--no-such-option'"
	run 0 "$query" --help
	grep -q "^  $command " out || fail "not in --help: $command"
done

run 2 "$query" no-such-index frobnicate
says "unknown command 'frobnicate'"
run 2 "$query" --json=1 no-such-index stats
says "option '--json=1' takes no value"
run 2 "$load" index --bits
says "option '--bits' needs a value"
for bits in 15 65 x -1 ' 16' 0x10 16x 99999999999999999999; do
	run 2 "$load" --bits "$bits" index file
	says "--bits: expected a number in 16..64, found '$bits'"
done
run 2 "$load" --layout columns index file
says "--layout: expected one of blocks, rows, found 'columns'"
run 2 "$load" -F xml index file
says "--format: expected one of text, lines, tsv, csv, jsonl, bin, npy, dump, features, found 'xml'"
run 2 "$load" --fp octal index file
says "--fp: expected one of hex, dec, sdec, base64, found 'octal'"
run 2 "$load" index -
says 'standard input needs its format'
run 2 "$load" index
says 'no input given'
for k in 65 -1 1x; do
	run 2 "$query" index search "--radius=$k" 0000000000000000
	says "--radius: expected a number in 0..64, found '$k'"
done
run 2 "$query" index search --limit 0 0000000000000000
run 2 "$query" index search
run 2 "$query" index get
run 2 "$query" index get --id --label 7
run 2 "$query" index backup
run 2 "$query" index stats now
[ ! -e index ] || fail 'an index was made'
finish

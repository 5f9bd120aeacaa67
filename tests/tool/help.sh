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
for help in -h --help; do
	run 0 "$load" $help
	[ -z "$(awk 'length($0) > 80' out)" ] || fail "a line of $help is too long"
	grep '^ *-' out | grep -oE -- ' --[a-z0-9-]+' | sort -u >options$help
done
same options-h options--help
tr -d ' ' <options-h >options
[ "$(wc -l <options)" -ge 47 ] || fail 'options are missing from --help'
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
run 2 "$load" --fp-encoding octal index file
says "--fp-encoding: expected one of hex, dec, sdec, base64, found 'octal'"
run 2 "$load" index -
says 'standard input needs its format'
run 2 "$load" index
says 'INPUT is missing'
run 2 "$load"
says 'INDEX is missing'
run 2 "$load" - file
says "'-' is standard input, and no index"
run 2 "$load" --mode rebuild index file
says "unknown option '--mode'"
says "Try 'simidx-load --help'."
run 2 "$load" --write slowly index file
says "--write: expected one of auto, insert, rebuild, found 'slowly'"
run 2 "$load" --expect 1T index file
says "--expect: expected a number of at least 1, such as 5000 or 20M, found '1T'"
touch some.tsv
run 2 "$load" --hidden index some.tsv
says '--hidden is about the directories of -r'
run 2 "$load" -0 index some.tsv
says '-0 is about the lists of --files-from, and none is given'
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

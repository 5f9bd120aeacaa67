#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# --help and --version, unknown options and commands, and what is not an argument.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

for tool in "$load" "$query" "$dedup"; do
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
done
run 2 "$load"
says 'INDEX is missing'
run 2 "$load" -
says "'-' is standard input, and no index"
run 2 "$query"
says 'Usage: simidx-query COMMAND '
run 2 "$query" -
says "unknown command '-'"

# check_help TOOL N: -h and --help name the same options, at least N, all of them known.
check_help() {
	for help in -h --help; do
		run 0 "$1" $help
		[ -z "$(awk 'length($0) > 80' out)" ] || fail "a line of $1 $help is too long"
		grep '^ *-' out | grep -oE -- ' --[a-z0-9-]+' | sort -u >options$help
	done
	same options-h options--help
	tr -d ' ' <options-h >options
	[ "$(wc -l <options)" -ge "$2" ] || fail "options are missing from $1 --help"
	while read -r option; do
		"$1" "$option" 2>err >out </dev/null
		grep -q 'unknown option' err && fail "unknown: $1 $option"
	done <options
}
check_help "$load" 47
check_help "$dedup" 35

# What --help names as an option.
options_of() {
	grep -oE '^  (-[A-Za-z0-9],|   ) --[a-z0-9-]+' "$1" | grep -oE -- '--[a-z0-9-]+' | sort -u
}

# The commands that --help lists are those that there are, each with a long and a short help, in
# which each line fits a terminal. Each option that is named is known.
run 0 "$query" --help
sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p' out >commands
[ "$(tr '\n' ' ' <commands)" = 'search get dump export pairs clusters stats verify backup delete compact repair plan idf similar review help ' ] ||
	fail 'commands are missing from --help'
options_of out >globals
[ "$(wc -l <globals)" -ge 9 ] || fail 'options are missing from --help'
while read -r command; do
	run 0 "$query" "$command" --help
	cp out long
	head -1 out | grep -q "^Usage: simidx-query $command" || fail "no usage line: $command"
	[ -z "$(awk 'length($0) > 79' out)" ] || fail "a line of $command --help is too long"
	options_of out >options
	run 0 "$query" help "$command"
	same out long
	run 0 "$query" "$command" -h
	[ -z "$(awk 'length($0) > 80' out)" ] || fail "a line of $command -h is too long"
	# All but the options of every command, which are named in a list.
	options_of out >short
	comm -23 options globals | cmp - short || fail "-h and --help differ: $command"
	short=$(<out)
	while read -r option; do
		[[ $short == *"$option"* ]] || fail "not in $command -h: $option"
		"$query" "$command" "$option" 2>err >out2 </dev/null
		[[ $(<err) != *'unknown option'* ]] || fail "unknown: $command $option"
	done <options
	run 2 "$query" "$command" --no-such-option
	says "unknown option '--no-such-option'"
	says "Try 'simidx-query $command --help'."
done <commands
run 0 "$query" search -h
options_of out >options
[ "$(wc -l <options)" -ge 34 ] || fail 'options are missing from search -h'
for words in help --help; do
	run 0 "$query" $words
	cp out "help.$words"
done
same help.help help.--help
run 0 "$query" -h

# What is mistyped.
run 2 "$query" serach index
says "unknown command 'serach'; is search meant?"
says "or 'simidx-query --help'."
run 2 "$query" frobnicate
says "unknown command 'frobnicate'; there are search, get, dump, export, pairs, clusters, stats, verify, backup, delete, compact, repair, plan, idf, similar, review, help"
run 2 "$query" help frobnicate
says "unknown command 'frobnicate'"
run 2 "$query" index search 0000000000000000
says "unknown command 'index'; the command comes first: simidx-query search index"
run 2 "$query" - plan --documents 5
says "unknown command '-'; the command comes first: simidx-query plan ..."
run 2 "$query" stats -
says "'-' is standard input, and INDEX is a directory"
run 2 "$query" --json=1 stats no-such-index
says "option '--json=1' takes no value"
run 2 "$query" stats no-such-index --jsno
says "unknown option '--jsno'; is --json meant?"
run 2 "$query" search no-such-index -f queries
says "unknown option '-f'; there are: INDEX --text FILE: what is near to a text; INDEX FP: to a fingerprint; "
run 2 "$query" search no-such-index --fp-encoding sdec -5
says "unknown option '-5'; --limit N prints so many; '--' goes before arguments that begin with '-'"
# Names of files and indexes are not empty.
for command in stats 'backup ix' plan 'idf one' 'similar one' review; do
	# shellcheck disable=SC2086
	run 2 "$query" $command ''
	says "${command%% *}: "
	grep -q ': \(INDEX\|DEST\|FILE\|EVIDENCE\) is empty$' err || fail "$command '': $(head -1 err)"
done
run 2 "$query" search '' 0
says 'search: INDEX is empty'
run 2 "$load" '' input
says 'simidx-load: INDEX is empty'
# Abbreviations, as getopt_long() has them.
run 0 "$query" plan --doc 5
run 2 "$query" search no-such-index --f 0000000000000000
says "option '--f' could be --format, --fp-encoding, --fp-field, --features-by, --first, --force"
# Options of every command stand anywhere.
for place in '--json plan --documents 5' 'plan --json --documents 5' 'plan --documents 5 --json'; do
	# shellcheck disable=SC2086
	run 0 "$query" $place
	head -1 out | grep -q '^{' || fail "no JSON: $place"
done
run 2 "$query" --threads 0 stats no-such-index
says "--threads: expected a number in 1..256, found '0'"
run 2 "$load" index --bits
says "option '--bits' needs a value"
for bits in 15 65 x -1 ' 16' 0x10 16x 99999999999999999999; do
	run 2 "$load" --bits "$bits" index file
	says "--bits: expected a number in 16..64, found '$bits'"
done
# A number that is too large is told the largest, one that is none what is expected.
while IFS='|' read -r option value message; do
	run 2 "$query" search index "$option" "$value" 0
	says "simidx-query: $option: expected a number of $message, found '$value'"
done <<'END'
--limit|18446744073709551616|at most 18446744073709551615
--limit|18446744074G|at most 18446744073709551615
--limit|0|at least 1, such as 5000, 20M or 1e7
--limit|m5|at least 1, such as 5000, 20M or 1e7
--limit|K|at least 1, such as 5000, 20M or 1e7
END
run 2 "$query" search index --probes 2M 0
says "--probes: expected a number in 1..1048576, found '2M'"
run 2 "$load" --memory 8796093022208M index file
says "--memory: expected a size of at most 8796093022207M, found '8796093022208M'"
run 2 "$load" --memory 63M index file
says "--memory: expected a size of at least 64M, such as 400M or 2G, found '63M'"
# What only the library or the index can judge is an error of an option, too.
echo 1 >one.fps
for option in '--plan 9x9' '--extractor none' '--weights none'; do
	[ -n "${SX_TEXT-}" ] || [ "${option%% *}" = --plan ] || continue
	# shellcheck disable=SC2086
	run 2 "$load" $option index -F lines one.fps
	says '"'"${option#* }"'"'
	says "'simidx-load --help'."
done
run 2 "$query" stats index --kernel abacus
says "--kernel: expected one of auto, scalar, popcnt, avx2, avx512, neon, found 'abacus'"
run 2 "$load" --layout columns index file
says "--layout: expected one of blocks, rows, found 'columns'"
run 2 "$load" -F xml index file
says "--format: expected one of text, lines, tsv, csv, jsonl, bin, npy, dump, features, ids, labels, full, found 'xml'"
run 2 "$load" --fp-encoding octal index file
says "--fp-encoding: expected one of hex, dec, sdec, base64, found 'octal'"
run 2 "$load" index -
says 'standard input needs its format, such as -F jsonl'
run 2 "$load" index
says 'INPUT is missing'
run 2 "$dedup" --stream </dev/null
says "INPUT is missing: '-' is standard input"
touch rows.tsv
run 2 "$load" rows.tsv index
says 'rows.tsv is a file; the index comes first, and is a directory'
run 2 "$load"
says 'INDEX is missing'
run 2 "$load" - file
says "'-' is standard input, and no index"
run 2 "$load" --mode rebuild index file
says "--mode: expected one of add, if-new, replace, delete, found 'rebuild'"
says "; --write rebuild builds all anew"
run 2 "$load" --write slowly index file
says "--write: expected one of auto, insert, rebuild, found 'slowly'"
run 2 "$load" --expect 1P index file
says "--expect: expected a number of at least 1, such as 5000, 20M or 1e7, found '1P'"
for option in --expect --memory; do
	run 2 "$load" $option 1T index no-such-file
	says 'no-such-file: cannot open'
done
run 2 "$load" --memory 8388608T index file
says "--memory: expected a size of at most 8796093022207M, found '8388608T'"
touch some.tsv
run 2 "$load" --hidden index some.tsv
says '--hidden is about the directories of -r'
run 2 "$load" -0 index some.tsv
says '-0 is about the lists of --files-from and about -F ids and labels, and none is given'
for k in 65 -1 1x; do
	run 2 "$query" search index "--radius=$k" 0000000000000000
	says "--radius: expected a number in 0..64, found '$k'"
done
run 2 "$query" search index --limit 0 0000000000000000
says "--limit: expected a number of at least 1, such as 5000, 20M or 1e7, found '0'"
run 2 "$query" search
says 'search: INDEX is missing'
run 2 "$query" search index </dev/null
says "search: QUERY is missing: '-' is standard input"
run 2 "$query" get index
says 'get: KEY is missing'
run 2 "$query" get index --id --label 7
says '--id and --label exclude each other'
run 2 "$query" backup index
says 'backup: DEST is missing'
run 2 "$query" stats index now
says "stats: one argument too many: 'now'"
run 2 "$query" dump index --format xml
says "--format: expected one of tsv, jsonl, full, found 'xml'"
printf '%s\n' 00000000000000ff 0123456789abcdef | run 0 "$load" -q -F lines two -
run 1 "$query" get two 0
says '0: not found as a fingerprint; --id reads it as an id'
run 2 "$query" get two texts/mit
says '(a label: --label; an id: --id)'
run 1 "$query" search two 01234567
says '01234567 has 8 of 16 digits: searched as 0000000001234567'
run 1 "$query" search two 0x123456789
says '0x123456789 has 9 of 16 digits'
run 0 "$query" search two ff
[ ! -s err ] || fail 'a few digits are told of'
run 2 "$query" two --help
says "'two' is an index; the command comes first: simidx-query search two ..."
run 2 "$query" two/.. --help
says "unknown command 'two/..'"
run 2 "$load" --mode delete two label1
says 'label1: no such file; a few: simidx-query delete INDEX --label label1'
run 2 "$load" two label1
! grep -q 'simidx-query delete' err || fail 'advice about deleting where something is stored'
says 'label1: cannot open'
if [ -n "${SX_TEXT-}" ]; then
	text='A text that somebody has typed as the argument of an option.'
	for words in "$text" "$text$text$text$text$text"; do
		run 2 "$query" search two --text "$words"
		says "A text that somebody has typed as the ar...: no such file; a text goes through standard input"
	done
	run 2 "$query" search two --text missing
	says 'missing: cannot open: No such file'
fi
# What --help calls the default is what is done without the option, and another value does something else.
# default_of OPTION TOOL: the first word of it
default_of() {
	"$2" --help | awk -v name="--$1" '/^  (-.,|   ) --/ { is = $1 == name || $2 == name } is' | tr -s ' \n' ' ' |
		sed -n 's/.*(default: \([a-z0-9]*\).*/\1/p'
}
# made OPTIONS: what becomes of the input
made() {
	rm -rf made
	# shellcheck disable=SC2086
	run 0 "$load" -q $1 made $input
	{ "$query" stats made; "$query" dump made --format full; stat -c %a made/data.mdb; } >"$2" 2>&1
}
differs() {
	local option=$1 other=$2 default
	default=$(default_of "$option" "$load")
	[ -n "$default" ] || fail "no default of --$option in --help"
	made '' without
	made "--$option $default" with
	same without with
	made "--$option $other" with
	cmp -s without with && fail "--$option $other is as the default"
}
seq 20000 >many
input='-F lines many'
while read -r option other; do
	differs "$option" "$other"
done <<'END'
plan 10x26
layout rows
fill 60
ids none
permissions 640
fp-encoding dec
END
if [ -n "${SX_TEXT-}" ]; then
	echo 'one two three one two four' >short
	input=short
	while read -r option other; do
		differs "$option" "$other"
	done <<-'END'
		extractor words1
		weights raw
		seed 7
		short exact
	END
	mkdir group
	for file in 1:100 2:102 3:101; do # the oldest, the longest and the newest
		seq 1 "${file#*:}" | tr '\n' ' ' >"group/${file%:*}"
		touch -d "2026-01-0${file%:*}" "group/${file%:*}"
	done
	run 0 "$dedup" -r group
	cp out without
	run 0 "$dedup" --keep "$(default_of keep "$dedup")" -r group
	same out without
	run 0 "$dedup" --keep first -r group
	cmp -s out without && fail '--keep first is as the default'
	for remember in "$(default_of remember "$dedup")" text; do
		run 0 "$dedup" -q --stream --index "seen.$remember" --remember "$remember" group/1
		"$query" dump --format full "seen.$remember" >"full.$remember"
	done
	run 0 "$dedup" -q --stream --index seen.none group/1
	"$query" dump --format full seen.none | cmp - full.sketch || fail 'another default of --remember'
	cmp -s full.sketch full.text && fail '--remember text is as the default'
fi
printf 'id;fp\n1;ff\n' >semi.csv
run 2 "$load" --header new semi.csv
says '--delimiter tells what separates columns'

finish

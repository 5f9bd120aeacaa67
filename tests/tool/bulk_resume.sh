#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# --resume: loads by insertion that were killed at any moment go on where they were; and loads
# that build are begun again. SIMIDX_LONG=1 does it more often.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
export TMPDIR=$tmp
rounds=8
[ -z "${SIMIDX_LONG-}" ] || rounds=100
RANDOM=2
"$helpers/linear_scan" documents 310000 23 >documents.tsv
# Ids are assigned, so that a row that came twice or not at all would show; bad rows between.
head -110000 documents.tsv | cut -f 2 >one.fps
{ echo wrong; tail -n +110001 documents.tsv | head -120000 | cut -f 2; echo x; } >two.fps
tail -n +230001 documents.tsv | cut -f 2 >three.fps
cut -f 2 documents.tsv | awk '{ printf "%d\t%s\n", NR - 1, $1 }' >expected
inputs=(-F lines one.fps two.fps three.fps)

started=$(date +%s%N)
run 1 "$load" -q --write insert whole "${inputs[@]}"
whole=$((($(date +%s%N) - started) / 1000000 + 1))
"$query" dump whole | cut -f 1,2 >dumped
same expected dumped

# start_and_kill COMMAND...
start_and_kill() {
	local pause loader span=$whole
	[ $((round % 4)) -ne 0 ] || span=60
	pause=$((RANDOM * span / 32768))
	"$@" 2>/dev/null &
	loader=$!
	sleep $((pause / 1000)).$(printf %03d $((pause % 1000)))
	kill -9 $loader 2>/dev/null
	wait $loader 2>/dev/null
	code=$?
	[ $code -eq 137 ] && killed=$((killed + 1))
}
check() {
	"$query" verify "$1" >/dev/null || fail "$1 is not sound"
	"$query" dump "$1" | cut -f 1,2 >dumped
	same expected dumped
	ls -d .simidx-* 2>/dev/null && fail 'rubbish'
}

killed=0
for ((round = 0; round < rounds || (killed == 0 && round < 20 * rounds); round++)); do
	rm -rf ix
	code=137
	for ((tries = 0; tries < 4 && code == 137; tries++)); do
		start_and_kill "$load" -q --write insert --resume ix "${inputs[@]}"
	done
	[ $code -ne 137 ] || "$load" -q --write insert --resume ix "${inputs[@]}" 2>/dev/null
	check ix
	# By building: killed, and begun again.
	rm -rf built
	code=137
	# One that was killed behind its end has done its work.
	for ((tries = 0; tries < 2 && code == 137; tries++)); do
		start_and_kill "$load" -q built "${inputs[@]}"
		[ ! -e built ] || break
	done
	[ -e built ] || "$load" -q built "${inputs[@]}" 2>/dev/null
	check built
	# Into an index that is there: inserted, then rebuilt.
	rm -rf both
	"$load" -q both -F lines one.fps
	code=137
	for ((tries = 0; tries < 3 && code == 137; tries++)); do
		start_and_kill "$load" -q --resume both -F lines two.fps three.fps
	done
	if [ "$code" -eq 137 ]; then
		"$load" -q --resume both -F lines two.fps three.fps 2>/dev/null
	fi
	# Directories of killed builders go with the next build beside them.
	rm -rf none
	"$load" -q none -F lines /dev/null
	check both
done
[ $killed -gt 0 ] || fail 'no load was killed'
echo "$round rounds, $killed killed"

# Standard input, interrupted by a signal: rows are passed over, and rejected ones not told again.
mkfifo pipe
"$load" -q --write insert piped -F lines - <pipe 2>/dev/null &
loader=$!
exec 3>pipe
{ echo wrong; cat one.fps; } >&3
until_holds piped 100000
kill -TERM $loader
wait $loader
exec 3>&-
{ echo wrong; cut -f 2 documents.tsv; } >all
run 0 "$load" --write insert --resume piped -F lines - <all
says 'simidx-load: piped: going on after row 100,001 of this input'
grep -q 'piped:\|-:1:' <(grep -v 'going on after' err) && fail 'a rejected row was told again'
check piped
# All is there. What standard input brings next may be something else, so it is not passed over.
run 2 "$load" --write insert --resume piped -F lines - <all
says 'simidx-load: piped: --resume: the last load finished'
check piped
# Nor may another file that got the name of the one before; the same one has nothing new.
printf '1\t0000000000000001\n2\t0000000000000002\n' >day.tsv
run 0 "$load" -q --write insert days day.tsv
run 0 "$load" --write insert --resume days day.tsv
sums_up '0 documents inserted; index has 2'
printf '3\t0000000000000003\n4\t0000000000000004\n' >day.tsv
run 2 "$load" --write insert --resume days day.tsv
says 'simidx-load: days: --resume: the last load finished, and it had other inputs'
run 0 "$load" --write insert days day.tsv
sums_up '2 documents inserted; index has 4'

# What --hidden adds to a directory comes between the files that were read: these are other inputs.
mkdir hides
echo 0000000000000001 >hides/b
echo 0000000000000002 >hides/.a
run 0 "$load" -q --write insert -F lines -r seen hides
run 2 "$load" --write insert --resume -F lines -r --hidden seen hides
says 'simidx-load: seen: --resume: the last load finished, and it had other inputs'

# Nor does what is taken from a file by other options, or what other options leave out.
printf 'id,fp,label,time\n1,01,one,5\n' >table.csv
columns=(-F csv --header --id-field id --fp-field fp)
run 0 "$load" -q --write insert --times columns "${columns[@]}" table.csv
run 0 "$load" -q --write insert --resume columns "${columns[@]}" table.csv
for options in --label-field=label --time=time --fp-encoding=dec '--delimiter ;' '--mode replace' '--id-field label'; do
	# shellcheck disable=SC2086
	run 2 "$load" --write insert --resume columns "${columns[@]}" $options table.csv
	says 'simidx-load: columns: --resume: the last load finished, and it had other inputs'
done
printf '1,2\n3,01\n' >headed.csv
run 0 "$load" -q --write insert headed -F csv --header --id-field 1 --fp-field 2 headed.csv
run 2 "$load" --write insert --resume headed -F csv --id-field 1 --fp-field 2 headed.csv
says 'simidx-load: headed: --resume: the last load finished, and it had other inputs'
for options in '--exclude c' '--exclude d' '--max-bytes 1K'; do
	# shellcheck disable=SC2086
	run 2 "$load" --write insert --resume -F lines -r $options seen hides
	says 'simidx-load: seen: --resume: the last load finished, and it had other inputs'
done

# A load that builds leaves the same mark as one that inserts: nothing is to be done twice.
for how in '' '--write rebuild' '--write insert'; do
	rm -rf finished
	[ "$how" != '--write rebuild' ] || "$load" -q finished -F lines /dev/null
	run 1 "$load" -q $how finished "${inputs[@]}"
	says 'simidx-load: two.fps:1: fingerprint: expected'
	run 0 "$load" --resume finished "${inputs[@]}"
	says 'simidx-load: finished: going on after row 310,002 of this input'
	sums_up '0 documents inserted; index has 310,000'
	check finished
done
# One that was inserted in part, then built to the end.
"$load" -q over -F lines one.fps
run 1 "$load" over -F lines two.fps three.fps
says 'simidx-load: over: rebuilding'
run 0 "$load" --resume over -F lines two.fps three.fps
sums_up '0 documents inserted; index has 310,000'
check over
# Taking over another index is no input: what was said before stays.
"$load" -q --ids none base -F lines one.fps
"$load" -q --ids none empty -F lines /dev/null
run 0 "$load" -q --from empty base
run 0 "$load" --resume base -F lines one.fps
sums_up '0 documents inserted; index has '"$(sort -u one.fps | wc -l | sed 's/...$/,&/')"

# A load that is killed before its first commit leaves what was there: it begins.
head -3 one.fps >early.fps
head -5 three.fps >late.fps
run 0 "$load" -q early -F lines early.fps
run 0 "$load" --resume early -F lines late.fps
says 'simidx-load: early: nothing of this input is stored yet: beginning'
sums_up '5 documents inserted; index has 8'
run 0 "$load" --resume early -F lines late.fps
sums_up '0 documents inserted; index has 8'
# The same in an index that no input was loaded into.
run 0 "$load" -q --from early another
run 0 "$load" --resume another -F lines late.fps
sums_up '5 documents inserted; index has 13'
# But not if one of the inputs may be there already.
run 2 "$load" --resume early -F lines early.fps late.fps
says 'simidx-load: early: --resume: the last load finished, and it had other inputs'
run 0 "$load" -q --write insert standard -F lines - < <(cat early.fps late.fps)
run 2 "$load" --resume standard -F lines late.fps
says 'simidx-load: standard: --resume: the last load finished, and it had other inputs'

# Other inputs, or none that are known, are refused.
run 2 "$load" --write insert --resume piped -F lines one.fps
says 'simidx-load: piped: --resume: the last load finished, and it had other inputs'
run 2 "$load" --write insert --resume whole -F lines one.fps two.fps
says 'simidx-load: whole: --resume: the last load finished, and it had other inputs'
# The same bytes of another time may not be the same: only the first ones are looked at.
touch -r one.fps time
run 0 "$load" -q --write insert --resume whole "${inputs[@]}"
touch -d '2001-02-03 04:05:06' one.fps
run 2 "$load" --write insert --resume whole "${inputs[@]}"
says 'it had other inputs: load these without --resume'
touch -r time one.fps
run 0 "$load" -q --write insert --resume whole "${inputs[@]}"
echo 0123456789abcdef >>three.fps
run 2 "$load" --write insert --resume whole "${inputs[@]}"
says 'simidx-load: whole: --resume: the last load finished, and it had other inputs'
run 2 "$load" --resume built "${inputs[@]}"
says 'simidx-load: built: --resume: the last load finished, and it had other inputs'
run 2 "$load" --resume --write rebuild whole "${inputs[@]}"
says '--resume: a rebuild stores all or nothing'
run 2 "$load" --resume --create truncate whole "${inputs[@]}"
says '--resume goes on with an existing index, so --create does not fit'

# Two go on at once, while one of them still reads what it passes over: only the other one stores the rest.
head -4000 two.fps | tail -n +2 >few.fps
mkfifo rows
"$load" -q --write insert at_once -F lines - <rows 2>/dev/null &
loader=$!
exec 7>rows
head -1500 few.fps >&7
until [ "$("$query" dump at_once 2>/dev/null | wc -l)" -eq 1500 ]; do sleep 0.1; done
kill -9 $loader
wait $loader 2>/dev/null
exec 7>&-
run 2 "$load" --write insert --resume at_once -F lines three.fps
says 'simidx-load: at_once: --resume: the load that was interrupted had other inputs'
"$load" --write insert --resume at_once -F lines - <rows 2>first.err &
loader=$!
exec 7>rows
until grep -q 'going on after row 1,500' first.err; do sleep 0.1; done
run 0 "$load" -q --write insert --resume at_once -F lines - <few.fps
cat few.fps >&7
exec 7>&-
wait $loader
[ $? -eq 2 ] && grep -q -- '--resume: the last load finished' first.err || fail "$(cat first.err)"
[ "$("$query" dump at_once | wc -l)" -eq 3999 ] || fail 'two loads that went on at once'

# Without --resume the mark does not matter.
run 0 "$load" -q --write insert piped -F lines - <<<0123456789abcdef
[ "$("$query" dump piped | wc -l)" -eq 310001 ] || fail 'a load without --resume'
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Rows that come slowly, without ever a long pause: they are committed now and then, so that others see them
# and get their turn; an index that is made of them becomes visible, too; and --commit 1 answers each row.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

row() { printf '%016x\t%016x\n' "$1" $(($1 * 7919 * 104729)) | cut -f 2; }

# trickle: a row every 0.3 s, until the file "enough" is there, 90 s at most.
trickle() {
	local i
	for ((i = 1; i <= 300; i++)); do
		[ ! -e enough ] || break
		row $i
		echo $i >given
		sleep 0.3
	done
}

# An index that is made, and then one that is added to: documents are seen while rows still come, another
# writer gets its turn, and what was seen stays when the load is killed.
row 1000000 >other
seen=0
for round in new old; do
	rm -f enough
	mkfifo slow
	trickle >slow &
	feeder=$!
	"$load" -q index -F lines - <slow 2>load.err &
	loader=$!
	until_holds index $((seen + 1))
	kill -0 $loader || fail "$round: the load has ended: $(cat load.err)"
	run 0 "$load" -q --wait 60000 index -F lines other
	until_holds index $((seen + 10))
	kill -9 $loader
	wait $loader 2>/dev/null
	run 0 "$query" -q dump index
	seen=$(wc -l <out)
	run 0 "$query" -q verify index
	touch enough
	wait $feeder 2>/dev/null
	rm slow
	[ "$seen" -ge 10 ] || fail "$round: $seen documents are left"
done
# Exactly once, and in their order: ids follow the rows.
run 0 "$query" dump index
cut -f 1 out | cmp - <(seq 0 $((seen - 1))) || fail 'ids are missing'
for i in $(seq 3); do row "$i"; done | cmp - <(head -3 out | cut -f 2) || fail 'not in their order'

# A row that comes at once, and then none: it is seen while the load waits for the next one. A signal ends that
# wait, and then the load has nothing left to do.
for how in end signal; do
	rm -rf index slow
	mkfifo slow
	"$load" -q index -F lines - <slow 2>load.err &
	loader=$!
	exec 7>slow
	row 1 >&7
	if [ $how = end ]; then
		until_holds index 1
		kill -0 $loader || fail "$how: the load has ended: $(cat load.err)"
		row 2 >&7
		exec 7>&-
		wait $loader || fail "$how: $(cat load.err)"
		run 0 "$query" -q dump index
		[ "$(wc -l <out)" -eq 2 ] || fail "$how: not both rows are there"
	else
		sleep 1
		kill -TERM $loader
		wait $loader
		[ $? -ne 0 ] || fail "$how: the load has gone on"
		exec 7>&-
	fi
done
rm slow

# All rows of a slow stream that comes to its end are there, once.
rm -rf index enough
( for ((i = 1; i <= 24; i++)); do row $i && sleep 0.3; done ) | "$load" index -F lines - 2>err || fail 'a slow stream'
says 'simidx-load: 24 documents inserted in '
says '; index has 24'
run 0 "$query" dump index
for ((i = 1; i <= 24; i++)); do row $i; done | cmp - <(cut -f 2 out) || fail 'other rows than came'
run 0 "$query" verify index
# A stream that comes at once is built, and so is one that is to replace another index.
for ((i = 1; i <= 24; i++)); do row $i; done >rows
run 0 "$load" built -F lines - <rows
says 'simidx-load: index built with 24 documents'
( cat rows && sleep 6 && row 77 && sleep 1 ) | "$load" --create truncate built -F lines - 2>err || fail 'truncate'
says 'simidx-load: index built with 25 documents'
# What is left out before a pause is counted as such, and not as stored.
rm -rf index
mkfifo slow
"$load" --on-duplicate first --summary sum index -F tsv - <slow 2>err &
loader=$!
exec 7>slow
printf '%s\t%s\t\n' 1 aa 1 ab 2 ac 2 ad 3 ae >&7
until_holds index 3
printf '%s\t%s\t\n' 4 af 4 b0 >&7
exec 7>&-
wait $loader || fail "duplicates: $(cat err)"
rm slow
says 'simidx-load: 4 documents inserted in '
says '; index has 4'
[ -z "${SX_JSON-}" ] || grep -q '"rows":7,.*"stored":4,"documents":4,.*"duplicates":3,' sum || fail "$(cat sum)"

# A program that asks for each row whether it is new: a pause would be a second for each of them.
if [ -n "${SX_TEXT-}" ] && [ -n "${SX_JSON-}" ]; then
	run 0 "$load" -q texts -F jsonl - <<<'{"text":"the first text of all, with some words"}'
	started=$SECONDS
	coproc timeout 120 "$load" -q --mode if-new --emit all --commit 1 texts -F jsonl -
	for ((i = 1; i <= 150; i++)); do
		printf '{"text":"number %s of texts: %s"}\n' $i "$(seq -f 'w%g' $i $((i + 30)) | tr '\n' ' ')" >&"${COPROC[1]}"
		read -r -t 60 answer <&"${COPROC[0]}" || { fail "no answer to row $i"; break; }
	done
	pid=$COPROC_PID
	eval "exec ${COPROC[1]}>&-"
	wait "$pid" || fail 'the load that answers'
	case $answer in new* | dup*) ;; *) fail "an answer like $answer" ;; esac
	# With a pause each it would have been ended after 120 of them.
	[ $i -eq 151 ] || fail "$i rows in $((SECONDS - started)) s"
fi
finish

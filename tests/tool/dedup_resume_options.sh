#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# --resume of simidx-dedup: with the inputs and options of the run that has finished there is nothing to do, and
# each option that decides, or that says what a row is, makes it another run.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json

# finish_run OPTION...: a run that comes to its end, and is resumed in vain.
finish_run() {
	given=("$@")
	rm -rf ix
	run 0 "$dedup" -q --stream --index ix "${given[@]}"
	goes_on 'the last run of these inputs finished: there is nothing to resume'
}

# goes_on MESSAGE [OPTION...]: what is told who resumes that run with more options.
goes_on() {
	rm -rf again
	cp -r ix again
	run 0 "$dedup" --stream --index again --resume "${given[@]}" "${@:2}"
	says "simidx-dedup: again: $1"
}

other='the last run finished, and had other inputs or options: beginning'

for i in 1 2 3; do
	words="$i$i words of row $i $((i + 4)) $((i + 7)) and some more that it has alone $i"
	echo "{\"text\":\"$words\",\"body\":\"$words\",\"label\":\"l$i\",\"name\":\"n$i\",\"id\":\"i$i\",\"key\":\"k$i\"}" |
		sed 's/"id":[^,]*,//'
done >rows.jsonl
echo '{"text":"something else, of which nobody knows"}' >old.jsonl
run 0 "$dedup" -q --stream --index old old.jsonl
finish_run rows.jsonl
for option in '--similarity 0.7' --all --no-verify '--text-field body' '--label-field name' '--against old' '-F jsonl'; do
	# shellcheck disable=SC2086
	goes_on "$other" $option
done
# The standard, said aloud, is no other one; how much memory there is decides nothing.
goes_on 'the last run of these inputs finished' --similarity 0.8 --memory 300M
cp old.jsonl more.jsonl
goes_on "$other" more.jsonl
cp rows.jsonl saved.jsonl
cat old.jsonl >>rows.jsonl
goes_on "$other" # a file that has grown
cp saved.jsonl rows.jsonl
goes_on 'the last run of these inputs finished'

# Without comparing texts.
finish_run --no-verify rows.jsonl
goes_on "$other" --accept 100
goes_on "$other" -k 3
printf '%s\n' a1 b2 c3ff00 >fps
finish_run -F lines fps
goes_on "$other" -k 4

# Of columns: which they are, with a header or not, and what is between them.
printf '%s\n' a1,b2 c3,d4 e5,f6ff00 >fps.csv
finish_run --fp-field 1 fps.csv
goes_on "$other" --fp-field 2
printf '%s\n' '1,label' 'some words in the first row,a' 'other ones and none of those,b' >table.csv
finish_run --text-field 1 table.csv
goes_on "$other" --header
printf '%s\n' 'text;label' 'some words in the first row;a' 'other ones, and none of those;b' >table.csv
finish_run --text-field 1 table.csv
goes_on "$other" --delimiter ';'
finish

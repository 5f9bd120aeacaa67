#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Texts without features are stored, but they are near to nothing: 1,000 texts, 100 of them empty or
# punctuation, are asked for what is near to an empty text, to punctuation and to a blank row.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text

mkdir texts
awk "$random"'
	BEGIN {
	state = 7919 * 1 + 1
	for (i = 0; i < 1000; i++) {
		name = sprintf("texts/%03d", i)
		printf "" >name
		if (i % 20 == 0)
			printf " ?! ...\n" >name
		for (n = 0; i % 10 && n < 80; n++)
			printf "word%d ", rnd() * 3000 >name
		close(name)
	}
}'
: >empty
printf '. , - !\n' >signs
printf '{"text":""}\n{"text":" \\n"}\n' >blank

# The summary counts them, and does not call them short as well.
run 0 "$load" -r --summary summary counted texts
says 'simidx-load: 100 texts have no words: nothing is near to them'
grep -q 'shorter than' err && fail 'empty texts are short ones, too'
grep -q '"empty_texts":100,"short_texts":0,' summary || fail 'counts in the summary'

run 1 "$query" search counted --text empty signs
errors <<<'simidx-query: 2 texts have no words: nothing is near to them'

# The second fingerprint tells, where there is one; texts of few bits have no other.
for options in '' '--no-fp2' '--seed 7' '--short exact' '--bits 16' '--stop en --top auto'; do
	# shellcheck disable=SC2086
	run 0 "$load" -q --create truncate $options ix -r texts
	run 0 "$query" dump ix
	[ "$(wc -l <out)" -eq 1000 ] || fail "$options: not all texts are stored"
	cp out all
	for way in '' '-k 3' '-k 0' '--nearest 5' '--nearest 5 -k 16' '--first' '--accept 5000'; do
		# shellcheck disable=SC2086
		run 1 "$query" search ix $way --text empty signs texts/010 texts/020
		output </dev/null
		says '4 texts have no words: nothing is near to them'
	done
	run 1 "$query" search ix --count --text empty signs
	output <<-'END'
		empty	0
		signs	0
	END
	run 1 "$query" --json search ix --text empty
	if [ -n "${SX_JSON-}" ]; then
		grep -q '"matches": *\[\]' out || fail "$options: as JSON"
		run 1 "$query" search ix -F jsonl blank
		output </dev/null
	fi
	# Nor are they found by a text, at any distance.
	run 0 "$query" search ix -k 16 --text texts/001
	grep -qE 'texts/..0(	[0-9]+)?$' out && fail "$options: -k 16 finds a text without features"
	run 0 "$query" search ix --accept 5000 --text texts/001
	grep -qE 'texts/..0(	[0-9]+)?$' out && fail "$options: --accept 5000 finds a text without features"
	grep -qE 'texts/001	[0-9]+$' out || fail "$options: a text does not find itself"
	# By its fingerprint each of them is.
	fp=$(awk -F '\t' '$3 == "texts/000" { print $2 }' all)
	run 0 "$query" search ix -k 0 "$fp"
	[ "$(grep -cE 'texts/..0$' out)" -eq 100 ] || fail "$options: $fp is not found"
done
finish

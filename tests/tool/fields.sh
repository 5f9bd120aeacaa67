#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Texts in members of objects in JSON, and in several of them; and what is told of rows without.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_json
need_text

# same_texts NAME TEXT...: with --text-field NAME each row of ./rows has one of these texts.
same_texts() {
	local name=$1 text
	shift
	for text in "$@"; do printf '{"text":"%s"}\n' "$text"; done >plain
	rm -rf named.ix plain.ix
	run 0 "$load" -q --text-field "$name" -F jsonl named.ix rows
	run 0 "$load" -q -F jsonl plain.ix plain
	diff <("$query" dump --format jsonl named.ix) <("$query" dump --format jsonl plain.ix) >difference ||
		{ fail "--text-field $name"; cat difference; }
	# Read again, the rows have the same texts.
	rm -f evidence
	cp rows copy
	run 0 "$dedup" -q --text-field "$name" --evidence evidence -F jsonl rows copy
	run 0 "$query" review --sample 1000 evidence
	[ "$(grep -c 'The texts have the same bytes\.' out)" -eq $# ] || fail "--text-field $name again: $(cat out)"
}
cat >rows <<'END'
{"a":{"b":"one two","b.c":"two three","c":{"d":"x y"}},"a.c":{"d":"three four"}}
{"a":{"b":"five six"},"a.b":"seven eight","a.c.d":"nine","a.b.c":"ten"}
END
same_texts a.b 'one two' 'seven eight'
same_texts a.c.d 'x y' nine
same_texts a.b.c 'two three' ten
cat >rows <<'END'
{"title":"one","body":"two","meta":{"note":"three"}}
{"title":"one","meta":null}
{"body":"two","title":null,"meta":{}}
{"title,body,meta.note":"as it is","title":"one"}
{"title":"","text":5}
END
same_texts title,body,meta.note 'one\ntwo\nthree' 'one\n\n' '\ntwo\n' 'as it is' '\n\n'

# Ids, labels, times and fingerprints are found in the same way.
echo '{"meta":{"url":"/a","nr":7,"seen":"2026-11-26T00:00:00Z"},"h":{"x":"0a"}}' >deep.jsonl
run 0 "$load" -q --times --label-field meta.url --id-field meta.nr --time meta.seen --fp-field h.x deep deep.jsonl
run 0 "$query" dump deep
output <<<'7	000000000000000a	/a	2026-11-26T00:00:00Z'
echo '{"meta":{"url":"/a"},"meta.url":"/b","fp":"0b"}' >deep.jsonl
run 0 "$load" -q --label-field meta.url literal deep.jsonl
run 0 "$query" dump literal
output <<<'0	000000000000000b	/b'

# Rows without a text are counted by their cause, and the first one says what it has.
{
	for ((i = 0; i < 1204; i++)); do echo '{"title":"t","meta":{"body":"a longer one","n":1},"tags":["x"]}'; done
	for ((i = 0; i < 17; i++)); do echo '{"text":["a"]}'; done
	echo '{"text":null}'
	echo '{"text":"one two'
	echo 5
	echo '{"text":"the last one"}'
} >some.jsonl
said='1,000 rows have no "text" (first: some.jsonl:1, whose strings are "title", "meta.body"; the longest one: --text-field '"'meta.body')"
run 2 "$dedup" some.jsonl
says "simidx-dedup: $said"
says 'simidx-dedup: the first 1,000 rows were all rejected, the last one because: expected one of "text"'
run 2 "$load" index some.jsonl
says "simidx-load: $said"
tac some.jsonl >turned.jsonl
said='1,204 rows have no "text" (first: turned.jsonl:22, whose strings are "title", "meta.body"; the longest one: --text-field '"'meta.body')"
for command in "$dedup" "$load index"; do
	# shellcheck disable=SC2086
	run 1 $command turned.jsonl
	says "$said"
	says ': 18 rows have a "text" that is no string (first: turned.jsonl:4)'
	says ': 2 lines are no JSON objects (first: turned.jsonl:2; a line is one object, such as {"text": "some words"})'
done
run 0 "$query" stats index
grep -q '^documents *1$' out || fail 'the row with a text'
# A load that goes on has counted before what it passes over.
run 0 "$load" --resume index turned.jsonl
grep -q 'rows have' err && fail 'rows are counted again'
run 1 "$dedup" --text-field body,summary -F jsonl - <<<$'{"n":1}\n{"body":"x y"}'
says 'simidx-dedup: 1 row has no "body,summary" (-:1, which has no strings)'
run 1 "$dedup" --text-field body -F jsonl - <<<$'{"body":1}\n{"body":"x y"}'
says 'simidx-dedup: 1 row has a "body" that is no string (-:1)'
run 1 "$dedup" --text-field 2 -F csv - <<<$'a\nb\nc,d'
says 'simidx-dedup: 2 rows have too few columns (first: -:1)'
# Where a few rows are wrong, the option is right.
{ seq 20 | sed 's/.*/{"text":"words of row &"}/'; echo '{"body":"a longer string"}'; } >one.jsonl
run 1 "$dedup" one.jsonl
says 'simidx-dedup: 1 row has no "text" (one.jsonl:21)'
# With -q nothing is told, and of strings with odd or long names what can be.
run 1 "$dedup" -q -F jsonl - <<<$'{"n":1}\n{"text":"x y"}'
grep -q 'has no' err && fail 'a notice in spite of -q'
printf '{"%0300d":"x"}\n{"text":"x y"}\n' 0 >long.jsonl
run 1 "$dedup" long.jsonl
says '1 row has no "text" (long.jsonl:1, which has no strings)'
awk 'BEGIN { printf "{"; for (i = 0; i < 100; i++) printf "\"name %d\":\"x\",", i; print "\"z\":\"longest\"}" }' >many.jsonl
run 1 "$dedup" many.jsonl
says '"name 1", '
says ", ...; the longest one: --text-field 'z')"
printf '{"a\\u001b[31m":"x"}\n' >escape.jsonl
run 1 "$dedup" escape.jsonl
grep -q $'\033' err && fail 'a control byte'
finish

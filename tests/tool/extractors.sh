#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# How texts become fingerprints: options, what an index remembers of them, what is refused;
# short texts; features of others.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text

profile() {
	"$query" stats "$1" | sed -n 's/^texts by *//p'
}
rest='hash=xxh3-64 seed=0'
for i in $(seq 80); do printf 'word%d ' "$i"; done >long
printf 'another text' | cat long - >long2
printf 'Seven words are all that is here' >short

# Each option is in the profile; a text finds itself by it.
printf 'word1\n' >list
while IFS='|' read -r options want; do
	rm -rf ix
	# shellcheck disable=SC2086
	run 0 "$load" -q $options ix long
	[ "$(profile ix)" = "$want" ] || fail "profile of $options: $(profile ix)"
	files=$(grep -oE -- '--(stop|words|idf) list' <<<"$options")
	# shellcheck disable=SC2086
	run 0 "$query" search ix --text $files long
	# shellcheck disable=SC2086
	run 0 "$query" search ix --text $options long
done <<END
--extractor words12|words12 v1 bits=64 grams=1,2 weights=sqrt $rest fp2=triples
--extractor words1 --weights log|words1 v1 bits=64 grams=1 weights=log $rest
--extractor han12 --stop zh --stop en|han12 v1 bits=64 grams=1,2 weights=sqrt $rest stop=en,zh
--extractor unspaced12|unspaced12 v1 bits=64 grams=1,2 weights=sqrt $rest
--extractor char-4 --top 50|char-4 v1 bits=64 grams=4 weights=sqrt $rest top=50
--seed 12345678901234567890 --extractor words1|words1 v1 bits=64 grams=1 weights=sqrt ${rest%0}12345678901234567890
--grams 1,3 --top auto|words12 v1 bits=64 grams=1,3 weights=sqrt $rest top=auto
--weights binary --short exact|words12 v1 bits=64 grams=1,2 weights=binary $rest fp2=triples exact=64
--weights raw --short exact --min-tokens 9|words12 v1 bits=64 grams=1,2 weights=raw $rest fp2=triples exact=9
END
run 0 "$load" -q --stop list listed long
[[ $(profile listed) =~ \ stop-words=[0-9a-f]{16}$ ]] || fail "hash of a list: $(profile listed)"
run 2 "$query" search listed --text long
says 'the index makes fingerprints with stop-words='
says 'which was not given'
run 2 "$load" listed short
says 'which was not given'
run 0 "$load" -q --stop list listed short
run 2 "$load" listed --stop list --weights log short
says 'weights=sqrt, not with weights=log'
run 2 "$query" search listed --text --stop list --stop en long
says 'without stop=en'
# Another seed makes other fingerprints, and is remembered.
run 0 "$load" -q --seed 2 seeded long
run 0 "$load" -q seeded short
run 2 "$load" -q --seed 3 seeded short
says 'with seed=2, not with seed=3'
run 2 "$query" search seeded --text --seed 3 long
says 'with seed=2, not with seed=3'
run 2 "$load" -q --seed 2 listed --stop list short
says 'with seed=0, not with seed=2'
run 0 "$load" -q --seed 0 listed --stop list long2
run 2 "$load" -q --seed 0 seeded short
says 'with seed=2, not with seed=0'
run 2 "$query" search seeded --text --seed 0 long
says 'with seed=2, not with seed=0'
run 2 "$query" similar --index seeded --seed 0 long short
says 'with seed=2, not with seed=0'
run 0 "$load" -q unseeded long
[ "$("$query" dump seeded | head -1 | cut -f 2)" != "$("$query" dump unseeded | cut -f 2)" ] ||
	fail 'a seed changes nothing'
# What is taken over says how texts are handled.
run 2 "$load" new --from listed --stop en long
says 'simidx-load: listed: '
says 'stop-words='
run 2 "$load" new --from listed long
says 'simidx-load: new: the index makes fingerprints with stop-words='
run 0 "$load" -q taken --from ix --short exact --min-tokens 9 short
[ "$(profile taken)" = "$(profile ix)" ] || fail 'profile of an index taken over'
run 0 "$query" -q search taken --text long short
[ "$(cut -f 1,5 out | sort)" = $'long\tlong\nshort\tshort' ] || fail 'texts of an index taken over'
# A text is refused before anything is read, bare fingerprints are not.
run 2 "$load" ix --stop en -F lines - <<<0123456789abcdef
says 'without stop=en'

if [ -n "${SX_STEMMER-}" ]; then
	printf 'words' >plural
	printf 'Word' >singular
	run 0 "$query" --json similar --stem english --show 0 plural singular
	grep -q '"distance":0,"distance2":0,' out || fail 'stems'
	run 2 "$load" --stem klingon new long
	says 'klingon'
	says "'simidx-load --help'."
else
	run 2 "$load" --stem english new long
	says 'libstemmer'
fi
while IFS='|' read -r bad message; do
	# shellcheck disable=SC2086
	run 2 "$load" $bad new long
	says "$message"
done <<'END'
--grams 0|--grams: expected numbers in 1..16 with commas between, found '0'
--grams 17|--grams: expected numbers in 1..16 with commas between, found '17'
--grams 1,|--grams: expected numbers in 1..16 with commas between, found ''
--grams x|--grams: expected numbers in 1..16 with commas between, found 'x'
--seed x|--seed: expected a number in 0..18446744073709551615, found 'x'
--seed -1|--seed: expected a number in 0..18446744073709551615, found '-1'
--seed 18446744073709551616|--seed: expected a number in 0..18446744073709551615, found '18446744073709551616'
--weights cube|unknown weights "cube"
--top 0|--top: expected a number in 1..4294967293, found '0'
--short maybe|--short: expected one of flag, reject, exact, found 'maybe'
--min-tokens 0|--min-tokens: expected a number in 1..2147483647, found '0'
--stop missing|--stop: missing: cannot open
--extractor char-0|unknown extractor "char-0"
--idf list|a dictionary of lines "word idf" is for the weights tfidf
END
[ ! -e new ] || fail 'an index was made'

# Short texts: told, rejected, or matched exactly.
run 0 "$load" flagged long short
says '1 text is shorter than 64 tokens: one edit moves its fingerprint far'
run 0 "$query" search flagged --text short
says '1 text is shorter than 64 tokens: one edit moves its fingerprint far'
run 0 "$load" --min-tokens 7 seven short
grep -q shorter err && fail 'seven words are fewer than seven'
run 0 "$load" -q exactly --short exact short
run 2 "$load" exactly --short flag long
says 'made with --short exact: --short flag does not fit'
run 2 "$query" search exactly --short flag --text short
says 'made with --short exact: --short flag does not fit'
run 2 "$query" similar --index exactly --short flag long short
says 'made with --short exact: --short flag does not fit'
run 2 "$load" copied --from exactly --short flag long
says 'made with --short exact: --short flag does not fit'
run 0 "$query" -q search exactly --short exact --text short
run 0 "$query" -q search exactly --text short
run 2 "$query" -q search exactly --short reject --text short
says 'simidx-query: short: a text of fewer than 64 tokens (--short)'
run 2 "$query" search flagged --short exact --text short
says 'simidx-query: flagged: the index makes fingerprints without exact=64'
run 0 "$query" -q search flagged --short flag --text short
run 1 "$load" rejected --short reject long short
says 'simidx-load: short: a text of fewer than 64 tokens (--short)'
[ "$("$query" dump rejected | cut -f 3)" = long ] || fail 'a short text was stored'
for format in lines tsv features; do
	run 2 "$load" -F "$format" --min-tokens 7 new long
	says 'simidx-load: --min-tokens goes with texts, and no input has any'
	run 2 "$load" -F "$format" --short reject new -r .
	says 'simidx-load: --short reject goes with texts, and no input has any'
done
: >none.tsv
run 2 "$load" --short reject new none.tsv
says 'simidx-load: --short reject goes with texts, and no input has any'
run 2 "$load" --from flagged --min-tokens 7 new
says 'simidx-load: --min-tokens goes with texts, and no input has any'
[ ! -e new ] || fail 'an index was made'
run 0 "$load" -q --min-tokens 7 two none.tsv short
run 0 "$load" -q --min-tokens 7 two --files-from - <<<long
run 0 "$query" search flagged --text --min-tokens 7 --short reject short
run 2 "$query" search flagged --text --short reject short
says 'short: a text of fewer than 64 tokens (--short)'
output </dev/null
run 2 "$query" search flagged --text --short exact short
says 'without exact=64'

printf 'SEVEN words; are all that is  here.' >same
printf 'Seven words are all that is there' >near
printf 'words seven are all that is here' >order
: >empty
printf -- '-- ' >none
run 0 "$load" -q --short exact exact short same near order empty none long
run 0 "$query" -q search exact --text short same near order empty
cut -f 1,4,5 out | sort >found
sort <<'END' | diff - found || fail 'short texts match others than their equals'
short	0	same
short	0	short
same	0	same
same	0	short
near	0	near
order	0	order
END

# Features that others made: lines of them, weights as they are written.
printf 'fox\t2.5\ndog\t1\n' >a.features
printf 'dog\t1.0\nfox\t2.50\n' >b.features
run 0 "$load" -q features -F features a.features
run 0 "$query" search features -F features b.features
output <<<"b.features	0	$("$query" dump features | cut -f 2)	0	a.features	0"
run 2 "$query" search features --text long
says 'simidx-query: features: the index holds bare fingerprints'
for option in '--extractor words12' '--stop en' '--seed 0' '--min-tokens 7' '--short reject'; do
	# shellcheck disable=SC2086
	run 2 "$query" search features -F features $option b.features
	says "simidx-query: ${option% *} goes with texts, and the queries are features"
	output </dev/null
done
run 2 "$query" search flagged --text --features-by me long
says 'simidx-query: --features-by goes with features, and the queries are texts'
for line in 'fox' 'fox	' 'fox	-1' 'fox	0' 'fox	65536' '	1' 'fox	1e3' ''; do
	printf 'dog\t1\n%s\n' "$line" >bad.features
	[ -n "$line" ] || : >bad.features
	run 1 "$load" features -F features bad.features
	[ -z "$line" ] || says 'bad.features:2: expected a feature, a tab and its weight, 1/65536 and more'
done
says 'bad.features: no features'

# Who made them is remembered and compared. Such an index has second fingerprints, as one of texts.
run 0 "$load" -q --features-by cutter-1.2 named -F features a.features
run 0 "$query" stats named
grep -q 'features cutter-1.2' out || fail 'stats without the name'
run 0 "$load" -q --features-by cutter-1.2 named -F features b.features
run 0 "$query" search named -F features --features-by cutter-1.2 a.features
[ "$(cut -f 5 out | tr '\n' ' ')" = 'a.features b.features ' ] || fail 'not both were found'
run 0 "$query" search named "$("$query" dump named | head -1 | cut -f 2)"
for wrong in '' '--features-by cutter-1.3'; do
	# shellcheck disable=SC2086 # options are words
	run 2 "$load" -q $wrong named -F features b.features
	says "named: holds features made by cutter-1.2, ${wrong:+not by cutter-1.3}"
	# shellcheck disable=SC2086
	run 2 "$query" search named -F features $wrong a.features
	says "named: holds features made by cutter-1.2, ${wrong:+not by cutter-1.3}"
done
run 2 "$load" -q --features-by cutter-1.2 features -F features b.features
says 'features: holds bare fingerprints, so --features-by cutter-1.2 does not fit'
run 2 "$load" -q --features-by cutter-1.2 flagged -F features b.features
says 'flagged: holds texts by words12, so --features-by cutter-1.2 does not fit'
run 1 "$load" -q flagged -F features b.features
says 'b.features: features, and the index holds texts'
run 2 "$query" search flagged -F features b.features
says 'flagged: holds texts by words12, so features do not fit'
run 1 "$load" -q --features-by cutter-1.2 named long
says 'long: a text, and the index holds features (--features-by)'
run 1 "$load" -q --features-by cutter-1.2 unmade long
says 'long: a text, and the index holds features (--features-by)'
run 2 "$query" search named --text long
says 'simidx-query: named: the index needs the extractor "features cutter-1.2", unknown here'
printf 'cat\t1\n' >c.features
run 0 "$load" -q --from named copied
run 2 "$load" -q --from named copied2 -F features b.features
says 'so say who made these: --features-by cutter-1.2'
run 0 "$load" -q --from copied --features-by cutter-1.2 copied2 -F features c.features
[ "$("$query" dump copied2 | wc -l)" -eq 3 ] || fail 'not all were taken over'
for name in '' 'a b' "$(printf 'a%.0s' {1..201})"; do
	run 2 "$load" -q --features-by "$name" new -F features a.features
	says "--features-by: expected a name of 1..200 bytes without blanks, found '$name"
done
run 2 "$load" -q --features-by cutter --extractor words1 new -F features a.features
says '--features-by is about features that others have made of texts'

run 0 "$query" --json search flagged --text short long
grep -qE '^\{"query":"short","fingerprint":"[0-9a-f]{16}","tokens":7,"short":true,' out ||
	fail 'no tokens in JSON'
grep -q '"tokens":80,"short":false' out || fail 'a long text is short'
[ -n "${SX_JSON-}" ] || finish
# Options about texts say what is to come, whatever comes first.
run 0 "$load" -q --extractor words1 later -F jsonl /dev/null
[ "$(profile later)" = "words1 v1 bits=64 grams=1 weights=sqrt $rest" ] || fail "profile: $(profile later)"
run 0 "$load" -q json -F jsonl - <<<'{"features": [["fox", 2.5], ["dog", 1]]}'
[ "$("$query" dump json | cut -f 2)" = "$("$query" dump features | cut -f 2)" ] ||
	fail 'features in JSON are others'
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# similar: three sentences against figures that were computed without the library; an index in
# place of '-'; JSON.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text

printf 'the cat sat on the mat' >1
printf 'the cat sat on a mat\n' >2
printf 'We all scream for ice-cream!' >3
char2='--extractor char-2 --bits 32'

# From a program in Python: pairs of neighbouring characters, floor(sqrt(c) * 2^16), xxh3_64.
cat >texts <<'END'
{"path":"1","fp":"39c1c6ba","fp2":"c33e8d6e44eaaac5","tokens":22,"features":15,"short":true}
{"path":"2","fp":"39c1e7ba","fp2":"c13a8d6e44eabcd5","tokens":20,"features":16,"short":true}
{"path":"3","fp":"63d56e61","fp2":"d0397a241134bf55","tokens":27,"features":21,"short":true}
END
# shellcheck disable=SC2086
while read -r a b near distance distance2 weights cosine; do
	run $((near == 0)) "$query" --json similar $char2 --show 0 $a $b
	# How many bits may differ depends on how many weigh nothing; of the cosine four digits, cut off.
	for part in "\"texts\":[$(sed -n "${a}p" texts),$(sed -n "${b}p" texts)]," \
		"\"distance\":$distance,\"distance2\":$distance2,\"weight\":[$weights],\"limit\":144," \
		"\"near\":$([ $near -eq 1 ] && echo true || echo false),\"cosine\":$cosine"; do
		grep -qF "$part" out || fail "sentences $a and $b: no $part in $(cat out)"
	done
done <<'END'
1 2 1 2 6 70,63 0.9132
1 3 0 15 31 991,1032 0.1711
2 3 0 15 27 982,900 0.1986
END

# Readable; the bits that differ are marked, features come with both weights.
# shellcheck disable=SC2086
run 0 "$query" similar $char2 --show 32 1 2
[ "$(grep -c differs out)" -eq 2 ] || fail 'not two bits that differ'
grep -qx '    1.7320    1.7320  "at"' out || fail 'sqrt(3) for "at"'
grep -qx '         -    1.0000  " a"' out || fail 'a feature of one text alone'
grep -q '^distance  *2 of 32 bits, second fingerprints 6 of 64$' out || fail 'distance'
grep -q '^weight  *70 by the first text, 63 by the second$' out || fail 'weight'
[ "$(tail -1 out)" = 'near: weight 70, limit 144' ] || fail 'not near'
# shellcheck disable=SC2086
run 1 "$query" similar $char2 1 3
[ "$(tail -1 out)" = 'not near: 15 bits differ, limit 14 (weight 991, limit 144)' ] || fail 'near'

# What is near is what a search finds: more and more words are changed.
words() {
	seq 1 300 | awk -v n="$1" '{ print NR % 60 < n ? "other" $1 : "word" $1 }'
}
words 0 >first
for fp2 in --fp2 --no-fp2; do
	found=0 missed=0
	for n in 0 1 2 3 4 6 8 12 20 40; do
		words $n >second
		rm -rf one
		run 0 "$load" -q $fp2 one second
		"$query" -q search one --complete 144 --text first >/dev/null
		code=$?
		[ $code -eq 0 ] && found=$((found + 1))
		[ $code -eq 1 ] && missed=$((missed + 1))
		run $code "$query" similar --index one first second
	done
	[ $found -gt 1 ] && [ $missed -gt 1 ] || fail "$found found, $missed missed: no test of the limit"
done

# Exactly at a limit is near, and a search says so too: 232 is the weight, or 14 are the bits. The
# words that are changed are numbered from 1. Which texts are at the limits was found by trying many.
change() { # NUMBER WORD...: of ./first
	awk -v changes="$*" '{ n = split(changes, c, " "); for (i = 1; i < n; i += 2) $c[i] = c[i + 1]; print }' first
}
at_limit() { # CODE LAST LINE
	run "$1" "$query" similar first second
	[ "$(tail -1 out)" = "$2" ] || fail "not '$2', but '$(tail -1 out)'"
	rm -rf one
	run 0 "$load" -q one second
	run "$1" "$query" -q search one --complete 232 --text first
}
echo 'w415 w120 w615 w148 w276 w302 w682 w703 w818 w654 w618 w975 w8 w550 w975 w9 w941 w834 w658 w135' \
	'w388 w764 w575 w964 w903 w103 w470 w31 w797 w442 w612 w695 w432 w282 w955 w379 w418 w415 w620 w473' \
	'w54 w101 w482 w797 w38 w661 w721 w714 w0 w831 w43 w851 w113 w601 w142 w543 w520 w781 w364 w564' >first
change 42 x991 51 x277 59 x581 >second
at_limit 0 'near: weight 232, limit 232'
echo 'w580 w250 w229 w647 w476 w211 w669 w690 w256 w695 w277 w669 w684 w503 w322 w949 w175 w377 w317 w4' >first
change 1 x670 20 x543 >second
at_limit 0 'near: weight 215, limit 232'
run 0 "$query" --json similar first second
grep -q '"distance":14,.*"limit_bits":14,' out || fail 'not 14 bits'
# As many bits differ as may, and too much by their weight: that is the reason.
echo 'w958 w990 w432 w519 w849 w932 w686 w194 w310 w290' >first
change 1 x873 8 x601 9 x866 10 x402 >second
at_limit 1 'not near: weight 636, limit 232'

# Bits that weigh nothing may differ besides: two words that come as often cancel each other in many.
echo 'alpha beta' >first
echo 'alpha gamma' >second
"$query" --json similar --extractor words1 --show 64 first second >out
zeros=$(grep -o '"weights":\[0,[0-9]*\],"differs"' out | wc -l)
[ "$zeros" -gt 10 ] || fail "$zeros bits weigh nothing"
grep -q "\"limit_bits\":$((14 + zeros))," out || fail "not the limit $((14 + zeros)): $(grep -o '"limit_bits":[0-9]*' out)"

# --show N: so many bits, features, and features of one text alone.
words 0 >first
words 40 >second
for n in 0 1 7; do
	"$query" similar --show $n first second >out
	for part in 'Bits of the fingerprint' 'Features that weigh' 'Features of one text'; do
		shown=$(awk -v part="$part" '/^[A-Z]/ { here = index($0, part) == 1; next }
			/^$/ { here = 0 } here && !/^ *bit/' out | wc -l)
		[ "$shown" -eq $n ] || fail "--show $n: $shown in '$part'"
	done
done

# With an index: as its profile says.
run 0 "$load" -q --bits 32 --extractor char-2 ix 1
run 0 "$query" --json similar --index ix 1 2
grep -q '"distance":2,"distance2":6,' out || fail 'similar by the profile of an index'
run 2 "$query" similar --index ix --extractor words1 1 2
says 'the index makes fingerprints with char-2, not with words1'
run 2 "$query" similar --index ix --bits 32 1 2
says '--bits: how many ix has cannot be chosen'
run 2 "$query" similar --short reject 1 2
says '--short reject does not fit'
run 0 "$load" -q -F lines bare - <<<0123456789abcdef
run 2 "$query" similar --index bare 1 2
says 'holds bare fingerprints'

# Equal texts; empty ones; standard input.
run 0 "$query" --json similar --show 0 - 1 <1
grep -q '"distance":0,"distance2":0,"weight":\[0,0\],.*"cosine":1[,.]' out || fail 'equal texts'
: >empty
run 1 "$query" similar empty empty
[ "$(tail -1 out)" = 'not near: the first text has no words or digits, so nothing is near to it' ] ||
	fail 'an empty text is near'
run 1 "$query" similar empty 1
[ "$(tail -1 out)" = 'not near: the first text has no words or digits, so nothing is near to it' ] ||
	fail 'an empty text is near to another one'
run 1 "$query" --json similar empty 1
grep -q '"near":false,' out || fail 'JSON: an empty text is near to another one'
run 1 "$query" similar 1 empty
[ "$(tail -1 out)" = 'not near: the second text has no words or digits, so nothing is near to it' ] ||
	fail 'something is near to an empty text'
run 2 "$query" similar - -
says 'standard input cannot be read twice'
run 2 "$query" similar 1
says 'simidx-query: similar: FILE is missing'
run 2 "$query" similar 1 missing
says 'missing: cannot open'
run 2 "$query" similar --index - 1 2
says "'-' is standard input, and INDEX is a directory"

# shellcheck disable=SC2086
run 0 "$query" --json similar $char2 --show 1 1 2
for member in '"profile":"char-2 v1 bits=32 ' '"fp":"39c1c6ba","fp2":"c33e8d6e44eaaac5","tokens":22' \
	'"distance":2,"distance2":6,"weight":[70,63],"limit":144,' '"near":true,"cosine":0.9' \
	'"bits":[{"bit":15,"weights":[1,2],"differs":false}]' '{"feature":"at",'; do
	grep -qF "$member" out || fail "JSON: no $member"
done
finish

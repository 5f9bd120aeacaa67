#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What is printed on a terminal: tables, groups, colours, widths, numbers, sums; and that none of
# it goes into a pipe.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
command -v script >/dev/null || skip 'no script(1) to make a terminal'
script -qec true /dev/null </dev/null >/dev/null 2>&1 || skip 'no pseudo-terminal is to be had'
export TERM=xterm SHELL=/bin/sh
unset NO_COLOR

# shown COLUMNS CODE COMMAND: ./out is what a terminal gets, without carriage returns.
shown() {
	local columns=$1 want=$2 got
	shift 2
	script -qec "stty cols $columns; exec $*" /dev/null </dev/null >raw
	got=$?
	[ "$got" -eq "$want" ] || fail "exit $got, not $want: $*"
	tr -d '\r' <raw >out
}
shown 80 0 'test -t 1' && [ ! -s out ] || skip 'no terminal can be made'

# Distances by hand: 1f differs from 10 in four bits of one digit, 00ff from 0010 in seven of two.
run 0 "$load" -q -F tsv ix - <<'END'
7	0000000000000010	ten
1234	000000000000001f	one-f
1235	00000000000000ff	a label that is longer than what is left of a narrow line, to its END
END
bold=$'\e[1m' red=$'\e[1;31m' plain=$'\e[m'

shown 80 0 "$query search -k 7 ix 0000000000000010 1111111111111111"
output <<END
   id  fingerprint       distance  label
$bold       0000000000000010     query$plain
    7  0000000000000010         0  ten
1,234  000000000000001${red}f$plain         4  one-f
1,235  00000000000000${red}ff$plain         7  …an what is left of a narrow line, to its END

$bold       1111111111111111     query$plain
                             none
simidx-query: 2 queries, 3 matches
END
# The sum is that of the lines, also where a search that keeps the nearest has seen more.
shown 80 0 "$query search -k 64 --limit 1 ix 0000000000000010 1111111111111111"
grep -qx 'simidx-query: 2 queries, 2 matches' out || fail 'another sum than that of the lines'
# Every line fits, whatever the width; colours take no columns.
for columns in 60 80 120; do
	shown $columns 0 "$query search -k 7 ix 0000000000000010"
	sed 's/\x1b\[[0-9;]*m//g; s/…/./' out | awk -v n=$columns 'length($0) > n { bad = 1 } END { exit bad }' ||
		fail "a line of more than $columns columns"
done
grep -q '  a label that is longer .* to its END$' out || fail 'a label was cut that fits into 120 columns'

# Pairs and clusters: labels are cut to their share, and a pipe gets tabs.
shown 80 0 "$query pairs -k 7 ix"
output <<'END'
distance       id       id  labels
       4        7     1234  ten  one-f
       7        7     1235  ten  …arrow line, to its END
       3     1234     1235  one-f  …arrow line, to its END
END
shown 80 0 "$query clusters ix"
output <<'END'
cluster       id  distance        label
   1234     1234         0  keep  one-f
   1234     1235         3  drop  …han what is left of a narrow line, to its END
END
run 0 "$query" clusters ix
printf '1234\t1234\t0\tkeep\tone-f\n' | cmp - <(head -1 out) || fail 'clusters in a pipe'

# Times, where there are labels and where there are none.
printf '%s\n' '7	10	ten	2026-01-02T03:04:05Z' '8	11	eleven	' |
	run 0 "$load" -q --times -F dump times -
shown 80 0 "$query get times --id 7 8"
output <<'END'
id  fingerprint       time                  label
 7  0000000000000010  2026-01-02T03:04:05Z  ten
 8  0000000000000011                        eleven
END
run 0 "$load" -q --times -F dump bare-times - <<<'7	10		2026-01-02T03:04:05Z'
shown 80 0 "$query get bare-times --id 7"
output <<'END'
id  fingerprint       time
 7  0000000000000010  2026-01-02T03:04:05Z
END
printf '9\t12\t%080d\t1\n' 1 | run 0 "$load" -q -F dump times -
shown 80 0 "$query get times --id 9"
awk 'length($0) > 82 { bad = 1 } END { exit bad }' out || fail 'a line with a time that is too long'
grep -q '1970-01-01T00:00:01Z  …0*1$' out || fail 'a long label beside a time was not cut'

# Groups of simidx-dedup.
printf '%016x\n' 16 17 255 >two
shown 80 0 "$dedup -q -F lines two"
output <<'END'
    group     bits        document
        1        0  keep  two:1
        1        1  drop  two:2
END

# Pairs of it, and documents of a dump: with titles.
shown 80 0 "$dedup -q --pairs -F lines two"
output <<'END'
   bits	document	near to
      1	two:2	two:1
END
run 0 "$dedup" -q --pairs -F lines two
output <<<'1	two:2	two:1'
shown 80 0 "$query dump times"
head -2 out >first
cmp first - <<'END' || fail 'no titles on a terminal'
id	fingerprint	label	time
7	0000000000000010	ten	2026-01-02T03:04:05Z
END
run 0 "$query" dump times
head -1 out | grep -q '^7	' || fail 'titles in a pipe'

# Colours: not with NO_COLOR, --color never or a dumb terminal; --color always in a pipe, too.
for setting in NO_COLOR=1 TERM=dumb; do
	shown 80 0 "env $setting $query search -k 7 ix 0000000000000010"
	grep -q $'\e' out && fail "colours in spite of $setting"
done
shown 80 0 "$query search --color never -k 7 ix 0000000000000010"
grep -q $'\e' out && fail 'colours in spite of --color never'
shown 80 0 "env NO_COLOR=1 $query --color always search -k 7 ix 0000000000000010"
grep -qF "$red" out || fail 'no colours in spite of --color always'
run 0 "$query" search --color always -k 7 ix 0000000000000010
output <<END
0000000000000010	7	0000000000000010	0	ten
0000000000000010	1234	000000000000001${red}f$plain	4	one-f
0000000000000010	1235	00000000000000${red}ff$plain	7	a label that is longer than what is left of a narrow line, to its END
END
run 2 "$query" search --color blue ix 0000000000000010
says "--color: expected one of auto, always, never, found 'blue'"

# Numbers of documents, and whether there are any.
shown 80 0 "$query search --count -k 7 ix 0000000000000010 1111111111111111"
output <<'END'
    documents  query
            3  0000000000000010
            0  1111111111111111
simidx-query: 2 queries, 3 matches
END
shown 80 0 "$query -q search --exists -k 7 ix 0000000000000010 1111111111111111"
output <<'END'
       exists  query
          yes  0000000000000010
           no  1111111111111111
END
shown 80 0 "$query get --id ix 1234"
output <<'END'
   id  fingerprint       label
1,234  000000000000001f  one-f
END

# Numbers are grouped for people only.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "%d\t%016x\n", i, i * 7919 }' |
	run 0 "$load" -q -F tsv many -
shown 80 0 "$query stats many"
grep -q '^documents  *20,000$' out || fail 'a number without commas on a terminal'
grep -qE '^file  *[0-9.]+ [KM]iB$' out || fail 'a size that is hard to read on a terminal'
awk 'length($0) > 80 { exit 1 }' out || fail 'stats: a line of more than 80 columns'
run 0 "$query" stats many
grep -q '^documents  *20000$' out || fail 'a number with commas in a pipe'
grep -qx "file bytes  *$(stat -c %s many/data.mdb)" out || fail 'not the size in bytes in a pipe'
shown 80 0 "$query plan --documents 60M"
awk 'length($0) > 80 { exit 1 }' out || fail 'plan: a line of more than 80 columns'

# Escapes in labels and names reach no terminal.
printf '1\t0000000000000010\tred \\x1b[31m\n' | run 0 "$load" -q -F tsv escaped -
shown 80 0 "$query search --color never escaped 0000000000000010"
grep -qF 'red \x1b[31m' out || fail 'a control byte of a label on the terminal'

# A search of a text has the weight, and characters of two columns are counted as such.
[ -n "${SX_TEXT-}" ] || finish
mkdir texts
seq 1 400 | sed 's/^/word/' >texts/plain
wide=$(printf '宽%.0s' {1..60})
cp texts/plain "texts/$wide"
run 0 "$load" -q -r tx texts
shown 80 0 "$query search --color never --text tx texts/plain"
head -1 out | grep -qE '^id  fingerprint       distance  weight  label$' || fail 'no weight'
[ "$(grep -cE '^ [01]  [0-9a-f]{16}         0       0  ' out)" -eq 2 ] || fail 'not two matches'
[ "$(grep -o 宽 out | wc -l)" -eq 19 ] || fail 'not as many wide characters as fit'

# The progress line is taken away before rows and pairs.
mkfifo slow
for how in --stream --pairs; do
	{ sleep 0.5; printf '%016x\n' 1 1; } >slow &
	shown 80 0 "$dedup $how -F lines slow"
	wait $!
	grep -qE '[0-9] documents?, ' raw || fail "$how: no progress line"
	if [ $how = --stream ]; then
		grep -q $'\r\e\\[K0000000000000001\r$' raw || fail 'a row beside the progress line'
	else
		grep -q $'\r\e\\[K   bits\tdocument\tnear to\r$' raw && grep -q $'^      0\tslow:2\tslow:1\r$' raw || fail 'a pair beside the progress line'
	fi
done
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-load --times, --time and --touch: what is taken for a time in each format, in bulk and by
# insertion; what is kept of it by --from and full dumps; and what is refused.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_json

forms='seconds since 1970, or like 2026-11-26T08:15:00Z or 2026-11-26T09:15:00+01:00'
range='out of the range 1970-01-01T00:00:00Z to 2106-02-07T06:28:15Z (4294967295)'

# times_of INDEX: ID=TIME of its documents must be the words of standard input; "-" is unknown.
times_of() {
	run 0 "$query" dump --format full "$1"
	head -1 out | grep -qF ',"times":true,' || fail "$1 does not say that it has times"
	sed -E '1d;$d; s/^\{"id":([0-9]+),.*"time":"([^"]*)"\}$/\1=\2/; s/^\{"id":([0-9]+),.*/\1=-/' \
		out | paste -sd ' ' >found
	diff - found >difference && return
	fail "the times of $1 are not as expected (<)"
	cat difference
}

# is_recent TIME BEGUN: a time is not before the test has begun, and not in the future. time() may be behind
# date by some milliseconds, so that it still has the second before.
is_recent() {
	local seconds
	seconds=$(date -u -d "$1" +%s) || fail "no time: $1"
	if [ "$seconds" -lt $(($2 - 1)) ] || [ "$seconds" -gt "$(date +%s)" ]; then
		fail "$1 is not the time of this test"
	fi
}

# ---- what is a time ----

cat >taken.tsv <<'END'
1	a1	0
2	a2	1
3	a3	2016-11-26T08:15:00Z
4	a4	2016-11-26T09:15:00+01:00
5	a5	2016-11-26T02:45:30.999-05:30
6	a6	2024-02-29t23:59:60z
7	a7	2000-01-01 00:00:00Z
8	a8	1970-01-01T00:00:01-00:00
9	a9	2106-02-07T06:28:15Z
10	aa	4294967295
11	ab	
12	ac
13	ad	1970-01-01T00:00:00Z
14	ae	2099-12-31T23:30:00-00:45
END
taken='1=- 2=1970-01-01T00:00:01Z 3=2016-11-26T08:15:00Z 4=2016-11-26T08:15:00Z 5=2016-11-26T08:15:30Z'
taken="$taken 6=2024-03-01T00:00:00Z 7=2000-01-01T00:00:00Z 8=1970-01-01T00:00:01Z"
taken="$taken 9=2106-02-07T06:28:15Z 10=2106-02-07T06:28:15Z 11=- 12=- 13=- 14=2100-01-01T00:15:00Z"
columns='--id-field 1 --fp-field 2 --time 3'
tr '\t' , <taken.tsv >taken.csv
awk -F '\t' 'BEGIN { print "fp;when;id" } { printf "%s;\"%s\";%s\n", $2, $3, $1 }' taken.tsv >header.csv
awk -F '\t' '{ printf "{\"id\":%s,\"fp\":\"%s\"%s}\n", $1, $2,
	NF < 3 ? "" : ",\"when\":" ($3 ~ /^[0-9]+$/ ? $3 : "\"" $3 "\"") }' taken.tsv >taken.jsonl
for how in rebuild insert; do
	for input in "taken.tsv $columns" "taken.csv $columns" 'taken.jsonl --time when' \
		'header.csv --header --delimiter ; --time when'; do
		rm -rf all
		# shellcheck disable=SC2086
		rm -f summary
		run 0 "$load" --times --write $how --summary summary all $input
		says 'simidx-load: 3 rows have times in the future (first: '
		grep -q '"touched":0,.*"future":3,' summary || fail "future times are not counted: $input"
		times_of all <<<"$taken"
	done
done
# The place of the first one, and that of one alone.
run 0 "$load" --times one --time 3 --fp-field 2 -F tsv - < <(sed -n 2,9p taken.tsv)
says 'simidx-load: 1 row has a time in the future (-:8)'

# refused_rows MESSAGE FORMAT OPTION...: each row of standard input, but the last one, is rejected so.
refused_rows() {
	local message=$1 format=$2
	shift 2
	cat >rows
	awk -v said="\t$message" 'l { print "rows:" NR - 1 said } { l = $0 !~ /^fp/ }' rows >want
	for how in rebuild insert; do
		rm -rf bad rejects
		run 1 "$load" -q --times --write $how --rejects rejects -F "$format" "$@" bad rows
		cmp rejects want || fail "$(cat rejects)"
		times_of bad <<<'0=1970-01-01T00:01:40Z'
	done
}

refused_rows "column 2: expected $forms" tsv --fp-field 1 --time 2 <<'END'
1a	yesterday
aa	-1
aa	 5
aa	1.5
aa	2026-11-26
aa	2026-11-26T08:15:00
aa	2026-11-26T08:15Z
aa	2026-11-26T08:15:00.Z
aa	2026-11-26T08:15:00+0100
aa	2026-11-26T24:00:00Z
aa	2026-11-26T08:60:00Z
aa	2026-02-29T08:15:00Z
aa	2026-13-01T08:15:00Z
aa	2026-11-26T08:15:00Zz
aa	2016-12-31T08:15:60Z
aa	2016-12-31T23:59:60+01:00
aa	2016-12-31T23:58:60Z
aa	100
END
refused_rows "column 2: $range" tsv --fp-field 1 --time 2 <<'END'
1a	4294967296
aa	1480000000000
aa	1969-12-31T23:59:59Z
aa	0000-02-29T00:00:00Z
aa	9999-12-31T23:59:60Z
aa	1970-01-01T00:30:00+01:00
aa	2106-02-07T06:28:16Z
aa	2106-02-07T05:29:00-01:00
aa	100
END
refused_rows "\"last seen\": expected $forms" csv --header --time 'last seen' <<'END'
fp,last seen
aa,never
aa,2016-12-31T08:15:60Z
aa,100
END
refused_rows "\"t\": expected $forms" jsonl --time t <<'END'
{"fp":"aa","t":1.5}
{"fp":"aa","t":-1}
{"fp":"aa","t":true}
{"fp":"aa","t":["100"]}
{"fp":"aa","t":{"t":100}}
{"fp":"aa","t":" "}
{"fp":"aa","t":"2026-11-26T08:15:00"}
{"fp":"aa","t":100}
END
refused_rows "\"t\": $range" jsonl --time t <<'END'
{"fp":"aa","t":4294967296}
{"fp":"aa","t":"2107-01-01T00:00:00Z"}
{"fp":"aa","t":100}
END
# A leap second is the last one of a day in UTC, wherever the clock is.
run 0 "$load" -q --times leap --fp-field 1 --time 2 -F tsv - <<'END'
aa	2016-12-31T23:59:60Z
ab	2017-01-01T05:29:60.5+05:30
END
times_of leap <<<'0=2017-01-01T00:00:00Z 1=2017-01-01T00:00:00Z'
# What has no value is not known; without --time a member is passed over.
run 0 "$load" -q --times null --time t -F jsonl - <<<$'{"fp":"aa","t":null}\n{"fp":"ab","t":""}\n{"fp":"ac"}'
times_of null <<<'0=- 1=- 2=-'

# Texts, whose fingerprints are made by other threads.
if [ -n "${SX_TEXT-}" ]; then
	for ((i = 1; i <= 300; i++)); do printf '{"text":"number %d","t":%d}\n' $i $i; done |
		run 0 "$load" -q --times --time t --no-fp2 texts -F jsonl -
	for ((i = 1; i <= 300; i++)); do date -u -d @$i "+$((i - 1))=%FT%TZ"; done | paste -sd ' ' >want
	times_of texts <want
fi

# ---- the clock ----

begun=$(date +%s)
for how in rebuild insert; do
	rm -rf clock
	run 0 "$load" -q --times --write $how clock -F jsonl - <<<'{"fp":"aa","time":5}'
	run 0 "$query" dump --format full clock
	is_recent "$(sed -n 's/.*"time":"\([^"]*\)"}/\1/p' out)" "$begun"
done
# A new version has another time, and so has one that is added by a rebuild.
run 0 "$load" -q --mode replace --time 3 --fp-field 2 --id-field 1 clock -F tsv - <<<$'0\tbb\t7'
times_of clock <<<'0=1970-01-01T00:00:07Z'
run 0 "$load" -q --mode replace --time 3 --fp-field 2 --id-field 1 clock -F tsv - <<<$'0\tbb\t'
run 0 "$load" -q --write rebuild --time 3 --fp-field 2 --id-field 1 clock -F tsv - <<<$'4\tcc\t9'
times_of clock <<<'0=- 4=1970-01-01T00:00:09Z'
# A load that goes on knows what it has read, and how.
printf 'aa\t1\nab\t2\nwrong\t3\nac\t4\n' >four.tsv
run 2 "$load" -q --times --write insert --commit 1 --max-errors 0 --fp-field 1 --time 2 on four.tsv
says 'fingerprint: expected'
run 2 "$load" -q --resume --write insert --fp-field 1 on four.tsv
says 'the load that was interrupted had other inputs'
run 1 "$load" -q --resume --write insert --fp-field 1 --time 2 on four.tsv
times_of on <<<'0=1970-01-01T00:00:01Z 1=1970-01-01T00:00:02Z 2=1970-01-01T00:00:04Z'

# ---- a set of what was seen ----

# see ROW...: rows of fingerprint, label and time, and what is printed of them is on standard input.
see() {
	printf '%s\n' "$@" >rows.tsv
	run 0 "$load" --mode if-new --emit all --fp-field 1 --label-field 2 --time 3 seen rows.tsv $touch
	output
}

touch=--touch
run 0 "$load" -q --times seen -F lines - </dev/null
see $'aaaa\ta\t100' $'ffff0000\tb\t200' $'aaab\tc\t300' <<END
new	rows.tsv:1	a	0			
new	rows.tsv:2	b	1			
dup	rows.tsv:3	c	0	1	1	a
END
sums_up '2 documents inserted; index has 2; 1 near-duplicate, 1 touched'
times_of seen <<<'0=1970-01-01T00:05:00Z 1=1970-01-01T00:03:20Z'
# A time never goes back, and the same one or one that is not known touches nothing.
see $'aaaa\t\t299' $'ffff0000\t\t' $'ffff0001\t\t201' $'aaaa\t\t300' <<END
dup	rows.tsv:1		0	0	0	a
dup	rows.tsv:2		1	0	0	b
dup	rows.tsv:3		1	1	1	b
dup	rows.tsv:4		0	0	0	a
END
sums_up '0 documents inserted; index has 2; 4 near-duplicates, 1 touched'
times_of seen <<<'0=1970-01-01T00:05:00Z 1=1970-01-01T00:03:21Z'
# Labels stay, and without --touch nothing changes.
run 0 "$query" dump seen
cut -f 1-3 out | diff - <(printf '0\t%016x\ta\n1\t%016x\tb\n' 0xaaaa 0xffff0000) || fail 'labels are lost'
touch=
see $'aaaa\t\t400' <<<$'dup\trows.tsv:1\t\t0\t0\t0\ta'
sums_up '0 documents inserted; index has 2; 1 near-duplicate'
times_of seen <<<'0=1970-01-01T00:05:00Z 1=1970-01-01T00:03:21Z'
# One that is not known becomes known; many commits, and what is counted when all are merged.
run 0 "$load" --mode replace --fp-field 2 --id-field 1 --time 3 seen -F tsv - <<<$'1\tffff0000\t'
times_of seen <<<'0=1970-01-01T00:05:00Z 1=-'
for ((i = 1; i <= 50; i++)); do printf 'ffff000%x\t%d\n' $((1 << i % 4)) $((i * 10)); done >many.tsv
rm -f summary
run 0 "$load" --mode if-new --touch --commit 7 --merge always --summary summary --fp-field 1 --time 2 seen many.tsv
sums_up '0 documents inserted; index has 2; 50 near-duplicates, 50 touched'
grep -q '"stored":0,"documents":2,.*"near":50,"touched":50,' summary || fail 'the summary of a touch'
times_of seen <<<'0=1970-01-01T00:05:00Z 1=1970-01-01T00:08:20Z'
run 0 "$query" verify seen
# Rows without a time have that of the clock.
begun=$(date +%s)
run 0 "$load" -q --mode if-new --touch seen -F lines - <<<$'aaaa\n'ffff0000
run 0 "$query" dump --format jsonl seen
while read -r time; do is_recent "$time" "$begun"; done < <(sed 's/.*"time":"\([^"]*\)"}/\1/' out)
[ "$(wc -l <out)" -eq 2 ] || fail 'the touched documents are not two'

# ---- what is seen again by its label or id ----

# The same rows twice, and later the second time: all are there, no error, and none is old then.
printf 'ff\t1\t1000\nff00\t2\t1001\nff0000\t3\t1002\n' >first.tsv
sed 's/\t100/\t200/' first.tsv >again.tsv
for key in --label-field --id-field; do
	rm -rf own
	run 0 "$load" -q --times --mode if-new --touch --fp-field 1 $key 2 --time 3 own first.tsv
	rm -f summary
	run 0 "$load" --mode if-new --touch --emit all --summary summary --fp-field 1 $key 2 --time 3 own again.tsv
	output </dev/null
	sums_up '0 documents inserted; index has 3; 3 already there, 3 touched'
	grep -q '"rejected":0,.*"duplicates":3,.*"near":0,"touched":3,' summary || fail "the summary with $key"
	run 0 "$query" dump own
	cut -f 4 out | diff - <(printf '1970-01-01T00:33:2%dZ\n' 0 1 2) || fail "the times with $key"
	run 0 "$query" delete own --older-than 1500
	says 'own: 0 documents older than 1970-01-01T00:25:00Z deleted'
	# Earlier rows, and one without a time, touch nothing, whatever else they say.
	printf 'ffffffff\t1\t\n' | cat first.tsv - >late.tsv
	run 0 "$load" --mode if-new --touch --commit 1 --fp-field 1 $key 2 --time 3 own late.tsv
	sums_up '0 documents inserted; index has 3; 4 already there'
	run 0 "$query" delete own --older-than 2001
	says 'own: 1 document older than 1970-01-01T00:33:21Z deleted'
	# Without --touch it is an error.
	run 1 "$load" --mode if-new --fp-field 1 $key 2 --time 3 own - -F tsv <<<$'ffffffff\t3\t5000'
	says 'is already in use (--on-duplicate first keeps the stored one, without an error; --mode replace stores this one)'
done
# What the same load has put, near ones, and times in the future.
rm -rf own
both='--fp-field 1 --id-field 2 --label-field 3 --time 4'
# shellcheck disable=SC2086
run 0 "$load" --times --mode if-new --touch $both own -F tsv - <<'END'
aa	1	a	100
aa	1	a	200
ab			300
bb00	2	b	4000000000
bb00	2		4000000001
bb00		b	4000000002
END
says '3 rows have times in the future'
sums_up '2 documents inserted; index has 2; 3 already there; 1 near-duplicate, 4 touched'
times_of own <<<'1=1970-01-01T00:05:00Z 2=2096-10-02T07:06:42Z'
# An id and a label that are not of one document are an error, and touch none.
cat >clash.tsv <<'END'
ff00ff	1	b	4100000000
ff00ff	1	c	4100000000
ff00ff	3	a	4100000000
END
# shellcheck disable=SC2086
run 1 "$load" --mode if-new --touch $both own clash.tsv
says 'clash.tsv:1: id 1 is already in use (--on-duplicate first keeps the stored one, without an error; --mode replace stores this one)'
says 'clash.tsv:2: id 1 is already in use'
says 'clash.tsv:3: the label is already in use'
sums_up '0 documents inserted; index has 2; 3 rows rejected'
# shellcheck disable=SC2086
run 0 "$load" --mode if-new --touch --on-duplicate first $both own clash.tsv
sums_up '0 documents inserted; index has 2; 3 already there'
times_of own <<<'1=1970-01-01T00:05:00Z 2=2096-10-02T07:06:42Z'
run 0 "$query" verify own
# A label that another one begins with is another one.
rm -rf own
# shellcheck disable=SC2086
run 0 "$load" -q --times --mode if-new --touch $both own -F tsv - <<<$'aa\t1\tab\t100'
# shellcheck disable=SC2086
run 1 "$load" --mode if-new --touch $both own -F tsv - <<<$'ff00ff\t1\ta\t200'
says 'id 1 is already in use'
times_of own <<<'1=1970-01-01T00:01:40Z'

# ---- other indexes and full dumps ----

rm -rf all
# shellcheck disable=SC2086
run 0 "$load" -q --times all taken.tsv $columns
run 0 "$load" -q --from all copy
times_of copy <<<"$taken"
run 0 "$load" -q --from all --layout rows --plan 10x26 grown -F jsonl --time t - <<<'{"id":20,"fp":"0","t":5}'
times_of grown <<<"$taken 20=1970-01-01T00:00:05Z"
"$query" dump --format full all >all.full
for how in '' '--times' '--write insert' '--write insert --merge never --commit 2'; do
	rm -rf copy
	# shellcheck disable=SC2086
	run 0 "$load" $how copy -F full all.full
	says 'simidx-load: 3 rows have times in the future (first: all.full:10)'
	"$query" dump --format full copy >copy.full
	same all.full copy.full
done
"$query" dump --format jsonl all >all.jsonl
rm -rf copy
run 0 "$load" -q --times --time time copy all.jsonl
times_of copy <<<"$taken"
# The table that is printed has a time in its fourth column: a new index needs --times for it.
"$query" dump all >all.tsv
rm -rf copy
run 0 "$load" -q --times copy -F dump all.tsv
times_of copy <<<"$taken"
run 0 "$load" -q less -F dump all.tsv
run 0 "$query" dump less
same out <(cut -f 1-3 all.tsv)
run 0 "$query" search -F dump -k 0 --count less all.tsv
[ "$(wc -l <out)" -eq 14 ] || fail 'a search for the rows of a dump with times'
run 1 "$load" -q --mode replace -F dump copy - <<<$'1\ta1\t\tthen\n2\ta2\t\t\t\n3\ta3\t\n4\ta4\t\t'
says "simidx-load: -:1: time: expected $forms"
says 'simidx-load: -:2: expected the columns id, fingerprint, label, time, found more than four columns'
run 0 "$query" get --json copy --id 3
is_recent "$(sed 's/.*"time":"\([^"]*\)".*/\1/' out)" "$begun"
run 0 "$query" get --json copy --id 4
grep -q time out && fail 'an empty time has become known'
run 0 "$load" --mode delete -F dump copy - <<<$'1\ta1\t\tthen'
sums_up '1 document deleted; index has 13'
# An index that is there must agree, and so must the options and other dumps.
run 0 "$load" -q plain -F lines - <<<aa
"$query" dump --format full plain >plain.full
run 2 "$load" plain -F full all.full
says 'all.full:1: the dump has times, and plain no times'
run 2 "$load" all -F full plain.full
says 'plain.full:1: the dump has no times, and all times'
run 2 "$load" new --times -F full plain.full
says 'plain.full:1: the dump has no times, so --times does not fit'
run 2 "$load" new -F full all.full plain.full
says 'plain.full:1: the dump has no times, and the dump before it times'
sed 's/"times":true/"times":false/' all.full >false.full
run 0 "$load" -q new -F full false.full
"$query" dump --format full new >new.full
same new.full <(sed -E 's/,"time":"[^"]*"|"times":true,//' all.full)
sed 's/"times":true/"times":1/' all.full >wrong.full
run 2 "$load" new2 -F full wrong.full
says 'wrong.full:1: "times": expected true or false'
sed 's/"time":"2000[^"]*"/"time":"then"/' all.full >wrong.full
run 1 "$load" -q new2 -F full wrong.full
says "simidx-load: wrong.full:8: \"time\": expected $forms"
run 2 "$load" new3 --from plain --from all
says 'all: it has other columns'

# ---- what does not fit ----

# refused MESSAGE OPTION...
refused() {
	run 2 "$load" "${@:2}"
	says "simidx-load: $1"
}

printf 'aa\t5\n' >row.tsv
printf 'fp\tt\naa\t5\n' >named.tsv
echo 1 >ids
run 0 "$load" -q --ids none bare -F lines - <<<aa
refused '--times needs ids, so --ids none does not fit' --times --ids none none row.tsv
refused 'bare: keeps no times, so --times does not fit' --times bare row.tsv
refused 'plain: keeps no times, so --times does not fit' --times plain row.tsv
refused 'plain: keeps no times, so --time does not fit' --fp-field 1 --time 2 plain row.tsv
refused 'plain: keeps no times, so --touch does not fit' --mode if-new --touch plain -F lines row.tsv
refused 'plain: keeps no times, so --times does not fit' --from plain --times none
refused 'plain: keeps no times, so --time does not fit' --from plain --time 2 --fp-field 1 none row.tsv
refused '--time: a new index keeps times with --times only' --fp-field 1 --time 2 none row.tsv
refused '--touch: a new index keeps times with --times only' --mode if-new --touch none row.tsv
refused '--touch: a new index keeps times with --times only' \
	--create truncate --mode if-new --touch all row.tsv
for mode in add replace delete; do
	refused '--touch goes with --mode if-new' --mode $mode --touch all -F tsv row.tsv
done
refused '--mode delete reads ids and labels, so --time does not fit' --mode delete --time 2 all row.tsv
for format in lines bin npy dump full features; do
	refused 'row.tsv: --time is for the formats tsv, csv and jsonl' --time 2 all -F $format row.tsv
done
refused 'ids: --time is for the formats tsv, csv and jsonl' --time 2 all ids
refused 'row.tsv: --time: without --header a column number is expected, from 1' \
	--fp-field 1 --time t all row.tsv
refused 'row.tsv: --fp-field or --text-field is needed too: without --header, if one column is given, all are' \
	--time 2 all row.tsv
refused 'named.tsv:1: the header names no column "when", but "fp", "t"' --header --time when all named.tsv
printf 'fp\tt\tt\naa\t5\t6\n' >twice.tsv
refused 'twice.tsv:1: the header names two columns "t"' --header --time t all twice.tsv
refused '--merge-only: options about storing documents do not fit' --merge-only --touch all
[ ! -e none ] || fail 'an index was made'
times_of all <<<"$taken"
finish

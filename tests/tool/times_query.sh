#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Times of documents as simidx-query prints them, what it takes for a date, and searches that leave out
# what is older.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# ---- what is printed ----

cat >five.tsv <<'END'
1	00000000000000a1	one	2026-01-01T00:00:00Z
2	00000000000000a2	tab\t	2106-02-07T06:28:15Z
3	00000000000000a3		1970-01-01T00:00:01Z
4	00000000000000a4	four	
5	00000000000000a5		
END
run 0 "$load" -q --times --write insert -F dump five five.tsv
run 0 "$query" dump five
same out five.tsv
run 0 "$query" dump five --format jsonl
cat >five.jsonl <<'END'
{"id":1,"label":"one","fp":"00000000000000a1","time":"2026-01-01T00:00:00Z"}
{"id":2,"label":"tab\t","fp":"00000000000000a2","time":"2106-02-07T06:28:15Z"}
{"id":3,"fp":"00000000000000a3","time":"1970-01-01T00:00:01Z"}
{"id":4,"label":"four","fp":"00000000000000a4"}
{"id":5,"fp":"00000000000000a5"}
END
same out five.jsonl
run 0 "$query" dump five --format full
sed '1d;$d' out | diff five.jsonl - || fail 'other documents in a full dump'
head -1 out | grep -qF ',"fp2":false,"times":true,"plan":' || fail 'a full dump that has no times'
run 0 "$query" get five --id 1 4 5
output <<'END'
1	1	00000000000000a1	0	one	2026-01-01T00:00:00Z
4	4	00000000000000a4	0	four	
5	5	00000000000000a5	0		
END
run 0 "$query" get five --json 00000000000000a3 00000000000000a4
output <<'END'
{"query":"00000000000000a3","fingerprint":"00000000000000a3","matches":[{"id":3,"fp":"00000000000000a3","distance":0,"time":"1970-01-01T00:00:01Z"}],"truncated":false}
{"query":"00000000000000a4","fingerprint":"00000000000000a4","matches":[{"id":4,"fp":"00000000000000a4","distance":0,"label":"four"}],"truncated":false}
END
run 0 "$query" search five --json -k 0 a1
output <<'END'
{"query":"00000000000000a1","fingerprint":"00000000000000a1","matches":[{"id":1,"fp":"00000000000000a1","distance":0,"weight":0,"label":"one","time":"2026-01-01T00:00:00Z"}],"truncated":false,"complete_to":0}
END
run 0 "$query" search five -k 0 a1
output <<<'00000000000000a1	1	00000000000000a1	0	one'
run 0 "$query" stats five
grep -qx 'times  *yes' out || fail 'stats do not tell of times'
run 0 "$query" stats five --json
grep -qF '"fp2":false,"times":true,"profile":' out || fail 'stats for programs do not tell of times'

# Without times nothing of that is printed, also where a dump has them.
run 0 "$load" -q -F dump plain five.tsv
run 0 "$query" dump plain
cut -f 1-3 five.tsv | cmp - out || fail 'a fourth column without times'
run 0 "$query" get plain --id 1
output <<<'1	1	00000000000000a1	0	one'
for command in stats 'stats --json' 'dump --format full' 'dump --format jsonl' 'get --json 00000000000000a1'; do
	# shellcheck disable=SC2086
	run 0 "$query" ${command%% *} plain ${command#"${command%% *}"}
	[ -s out ] || fail "nothing is printed by $command"
	! grep '"time\|^time' out || fail "$command tells of times"
done
# A dump is read again, and as queries; a fifth column is none of it.
run 0 "$query" search plain -k 0 -F dump five.tsv
[ "$(wc -l <out)" -eq 5 ] || fail 'a dump with times as queries'
run 1 "$load" -q -F dump none - <<<$'1\ta1\tl\t\tx'
says 'simidx-load: -:1: expected the columns id, fingerprint, label, time, found more than four columns'
run 1 "$load" -q -F dump none - <<<$'1\ta1\tl\t2026-02-29T00:00:00Z'
says 'simidx-load: -:1: time: expected seconds since 1970, or like '

# ---- what is a date ----

# cut DATE: the time that it stands for, as printed.
cut_of() {
	TZ=Asia/Kathmandu "$query" --json delete five --dry-run --older-than "$1" |
		sed -n 's/^{"older_than":"\(.*\)","old":[0-9]*}$/\1/p'
}

while read -r date want; do
	got=$(cut_of "$date")
	[ "$got" = "$want" ] || fail "$date is $got, not $want"
done <<'END'
2026-11-26 2026-11-26T00:00:00Z
2024-02-29 2024-02-29T00:00:00Z
2000-02-29 2000-02-29T00:00:00Z
1970-01-01 1970-01-01T00:00:00Z
2106-02-07 2106-02-07T00:00:00Z
0 1970-01-01T00:00:00Z
951782400 2000-02-29T00:00:00Z
1764144900 2025-11-26T08:15:00Z
4294967295 2106-02-07T06:28:15Z
2026-11-26T08:15:00Z 2026-11-26T08:15:00Z
2026-11-26t08:15:00z 2026-11-26T08:15:00Z
2026-11-26T08:15:00.9Z 2026-11-26T08:15:00Z
2026-11-26T08:15:00.123456789+00:00 2026-11-26T08:15:00Z
2026-11-26T23:59:60Z 2026-11-27T00:00:00Z
2026-11-26T00:30:00+01:00 2026-11-25T23:30:00Z
2026-12-31T23:30:00-05:45 2027-01-01T05:15:00Z
1970-01-01T00:00:00-23:59 1970-01-01T23:59:00Z
2106-02-07T07:28:15+01:00 2106-02-07T06:28:15Z
END
# Before now: the clock may tick on meanwhile, and time() may be some milliseconds behind date(1).
while read -r date seconds; do
	before=$(date +%s)
	got=$(cut_of "$date")
	after=$(date +%s)
	got=$(date -u -d "$got" +%s) || fail "$date is no time"
	if [ "$got" -lt $((before - seconds - 1)) ] || [ "$got" -gt $((after - seconds)) ]; then
		fail "$date is $got, not $seconds seconds before $before"
	fi
done <<'END'
0s 0
90s 90
15m 900
12h 43200
30d 2592000
2w 1209600
END
while read -r date; do
	run 2 "$query" search five --newer-than "$date" a1
	says "--newer-than: expected 30d, 12h, 2026-11-26, 2026-11-26T08:15:00Z or seconds since 1970, found '$date'"
	run 2 "$query" delete five --dry-run --older-than "$date"
	says "--older-than: expected 30d, 12h, 2026-11-26, 2026-11-26T08:15:00Z or seconds since 1970, found '$date'"
done <<'END'

2026-02-29
2100-02-29
2026-11-31
2026-13-01
2026-00-01
2026-01-00
2026-1-1
2026-11-26T08:15:00
2026-11-26T08:15Z
2026-11-26T24:00:00Z
2026-11-26T08:60:00Z
2026-11-26T08:15:61Z
2026-11-26T08:15:00.Z
2026-11-26T08:15:00+1:00
2026-11-26T08:15:00+01
2026-11-26T08:15:00+24:00
2026-11-26T08:15:00+01:60
30D
d
-1d
1.5d
30dd
2016-12-31T08:15:60Z
yesterday
END
while read -r date; do
	run 2 "$query" search five --newer-than "$date" a1
	says "--newer-than: '$date' is out of the range 1970-01-01T00:00:00Z to 2106-02-07T06:28:15Z (4294967295)"
	run 2 "$query" delete five --dry-run --older-than "$date"
	says "--older-than: '$date' is out of the range 1970-01-01T00:00:00Z to 2106-02-07T06:28:15Z (4294967295)"
done <<'END'
1969-12-31
2106-02-08
1970-01-01T00:00:00+00:01
2106-02-07T06:28:16Z
0000-01-01T00:00:00Z
4294967296
99999d
4000000000w
END
run 2 "$query" search plain --newer-than 30d a1
errors <<<'simidx-query: plain: keeps no times, so --newer-than does not fit; an index that simidx-load --times makes keeps them'

# ---- searches that leave out what is older ----

# Every fifth document has no time; the others have times by turns. A part is fresh.
"$helpers/linear_scan" documents 4000 9 |
	awk -F '\t' -v OFS='\t' '{ print $1, $2, $3, $1 % 5 ? 1000 + $1 * 7919 % 1000 : "" }' >all.tsv
head -3000 all.tsv | run 0 "$load" -q --times -F dump ix -
tail -1000 all.tsv | run 0 "$load" -q --write insert --merge never -F dump ix -
awk -F '\t' '$4 != "" && $4 < 1500 { print $1 }' all.tsv >old
[ "$(wc -l <old)" -gt 1000 ] || fail 'few documents are old'
cut -f 2 all.tsv | sed -n '1~20p' >queries

# newer OPTION...: search with these; what is found without --newer-than, but for old documents, is
# in ./want.
newer() {
	run 0 "$query" search ix -F lines queries "$@"
	awk -F '\t' 'NR == FNR { old[$1] = 1; next } !($2 in old)' old out >want
	[ "$(wc -l <want)" -lt "$(wc -l <out)" ] || fail "nothing that is old is found: $*"
	run 0 "$query" search ix -F lines queries --newer-than 1500 "$@"
}
for k in 0 3 8 20; do
	newer -k $k
	same out want
	run 0 "$query" search ix -F lines queries -k $k --newer-than 1970-01-01T00:25:00Z --limit 2
	awk -F '\t' 'n[$1]++ < 2' want | cmp - out || fail "not the two nearest that are newer, radius $k"
	run 0 "$query" search ix -F lines queries -k $k --newer-than 1500 --count
	awk -F '\t' 'NR == FNR { n[$1]++; next } { print $1 "\t" n[$1] + 0 }' want queries |
		cmp - out || fail "not as many that are newer, radius $k"
	run 0 "$query" search ix -F lines queries -k $k --newer-than 1500 --exists
	awk -F '\t' 'NR == FNR { n[$1] = 1; next } { print $1 "\t" n[$1] + 0 }' want queries |
		cmp - out || fail "not the same queries have newer documents, radius $k"
	run 0 "$query" search ix -F lines queries -k $k --newer-than 1500 --first
	cut -f 1 want | uniq >with
	cut -f 1 out | cmp - with || fail "not one newer document each, radius $k"
	[ -z "$(sort out | comm -23 - <(sort want))" ] || fail "not a newer document, radius $k"
done
newer -k 6 --ignore ff00ff
same out want
newer -k 64
run 0 "$query" search ix -F lines queries --newer-than 1500 --nearest 3
awk -F '\t' 'n[$1]++ < 3' want | cmp - out || fail 'not the three nearest that are newer'
# All times that are known are older than now, and those that are not stay.
awk -F '\t' '$4 == "" { print $1 }' all.tsv >unknown
run 0 "$query" search ix -k 64 --newer-than 1s 0
cut -f 2 out | sort -n | cmp - unknown || fail 'not just the documents without a time'
finish

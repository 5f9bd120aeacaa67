#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Loading in bulk: rejected rows and duplicates, told with their places; the summary.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
"$helpers/linear_scan" documents 3000 5 >good.tsv
largest=$(cut -f 1 good.tsv | sort -n | tail -1)
fp=00000000000000aa

# Bad rows of every kind in the middle of a file, ids and labels that are in use.
printf '%s\t%s\tonce\n' $((largest + 1)) $fp >labelled.tsv
{
	head -1000 good.tsv
	printf '%s\t%s\n' x $fp
	printf '%s\t%s\n' $((largest + 2)) ${fp}0
	printf '%s\t%s\tonce\n' $((largest + 3)) $fp
	head -1 good.tsv
	printf '9223372036854775808\t%s\n' $fp
	printf '%s\n' alone
	tail -n +1001 good.tsv
	sed -n 2500p good.tsv
} >bad.tsv
cat >reasons <<'END'
bad.tsv:1001	id: expected a decimal number in 0..9223372036854775807, or nothing
bad.tsv:1002	fingerprint: expected 1 to 16 hexadecimal digits, found 17
bad.tsv:1003	the label is already in use
bad.tsv:1004	id ID1 is already in use
bad.tsv:1005	id: expected a decimal number in 0..9223372036854775807, or nothing
bad.tsv:1006	expected the columns id, fingerprint, label, found one column
bad.tsv:3007	id ID2 is already in use
END
sed -i "s/ID1/$(head -1 good.tsv | cut -f 1)/; s/ID2/$(sed -n 2500p good.tsv | cut -f 1)/" reasons
cat labelled.tsv good.tsv | sort -n >stored

for mode in insert auto rebuild; do
	rm -rf ix
	[ $mode != rebuild ] || run 0 "$load" -q ix -F tsv /dev/null
	rm -f rejects summary.json
	run 1 "$load" --write $mode --rejects rejects --summary summary.json \
		ix labelled.tsv bad.tsv
	case $mode in
	insert) sums_up '3,001 documents inserted; index has 3,001; 7 rows rejected' ;;
	auto) sums_up 'index built with 3,001 documents; 7 rows rejected' ;;
	rebuild) sums_up '3,001 documents added by a rebuild; index has 3,001; 7 rows rejected' ;;
	esac
	says '(--on-duplicate first keeps the stored one, without an error; --mode replace stores this one)'
	[ "$(grep -c on-duplicate err)" -eq 1 ] || fail 'the same advice twice'
	# A builder tells of duplicates at its end, also in the order of the lines.
	{
		[ $mode = insert ] && cat reasons || {
			grep -v 'in use' reasons
			grep 'in use' reasons
		}
	} | diff - rejects || fail "rejected rows: $mode"
	"$query" dump ix | sort -n >dumped
	same stored dumped
	case $mode in
	auto) told=build ;;
	*) told=$mode ;;
	esac
	bytes=$(cat bad.tsv labelled.tsv | wc -c)
	for member in "\"write\":\"$told\"" '"rows":3008' '"stored":3001' '"rejected":7' \
		'"skipped":0' '"duplicates":3' '"exit":1' '"resumed":0' "\"bytes\":$bytes" \
		"\"index_bytes\":$(stat -c %s ix/data.mdb)" '"phases":[{"name":"read"'; do
		grep -qF -- "$member" summary.json || fail "summary: $mode: no $member"
	done
	# That it is JSON, and what is not known beforehand.
	! command -v python3 >/dev/null || python3 - <<'END' || fail "summary: $mode"
import json
s = json.load(open('summary.json'))
assert s['peak_rss'] > 1 << 20 and s['seconds'] > 0 and s['rows_per_s'] > 0, s
assert abs(sum(p['seconds'] for p in s['phases']) - s['seconds']) < 0.5, s
END
done

# --max-errors: the last commit stays; a builder changes nothing, whenever it finds out.
run 1 "$load" -q --max-errors 7 --create truncate ix labelled.tsv bad.tsv
says 'bad.tsv:'
"$query" dump ix >before
for max in 2 4 6; do
	run 2 "$load" -q --max-errors $max --create truncate ix labelled.tsv bad.tsv
	says "more than $max rows were rejected (--max-errors)"
	run 2 "$load" -q --max-errors $max new labelled.tsv bad.tsv
	says "more than $max rows were rejected (--max-errors)"
	[ ! -e new ] || fail 'an index in spite of --max-errors'
	"$query" dump ix >out
	same before out
done

# first, into a new index and into one that is there.
printf '1\t%s\ta\n2\t%s\tb\n3\t%s\tc\n' $fp $fp $fp >old.tsv
printf '1\t%s\tx\n4\t%s\tb\n5\t%s\td\n' 000000000000000{1,2,3} >new.tsv
for way in together after; do
	rm -rf ix
	if [ $way = together ]; then
		run 0 "$load" -q --on-duplicate first ix old.tsv new.tsv
	else
		run 0 "$load" -q ix old.tsv
		run 0 "$load" -q --on-duplicate first ix new.tsv
	fi
	run 0 "$query" verify ix
	run 0 "$query" dump ix
	printf '5\t0000000000000003\td\n' | cat old.tsv - | output
done

# Text files have no lines.
if [ -n "${SX_TEXT-}" ]; then
	mkdir texts
	for ((i = 0; i < 300; i++)); do echo "text number $i of three hundred" >texts/$i; done
	rm rejects
	run 1 "$load" -q --rejects rejects -r texts-ix texts/7 texts
	printf 'texts/7\tthe label is already in use\n' | diff - rejects || fail 'a text twice'
fi
# A row of a file stands on the line after the last row of the file before.
head -1 good.tsv >a.tsv
{ printf '%s\t%s\n' $((largest + 1)) ${fp}0; head -1 good.tsv; } >c.tsv
rm rejects
run 1 "$load" -q --rejects rejects --write rebuild places a.tsv c.tsv
diff - rejects <<END || fail 'the place of a row'
c.tsv:1	fingerprint: expected 1 to 16 hexadecimal digits, found 17
c.tsv:2	id $(cut -f 1 a.tsv) is already in use
END
# Ids and labels that many share, in time that does not grow with their square.
awk 'BEGIN { for (i = 1; i <= 300000; i++) printf "0\t%016x\t%s\n", i * 7919, i < 3 ? "dup" : "u" i }' >same.tsv
run 0 "$load" --on-duplicate first one-id same.tsv
sums_up 'index built with 1 document; 299,999 already there'
run 2 "$load" -q --rejects no/such/file new good.tsv
says 'simidx-load: no/such/file: cannot write'

# More rejected rows than are put in order at a time, by ids and by labels that are in use, in an
# order far from that of the ids: each one once, and piece by piece in order.
awk 'BEGIN { for (i = 0; i < 300000; i++) { k = i % 150000 * 7919 % 150000
	printf "%d\t%016x\t%s\n", k, i, i % 3 == 1 ? "l" k : "" } }' >twice.tsv
rm rejects
run 1 "$load" -q --rejects rejects new twice.tsv
awk -F '[:\t]' '{ print $2 }' rejects >lines
seq 150001 300000 >want
sort -n lines | cmp - want || fail 'not the lines that are rejected'
for piece in 1,100000 100001,150000; do
	sed -n "${piece}p" lines | sort -nc || fail "rejected rows $piece: not in order"
done
rm -rf new

# Options that would be passed over.
"$load" -q bare -F lines - <<<$fp
for options in '--merge never --write rebuild ix' '--merge never --from bare ix'; do
	run 2 "$load" $options good.tsv
	says 'simidx-load: --merge never: '
done
run 2 "$load" -0 new good.tsv
says 'simidx-load: -0 is about the lists of --files-from and about -F ids and labels'
run 2 "$load" --from bare --create truncate bare
says 'simidx-load: --from bare: is the index itself'
run 2 "$load" --from ./bare/. bare good.tsv
says 'simidx-load: --from ./bare/.: is the index itself'
run 2 "$load" --extractor words12 --from bare new
[ -z "${SX_TEXT-}" ] ||
	says 'simidx-load: bare: holds bare fingerprints, so --extractor words12 does not fit'
run 2 "$load" --fill 80 bare good.tsv
says 'simidx-load: bare: has blocks filled to 90 %, not to 80'
run 0 "$query" dump bare
printf '0\t%s\t\n' $fp | output
[ ! -e new ] || fail 'an index in spite of options that do not fit'

# The summary is opened before anything else is done, and written whatever comes.
run 0 "$load" -q --summary /dev/null new good.tsv
rm -rf new
run 2 "$load" -q --summary no/such/file new good.tsv
says 'simidx-load: no/such/file: cannot write'
[ ! -e new ] || fail 'an index in spite of the summary'
# summary_has TEXT...
summary_has() {
	for text; do
		grep -qF "$text" summary.json || fail "summary without $text"
	done
}
rm summary.json
run 2 "$load" -q --summary summary.json --from missing new
says 'simidx-load: missing: no index: No such file'
summary_has '"exit":2' '"stored":0'
rm summary.json
run 2 "$load" -q --summary summary.json --max-errors 2 new good.tsv bad.tsv
says 'simidx-load: more than 2 rows were rejected (--max-errors)'
summary_has '"exit":2' '"stored":0' '"rejected":3'
mkfifo pipe
rm summary.json
"$load" -q --write insert --summary summary.json new -F tsv pipe 2>/dev/null &
loader=$!
exec 3>pipe
awk 'BEGIN { for (i = 0; i < 150000; i++) printf "%d\t%016x\n", i, i }' >&3
until_holds new 100000
[ -e summary.json ] && [ ! -s summary.json ] || fail 'a summary during a load'
kill -TERM $loader
wait $loader
exec 3>&-
summary_has '"exit":2' '"stored":100000' '"write":"insert"'
finish

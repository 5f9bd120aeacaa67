#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Commands of simidx-query whose index is exchanged for another one between their opening it and
# their first look into it: they answer from what is there then.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
"$helpers/linear_scan" documents 300 5 >documents.tsv
head -100 documents.tsv >first.tsv
query=$helpers/moved_query

# The first two openings each see an exchange behind them, of 100 documents for 200, for 300.
cat >exchange <<EOF
[ "\$SX_OPENING" -le 2 ] || exit 0
head -\$((SX_OPENING * 100 + 100)) documents.tsv | tail -100 |
	'$load' -q --write rebuild -F tsv live -
EOF
chmod +x exchange
export SX_WHEN_OPEN='sh ./exchange'

# again CODE COMMAND...: with an index of the first 100 documents before.
again() {
	rm -rf live copy
	"$load" -q live first.tsv || fail 'the load failed'
	run "$1" "$query" "$2" live "${@:3}"
	[ ! -s err ] || { fail "told: $*"; cat err; }
}

last=$(tail -1 documents.tsv)
again 0 dump
same out documents.tsv
again 0 backup copy
SX_WHEN_OPEN='' run 0 "$query" dump copy
same out documents.tsv
again 0 stats
[ "$(sed -n 's/^documents  *//p' out)" = 300 ] || fail 'stats of an index that was replaced'
[ "$(awk '$1 == "docs" { print $3 }' out)" = 300 ] || fail 'tables that were replaced'
again 0 get --id "$(cut -f 1 <<<"$last")" "$(head -1 documents.tsv | cut -f 1)"
[ "$(wc -l <out)" -eq 2 ] || fail 'ids not found'
again 0 get "$(cut -f 2 <<<"$last")"
again 0 search -k 0 "$(cut -f 2 <<<"$last")"
again 0 search --explain -k 0 "$(cut -f 2 <<<"$last")"

rm -rf live
"$load" -q live first.tsv
run 0 "$query" verify live
says 'live: sound'
says '300 documents'
if [ -n "${SX_TEXT-}" ]; then
	echo 'the cat sat on the mat' >1
	echo 'the cat sat on a mat' >2
	echo 'We all scream for ice-cream!' >3
	cat >exchange <<-EOF
		[ "\$SX_OPENING" -gt 2 ] || '$load' -q --write rebuild live \$((SX_OPENING + 1))
	EOF
	for command in 'similar --index live 1 2' 'search live -F text 3'; do
		rm -rf live
		"$load" -q --extractor char-2 live 1 || fail 'the load failed'
		# shellcheck disable=SC2086
		run 0 "$query" -q $command
		[ ! -s err ] || { fail "told: $command"; cat err; }
	done
	[ "$(wc -l <out)" -eq 1 ] || fail 'the third text is not found'
fi
finish

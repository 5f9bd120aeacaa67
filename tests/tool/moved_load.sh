#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-load whose indexes, the one that it writes to or one that it takes over, are exchanged for
# others between its opening them and its first look into them: it uses what is there then.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
"$helpers/linear_scan" documents 400 5 >documents.tsv
head -100 documents.tsv >first.tsv
head -300 documents.tsv >three.tsv
tail -100 documents.tsv >last.tsv
moved=$helpers/moved_load

# The first two openings each see an exchange behind them, of 100 documents for 200, for 300.
cat >exchange <<EOF
[ "\$SX_OPENING" -le 2 ] || exit 0
head -\$((SX_OPENING * 100 + 100)) documents.tsv | tail -100 |
	'$load' -q --write rebuild -F tsv live -
EOF
holds() {
	run 0 "$query" verify "$1"
	run 0 "$query" dump "$1"
	same out "$2"
}
# live OPTION...: the first 100 documents.
live() {
	rm -rf live taken
	"$load" -q "$@" live first.tsv || fail 'the load failed'
}

# Into an index that is exchanged: documents that came meanwhile stay, whatever the way.
for how in '--write insert' '--write auto' '--write rebuild' '--mode replace'; do
	live
	# shellcheck disable=SC2086
	SX_WHEN_OPEN='sh ./exchange' run 0 "$moved" -q $how live last.tsv
	errors </dev/null
	holds live documents.tsv
done

# One that is taken over, at its opening and when it is taken. The new one is like what was taken.
live
SX_WHEN_OPEN='sh ./exchange' run 0 "$moved" -q --from live taken
errors </dev/null
holds taken three.tsv
live --layout rows
SX_WHEN_USED='SX_OPENING=1 sh ./exchange' run 0 "$moved" -q --from live taken last.tsv
errors </dev/null
head -200 documents.tsv | cat - last.tsv >some.tsv
holds taken some.tsv
"$query" stats taken | grep -qx 'layout  *rows' || fail 'not like what is taken over'

# How far the last load came is asked of what is there.
live
"$load" -q other last.tsv
SX_WHEN_USED="'$load' -q --write rebuild --from other live" run 0 "$moved" --resume live first.tsv
says 'live: going on after row 100 of this input'
sums_up '0 documents inserted; index has 200'
cat first.tsv last.tsv >some.tsv
holds live some.tsv

# An extractor must fit what is there.
[ -n "${SX_TEXT-}" ] || finish
echo 'the cat sat on the mat' >1
echo 'the cat sat on a mat' >2
echo 'We all scream for ice-cream!' >3
for operands in live '--from live taken'; do
	for when in OPEN USED; do
		rm -rf live taken
		"$load" -q --extractor char-2 live 1 || fail 'the load failed'
		# shellcheck disable=SC2086
		run 0 env SX_WHEN_$when="[ \${SX_OPENING:-1} -gt 1 ] ||
			'$load' -q --write rebuild live 2" "$moved" -q --extractor char-2 $operands 3
		errors </dev/null
		run 0 "$query" dump "${operands##* }"
		[ "$(wc -l <out)" -eq 3 ] || fail "not all texts: $operands, $when"
	done
done
finish

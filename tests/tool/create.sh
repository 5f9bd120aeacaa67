#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# When an index is made, with what, and what must agree with one that is there.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
printf '00000000000000aa\n' >a
printf '00000000000000bb\n' >b
printf '\t00000000000000bb\tlabel\n' >labelled.tsv

# holds INDEX FP...
holds() {
	local index=$1
	shift
	"$query" dump "$index" | cut -f 2 >held
	printf '%s\n' "$@" | cmp -s - held || { fail "$index holds other documents"; cat held; }
}

run 0 "$load" one -F lines a
run 0 "$load" one -F lines b
holds one 00000000000000aa 00000000000000bb
run 2 "$load" --create must one -F lines b
says 'simidx-load: one: exists already'
holds one 00000000000000aa 00000000000000bb
run 0 "$load" --create must two -F lines b
run 0 "$load" --create if-missing two -F lines a
holds two 00000000000000bb 00000000000000aa
run 0 "$load" --create truncate two -F lines a
holds two 00000000000000aa
run 0 "$load" --create truncate three -F lines a
holds three 00000000000000aa
# An empty directory is as good as nothing, another one is not.
mkdir empty other
touch other/file
run 0 "$load" empty -F lines a
holds empty 00000000000000aa
run 2 "$load" --create truncate other -F lines a
says 'simidx-load: other is not a simidx index: it has no data.mdb'
run 2 "$load" --create must other -F lines a
says 'simidx-load: other: exists already'
run 2 "$load" other -F lines a
says 'simidx-load: other is not a simidx index: it has no data.mdb'
[ -e other/file ] || fail 'a directory that is no index was replaced'
# Nothing that can be stored: what is there stays, and nothing is made.
run 1 "$load" --create truncate two -F lines - <<<x
holds two 00000000000000aa
says 'no document was stored, and the index that is there stays; 1 row rejected'
# Also where the first row to be stored makes the index.
for mode in replace if-new; do
	run 1 "$load" --create truncate --mode $mode two -F lines - <<<x
	holds two 00000000000000aa
done
run 1 "$load" --create truncate --mode replace two -F lines a
says 'no document was stored, and the index that is there stays; 1 row rejected'
holds two 00000000000000aa
if [ -n "${SX_TEXT-}" ]; then
	echo few words >text.txt
	for mode in replace if-new; do
		run 1 "$load" --create truncate --mode $mode --short reject two text.txt
		says 'text.txt: a text of fewer than 64 tokens (--short)'
		says 'no document was stored, and the index that is there stays; 1 row rejected'
		holds two 00000000000000aa
	done
	yes 'many words' | head -100 >long.txt
	run 1 "$load" --create truncate --mode if-new --short reject long text.txt long.txt
	sums_up '1 document inserted; index has 1; 1 row rejected'
fi
run 1 "$load" four -F lines - <<<x
[ ! -e four ] || fail 'an index of nothing'
# Nothing at all is an empty index.
run 0 "$load" five -F lines /dev/null
run 0 "$query" dump five
output </dev/null
run 1 "$query" search five 00000000000000aa
output </dev/null
errors </dev/null
run 0 "$query" verify five

# Options that contradict the index.
run 2 "$load" --bits 32 one -F lines a
says 'simidx-load: one: has fingerprints of 64 bits, not of 32'
run 2 "$load" --layout rows one -F lines a
says 'simidx-load: one: has the layout blocks, not rows'
run 2 "$load" --plan 10x26 one -F lines a
says 'simidx-load: one: has the plan 4x16, not 10x26'
run 2 "$load" --ids none one -F lines a
says 'simidx-load: one: has ids, so --ids none does not fit'
run 2 "$load" --fp2 one -F lines a
says 'simidx-load: one: has no second fingerprints, so --fp2 does not fit'
holds one 00000000000000aa 00000000000000bb
run 0 "$load" --bits 64 --layout blocks --plan 4x16 --ids auto --no-fp2 one -F lines a
run 0 "$load" --plan auto one -F lines a
# What is expected chooses the plan.
for n in 50000000:4x16 50000001:3x22; do
	run 0 "$load" --expect ${n%:*} expected -F lines a
	run 0 "$query" stats expected
	grep -q "${n#*:}" out || fail "the plan for $n"
	rm -rf expected
done
run 2 "$load" --expect 0 expected -F lines a
says "--expect: expected a number of at least 1, such as 5000, 20M or 1e7, found '0'"

# Without ids.
run 0 "$load" --ids none plain -F lines a
run 1 "$load" plain labelled.tsv
says 'simidx-load: labelled.tsv:1: '
run 1 "$load" plain -F tsv - <<<'7	00000000000000bb'
says 'simidx-load: -:1: the index holds no ids and no labels'
run 0 "$load" plain -F tsv - <<<'	00000000000000bb'
holds plain 00000000000000aa 00000000000000bb
run 2 "$query" get plain --id 0
says 'simidx-query: plain: the index holds no ids and no labels'

# With second fingerprints: rows without one do not fit, which is refused at the first.
run 0 "$load" --fp2 double -F lines /dev/null
run 2 "$load" double -F lines a
errors <<'END'
simidx-load: a:1: a bare fingerprint does not fit: double keeps a second one for each document, as indexes of texts do; name another INDEX for it
END
run 2 "$load" --no-fp2 double -F lines a
says 'simidx-load: double: has second fingerprints, so --no-fp2 does not fit'

# Above 50 million documents another plan is chosen.
for expect in 50M:4x16 50000001:3x22 1G:3x22; do
	run 0 "$load" -q --create truncate --expect ${expect%:*} expected -F lines a
	"$query" stats expected >out
	grep -qx "plan  *${expect#*:}.*" out || fail "--expect ${expect%:*}: another plan"
done

# Who may read it, whatever the umask; a rebuild keeps that, and an index that is there is not changed.
(umask 077 && "$load" -q --permissions 644 open -F lines a) || fail '--permissions'
modes() {
	stat -c %a open open/data.mdb | tr '\n' ' '
}
[ "$(modes)" = '755 644 ' ] || fail "permissions $(modes)"
run 0 "$load" -q --write rebuild open -F lines a
[ "$(modes)" = '755 644 ' ] || fail "permissions after a rebuild: $(modes)"
run 0 "$load" -q --permissions 644 open -F lines a
run 2 "$load" --permissions 640 open -F lines a
says 'simidx-load: open: its files have the permissions 644, not 640'
for mode in '' 648 1644 -600 0x600 444; do
	run 2 "$load" --permissions "$mode" closed -F lines a
	says "--permissions: expected octal digits such as 640, with read and write for the owner, found '$mode'"
done

# Where the index cannot be: told before anything is read.
for path in no/such/ix missing/ix/; do
	run 2 "$load" $path -F lines a
	says "simidx-load: $path: cannot be made, as there is no directory ${path%/ix*}"
done

# Merging: a first load leaves nothing fresh, a small addition does, unless told otherwise.
fresh() {
	"$query" stats "$1" | awk '/^fresh rows/ { print $3 }'
}
[ "$(fresh three)" = 0 ] || fail 'fresh rows after a first load'
run 0 "$load" three -F lines b
[ "$(fresh three)" = 1 ] || fail 'no fresh row after an addition'
run 0 "$load" --merge always three -F lines b
[ "$(fresh three)" = 0 ] || fail 'fresh rows after --merge always'
run 0 "$load" --merge never six -F lines b
[ "$(fresh six)" = 1 ] || fail 'no fresh row after --merge never'
# Neither does it by building the index anew, however much comes.
yes 0123456789abcdef | head -230000 >many.fps
run 0 "$load" --merge never six -F lines many.fps
sums_up '230,000 documents inserted; index has 230,001'
run 0 "$load" six -F lines many.fps
sums_up '230,000 documents added by a rebuild; index has 460,001'
run 0 "$load" --durability normal --wait 1000 six -F lines b
finish

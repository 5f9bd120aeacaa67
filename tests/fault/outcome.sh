#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The disk fails at the moment that decides whether something is stored: what can be known is said,
# and what cannot be known is called so, with the way to look.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_faults
"$helpers/linear_scan" documents 800 9 | cut -f 2 >all.lines
head -700 all.lines >first.lines
tail -100 all.lines >rest.lines
run 0 "$load" -q old first.lines -F lines

documents() {
	"$query" stats "$1" | sed -n 's/^documents *//p'
}

# The parent's sync is the last one of a load that builds.
n=$(count_calls sync "$load" -q new first.lines -F lines)
rm -r new
run 2 with_fault sync "$n" once "$load" -q new first.lines -F lines
errors <<'END'
simidx-load: new is in its place, but whether it stays there after a power cut is not known: cannot sync .: Input/output error
simidx-load: new: 'simidx-query stats new' shows 700 documents as long as it is there; 'simidx-load --resume' with the same inputs stores what is missing
END
[ "$(documents new)" = 700 ] || fail 'a first load is not in its place'
run 0 "$load" new first.lines -F lines --resume
[ "$(documents new)" = 700 ] || fail 'a load that is resumed has stored its rows twice'

# The same where an index is exchanged: the old one stays until it is known that the new one does.
cp -r old ix
n=$(count_calls sync "$load" -q --write rebuild ix rest.lines -F lines)
rm -r ix
cp -r old ix
run 2 with_fault sync "$n" once "$load" -q --write rebuild ix rest.lines -F lines
says 'simidx-load: ix is in its place, but whether it stays there after a power cut is not known: '
says "simidx-load: ix: 'simidx-query stats ix' shows 800 documents as long as it is there; "
[ "$(documents ix)" = 800 ] || fail 'a rebuilt index is not in its place'
[ "$(documents .simidx-??????)" = 700 ] || fail 'the old index is gone'
# Nor does the next writer remove it as long as it cannot know that either.
run 1 with_fault sync 1 on "$query" delete ix --label none
[ "$(documents .simidx-??????)" = 700 ] || fail 'the old index is gone before the new one stays'
run 0 "$load" ix rest.lines -F lines --resume
[ "$(documents ix)" = 800 ] || fail 'a rebuild that is resumed has stored its rows twice'
[ ! -e "$(echo .simidx-??????)" ] || fail 'the old index is still there'

# A sync before the exchange: nothing has changed.
run 2 with_fault sync "$((n - 1))" once "$load" -q --write rebuild old rest.lines -F lines
says 'simidx-load: old: nothing has changed'
[ "$(documents old)" = 700 ] || fail 'something has changed'

cp -r old iy
n=$(count_calls sync "$query" -q compact iy)
rm -r iy
cp -r old iy
run 2 with_fault sync "$n" once "$query" compact iy
says 'simidx-query: iy is in its place, but whether it stays there after a power cut is not known: '
says "simidx-query: iy: the old index is still beside it; 'simidx-query compact iy' removes it"
[ "$(documents iy)" = 700 ] || fail 'a compacted index is not in its place'
[ "$(documents .simidx-??????)" = 700 ] || fail 'the old index is gone'
run 0 "$query" -q compact iy
[ ! -e "$(echo .simidx-??????)" ] || fail 'the old index is still there'
run 2 with_fault sync "$((n - 1))" once "$query" compact iy
says 'simidx-query: iy: nothing has changed'
rm -r iy

n=$(count_calls sync "$query" backup old copy)
rm -r copy
run 2 with_fault sync "$n" once "$query" backup old copy
errors <<'END'
simidx-query: copy is in its place, but whether it stays there after a power cut is not known: cannot sync .: Input/output error
END
run 0 "$query" verify copy

# A read that fails once: a repair tries again, or makes nothing, but it does not leave anything out.
n=$(count_calls read "$query" repair old mended)
rm -r mended
made=0
for ((i = 1; i <= n; i += 1 + n / 40)); do
	with_fault read "$i" once "$query" repair old mended >out 2>err
	case $? in
	0)
		says 'mended: made, with 700 documents; lost: nothing'
		[ ! -s out ] || fail "read $i of $n: $(head -1 out)"
		made=$((made + 1))
		;;
	2) says 'Input/output error' ;;
	*) fail "read $i of $n: something is lost"; cat err ;;
	esac
	rm -rf mended
done
[ "$made" -gt 10 ] || fail "made $made times only"

# An insertion ends with two writes: that of the pages, and that of LMDB's header page. The disk goes
# away while the last one is done.
cp -r old ix2
n=$(count_calls write "$load" -q --write insert --merge never ix2 rest.lines -F lines)
pages=$((n - 1))
rm -r ix2
cp -r old ix2
run 2 with_fault write "$n" gone "$load" -q --write insert --merge never ix2 rest.lines -F lines
errors <<'END'
simidx-load: ix2: whether the last commit is stored is not known: cannot commit: Input/output error
simidx-load: ix2: 'simidx-query stats ix2' shows 800 documents if it is stored, 700 if not, as long as nobody else changes the index; 'simidx-load --resume' with the same inputs stores what is missing
END
[ "$(documents ix2)" = 800 ] || fail 'a commit is lost, though it was written'
run 0 "$load" ix2 rest.lines -F lines --resume
[ "$(documents ix2)" = 800 ] || fail 'a load that is resumed has stored its rows twice'
run 0 "$query" verify ix2

# Another process has deleted documents since the load began: those that are left are counted.
beside_deletion() {
	rm -rf ix5
	cp -r old ix5
	"$@" "$load" -q --write insert --merge never ix5 -F lines - <pipe >out 2>err &
	local loader=$!
	exec 4>pipe
	until grep -qsF "$tmp/ix5/data.mdb" /proc/[0-9]*/maps; do
		sleep 0.02
	done
	seq 0 9 | "$load" -q --mode delete -F ids ix5 -
	cat rest.lines >&4
	exec 4>&-
	wait $loader
}
mkfifo pipe
rm -f counts
beside_deletion with_fault none 0 once || fail 'beside a deletion'
n=$(awk '$1 == "write" { n = $2 } END { print n + 0 }' counts)
beside_deletion with_fault write "$n" gone && fail 'no failure'
says "simidx-load: ix5: 'simidx-query stats ix5' shows 790 documents if it is stored, 690 if not, "
[ "$(documents ix5)" = 790 ] || fail 'a commit is lost, though it was written'

# Rows that only touch what is near are no documents more.
run 0 "$load" -q --times seen -F lines - <<<$'00000000000000aa\nff00000000000000'
printf '%s\n' 00000000000000ab 0000ffff00000000 ff00000000000001 0000ffff00000000 >again.lines
touching=("$load" -q --mode if-new --touch --merge never -F lines)
cp -r seen seen2
n=$(count_calls write "${touching[@]}" seen2 again.lines)
run 2 with_fault write "$n" gone "${touching[@]}" seen again.lines
says "simidx-load: seen: 'simidx-query stats seen' shows 3 documents if it is stored, 2 if not, "
[ "$(documents seen)" = 3 ] || fail 'a commit is lost, though it was written'

# It was away before: the pages are not there, and so the commit is not.
cp -r old ix3
run 2 with_fault write "$pages" on "$load" -q --write insert --merge never ix3 rest.lines -F lines
says 'simidx-load: ix3: holds 700 documents; of this input 0 rows were committed'
[ "$(documents ix3)" = 700 ] || fail 'a commit is there that cannot be'

# A load is killed when its commit is on the disk, and before the processes that have the index open are
# told. One that is resumed sees the commit all the same.
cp -r old ix4
n=$(count_calls write "$load" -q --write insert --merge never ix4 rest.lines -F lines)
rm -r ix4
cp -r old ix4
"$query" search ix4 -F lines - <pipe >/dev/null &
reader=$!
exec 4>pipe
# While the other process still opens the index, it keeps pages from being used again, and the number of
# writes is another one. When it sleeps, it waits for its input.
until grep -q ix4/data.mdb /proc/$reader/maps && grep -q '^State:	S' /proc/$reader/status; do
	sleep 0.05
done
with_fault write "$n" end "$load" -q --write insert --merge never ix4 rest.lines -F lines 2>err
[ $? -eq 137 ] || fail 'not killed'
[ "$(documents ix4)" = 700 ] || fail 'the processes were told'
run 0 "$load" ix4 rest.lines -F lines --resume
[ "$(documents ix4)" = 800 ] || fail 'a load that is resumed has stored its rows twice'
exec 4>&-
wait $reader

# Labels of 21 MB, in rows for which one commit is enough: they end one batch early, and no other.
seq 30000 | awk '{ printf "%d\t%x\t%d\n", $1, $1, $1 }' >few.tsv
seq 30000 | awk '{ printf "%d\t%x\t%0700d\n", $1, $1, $1 }' >long.tsv
n=$(count_calls sync "$load" -q --write insert --merge never few few.tsv)
more=$(count_calls sync "$load" -q --write insert --merge never long long.tsv)
[ "$more" -gt "$n" ] && [ "$more" -le $((n + 2)) ] || fail "$n syncs with short labels, $more with long ones"
finish

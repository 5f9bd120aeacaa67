#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Loading in bulk: the same index however the documents come to it; what is rejected is told
# with its place; what is left of builders that were killed goes away.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
export TMPDIR=$tmp
"$helpers/linear_scan" documents 130000 17 >all.tsv
head -50000 all.tsv >first.tsv
tail -n +50001 all.tsv >rest.tsv
shuf --random-source=<(yes) all.tsv >shuffled.tsv

# digests INDEX: what must be equal, whatever the way: the dump, and the counts of each table;
# verify compares the digests of the tables.
digests() {
	"$query" -q verify "$1" >/dev/null || echo 'not sound'
	"$query" dump "$1" | md5sum
	"$query" stats "$1" | grep -E '^(documents|distinct in tables|labels|next id) +[0-9]'
	"$query" stats "$1" | awk '/^t01/ { rows = 1 } /^$/ { rows = 0 } rows { print $1, $3 }'
}
# same_as_whole INDEX: with nothing fresh.
same_as_whole() {
	run 0 "$load" -q --merge always "$1" -F tsv /dev/null
	digests "$1" >got 2>&1
	diff expected got || fail "$1 differs"
}

run 0 "$load" -q --write insert whole all.tsv
digests whole >expected 2>&1
run 0 "$load" -q one all.tsv
same_as_whole one
run 0 "$load" -q --memory 64M --threads 1 --tmpdir . shuffled shuffled.tsv
same_as_whole shuffled
run 0 "$load" -q stdin -F tsv - <all.tsv
same_as_whole stdin
run 0 "$load" -q pieces first.tsv
for ((i = 50001; i <= 130000; i += 20000)); do
	run 0 "$load" -q pieces -F tsv - < <(tail -n +$i all.tsv | head -20000)
done
same_as_whole pieces
run 0 "$load" -q rebuilt first.tsv
run 0 "$load" -q rebuilt -F tsv - < <(head -60000 all.tsv | tail -10000) # left fresh
run 0 "$load" --write rebuild rebuilt -F tsv - < <(tail -n +60001 all.tsv)
says 'simidx-load: rebuilt: rebuilding: needs about '
same_as_whole rebuilt
# Too much for an insertion: the first batch is inserted, the rest is built.
head -20000 all.tsv >small.tsv
tail -n +20001 all.tsv >large.tsv
run 0 "$load" -q over small.tsv
run 0 "$load" over large.tsv
says 'simidx-load: over: rebuilding: needs about '
same_as_whole over
# And where the index has more than is inserted, but not by far.
"$helpers/linear_scan" documents 101000 18 | cut -f 2 >more.fps
run 0 "$load" over -F lines more.fps
says 'simidx-load: over: rebuilding: needs about '
# Shards, in either order, into a new index and into one that is there.
run 0 "$load" -q shard1 first.tsv
run 0 "$load" -q --layout rows --plan 10x26 shard2 rest.tsv
run 0 "$load" -q --from shard1 --from shard2 merged
same_as_whole merged
run 0 "$load" -q --from shard1 --create truncate merged rest.tsv
same_as_whole merged
cp -r shard1 grown
run 0 "$load" -q --from shard2 grown
same_as_whole grown
run 1 "$load" grown --from shard1
says '50,000 of the documents that are taken over were left out, as their ids or labels are in use (--on-duplicate first does so without an error)'
run 0 "$load" -q --on-duplicate first grown --from shard1
same_as_whole grown
# How full blocks are is as in the first one, or as asked for.
run 0 "$load" -q --fill 70 full -F lines - <<<0f
run 0 "$load" -q --from full --from shard1 as_full
"$query" stats as_full | grep -qx 'fill of merges  *70 %' || fail 'the fill of what is taken over'
run 0 "$load" -q --from full --fill 80 less_full
"$query" stats less_full | grep -qx 'fill of merges  *80 %' || fail 'the fill that was asked for'
# Two shards with other ids, and a label that is in both.
run 0 "$load" -q labels1 -F tsv - <<<$'1\t01\tone\n2\t02\tboth'
run 0 "$load" -q labels2 -F tsv - <<<$'3\t03\tboth\n4\t04\tfour'
run 1 "$load" --from labels1 --from labels2 both
says '1 of the documents that are taken over was left out, as their ids or labels are in use'
run 0 "$query" dump both
cut -f 1,3 out | diff - <(printf '1\tone\n2\tboth\n4\tfour\n') || fail 'a label of two shards'
run 0 "$load" -q --on-duplicate first --from labels2 --from labels1 both2
run 0 "$query" dump both2
cut -f 1,3 out | diff - <(printf '1\tone\n3\tboth\n4\tfour\n') || fail 'the first one does not stay'
run 2 "$load" --from missing new
says 'simidx-load: missing: '
run 0 "$load" -q --bits 32 narrow -F lines - <<<01234567
run 2 "$load" grown --from narrow
says 'narrow: it has another number of bits'
[ ! -e new ] || fail 'an index of a source that is not there'

# Nothing appears before the end, and a killed load leaves only what the next one removes.
mkfifo pipe
"$load" -q killed -F tsv pipe &
loader=$!
exec 3>pipe
head -30000 all.tsv >&3
while ! ls -d .simidx-?????? >/dev/null 2>&1; do sleep 0.05; done
[ ! -e killed ] || fail 'an index before the end of the load'
# Another one beside it leaves it alone.
run 0 "$load" -q other -F lines - <<<0123456789abcdef
ls -d .simidx-?????? >/dev/null 2>&1 || fail 'the directory of a running load was removed'
kill -9 $loader
wait $loader 2>/dev/null
exec 3>&-
ls -d .simidx-?????? >/dev/null 2>&1 || fail 'nothing was left: the test tests nothing'
run 0 "$load" -q killed all.tsv
ls -d .simidx-* 2>/dev/null && fail 'rubbish'
same_as_whole killed

# A signal: nothing has changed.
"$load" signalled -F tsv pipe 2>stopped &
loader=$!
exec 3>pipe
head -30000 all.tsv >&3
while ! ls -d .simidx-?????? >/dev/null 2>&1; do sleep 0.05; done
kill -INT $loader
wait $loader
[ $? -eq 2 ] || fail 'exit code after SIGINT'
exec 3>&-
cp stopped err
errors <<'END'
simidx-load: stopped by a signal
simidx-load: signalled: nothing has changed; run the load again
END
ls -d signalled .simidx-* 2>/dev/null && fail 'something was left by SIGINT'

# An index that is replaced: who has it open sees the old one to its end.
run 0 "$load" -q replaced first.tsv
run 2 "$load" --on-duplicate last replaced first.tsv
says "--on-duplicate: expected one of reject, first, found 'last'"
run 2 "$load" --memory 63M replaced first.tsv
says 'simidx-load: --memory: expected a size of at least 64M'
run 2 "$load" -q --tmpdir missing new first.tsv
says 'missing'
[ ! -e new ] || fail 'an index in spite of the missing directory'
ls -d .simidx-* 2>/dev/null && fail 'something was left by a load that failed'

# What an index that is taken over has been read of does not stay in memory: 150 MB here. Not
# measured where a sanitizer keeps more than that.
if ! grep -qa __asan_init "$SX_BUILDDIR"/lib/.libs/libsimidx.*; then
	label=$(printf 'x%.0s' {1..1000})
	awk -v label="$label" '{ print $1 "\t" $2 "\t" $1 label }' all.tsv >labelled.tsv
	run 0 "$load" -q labelled labelled.tsv
	run 0 "$load" -q --memory 64M --summary summary --from labelled taken
	peak=$(grep -o '"peak_rss":[0-9]*' summary | cut -d : -f 2)
	[ "$peak" -lt 150000000 ] || fail "$peak bytes in memory"
	cmp <("$query" dump taken) <("$query" dump labelled) || fail 'other documents'
	rm -rf labelled taken labelled.tsv
fi
finish

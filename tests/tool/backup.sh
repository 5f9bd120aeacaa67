#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# backup of an index that is being written to: a whole snapshot.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
"$helpers/linear_scan" documents 250000 9 >documents.tsv
head -50000 documents.tsv >first.tsv
tail -n +50001 documents.tsv >rest.tsv

run 0 "$load" -q live first.tsv
run 0 "$query" backup live copy
run 0 "$query" verify copy
run 0 "$query" dump copy
same out first.tsv
run 0 "$query" search copy -k 0 "$(cut -f 2 first.tsv | head -1)"

# Only the owner can read a copy, whatever the umask and the permissions of the index.
umask 022
run 0 "$load" -q --permissions 0664 shared -F tsv - <<<$'1\t01'
run 0 "$query" backup shared private
[ "$(stat -c %a shared shared/data.mdb private private/data.mdb | paste -sd ' ')" = '775 664 700 600' ] ||
	fail "permissions of a copy: $(stat -c "%n %a" private private/*)"

# Somebody adds 200,000 documents meanwhile: a backup holds whole batches.
mkfifo pipe
"$load" -q --write insert live -F tsv - <pipe &
loader=$!
exec 3>pipe
head -100000 rest.tsv >&3
until_holds live 150000
run 0 "$query" backup live copy-0
[ "$("$query" dump copy-0 | wc -l)" -eq 150000 ] || fail 'no copy between two commits'
n=1
{ tail -n +100001 rest.tsv >&3; } &
exec 3>&-
while kill -0 $loader 2>/dev/null && [ $n -lt 20 ]; do
	run 0 "$query" backup live copy-$n
	n=$((n + 1))
done
wait $loader || fail 'the load failed'
run 0 "$query" backup live copy-$n
for ((i = 0; i <= n; i++)); do
	run 0 "$query" verify copy-$i
	"$query" dump copy-$i >copied
	lines=$(wc -l <copied)
	case $lines in
	50000 | 150000 | 250000) ;;
	*) fail "copy-$i holds $lines documents" ;;
	esac
	head -"$lines" documents.tsv | cmp -s - copied || fail "copy-$i holds other documents"
done
[ "$lines" -eq 250000 ] || fail 'the last copy is not whole'

# Never over something.
run 2 "$query" backup live copy
errors <<<'simidx-query: copy: exists already; a backup needs a new name'
run 2 "$query" backup live no/parent
says 'simidx-query: live: cannot be copied to no/parent: cannot make no/parent in the directory no: No such file'
if (ulimit -f 100) 2>/dev/null; then
	(failures=0; ulimit -f 100 && run 2 "$query" backup live too-large
		grep -qE '^simidx-query: live: .*too-large.*: File too large$' err || fail "$(cat err)"
		exit $failures) || fail 'a copy that may not grow'
	[ ! -e too-large ] || fail 'a part of a copy'
fi
mkdir empty
run 0 "$query" backup live empty
run 0 "$query" verify empty
finish

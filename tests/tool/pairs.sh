#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-query pairs and clusters: pairs worked out by hand, and those of searches.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# 1 and 3 are equal, 2 is one bit off, 5 is three bits off 2 and four off 1.
run 0 "$load" -q few -F tsv - <<'END'
1	000000000000ff01	one
2	000000000000ff00	two\t
3	000000000000ff01	a
4	ffff0000ffff0000	far
5	000000000000ff0e
END
run 0 "$query" pairs few
output <<'END'
1	1	2	one	two\t
1	2	3	two\t	a
3	2	5	two\t	
0	1	3	one	a
END
run 0 "$query" pairs -k 0 few
output <<<'0	1	3	one	a'
run 0 "$query" pairs -k 4 --group few
output <<'END'
1	000000000000ff00	000000000000ff01	2	1,3
3	000000000000ff00	000000000000ff0e	2	5
0	000000000000ff01	000000000000ff01	1,3	
4	000000000000ff01	000000000000ff0e	1,3	5
END
run 0 "$query" --json pairs -k 0 few
output <<'END'
{"id1":1,"fp1":"000000000000ff01","id2":3,"fp2":"000000000000ff01","distance":0,"label1":"one","label2":"a"}
END
run 0 "$query" --json pairs -k 0 --group few
output <<'END'
{"fp1":"000000000000ff01","fp2":"000000000000ff01","distance":0,"ids1":[1,3],"ids2":[]}
END

run 0 "$query" clusters few
output <<'END'
1	1	0	keep	one
1	2	1	drop	two\t
1	3	0	drop	a
END
run 0 "$query" clusters --link single few
output <<'END'
1	1	0	keep	one
1	2	1	drop	two\t
1	3	0	drop	a
1	5	4	drop	
END
# 5 comes first and takes 2; then 3 takes 1.
run 0 "$query" clusters --keep last few
output <<'END'
1	3	0	keep	a
1	1	0	drop	one
2	5	0	keep	
2	2	3	drop	two\t
END
run 0 "$query" clusters --keep label few
output <<'END'
1	3	0	keep	a
1	1	0	drop	one
1	2	1	drop	two\t
END
# The equal ones stay together, so there is no room for another one.
run 0 "$query" clusters --max-size 2 few
output <<'END'
1	1	0	keep	one
1	3	0	drop	a
2	2	0	keep	two\t
2	5	3	drop	
END
run 0 "$query" clusters --drop-list few
output <<'END'
2
3
END
run 0 "$query" --json clusters -k 0 few
output <<'END'
{"cluster":1,"id":1,"fp":"000000000000ff01","distance":0,"keep":true,"label":"one"}
{"cluster":1,"id":3,"fp":"000000000000ff01","distance":0,"keep":false,"label":"a"}
END

# All documents: near ones together, where the first of them stands; by label, or else by id.
run 0 "$query" clusters --order few
output <<'END'
one
two\t
a
far
5
END
run 0 "$query" clusters --order --keep last few
output <<'END'
a
one
5
two\t
far
END
run 0 "$query" clusters --order --null -k 0 few
printf '%s\0' one a "two	" far 5 | cmp - out || fail 'other labels with --null'
run 2 "$query" clusters --order --drop-list few
says 'order excludes'
run 2 "$query" clusters --null few
says 'null goes with'

[ -z "${SX_JSON-}" ] || {
	run 0 "$query" --json clusters --drop-list few
	output <<-'END'
	{"id":2}
	{"id":3}
	END
}
# Beyond radius 7 all are compared with all, which is said; below nothing is.
run 0 "$query" pairs -k 8 few
says 'radius 8: all fingerprints are compared with all'
run 0 "$query" pairs -k 7 few
[ ! -s err ] || fail 'a notice about a small index'
# More memory than the machine has is not taken.
run 0 "$query" pairs --memory 60000G -k 1 few

# Two indexes: the first id is of the first.
run 0 "$load" -q other -F tsv - <<'END'
7	000000000000ff00	seven
8	8888888888888888	eight
END
run 0 "$query" pairs few other
output <<'END'
0	2	7	two\t	seven
1	1	7	one	seven
1	3	7	a	seven
3	5	7		seven
END
run 1 "$query" pairs -k 0 other
output </dev/null
run 1 "$query" clusters other
output </dev/null

# Labels are compared with their hashes; and a command ends where one cannot be told.
seq 1 9 | sed 's/.*/&	000000000000000&	label-of-&/' >labelled.tsv
run 0 "$load" -q damaged labelled.tsv
run 0 "$query" clusters --keep label damaged
cp -r damaged sound
sed -i 's/label-of-3/label-of-0/' damaged/data.mdb
run 2 "$query" clusters --keep label damaged
says 'damaged: table labels: the label of document 3 is not the one that was stored'
run 2 "$query" clusters damaged
says 'damaged: table labels: the label of document 3'
run 2 "$query" pairs damaged
says 'damaged: table labels: the label of document 3'
# Of two indexes the message names the one that is damaged.
run 2 "$query" pairs -k 12 few damaged
says 'simidx-query: damaged: table labels: the label of document 3'
run 2 "$query" pairs -k 12 damaged few
says 'simidx-query: damaged: table labels: the label of document 3'
run 2 "$query" pairs sound damaged/
says 'simidx-query: damaged'
says ': table labels: the label of document 3'

# The longest of texts is the largest of the files that the labels name; of equal ones the first is
# kept. 1 is near to 2 and 3, 4 to 5; 6 is near to none, so nobody looks for its file.
mkdir texts
printf '%10s' x >texts/short
printf '%30s' x >"texts/lo	ng"
printf '%20s' x >texts/middle
printf '%15s' x >texts/same1
printf '%15s' x >texts/same2
run 0 "$load" -q named -F tsv - <<'END'
1	00000000000000f0	texts/short
2	00000000000000f1	texts/lo\tng
3	00000000000000f2	texts/middle
4	ffff0000ffff0000	texts/same1
5	ffff0000ffff0001	texts/same2
6	0123456789abcdef	nowhere
END
run 0 "$query" clusters --keep longest named
output <<'END'
1	2	0	keep	texts/lo\tng
1	1	1	drop	texts/short
1	3	2	drop	texts/middle
4	4	0	keep	texts/same1
4	5	1	drop	texts/same2
END
# A link is as long as what it leads to.
ln -sf "lo	ng" texts/short
truncate -s 31 texts/middle
run 0 "$query" clusters --keep longest --drop-list --threads 2 named
output <<<$'1\n2\n5'
run 0 "$query" clusters --keep longest --order named
output <<'END'
texts/middle
texts/short
texts/lo\tng
texts/same1
texts/same2
nowhere
END
# From another directory the labels name nothing, and nothing is printed.
mkdir elsewhere
(cd elsewhere && "$query" clusters --keep longest ../named >../out 2>../err)
[ $? -eq 2 ] && [ ! -s out ] || fail 'lengths of files that are not there'
grep -q 'document 1, label texts/short: No such file or directory; --keep longest needs labels' err ||
	fail "another message: $(cat err)"
rm texts/same2
run 2 "$query" clusters --keep longest named
says 'simidx-query: document 5, label texts/same2: No such file or directory; --keep longest needs'
[ ! -s out ] || fail 'output before an error'
run 2 "$query" clusters --keep longest --order named
says 'simidx-query: document 5, label texts/same2: No such file'
[ ! -s out ] || fail 'output before an error'
mkdir texts/same2
run 2 "$query" clusters --keep longest named
says 'label texts/same2: not a regular file'
rmdir texts/same2
mkfifo texts/same2
run 2 "$query" clusters --keep longest named
says 'label texts/same2: not a regular file'
rm texts/same2
echo >texts/same2
chmod a-r texts/same2
if [ ! -r texts/same2 ]; then
	run 2 "$query" clusters --keep longest named
	says 'label texts/same2: Permission denied'
fi
run 2 "$query" clusters --keep longest few
says 'simidx-query: document 2, label two\t: No such file'
printf '1\t00000000000000f0\n2\t00000000000000f1\n' | "$load" -q unnamed -F tsv - || fail 'not loaded'
run 2 "$query" clusters --keep longest unnamed
says 'simidx-query: document 1: it has no label; --keep longest needs'
printf '1\t00000000000000f0\ta\\x00b\n2\t00000000000000f1\t%s\n' "$(printf '%5000s' x)" >strange.tsv
run 0 "$load" -q strange strange.tsv
run 2 "$query" clusters --keep longest strange
says 'simidx-query: document 1: its label is no path; --keep longest needs'
printf '00000000000000f0\n00000000000000f1\n' | "$load" -q --ids none bare -F lines - || fail 'not loaded'
run 2 "$query" clusters --keep longest bare
says 'an index without ids has no labels'

# Texts that simidx-load has read are labelled by their paths.
if [ -n "${SX_TEXT-}" ]; then
	mkdir folder
	seq 1 2000 >folder/b
	seq 1 1990 >folder/a
	seq 5 2000 >folder/c
	run 0 "$load" -q -r folder.idx folder
	run 0 "$query" pairs folder.idx
	says 'texts are near if at most 7 bits differ, and at most 20 of both fingerprints together'
	run 0 "$query" pairs -k 5 folder.idx
	[ ! -s err ] || fail "a notice about a radius that was given: $(cat err)"
	run 0 "$query" clusters --keep longest folder.idx
	cut -f 4,5 out >kept
	printf 'keep\tfolder/b\ndrop\tfolder/a\ndrop\tfolder/c\n' | diff - kept ||
		fail 'not the longest file is kept'
fi

# Second fingerprints that are not compared, as those of an index without a profile, have no distance.
if [ -n "${SX_JSON-}" ]; then
	run 0 "$load" -q --fp2 double -F jsonl - <<'END'
{"id":1,"fp":"00000000000000aa","fp2":"ffffffffffffffff"}
{"id":2,"fp":"00000000000000aa","fp2":"0000000000000000"}
END
	run 0 "$query" --json pairs double
	output <<'END'
{"id1":1,"fp1":"00000000000000aa","id2":2,"fp2":"00000000000000aa","distance":0}
END
fi
# Where they are compared, and one of both is not known, the distance is null.
if [ -n "${SX_JSON-}" ] && [ -n "${SX_TEXT-}" ]; then
	for n in 1 2 3; do
		printf '{"id":%d,"text":"first%d %s"}\n' $n $n "$(seq -s ' ' 300)"
	done >long.jsonl
	run 0 "$load" -q long long.jsonl
	"$query" dump --format full long | sed '/^{"id":2,/s/"fp2":"[^"]*"/"fp2":null/' >long.full
	run 0 "$load" -q partly -F full long.full
	run 0 "$query" --json pairs partly
	[ "$(grep -c '"id[12]":2,.*"distance2":null}$' out)" -eq 2 ] || fail "second distances: $(cat out)"
	[ "$(grep -cE '"distance2":[0-9]{1,2}}$' out)" -eq 1 ] || fail "second distances: $(cat out)"
	# Equal texts have equal second fingerprints: a distance that is known.
	{ head -1 long.jsonl; sed -n '1s/"id":1/"id":9/p' long.jsonl; } >twice.jsonl
	run 0 "$load" -q twice twice.jsonl
	run 0 "$query" --json pairs twice
	grep -q '"distance":0,"distance2":0}$' out || fail "the second distance of equal texts: $(cat out)"
fi

# The pairs of many documents are those that searches find.
"$helpers/linear_scan" documents 30000 7 >many.tsv
run 0 "$load" -q --merge never many many.tsv
run 0 "$query" pairs --threads 1 many
cut -f 1-3 out | sort >pairs
# Documents that have a label are named by it; so ids are told by the line.
run 0 "$query" search --json -F dump many - <many.tsv
cp out found
cut -f 1 many.tsv >ids
paste ids found | awk '{
	line = $0
	while (match(line, /"id":[0-9]+,[^}]*"distance":[0-9]+/)) {
		one = substr(line, RSTART, RLENGTH)
		line = substr(line, RSTART + RLENGTH)
		split(one, part, /[:,]/)
		id = part[2]
		sub(/.*:/, "", one)
		if ($1 + 0 < id + 0)
			print one "\t" $1 "\t" id
	}
}' | sort >want
[ -s want ] || fail 'nothing was found'
diff pairs want >difference || { fail 'pairs are not those of searches'; head difference; }
run 0 "$query" pairs --threads 2 many
cut -f 1-3 out | sort | diff - pairs || fail 'other pairs with two threads'

# What can go is deleted: then no pairs are left, and what is gone is what was listed.
"$query" clusters --drop-list many | tee dropped | "$load" -q --mode delete -F ids many - ||
	fail 'the list was not deleted'
sort dropped >drop
[ -s drop ] || fail 'nothing is dropped'
run 1 "$query" pairs many
output </dev/null
run 1 "$query" clusters many
output </dev/null
run 0 "$query" dump many
cut -f 1 out | sort >left
[ "$(wc -l <left)" -eq $((30000 - $(wc -l <drop))) ] || fail 'not as many are left'
[ -z "$(comm -12 left drop)" ] || fail 'some have stayed'

# More lines than anybody wants: 5,000 equal documents.
seq 0 4999 | sed 's/$/	0000000000000007/' >equal.tsv
run 0 "$load" -q equal equal.tsv
seq 0 19999 | sed 's/$/	0000000000000007/' | "$load" -q equal.many -F tsv - || fail 'not loaded'
run 2 "$query" pairs equal
says 'there are 12,497,500 pairs: --group prints'
run 0 "$query" pairs --group equal
[ "$(wc -l <out)" -eq 1 ] || fail 'more than one group'
run 0 "$query" clusters --drop-list equal
[ "$(wc -l <out)" -eq 4999 ] || fail 'all but one can go'

# A signal ends the command also while it waits for a reader that does not read. Once something has
# been written, the only thread sleeps when it waits.
mkfifo blocked
for command in pairs clusters 'clusters --order'; do
	exec 3<>blocked
	options=$([ "$command" != pairs ] || echo --all)
	# shellcheck disable=SC2086 # several words
	(trap - INT; exec "$query" --threads 1 $command $options equal.many) >blocked 2>err &
	joiner=$!
	dd bs=1 count=1 <&3 2>/dev/null >first
	until grep -q '^State:	S' /proc/$joiner/status; do
		sleep 0.05
	done
	kill -INT $joiner
	for ((i = 0; i < 400; i++)); do
		[ -e /proc/$joiner ] || break
		sleep 0.05
	done
	kill -KILL $joiner 2>/dev/null
	wait $joiner
	code=$?
	exec 3>&-
	[ $code -eq 2 ] || fail "exit $code of $command, stopped while it waits for its reader"
	errors <<<'simidx-query: stopped by a signal'
done

# What is deleted while documents are put in order is missing there, and nothing else. The command waits
# with its notice of the method, as the pipe is full; then it has the snapshot of the clusters.
run 0 "$load" -q changing -F tsv - <<'END'
1	0000000000000000
2	ffffffffffffffff
3	00000000ffffffff
4	0000000000000000
5	ffffffffffffffff
6	ffffffff00000000
7	ffffffff00000000
8	ffffffff00000000
END
exec 3<>blocked
head -c 65536 /dev/zero >&3
"$query" clusters --threads 1 -k 20 --order changing 2>blocked >out &
orderer=$!
for ((i = 0; i < 100; i++)); do
	[[ $(cat /proc/$orderer/wchan) != *pipe_write* ]] || break
	sleep 0.05
done
printf '%s\n' 1 6 8 | "$load" -q --mode delete -F ids changing - || fail 'nothing is deleted beside --order'
head -c 65536 <&3 >/dev/null
wait $orderer || fail '--order beside a deletion'
exec 3>&-
output <<'END'
4
2
5
3
7
END

run 2 "$query" pairs few few other
says "pairs: one argument too many: 'other'"
run 2 "$query" clusters --link chain few
says 'chain'
run 2 "$query" clusters --max-size 1 few
says 'max-size'
finish

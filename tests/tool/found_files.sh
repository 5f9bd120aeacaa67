#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Which of the files that -r and --files-from find are read.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text

mkdir -p tree/node_modules/deep tree/src/node_modules tree/src/gen "tree/a b" .hidden
for name in node_modules/1.txt node_modules/deep/2.txt src/node_modules/3.txt src/gen/4.txt src/5.txt \
	src/6.min.txt 'a b/7.txt' 8.txt; do
	echo "The text of $name is not long, but it has its own words: ${name//[^a-z0-9]/ }." >"tree/$name"
done
(cd tree && find . -type f | sort) >all
# The same files here, for lists, whose paths count as they are listed.
cp -r tree/. .
sed 's/^\.\///' all >list
cp all dotted

# found OPTION...: the files that are read with these options, in ./found.
found() {
	rm -rf ix
	run 0 "$load" -q ix "$@"
	run 0 "$query" dump ix
	cut -f 3 out | sed 's/^\.\///; s/^tree\/*//; s/^/.\//' | sort >found
}
# without PATTERN... -- FILE...: with --exclude all files but these are found, in each way to find them.
without() {
	local excludes=() name
	while [ "$1" != -- ]; do
		excludes+=(--exclude "$1")
		shift
	done
	shift
	for name; do echo "./$name"; done | sort | comm -23 all - >expected
	for way in '-r tree' '-r tree/' '-r tree//' '-r ./tree' '--files-from list' '--files-from dotted'; do
		# shellcheck disable=SC2086
		found "${excludes[@]}" $way
		diff expected found >difference || { fail "${excludes[*]} $way"; cat difference; }
	done
}
modules='node_modules/1.txt node_modules/deep/2.txt src/node_modules/3.txt'
without 'no such name' --
# shellcheck disable=SC2086
without node_modules -- $modules
# shellcheck disable=SC2086
without node_modules/ -- $modules
without 'src/node_*' -- src/node_modules/3.txt
without '*.min.txt' gen -- src/6.min.txt src/gen/4.txt
without 'src/*.txt' -- src/5.txt src/6.min.txt src/node_modules/3.txt src/gen/4.txt
without '[78].txt' -- 'a b/7.txt' 8.txt
without 'a b' -- 'a b/7.txt'
without 'src/?.txt/' -- # a file is no directory
run 0 "$dedup" --exclude src --exclude '*.txt' --files-from list 8.txt
says 'simidx-dedup: 8 files or directories were left out by --exclude'
says 'simidx-dedup: 1 document in'
run 0 "$dedup" -r --exclude node_modules tree
says 'simidx-dedup: 2 files or directories were left out by --exclude'
says 'simidx-dedup: 5 documents in'
run 0 "$load" -r --exclude 'a b' ix2 tree
says 'simidx-load: 1 file or directory was left out by --exclude'
# A path that is not below the directory leaves out nothing, which is said; a name may be of no file here.
run 0 "$dedup" -r --exclude tree/node_modules --exclude no_such_name tree
says "simidx-dedup: --exclude 'tree/node_modules' left out nothing: paths begin below the directory that is searched"
grep -q no_such_name err && fail 'a name that is of no file is told'
says 'simidx-dedup: 8 documents in'
# The directory itself is named, and so is none of what is found.
run 0 "$dedup" -r --exclude tree tree
says 'simidx-dedup: 8 documents in'

# Sizes.
head -c 5000 /dev/zero | tr '\0' 'a ' >tree/large.txt
head -c 1024 /dev/zero | tr '\0' 'b ' >tree/just.txt
run 0 "$dedup" -r --max-bytes 1K tree
says 'simidx-dedup: 1 file of more than 1,024 bytes was left out (first: tree/large.txt)'
says 'simidx-dedup: 9 documents in'
find tree -type f >list
run 0 "$load" --files-from list --max-bytes 1023 ix3
says 'simidx-load: 2 files of more than 1,023 bytes were left out (first: tree/'
sums_up 'index built with 8 documents'
# What is named is read.
run 0 "$dedup" -r --max-bytes 1 tree/large.txt tree/8.txt
says 'simidx-dedup: 2 documents in'

for option in --exclude=x --max-bytes=1; do
	for command in "$dedup" "$load ix4"; do
		# shellcheck disable=SC2086
		run 2 $command $option tree/8.txt
		says "${option%=*} is about what -r and --files-from find"
	done
done
run 2 "$dedup" -r --max-bytes 0 tree
says '--max-bytes'
run 2 "$dedup" -r --exclude '*' tree
says 'tree: no files were found'

# A load that goes on leaves out the same.
mkdir rows
printf '%s\n' 00000000000000aa 00000000000000bb >rows/a
echo "no fingerprint" >rows/b
echo 00000000000000cc >rows/c
how='-q -r --commit 1 --write insert -F lines'
# shellcheck disable=SC2086
run 2 "$load" $how --max-errors 0 --exclude c ix5 rows
says 'more than 0 rows were rejected'
# shellcheck disable=SC2086
for other in '' '--exclude a' '--exclude c --max-bytes 1K'; do
	run 2 "$load" $how --resume $other ix5 rows
	says 'ix5: '
done
# shellcheck disable=SC2086
run 1 "$load" $how --resume --exclude c ix5 rows
"$query" stats ix5 | grep -q '^documents *2$' || fail 'a load that goes on'
finish

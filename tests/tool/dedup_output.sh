#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Where simidx-dedup --stream writes what is new: --output and --output-dir, plain and compressed.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/own
mkdir "$TMPDIR"

# 1,200 rows of 40 words; each third is the one before it.
awk "$random"' BEGIN { state = 7
		for (d = 1; d <= 1200; d++) {
			if (d % 3)
				for (text = i = ""; ++i <= 40;)
					text = text "w" int(rnd() * 9000) " "
			printf "{\"n\":%d,\"text\":\"%s\"}\n", d, text
		}
	}' >rows.jsonl
awk 'NR % 3' rows.jsonl >new.jsonl
head -600 rows.jsonl >first.jsonl

# plain FILE: what is in it, decompressed by another program. 1: there is none.
plain() {
	case $1 in
	*.gz) gzip -dc "$1" ;;
	*.zst) command -v zstd >/dev/null || return; zstd -qdc "$1" ;;
	*) cat "$1" ;;
	esac
}

# ---- --output ----

for suffix in jsonl jsonl.gz jsonl.zst; do
	if ! "$dedup" -q --stream --output "out.$suffix" --dups "dups.$suffix" rows.jsonl >out 2>err; then
		grep -q 'cannot be written compressed by' err || fail "$suffix: $(cat err)"
		continue
	fi
	same out /dev/null
	plain "out.$suffix" | cmp - new.jsonl || fail "--output out.$suffix"
	plain "dups.$suffix" | cut -f 2 | cmp - <(seq -f 'rows.jsonl:%g' 3 3 1200) || fail "--dups dups.$suffix"
	# What has contents is not replaced; with an index rows are added, and nothing is read behind half a member.
	run 2 "$dedup" --stream --output "out.$suffix" rows.jsonl
	says "out.$suffix: is not empty, and --output replaces nothing"
	rm -rf seen "out.$suffix"
	run 0 "$dedup" -q --stream --index seen --remember text --output "out.$suffix" first.jsonl
	run 0 "$dedup" -q --stream --index seen --output "out.$suffix" rows.jsonl
	plain "out.$suffix" | cmp - new.jsonl || fail "out.$suffix of two days"
	[ $suffix != jsonl ] || continue
	# Rows that are longer than a member.
	awk 'BEGIN { printf "{\"text\":\""; for (i = 0; i < 400000; i++) printf "w%d ", i; print "\"}" }' >long.jsonl
	run 0 "$dedup" -q --stream --output "long.$suffix" long.jsonl
	plain "long.$suffix" | cmp - long.jsonl || fail "long.$suffix"
	run 0 "$dedup" -q --stream --output "none.$suffix" -F jsonl - </dev/null
	plain "none.$suffix" | cmp - /dev/null || fail "none.$suffix"
	[ -s "none.$suffix" ] || fail "none.$suffix has no member"
	head -c -3 "out.$suffix" >"cut.$suffix"
	run 2 "$dedup" -q --stream --index seen --output "cut.$suffix" rows.jsonl
	says "cut.$suffix: is not whole ("
done

# Paths of texts go there, too.
mkdir texts
seq 50 >texts/a
cp texts/a texts/b
run 0 "$dedup" -q --stream --output names -r texts
same names <(echo texts/a)
run 0 "$dedup" -q --stream -0 --output names0 -r texts
same names0 <(printf 'texts/a\0')

run 2 "$dedup" --output out2 rows.jsonl
says '--output goes with --stream'
run 2 "$dedup" --stream --output '' rows.jsonl
says '--output: FILE is empty'
# A name that promises another compression, or one where there is none.
for suffix in bz2 xz zstd GZ ZST; do
	run 2 "$dedup" --stream --output "rows.$suffix" rows.jsonl
	says "--output rows.$suffix: only names that end in .gz or .zst are compressed"
	[ ! -e "rows.$suffix" ] || fail "rows.$suffix was made"
done
for option in rejects summary list-binary; do
	run 2 "$dedup" "--$option" list.gz rows.jsonl
	says "--$option list.gz: this file is not compressed, so its name may not end so"
done
for option in rejects summary; do
	run 2 "$load" "--$option" list.gz ix rows.jsonl
	says "--$option list.gz: this file is not compressed, so its name may not end so"
done
run 2 "$dedup" --stream --output rows.jsonl rows.jsonl
says 'rows.jsonl: is an input, so --output cannot write to it'
run 2 "$dedup" --stream --output both --dups both rows.jsonl
says '--dups and --output need a file each'
run 2 "$dedup" --stream --output no/such/file rows.jsonl
says 'no/such/file: cannot write: '
if [ -e /dev/full ]; then
	run 2 "$dedup" --stream --output /dev/full rows.jsonl
	says '/dev/full: cannot write: No space left on device'
fi

# ---- --output-dir ----

# Three inputs of 400 rows; of the last one nothing stays.
mkdir -p in/a/b
head -400 rows.jsonl >in/a/1.jsonl
sed -n 401,800p rows.jsonl >in/a/b/2.jsonl
sed -n 601,800p rows.jsonl >in/a/b/3.jsonl
: >in/a/b/4.jsonl
sed -n 801,1200p rows.jsonl >in/z.jsonl
[ -z "${SX_ZLIB-}" ] || gzip in/a/b/2.jsonl
[ -z "${SX_ZSTD-}" ] || ! command -v zstd >/dev/null || zstd -q --rm in/a/1.jsonl
find in -type f | sort >inputs
while read -r file; do
	plain "$file"
done <inputs >together.jsonl
run 0 "$dedup" -q --stream together.jsonl
cp out together.new
# shards DIR PREFIX: what each of them has, by the rows of one filter of all inputs. PREFIX is not in its path.
shards() {
	while read -r file; do
		plain "$file" | grep -Fxf - together.new >part
		[ -s part ] || : >part
		case $file in
		*3.jsonl | *4.jsonl) : >part ;;
		esac
		plain "$1/${file#"$2"}" | cmp - part || fail "the shard $1/${file#"$2"}"
	done <inputs
	[ "$(find "$1" -type f | wc -l)" -eq 5 ] || fail "$(find "$1" -type f | wc -l) shards in $1"
}
for how in '--threads 1' '--threads 3 --memory 64M' '--index seen2 --remember text'; do
	rm -rf o seen2
	# shellcheck disable=SC2086
	run 0 "$dedup" -q --stream $how --output-dir o -F jsonl -r in
	same out /dev/null
	shards o ''
done
rm -rf o
run 0 "$dedup" -q --stream --output-dir o/p/q -F jsonl -r in/
shards o/p/q in/
rm -rf o
run 0 "$dedup" -q --stream --output-dir o -F jsonl --files-from inputs
shards o ''
rm -rf o
(cd in && "$dedup" -q --stream --output-dir ../o -F jsonl -r .) || fail '--output-dir from another directory'
shards o in/
rm -rf o
run 0 "$dedup" -q --stream --output-dir o in/a/b/3.jsonl in/z.jsonl
ls o | cmp - <(printf '%s\n' 3.jsonl z.jsonl) || fail "shards of operands: $(ls o)"
# It may be in a directory of inputs, and is none then.
run 0 "$dedup" -q --stream --output-dir in/o -F jsonl -r in
shards in/o ''
[ ! -e in/o/in/o ] || fail 'shards are taken for inputs'
run 0 "$dedup" -q --stream --output-dir o2 -F jsonl -r in/a
[ ! -e o2/o ] || fail 'shards are taken for inputs'
rm -rf in/o o2

# Two shards that are one file would replace each other.
rm -rf o
mkdir o
: >o/z.jsonl
ln o/z.jsonl o/3.jsonl
run 2 "$dedup" --stream --output-dir o in/a/b/3.jsonl in/z.jsonl
says 'o/3.jsonl: is a link, and each file of --output-dir must be one by itself'
rm o/3.jsonl
ln -s z.jsonl o/3.jsonl
run 2 "$dedup" --stream --output-dir o in/a/b/3.jsonl in/z.jsonl
says 'o/3.jsonl: is a link'
rm -r o

# Shards behind the last row, and of no row at all.
rm -rf o
run 0 "$dedup" -q --stream --output-dir o in/z.jsonl in/a/b/4.jsonl
same o/4.jsonl /dev/null
rm -rf o
run 0 "$dedup" -q --stream --output-dir o in/a/b/4.jsonl
same o/4.jsonl /dev/null

# A file that is reached twice has one shard. A rejected input has none.
rm -rf o
ln in/z.jsonl in/zz.jsonl
run 1 "$dedup" -q --stream --output-dir o in/z.jsonl in/zz.jsonl in/z.jsonl missing.jsonl
says 'missing.jsonl: cannot open'
ls o | cmp - <(echo z.jsonl) || fail "shards of links: $(ls o)"
rm in/zz.jsonl

# The line of --header begins each.
rm -rf o
printf 'fp,id\n%s,%d\n%s,%d\n' 00000000000000ff 1 00000000000000fe 2 >1.csv
printf '"id","fp"\r\n%s,%s\r\n' 3 00000000000000ff >2.csv
printf 'fp\nffff000000000000\n' >3.csv
run 0 "$dedup" -q --stream --header --output-dir o 1.csv 2.csv 3.csv
same o/1.csv <(printf 'fp,id\n00000000000000ff,1\n')
same o/2.csv <(printf '"id","fp"\r\n')
same o/3.csv 3.csv

# What cannot be done is told before anything is read.
refused() {
	run 2 "$dedup" --stream -F jsonl --output-dir "$@"
	[ ! -e no ] || fail "something is made: $*"
}
mkdir -p two/a two/b
cp in/z.jsonl two/a/x.jsonl
cp in/z.jsonl two/b/x.jsonl
refused no two/a/x.jsonl two/b/x.jsonl
says 'two/a/x.jsonl and two/b/x.jsonl would both be no/x.jsonl: name a directory above them with -r'
refused no -r two/a/ two/b/
says 'two/a/x.jsonl and two/b/x.jsonl would both be no/x.jsonl'
refused two/a two/a/x.jsonl
says 'two/a/x.jsonl: is an input, so --output-dir cannot write to it'
refused two/a two/b/x.jsonl
says 'two/a/x.jsonl: is not empty, and --output-dir replaces nothing: --resume goes on with a run that was killed'
refused two/ -r two
says 'two/: is an input, so --output-dir cannot write to it'
ln -s two three
: >two/c.jsonl
cp two/a/x.jsonl two/a/c.jsonl
echo two/c.jsonl >list
refused three two/a/c.jsonl --files-from list
says 'three: has a file that would be written to and is an input'
rm two/c.jsonl two/a/c.jsonl three
mkdir three
: >three/x.jsonl
for path in ../two/a/x.jsonl "two/../../${PWD##*/}/two/a/x.jsonl"; do
	echo "$path" >list
	refused no --files-from list
	says "$path: leads out of the directory of --output-dir"
done
refused no --files-from <(echo two/a/x.jsonl)
says 'a list of --files-from must be a file'
refused no - <two/a/x.jsonl
says '--output-dir has a file for each input, so standard input does not go with it'
refused three --dups three/x.jsonl two/a/x.jsonl
says 'three/x.jsonl: would have the rows of two/a/x.jsonl, and another option writes to it, too'
rm three/x.jsonl
mkdir three/x.jsonl
refused three two/a/x.jsonl
says 'three/x.jsonl: is no file, so the rows of two/a/x.jsonl cannot be written to it'
run 2 "$dedup" --stream --output-dir no -r texts
says 'texts/a: would be one text, and --output-dir is for files of rows'
run 2 "$dedup" --output-dir no rows.jsonl
says '--output-dir goes with --stream'
run 2 "$dedup" --stream --output-dir no --output file rows.jsonl
says '--output and --output-dir exclude each other'
run 2 "$dedup" --stream --output-dir '' rows.jsonl
says '--output-dir: DIR is empty'
: >plain
run 2 "$dedup" --stream --output-dir plain/no rows.jsonl
says 'plain/no: cannot make the directory: Not a directory'
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-dedup on a disk that is full: of the output, of --dups, of the index, of notes, of its temporary
# files. It says so and ends, or goes on without; nothing that was told is lost, and when there is room again
# the next run goes on. On tmpfs, for which it takes root; what needs none is in output.sh.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
mkdir disk own
export TMPDIR=$tmp/own
mount -t tmpfs -o size=1m none disk 2>/dev/null || skip 'not allowed to mount a file system'
umount disk
trap 'umount -l "$tmp/disk" 2>/dev/null; rm -rf "$tmp"' EXIT

# 6,000 rows of 100 words; each fourth is the one three before it with three words replaced.
awk "$random"' BEGIN { state = 4
		for (d = 1; d <= 6000; d++) {
			text = ""
			for (i = 1; i <= 100; i++) {
				if (d % 4 || i % 40 == 0) w[d % 4, i] = "w" int(rnd() * 60000)
				else w[0, i] = w[1, i]
				text = text w[d % 4, i] " "
			}
			printf "{\"label\":\"%d\",\"text\":\"%s\"}\n", d, text
		}
	}' >rows.jsonl
run 0 "$dedup" -q --stream rows.jsonl
sort out >want
[ "$(wc -l <want)" -eq 4500 ] || fail "$(wc -l <want) rows are new"

# begin KILOBYTES: an empty disk of this size.
begin() {
	umount disk 2>/dev/null
	mount -t tmpfs -o "size=$1k" none disk
	rm -rf ix dups all
}

# filter OPTION...: new rows go to the end of $all.
filter() {
	"$dedup" -q --stream --memory 64M --index "$ix" --dups "$dups" --remember text "$@" rows.jsonl >>"$all" 2>err
}

# What is full, at which sizes of the disk.
for what in output dups index notes; do
	all=all dups=dups ix=ix remember=text
	case $what in
	output) all=disk/all sizes='8 300 1500' ;;
	dups) dups=disk/dups sizes='4 8 16' ;;
	index) ix=disk/ix remember=fingerprint sizes='8 200 400 600' ;;
	notes) ix=disk/ix sizes='1000 1600 2400' ;;
	esac
	refused=0
	for kb in $sizes; do
		begin "$kb"
		if ! filter --remember $remember; then
			refused=$((refused + 1))
			grep -q 'No space left on device' err || fail "$what, $kb kB: $(head -2 err)"
			# Once more while it is full, which perhaps finds a little room.
			filter --remember $remember || [ -s err ] || fail "$what, $kb kB: nothing is said"
		fi
		mount -o remount,size=64m disk
		filter --remember $remember || fail "$what, $kb kB: does not go on: $(head -2 err)"
		sort -u "$all" >kept
		if [ $remember = text ]; then
			cmp kept want || fail "$what, $kb kB: other rows than in one run"
		else
			comm -13 kept want | grep . && fail "$what, $kb kB: rows are lost"
			[ "$(wc -l <kept)" -lt 4700 ] || fail "$what, $kb kB: $(wc -l <kept) rows are new"
		fi
		cut -f 2 "$dups" | sed 's/.*://' | sort -u | wc -l | grep -qx 1500 ||
			[ $remember != text ] || fail "$what, $kb kB: lines of --dups are lost"
		"$query" -q verify "$ix" >/dev/null || fail "$what, $kb kB: the index is damaged"
	done
	[ $refused -gt 1 ] || fail "$what: the disk was full $refused times"
	echo "$what: $refused runs were refused"
done

# Shards: the run ends, and goes on when there is room again.
mkdir in
split -l 1500 --additional-suffix=.jsonl rows.jsonl in/
refused=0
for kb in 8 300 1500; do
	begin "$kb"
	shards() {
		"$dedup" -q --stream --memory 64M --index ix --dups dups --remember text --output-dir disk/new --resume -F jsonl \
			-r in/ 2>err
	}
	if ! shards; then
		refused=$((refused + 1))
		grep -q 'disk/new.*: No space left on device' err || fail "shards, $kb kB: $(head -2 err)"
		shards || [ -s err ] || fail "shards, $kb kB: nothing is said"
	fi
	mount -o remount,size=64m disk
	shards || fail "shards, $kb kB: does not go on: $(head -2 err)"
	# What a run has begun and not committed is moved aside by the next one.
	rm -f disk/new/*.uncommitted.*
	sort disk/new/* | cmp - want || fail "shards, $kb kB: other rows than in one run"
	[ "$(ls disk/new | wc -l)" -eq 4 ] || fail "shards, $kb kB: $(ls disk/new)"
	[ "$(cut -f 2 dups | sort | uniq -c | grep -c ' 1 in/')" -eq 1500 ] || fail "shards, $kb kB: other lines of --dups"
done
[ $refused -eq 3 ] || fail "shards: the disk was full $refused times"
rm -rf in

# Temporary files: what has no room there is compared by fingerprints, and that is told. With the index of what
# is kept there is none without room.
begin 300
run 0 env TMPDIR=disk "$dedup" --stream --memory 64M --spill 1G --index ix -F jsonl - < <(cat rows.jsonl)
says 'not all texts could be put aside, so fingerprints decided for some: cannot put a text aside in disk'
says 'No space left on device'
[ -z "$(ls -A disk)" ] || fail "left on the disk: $(ls -A disk)"
begin 100
run 2 env TMPDIR=disk "$dedup" --memory 64M rows.jsonl
says 'no room in disk for temporary files: --tmpdir names another directory'
[ -z "$(ls -A disk)" ] || fail "left on the disk: $(ls -A disk)"
umount disk
finish

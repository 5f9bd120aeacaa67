#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Disks that are full, or nearly: every command ends by itself and says so, and the index is that of a
# whole commit. On btrfs, which copies on write, on ext4 and on tmpfs; for loop devices and mounts it
# takes root. A long test only: it makes some hundred file systems.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
[ -n "${SIMIDX_LONG-}" ] || skip 'takes minutes'
mkdir disk
mount -t tmpfs -o size=1m none disk 2>/dev/null || skip 'not allowed to mount a file system'
umount disk
trap 'umount -l "$tmp/disk" 2>/dev/null; rm -rf "$tmp"' EXIT
"$helpers/linear_scan" documents 12000 7 | cut -f 2 >all.fps
head -10000 all.fps >first.fps
tail -2000 all.fps >more.fps
"$load" -q index -F lines first.fps
"$query" dump index >dump-before
cp -r index after
"$load" -q --write insert after -F lines more.fps
"$query" dump after >dump-after

mount_new() {
	umount disk 2>/dev/null
	case $1 in
	tmpfs) mount -t tmpfs -o size=12m none disk ;;
	ext4) rm -f image && truncate -s 16M image && mkfs.ext4 -q image && mount -o loop image disk ;;
	btrfs)
		rm -f image && truncate -s 120M image &&
			mkfs.btrfs -q image >/dev/null 2>&1 && mount -o loop image disk
		;;
	esac
}

# leave KILOBYTES: about so much is free then.
leave() {
	truncate -s "$1K" disk/spare && { [ "$1" -eq 0 ] || dd if=/dev/urandom of=disk/spare bs=1K count="$1" 2>/dev/null; }
	dd if=/dev/zero of=disk/ballast bs=64K 2>/dev/null
	dd if=/dev/zero of=disk/ballast-2 bs=512 2>/dev/null
	sync -f disk/ballast
	rm -f disk/spare
	sync -f disk/ballast
}

signals=0 runs=0 refused=0
# attempt COMMAND...: any exit status is right but that of a signal; 2 says something.
attempt() {
	"$@" >out 2>err
	code=$?
	runs=$((runs + 1))
	[ $code -lt 2 ] || refused=$((refused + 1))
	[ $code -lt 128 ] || { signals=$((signals + 1)); fail "$fs, $kb kB, $way: exit $code: $*"; }
	[ $code -ne 2 ] || [ -s err ] || fail "$fs, $kb kB, $way: nothing is said: $*"
	! grep -q 'Input/output error' err || fail "$fs, $kb kB, $way: no word of space: $(cat err)"
}

check() {
	rm -f disk/ballast disk/ballast-2
	sync -f disk
	"$query" verify disk/index >out 2>err || { fail "$fs, $kb kB, $way: not sound"; cat err; }
	"$query" dump disk/index >dumped
	cmp -s dumped dump-before || cmp -s dumped dump-after ||
		fail "$fs, $kb kB, $way: not the content of a commit"
	ls -d disk/.simidx-* 2>/dev/null && fail "$fs, $kb kB, $way: something was left"
}

for fs in btrfs ext4 tmpfs; do
	signals=0 runs=0 refused=0
	if ! mount_new "$fs" 2>/dev/null; then
		echo "skipped: no $fs can be made here"
		continue
	fi
	for kb in 0 4 8 16 32 64 100 128 200 256 400 512 700 1000 1400 2000 3000 5000; do
		# The index is one that was copied here with its lock file, without it, or made here.
		for way in copied without made; do
			mount_new "$fs" || fail "cannot mount $fs"
			case $way in
			copied) cp -r index disk/index ;;
			without) cp -r index disk/index && rm disk/index/lock.mdb ;;
			made) "$load" -q disk/index -F lines first.fps ;;
			esac
			leave $kb
			attempt "$query" search disk/index 1234
			attempt "$query" get disk/index 1234
			attempt "$query" verify disk/index
			attempt "$query" stats disk/index
			attempt "$query" backup disk/index disk/copy
			rm -rf disk/copy
			attempt "$query" compact disk/index disk/copy --tmpdir .
			rm -rf disk/copy
			attempt "$query" compact disk/index
			attempt "$load" -q --write rebuild disk/index -F lines more.fps
			check
			mount_new "$fs"
			if [ $way = made ]; then
				"$load" -q disk/index -F lines first.fps
			else
				cp -r index disk/index
				[ $way = copied ] || rm disk/index/lock.mdb
			fi
			leave $kb
			attempt "$load" -q --write insert --merge always disk/index -F lines more.fps
			check
		done
	done
	echo "$fs: $runs runs, $refused refused, $signals signals"
	[ $refused -gt 0 ] || fail "$fs was never full"
done
umount disk 2>/dev/null
finish

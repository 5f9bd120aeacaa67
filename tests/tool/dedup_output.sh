#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Where simidx-dedup --stream writes what is new: --output, plain and compressed.
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
finish

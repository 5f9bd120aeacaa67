#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The counts that --summary of simidx-load has: each of them where it is not 0, and beside the others.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json

# bytes INDEX: the size of its file.
bytes() {
	stat -c %s "$1/data.mdb"
}

# ---- files: one is no text, two are not UTF-8, one has no word, one has few ----

mkdir tree
printf 'a\0b' >tree/1
printf 'one two three four five \xff six seven' >tree/2
printf 'other words that are no \xfe UTF-8 words' >tree/3
printf ', .\n' >tree/4
printf 'only three words' >tree/5
printf 'these are enough words for a text that is not short' >tree/6
run 0 "$load" -r --min-tokens 4 --summary summary texts tree
is=(exit:0 'write:"build"' 'mode:"add"' rows:6 texts:5 stored:5 documents:5 skipped:1 rejected:0 resumed:0)
summary_has "${is[@]}" not_utf8:2 empty_texts:1 short_texts:1 future:0 \
	bytes:$(cat tree/? | wc -c) index_bytes:"$(bytes texts)"
# A file that was named is a file that is told.
run 1 "$load" --summary summary named tree/1 tree/6
says 'tree/1: skipped: contains a NUL byte, so it is no text'
summary_has exit:1 rows:2 texts:1 stored:1 documents:1 skipped:1 not_utf8:0

# ---- rows that are there, near, seen again, gone ----

printf '%s\n' '1	00000000000000ff	a	2026-01-01T00:00:00Z' '2	0000ffff00000000	b	2026-01-02T00:00:00Z' \
	'3	ffff000000000000	c	2100-01-01T00:00:00Z' >rows.tsv
run 0 "$load" --write insert --times --summary summary -F dump timed rows.tsv
summary_has 'write:"insert"' rows:3 texts:0 stored:3 documents:3 future:1 bytes:"$(stat -c %s rows.tsv)" \
	index_bytes:"$(bytes timed)" empty_texts:0 short_texts:0
# One is there, one is new, and one is not to be had.
printf '%s\n' '2	0000ffff00000000	b	' '9	00ff00ff00ff00ff	d	' '10	x	e	' >more.tsv
run 1 "$load" --write insert --on-duplicate first --summary summary -F dump timed more.tsv
summary_has exit:1 rows:3 stored:1 documents:4 duplicates:1 rejected:1 near:0 touched:0
# Two are near to what is there; one of them is later.
printf '%s\n' '	00000000000000fe	near	2026-01-05T00:00:00Z' '	0000fffe00000000	older	2025-01-01T00:00:00Z' \
	'	0f0f0f0f0f0f0f0f	new	2026-01-05T00:00:00Z' >near.tsv
run 0 "$load" --mode if-new --touch --radius 1 --summary summary -F dump timed near.tsv
summary_has 'mode:"if-new"' rows:3 stored:1 documents:5 near:2 touched:1 duplicates:0 missing:0
printf '%s\n' 1 2 77 88 >ids
run 1 "$load" --mode delete --summary summary -F ids timed ids
summary_has exit:1 'mode:"delete"' rows:4 stored:2 documents:3 missing:2 undecided:0
finish

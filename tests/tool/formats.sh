#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Every format, by option and by name, with every freedom that it has.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# lines: 0x, capitals, a carriage return, no newline at the end, standard input.
printf '0123456789abcdef\n0x00000000000000AB\r\n0X00000000000000ff' >fps
run 0 "$load" -F lines a fps
sums_up 'index built with 3 documents'
run 0 "$load" -F lines a - <<<'1111111111111111'
run 0 "$query" dump a
output <<'END'
0	0123456789abcdef	
1	00000000000000ab	
2	00000000000000ff	
3	1111111111111111	
END

# tsv: by name and by option; ids given, assigned and going on; escapes; two or three columns.
printf '%s\n' '10	00000000000000aa	ten' '	00000000000000bb	\t\n\r\\\xff\x00z' \
	'5	00000000000000cc' '	00000000000000dd	' >some.tsv
run 0 "$load" b some.tsv
run 0 "$load" -q -F tsv b - <<<'9223372036854775807	00000000000000ee	last'
errors </dev/null
run 0 "$query" dump b
output <<'END'
5	00000000000000cc	
10	00000000000000aa	ten
11	00000000000000bb	\t\n\r\\\xff\x00z
12	00000000000000dd	
9223372036854775807	00000000000000ee	last
END
run 0 "$query" search b -k 0 -F tsv - <<'END'
77	00000000000000aa	the label
78	00000000000000aa
	00000000000000aa
END
output <<'END'
the label	10	00000000000000aa	0	ten
78	10	00000000000000aa	0	ten
00000000000000aa	10	00000000000000aa	0	ten
END

# get, by all three; never guessed.
run 0 "$query" get b 00000000000000aa 0x00000000000000CC
output <<'END'
00000000000000aa	10	00000000000000aa	0	ten
00000000000000cc	5	00000000000000cc	0	
END
run 1 "$query" get b --id 10 7
output <<<'10	10	00000000000000aa	0	ten'
errors <<<'simidx-query: 7: not found; dump lists all ids'
run 1 "$query" get b --label ten 10
output <<<'ten	10	00000000000000aa	0	ten'
run 2 "$query" get b --id ten 10 7
says 'simidx-query: ten: expected an id, a decimal number'
says 'simidx-query: 7: not found'
output <<<'10	10	00000000000000aa	0	ten'
run 2 "$query" get b ten
says "simidx-query: ten: fingerprint: expected 1 to 16 hexadecimal digits, found 't' in place of digit 1"

# Fingerprints of other widths.
printf '7\t1ffff\tx\n8\t3ffff\n9\t01ffff\n' >narrow.tsv
run 1 "$load" --bits 17 c narrow.tsv
errors <<END
simidx-load: narrow.tsv:2: fingerprint: wider than 17 bits
simidx-load: narrow.tsv:3: fingerprint: expected 1 to 5 hexadecimal digits, found 6
$(tail -1 err)
END
run 0 "$query" search c 1fffe
output <<<'1fffe	7	1ffff	1	x'
run 1 "$query" search c 00000
output </dev/null
errors </dev/null

# Hexadecimal digits without zeros in front, as printf %x and hex() write them.
printf '%s\n' 0 0x1 fff '0XAbcdef' 123456789abcdef >unpadded
cat >padded <<'END'
0	0000000000000000	
1	0000000000000001	
2	0000000000000fff	
3	0000000000abcdef	
4	0123456789abcdef	
END
run 0 "$load" -q -F lines unpadded-lines unpadded
nl -v 0 -w 1 -s '	' unpadded >unpadded.tsv
tr '\t' , <unpadded.tsv >unpadded.csv
run 0 "$load" -q unpadded-tsv unpadded.tsv
run 0 "$load" -q unpadded-csv unpadded.csv
for index in unpadded-lines unpadded-tsv unpadded-csv; do
	run 0 "$query" dump $index
	same out padded
done
run 0 "$query" search unpadded-tsv -k 0 fff 0xabcdef
output <<'END'
0000000000000fff	2	0000000000000fff	0	
0000000000abcdef	3	0000000000abcdef	0	
END
run 0 "$query" get unpadded-tsv 1
output <<<'0000000000000001	1	0000000000000001	0	'

[ -n "${SX_JSON-}" ] || finish
cat >some.jsonl <<'END'
{"id": 3, "fp": "00000000000000aa", "label": "three"}
{"id": "four", "fp": "0x00000000000000BB", "other": [1, {"x": null}]}
{"label_hex": "ff0041", "fp": "00000000000000cc"}
{"fp": "00000000000000dd"}
{"id": 100, "features": [["word", 1], ["Wort", 0.5]]}
{"id": 101, "features": [["Wort", 0.5], ["word", 1]]}
{"id": 102, "features": [["word", 1]]}
END
run 0 "$load" -q -F jsonl unpadded-jsonl - <<<$'{"fp": "0"}\n{"fp": "0x1"}\n{"fp": "fff"}'
run 0 "$query" dump unpadded-jsonl
head -3 padded | cmp - out || fail 'hexadecimal digits of JSON without zeros in front'
run 0 "$load" d some.jsonl
cp some.jsonl some.ndjson
run 0 "$load" -q nd some.ndjson
run 0 "$query" dump d
cp out expected
run 0 "$query" dump nd
same out expected
run 0 "$load" --create must e -F jsonl - <some.jsonl
"$query" dump e >from-stdin
run 0 "$query" dump d
same out from-stdin
head -4 out >head
diff head - <<'END' || fail 'jsonl'
3	00000000000000aa	three
4	00000000000000bb	four
5	00000000000000cc	\xff\x00A
6	00000000000000dd	
END
# The heavier word alone decides, whatever the order.
[ "$(sed -n '5,7p' out | cut -f 2 | sort -u | wc -l)" -eq 1 ] || fail 'features'
run 0 "$query" --json search d -k 0 -F jsonl - <<'END'
{"id": "q1", "fp": "00000000000000aa"}
{"id": 12, "fp": "1111111111111111"}
{"label_hex": "fe", "fp": "00000000000000cc"}
END
output <<'END'
{"query":"q1","fingerprint":"00000000000000aa","matches":[{"id":3,"fp":"00000000000000aa","distance":0,"weight":0,"label":"three"}],"truncated":false,"complete_to":0}
{"query":"12","fingerprint":"1111111111111111","matches":[],"truncated":false,"complete_to":0}
{"query_hex":"fe","fingerprint":"00000000000000cc","matches":[{"id":5,"fp":"00000000000000cc","distance":0,"weight":0,"label_hex":"ff0041"}],"truncated":false,"complete_to":0}
END
run 0 "$query" --json stats d
[ "$(wc -l <out)" -eq 1 ] || fail 'stats --json is not one line'
grep -q '"documents":7,' out || fail 'stats --json counts'
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Which columns or members are read, by name and by number, and how fingerprints are written.
# All known values were computed by hand or are checked against other programs.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# dump_of INDEX: what it holds must be standard input.
dump_of() {
	run 0 "$query" dump "$1"
	output
}

# A header: names in any order, other columns, an id that is empty, a label that is missing.
printf '%s\n' 'name	size	fp	id	label' 'x	1	00000000000000aa	7	sev\ten' \
	'y		00000000000000bb		' 'z	3	00000000000000cc	3' >header.tsv
run 0 "$load" -q --header a header.tsv
dump_of a <<'END'
3	00000000000000cc	
7	00000000000000aa	sev\ten
8	00000000000000bb	
END
run 0 "$load" -q --header --id-field size --label-field name b header.tsv
dump_of b <<'END'
1	00000000000000aa	x
2	00000000000000bb	y
3	00000000000000cc	z
END
# Quoted names, a byte order mark, a carriage return; only a fingerprint.
printf '\xef\xbb\xbf"the ""hash""",other\r\n00000000000000aa,1\r\n' >header.csv
run 0 "$load" -q --header --fp-field 'the "hash"' c header.csv
dump_of c <<<'0	00000000000000aa	'
# Columns that may be the label, and nobody said so: told once a file, with what would keep one.
printf 'doc,hash\nk1,00000000000000aa\nk2,00000000000000bb\n' >keys.csv
run 0 "$load" --header --fp-field hash keys keys.csv
says 'simidx-load: keys.csv: of the columns "doc", "hash" none is label, id or time: --label-field NAME makes one the label'
for columns in '--label-field doc' '--id-field doc'; do
	# shellcheck disable=SC2086
	"$load" --header --fp-field hash $columns keys-2 keys.csv 2>err
	! grep -q 'none is label' err || fail "told with $columns"
done
printf 'hash\n00000000000000aa\n' >one.csv
run 0 "$load" --header --fp-field hash keys-3 one.csv
! grep -q 'none is label' err || fail 'told of no other column'
run 1 "$load" -q --header --fp-field hash --id-field doc keys-4 keys.csv
says 'keys.csv:2: id: expected a decimal number in 0..9223372036854775807, or nothing; --label-field takes any text as the key'
printf 'id,fp\ndoc-1,00000000000000aa\n' >words.csv
run 1 "$load" -q --header keys-5 words.csv
says 'words.csv:2: id: expected a decimal number in 0..9223372036854775807, or nothing; --label-field takes any text as the key'
# A header alone, or not even that, is an input without rows.
printf 'fp\n' >none.csv
run 0 "$load" -q --header d none.csv
: >empty.csv
run 0 "$load" -q --header d empty.csv
dump_of d </dev/null

# A header that lacks what is needed ends the load.
run 2 "$load" e --header --fp-field hash header.tsv
says 'simidx-load: header.tsv:1: the header names no column "hash", but "name", "size", "fp", "id", "label"'
run 2 "$load" e --header --id-field ID header.tsv
says 'the header names no column "ID"'
run 2 "$load" e --header --label-field Label header.tsv
says 'the header names no column "Label"'
run 2 "$load" e --header -F tsv - <<<'id	fingerprint'
says 'the header names no column "fp", but "id", "fingerprint"; --fp-field or --text-field tells which it is'
run 2 "$load" e --header -F csv - <<<"a,$(seq -s , 1000 2000)"
says 'the header names no column "fp", but "a", "1000", "1001",'
says ', ...; --fp-field or --text-field tells which it is'
run 2 "$load" e --header -F csv - <<<'id,fp,fp'
says 'the header names two columns "fp"'
run 2 "$load" e --header -F csv - <<<'id,"fp'
says 'simidx-load: -:1: a quoted field that does not end'

# The first line names the columns, and nobody said so.
printf 'url,simhash\nx,00000000000000aa\n' >named.csv
run 1 "$load" -q named named.csv
errors <<'END'
simidx-load: named.csv:1: id: expected a decimal number in 0..9223372036854775807, or nothing; line 1 looks like a header: --header
simidx-load: named.csv:2: id: expected a decimal number in 0..9223372036854775807, or nothing
END
printf 'name\tid\tfp\tlabel\nx\t1\t00000000000000aa\tone\n' >named.tsv
run 1 "$load" -q named named.tsv
says 'found more than three columns; line 1 looks like a header: --header'
run 1 "$load" -q by-number --fp-field 3 --label-field 1 named.tsv
errors <<'END'
simidx-load: named.tsv:1: fingerprint: expected 1 to 16 hexadecimal digits, found 'p' in place of digit 2; line 1 looks like a header: --header
END
printf 'fp\n00000000000000aa\n' >named.csv
run 1 "$load" -q named named.csv
says 'found one column; line 1 looks like a header: --header'
run 1 "$load" -q named -F csv - <<<ffff
says 'found one column; for fingerprints alone: --fp-field 1'
# A word before a fingerprint is a label, and no name of a column.
run 1 "$load" -q named -F csv - <<<k1,ff
errors <<'END'
simidx-load: -:1: id: expected a decimal number in 0..9223372036854775807, or nothing; if it is a label: --label-field 1 --fp-field 2
END
run 0 "$load" -q taken -F csv --label-field 1 --fp-field 2 - <<<k1,ff
dump_of taken <<<'0	00000000000000ff	k1'
# A bad row is no header because it comes first.
for row in x1,00000000000000aa 1x,fingerprint 1,00000000000000aa,x,y; do
	run 1 "$load" -q named -F csv - <<<"$row"
	grep -q header err && fail "a header: $row"
done

# By number.
printf '%s\n' 'x	1	00000000000000aa	7' 'y	2	00000000000000bb	' 'z	3' >number.tsv
run 1 "$load" f --fp-field 3 --label-field 1 number.tsv
says 'simidx-load: number.tsv:3: expected 3 columns or more, found 2'
dump_of f <<'END'
0	00000000000000aa	x
1	00000000000000bb	y
END
run 1 "$load" -q g --fp-field 3 --id-field 2 --label-field 4 number.tsv
dump_of g <<'END'
1	00000000000000aa	7
2	00000000000000bb	
END
for value in 0 x -1 1000001 ''; do
	run 2 "$load" e --fp-field "$value" number.tsv
	says 'simidx-load: number.tsv: --fp-field: without --header a column number is expected'
done
run 2 "$load" e --label-field 1 number.tsv
says '--fp-field or --text-field is needed too'

# The second of two would silently take the place of the first.
run 2 "$load" e --header --text-field a --text-field b named.csv
says '--text-field is given twice; several names go with commas: --text-field a,b'
# No option is passed over where it has no meaning.
: >some.npy
for format in lines jsonl bin npy dump; do
	[ "$format" != jsonl ] || [ -n "${SX_JSON-}" ] || continue
	run 2 "$load" e --header -F $format number.tsv
	says '--header is for the formats tsv and csv'
done
for format in lines bin npy dump; do
	run 2 "$load" e --id-field 1 -F $format number.tsv
	says '--id-field, --fp-field and --label-field are for the formats tsv, csv and jsonl'
done
for format in bin npy dump; do
	run 2 "$load" e --fp-encoding dec -F $format number.tsv
	says '--fp-encoding is for the formats lines, tsv, csv and jsonl'
done
run 2 "$load" e --fp-encoding dec number.tsv some.npy
says 'simidx-load: some.npy: --fp-encoding is for'
run 2 "$query" search a --header 00000000000000aa
says '--header is for'
[ ! -e e ] || fail 'an index was made'

# Encodings. 2^64-1, 2^63 and the like by hand.
lines_as() {
	rm -rf enc
	run "$1" "$load" "${@:2}" -F lines enc -
}
lines_as 0 --fp-encoding dec <<<$'0\n18446744073709551615\n9223372036854775808\n0010'
dump_of enc <<'END'
0	0000000000000000	
1	ffffffffffffffff	
2	8000000000000000	
3	000000000000000a	
END
run 0 "$query" search enc -k 0 --fp-encoding dec 18446744073709551615
output <<<'ffffffffffffffff	1	ffffffffffffffff	0	'
run 0 "$query" search enc -k 0 --fp-encoding dec - <<<10
output <<<'000000000000000a	3	000000000000000a	0	'
lines_as 0 --fp-encoding sdec <<<$'-1\n-9223372036854775808\n9223372036854775807\n-0\n-2'
dump_of enc <<'END'
0	ffffffffffffffff	
1	8000000000000000	
2	7fffffffffffffff	
3	0000000000000000	
4	fffffffffffffffe	
END
lines_as 0 --fp-encoding sdec --bits 17 <<<$'-1\n-65536\n65535'
dump_of enc <<'END'
0	1ffff	
1	10000	
2	0ffff	
END
lines_as 0 --fp-encoding base64 <<<$'AAAAAAAAAAA=\n//////////8=\nASNFZ4mrze8=\n+/+/AAAAAAA='
dump_of enc <<'END'
0	0000000000000000	
1	ffffffffffffffff	
2	0123456789abcdef	
3	fbffbf0000000000	
END
lines_as 0 --fp-encoding base64 --bits 17 <<<$'AAAB\nAf//'
dump_of enc <<'END'
0	00001	
1	1ffff	
END

# What is nearly right. Of each list the first is right.
lines_as 1 --rejects bad --fp-encoding dec <<<$'1\n\n-1\n+1\n 1\n18446744073709551616\n99999999999999999999\n0x1\n1.0\n1e3'
sums_up 'index built with 1 document; 9 rows rejected'
says 'simidx-load: -:2: fingerprint: expected a decimal number in 0..18446744073709551615'
[ "$(grep -c 'fingerprint: expected a decimal number in 0..18446744073709551615' bad)" -eq 9 ] ||
	fail "$(cat bad)"
lines_as 1 --fp-encoding dec --bits 17 <<<$'131071\n131072'
sums_up 'index built with 1 document; 1 row rejected'
says '-:2: fingerprint: expected a decimal number in 0..131071'
lines_as 1 --fp-encoding sdec <<<$'1\n-\n--1\n9223372036854775808\n-9223372036854775809\n- 1\n'
sums_up 'index built with 1 document; 6 rows rejected'
says 'expected a decimal number in -9223372036854775808..9223372036854775807'
lines_as 1 --fp-encoding base64 <<<$'AAAAAAAAAAA=\nAAAAAAAAAAA\nAAAAAAAAAAAA\nAAAAAAAAAAB=\nAAAA-AAA_AA=\nAAAAAAAAAA==\n\nAAAA AAAAAA='
sums_up 'index built with 1 document; 7 rows rejected'
says '-:2: fingerprint: expected base64 of 8 bytes: 12 characters, padding included'
lines_as 1 --fp-encoding base64 --bits 17 <<<$'AAAA\nAgAA'
says '-:2: fingerprint: wider than 17 bits'

# Against another program, for values without any pattern.
if command -v python3 >/dev/null; then
	python3 - <<'END' || fail 'python3'
import base64, random
random.seed(4)
values = [random.getrandbits(64) for i in range(2000)]
def put(name, text):
    with open(name, "w") as file:
        for i, value in enumerate(values):
            file.write("%d\t%s\n" % (i, text(value)))
put("hex.tsv", lambda v: "%016x" % v)
put("dec.tsv", lambda v: "%d" % v)
put("sdec.tsv", lambda v: "%d" % (v - (v >> 63 << 64)))
put("base64.tsv", lambda v: base64.b64encode(v.to_bytes(8, "big")).decode())
END
	sed 's/$/\t/' hex.tsv >expected
	for encoding in hex dec sdec base64; do
		run 0 "$load" -q --fp-encoding $encoding all-$encoding $encoding.tsv
		dump_of all-$encoding <expected
		tr '\t' , <$encoding.tsv >$encoding.csv
		run 0 "$load" -q --fp-encoding $encoding csv-$encoding $encoding.csv
		dump_of csv-$encoding <expected
	done
fi

[ -n "${SX_JSON-}" ] || finish
cat >members.jsonl <<'END'
{"doc": 5, "hash": "00000000000000aa", "url": "five", "fp": 1, "id": {}, "label": [], "text": "x", "features": 0, "label_hex": 7}
{"doc": "name", "hash": "00000000000000bb"}
{"doc": "name", "url": "both", "hash": "00000000000000bb"}
{"doc": 6, "fp": "00000000000000bb"}
{"doc": 7, "hash": 187}
END
run 1 "$load" -q h --id-field doc --fp-field hash --label-field url members.jsonl
errors <<'END'
simidx-load: members.jsonl:3: more than one label: a string "doc", "url" and "label_hex" exclude each other
simidx-load: members.jsonl:4: expected a member "hash"
simidx-load: members.jsonl:5: "hash": expected a string of 1 to 16 hexadecimal digits; of whole numbers: --fp-encoding dec
END
dump_of h <<'END'
5	00000000000000aa	five
6	00000000000000bb	name
END

# A string "id" is no label where --label-field names another member, and it is where that is "id".
printf '{"id":"%s","url":"/%s","fp":"%s"}\n' a x 0a b y 0b >both.jsonl
run 0 "$load" -q by.url --label-field url both.jsonl
dump_of by.url <<'END'
0	000000000000000a	/x
1	000000000000000b	/y
END
run 0 "$load" -q by.id --label-field id both.jsonl
dump_of by.id <<'END'
0	000000000000000a	a
1	000000000000000b	b
END
# Nor is a number that can be no id an id there; another one is.
printf '{"id":%s,"url":"/%s","fp":"%s"}\n' -2 x 0a 9.5 y 0b 7 z 0c >numbers.jsonl
run 0 "$load" -q by.url2 --label-field url numbers.jsonl
dump_of by.url2 <<'END'
0	000000000000000a	/x
1	000000000000000b	/y
7	000000000000000c	/z
END

# Numbers or strings; jansson's own numbers end at 2^63-1.
cat >dec.jsonl <<'END'
{"fp": 18446744073709551615, "label": "a \"18446744073709551615, b"}
{"fp": "18446744073709551615"}
{"other": [9223372036854775808, "\\"], "fp": 9223372036854775808}
{"fp": 10}
END
run 0 "$load" -q --fp-encoding dec i dec.jsonl
dump_of i <<'END'
0	ffffffffffffffff	a "18446744073709551615, b
1	ffffffffffffffff	
2	8000000000000000	
3	000000000000000a	
END
cat >bad.jsonl <<'END'
{"fp": 18446744073709551616}
{"fp": -1}
{"fp": 1.0}
{"fp": 18446744073709551615.0}
{"fp": -18446744073709551615}
{"fp": ["10"]}
{"id": 18446744073709551615, "fp": 1}
{"fp": 18446744073709551615
END
run 1 "$load" --fp-encoding dec i bad.jsonl
sums_up '0 documents inserted; index has 4; 8 rows rejected'
says 'bad.jsonl:2: "fp": expected a decimal number in 0..18446744073709551615'
says 'bad.jsonl:3: "fp": expected a string or a whole number'
says 'bad.jsonl:6: "fp": expected a string or a whole number'
says 'bad.jsonl:7: "id": expected an integer or a string'
says 'bad.jsonl:8: malformed JSON'
run 0 "$load" -q --fp2 --fp-encoding dec j -F jsonl - <<<'{"fp": 10, "fp2": 9223372036854775809}'
run 0 "$query" dump j --format jsonl
output <<<'{"id":0,"fp":"000000000000000a","fp2":"8000000000000001"}'
run 0 "$load" -q --fp-encoding sdec k -F jsonl - <<<$'{"fp": -1}\n{"fp": "-2"}\n{"fp": 3}'
dump_of k <<'END'
0	ffffffffffffffff	
1	fffffffffffffffe	
2	0000000000000003	
END
run 0 "$load" -q --fp-encoding base64 l -F jsonl - <<<'{"fp": "ASNFZ4mrze8="}'
dump_of l <<<'0	0123456789abcdef	'
run 1 "$load" -q --fp-encoding base64 l -F jsonl - <<<'{"fp": 3}'
errors <<<'simidx-load: -:1: "fp": expected a string of base64'
# Semicolons, whatever is asked for.
printf 'id;body\n1;words\n' >semi.csv
run 2 "$load" --header --text-field body new semi.csv
says 'the header names no column "body", but "id;body"; --delimiter tells what separates columns'
run 2 "$load" --delimiter tab -F csv new semi.csv
says "--delimiter: expected one character, such as ';', found 'tab'; for tabs there is -F tsv"
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# bin, npy and dump: what they may hold, by option and by name, and what is wrong in them. The
# same documents in any format make the same index.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
aa=00000000000000aa

dump_of() {
	run 0 "$query" dump "$1"
	output
}

# bytes HEX...: write them.
bytes() {
	local hex
	hex=$(printf '%s' "$@" | sed 's/../\\x&/g')
	# shellcheck disable=SC2059
	printf "$hex"
}

# bin: fingerprint and id, little-endian; all bits of the id: assigned.
{
	bytes efcdab8967452301 0700000000000000
	bytes 0000000000000080 ffffffffffffffff
	bytes ffffffffffffffff ffffffffffffff7f
} >some.bin
run 0 "$load" -q -F bin c some.bin
dump_of c <<'END'
7	0123456789abcdef	
8	8000000000000000	
9223372036854775807	ffffffffffffffff	
END
run 0 "$query" search c -k 0 -F bin some.bin
output <<'END'
7	7	0123456789abcdef	0	
8000000000000000	8	8000000000000000	0	
9223372036854775807	9223372036854775807	ffffffffffffffff	0	
END
# An id that is none; a fingerprint that is too wide.
{
	bytes 0100000000000000 0000000000000080
	bytes 0100000000000000 feffffffffffffff
	bytes 0100000000000000 0100000000000000
	bytes 0000020000000000 0200000000000000
} >ids.bin
run 1 "$load" --bits 17 d -F bin ids.bin
errors <<END
simidx-load: ids.bin:1: id: expected a number in 0..9223372036854775807, or 2^64-1, found 9223372036854775808
simidx-load: ids.bin:2: id: expected a number in 0..9223372036854775807, or 2^64-1, found 18446744073709551614
simidx-load: ids.bin:4: fingerprint: wider than 17 bits
$(tail -1 err)
END
dump_of d <<<'1	00001	'
for size in 1 15 17 47; do
	head -c $size some.bin >cut.bin
	run 2 "$load" cut -F bin cut.bin
	says "simidx-load: cut.bin:$((size / 16 + 1)): ends at byte $size, inside record $((size / 16 + 1))"
done
: >empty.bin
run 0 "$load" -q none -F bin empty.bin
dump_of none </dev/null

# npy_of VERSION DICTIONARY: the header of an array.
npy_of() {
	local size=${#2}
	printf '\x93NUMPY'
	bytes "0$1" 00
	if [ "$1" -eq 1 ]; then
		bytes "$(printf '%02x%02x' $((size % 256)) $((size / 256)))"
	else
		bytes "$(printf '%02x%02x0000' $((size % 256)) $((size / 256)))"
	fi
	printf '%s' "$2"
}

numbers() {
	bytes efcdab8967452301 0000000000000080 0100000000000000
}

cat >three <<'END'
0	0123456789abcdef	
1	8000000000000000	
2	0000000000000001	
END
i=0
for header in "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }" \
	"{'descr': '|u8', 'fortran_order': False, 'shape': (3,), }                              " \
	"{'shape': ( 3 ,), 'fortran_order': False, 'descr': '<u8'}"; do
	for version in 1 2 3; do
		i=$((i + 1))
		{ npy_of $version "$header"; numbers; } >array$i.npy
		run 0 "$load" -q npy$i array$i.npy
		dump_of npy$i <three
	done
done
run 0 "$load" -q npy-stdin -F npy - <array1.npy
dump_of npy-stdin <three
# Ids go on from the largest.
run 0 "$load" -q -F lines on - <<<$aa
run 0 "$load" -q on array1.npy
run 0 "$query" search on -k 0 8000000000000000
output <<<'8000000000000000	2	8000000000000000	0	'
{ npy_of 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (0,), }"; } >empty.npy
run 0 "$load" -q none-npy empty.npy
dump_of none-npy </dev/null

# Signed numbers, as pandas and databases have them: two's complement, by hand.
for dtype in "'<i8'" "'|i8'"; do
	{ npy_of 1 "{'descr': $dtype, 'fortran_order': False, 'shape': (3,), }"; numbers; } >signed.npy
	rm -rf signed
	run 0 "$load" -q signed signed.npy
	dump_of signed <three
done
{
	npy_of 1 "{'descr': '<i8', 'fortran_order': False, 'shape': (5,), }"
	bytes ffffffffffffffff 0000ffffffffffff ffff000000000000 0000010000000000 fffffeffffffffff
} >signed.npy
rm -rf signed
run 1 "$load" -q --bits 17 signed signed.npy
errors <<'END'
simidx-load: signed.npy:4: fingerprint: expected a number in -65536..65535, found 65536
simidx-load: signed.npy:5: fingerprint: expected a number in -65536..65535, found -65537
END
dump_of signed <<'END'
0	1ffff	
1	10000	
2	0ffff	
END

# Anything else is named.
bad_npy() {
	run 2 "$load" e bad.npy
	says "simidx-load: bad.npy: $1"
}
# bad_header MESSAGE DTYPE ORDER SHAPE
bad_header() {
	{ npy_of 1 "{'descr': $2, 'fortran_order': $3, 'shape': $4, }"; numbers; } >bad.npy
	bad_npy "$1"
}
for dtype in "'>u8'" "'>i8'" "'<u4'" "'<f8'" "'|O'" "[('a', '<u8'), ('b', '<u8')]"; do
	bad_header "dtype $dtype; expected '<u8' (uint64) or '<i8' (int64)" "$dtype" False '(3,)'
done
for shape in '()' '(3, 1)' '(1, 3)' '(3)' '(-3,)' '(x,)' '3' '(2305843009213693952,)'; do
	bad_header "shape $shape; expected one dimension: (n,)" "'<u8'" False "$shape"
done
bad_header 'fortran_order True; expected False' "'<u8'" True '(3,)'
{ npy_of 1 "{'descr': '<u8', 'shape': (3,)}"; numbers; } >bad.npy
bad_npy 'the .npy header lacks descr, fortran_order or shape'
{ npy_of 4 "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }"; numbers; } >bad.npy
bad_npy 'version 4.0 of the .npy format; expected 1.0, 2.0 or 3.0'
printf '\x93NUMPY\x02\x00\xff\xff\xff\x7f' >bad.npy
bad_npy 'an .npy header of 2147483647 bytes'
# A header has 1 to 65536 bytes. A comma in quotes of either kind belongs to the value.
long_npy() { # SIZE
	printf '\x93NUMPY\x02\x00'
	# shellcheck disable=SC2059
	printf "$(printf '\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16)) 0)"
	printf "%-$(($1 - 1))s\n" "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }"
	numbers
}
long_npy 65536 >longest.npy
run 0 "$load" -q longest longest.npy
dump_of longest <three
long_npy 65537 >bad.npy
bad_npy 'an .npy header of 65537 bytes'
printf '\x93NUMPY\x01\x00\x00\x00' >bad.npy
bad_npy 'an .npy header of 0 bytes'
{ npy_of 1 "{'descr': \"<u8,x\", 'fortran_order': False, 'shape': (3,), }"; numbers; } >bad.npy
bad_npy 'dtype "<u8,x"; expected'
printf '0123456789abcdef\n' >bad.npy
bad_npy 'is no .npy file; -F tells what it is'
for size in 0 5 9 20; do
	head -c $size array1.npy >bad.npy
	bad_npy "ends at byte $size, inside the header of an .npy file"
done
[ ! -e e ] || fail 'an index was made'
size=$(wc -c <array1.npy)
head -c $((size - 3)) array1.npy >bad.npy
run 2 "$load" f bad.npy
says "simidx-load: bad.npy:3: ends at byte $((size - 3)), inside record 3"
head -c $((size - 8)) array1.npy >bad.npy
run 2 "$load" f bad.npy
says "simidx-load: bad.npy:2: ends at byte $((size - 8)), 1 number before the last"
{ cat array1.npy; printf x; } >bad.npy
run 2 "$load" f bad.npy
says "simidx-load: bad.npy:3: goes on at byte $size, after the last number"
{ npy_of 1 "{'descr': '<u8', 'fortran_order': False, 'shape': (3,), }"; numbers; } >narrow.npy
run 1 "$load" --bits 17 narrow narrow.npy
says 'simidx-load: narrow.npy:1: fingerprint: wider than 17 bits'
sums_up 'index built with 1 document; 2 rows rejected'

# dump: what the index prints, with and without ids.
"$helpers/linear_scan" documents 3000 9 >large.tsv
run 0 "$load" -q first large.tsv
run 0 "$query" dump first
cp out dumped
run 0 "$load" -q -F dump second dumped
run 0 "$query" dump second
same out dumped
run 0 "$query" search first -k 0 -F dump dumped
[ "$(wc -l <out)" -ge 3000 ] || fail 'searched for a dump'
run 0 "$load" -q --ids none plain -F lines - <<<$'00000000000000bb\n00000000000000aa'
run 0 "$query" dump plain
cp out dumped
run 0 "$load" -q --ids none plain-again -F dump dumped
run 0 "$query" dump plain-again
same out dumped

# The same documents by every road are the same index.
cut -f 1,2 large.tsv | sed 's/$/\t/' >bare.tsv
run 0 "$load" -q bare bare.tsv
run 0 "$query" dump bare
cp out bare.dump
cut -f 1,2 large.tsv | tr '\t' , >bare.csv
run 0 "$load" -q bare-csv bare.csv
run 0 "$query" dump bare-csv
same out bare.dump
if command -v python3 >/dev/null; then
	python3 - <<'END' || fail 'python3'
import struct
rows = [line.rstrip("\n").split("\t") for line in open("bare.tsv")]
with open("bare.bin", "wb") as file:
    for row in rows:
        file.write(struct.pack("<QQ", int(row[1], 16), int(row[0])))
with open("bare.npy", "wb") as file:
    text = "{'descr': '<u8', 'fortran_order': False, 'shape': (%d,), }" % len(rows)
    text += " " * (63 - (10 + len(text)) % 64) + "\n"
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode())
    file.write(b"".join(struct.pack("<Q", int(row[1], 16)) for row in rows))
END
	run 0 "$load" -q bare-bin -F bin bare.bin
	run 0 "$query" dump bare-bin
	same out bare.dump
	cut -f 2 bare.tsv | nl -v 0 -w 1 -s '	' | sed 's/$/\t/' >in-order
	run 0 "$load" -q bare-npy bare.npy
	run 0 "$query" dump bare-npy
	same out in-order
fi
finish

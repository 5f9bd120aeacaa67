#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What plans are said to take. Tables, ranges and fingerprints that are compared for 2^34
# fingerprints: Manku et al., section 3.2, and arithmetic (2^34 / 2^prefix for each range).
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

run 0 "$query" plan --documents 17179869184
# plan, tables, and with the marks left out from the right: probes, candidates.
rows() {
	sed 's/[ *+]*$//' out | awk '$1 ~ /^[0-9]+x[0-9]+$/ { print $1, $2, $(NF - 2), $(NF - 1) }'
}
rows >rows
grep -qx '4x16 4 4 1048576' rows || fail '4x16'
grep -qx '16x28 16 16 1024' rows || fail '16x28'
# Six pairs of 13-bit blocks, four with the one of 12 bits: 6 x 2^34/2^26 + 4 x 2^34/2^25.
grep -qx '10x26 10 10 3584' rows || fail '10x26'
[ "$(cut -d ' ' -f 1,2 rows | grep -cxE '20x31 20|3x22 3|2x32 2')" -eq 3 ] || fail 'plans are missing'
run 0 "$query" plan --documents 1000000 -k 0
[ "$(rows | cut -d ' ' -f 3 | sort -u)" = 1 ] || fail 'k = 0 is one look-up'

# An index tells its own size.
printf '%016x\n' {1..1000} | run 0 "$load" -q --bits 64 ix -F lines -
run 0 "$query" plan ix
head -1 out | grep -qx '1000 documents of 64 bits, radius 3' || fail 'not the size of the index'
grep -q '^4x16 .* \* +$' out || fail 'neither the plan of the index nor that of --plan auto is marked'
[ "$(grep -c ' [*+]$' out)" -eq 1 ] || fail 'other plans are marked'
run 0 "$query" plan --documents 60M
grep -q '^3x22 .* +$' out || fail 'not 3x22 by --plan auto for 60 million'
grep -q ' \*' out && fail 'the plan of an index that was not given'
run 0 "$query" plan ix --documents 5 -k 2
head -1 out | grep -qx '5 documents of 64 bits, radius 2' || fail 'not what was asked'
run 0 "$query" plan --documents 5000 --bits 32
head -1 out | grep -qx '5000 documents of 32 bits, radius 3' || fail 'not 32 bits'
run 0 "$query" --json plan --documents 17179869184
[ "$(grep -c '"documents":17179869184,"bits":64,"radius":3,' out)" -ge 6 ] || fail 'JSON'
grep -q '"plan":"4x16",.*"tables":4,.*"probes":4,"candidates":1048576,.*"auto":false}$' out ||
	fail '4x16 in JSON'
grep -q '"plan":"3x22",.*"auto":true}$' out || fail '3x22 in JSON'
run 0 "$query" --json plan ix
[ "$(grep -c '"plan":"4x16",.*"auto":true,"of_index":true}$' out)" -eq 1 ] || fail 'the plan of the index in JSON'
[ "$(grep -c '"auto":false,"of_index":false}$' out)" -eq 5 ] || fail 'other plans in JSON'

run 2 "$query" plan
says 'plan: expected --documents N'
run 2 "$query" plan --documents 0
says "--documents: expected a number of at least 1"
run 2 "$query" plan --documents 5 --bits 15
says "--bits: expected a number in 16..64, found '15'"
run 2 "$query" plan --documents 5 now
says 'now: no index: No such file or directory'
run 2 "$query" plan ix now
says "plan: one argument too many: 'now'"
run 2 "$query" plan --documents 5 --bits 32 -k 33
says "--radius: expected a number in 0..32, found '33'"
run 0 "$query" plan --documents 5 --bits 32 -k 32
run 2 "$query" plan missing
says 'missing: no index: No such file or directory'
run 2 "$query" plan --documents 5k
says "--documents: found '5k'; is 5K meant?"
for documents in 5x 1.5M M 1P 1e e7 1e7M 1.5e3 1e-3; do
	run 2 "$query" plan --documents $documents
	says "--documents: expected a number of at least 1, such as 5000, 20M or 1e7, found '$documents'"
done
run 2 "$query" plan --documents 9223372037G
says "--documents: expected a number of at most 9223372036854775807, found '9223372037G'"
run 0 "$query" plan --documents 20M
head -1 out | grep -qx '20000000 documents of 64 bits, radius 3' || fail 'M is not a million'
run 0 "$query" plan --documents 2e7
head -1 out | grep -qx '20000000 documents of 64 bits, radius 3' || fail 'e7 is not ten millions'
run 2 "$query" plan --documents 10e18
says "--documents: expected a number of at most 9223372036854775807, found '10e18'"
finish

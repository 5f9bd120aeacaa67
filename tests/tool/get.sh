#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-query get: by fingerprint, id and label, what JSON has of each, what is not found, and which
# exit status counts.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

printf '%s\n' '1	00000000000000a1	one' '2	00000000000000a2	t\two' '7	00000000000000a1	' >rows.tsv
run 0 "$load" -q ix rows.tsv

run 0 "$query" get ix a1 0x00000000000000A2
output <<'END'
00000000000000a1	1	00000000000000a1	0	one
00000000000000a1	7	00000000000000a1	0	
00000000000000a2	2	00000000000000a2	0	t\two
END
errors </dev/null
run 0 "$query" get ix --id 7 2
output <<'END'
7	7	00000000000000a1	0	
2	2	00000000000000a2	0	t\two
END
run 0 "$query" get ix --label one
output <<<'one	1	00000000000000a1	0	one'

# A fingerprint was asked for, or it was not.
run 0 "$query" --json get ix a1
output <<'END'
{"query":"00000000000000a1","fingerprint":"00000000000000a1","matches":[{"id":1,"fp":"00000000000000a1","distance":0,"label":"one"},{"id":7,"fp":"00000000000000a1","distance":0}],"truncated":false}
END
run 0 "$query" --json get ix --id 1
output <<'END'
{"query":"1","matches":[{"id":1,"fp":"00000000000000a1","distance":0,"label":"one"}],"truncated":false}
END
run 0 "$query" --json get ix --label one
output <<'END'
{"query":"one","matches":[{"id":1,"fp":"00000000000000a1","distance":0,"label":"one"}],"truncated":false}
END
run 1 "$query" --json get ix --id 3
output <<<'{"query":"3","matches":[],"truncated":false}'
errors <<<'simidx-query: 3: not found; dump lists all ids'

# What is not found is told, each in its way; the others are printed.
run 1 "$query" get ix b1 a2 31
output <<<'00000000000000a2	2	00000000000000a2	0	t\two'
errors <<'END'
simidx-query: b1: not found as a fingerprint; --label reads it as a label
simidx-query: 31: not found as a fingerprint; --id reads it as an id
END
run 1 "$query" get ix --label on one
output <<<'one	1	00000000000000a1	0	one'
errors <<<'simidx-query: on: not found; labels are compared whole, and dump lists them'
# What is no key counts more than what is not found, whichever is the last; the others are looked up.
for keys in 'x 3 1' '3 x 1' '1 3 x'; do
	# shellcheck disable=SC2086
	run 2 "$query" get ix --id $keys
	says 'simidx-query: x: expected an id, a decimal number in 0..9223372036854775807'
	says 'simidx-query: 3: not found'
	output <<<'1	1	00000000000000a1	0	one'
done
run 2 "$query" get ix page a1
says 'simidx-query: page: fingerprint: expected 1 to 16 hexadecimal digits, found '
output <<'END'
00000000000000a1	1	00000000000000a1	0	one
00000000000000a1	7	00000000000000a1	0	
END
run 2 "$query" get ix --id --label 1
says '--id and --label exclude each other'

# The largest id is one, and the next number is none.
printf '9223372036854775807\t00000000000000a9\tlast\n' >last.tsv
run 0 "$load" -q ix last.tsv
run 0 "$query" get ix --id 9223372036854775807
output <<<'9223372036854775807	9223372036854775807	00000000000000a9	0	last'
run 2 "$query" get ix --id 9223372036854775808
says 'simidx-query: 9223372036854775808: expected an id'
finish

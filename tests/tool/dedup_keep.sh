#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Which row of a group stays, and what is said of it: identical and near, --identical.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
export TMPDIR=$tmp/temporary
mkdir "$TMPDIR"

# ---- identical and near ----

# The same bytes are 'same'; the same runs of words in other bytes are 100.0.
mkdir texts
echo 'one two three four five six' | tee texts/1 >texts/3
echo 'one two three four five SIX' | tee texts/2 >texts/4
echo 'something else that has other words' >texts/5
run 0 "$dedup" -q -r texts
output <<'END'
1	same	keep	texts/1
1	same	drop	texts/3
1	100.0	drop	texts/2
1	100.0	drop	texts/4
END
run 0 "$dedup" -q --json -r texts
output <<'END'
{"group":1,"similarity":100,"same":true,"keep":true,"path":"texts/1"}
{"group":1,"similarity":100,"same":true,"keep":false,"path":"texts/3"}
{"group":1,"similarity":100,"keep":false,"path":"texts/2"}
{"group":1,"similarity":100,"keep":false,"path":"texts/4"}
END
run 0 "$dedup" -q --pairs -r texts
sort out | diff - <(printf '%s\ttexts/%s\ttexts/%s\n' 100.0 2 1 100.0 3 2 100.0 4 1 100.0 4 3 same 3 1 same 4 2) ||
	fail '--pairs'
run 0 "$dedup" -q --pairs --identical -r texts
output <<'END'
same	texts/3	texts/1
same	texts/4	texts/2
END
run 2 "$dedup" --identical --stream texts/1
says '--identical is about groups, --drop-list and --pairs, so --stream does not go with it'
run 2 "$dedup" --identical --similarity 0.9 texts/1
says '--identical asks for the same bytes, so --similarity does not go with it'
run 2 "$dedup" --identical --no-verify texts/1
says '--identical is about comparing texts, which --no-verify leaves out'
finish

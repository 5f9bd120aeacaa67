#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# dump -> load -> dump is the same, whatever the labels.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

printf '%s\n' '3	00000000000000aa	plain' '4	00000000000000aa	tab\tnewline\nreturn\r' \
	'5	00000000000000aa	back\\slash \\t \\x41' '6	00000000000000ab	\xff\xfe\x00\x01\x7f' \
	'7	00000000000000ac	' '8	00000000000000ad	Grüße 世界 𝔸' \
	'9	00000000000000ae	"quoted", {json}' '1000000000000	00000000000000af	\xc2\x9b31m' \
	'1000000000001	00000000000000af	\xed\xa0\x80 \xc0\x80 \xf4\x90\x80\x80 \xe4\xb8' |
	sort -n >first.tsv
run 0 "$load" -q first first.tsv
run 0 "$query" dump first
same out first.tsv
# As JSON: quotes, backslashes and control bytes are escaped, what is not UTF-8 is hexadecimal.
run 0 "$query" dump first --format jsonl
{
	cat <<'END'
{"id":3,"label":"plain","fp":"00000000000000aa"}
{"id":4,"label":"tab\tnewline\nreturn\r","fp":"00000000000000aa"}
{"id":5,"label":"back\\slash \\t \\x41","fp":"00000000000000aa"}
{"id":6,"label_hex":"fffe00017f","fp":"00000000000000ab"}
{"id":7,"fp":"00000000000000ac"}
{"id":8,"label":"Grüße 世界 𝔸","fp":"00000000000000ad"}
{"id":9,"label":"\"quoted\", {json}","fp":"00000000000000ae"}
END
	printf '{"id":1000000000000,"label":"\302\23331m","fp":"00000000000000af"}\n'
	echo '{"id":1000000000001,"label_hex":"eda08020c08020f490808020e4b8","fp":"00000000000000af"}'
} | output
run 0 "$load" -q control -F tsv - <<<'1	00000000000000aa	\x01\x1f\x08\x0c'
run 0 "$query" --json get control --id 1
output <<'END'
{"query":"1","matches":[{"id":1,"fp":"00000000000000aa","distance":0,"label":"\u0001\u001f\b\f"}],"truncated":false}
END

run 0 "$query" get first --label $'tab\tnewline\nreturn\r' 'back\slash \t \x41' 'Grüße 世界 𝔸'
output <<'END'
tab\tnewline\nreturn\r	4	00000000000000aa	0	tab\tnewline\nreturn\r
back\\slash \\t \\x41	5	00000000000000aa	0	back\\slash \\t \\x41
Grüße 世界 𝔸	8	00000000000000ad	0	Grüße 世界 𝔸
END

# Enough for many blocks; without labels and with; fresh and merged.
"$helpers/linear_scan" documents 30000 7 >large.tsv
run 0 "$load" -q --merge never large large.tsv
run 0 "$query" dump large
same out large.tsv
cp out dumped
run 0 "$load" -q --layout rows again -F tsv dumped
run 0 "$query" dump again
same out large.tsv

for index in first large; do
	run 0 "$query" dump $index --format jsonl
	cp out $index.jsonl
	[ -n "${SX_JSON-}" ] || continue
	run 0 "$load" -q $index-again $index.jsonl
	run 0 "$query" dump $index-again
	same out $index.tsv
	run 0 "$query" --json dump $index-again
	same out $index.jsonl
done
# It is JSON, and the columns are the same: jq would do, python3 is more often there.
if command -v python3 >/dev/null; then
	python3 - first.jsonl <<'END' >columns || fail 'not JSON'
import json, sys
for line in open(sys.argv[1], encoding="utf-8"):
    row = json.loads(line)
    label = row.get("label", "").encode() or bytes.fromhex(row.get("label_hex", ""))
    print(row["id"], row["fp"], label.hex())
END
	grep -qx '6 00000000000000ab fffe00017f' columns || fail 'label_hex'
	grep -qx '4 00000000000000aa 746162096e65776c696e650a72657475726e0d' columns || fail 'label'
fi

# No ids.
run 0 "$load" -q --ids none plain -F lines - <<<$'00000000000000bb\n00000000000000aa\n00000000000000bb'
run 0 "$query" dump plain --format jsonl
output <<'END'
{"fp":"00000000000000aa"}
{"fp":"00000000000000bb"}
END

[ -n "${SX_JSON-}" ] || finish
cp out dumped
run 0 "$load" -q --ids none plain-again -F jsonl dumped
run 0 "$query" dump plain-again
output <<'END'
	00000000000000aa	
	00000000000000bb	
END

# The second fingerprint goes with it.
cat >two.jsonl <<'END'
{"id":1,"label":"a","fp":"00000000000000aa","fp2":"ffffffffffffffff"}
{"id":2,"fp":"00000000000000aa","fp2":"0000000000000000"}
END
run 0 "$load" -q --fp2 two two.jsonl
run 0 "$query" dump two --format jsonl
same out two.jsonl
run 0 "$load" -q --merge never --fp2 two-fresh two.jsonl
run 0 "$query" dump two-fresh --format jsonl
same out two.jsonl
run 0 "$query" dump two-fresh --json
same out two.jsonl
run 2 "$query" dump two --json --format tsv
says 'simidx-query: --json and --format tsv exclude each other'
finish

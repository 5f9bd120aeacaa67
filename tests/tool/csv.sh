#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# csv: what RFC 4180 allows, and rows that are broken.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
aa=00000000000000aa

dump_of() {
	run 0 "$query" dump "$1"
	output
}

# csv: quotes, commas, newlines of both kinds and doubled quotes in them; empty fields; backslashes
# are bytes like others; no newline at the end.
printf '%s\n' "1,$aa,plain" "2,$aa" "3,$aa," "4,$aa,\"\"" "\"5\",\"$aa\",\"a,b\"" \
	"6,$aa,\"say \"\"hi\"\"\"" "7,$aa,\"two" "lines, \"\"\"\"" "\"" "8,$aa,back\\slash\\n" >some.csv
printf '9,%s,"cr\r\nlf"\r\n10,%s,x\r\n,%s,"""",\n\n12,%s,"end"' $aa $aa $aa $aa >>some.csv
run 1 "$load" a some.csv
errors <<END
simidx-load: some.csv:14: expected the columns id, fingerprint, label, found more than three columns
simidx-load: some.csv:15: expected the columns id, fingerprint, label, found one column
simidx-load: 1 row has too few columns (some.csv:15)
$(tail -1 err)
END
cat >expected <<END
1	$aa	plain
2	$aa	
3	$aa	
4	$aa	
5	$aa	a,b
6	$aa	say "hi"
7	$aa	two\nlines, ""\n
8	$aa	back\\\\slash\\\\n
9	$aa	cr\r\nlf
10	$aa	x
12	$aa	end
END
dump_of a <expected

# One bad row costs no good one, not even where a quote does not end.
printf '%s\n' "1,$aa,a" "2,$aa,b\"c" "3,$aa,\"d\"e" "4,$aa,f" "5,$aa,\"not ended" "6,$aa,g" \
	"\"7" "8,$aa,\"h" "i\"" "9,$aa,\"j\",k" "10,$aa,l" "11,$aa,\"never" "12,$aa,m" >bad.csv
run 1 "$load" b bad.csv
errors <<END
simidx-load: bad.csv:2: a quote in a field that does not begin with one
simidx-load: bad.csv:3: text after the quote that ends a field
simidx-load: bad.csv:5: text after the quote that ends a field
simidx-load: bad.csv:7: text after the quote that ends a field
simidx-load: bad.csv:10: expected the columns id, fingerprint, label, found more than three columns
simidx-load: bad.csv:12: a quoted field that does not end
$(tail -1 err)
END
dump_of b <<END
1	$aa	a
4	$aa	f
6	$aa	g
8	$aa	h\ni
10	$aa	l
12	$aa	m
END
printf '1,%s,"a"\rb\n2,%s,"a"\r' $aa $aa >return.csv
run 1 "$load" -q return return.csv
errors <<<'simidx-load: return.csv:1: text after the quote that ends a field'
dump_of return <<<"2	$aa	a"

# Another character between the columns: then a comma is one like others, quoted or not.
printf '%s\n' 'url;fp;id' "a,b;$aa;1" "\"c;\"\"d\";$aa;\"2\"" "e|f;$aa;3" >semicolons.csv
run 0 "$load" -q --delimiter ';' --header --label-field url semicolons semicolons.csv
dump_of semicolons <<END
1	$aa	a,b
2	$aa	c;"d
3	$aa	e|f
END
run 0 "$load" -q --delimiter '	' -F csv tabs - <<<"5	$aa	\"x	y\""
dump_of tabs <<<"5	$aa	x\\ty"
run 2 "$load" -q --header semi semicolons.csv
says 'the header names no column "fp", but "url;fp;id"'
for delimiter in '' ab a 0 '"' é; do
	run 2 "$load" --delimiter "$delimiter" semi semicolons.csv
	says "--delimiter: expected one character, such as ';', found '$delimiter'"
done
run 2 "$load" --delimiter ';' -F tsv semi semicolons.csv
says 'simidx-load: semicolons.csv: --delimiter is for the format csv'

# Quoted rows across the end of every buffer.
awk 'BEGIN {
	for (i = 0; i < 20000; i++) {
		label = escaped = ""
		for (j = 0; j < i % 60; j++) {
			label = label "x\n"
			escaped = escaped "x\\n"
		}
		printf "%d,%016x,\"%s\"\"%d\"\n", i, i, label, i >"wide.csv"
		printf "%d\t%016x\t%s\"%d\n", i, i, escaped, i >"wide.expected"
	}
}'
run 0 "$load" -q wide wide.csv
run 0 "$query" dump wide
same out wide.expected
# Against another writer, for labels without any pattern.
command -v python3 >/dev/null || finish
python3 - <<'END' || fail 'python3'
import csv, random
random.seed(6)
escapes = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
with open("random.csv", "w", newline="") as table, open("random.dump", "w") as dump:
    writer = csv.writer(table)
    for i in range(3000):
        label = "".join(random.choice('ab,"\n\r\t\\ ') for j in range(random.randrange(12)))
        if label:
            label += str(i)
        fp = "%016x" % random.getrandbits(64)
        writer.writerow([i, fp, label])
        dump.write("%d\t%s\t%s\n" % (i, fp, "".join(escapes.get(c, c) for c in label)))
END
run 0 "$load" -q random random.csv
run 0 "$query" dump random
cp out dumped
diff dumped random.dump >difference || { fail 'another reading of random.csv'; head difference; }
finish

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Quality among more documents than a search goes through as a whole, so that probes find them; and
# the large collection that bench/quality/make_set.py cuts from packages.
set -eu

[ -n "${SX_TEXT-}" ] && [ -n "${SX_JSON-}" ] && [ -n "${SX_ZSTD-}" ] || exit 77
flock "$SX_BUILDDIR" "$SX_MAKE" -C "$SX_BUILDDIR" bench/bn_label bench/bn_quality >/dev/null
bench=$SX_BUILDDIR/bench
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# ---- 9,000 texts of 100 words each, and an edited copy of every 30th, in which of 100 words one is
# another word, or five words are more, or 30 are others: the last kind has a Jaccard index below .8.

awk 'BEGIN {
	srand(1)
	split("replaced added rewritten", kinds)
	for (i = 0; i < 9000; i++) {
		for (j = 0; j < 100; j++)
			word[j] = sprintf("w%d", 20000 * rand() * rand())
		old = word[0]
		for (j = 1; j < 100; j++)
			old = old " " word[j]
		printf "{\"id\":\"%d\",\"text\":\"%s\"}\n", i, old
		if (i % 30)
			continue
		kind = i / 30 % 3 + 1
		if (kind == 1)
			word[50] = "other"
		for (j = 0; kind == 3 && j < 30; j++)
			word[3 * j] = "x" j
		copy = word[0]
		for (j = 1; j < 100; j++)
			copy = copy " " word[j]
		if (kind == 2)
			copy = copy " and here it ends now"
		printf "{\"id\":\"%d~%s\",\"text\":\"%s\"}\n", i, kinds[kind], copy
	}
}' >"$dir/many.jsonl"
"$bench/bn_label" "$dir/many" >"$dir/many.pairs.tsv" 2>"$dir/said"
grep -q '^many: documents 9300, near pairs 200, pairs with equal shingles 0$' "$dir/said"
cut -f 3 "$dir/many.pairs.tsv" | sort | uniq -c | tr -s ' ' >"$dir/labels"
grep -q '^ 100 near:replaced$' "$dir/labels"
grep -q '^ 100 near:added$' "$dir/labels"
! grep rewritten "$dir/labels" || exit 1

"$bench/bn_quality" --dir "$dir" --seeds 1 --usual "$dir/many" >"$dir/out" 2>"$dir/table"
if grep -v '^{".*}$' "$dir/out"; then exit 1; fi
[ "$(grep -c '"set":"many",.*"seed":"mean"' "$dir/out")" -eq 3 ] # the default limits alone
grep '"rule":"weights+fp2","limit":232,"seed":"mean"' "$dir/out" | head -n 1 >"$dir/usual"
grep -q '"recall_of_kinds":{' "$dir/usual"
# The first edit moves hardly a bit. Nothing else is near, and probes compare a few of 9,300.
awk '{
	match($0, /"replaced":[0-9.]+/); replaced = substr($0, RSTART + 11, RLENGTH - 11)
	match($0, /"f1":[0-9.]+/); f1 = substr($0, RSTART + 5, RLENGTH - 5)
	match($0, /"wrong":[0-9.]+/); wrong = substr($0, RSTART + 8, RLENGTH - 8)
	match($0, /"candidates":[0-9.]+/); candidates = substr($0, RSTART + 13, RLENGTH - 13)
	exit !(replaced + 0 >= .99 && f1 + 0 >= .95 && wrong + 0 == 0 && candidates + 0 < 2000)
}' "$dir/usual" || {
	cat "$dir/usual"
	exit 1
}
grep -q 'added [01]\.[0-9]* *replaced [01]\|replaced [01]\.[0-9]* *added [01]' "$dir/table"

# ---- a collection of two packages

command -v python3 >/dev/null && command -v dpkg-deb >/dev/null || exit 0
python3 - "$dir" <<'END_OF_PYTHON'
import gzip, os, random, subprocess, sys
os.chdir(sys.argv[1])
rng = random.Random(1)
words = ["word%d" % i for i in range(3000)]
def text(n):
    return "\n".join(" ".join(rng.choice(words) for _ in range(9)) for _ in range(n))
for package in "one", "two":
    doc = package + "/usr/share/doc/" + package
    os.makedirs(doc)
    os.makedirs(package + "/DEBIAN")
    with open(package + "/DEBIAN/control", "w") as file:
        file.write("Package: %s\nVersion: 1\nArchitecture: all\nMaintainer: none <none@example.com>\n"
                   "Description: texts\n" % package)
    for i in range(80):
        with open("%s/%d.txt" % (doc, i), "w") as file:
            file.write(text(400))
    with gzip.open(doc + "/page.1.gz", "wt") as file:
        file.write(text(300))
    with open(doc + "/page.html", "w") as file:
        file.write("<html><script>if (hidden) { hidden() }</script><p class='hidden'>" + text(300))
    with open(doc + "/copy.txt", "w") as file:
        file.write("again " * 1000)
    with open(doc + "/no.txt", "wb") as file:
        file.write(b"caf\xe9 " * 1000)
    subprocess.run(["dpkg-deb", "--build", package, package + "_1_all.deb"], check=True,
                   stdout=subprocess.DEVNULL)
END_OF_PYTHON
make_set() {
	python3 "$SX_SRCDIR/bench/quality/make_set.py" "$@"
}
make_set --documents 800 "$dir/set" "$dir"/*.deb
make_set --documents 800 "$dir/same" "$dir"/*.deb
make_set --documents 800 --seed 2 "$dir/seed" "$dir"/*.deb
cmp "$dir/set-tune.jsonl" "$dir/same-tune.jsonl"
cmp "$dir/set-kept.jsonl" "$dir/same-kept.jsonl"
! cmp -s "$dir/set-tune.jsonl" "$dir/seed-tune.jsonl" || exit 1
python3 - "$dir" <<'END_OF_PYTHON'
import collections, json, os, re, sys
os.chdir(sys.argv[1])
sources, texts, kinds = [], set(), collections.Counter()
for half in "tune", "kept":
    rows = [json.loads(line) for line in open("set-%s.jsonl" % half)]
    assert len(rows) == 400
    by_id = {row["id"]: row for row in rows}
    assert len(by_id) == 400
    sources.append({row["source"] for row in rows})
    for row in rows:
        words = re.findall(r"\w+", row["text"])
        assert "hidden" not in words
        assert row["text"] not in texts
        texts.add(row["text"])
        if "~" not in row["id"]:
            assert 80 <= len(words) <= 1500 and "rate" not in row
            continue
        original, kind = row["id"].split("~")
        assert by_id[original]["source"] == row["source"] and .01 <= row["rate"] <= .2
        kinds[kind] += 1
        old = re.findall(r"\w+", by_id[original]["text"])
        same = len(set(old) & set(words)) / len(set(old) | set(words))
        assert .5 < same <= 1, (row["id"], same)
        more = len(words) - len(old)
        n = max(1, round(row["rate"] * len(old)))
        if kind.startswith("cut") or kind == "delete":
            assert abs(more + n) <= 1, (row["id"], more, n)
        elif kind in ("insert", "boilerplate", "advertisement"):
            assert abs(more - n) <= 2, (row["id"], more, n)
        else:
            assert abs(more) <= 2, (row["id"], more, n)
assert not sources[0] & sources[1]
assert len(kinds) == 12 and set(kinds.values()) == {10}, kinds
END_OF_PYTHON
status=0
make_set --documents 100000 "$dir/set" "$dir"/*.deb 2>"$dir/said" || status=$?
[ $status -eq 1 ] && grep -q "passages too few in the half 'tune'" "$dir/said"
make_set --list | grep -qx 'linux-source-6.1'

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Tests the wheel that make wheel has made: in an environment that has nothing else it makes the fingerprints that
# this build makes, where both have the same ICU, and opens the index that this build has made.
set -eu
wheel=$(echo "$SX_BUILDDIR"/python/wheel/wheel/simidx-*.whl)
[ -e "$wheel" ] || { echo 'skipped: make wheel was not run' && exit 77; }
[ -n "${SX_PYTHON-}" ] || { echo 'skipped: built without Python' && exit 77; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"

[ "$(stat -c %s "$wheel")" -le 5000000 ] || { echo "$wheel has more than 5 MB" && exit 1; }
mkdir ours
cp -r "$SX_SRCDIR/python/simidx" ours && rm -f ours/simidx/*.so
cp "$SX_BUILDDIR/python/.libs/_simidx.so" ours/simidx/_simidx.abi3.so
"$SX_PYTHON" -m venv env
env/bin/pip -q install --no-index "$wheel"

cat >texts.py <<'EOF'
"""Fingerprints of texts in each script that the tests of the library have."""
import pathlib
import re
import sys

import simidx

texts = pathlib.Path(sys.argv[1]).read_text().split("\n\n")
samples = [
    "The old bridge is closed for two years of repair, said the mayor on Tuesday evening.",
    "中文维基百科是维基百科协作计划的中文版本，自二零零二年十月正式成立，由非营利组织维基媒体基金会负责维持",
    "吾輩は猫である。名前はまだ無い。どこで生れたかとんと見当がつかぬ。何でも薄暗いじめじめした所で",
    "ภาษาไทยเป็นภาษาที่มีระดับเสียงของคำแน่นอนหรือวรรณยุกต์เช่นเดียวกับภาษาจีนและออกเสียงแยกคำต่อคำ",
    "ພາສາລາວເປັນພາສາທາງການຂອງສາທາລະນະລັດປະຊາທິປະໄຕປະຊາຊົນລາວ",
    "ភាសាខ្មែរជាភាសាកំណើតរបស់ជនជាតិខ្មែរ និងជាភាសាផ្លូវការរបស់ប្រទេសកម្ពុជា",
    "မြန်မာဘာသာစကားသည်မြန်မာနိုင်ငံ၏ရုံးသုံးဘာသာစကားဖြစ်သည်",
    "대한민국의 공용어는 한국어이며 문자는 한글을 사용한다 그리고 수도는 서울이다",
    "Съешь же ещё этих мягких французских булок, да выпей чаю; ЁЛКА ёлка",
    "نص حكيم له سر قاطع وذو شأن عظيم مكتوب على ثوب أخضر ومغلف بجلد أزرق",
    "हिन्दी विश्व की एक प्रमुख भाषा है और भारत की राजभाषा है",
    "ﬁne Ⅷ ｆｕｌｌｗｉｄｔｈ ① é é 👩‍👩‍👧 🏳️‍🌈 a.b c'd 3.14 x_y",
]
for text in samples + texts:
    for extractor in ("words12", "words1", "han12"):
        print(f"{simidx.fingerprint(text, extractor=extractor):016x}", extractor, ascii(text[:40]))
EOF
PYTHONPATH=ours "$SX_PYTHON" texts.py "$SX_SRCDIR/doc/text.md" >of_build
env/bin/python texts.py "$SX_SRCDIR/doc/text.md" >of_wheel
cat >index.py <<'EOF'
import sys

import simidx

text = " ".join(f"sentence {i} of a long report" for i in range(30)) + " 中文维基百科是维基百科协作计划"
with simidx.Index("index", create=True, texts=True) as index:
    if sys.argv[1] == "make":
        index.add([text])
    print(index.stats()["profile"], file=sys.stderr)
    assert index.search(text + " updated")[0].id == 0
EOF
PYTHONPATH=ours "$SX_PYTHON" index.py make 2>profile
echo "$wheel: $(stat -c %s "$wheel") bytes"
cat profile
if cmp of_build of_wheel; then
	env/bin/python index.py open
	echo "$(wc -l <of_wheel) fingerprints are the same"
else
	diff of_build of_wheel | head -20
	echo 'They have different versions of ICU, or one of them lacks data.'
	exit 1
fi

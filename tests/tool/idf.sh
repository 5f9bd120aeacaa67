#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# A dictionary of a collection, what it says, and texts that are weighed by it.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text

printf 'The fox, the FOX and the dog.' >1
printf 'A dog and a cat' >2
printf 'the cat; the fox!' >3
printf 'hill' >4
# ln(1 + 4/n), rounded down to 16 binary places and printed with six digits.
run 0 "$query" -q idf 1 2 3 4
output <<'END'
a 1.609436
and 1.098602
cat 1.098602
dog 1.098602
fox 1.098602
hill 1.609436
the 1.098602
END
cp out idf
run 0 "$query" -q idf --min-texts 2 --stop en 1 2 3 4
output <<'END'
cat 1.098602
dog 1.098602
fox 1.098602
END
run 0 "$query" idf 4 4 --extractor words12
output <<<'hill 0.693146'
says '1 word in 2 texts'
run 0 "$query" -q idf 4 1 --grams 2
output <<'END'
and the 1.098602
fox and 1.098602
fox the 1.098602
hill 1.098602
the dog 1.098602
the fox 1.098602
END
run 0 "$query" -q idf -F text - <4
output <<<'hill 0.693146'

# What is told: how many words there were, and that none was printed.
run 0 "$query" idf --min-texts 5 1 2 3 4
output </dev/null
errors <<'END'
simidx-query: no word is in 5 texts (--min-texts)
simidx-query: 7 words in 4 texts
END
run 0 "$query" idf 4
says 'simidx-query: 1 word in 1 text'
grep -q ' texts$' err && fail 'one text is told as texts'
printf '. ; -' >wordless
run 0 "$query" idf wordless
output </dev/null
says 'simidx-query: 0 words in 1 text'
grep -q 'min-texts' err && fail 'told of --min-texts where there is no word'
: >none.tsv
run 1 "$query" idf -F tsv --text-field 1 none.tsv
output </dev/null
errors <<<'simidx-query: 0 words in 0 texts'

# It is read back as it was: the profile has its hash, not another one's.
run 0 "$load" -q --extractor tfidf --idf idf ix 1 2 3
run 0 "$query" search ix --text --idf idf 1
cut -f 1,4 out | grep -qx '1	0' || fail 'a text does not find itself'
run 2 "$query" search ix --text 1
says 'dictionary'
sed 's/^hill.*/hill 2/' idf >other
run 2 "$query" search ix --text --idf other 1
says 'the index makes fingerprints with idf='
run 2 "$load" ix --idf other 4
says 'the index makes fingerprints with idf='
run 1 "$query" --json similar --show 1 --extractor tfidf --idf idf 4 1
# 1.609436 in units of 1/65536, and as often as it occurs.
grep -q '{"feature":"the","weights":\[0,3\.29581\]}' out || fail 'three times 1.098602'

# What editors put before UTF-8 is of no line, also where the first one is empty.
{ printf '\357\273\277\n'; cat idf; } >marked
run 1 "$query" --json similar --show 1 --extractor tfidf --idf marked 4 1
grep -q '{"feature":"the","weights":\[0,3\.29581\]}' out || fail 'a dictionary with a mark before it'

# There is no -r to be advised.
run 2 "$query" idf .
says "simidx-query: .: is a directory: name the files in it"
run 2 "$query" idf
says 'idf: FILE is missing'
run 2 "$query" idf missing
says 'missing: cannot open'
run 2 "$query" idf --weights raw 1
says "unknown option '--weights'"
run 2 "$query" idf --extractor char-3 1
says 'there are no dictionaries of characters'
run 2 "$query" --json idf 1
says 'dictionary'
run 2 "$query" idf -
says 'standard input needs its format'
printf 'cat 1\n\ndog\n' >bad
run 2 "$load" --extractor tfidf --idf bad new 1
says 'simidx-load: bad:3: expected "word idf"'
run 2 "$query" similar --extractor tfidf --idf bad 1 2
says 'simidx-query: bad:3: expected "word idf"'
printf '! 1\n' >bad
run 2 "$load" --extractor tfidf --idf bad new 1
says 'simidx-load: bad: the dictionary is empty'
run 2 "$load" --extractor tfidf new 1
says 'dictionary'
[ ! -e new ] || fail 'an index was made'

[ -n "${SX_JSON-}" ] || finish
printf '{"text": "hill"}\n{"text": "a hill"}\n' >texts.jsonl
run 0 "$query" -q idf texts.jsonl
output <<'END'
a 1.098602
hill 0.693146
END
printf '{"text": "hill"}\n{"fp": "0123456789abcdef"}\n' >mixed.jsonl
run 2 "$query" idf mixed.jsonl
output </dev/null
says 'mixed.jsonl:2: no text'
finish

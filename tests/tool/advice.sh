#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What the tools say of options, commands and inputs that are not theirs: what to type instead.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"

# What other programs call things leads to what they are called here.
run 2 "$dedup" --threshold 0.9 file
says "unknown option '--threshold'; is --similarity meant?"
run 2 "$query" search --threshold 9 index 0
says "unknown option '--threshold'; fingerprints cannot tell percent: --radius N, or simidx-dedup for texts"
run 2 "$load" --column body index file
says "unknown option '--column'; is --text-field meant?"
for option in --max-size --size_limit; do
	run 2 "$load" $option 5 index file
	says "unknown option '$option'; is --max-bytes meant?"
done
run 2 "$dedup" --move file
says "unknown option '--move'; is --drop-list meant?"
run 2 "$dedup" --hard-link file
says "unknown option '--hard-link'; '--drop-list' prints what could be a link, groups also to what"
run 2 "$dedup" --text_field body file
says "unknown option '--text_field'; is --text-field meant?"
run 2 "$dedup" --num_proc 4 file
says "unknown option '--num_proc'; is --threads meant?"
run 2 "$dedup" -j 4 file
says "unknown option '-j'; is --threads meant?"
run 2 "$query" review -j file
says "unknown option '-j'; is --threads meant?"
# Letters that other programs have lead somewhere, too.
while read -r letter told; do
	run 2 "$dedup" "-$letter" x
	says "unknown option '-$letter'; $told"
done <<'END'
d is --drop-list meant?
n '--drop-list' prints what can be deleted; nothing is
v a terminal shows progress, unless -q is given
u '--stream' prints what is new
x is --exclude meant?
S the last line has the bytes that can be deleted
f is --text-field meant?
N nothing is asked, as nothing is deleted
A hidden files are left out, unless --hidden is given
y there are: -r DIR: groups of near texts; -r --drop-list DIR: files that can go; --stream FILE: rows that stay
END
run 2 "$dedup" --frobnicate x
says "unknown option '--frobnicate'; there are: -r DIR: groups of near texts; -r --drop-list DIR: "
run 2 "$dedup" --ext txt file
says "--files-from - chooses by names"
run 2 "$dedup" --min-size 1k file
says "--files-from - chooses by size"
run 2 "$dedup" --text_column body file
says "unknown option '--text_column'; is --text-field meant?"
while read -r option told; do
	run 2 "$dedup" "--$option" x
	says "unknown option '--$option'; $told"
done <<'END'
hamming --similarity 0.9 is about texts, --radius 3 about fingerprints without texts
reference is --against meant?
output-file is --output meant?
in-place '--stream' writes what stays: > NEW; what is read stays as it is
include find DIR -name '*.txt' | ... --files-from - chooses by names
minhash there is nothing to choose: doc/dedup.md
jaccard is --similarity meant?
min-similarity is --similarity meant?
exclude-dir is --exclude meant?
symlinks links in directories are not followed
exclude-index is --against meant?
verbose a terminal shows progress, unless -q is given
max-depth find DIR -maxdepth 1 -type f | ... --files-from - chooses by depth
jsonl '-F jsonl' reads such rows
all-files is --hidden meant?
no-hidden hidden files are left out, unless --hidden is given
stop words are compared as they are, and none is left out
END
while read -r option told; do
	run 2 "$load" "--$option" index x
	says "unknown option '--$option'; $told"
done <<'END'
overwrite '--create truncate' replaces an index
csv '-F csv' reads such rows
if-new '--mode if-new' stores what is new
batch-size is --commit meant?
stream --mode if-new stores what is new; 'simidx-dedup --stream' compares texts
keep of near texts 'simidx-dedup --keep' chooses the one that stays
END
# What one tool has is no advice in another one.
run 2 "$dedup" --if-new x
says "unknown option '--if-new'; '--stream' prints what is new"
run 2 "$dedup" --overwrite x
says "unknown option '--overwrite'; nothing is replaced: name a new FILE or DIR"
run 2 "$query" stats --head 3 index
says "unknown option '--head'; there are: --json, --quiet, --color WHEN, --threads N, "
run 2 "$query" search --similarity 0.8 index 0
says "unknown option '--similarity'; fingerprints cannot tell percent: --radius N, or simidx-dedup for texts"
run 2 "$query" search -d 3 index 0
says "unknown option '-d'; is --radius meant?"
run 2 "$load" --update index file
says "unknown option '--update'; '--mode replace' stores a row in the place of another one"
run 2 "$dedup" --omitfirst file
says "unknown option '--omitfirst'; is --drop-list meant?"
run 2 "$dedup" --num_perm 128 file
says "unknown option '--num_perm'; there is nothing to choose: doc/dedup.md"
run 2 "$dedup" --ngram 5 file
says "unknown option '--ngram'; a run has five words always"
for option in --output -o; do
	run 2 "$query" stats $option file file
	says "unknown option '$option'; results go to standard output: > FILE"
done
run 2 "$query" rm index
says "unknown command 'rm'; delete deletes documents, 'rm -r INDEX' an index"
run 2 "$query" groups index
says "unknown command 'groups'; is clusters meant?"
run 2 "$query" fsck index
says "unknown command 'fsck'; is verify meant?"
run 2 "$query" validate index
says "unknown command 'validate'; is verify meant?"
run 2 "$query" rebuild index
says "unknown command 'rebuild'; is repair meant?"
run 2 "$query" import index file
says "unknown command 'import'; 'simidx-load INDEX INPUT' makes and fills an index"
[ ! -e index ] || fail 'an index was made'
for command in 'match search' 'gc compact'; do
	run 2 "$query" ${command% *} index
	says "unknown command '${command% *}'; is ${command#* } meant?"
done
for command in 'backup DEST' 'compact NEW' 'export DIR'; do
	for option in -o --output; do
		run 2 "$query" ${command% *} $option new index
		says "unknown option '$option'; ${command#* } is the operand after INDEX"
	done
done
run 2 "$query" -k 3 search index 0
says "unknown option '-k'; the options of a command come behind it: simidx-query search ..."
for command in 'scan dump' 'keys dump' 'del delete' 'reindex compact' 'mlt search' '.dump dump' '_search search' \
	'vacuum-into backup' 'integrity_check verify' 'bgsave backup' 'dbsize stats'; do
	run 2 "$query" ${command% *} index
	says "unknown command '${command% *}'; is ${command#* } meant?"
done
run 2 "$query" sample index
says "'simidx-query dump INDEX' prints all; | head or shuf takes some"
run 2 "$query" import index file
says "Try 'simidx-load INDEX INPUT', or 'simidx-query --help'"
run 2 "$query" dump index 3
says "dump: one argument too many: '3'; 'simidx-query get --id INDEX N' looks a document up"
run 2 "$query" review file 3
says "review: one argument too many: '3'; --row NAME shows the pairs of a row"
run 2 "$query" review file page.html
says "review: one argument too many: 'page.html'; --html PAGE writes a page"
run 2 "$query" flushdb index
says "unknown command 'flushdb'; 'rm -r INDEX' deletes an index"
# What is the beginning of an option of ours, and an option of others.
run 2 "$query" search --max 5 index 0
says "unknown option '--max'; is --limit meant?"
run 2 "$query" search --max-can 5 no-index 0
says 'no-index: no index'
for word in search load help; do
	run 2 "$dedup" $word file
	says "there is no file '$word'; "
done
run 2 "$query" diff a b
says "'simidx-query similar A B' two texts"
run 2 "$load" --label=x
says 'INDEX is missing'
for option in -json -Json; do
	run 2 "$query" $option dump index
	says "unknown option '$option'; is --json meant?"
	says "Try 'simidx-query --json dump index', or"
done
run 2 "$query" -limit 3 search index 0
says "unknown option '-limit'; the options of a command come behind it: simidx-query search ..."
run 2 "$query" -xq stats index
says "unknown option '-x'; the options of a command come behind it: simidx-query stats ..."
run 2 "$query" pairs no-index ix
says 'no-index: no index'
run 2 "$query" search index --id 3
says "unknown option '--id'; 'simidx-query get --id INDEX N' looks a document up"

# A part of a word, one dash in place of two, and words with which other programs begin.
while read -r option told; do
	run 2 "$dedup" "$option" x
	says "unknown option '$option'; $told"
done <<'END'
--minimal-file-size find DIR -type f -size +1k | ... --files-from - chooses by size
--remove-duplicates is --drop-list meant?
--no-cache there are: -r DIR: groups of near texts; -r --drop-list DIR: files that can go; --stream FILE: rows that stay
--recurse: is --recursive meant?
--list is --drop-list meant?
--isolate is --against meant?
--html --evidence FILE, then simidx-query review --html PAGE FILE
--time --keep max:FIELD goes by dates of rows
--usage is --help meant?
-dryrun '--drop-list' prints what can be deleted; nothing is
-recursive is --recursive meant?
-nohidden hidden files are left out, unless --hidden is given
-1 groups have a line for each file; --drop-list prints names
-z -0 ends names with NUL bytes; --output FILE.gz is compressed
-? is --help meant?
-print0 is --null meant?
-name find DIR -name '*.txt' | ... --files-from - chooses by names
-keep is --keep meant?
--stem words are compared as they are, and none is left out
-Similarity is --similarity meant?
--JSON is --json meant?
--no-recursive it is so without --recursive
--min-group | cut -f 1 | uniq -c counts what each group has
--ignore-whitespace case, punctuation and white space do not count
--strip-html HTML is not parsed: pandoc -t plain makes texts
--full there are: -r DIR: groups of near texts; -r --drop-list DIR: files that can go; --stream FILE: rows that stay
--original is --prefer meant?
--append >> FILE adds lines
--verify there are: -r DIR: groups of near texts; -r --drop-list DIR: files that can go;
--search 'simidx-query search --text INDEX FILE' finds what is near to a text
--gzip --output FILE.gz is compressed
--repeated groups are printed anyway
--all-repeated groups are printed anyway
--skip-fields is --text-field meant?
--field-separator=, is --delimiter meant?
--temporary_directory=x is --tmpdir meant?
--linkhard '--drop-list' prints what could be a link, groups also to what; nothing is linked
--redis=localhost an index in an engine is named redis://HOST:PORT/NAME
--num_hashes there is nothing to choose: doc/dedup.md
--min_tokens short texts are compared, too
-c the last line counts; --drop-list | wc -l does, too
-Z is --null meant?
-s there are: -r DIR: groups of near texts; -r --drop-list DIR: files that can go;
END
while read -r option told; do
	run 2 "$load" "$option" index x
	says "unknown option '$option'; $told"
done <<'END'
--index the index is the first operand: simidx-load INDEX INPUT
--init the first load makes an index: simidx-load INDEX INPUT
--delete --mode delete -F ids INDEX FILE reads a list; a few: simidx-query delete --id INDEX N
--map-size an index grows by itself
--ngrams is --grams meant?
--on-conflict is --mode meant?
--tfidf --weights tfidf --idf FILE; 'simidx-query idf' makes FILE
--search 'simidx-query search --text INDEX FILE' finds what is near to a text
--dump there are: INDEX FILE: store rows; -r INDEX DIR: files;
--gzip | gzip compresses what is printed
--min_length is --min-tokens meant?
--min_tokens is --min-tokens meant?
--skip-duplicates '--on-duplicate first' keeps what is stored
--ttl --times keeps times; then 'simidx-query delete --older-than 30d INDEX' forgets
--columns --id-field, --fp-field and --text-field name them
--upsert '--mode replace' stores a row in the place of another one
END
while read -r command option told; do
	run 2 "$query" $command $option index 0
	says "unknown option '$option'; $told"
done <<'END'
search --index INDEX is the first operand of a command
search --k is --radius meant?
search --max-distance is --radius meant?
search --no-color '--color never'
pairs --limit what is printed has lines: | head -n N
dump -n what is printed has lines: | head -n N
search --percent fingerprints cannot tell percent: --radius N, or simidx-dedup for texts
stats --format --json prints objects
get --all 'simidx-query dump INDEX' prints all documents
get --text 'simidx-query search --text INDEX FILE' finds what is near to a text
dump --text an index has no texts; its labels name them
delete --all 'rm -r INDEX' deletes all
delete --before is --older-than meant?
dump --label 'simidx-query get --label INDEX LABEL' looks a document up
verify --fix 'simidx-query repair INDEX NEW' saves what is sound
review --all there are: --sample N, --row NAME, --html FILE
clusters --min-size a cluster has two documents or more
search --file --text FILE reads a text, -F lines FILE fingerprints, one a line
search --size '--limit' prints so many documents
search --fuzziness is --radius meant?
search --exact '--radius 0' finds the same fingerprint
search --fields what is printed has columns: | cut -f 1
dump -z | gzip compresses what is printed
dump --gzip | gzip compresses what is printed
idf -r the files of a directory are named: DIR/*
END
for word in stream groups minhash; do
	run 2 "$dedup" $word file
	says "there is no file '$word'; there are no commands"
done
for letter in d t; do
	run 2 "$dedup" -$letter, x
	says "unknown option '-$letter'; is --delimiter meant?"
	run 2 "$load" -$letter ';' x
	says "unknown option '-$letter'; is --delimiter meant?"
done
# An input that an option is to have, and options that stand alone or not.
echo words >in.txt
for letter in f i; do
	run 2 "$dedup" -$letter in.txt
	says "unknown option '-$letter'; files stand without an option"
done
run 2 "$dedup" --in in.txt
says "unknown option '--in'; files stand without an option"
run 2 "$dedup" --drop-list=out in.txt
says "option '--drop-list=out' takes no value: --drop-list"
run 2 "$dedup" --similarity
says "option '--similarity' needs a value: --similarity S"
run 2 "$load" index -F
says "option '-F' needs a value: -F FORMAT"

# A command comes first; what is meant by a letter depends on what a command has.
run 2 "$query" --text ix a.txt
says "unknown option '--text'; a command comes first, such as: simidx-query search ..."
says "Try 'simidx-query search --text ix a.txt'"
run 2 "$query" --search ix 0
says "Try 'simidx-query search ix 0'"
run 2 "$query" search -o json ix 0
says "unknown option '-o'; is --json meant?"
run 2 "$query" search --output=jsonl ix 0
says '; is --json meant?'
run 2 "$query" search -r ix docs
says "unknown option '-r'; the files of a directory are named: --text DIR/*"
run 2 "$query" plan -n 1000000
says "unknown option '-n'; is --documents meant?"
run 2 "$query" plan --documents 100 million
says '--documents 100 million: numbers are such as 5000, 50M or 1e9'
run 2 "$load" --expect 50 million ix file
says '--expect 50 million: numbers are such as'
run 2 "$query" review --limit 5 file
says "unknown option '--limit'; '--sample' shows so many pairs"
run 2 "$load" --repair ix
says "unknown option '--repair'; 'simidx-query repair INDEX NEW' saves what is sound"
says "Try 'simidx-query repair INDEX NEW', or 'simidx-load --help'"
run 2 "$query" delete ix -F labels list
says "'simidx-load --mode delete -F labels INDEX FILE' reads a list"
run 2 "$query" GET ix 0
says "unknown command 'GET'; is get meant?"
says "Try 'simidx-query get ix 0'"
run 2 "$query" find ix 0
says "Try 'simidx-query search ix 0'"
for size in 50% 1G; do
	run 2 "$dedup" -S $size docs
	says "unknown option '-S'; is --memory meant?"
done
run 2 "$query" search --format json ix 0
says "found 'json'; is jsonl meant? --json is about what is printed"
run 2 "$dedup" --keep date docs
says "found 'date'; max:date keeps the row whose \"date\" is the last"
run 2 "$dedup" --keep newst docs
says "found 'newst'; is newest meant?"
says "Try 'simidx-dedup --keep newest docs'"
run 2 "$dedup" --keep max: docs
grep -q 'meant' err && fail 'a field is missing'
says "max:FIELD or min:FIELD, found 'max:'"
run 2 "$query" search -i ix 0
says "unknown option '-i'; upper and lower case are one in texts"
run 2 "$dedup" -o time docs
says "unknown option '-o'; --keep newest, oldest, longest or first says which one stays"
run 2 "$dedup" -T . docs
says "unknown option '-T'; is --tmpdir meant?"
run 2 "$dedup" -T list docs
says "unknown option '-T'; is --files-from meant?"
run 2 "$load" --mode unique ix docs
says 'is if-new meant?'
run 2 "$dedup" --keep biggest docs
says 'is longest meant?'

# ---- values ----

while read -r option value meant; do
	run 2 "$load" $option $value index file
	says ", found '$value'; is $meant meant?"
done <<'END'
--format ndjson jsonl
--format json jsonl
--format jsonlines jsonl
--format JSONL jsonl
--format md text
--durability none normal
--on-duplicate skip first
--mode upsert replace
--mode new if-new
--mode if_new if-new
--create new must
--fp-encoding decimal dec
END
run 2 "$load" --mode slowly index file
grep -q 'meant?' err && fail 'nothing is like it'
says "expected one of add, if-new, replace, delete, found 'slowly'"
touch named
run 2 "$load" --emit named index file
says ", found 'named', the name of a file or index: the value is missing"
while read -r option value meant; do
	run 2 "$load" $option $value index file
	says "$option: found '$value'; is $meant meant?"
	says "Try 'simidx-load $option $meant index file', or"
done <<'END'
--memory 512mb 512M
--memory 2GiB 2G
--expect 50m 50M
--max-bytes 10k 10K
END
for value in '80 0.8' '95% 0.95' '0,85 0.85' '0,0 0.8' '0,8x 0.8'; do
	run 2 "$dedup" --similarity ${value% *} file
	says "such as ${value#* }, found '${value% *}'"
	says "Try 'simidx-dedup --similarity ${value#* } file', or"
done
run 2 "$dedup" --threads all file
says "--threads: expected a number in 1..256, found 'all'; without it: one a core"
run 2 "$query" search --limit all index 0
says "found 'all'"
run 2 "$load" --memory 1e7 index no-such-file
says "--memory: expected a size of at least 64M, such as 400M or 2G, found '1e7'"
run 2 "$load" --memory 1e30 index no-such-file
says "--memory: expected a size of at most 8796093022207M, found '1e30'"
run 2 "$load" --memory 1e9 index no-such-file
says 'no-such-file: cannot open'

# ---- given twice ----

# Of two files or indexes one would be forgotten; of other values the last one counts.
while read -r option first second; do
	run 2 "$dedup" --stream "--$option" "$first" "--$option" "$second" file
	says "--$option is given twice: leave out '$first' or '$second'"
done <<'END'
index a b
output a b
output-dir a b
dups a b
evidence a b
END
run 2 "$load" --rejects a --rejects b index file
says "--rejects is given twice: leave out 'a' or 'b'"
run 2 "$dedup" --index a --index a
says 'INPUT is missing'
run 2 "$dedup" --tmpdir a --tmpdir b --keep first --keep newest no-file -0
says '--keep first does not count, as --keep newest comes after it'
says '--tmpdir a does not count, as --tmpdir b comes after it'
run 2 "$dedup" -q --keep first --keep newest no-file -0
grep -q 'does not count' err && fail '-q is no use'
says '-0 is about'
run 2 "$load" --wait 1 --wait 2 --memory 1G --memory 2G --from a --from b
grep -q 'does not count' err && fail 'told of numbers or of a list'
says 'INDEX is missing'

seq 5 | awk '{ printf "%d\t%016x\tl%d\n", $1, $1 * 99, $1 }' >fps.tsv
run 0 "$load" -q ix fps.tsv
mkdir docs
echo 'one two three four five six seven' | tee docs/1 docs/2 >plain.txt
# ---- what is right is shown, with the names that were given ----

# shows RIGHT WRONG...: the command after simidx- that is right, and one that is not.
shows() {
	local right=$1
	shift
	run 2 "$@"
	says "Try 'simidx-$right', or 'simidx-"
}
cp plain.txt 'a b.txt'
# What is meant stands in the place of what was typed; the rest stays.
shows 'dedup --similarity 0.8 a b' "$dedup" --threshold 0.8 a b
shows 'dedup --similarity=0.8 a b' "$dedup" --threshold=0.8 a b
shows 'dedup --threads 4 "a b.txt"' "$dedup" -j4 'a b.txt'
shows 'dedup --threads 4 "a b.txt"' "$dedup" -j 4 'a b.txt'
shows 'dedup --keep first a b' "$dedup" -keep first a b
shows 'dedup --drop-list a' "$dedup" --dry-run a
shows 'dedup --similarity .5 "" a' "$dedup" --threshold .5 '' a
shows 'query dump --json redis://u:***@h/pages' "$query" dump --csv 'redis://u:a b?c@d@h/pages'
shows 'dedup --files-from list' "$dedup" --file-list list
shows 'dedup --stream --index seen a b' "$dedup" --index seen a b
shows 'dedup --stream --index seen a' "$dedup" --stream -i seen a
shows 'dedup --no-verify -r docs' "$dedup" -Q -r docs
shows 'load --mode if-new ix fps.tsv' "$load" --mode if_new ix fps.tsv
shows 'load --mode=if-new ix fps.tsv' "$load" --mode=if_new ix fps.tsv
shows 'load --mode if-new ix fps.tsv' "$load" --if-new ix fps.tsv
shows 'load --create truncate ix fps.tsv' "$load" --truncate ix fps.tsv
shows 'query search --radius 3 ix 0' "$query" search -d 3 ix 0
shows 'query search --threads 4 ix 0' "$query" search --jobs 4 ix 0
# What may be the value of what is wrong is neither left out nor taken for an operand.
none() {
	local program=$1
	shift
	run 2 "$@"
	says "Try 'simidx-$program --help'."
}
none dedup "$dedup" --delete yes a
none dedup "$dedup" --delete=yes a
none dedup "$dedup" --newest 5 a b
none dedup "$dedup" --output-format csv a b
none dedup "$dedup" --csv=x docs/1
none 'query delete' "$query" delete --id ix --no-summary 77 78
none 'query delete' "$query" delete --label=l3 ix
none 'query get' "$query" get --id=1 ix
# A number may be what is asked for, though.
shows 'query search ix --json 12345678' "$query" search ix --pretty 12345678
shows 'load --min-tokens 5 ix fps.tsv' "$load" --min-length 5 ix fps.tsv
shows 'query get ix --label l3' "$query" get ix --label=l3
shows 'query get ix --id 1' "$query" get ix --id=1
shows 'query dump --json ix' "$query" dump --json=true ix
shows 'dedup --quiet a' "$dedup" --quiet=true a
none 'query search' "$query" search ix -f docs/1
says '; --text FILE reads a text, -F lines FILE fingerprints, one a line'
shows 'query dump --json redis://u:***@h/pages' "$query" dump --csv redis://u:secret@h/pages
shows 'load --mode if-new --radius 3 ix fps.tsv' "$load" --radius 3 ix fps.tsv
shows 'query search --limit 1 ix 0' "$query" search -m 1 ix 0
shows 'dedup --memory 1G docs/1' "$dedup" --buffer-size 1G docs/1
shows 'dedup -r --drop-list docs' "$dedup" -rn docs
shows 'dedup -r INPUT' "$dedup" -r
# A part of a word may be another matter.
none dedup "$dedup" --keep-newest -r docs
none load "$load" --mode delete ix docs/1
says 'docs/1: --mode delete reads ids, labels, '
shows 'load INDEX --mode if-new fps.tsv' "$load" --mode if-new fps.tsv
[ -z "${SX_TEXT-}" ] || shows 'dedup --header --text-field b fps.tsv' "$dedup" --text-field b fps.tsv
# Nothing that was typed is left out.
none dedup "$dedup" --frobnicate docs
none dedup "$dedup" --files-from docs/1 --frobnicate fps.tsv
none dedup "$dedup" --similarity docs/1
none dedup "$dedup" -rdN docs
says "unknown option '-d'; is --drop-list meant?"
# Of standard input it is not known what comes.
none dedup "$dedup" - </dev/null
says 'standard input needs its format, such as -F jsonl; of a list of names: --files-from -'
shows 'load INDEX -r docs' "$load" -r docs
none load "$load" --frobnicate ix fps.tsv
says 'there are: INDEX FILE: store rows; -r INDEX DIR: files; '
none query "$query" frobnicate ix
says "unknown command 'frobnicate'; there are search, get, "
none query "$query" --frobnicate dump ix
says "unknown option '--frobnicate'; the options of a command come behind it: simidx-query dump"
shows 'query stats INDEX' "$query" stats
none 'query search' "$query" search ix --frobnicate 5 00123456
says 'there are: INDEX --text FILE: what is near to a text; '
shows 'query get ix --id 0' "$query" get ix
shows 'query delete INDEX --label LABEL' "$query" delete ix
shows 'query search ix QUERY' "$query" search ix
shows 'query search --text ix QUERY' "$query" search --text ix
shows 'query get --label ix KEY' "$query" get --label ix
none 'query delete' "$query" delete --label ix
says 'KEY is missing'
none 'query similar' "$query" similar docs/1 docs/2 docs/3
says "similar: one argument too many: 'docs/3'"
shows 'query plan --documents 1M' "$query" plan
none 'query stats' "$query" stats redis://u:secret@h/pages more
says "stats: one argument too many: 'more'"

finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# simidx-dedup --resume: what is refused and changes nothing, inputs that are passed over in each way, and runs that
# are stopped or have too little memory. What is killed at random moments is in dedup_resume.sh.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text
need_json
export TMPDIR=$tmp/own
mkdir "$TMPDIR"

# 600 rows of 40 words; each third is the one before it, and has its label.
awk "$random"' BEGIN { state = 7
		for (d = 1; d <= 600; d++) {
			if (d % 3) {
				name = d
				for (text = i = ""; ++i <= 40;)
					text = text "w" int(rnd() * 9000) " "
			}
			printf "{\"n\":%d,\"label\":\"%d\",\"text\":\"%s\"}\n", d, name, text
		}
	}' >rows.jsonl
head -200 rows.jsonl >a.jsonl
sed -n 201,401p rows.jsonl >b.jsonl
tail -199 rows.jsonl >c.jsonl
awk 'NR % 3' rows.jsonl >new.jsonl

# ---- nothing to resume ----

run 2 "$dedup" --stream --resume a.jsonl
says '--resume goes with --index'
run 2 "$dedup" --stream --resume --index redis://localhost/x a.jsonl
says '--resume needs an index in a directory'
run 0 "$dedup" --stream --index ix --resume --output new a.jsonl
says 'ix: no run to resume: starting a new one'
awk 'NR % 3' a.jsonl | cmp - new || fail 'a run that begins with --resume'
cp new before
run 0 "$dedup" --stream --index ix --resume --output new a.jsonl
says 'ix: the last run of these inputs finished: there is nothing to resume'
same new before
run 0 "$dedup" --stream --index ix --resume --output new b.jsonl
says 'ix: the last run finished, and had other inputs or options: beginning'
cat a.jsonl b.jsonl | awk 'NR % 3' | cmp - new || fail 'other inputs'
run 2 "$dedup" --stream --index ix --resume --output new -F jsonl - <c.jsonl
says 'ix: the last run finished, so there is nothing to resume: without --resume these inputs are read'
"$load" -q -F jsonl --on-duplicate first other a.jsonl
run 0 "$dedup" --stream --index other --remember fingerprint --resume -F jsonl c.jsonl
says 'other: no run to resume: starting a new one'

# ---- a run that is killed between two commits ----

# killed_run [OPTION...]: a.jsonl, a pipe that brings the rows of b.jsonl, and then c.jsonl. It is killed when
# the rows of the pipe were committed.
what=(--stream --index ix --remember text --output new --dups dups -F jsonl)
killed_run() {
	rm -rf ix new dups pipe
	mkfifo pipe
	"$dedup" -q "${what[@]}" a.jsonl pipe c.jsonl 2>err &
	exec 3>pipe
	cat b.jsonl >&3
	until_holds ix 268
	kill "-$1" $!
	exec 3>&-
	wait $! 2>/dev/null
	[ "$(wc -l <new)" -eq 268 ] || fail "the run has kept $(wc -l <new) rows"
}
# resume INPUT...: with b.jsonl in the pipe again.
resume() {
	(cat "${in:-b.jsonl}" >pipe) 2>/dev/null &
	feeder=$!
	"$dedup" "${what[@]}" --resume "$@" >stdout 2>err
	code=$?
	kill $feeder 2>/dev/null
	wait $feeder 2>/dev/null
}
# refused TEXT INPUT...
refused() {
	resume "${@:2}"
	[ $code -eq 2 ] || fail "exit $code: ${*:2}"
	says "$1"
}

killed_run KILL
printf 'half a ' >>new
printf 'half a ' >>dups
# Other inputs, in another order, of another size, or not all.
refused 'b.jsonl: --resume: this input or those before it are not what was read before' a.jsonl b.jsonl
refused 'a.jsonl: --resume: this input or those before it' pipe a.jsonl c.jsonl
cp a.jsonl kept
echo '{"text":"one more"}' >>a.jsonl
refused 'pipe: --resume: this input or those before it' a.jsonl pipe c.jsonl
mv kept a.jsonl
refused 'ix: --resume: there are fewer inputs than were read before' a.jsonl
# The pipe brings less, or other lines.
head -100 b.jsonl >less
in=less refused 'pipe: --resume: has other rows than were read before' a.jsonl pipe c.jsonl
tr '\n' ' ' <b.jsonl >one
in=one refused 'pipe: --resume: has other rows than were read before' a.jsonl pipe c.jsonl
# Other files to write to.
all=("${what[@]}")
what=(--stream --index ix --remember text --output new -F jsonl)
refused '--resume: the run that did not finish had --dups, too' a.jsonl pipe c.jsonl
what=(--stream --index ix --remember text --output new2 --dups dups -F jsonl)
refused 'new2: is not the file that the unfinished run wrote to, nor is a copy of it' a.jsonl pipe c.jsonl
what=(--stream --index ix --remember text --dups dups -F jsonl)
refused '--resume' a.jsonl pipe c.jsonl
what=(--stream --index ix --remember text --output-dir shards --dups dups -F jsonl)
refused 'ix: --resume: the run that did not finish had other inputs or options, such as --output-dir or --similarity' a.jsonl c.jsonl
# Other decisions would make one data set by two rules.
for option in --similarity=0.9 --all --accept=100 --text-field=other; do
	what=(--stream --index ix --remember text --output new --dups dups -F jsonl "$option")
	refused 'ix: --resume: the run that did not finish had other inputs or options' a.jsonl pipe c.jsonl
done
what=("${all[@]}")
cp new whole
truncate -s 1000 new
refused 'new: has 1000 bytes, and ' a.jsonl pipe c.jsonl
cat whole >new
# Nothing of all that has done harm.
resume a.jsonl pipe c.jsonl
[ $code -eq 0 ] || fail "exit $code: $(cat err)"
says 'ix: going on after row 401 of these inputs'
says '199 documents in '
same new new.jsonl
# Each third row has the label of the one before it. That of the first row of c.jsonl was kept before the kill; it is
# of the same run, and no document that is read again.
cut -f 2 dups | sed 's/.*://' | cmp - <(seq 3 3 200; seq 1 3 201; seq 1 3 199) || fail 'dups of a run that was resumed'

# A file that was removed, and another one that has its inode now, is not cut: that is known by its birth.
if [ "$(stat -c %W new)" -gt 0 ]; then
	killed_run KILL
	was=$(stat -c %i new)
	rm new
	for i in $(seq 200); do
		cat rows.jsonl >"filler.$i"
		[ "$(stat -c %i "filler.$i")" -ne "$was" ] || break
	done
	if mv "filler.$i" new && [ "$(stat -c %i new)" -eq "$was" ]; then
		refused 'new: is not the file that the unfinished run wrote to, nor is a copy of it' a.jsonl pipe c.jsonl
		same new rows.jsonl
	else
		echo 'not tried: no file gets an inode that has become free'
	fi
	rm -f filler.*
fi

# A signal asks to stop: what was committed stays.
killed_run TERM
resume a.jsonl pipe c.jsonl
[ $code -eq 0 ] || fail "exit $code: $(cat err)"
same new new.jsonl

# Without --resume the rows of the last commit come again, and that is told.
killed_run KILL
run 0 "$dedup" --stream --index ix --dups dups --output new c.jsonl
says 'ix: the last run did not finish, or is at work: --resume goes on with it, and this run begins anew'
same new new.jsonl
run 0 "$dedup" -q --stream --index ix --resume --dups dups --output new c.jsonl
same new new.jsonl

# ---- too little memory, in each way of passing over what was read ----

# Another --output-dir after a run that came to its end is another one.
rm -rf ix o1 o2
run 0 "$dedup" -q --stream --index ix --output-dir o1 a.jsonl
run 0 "$dedup" --stream --index ix --output-dir o2 --resume a.jsonl
says 'ix: the last run finished, and had other inputs or options: beginning'
[ -e o2/a.jsonl ] || fail 'no shard in another --output-dir'

# Fingerprints that differ in many bits; every tenth is the one five before. 58M are enough for 349,525.
awk 'BEGIN { for (i = 0; i < 400000; i++) { x = (x * 69069 + 12345) % 4294967296
	if (i % 10 == 9) print old; else printf "%08x%08x\n", x, (i * 40503) % 4294967296
	if (i % 10 == 4) old = sprintf("%08x%08x", x, (i * 40503) % 4294967296) } }' >fps
mkdir tables
{ echo 'id,fp'; awk '{ print NR "," $0 }' fps; } >tables/fps.csv
awk '{ print NR "\t" $0 }' fps >tables/fps.tsv
cp fps tables/fps
[ -z "${SX_ZLIB-}" ] || gzip -k tables/fps.csv
for name in fps fps.tsv fps.csv fps.csv.gz; do
	[ -e tables/$name ] || continue
	rm -rf ix o dups one
	how=(--stream -k 0)
	case $name in
	*.csv*) how+=(--header) ;;
	*.tsv) ;;
	*) how+=(-F lines) ;;
	esac
	run 0 "$dedup" -q "${how[@]}" --output-dir one --dups dups tables/$name
	mv dups dups.want
	run 2 "$dedup" -q "${how[@]}" --threads 1 --memory 58M --index ix --dups dups --output-dir o tables/$name
	says 'nothing from there on was read; --resume goes on with more --memory'
	run 0 "$dedup" "${how[@]}" --index ix --dups dups --output-dir o --resume tables/$name
	says 'going on after row 349,4'
	case $name in
	*.gz) gzip -dc one/$name | cmp - <(gzip -dc o/$name) ;;
	*) cmp one/$name o/$name ;;
	esac || fail "$name: another shard than of one run"
	cut -f 1,2 dups | cmp - <(cut -f 1,2 dups.want) || fail "$name: other lines of --dups"
done

# What a shard has that comes later was not committed.
rm -rf ix o one
head -500 fps >tables/later
run 2 "$dedup" -q --stream -k 0 -F lines --threads 1 --memory 58M --index ix --dups dups2 --output-dir o tables/fps tables/later
says 'nothing from there on was read'
[ ! -e o/later ] || fail 'a shard that comes later is there'
echo 'half a' >o/later
echo 'half a' >>o/fps
echo 'of the kill before' >o/later.uncommitted.1
run 0 "$dedup" --stream -k 0 -F lines --index ix --dups dups2 --output-dir o --resume tables/fps tables/later
says 'o/later: had what was not committed, which is in o/later.uncommitted.2 now'
same o/later.uncommitted.1 <(echo 'of the kill before')
same o/later.uncommitted.2 <(echo 'half a')
awk '!seen[$0]++' fps | cmp - o/fps || fail 'what was behind the last commit of a shard'
same o/later /dev/null

# What is written may be in a directory of inputs: it is the run's own.
mkdir walked
cp fps walked/a
cp fps walked/z
rm -rf ix
run 2 "$dedup" -q --stream -k 0 -F lines --threads 1 --memory 58M --index ix --dups walked/dups --output walked/out -r walked
says 'nothing from there on was read'
run 0 "$dedup" -q --stream -k 0 -F lines --index ix --dups walked/dups --output walked/out --resume -r walked
awk '!seen[$0]++' fps | cmp - walked/out || fail 'an output in a directory of inputs'
[ "$(wc -l <walked/dups)" -eq 440000 ] || fail "$(wc -l <walked/dups) lines of --dups"
finish

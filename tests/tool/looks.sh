#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What the first bytes of a file look like, at the borders: objects of JSON in a file of a text, decimal
# numbers where hexadecimal ones are read, and UTF-16.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
need_text

object='has a JSON object in its first line: -F jsonl reads a row a line; -F text takes the file as one text'

# refused: ./text is no text, and taken as one only if that is asked for.
refused() {
	run 2 "$load" -q refused text
	says "simidx-load: text: $object"
	rm -rf taken
	run 0 "$load" -q -F text taken text
}

# taken: ./text is one.
taken() {
	rm -rf taken
	run 0 "$load" -q taken text
	errors </dev/null
}

# ---- an object in the first line ----

printf '{"text":"one"}\n' >text
refused
# Behind the mark of UTF-8, and behind blanks.
printf '\xef\xbb\xbf{"text":"one"}\n' >text
refused
printf ' \t {"text":"one"}\n' >text
refused
# A quote that is escaped does not end a name.
printf '{"a\\"b":1}\n' >text
refused
printf '{"a\\\\":1}\n' >text
refused
# Of a line that goes on behind what is looked at, the beginning is enough.
{ printf '{"text":"'; printf '%070000d' 0; printf '"}\n'; } >text
refused
# Braces alone are a text: no name, no colon, no end.
for words in '{' '{}' '{one}' '{"one"}' '{"one" two}' '{"one":1' 'a {"text":"one"}'; do
	echo "$words, and so on" >text
	taken
done

# ---- decimal numbers in lines of fingerprints ----

# decimal LINE...: are told as such; hexadecimal LINE...: are not.
decimal() {
	printf '%s\n' "$@" >fps
	rm -rf fps.ix
	run 0 "$load" -F lines fps.ix fps
	says 'simidx-load: fps: has decimal numbers, read as hexadecimal ones without --fp-encoding dec'
}

hexadecimal() {
	printf '%s\n' "$@" >fps
	rm -rf fps.ix
	run 0 "$load" -F lines fps.ix fps
	grep -q decimal err && fail "told of decimal numbers: $*"
}

decimal 123456789 234567891
hexadecimal 123456789          # one line says little
hexadecimal 12345678 23456789  # eight digits are too few, nine are enough
decimal 12345678 234567891     # on average
hexadecimal 123456789 23456789a
hexadecimal 123456789 034567891 # no decimal number begins with 0
decimal 123456789 234567891
run 0 "$load" -F lines --fp-encoding dec dec.ix fps
grep -q 'has decimal' err && fail "told of decimal numbers that were asked for"

# ---- UTF-16, either way round ----

for mark in '\xff\xfe' '\xfe\xff'; do
	# shellcheck disable=SC2059
	printf "${mark}a\\0b\\0" >wide
	run 2 "$load" -q -F tsv --text-field 1 wide.ix wide
	says 'wide: is UTF-16: iconv -f UTF-16 -t UTF-8 FILE | ... -F tsv - reads it'
done
finish

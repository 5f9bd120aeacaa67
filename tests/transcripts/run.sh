#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Runs a transcript: a file of commands and all that they print. In a transcript
#   $ COMMAND     is run by one shell in a directory of its own, with nothing as standard input;
#   > LINE        goes on with the command;
#   # NOTE        and empty lines mean nothing to the commands;
#   # needs: NAME...  says what must be built: JSON, TEXT, STEMMER, ZLIB or ZSTD, else it is skipped.
# All other lines are output: that on standard output as it is, that on standard error after "! ", then
# "exit N" unless N is 0. "." is an empty line, a line that is longer than 95 columns goes on after
# "\", and "\no end" is a last line that has no end. What differs between runs is replaced: names of
# temporary directories by TMP, the time at the end of a summary by nothing, and times, speeds, sizes of
# memory and of index files in JSON by N.
# Usage: run.sh [-p] FILE
#   -p  print what the transcript would be, and compare nothing
print=
if [ "$1" = -p ]; then
	print=yes
	shift
fi
transcript=$(realpath "$1")
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
PATH=$SX_BUILDDIR/tools:$PATH
umask 022
unset TMPDIR NO_COLOR

for need in $(sed -n 's/^# needs: //p' "$transcript"); do
	need=SX_$need
	[ -n "${!need-}" ] || skip "built without ${need#SX_}"
done

# as_shown MARK: standard input as a transcript has it.
as_shown() {
	sed -E -e "s|$tmp|TMP|g" \
		-e '/^simidx-(load|dedup): /s| in [0-9.]+ s\b( \([0-9.]+( [KMG])? (rows\|texts)/s\))?||' \
		-e 's/"note_bytes":[1-9][0-9]*/"note_bytes":N/; s/, in [0-9]+ bytes$/, in N bytes/' \
		-e 's/"(seconds|rows_per_s|peak_rss|index_bytes)":[-+0-9.e]+/"\1":N/g' |
		awk -v mark="$1" '
		{
			line = mark ($0 == "" ? "." : $0)
			while (length(line) + 7 * gsub(/\t/, "&", line) > 95) {
				head = substr(line, 1, 94)
				if (!match(head, /.*[, \t;:]/))
					break
				print substr(line, 1, RLENGTH) "\\"
				line = substr(line, RLENGTH + 1)
			}
			print line
		}'
}

# shown FILE MARK: what a command has printed.
shown() {
	[ -s "$tmp.d/$1" ] || return
	as_shown "$2" <"$tmp.d/$1"
	[ -z "$(tail -c 1 "$tmp.d/$1" | tr -d '\n')" ] || echo '\no end'
}

# Run the command that was read, if there is one.
turn() {
	local code
	[ -n "$command" ] || return
	eval "$command" >"$tmp.d/out" 2>"$tmp.d/err" </dev/null
	code=$?
	{
		shown out ''
		shown err '! '
		[ $code -eq 0 ] || echo "exit $code"
	} >>"$tmp.d/got"
	command=
}

mkdir "$tmp.d"
trap 'chmod -R u+rwx "$tmp"; rm -rf "$tmp" "$tmp.d"' EXIT
command=
while IFS= read -r line; do
	case $line in
	'$ '*)
		turn
		command=${line#??}
		;;
	'> '* | '>')
		more=${line#'>'}
		command+=$'\n'${more# }
		;;
	'#'* | '') turn ;;
	*) continue ;;
	esac
	printf '%s\n' "$line" >>"$tmp.d/got"
done <"$transcript"
turn
if [ -n "$print" ]; then
	cat "$tmp.d/got"
	exit
fi
diff -u --label "what ${transcript##*/} says" "$transcript" --label 'what is printed' "$tmp.d/got" ||
	fail 'another output (+) than in the transcript (-)'
finish

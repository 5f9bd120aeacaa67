#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Runs a transcript: a file of commands and all that they print. In a transcript
#   $ COMMAND     is run by one shell in a directory of its own, with nothing as standard input, and
#                 knows what tool_lib.sh has;
#   > LINE        goes on with the command;
#   # NOTE        and empty lines mean nothing to the commands;
#   # needs: NAME...  says what must be built: JSON, TEXT, STEMMER, ZLIB or ZSTD, and with small
#                 letters, which programs must be there; else it is skipped.
# All other lines are output: that on standard output as it is, that on standard error after "! ",
# then "exit N" unless N is 0. "." is an empty line, a line that is longer than 95 columns goes on
# after "\", and "\no end" is a last line that has no end. What differs between runs is replaced:
# names of temporary directories by TMP, the time at the end of a summary by nothing, times, speeds,
# sizes of memory and of index files in JSON by N, and what a library says about malformed JSON by
# REASON.
# Usage: run.sh [-p] FILE
#   -p  print what the transcript would be, and compare nothing
tr_print=
if [ "$1" = -p ]; then
	tr_print=yes
	shift
fi
tr_transcript=$(realpath "$1")
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
PATH=$SX_BUILDDIR/tools:$PATH
umask 022
unset TMPDIR NO_COLOR

for tr_need in $(sed -n 's/^# needs: //p' "$tr_transcript"); do
	case $tr_need in
	[a-z]*) command -v "$tr_need" >/dev/null || skip "no $tr_need is installed" ;;
	*)
		tr_need=SX_$tr_need
		[ -n "${!tr_need-}" ] || skip "built without ${tr_need#SX_}"
		;;
	esac
done

# tr_as_shown MARK: standard input as a transcript has it.
tr_as_shown() {
	sed -E -e "s|$tmp|TMP|g" \
		-e '/^simidx-(load|dedup): /s| in [0-9.]+ s\b( \([0-9.]+( [KMG])? (rows\|texts)/s\))?||' \
		-e '/: a NUL byte/!s/(malformed JSON at column [0-9]+: ).*/\1REASON/' \
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

# tr_shown FILE MARK: what a command has printed.
tr_shown() {
	[ -s "$tmp.d/$1" ] || return
	tr_as_shown "$2" <"$tmp.d/$1"
	[ -z "$(tail -c 1 "$tmp.d/$1" | tr -d '\n')" ] || echo '\no end'
}

# Run the command that was read, if there is one.
tr_turn() {
	local tr_code
	[ -n "$tr_command" ] || return
	eval "$tr_command" >"$tmp.d/out" 2>"$tmp.d/err" </dev/null
	tr_code=$?
	{
		tr_shown out ''
		tr_shown err '! '
		[ $tr_code -eq 0 ] || echo "exit $tr_code"
	} >>"$tmp.d/got"
	tr_command=
}

mkdir "$tmp.d"
# Commands are as those that a user types. A subshell of one that fails has this trap, too.
set +u
trap '[ "$BASHPID" -ne $$ ] || { chmod -R u+rwx "$tmp"; rm -rf "$tmp" "$tmp.d"; }' EXIT
tr_command=
while IFS= read -r tr_line; do
	case $tr_line in
	'$ '*)
		tr_turn
		tr_command=${tr_line#??}
		;;
	'> '* | '>')
		tr_more=${tr_line#'>'}
		tr_command+=$'\n'${tr_more# }
		;;
	'#'* | '') tr_turn ;;
	*) continue ;;
	esac
	printf '%s\n' "$tr_line" >>"$tmp.d/got"
done <"$tr_transcript"
tr_turn
if [ -n "$tr_print" ]; then
	cat "$tmp.d/got"
	exit
fi
diff -u --label "what ${tr_transcript##*/} says" "$tr_transcript" \
	--label 'what is printed' "$tmp.d/got" ||
	fail 'another output (+) than in the transcript (-)'
finish

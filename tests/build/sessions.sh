#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Runs the shell sessions of documents and compares what they show. A session is a block that
# begins with ```console: lines with "$ " are commands, lines with "> " go on with them, all others
# are output, both streams together. "..." in the output stands for anything. Each command ends with
# status 0, unless the next one is "echo $?". The sessions of a document run one after the other in
# one shell and one new directory, where LICENSE is, and bench/ if it is built.
# A block "```console in a terminal" shows what a terminal of 80 columns shows, without colours. A
# block "```console not run: REASON" is left out, and its reason printed.
# A block "```console needs PROGRAM" is left out where that is not installed, and this printed.
# A block "```c NAME.c" or "```python NAME.py" is a file there; cc and pkg-config in sessions build with what is not
# installed yet.
# Usage: sessions.sh [--bare] DOCUMENT..., by their names in the tree. --bare: as where no PROGRAM
# of these blocks is installed.
set -uo pipefail
cd "$SX_SRCDIR" || exit

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
PATH=$SX_BUILDDIR/tools:$PATH
export LC_ALL=C.UTF-8
failed=0
bare=
if [ "${1-}" = --bare ]; then
	bare=yes
	shift
fi

pkg-config() {
	local name=${!#}
	[ "$name" = libsimidx ] || echo "$SX_BUILDDIR/lib/text/$name.la"
	echo "$SX_BUILDDIR/lib/libsimidx.la"
}

cc() { # -o PROGRAM FILE.c LIBRARY.la...
	# shellcheck disable=SC2086 # options are words
	$SX_CC $SX_CFLAGS -Wall -Wextra -Werror -I"$SX_SRCDIR/include" -c -o "$2.o" "$3" &&
		"$SX_BUILDDIR/libtool" --quiet --tag=CC --mode=link $SX_CC $SX_CFLAGS -o "$2" "$2.o" "${@:4}"
}

in_terminal() { # COMMAND WORD...
	NO_COLOR=1 script -qec "stty cols 80; $*" /dev/null | tr -d '\r'
}

has_terminal() {
	script -qec true /dev/null </dev/null >/dev/null 2>&1
}

# Make NUMBER.command, NUMBER.wanted and NUMBER.line of each command, and refuse what would not run.
extract() { # DOCUMENT
	awk -v to="$tmp/steps/" -v dir="$tmp/dir/" '
	function bad(why) {
		printf "%s:%d: %s\n", FILENAME, FNR, why
		failed = 1
	}
	/^ *```/ {
		if (kind) {
			kind = file = ""
		} else {
			kind = $1
			before = needs = ""
			if ($0 ~ /^```console not run: ./)
				printf "%s:%d: %s\n", FILENAME, FNR, substr($0, 12)
			else if (kind == "```console" && (NF == 1 || $0 ~ /^```console in a terminal$/)) {
				kind = "run"
				before = NF == 1 ? "" : "in_terminal "
			}
			else if ($0 ~ /^```console needs [a-z0-9]+$/) {
				kind = "run"
				needs = $3
			}
			else if (kind ~ /console|sh$|shell/)
				bad("expected ```console, perhaps with \"in a terminal\", " \
				    "\"needs PROGRAM\" or \"not run: REASON\"")
			else if ((kind == "```c" || kind == "```python") && NF == 2)
				file = dir $2
			else if (kind == "```")
				kind = "text"
			step = ""
		}
		next
	}
	file { print >file; next }
	kind == "run" && /^\$ / {
		step = sprintf("%s%03d", to, ++n)
		print before substr($0, 3) >(step ".command")
		printf "" >(step ".wanted")
		print FNR >(step ".line")
		if (needs)
			print needs >(step ".needs")
		next
	}
	kind == "run" && step == "" { bad("a session begins with a command") }
	kind == "run" && /^> / { print substr($0, 3) >(step ".command"); next }
	kind == "run" { print >(step ".wanted"); next }
	(!kind && /^    / || kind == "text") &&
	/^ *(\$ |sudo |apt-get |make |cc |mdb_|simidx-(load|query) |\.\/|bench\/.* --)/ {
		bad("commands belong into a block ```console")
	}
	END { exit failed }' "$1"
}

# Without what differs between runs: blanks at the ends of lines, and how long a run took.
plain() {
	sed -E -e 's/[[:space:]]*$//' -e '/^simidx-(load|dedup): /s/ in [0-9.]* s\b//' "$1"
}

# Whether the output is what is shown, apart from "...".
same() { # WANTED GOT
	local pattern
	pattern=$(plain "$1" | sed -e 's/[][*?\\]/\\&/g' -e 's/\.\.\./*/g')
	# shellcheck disable=SC2053 # it is a pattern
	[[ $(plain "$2") == $pattern ]]
}

run() { # DOCUMENT
	local step next last=0 bad=0
	set -- "$1" "$tmp"/steps/*.command
	[ -e "$2" ] || { echo "$1: no sessions" && return 0; }
	for step in "${@:2}"; do
		step=${step%.command}
		if grep -q '^in_terminal ' "$step.command" && ! has_terminal; then
			echo "$1:$(cat "$step.line"): not run: no pseudo-terminal is to be had"
			continue
		fi
		if [ -e "$step.needs" ] &&
			{ [ $bare ] || ! command -v "$(cat "$step.needs")" >/dev/null; }; then
			echo "$1:$(cat "$step.line"): not run: no $(cat "$step.needs") here"
			last=0
			continue
		fi
		eval "(exit $last); $(cat "$step.command")" >"$step.got" 2>&1 </dev/null
		last=$?
		printf -v next '%s/%03d.command' "${step%/*}" $((10#${step##*/} + 1))
		if [ $last -ne 0 ] && ! grep -qsxF "echo \$?" "$next"; then
			echo "$1:$(cat "$step.line"): exit status $last: $(head -n 1 "$step.command")"
			bad=1
		fi
		same "$step.wanted" "$step.got" || {
			echo "$1:$(cat "$step.line"): another output: $(head -n 1 "$step.command")"
			diff -u --label shown "$step.wanted" --label printed "$step.got"
			bad=1
		}
	done
	echo "$1: $(($# - 1)) commands"
	return $bad
}

for document; do
	mkdir "$tmp/steps" "$tmp/dir"
	cp LICENSE "$tmp/dir"
	extract "$document" || failed=1
	[ ! -d "$SX_BUILDDIR/bench" ] || ln -s "$SX_BUILDDIR/bench" "$tmp/dir/bench"
	(cd "$tmp/dir" && run "$document") || failed=1
	rm -rf "$tmp/steps" "$tmp/dir"
done
exit $failed

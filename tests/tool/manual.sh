#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Manual pages and completions have all commands and options that --help has.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
made=$SX_BUILDDIR/tools/manual
[ -e "$made/simidx-query.1" ] || made=$SX_SRCDIR/tools/manual
[ -e "$made/simidx-query.1" ] || skip 'a cross build from a repository has no manual pages'

# options_of COMMAND...: what --help names.
options_of() {
	"$@" --help | grep -oE '^  (-[A-Za-z0-9],|   ) --[a-z0-9-]+' | grep -oE -- '--[a-z0-9-]+'
}

# complete_for PROGRAM WORD...: what bash proposes for the last word.
complete_for() {
	COMP_WORDS=("$@")
	COMP_CWORD=$(($# - 1))
	COMPREPLY=()
	"_${1//-/_}"
	printf '%s\n' "${COMPREPLY[@]}" | sort
}

# check_options TOOL [COMMAND]: the manual page, bash, zsh and fish have each option.
check_options() {
	local tool=$1 name=${1##*/} option
	shift
	options_of "$tool" "$@" | sort -u >options
	[ "$(wc -l <options)" -ge 8 ] || fail "--help names few options: $name $*"
	complete_for "$name" "$@" -- >proposed
	cmp options proposed || { fail "bash proposes other options: $name $*"; diff options proposed; }
	while read -r option; do
		grep -q "^\.It .*Fl Fl ${option#--}\( \|$\)" "$made/$name.1" ||
			fail "not in the manual page: $name $* $option"
		grep -qF -- "'*$option" "$made/zsh/_$name" || fail "not for zsh: $name $* $option"
		if [ $# -eq 0 ]; then
			grep -q -- "-c $name -l ${option#--} " "$made/fish/$name.fish"
		else
			grep -qE -- "-c $name( -n '__fish_seen_subcommand_from $1')? -l ${option#--} " \
				"$made/fish/$name.fish"
		fi || fail "not for fish: $name $* $option"
	done <options
}

for name in simidx-load simidx-query; do
	# shellcheck source=/dev/null
	. "$made/bash/$name" || fail "bash does not read $name"
done
check_options "$load"
check_options "$query"
"$query" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p' >commands
[ "$(wc -l <commands)" -eq 10 ] || fail 'not ten commands'
while read -r command; do
	check_options "$query" "$command"
	grep -q "^\.Cm $command$" "$made/simidx-query.1" || fail "no synopsis: $command"
	grep -q "^	'$command:" "$made/zsh/_simidx-query" || fail "not for zsh: $command"
	grep -q -- " -a $command -d " "$made/fish/simidx-query.fish" || fail "not for fish: $command"
done <commands

# What bash proposes besides options.
proposes() {
	local want=$1
	shift
	[ "$(complete_for "$@" | tr '\n' ' ')" = "$want" ] ||
		fail "'$(complete_for "$@" | tr '\n' ' ')', not '$want' is proposed: $*"
}
mkdir folder
touch file.tsv
sort commands | tr '\n' ' ' >all
proposes "$(cat all)" simidx-query ''
proposes 'search similar stats ' simidx-query --json s
proposes "$(cat all)" simidx-query help ''
proposes 'text tsv ' simidx-query search index -F t
proposes 'tsv ' simidx-query dump --format ts
proposes 'tsv ' simidx-query dump --format = ts
proposes 'jsonl tsv ' simidx-query dump --format = =
proposes 'file.tsv ' simidx-query search index --bit-weights 'fi'
proposes 'folder ' simidx-query similar --index fo
proposes 'auto insert rebuild ' simidx-load --write ''
proposes 'en ' simidx-query search --stop e
proposes 'file.tsv folder ' simidx-load index f
proposes '--text-field --threads --tmpdir --top ' simidx-load --t

if command -v zsh >/dev/null; then
	zsh -n "$made/zsh/_simidx-load" && zsh -n "$made/zsh/_simidx-query" || fail 'zsh does not read it'
fi
if command -v fish >/dev/null; then
	fish -n "$made/fish/simidx-load.fish" "$made/fish/simidx-query.fish" ||
		fail 'fish does not read it'
fi
if command -v mandoc >/dev/null; then
	for name in simidx-load simidx-query; do
		# Pages point to each other before they are installed.
		mandoc -T lint "$made/$name.1" | grep -v 'referenced manual not found' &&
			fail "mandoc finds fault with $name.1"
	done
else
	[ "$failures" -eq 0 ] && skip 'no mandoc, so manual pages are not linted'
fi
finish

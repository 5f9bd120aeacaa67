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

# in_bash, in_zsh, in_fish: print what the shell proposes at the end of each line of standard input:
# the line, a tab, and a word. The tools are in PATH, as fish completes what it finds only.
in_bash() {
	local line word
	while IFS= read -r line; do
		read -ra COMP_WORDS <<<"$line"
		[ "$line" = "${line% }" ] || COMP_WORDS+=('')
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		COMPREPLY=()
		"_${COMP_WORDS[0]//-/_}"
		for word in "${COMPREPLY[@]}"; do printf '%s\t%s\n' "$line" "$word"; done
	done
}
in_zsh() {
	TERM=dumb timeout 100 zsh -f "$SX_SRCDIR/tests/tool/propose.zsh" "$made/zsh"
}
in_fish() {
	HOME=$tmp XDG_CONFIG_HOME=$tmp PATH=$SX_BUILDDIR/tools:$PATH timeout 100 fish -c "
		set -p fish_complete_path $made/fish
		while read -l line
			for word in (complete -C \$line)
				printf '%s\t%s\n' \$line (string replace -r '/?(\t.*)?\$' '' -- \$word)
			end
		end"
}

# proposes LINE WORDS: what every shell is to propose at the end of a line, for the table below.
proposes() {
	local word
	echo "$1" >>lines
	for word in $2; do printf '%s\t%s\n' "$1" "$word"; done >>expected
}

# check_options TOOL [COMMAND]: the manual page has each option, or that of the tool where all
# commands have it, and the shells propose it.
check_options() {
	local tool=$1 name=${1##*/} option page=$made/${1##*/}${2+-$2}.1
	shift
	options_of "$tool" "$@" | sort -u >options
	[ "$(wc -l <options)" -ge 8 ] || fail "--help names few options: $name $*"
	proposes "$name${1+ $1} --" "$(cat options)"
	while read -r option; do
		grep -q "^\.It .*Fl Fl ${option#--}\( \|$\)" "$page" "$made/$name.1" ||
			fail "not in the manual page: $name $* $option"
	done <options
	for section in 'EXIT STATUS' ENVIRONMENT FILES 'SEE ALSO'; do
		grep -qx "\.Sh $section" "$page" || fail "$page has no $section"
	done
}

for name in simidx-dedup simidx-load simidx-query; do
	# shellcheck source=/dev/null
	. "$made/bash/$name" || fail "bash does not read $name"
done
check_options "$dedup"
check_options "$load"
check_options "$query"
"$query" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  .*/\1/p' >commands
[ "$(wc -l <commands)" -eq 17 ] || fail 'not seventeen commands'
while read -r command; do
	check_options "$query" "$command"
	grep -q "^\.It Xr simidx-query-$command 1$" "$made/simidx-query.1" ||
		fail "simidx-query(1) does not name $command"
	grep -q "^\.Cm $command$" "$made/simidx-query-$command.1" || fail "no synopsis: $command"
done <commands

# What is proposed besides options.
mkdir -p asked/folder
touch asked/file.tsv
all=$(cat commands)
proposes 'simidx-query ' "$all"
proposes 'simidx-query --json s' 'search similar stats'
proposes 'simidx-query --color auto s' 'search similar stats'
proposes 'simidx-query help ' "$all"
proposes 'simidx-query search index -F t' 'text tsv'
proposes 'simidx-query get search --i' '--id'
proposes 'simidx-query dump --format ts' 'tsv'
proposes 'simidx-query search index --bit-weights fi' 'file.tsv'
proposes 'simidx-query similar --index fo' 'folder'
proposes 'simidx-load --write ' 'auto insert rebuild'
proposes 'simidx-load -F d' 'dump'
proposes 'simidx-query search --stop en' 'en'
proposes 'simidx-load index f' 'file.tsv folder'
proposes 'simidx-load --t' '--text-field --threads --time --times --tmpdir --top --touch'
sort -u expected >table
for shell in bash zsh fish; do
	if ! command -v $shell >/dev/null; then
		missing="${missing-}, no $shell, whose completions are not tried"
		continue
	fi
	# Proposals are also made of the files that are there.
	(cd asked && in_$shell <../lines) | sort -u >proposed
	diff table proposed >difference || { fail "$shell does not propose the same (<)"; cat difference; }
done
# In bash, "=" is a word of its own.
printf '%s\n' 'simidx-query dump --format = ts' 'simidx-query dump --format =' | in_bash >proposed
diff - proposed <<'END' || fail 'bash proposes other values after ='
simidx-query dump --format = ts	tsv
simidx-query dump --format =	tsv
simidx-query dump --format =	jsonl
simidx-query dump --format =	full
END

if command -v mandoc >/dev/null; then
	for page in "$made"/*.1 "$SX_SRCDIR/doc/simidx.3"; do
		# Pages point to each other before they are installed.
		mandoc -T lint "$page" | grep -v 'referenced manual not found\|outdated mandoc.db' &&
			fail "mandoc finds fault with $page"
	done
else
	missing="${missing-}, no mandoc, so manual pages are not linted"
fi
[ "$failures" -gt 0 ] || [ -z "${missing-}" ] || skip "${missing#, }"
finish

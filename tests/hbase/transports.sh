#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# Framed messages, HTTP, and HTTP over TLS: the same answers; and connections of TLS that must not be used,
# or never get anywhere. No HBase is needed.
# shellcheck disable=SC2154 # gateway() sets a variable
# shellcheck source=tests/tool/tool_lib.sh
. "$SX_SRCDIR/tests/tool/tool_lib.sh"
# shellcheck source=tests/hbase/gateway_lib.sh
. "$SX_SRCDIR/tests/hbase/gateway_lib.sh"

# works URI: an index there is loaded, searched, dumped and verified as the local one, `near`.
"$helpers/linear_scan" documents 1000 5 >documents.tsv
cut -f2 documents.tsv | sed -n '1~50p' >queries
works() {
	run 0 "$load" -q --commit 300 "$1" documents.tsv
	run 0 "$query" search "$1" -F lines --radius 5 queries
	cp out found
	run 0 "$query" dump "$1"
	cp out dump
	run 0 "$query" verify "$1"
	[ "$1" != near ] || { mv found found.near && mv dump dump.near && return; }
	same found found.near
	same dump dump.near
}
works near

gateway http http
works "hbase://127.0.0.1:$http/w?transport=http"
run 0 timeout 100 "$model" "hbase://127.0.0.1:$http/t?transport=http" 3 faulty
end http
gateway other 'line=SSH-2.0-x'
refuses 1 E_IO 'this is no answer of HTTP' "hbase://127.0.0.1:$other/t?transport=http"
end other
# What never gets better is not tried until the deadline.
for answer in '404 Not Found' '301 Moved' '204 No Content' '501 Not Implemented' '505 Version'; do
	gateway other "line=HTTP/1.1 $answer"
	refuses 1 E_IO "127.0.0.1:$other: the answer is HTTP/1.1 $answer" \
		"hbase://127.0.0.1:$other/t?transport=http"
	! grep -q 'no answer within' out || fail "$answer: $(cat out)"
	end other
done
for answer in '503 Busy' '429 Too Many Requests'; do
	gateway other "line=HTTP/1.1 $answer"
	refuses 1 E_IO "no answer within 1.000 s; the last try: 127.0.0.1:$other: the answer is HTTP/1.1 $answer" \
		"hbase://127.0.0.1:$other/t?transport=http&timeout=1"
	end other
done
gateway framed framed
works "hbase://127.0.0.1:$framed/w?transport=framed&regions=1"
refuses 1 E_UNSUPPORTED 'a framed gateway cannot make tables of several regions' \
	"hbase://127.0.0.1:$framed/t?transport=framed" create
run 0 timeout 100 "$model" "hbase://127.0.0.1:$framed/t?transport=framed&regions=1" 3
end framed

command -v openssl >/dev/null || skip 'https: no openssl (Debian: openssl)'

# ---- TLS. An authority, and certificates that it has signed: NAME.pem has the key, too.

openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj '/CN=tests' -keyout authority.key -out ca.pem 2>log ||
	fail "$(cat log)"
certificate() { # NAME WHAT-IT-IS-FOR
	{
		openssl req -new -newkey rsa:2048 -nodes -subj "/CN=$1" -keyout "$1.key" -out "$1.csr" &&
			openssl x509 -req -days 2 -in "$1.csr" -CA ca.pem -CAkey authority.key \
				-CAcreateserial -extfile <(echo "subjectAltName=$2") -out "$1.crt"
	} >log 2>&1 || fail "$(cat log)"
	cat "$1.key" "$1.crt" >"$1.pem"
}
certificate right 'DNS:localhost,IP:127.0.0.1'
certificate wrong 'DNS:other.example,IP:127.0.0.2'
tls="transport=https&ca=$tmp/ca.pem"

gateway right https=right.pem
works "hbase://127.0.0.1:$right/w?$tls"
run 0 timeout 100 "$model" "hbase://localhost:$right/t?$tls" 3 faulty

# What is not trusted gets no request, and is not tried twice.
refuses 1 E_IO "127.0.0.1:$right: the certificate is refused: unable to get local issuer certificate" \
	"hbase://127.0.0.1:$right/w?transport=https" find 1
gateway wrong https=wrong.pem log
refuses 1 E_IO "127.0.0.1:$wrong: the certificate is refused: IP address mismatch" \
	"hbase://127.0.0.1:$wrong/t?$tls"
refuses 1 E_IO "localhost:$wrong: the certificate is refused: hostname mismatch" \
	"hbase://localhost:$wrong/t?$tls"
refuses 1 E_IO "$tmp/none.pem: no certificates of authorities: No such file" \
	"hbase://127.0.0.1:$right/t?transport=https&ca=$tmp/none.pem"
refuses 1 E_IO "$tmp/queries: no certificates of authorities" \
	"hbase://127.0.0.1:$right/t?transport=https&ca=$tmp/queries"
[ "$(grep -c connected wrong.port)" -eq 2 ] || fail "connections: $(grep -c connected wrong.port)"
# Of several gateways another one may be in order.
run 0 "$ask" "hbase://127.0.0.1:$wrong,127.0.0.1:$right/several?$tls" create put 10 find 10
end wrong

# Servers without TLS, and one with a version that is too old.
for how in '' framed garbage; do
	# shellcheck disable=SC2086 # nothing is no option
	gateway plain $how
	refuses 1 E_IO 'was the gateway started with TLS?' "hbase://127.0.0.1:$plain/t?$tls"
	end plain
done
gateway old https=right.pem tls1.1
refuses 1 E_IO 'the TLS handshake failed: ' "hbase://127.0.0.1:$old/t?$tls"
end old

# The deadline holds for the handshake and for the answer, also if some bytes come again and again.
gateway silent silent
refuses 1 E_IO 'no end of the TLS handshake' "hbase://127.0.0.1:$silent/t?$tls&timeout=1"
end silent
gateway slow https=right.pem slow=60000
refuses 1 E_IO 'no answer in time' "hbase://127.0.0.1:$slow/t?$tls&timeout=1"
end slow
gateway drip relay="$right" drip=0
refuses 2 E_IO 'no end of the TLS handshake' "hbase://127.0.0.1:$drip/t?$tls&timeout=2"
end drip
gateway drip relay="$right" drip=2
refuses 2 E_IO 'no answer in time' "hbase://127.0.0.1:$drip/t?$tls&timeout=2"
end drip
end right

# Connections that the gateway closes while they are idle: in order, and no signal. The authority is read once.
gateway idle https=right.pem idle=300
cp ca.pem once.pem
mkfifo line
"$ask" "hbase://127.0.0.1:$idle/t?transport=https&ca=once.pem" create put 1000 find 1000 wait put 1000 \
	sleep 700 find 1000 <line >held 2>err &
held=$!
exec 3>line
until grep -q find held || ! kill -0 $held 2>/dev/null; do sleep 0.05; done
rm once.pem
sleep 0.7
echo >&3
wait $held || { fail 'a connection that was closed while it was idle' && cat held err; }
[ "$(grep -c find held)" -eq 2 ] || fail 'not all was done'
end idle

finish

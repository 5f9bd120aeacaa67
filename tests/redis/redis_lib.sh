# shellcheck shell=bash disable=SC2154
# SPDX-License-Identifier: MIT
# Copyright the libsimidx authors
#
# What tests of indexes in Redis share, after tests/tool/tool_lib.sh: servers in the directory of the
# test, which end with it.
case " ${SX_ENGINES-} " in *' redis '*) ;; *) skip 'built without --with-redis' ;; esac
command -v redis-server >/dev/null && command -v redis-cli >/dev/null || skip 'redis-server is not here'
unset SIMIDX_REDIS_PASSWORD

trap 'exec 2>/dev/null; kill -9 $(cat "$tmp"/*.pid 2>/dev/null) 2>/dev/null; wait 2>/dev/null; rm -rf "$tmp"' EXIT

# Ports of the servers that have these names.
main= kept=

# server NAME OPTION...: begin one on a port of 127.0.0.1 that nobody has, which is then in $NAME, and on
# the socket NAME.sock.
server() {
	local name=$1 port
	shift
	mkdir -p "$name.dir"
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		port=${!name:-$((20000 + RANDOM % 12000))}
		rm -f "$name.log" # an earlier server of this name was ready, too
		redis-server --port "$port" --bind 127.0.0.1 --unixsocket "$tmp/$name.sock" --dir "$tmp/$name.dir" \
			--save '' --daemonize no "$@" >"$name.log" 2>&1 &
		echo $! >"$name.pid"
		for _ in $(seq 200); do
			grep -qs 'Ready to accept connections' "$name.log" && break
			kill -0 "$(cat "$name.pid")" 2>/dev/null || break
			sleep 0.05
		done
		grep -q 'Ready to accept connections' "$name.log" && break
		kill -9 "$(cat "$name.pid")" 2>/dev/null
		wait "$(cat "$name.pid")"
	done
	grep -q 'Ready to accept connections' "$name.log" || { cat "$name.log"; skip 'no redis-server can be started'; }
	declare -g "$name=$port"
}

# end NAME [SIGNAL]: when this returns, it is gone.
end() {
	local pid
	pid=$(cat "$1.pid")
	kill "-${2-TERM}" "$pid"
	wait "$pid" 2>/dev/null
	rm "$1.pid"
}

# cli NAME COMMAND...
cli() {
	redis-cli -s "$tmp/$1.sock" "${@:2}"
}

# refuses SECONDS TEXT COMMAND...: ends with 2 within these seconds, and says so.
refuses() {
	local seconds=$1 text=$2 begin=$SECONDS
	shift 2
	run 2 timeout $((seconds + 20)) "$@"
	[ $((SECONDS - begin)) -le $((seconds + 1)) ] || fail "took $((SECONDS - begin)) s: $*"
	says "$text"
}

# keys_of NAME INDEX: what all its keys but the header begin with.
keys_of() {
	printf '{%s}%s:' "$2" "$(cli "$1" hget "{$2}" gen)"
}

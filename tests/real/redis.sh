#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# redis, a server with threads of its own, under redis-benchmark: attach, detach, attach again, kill, recover, and the
# cost of events. tests/real/real.sh has the paths. REAL_ROUNDS=N measures N times.

. "$top_srcdir/tests/real/real.sh"

requests=${REAL_REQUESTS:-20000}

insert_events()
{
	local header=$here/redis_events.h

	insert src/networking.c readQueryFromClient "$header" 'REC(redis, read, (uintptr_t)conn);' &&
		insert src/networking.c writeToClient "$header" 'REC(redis, reply, (uintptr_t)c, handler_installed);' &&
		insert src/networking.c IOThreadMain "$header" 'REC(redis, io_thread, (long)myid);' &&
		insert src/server.c processCommand "$header" \
			'REC(redis, command, (uintptr_t)c, c->argc, (const char *)c->argv[0]->ptr);'
}

need "the source is there" get_source redis
need "it builds as it is" build redis.plain make -C "$REAL_DIR/redis.plain/src" -j"$jobs" MALLOC=libc redis-server redis-benchmark
need "the events are put in" instrumented redis insert_events
need "it builds with events" build redis.events make -C "$REAL_DIR/redis.events/src" -j"$jobs" MALLOC=libc \
	CFLAGS="$CFLAGS_FOR_TEST" LDFLAGS="-Wl,--whole-archive $library -Wl,--no-whole-archive" redis-server

server=

# start KIND [VARIABLE=VALUE...]: redis.plain or redis.events, with two threads that read and write
start()
{
	local kind=$1

	shift
	rm -f "$TMP/redis.sock"
	env "$@" "$REAL_DIR/redis.$kind/src/redis-server" --port 0 --unixsocket "$TMP/redis.sock" --save '' --appendonly no \
		--io-threads 2 --io-threads-do-reads yes --dir "$TMP" >"$TMP/redis.log" 2>&1 &
	server=$!
	wait_until test -S "$TMP/redis.sock"
}

stop()
{
	kill "$server"
	wait "$server" 2>/dev/null
}

# load CLIENTS REQUESTS
load()
{
	"$REAL_DIR/redis.plain/src/redis-benchmark" -s "$TMP/redis.sock" -c "$1" -n "$2" -t set -r 1000 --csv >load.csv 2>load.err
}

# load_for_ever: its pid in $loader
load_for_ever()
{
	load 30 100000000 &
	loader=$!
}

end_load()
{
	pkill -KILL -P "$loader" redis-benchmar
	wait "$loader" 2>/dev/null
}

cd "$TMP" || exit 1

# ---- attach, detach, attach again; SIGKILL, recorded and not recorded

start events "${large_lanes[@]}"
load_for_ever
for time in first second; do
	attached $time "$server" read command reply
	ok "$time attach: its threads' names" grep -q 'io_thd_1-' "$TMP/report.txt"
	ok "it continues to serve" kill -0 "$server"
done
killed "$server" read command reply
end_load
wait "$server" 2>/dev/null

start events RECORDER_ENABLE='redis:*'
load 30 20000
kill -KILL "$server"
wait "$server" 2>/dev/null
recovered read command reply

# ---- the cost

# one WHAT: a line for figures() of CPU time and of requests a second. One client, so that each request is a round of its own,
# however busy the machine is.
one()
{
	local kind=events before recorder='' n

	[ "$1" != plain ] || kind=plain
	start $kind
	load 1 2000
	case $1 in
	on) "$RECORDER" enable -P "$server" 'redis:*' >/dev/null ;;
	recorded)
		"$RECORDER" record -q -P "$server" -o cost.dat &
		recorder=$!
		wait_until is_attached cost.dat.spool redis-server
		;;
	esac
	before=$(cpu_ns "$server")
	load 1 "$requests"
	echo "$round $1 $(($(cpu_ns "$server") - before))" >>cpu
	awk -F'"' -v head="$round $1" '$2 == "SET" { print head, $4 }' load.csv >>rate
	if [ -n "$recorder" ]; then
		kill -INT "$recorder"
		wait "$recorder"
		n=$("$RECORDER" report cost.dat | wc -l)
		awk -v n="$n" -v r="$requests" -F'"' '$2 == "SET" { print n / (r / $4) }' load.csv >>events_a_second
	fi
	stop
}

costs redis "CPU time of the server for a request" "requests a second"

done_testing

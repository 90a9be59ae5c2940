#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# nginx, a server of several processes, under wrk: the master forks workers, and replaces them when it reloads its
# configuration; attach, detach, attach again, kill, recover, and the cost of events. tests/real/real.sh has the paths.
# REAL_ROUNDS=N measures N times.

. "$top_srcdir/tests/real/real.sh"

insert_events()
{
	local header=$here/nginx_events.h

	rm -rf objs
	insert src/http/ngx_http_request.c ngx_http_init_connection "$header" 'REC(nginx, accept, c->fd);' &&
		insert src/os/unix/ngx_recv.c ngx_unix_recv "$header" 'REC(nginx, recv, c->fd, size);' &&
		insert src/http/ngx_http_request.c ngx_http_process_request "$header" \
			'REC(nginx, request, r->connection->fd, (const char *)r->uri.data, r->uri.len);' &&
		insert src/http/ngx_http_request.c ngx_http_finalize_request "$header" 'REC(nginx, finalize, r->connection->fd, rc);' &&
		insert src/http/modules/ngx_http_log_module.c ngx_http_log_handler "$header" \
			'REC(nginx, log, r->connection->fd, r->connection->sent);' &&
		insert src/os/unix/ngx_process_cycle.c ngx_worker_process_init "$header" 'REC(nginx, worker, worker);'
}

# configure_and_make DIRECTORY OPTION...
configure_and_make()
{
	cd "$1" && shift && { [ -e objs/Makefile ] && [ objs/nginx -nt objs/Makefile ] ||
		./configure --without-http_rewrite_module --without-http_gzip_module "$@"; } && make -j"$jobs"
}

need "the source is there" get_source nginx
need "it builds as it is" build nginx.plain configure_and_make "$REAL_DIR/nginx.plain"
need "the events are put in" instrumented nginx insert_events
need "it builds with events" build nginx.events configure_and_make "$REAL_DIR/nginx.events" \
	--with-cc-opt="$CFLAGS_FOR_TEST -Wno-declaration-after-statement" --with-ld-opt="$library -lpthread"

# The load: an installed wrk, or Debian's, unpacked.
if ! wrk=$(command -v wrk); then
	wrk=$REAL_DIR/tools/usr/bin/wrk
	[ -x "$wrk" ] || get_program wrk libluajit-5.1-2 libluajit-5.1-common
	[ -x "$wrk" ] || skip_all "there is no wrk"
fi

cd "$TMP" || exit 1
mkdir -p html logs
# Workers may run as another user; here all run as ours.
chmod 755 "$TMP"
head -c 600 /dev/zero | tr '\0' x >html/index.html

server=
port=

# An unused port.
free_port()
{
	local n

	for n in $(seq 100); do
		port=$((20000 + RANDOM % 20000))
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || return 0
	done
	return 1
}

listens()
{
	(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null
}

# start KIND [VARIABLE=VALUE...]: a master and two workers
start()
{
	local kind=$1

	shift
	free_port
	cat >nginx.conf <<-END
		user $(id -un) $(id -gn);
		worker_processes ${workers:-2};
		daemon off;
		pid $TMP/nginx.pid;
		error_log $TMP/logs/error.log;
		env RECORDER_DIR;
		env RECORDER_ENABLE;
		events { worker_connections 256; }
		http {
			access_log off;
			keepalive_requests 100000000;
			server { listen 127.0.0.1:$port; root $TMP/html; }
		}
	END
	env "$@" "$REAL_DIR/nginx.$kind/objs/nginx" -p "$TMP" -c "$TMP/nginx.conf" 2>nginx.err &
	server=$!
	wait_until listens
}

stop()
{
	kill -QUIT "$server"
	wait "$server" 2>/dev/null
}

workers()
{
	pgrep -P "$server" nginx
}

# The pids of all its processes, as a list for -P
family()
{
	echo "$server" $(workers) | tr ' ' ','
}

load()
{
	LD_LIBRARY_PATH=$REAL_DIR/tools/usr/lib/x86_64-linux-gnu "$wrk" -t 1 -c "$1" -d "$2" "http://127.0.0.1:$port/index.html" >load.txt 2>&1
}

# ---- attach, detach, attach again

start events "${large_lanes[@]}"
load 20 300s &
loader=$!
has_workers()
{
	[ "$(workers | wc -l)" = 2 ]
}
need "workers are there" wait_until has_workers
for time in first second; do
	attached $time "$(family)" recv request finalize log
	is "$time attach: both workers" "$(awk '/ request: / { split($1, name, "-"); print name[length(name)] }' "$TMP/report.txt" | sort -u | wc -l)" 2
	ok "it continues to serve" listens
done

# ---- workers that come while it is recorded: attached to the master alone

"$RECORDER" record -P "$server" -o reload.dat 2>err &
recorder=$!
wait_until is_attached reload.dat.spool objs/nginx
old=$(workers | sort)
kill -HUP "$server"
others()
{
	[ "$(workers | sort | comm -13 <(echo "$old") - | wc -l)" -ge 2 ]
}
ok "new workers" wait_until others
new=$(workers | sort | comm -13 <(echo "$old") -)
kill -KILL "$loader" 2>/dev/null
pkill -KILL -P "$loader" wrk
wait "$loader" 2>/dev/null
load 20 2s
kill -INT $recorder
wait $recorder
said=$(cat err)
diag "$said"
good_file "reload" reload.dat worker recv request finalize log
for pid in $new; do
	ok "new worker $pid is recorded from its start" grep -qE -- "-$pid +\[[0-9]+\].* worker: " "$TMP/report.txt"
done

# ---- SIGKILL, recorded: all of its processes at once

load 20 300s &
loader=$!
killed "$(family)" recv request finalize log
pkill -KILL -P "$loader" wrk
wait "$loader" "$server" 2>/dev/null

# ---- SIGKILL, not recorded

start events RECORDER_ENABLE='nginx:*'
load 20 1s
# shellcheck disable=SC2046
kill -KILL "$server" $(workers)
wait "$server" 2>/dev/null
recovered recv request finalize log

# ---- the cost

requests_of()
{
	awk '/ requests in / { print $1 }' load.txt
}

# one WHAT: a line for figures() of CPU time and of requests a second. One worker and one connection, so that each request is
# a round of its own, however busy the machine is.
one()
{
	local kind=events before recorder='' worker

	[ "$1" != plain ] || kind=plain
	workers=1 start $kind
	wait_until workers >/dev/null
	worker=$(workers)
	load 1 0.2s
	case $1 in
	on) "$RECORDER" enable -P "$worker" 'nginx:*' >/dev/null ;;
	recorded)
		"$RECORDER" record -q -P "$worker" -o cost.dat &
		recorder=$!
		wait_until is_attached cost.dat.spool objs/nginx
		;;
	esac
	before=$(cpu_ns "$worker")
	load 1 1s
	echo "$round $1 $((($(cpu_ns "$worker") - before) / $(requests_of)))" >>cpu
	awk -v head="$round $1" '/^Requests\/sec:/ { print head, $2 }' load.txt >>rate
	if [ -n "$recorder" ]; then
		kill -INT "$recorder"
		wait "$recorder"
		"$RECORDER" report cost.dat | wc -l >>events_a_second
	fi
	stop
}

costs nginx "CPU time of the worker for a request" "requests a second"

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# sqlite3's shell on a script, with a plugin that has events of its own: load_extension() loads it with dlopen(), during the
# recording. Attach, detach, attach again, kill, recover, and the cost of events. tests/real/real.sh has the paths.
# REAL_ROUNDS=N measures N times.

. "$top_srcdir/tests/real/real.sh"

insert_events()
{
	local header=$here/sqlite3_events.h

	rm -rf sqlite3.c .target_source tsrc Makefile
	insert src/os_unix.c unixRead "$header" 'REC(sqlite, read, amt, offset);' &&
		insert src/os_unix.c unixWrite "$header" 'REC(sqlite, write, amt, offset);' &&
		insert src/prepare.c sqlite3LockAndPrepare "$header" \
			'REC(sqlite, prepare, zSql, nBytes < 0 ? strlen(zSql) : (size_t)nBytes);' &&
		insert src/vdbeapi.c sqlite3_finalize "$header" 'REC(sqlite, finalize, (uintptr_t)pStmt);' &&
		insert ext/misc/series.c seriesFilter "$here/series_events.h" 'REC(series, filter, (uintptr_t)pVtabCursor, argc);' &&
		insert ext/misc/series.c seriesNext "$here/series_events.h" 'REC(series, next, (uintptr_t)cur);'
}

# make_shell DIRECTORY CFLAGS LIBS: the shell without the plugin that Debian's has built in, and the plugin
make_shell()
{
	cd "$1" || return 1
	[ -e Makefile ] || ./configure --disable-shared --disable-tcl --disable-readline || return 1
	make -j"$jobs" sqlite3.c shell.c &&
		gcc -O2 -g -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_EXPLAIN_COMMENTS $2 -I. shell.c sqlite3.c -o sqlite3.shell -ldl -lpthread -lm $3 &&
		gcc -O2 -g -shared -fPIC $2 -I. ext/misc/series.c -o series.so $3
}

need "tclsh is there" command -v tclsh
need "the source is there" get_source sqlite3
need "it builds as it is" build sqlite3.plain make_shell "$REAL_DIR/sqlite3.plain" "" ""
need "the events are put in" instrumented sqlite3 insert_events
shared=${library%.a}.so
need "it builds with events" build sqlite3.events make_shell "$REAL_DIR/sqlite3.events" "$CFLAGS_FOR_TEST" \
	"$shared -Wl,-rpath,${shared%/*}"

cd "$TMP" || exit 1

# script ROUNDS: prints SQL that fills, indexes, queries and changes a table; it loads the plugin first, and then again
# and again
script()
{
	echo "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA cache_size=50;"
	echo "CREATE TABLE IF NOT EXISTS t(id INTEGER PRIMARY KEY, name TEXT, size INT);"
	echo "SELECT load_extension('$plugin');"
	for _ in $(seq "$1"); do
		echo "BEGIN; INSERT INTO t(name, size) SELECT 'file' || value, value * 37 % 1009 FROM generate_series(1, 400); COMMIT;"
		echo "CREATE INDEX IF NOT EXISTS by_size ON t(size);"
		echo "SELECT count(*), sum(size) FROM t WHERE size BETWEEN 10 AND 300;"
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			echo "UPDATE t SET name = name || 'x' WHERE id = abs(random()) % 400 + 1;"
			echo "SELECT name FROM t WHERE size = $((RANDOM % 1009)) LIMIT 3;"
		done
		echo "DELETE FROM t WHERE id % 3 = 0;"
	done
}

# start KIND FILE [VARIABLE=VALUE...]: the shell with a script
start()
{
	local kind=$1 file=$2

	shift 2
	rm -f test.db* sql.txt
	env "$@" "$REAL_DIR/sqlite3.$kind/sqlite3.shell" test.db <"$file" >sql.txt 2>sql.err &
	shell=$!
}

plugin=$REAL_DIR/sqlite3.events/series.so
script 20000 >long.sql

# ---- attach, detach, attach again; attached before the plugin comes

mkfifo commands
start events commands "${large_lanes[@]}"
exec 3>commands
echo "SELECT 1;" >&3
linked()
{
	"$RECORDER" ps 2>/dev/null | grep -q "^ *$shell "
}
ok "the shell is there" wait_until linked
"$RECORDER" record -P "$shell" -o plugin.dat 2>err &
recorder=$!
ok "it is recorded" wait_until is_attached plugin.dat.spool sqlite3.shell
script 3 >&3
echo ".print the end" >&3
ok "it reaches the end of a script" wait_until grep -q "the end" sql.txt
kill -INT $recorder
wait $recorder
said=$(cat err)
diag "$said"
is "nothing is lost" "$(lost_in "$said")" 0
good_file "a plugin that came while it was recorded" plugin.dat prepare finalize read write filter next
is "each step of the plugin" "$(grep -c ' next: ' "$TMP/report.txt")" 1200
cat long.sql >&3 &
feeder=$!
for time in second third; do
	attached $time "$shell" prepare finalize read write filter next
	ok "it continues" kill -0 "$shell"
done

# ---- SIGKILL, recorded

killed "$shell" prepare finalize read write filter next
exec 3>&-
kill $feeder 2>/dev/null
wait $feeder "$shell" 2>/dev/null

# ---- SIGKILL, not recorded

start events long.sql 'RECORDER_ENABLE=*'
lines_reach()
{
	[ -e sql.txt ] && [ "$(wc -l <sql.txt)" -ge "$1" ]
}
ok "it works by itself" wait_until lines_reach 2000
kill -KILL "$shell"
wait "$shell" 2>/dev/null
recovered prepare finalize read write filter next

# ---- the cost

# one WHAT: the CPU time of the whole script, and its time
one()
{
	local kind=events recorder='' before after vars=()

	[ "$1" != plain ] || kind=plain
	[ "$1" != on ] || vars=('RECORDER_ENABLE=*')
	plugin=$REAL_DIR/sqlite3.$kind/series.so
	sed "s|load_extension('.*')|load_extension('$plugin')|" short.sql >cost.sql
	mkfifo cost.fifo
	start $kind cost.fifo "${vars[@]}"
	exec 3>cost.fifo
	rm cost.fifo
	if [ "$1" = recorded ]; then
		wait_until linked
		# The recorder must not inherit the shell's input, or the shell would not end.
		"$RECORDER" record -q -P "$shell" -o cost.dat 3>&- &
		recorder=$!
		wait_until is_attached cost.dat.spool sqlite3.shell
	fi
	before=$EPOCHREALTIME
	rm -f end.fifo
	mkfifo end.fifo
	{ cat cost.sql; printf '.output end.fifo\nSELECT 1;\n.output\n'; } >&3
	read -r _ <end.fifo
	after=$EPOCHREALTIME
	awk -v head="$round $1" -v a="$before" -v b="$after" 'BEGIN { print head, 1 / (b - a) }' >>rate
	echo "$round $1 $(cpu_ns "$shell")" >>cpu
	exec 3>&-
	wait "$shell"
	if [ -n "$recorder" ]; then
		wait "$recorder"
		awk -v n="$("$RECORDER" report cost.dat | wc -l)" -v a="$before" -v b="$after" 'BEGIN { print n / (b - a) }' \
			>>events_a_second
	fi
}

script 300 >short.sql
costs sqlite3 "CPU time of the script" "scripts a second"

done_testing

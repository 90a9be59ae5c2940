#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make bench-sql: what a query of recorder sql takes for each event of the file, in instructions as valgrind's callgrind counts
# them, which depend on no other program; and the same query with conditions that SQLite alone checks, because + is before the
# column. SQL_TIMES=RUNS: the median of the runs' CPU time, too, which needs a quiet machine. bench/README.md explains it.
#
#	SQL_EVENTS=200000 SQL_TIMES=5 make bench-sql

recorder=$PWD/recorder
events=${SQL_EVENTS:-200000}
runs=${SQL_TIMES:-0}
work=$(mktemp -d "${TMPDIR:-/tmp}/recorder-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
TIMEFORMAT='%U %S'
cd "$work" || exit 1

# die WHAT: ends the script with the last command's messages
die()
{
	printf '\n%s\n' "bench-sql: $*: $(cat err)" >&2
	exit 1
}

# instructions FILE QUERY: the number of instructions, in all processes; fails if the query fails
instructions()
{
	valgrind --tool=callgrind --callgrind-out-file=/dev/null "$recorder" sql --list "$1" "$2" >/dev/null 2>err &&
		awk '/Collected/ { sum += $NF } END { printf "%d", sum; exit !sum }' err
}

# seconds FILE QUERY: the median of the seconds
seconds()
{
	local i

	for ((i = 0; i < runs; i++)); do
		{ time "$recorder" sql --list "$1" "$2" >/dev/null 2>&1; } 2>&1
	done | awk '{ print $1 + $2 }' | sort -n | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'
}

# figures FILE QUERY: the cost of each event, without the cost of an empty query
figures()
{
	local start all

	start=$(instructions "$1" 'SELECT 1') && all=$(instructions "$1" "$2") || die "$2"
	awk -v all="$all" -v start="$start" -v events="$events" 'BEGIN { printf " %10.0f", (all - start) / events }'
	((runs)) || return
	awk -v all="$(seconds "$1" "$2")" -v start="$(seconds "$1" 'SELECT 1')" -v events="$events" 'BEGIN {
		printf " %8.0f", (all - start) * 1e9 / events }'
}

# row FILE QUERY: @ in the query is before a column of a condition
row()
{
	printf '%-7s %-72s' "$1" "${2//@/}"
	figures "$1.dat" "${2//@/}"
	if [[ $2 == *@* ]]; then
		figures "$1.dat" "${2//@/+}"
	fi
	echo
}

for load in points spans; do
	"$recorder" record -q -b 200000 --compression none -o $load.dat "$OLDPWD/bench/export_load" $load "$events" || exit 1
done
last=$("$recorder" sql --list points.dat 'SELECT max(ts) - (max(ts) - min(ts)) / 100 FROM events' 2>err) &&
	first=$("$recorder" sql --list points.dat 'SELECT min(ts) + (max(ts) - min(ts)) / 100 FROM events' 2>err) ||
	die "no times of events"

printf "%-80s %10s%s %10s%s\n" "" pushed "$( ((runs)) && echo "       ns")" "with +" "$( ((runs)) && echo "       ns")"
row points 'SELECT name, count(*) FROM events GROUP BY name'
row points 'SELECT count(*) FROM tick'
row points 'SELECT count(*), sum(n) FROM tick'
row points 'SELECT count(*) FROM submit'
row points "SELECT count(*) FROM events WHERE @name = 'submit'"
row points "SELECT count(*) FROM tick WHERE @n = 7"
row points "SELECT count(*) FROM tick WHERE @n > 7"
row points "SELECT count(*) FROM events WHERE @ts > $last"
row points "SELECT count(*) FROM events WHERE @ts < $first"
row spans 'SELECT count(*), sum(dur) FROM spans'
row spans 'SELECT count(*), sum(length(name)) FROM spans'
row spans 'SELECT count(*), sum(length(args)) FROM spans'

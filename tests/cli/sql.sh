#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder sql and the extension: the tables of a trace, compared with what was recorded and with what report prints.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cli/sql_python.sh"

cd "$TMP" || exit 1
producer=$top_builddir/tests/programs/producer

# sql QUERY: the rows, without names
sql()
{
	"$RECORDER" sql --list trace.dat "$1" 2>&1
}

ok "a program with three threads" "$RECORDER" record -q -o trace.dat "$producer" 3 1000

# ---- events

is "events by name" "$(sql 'SELECT system, name, count(*) FROM events GROUP BY name')" "test|count|3000"
is "a table for each event" "$(sql 'SELECT count(*), sum(number), min(thread), max(thread) FROM count')" "3000|1498500|0|2"
is "rows are those of report, in its order" \
	"$(sql 'SELECT cpu, tid, thread, number FROM count')" \
	"$("$RECORDER" report trace.dat | sed -nE 's/.*-([0-9]+) *\[0*([0-9]+)\].* thread=([0-9]+) number=([0-9]+)$/\2|\1|\3|\4/p')"
is "times are in order" "$(sql 'SELECT count(*) FROM (SELECT ts, lag(ts) OVER () AS before FROM count) WHERE ts < before')" 0
is "the text is that of report" "$(sql 'SELECT name || ": " || text FROM events LIMIT 3')" \
	"$("$RECORDER" report trace.dat | grep -oE 'count: .*' | sed -E 's/count: +/count: /' | head -n 3)"
for where in 'number = 17' 'number < 5' 'number <= 5' 'number > 990' 'number >= 990' 'number != 3' 'number IN (3, 4, 5, 99999)' \
	'number BETWEEN 10 AND 20' 'number = NULL' 'number = 17.0' "number = '17'" "comm = 'producer'" "comm IN ('producer', 'x')" \
	"comm != 'producer'" "comm = 'PRODUCER' COLLATE NOCASE" 'cpu = 0' 'cpu > 100' 'thread = 1 AND number % 2 = 0' \
	'number = 17 OR thread = 1' 'number IN (1, 2) OR number = 2 OR cpu = 0' 'ts > 0 AND ts < 9223372036854775807' 'number > -1' 'number < 1e3' 'number IN (SELECT thread FROM count)'; do
	is "as SQLite decides: $where" "$(sql "SELECT count(*), sum(number), sum(cpu) FROM count WHERE $where")" \
		"$(sql "CREATE TABLE plain AS SELECT * FROM count; SELECT count(*), sum(number), sum(cpu) FROM plain WHERE $where")"
done
ts=$(sql 'SELECT ts FROM count WHERE thread = 1 AND number = 500')
# A clock may advance in steps that are longer than an event takes.
is "a time" "$(sql "SELECT thread, number FROM count WHERE ts = $ts" | grep -xF '1|500')" "1|500"
is "until a time" "$(sql "SELECT count(*) FROM count WHERE ts <= $ts")" "$(sql "SELECT sum(ts <= $ts) FROM count")"

# ---- joins, from memory and by index

is "a join by two columns" \
	"$(sql 'SELECT count(*), sum(b.thread) FROM count a JOIN count b ON b.number = a.number AND b.thread = a.thread + 1')" "2000|3000"
is "a join by time" "$(sql 'SELECT count(*) FROM count a JOIN count b ON b.thread = a.thread AND b.ts >= a.ts
	AND b.number = a.number + 1')" 2997
is "a constant key does not hide the key that distinguishes rows" "$(timeout 60 "$RECORDER" sql --list trace.dat 'WITH RECURSIVE
	n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT count(*), sum(n.i) FROM n CROSS JOIN count a
	LEFT JOIN count b ON b.cpu >= 0 AND b.thread = 1 AND b.number = a.number')" "300000|15150000"
like "nor leaves the planner it out" "$(sql 'EXPLAIN QUERY PLAN SELECT 1 FROM count a JOIN count b ON b.number = a.number AND b.thread = 1')" \
	$'SCAN [ab] .*\n.*SCAN [ab] VIRTUAL TABLE INDEX 0:([0-9]+=){1,2}$'
is "a table beside itself, without a condition" "$(sql 'SELECT count(*) FROM (SELECT * FROM count LIMIT 50) a, count b')" 150000

# ---- tables of all traces

pid=$(sql 'SELECT pid FROM processes')
is "processes" "$(sql 'SELECT comm, threads, events FROM processes')" "producer|3|3000"
is "threads belong to it" "$(sql "SELECT count(*), sum(events), min(pid), max(pid) FROM threads")" "3|3000|$pid|$pid"
is "first and last" "$(sql 'SELECT min(first), max(last) FROM threads')" "$(sql 'SELECT min(ts), max(ts) FROM count')"
is "the clock" "$(sql 'SELECT clock FROM clocks')" mono
is "no losses" "$(sql 'SELECT count(*) FROM losses')" 0
for table in spans counters states flows contexts tasks sched irqs syscalls stacks; do
	is "$table: none here" "$(sql "SELECT count(*) FROM $table")" 0
done

# ---- names of tables

cat >names.c <<'EOF'
#include <librecorder/event.h>
REC_EVENT(x, y, u64(n));
REC_EVENT(z, y, u64(n));
REC_EVENT(w, x_y, u64(n));
REC_EVENT(a_b, c, u64(n));
REC_EVENT(a, b_c, u64(n));
REC_EVENT(w, c, u64(n));
REC_EVENT(w, b_c, u64(n));
REC_EVENT(w, sqlite_temp_master, u64(n));
int main(void)
{
	REC(x, y, 1);
	REC(z, y, 2);
	REC(w, x_y, 3);
	REC(a_b, c, 4);
	REC(a, b_c, 5);
	REC(w, sqlite_temp_master, 6);
	return 0;
}
EOF
# shellcheck disable=SC2086
ok "events whose tables could have the same name: compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o names names.c $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -o names.dat ./names
id_of()
{
	"$RECORDER" sql --list names.dat "SELECT id FROM events WHERE system = '$1' AND name = '$2'"
}
is "each has its own" "$("$RECORDER" sql --list names.dat "SELECT (SELECT n FROM x_y_$(id_of x y)), (SELECT n FROM z_y), (SELECT n FROM x_y),
	(SELECT n FROM a_b_c_$(id_of a_b c)), (SELECT n FROM a_b_c_$(id_of a b_c)), (SELECT n FROM w_sqlite_temp_master)" 2>&1)" "1|2|3|4|5|6"

# ---- aggregates

is "percentile" "$(sql 'SELECT percentile(number, 0), percentile(number, 50), percentile(number, 100) FROM count')" "0.0|499.5|999.0"
percentiles()
{
	sql "WITH v(x) AS (VALUES $1) SELECT percentile(x, 0), percentile(x, 50), percentile(x, 75), percentile(x, 100) FROM v"
}
is "percentiles of infinity" "$(percentiles '(9e999), (5.0)')" "5.0|Inf|Inf|Inf"
is "of its negative" "$(percentiles '(-9e999), (5.0)')" "-Inf|-Inf|-Inf|5.0"
is "of infinity twice" "$(percentiles '(5.0), (9e999), (9e999)')" "5.0|Inf|Inf|Inf"
is "of both: there is no number in the middle" "$(percentiles '(-9e999), (9e999)')" "-Inf|||Inf"
is "of numbers that are far apart" "$(percentiles '(-1.5e308), (1.5e308)')" "-1.5e+308|0.0|7.5e+307|1.5e+308"
is "percentile of nothing" "$(sql 'SELECT percentile(number, 50) IS NULL FROM count WHERE number < 0')" 1
is "histogram" "$(sql 'SELECT histogram(number) FROM count WHERE thread = 0 AND number < 10')" \
	"[[0,0,1],[1,1,1],[2,3,2],[4,7,4],[8,15,2]]"
is "interval_overlap" "$(sql 'WITH i(b, e) AS (VALUES (0, 10), (5, 15), (12, 20), (30, 30), (14, 15)) SELECT interval_overlap(b, e) FROM i')" 8
fails "an invalid percentile" "$RECORDER" sql trace.dat 'SELECT percentile(number, 101) FROM count'
like "it is refused" "$err" "percentile\(X, P\): P is a constant from 0 to 100"

is "histogram of numbers below zero" \
	"$(sql 'WITH v(x) AS (VALUES (-9223372036854775808), (-4), (-3), (-1), (0), (1), (9223372036854775807)) SELECT histogram(x) FROM v')" \
	"[[-9223372036854775808,-9223372036854775808,1],[-7,-4,1],[-3,-2,1],[-1,-1,1],[0,0,1],[1,1,1],[4611686018427387904,9223372036854775807,1]]"
is "interval_overlap of all times" "$(sql 'WITH i(b, e) AS (VALUES (-9223372036854775808, 9223372036854775807),
	(-9223372036854775808, 9223372036854775807)) SELECT interval_overlap(b, e) FROM i')" 9223372036854775807
fails "a percentile of texts" "$RECORDER" sql trace.dat 'SELECT percentile(name, 50) FROM events'
like "it is refused as well" "$err" "percentile\(X, P\): X is a number or NULL"
is "of numbers that are texts" "$("$RECORDER" sql --list trace.dat "SELECT percentile(number || '', 50) FROM count")" 499.5
fails "a percentile that is NULL" "$RECORDER" sql trace.dat 'SELECT percentile(number, NULL) FROM count'
like "it is refused, too" "$err" "percentile\(X, P\): P is a constant from 0 to 100"

# ---- values at the edge

ok "a program with extreme values" env RECORDER_SUBBUF_KB=64 RECORDER_BUFFER_KB=512 "$RECORDER" record -q -o edge.dat "$top_builddir/tests/programs/extremes"
edge()
{
	"$RECORDER" sql --list edge.dat "$1" 2>&1
}
is "the lowest number is no NULL, when scanned" "$(edge 'SELECT n, value FROM number ORDER BY n')" \
	$'0|-9223372036854775808\n1|-1\n2|0\n3|1\n4|9223372036854775807'
is "nor when it is read again" "$(edge 'SELECT count(*), count(b.value), min(b.value) FROM (VALUES (1), (2)) a CROSS JOIN number b')" \
	"10|10|-9223372036854775808"
is "by which rows are found" "$(edge 'SELECT a.n, b.n FROM number a JOIN number b ON b.value = a.value WHERE a.n = 0')" "0|0"
is "an array of any length is whole" "$(edge 'SELECT json_array_length(items), length(items) FROM list')" \
	"40000|$(python3 -c 'print(len(",".join(str(i % 256 - 128) for i in range(40000))) + 2)')"

# ---- numbers of rows

is "a row's number is the same in the order of names" \
	"$(edge 'SELECT rowid, name FROM events ORDER BY name' | sort)" "$(edge 'SELECT rowid, name FROM events WHERE ts > 0' | sort)"
is "and with a condition" "$(edge "SELECT rowid, name FROM events WHERE name = 'number' ORDER BY name" | sort)" \
	"$(edge "SELECT rowid, name FROM events WHERE name = 'number' AND ts > 0" | sort)"
is "a long list" "$(sql "SELECT count(*), sum(number) FROM count WHERE number IN ($(seq -s, 100 20000))")" \
	"$(sql 'SELECT count(*), sum(number) FROM count WHERE number >= 100')"
is "a list of texts" "$(sql "SELECT count(*) FROM count WHERE comm IN ('a', 'producer', 'z', 7)")" 3000

# ---- queries of trace-cmd sqlhist

ok "requests of two processes with the same numbers" "$RECORDER" record -q -o io.dat "$top_builddir/tests/programs/requests" 200 fork
io()
{
	"$RECORDER" sql --list io.dat "$1" 2>&1
}
# The result that the kernel would have: each end takes the last begin with its key. Here there are few keys, in any
# order.
cat >pairs.py <<'EOF'
import sys
begun = {}
for line in sys.stdin:
    ts, is_end, key, number, tid, _ = map(int, line.split("|"))
    if is_end and number < 190 and key in begun:
        first = begun.pop(key)
        print("%d|%d|%d" % (first[1], number, ts // 1000 - first[0] // 1000))
    elif not is_end and number > 10:
        begun[key] = ts, tid
EOF
is "an event has the last one before it" \
	"$(io 'SELECT start.common_pid AS pid, end.id, (end.TIMESTAMP_USECS - start.TIMESTAMP_USECS) AS lat
		FROM submit AS start JOIN io.done AS end ON start.fd = end.result WHERE start.id > 10 && end.id < 190;')" \
	"$(io 'SELECT ts, 0, fd, id, tid, rowid AS n FROM submit UNION ALL SELECT ts, 1, result, id, tid, rowid FROM done ORDER BY ts, n' | python3 pairs.py)"
is "more than a few" "$(io 'SELECT count(TIMESTAMP_DELTA) > 40 FROM submit AS start JOIN done AS end ON start.fd = end.result')" 1
is "two keys, the other way round" \
	"$(io 'SELECT count(*), count(DISTINCT b.common_pid), sum(b.id = a.id) FROM submit a JOIN done b ON b.common_pid = a.common_pid AND a.id = b.id')" \
	"400|2|400"
is "the same kind of event twice" "$(io 'SELECT count(*), min(TIMESTAMP_DELTA) >= 0, sum(b.id - a.id) FROM submit a JOIN submit b
	ON a.common_pid = b.common_pid')" "398|1|398"
is "a condition on both, and words that SQLite has" \
	"$(io 'SELECT start.id FROM submit AS start JOIN done AS end ON start.id = end.id
		WHERE (start.common_pid = end.common_pid || end.id < 0) AND TIMESTAMP_DELTA >= 0 ORDER BY start.id DESC LIMIT 2')" $'199\n199'
is "BETWEEN has an AND of its own" \
	"$(io 'SELECT count(*), min(start.id), max(start.id), min(end.id), max(end.id) FROM submit AS start JOIN done AS end
		ON start.id = end.id AND start.common_pid = end.common_pid
		WHERE start.id BETWEEN 20 AND 60 AND end.id NOT BETWEEN 0 AND 29 && end.id < 50')" "40|30|49|30|49"
is "names with their systems, and several keys with a comma" \
	"$(io 'SELECT count(*), count(DISTINCT io.done.common_pid), sum(io.submit.id = io.done.id) FROM io.submit JOIN io.done
		ON io.submit.common_pid = io.done.common_pid, io.submit.id = io.done.id')" "400|2|400"
is "! and ~ in conditions, and texts in double quotes, which are no columns" \
	"$(io 'SELECT a.id FROM submit a JOIN done b ON a.common_pid = b.common_pid, a.id = b.id
		WHERE !(a.id < 198 || b.id > 198) && a.common_comm ~ "req*" && !(b.common_comm ~ "[!r]*") && b.common_comm != "comm"')" \
	$'198\n198'
is "names in quotes, or after a backslash; negative numbers; CAST and || of a column" \
	"$(io 'SELECT CAST(-"a".\id AS TEXT) || "x", -1 - [b].[id] AS "n" FROM "submit" AS a JOIN `done` "b"
		ON a.common_pid = "b".common_pid AND "A".id = b.id WHERE a.id > -1 AND -`a`.id <= -199 LIMIT 1')" "-199x|-200"
is "an alias that is a keyword, after a backslash" \
	"$(io 'SELECT a.id FROM submit AS a JOIN done AS \order ON a.common_pid = \order.common_pid, a.id = \order.id WHERE a.id = 7')" $'7\n7'
fails "a text that is not closed" "$RECORDER" sql io.dat \
	'SELECT a.id FROM submit AS a JOIN done AS b ON a.common_pid = b.common_pid WHERE a.common_comm == "req'
is "without JOIN, a histogram: keys, number, sums, as recorder hist counts them" \
	"$(io 'SELECT common_pid, CAST(fd AS LOG2), CAST(io.submit.id AS _COUNTER_) AS ids FROM io.submit WHERE id > 10 && submit.common_comm ~ "req*"')" \
	"$("$RECORDER" hist io.dat -e 'io:submit if id > 10' -k common_pid,fd.log2 -v id |
		sed -nE 's/.*common_pid: +([0-9]+), fd: (~ 2\^[0-9]+) .*hitcount: +([0-9]+) +id: +([0-9]+)$/\1|\2|\3|\4/p' |
		sort -t'|' -k3,3n -k1,1n -k2,2)"
like "names of columns, and other types" "$("$RECORDER" sql --csv io.dat \
	'select Cast(common_pid as Comm), cast(id as hex) number, cast(id as SYSCALL) AS "call" from submit AS s order by s.id desc limit 1' | tr -d '\r')" \
	$'^common_pid,number,call,hitcount\n"?requests \\[[0-9]+\\]"?,c7,"?sys_[a-z]+ \\[199\\]"?,1$'
is "a number as a histogram has it, in any query" \
	"$(io "SELECT recorder_cast(id, 'HEX') || recorder_cast('x', 'hex') || recorder_cast(NULL, 'sym') IS NULL, recorder_cast(9, 'log2', 1),
		recorder_cast(-1, 'sym-offset') FROM submit LIMIT 1")" "1|~ 2^4|[ffffffffffffffff]"
fails "an unknown type" "$RECORDER" sql io.dat "SELECT recorder_cast(1, 'x')"
like "is reported" "$err" "recorder_cast: one of hex, "
fails "an unknown file" "$RECORDER" sql io.dat "SELECT recorder_cast(1, 'hex', 2)"
is "without words of the dialect, each event is a row" \
	"$(io 'SELECT count(*), sum(id) FROM (SELECT id FROM submit); SELECT CAST(id AS TEXT) FROM submit WHERE id = 7')" $'400|39800\n7\n7'
is "a stack that the file does not have" "$(io 'SELECT start.STACKTRACE IS NULL FROM submit AS start JOIN done AS end ON start.id = end.id LIMIT 1')" 1
is "a join without its words is one of SQL" \
	"$(io 'SELECT count(*) FROM submit AS start JOIN done AS end ON start.id = end.id')" 800
fails "a mistake in one" "$RECORDER" sql io.dat 'SELECT start.common_pid FROM submit AS start JOIN nowhere AS end ON start.id = end.id'
like "is reported as SQLite has it" "$err" "^recorder sql: no such table: nowhere$"

# ---- conditions that tables check themselves

# same WHAT FILE FROM CONDITION...: each condition selects the same rows of FROM whether tables check it or SQLite does.
# An @ precedes a column; it is removed for the tables, and replaced by + for SQLite.
same()
{
	local what=$1 file=$2 from=$3 condition form
	shift 3
	for form in '' +; do
		for condition; do
			echo "SELECT '${condition//\'/}', count(*), sum(ts), sum(rowid), min(tid), max(text) FROM $from WHERE ${condition//@/$form};"
		done | "$RECORDER" sql --list "$file" >"rows$form" 2>&1
	done
	is "$what" "$(<rows)" "$(<rows+)"
	is "$what: every query has an answer" "$(grep -vc '|' rows) $(grep -c '' rows)" "0 $#"
}
ok "uncompressed" "$RECORDER" convert --compression none -i trace.dat -o plain.dat
ok "compressed" "$RECORDER" convert --compression zstd -i trace.dat -o zstd.dat
ok "as old viewers want it" "$RECORDER" convert --file-version 6 -i trace.dat -o six.dat
for file in plain.dat zstd.dat six.dat io.dat; do
	mapfile -t at < <("$RECORDER" sql --list "$file" 'SELECT min(ts) FROM events; SELECT max(ts) FROM events;
		SELECT ts FROM events ORDER BY ts LIMIT 1 OFFSET 390; SELECT ts FROM events ORDER BY ts LIMIT 1 OFFSET 700')
	name=$("$RECORDER" sql --list "$file" 'SELECT min(name) FROM events')
	id=$("$RECORDER" sql --list "$file" 'SELECT max(id) FROM events')
	is "$file: each row has a number of its own" "$("$RECORDER" sql --list "$file" 'SELECT count(DISTINCT rowid) = count(*) FROM events')" 1
	same "$file: the same rows as SQLite finds" "$file" events \
		"@ts > ${at[0]}" "@ts >= ${at[0]}" "@ts < ${at[0]}" "@ts > ${at[1]}" "@ts >= ${at[1]}" "@ts = ${at[2]}" "@ts > ${at[2]}" \
		"@ts > $((at[2] - 1)) AND @ts < $((at[2] + 1))" "@ts BETWEEN ${at[2]} AND ${at[3]}" "@ts >= ${at[3]} AND @ts <= ${at[2]}" \
		"@ts > -5" "@ts >= 9223372036854775807" "@ts != ${at[2]}" "@ts IN (${at[2]}, ${at[3]})" "@ts < ${at[2]} OR @ts > ${at[3]}" \
		"@ts > ${at[2]} AND @name = '$name'" "@name = '$name'" "@name != '$name'" "@name = 'none'" "@name IN ('$name', 'none')" \
		"@system != 'test'" "@id = $id" "@id != $id AND @ts > ${at[2]}" "@id > 65535" "@name > '$name'" "@cpu = 0 AND @ts > ${at[2]}" \
		"@name = '$name' OR @ts >= ${at[3]}" "@name = '$name' AND @cpu != 0 AND @ts <= ${at[3]}" "@name = NULL" "@task = 1"
done

# ---- a table that is read again for each outer row, with a new cursor each time

# rereads QUERY: its result, and "few" if it reads not more than a hundred times the size of the file
rereads()
{
	strace -qq -f -o reads -e trace=pread64 -P "$PWD/plain.dat" "$RECORDER" sql --list plain.dat "$1" 2>&1
	awk -v size="$(stat -c %s plain.dat)" '{ sum += $NF } END { print (sum > 100 * size ? "many" : sum > 0 ? "few" : "none") }' reads
}
later='SELECT count(*), sum((SELECT min(b.number) FROM count b WHERE b.thread = a.thread AND b.ts > a.ts)) FROM count a'
is "a subquery that depends on the outer row: scans and memory find the same rows" "$(sql "$later")" \
	"$(sql "CREATE TABLE plain AS SELECT * FROM count; ${later//FROM count/FROM plain}")"
if strace -qq -o calls -e inject=getpid:signal=CONT:when=1 true 2>/dev/null; then
	is "NOT EXISTS" "$(rereads 'SELECT count(*) FROM count a WHERE NOT EXISTS (SELECT 1 FROM count b WHERE b.number = -1 - a.number)')" \
		$'3000\nfew'
	is "an OR in a join" "$(rereads 'SELECT count(*) FROM count a JOIN count b ON b.number = -1 - a.number OR b.thread = 3 + a.thread')" \
		$'0\nfew'
	is "WITH RECURSIVE" "$(rereads 'WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL
		SELECT b.number + 1 FROM n JOIN count b ON b.thread = 0 AND b.number = n.i) SELECT count(*), max(i) FROM n')" $'1001|1000\nfew'
else
	skip "what such queries read" "strace is not installed, or cannot trace here"
fi

is "the table on the right of a LEFT JOIN" \
	"$(io 'SELECT count(*), count(d.id), sum(d.ts) FROM submit s LEFT JOIN done d ON d.id = s.id AND d.tid = s.tid AND d.result > 20 AND d.comm = "requests"')" \
	"$(io 'SELECT count(*), count(d.id), sum(d.ts) FROM submit s LEFT JOIN done d ON d.id = s.id AND d.tid = s.tid AND +d.result > 20 AND +d.comm = "requests"')"
# The number of comparisons in SQLite's own program: those that are left to it because the table does not make them.
compares()
{
	sql "EXPLAIN SELECT 1 FROM $1 WHERE $2" | grep -cE '^[0-9]+\|(Ne|Eq|Le|Lt|Ge|Gt)\|'
}
is "SQLite does not check again what the table has checked" \
	"$(compares count 'number > 17 AND thread = 1') $(compares events "name = 'count' AND ts > -5") $(compares spans "tid = 7 AND name != 'x'")" "0 0 0"
is "but what it must convert" "$(compares count "number > '17'") $(compares count 'number = 17.5') $(compares count "comm = 5")" "1 1 1"

# ---- a damaged file whose times go back

ok "on one CPU" taskset -c 0 "$RECORDER" record -q -o one.dat "$producer" 1 1000
ok "an older file" "$RECORDER" convert --file-version 6 -i one.dat -o back.dat
python3 - back.dat <<'EOF'
import os, struct, sys
with open(sys.argv[1], "r+b") as f:
    f.seek(os.path.getsize(sys.argv[1]) - 4096)
    time, = struct.unpack("<Q", f.read(8))
    f.seek(-8, 1)
    f.write(struct.pack("<Q", time - 10 ** 9))
EOF
run "$RECORDER" sql --list back.dat 'SELECT count(*) FROM count'
is "all events are there" "$status $out" "0 1000"
like "that times go back is reported" "$err" "^recorder sql: back.dat: times go back at 1 place; a condition on ts may miss events$"

is "rows come in the order that is asked for all the same" \
	"$("$RECORDER" sql --list back.dat 'SELECT ts FROM count ORDER BY ts' 2>err)" \
	"$("$RECORDER" sql --list back.dat 'SELECT ts + 0 FROM count ORDER BY 1' 2>err)"
is "a row that is found in memory is one that a scan finds" "$("$RECORDER" sql --list back.dat 'WITH t AS (SELECT ts AS at FROM count)
	SELECT count(*) FROM t CROSS JOIN count c ON c.ts >= t.at AND c.ts <= t.at' 2>err)" 1000

# ---- forms of output

is "trace.dat is the default" "$("$RECORDER" sql --list "SELECT count(*) FROM count")" "$("$RECORDER" sql --list trace.dat "SELECT count(*) FROM count")"
is "for statements of standard input, too" "$("$RECORDER" sql --list <<<"SELECT 6 * 7;")" 42
fails "a word alone is a file" "$RECORDER" sql nosuch
like "which is missing" "$err" "nosuch: .*No such file"
is "--csv" "$("$RECORDER" sql --csv trace.dat "SELECT thread, 'a,\"b' AS x FROM count WHERE thread = 0 LIMIT 1" | tr -d '\r')" \
	$'thread,x\n0,"a,""b"'
is "--json" "$("$RECORDER" sql --json trace.dat "SELECT number, NULL AS n, 'q\"' AS x, x'0aff' AS y FROM count WHERE thread = 0 LIMIT 2")" \
	$'[{"number":0,"n":null,"x":"q\\"","y":"x\'0aff\'"},\n{"number":1,"n":null,"x":"q\\"","y":"x\'0aff\'"}]'
is "--json of what is not UTF-8" "$("$RECORDER" sql --json trace.dat "SELECT CAST(x'61ff62' AS TEXT) AS x")" '[{"x":"a\\xffb"}]'
is "--json of infinity" "$("$RECORDER" sql --json trace.dat 'SELECT 9e999 AS x, -9e999 AS y')" '[{"x":9e999,"y":-9e999}]'
is "--json of no row" "$("$RECORDER" sql --json trace.dat 'SELECT * FROM count WHERE number < 0')" "[]"
is "--box" "$("$RECORDER" sql trace.dat "SELECT 1 AS one, 'x' AS long_name")" \
	$'┌─────┬───────────┐\n│ one │ long_name │\n├─────┼───────────┤\n│   1 │ x         │\n└─────┴───────────┘'
is "a box around what a person must not see" "$("$RECORDER" sql trace.dat "SELECT char(27) AS one, 'ab' AS x" | sed -n '3,4p')" \
	$'├──────┼────┤\n│ \\033 │ ab │'
is "what a person must not see" "$("$RECORDER" sql --list trace.dat "SELECT char(27) || '[2J'")" '\033[2J'

# ---- the shell, without a terminal

is "statements and commands from standard input" \
	"$(printf '%s\n' '.mode list' 'SELECT count(*)' ' FROM count;' '.tables cou%' 'SELECT 2; SELECT 3;' '.quit' 'SELECT 4;' |
		"$RECORDER" sql trace.dat)" $'3000\ncount\ncounters\n2\n3'
like ".schema" "$("$RECORDER" sql trace.dat '.schema count')" $'^count\\(\n  ts INTEGER,\n  cpu INTEGER,.*\n  number INTEGER,\n  _ts INTEGER -- not in \\*'
fails "a failure among them" bash -c 'echo "SELECT * FROM nowhere; " | "$0" sql trace.dat' "$RECORDER"
like "is reported" "$err" "^recorder sql: no such table: nowhere$"
fails "an unknown command" "$RECORDER" sql trace.dat .nothing
fails "a file that is no trace" "$RECORDER" sql "$top_srcdir/README.md"
like "is named" "$err" "^recorder sql: $top_srcdir/README.md: "
is "one line" "$(wc -l <<<"$err")" 1

# ---- the shell on a terminal

is "completion, and interrupts of a line, a statement and a box" \
	"$(python3 -B "$top_srcdir/tests/cli/sql_terminal.py" "$RECORDER" trace.dat 2>&1)" "whole"
if grep -q libc <<<"$(ldd "$RECORDER" 2>/dev/null)"; then
	# shellcheck disable=SC2086
	ok "a library to preload" $CC $CFLAGS_FOR_TEST -shared -fPIC "$top_srcdir/tests/cli/interrupt_poll.c" -o interrupt.so
	is "an interrupt immediately before the shell waits" \
		"$(python3 -B "$top_srcdir/tests/cli/sql_terminal.py" "$RECORDER" trace.dat "$PWD/interrupt.so" 2>&1)" "whole"
else
	skip "an interrupt immediately before the shell waits" "no library can be preloaded"
fi

# ---- all of it in a database

ok "--save" "$RECORDER" sql --save saved.sqlite trace.dat
ok "tables without numbers of rows are saved, too" "$RECORDER" sql trace.dat < <(printf '%s\n' \
	'CREATE TEMP TABLE own (name PRIMARY KEY) WITHOUT ROWID;' "INSERT INTO own VALUES ('x');" '.save own.sqlite')
is "with their rows" "$(python3 -c 'import sqlite3; print(sqlite3.connect("own.sqlite").execute("SELECT * FROM own").fetchall())')" \
	"[('x',)]"
fails "not over a file" "$RECORDER" sql --save saved.sqlite trace.dat
like "which is named" "$err" "'saved.sqlite' exists already"
# A disk that gets full in the middle: there are more events than SQLite's cache holds.
ok "a larger trace" "$RECORDER" record -q -b 16384 -o large.dat "$top_builddir/tests/programs/producer" 1 20000
run strace -qq -o trace -P "$PWD/full.sqlite" -P "$PWD/full.sqlite-journal" -e trace=pwrite64 \
	-e inject=pwrite64:error=ENOSPC:when=3+ "$RECORDER" sql --save full.sqlite large.dat
is "a full disk is reported" "$status $err" "1 recorder sql: cannot save to 'full.sqlite': database or disk is full"
is "and nothing is left" "$(compgen -G 'full.sqlite*')" ""
# The third write is one of the rows.
for signal in INT TERM HUP; do
	run strace -qq -o trace -P "$PWD/ended.sqlite" -e trace=pwrite64 -e inject=pwrite64:signal=$signal:when=3 \
		env --default-signal "$RECORDER" sql --save ended.sqlite large.dat
	is "SIG$signal ends it" "$status $err" "$((128 + $(kill -l $signal))) "
	is "and nothing is left" "$(compgen -G 'ended.sqlite*')" ""
done
is "the database has the rows" "$(sqlite3 saved.sqlite 'SELECT count(*), sum(number) FROM count; SELECT count(*) FROM events')" \
	$'3000|1498500\n3000'

# ---- the extension

if [ -e "$extension" ]; then
	is "in the shell of SQLite" "$(printf '%s\n' ".load $extension" "SELECT recorder_open('trace.dat');" \
		'SELECT count(*), sum(number) FROM count;' "SELECT recorder_open('trace.dat');" 'SELECT count(*) FROM f2_count, (SELECT 1);' |
		sqlite3 2>&1)" $'trace.dat\n3000|1498500\ntrace.dat\n3000'
	if [ "$python" ]; then
		is "in Python" "$($python -c '
import sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
print(*db.execute("SELECT recorder_open(?)", ("trace.dat",)).fetchone())
print(*db.execute("SELECT count(*), sum(number) FROM count WHERE number >= ?", (10,)).fetchone())
db.close()' "$extension" 2>&1)" $'trace.dat\n2970 1498365'
		ok "many events" env RECORDER_BUFFER_KB=16384 "$RECORDER" record -q --compression none -o many.dat "$producer" 1 100000
		is "sqlite3_interrupt() ends scans of all kinds, and the next query works" "$(interrupted many.dat count events spans threads)" \
			$'count interrupted\nevents interrupted\nspans interrupted\nthreads interrupted\n1 1 0 1'
		# The scan is over when the first aggregate ends; the second one then sorts its values.
		is "and the sorts of aggregates" "$($python -c '
import sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.execute("SELECT recorder_open(?)", ("many.dat",))
class Stop:
    def step(self, value): pass
    def finalize(self): db.interrupt()
db.create_aggregate("stop", 1, Stop)
for aggregate in "percentile(number, 50)", "interval_overlap(number, number + 2)":
    try:
        print(*db.execute(f"SELECT stop(number), {aggregate} FROM count").fetchone())
    except sqlite3.OperationalError as error:
        print(error)
    print(*db.execute(f"SELECT {aggregate} FROM count").fetchone())
db.close()' "$extension" 2>&1)" $'interrupted\n49999.5\ninterrupted\n99999'
	else
		skip "in Python" "no Python that loads extensions of SQLite"
	fi
	if [ "$python" ]; then
		ok "spans, counters, states, flows and tasks" "$RECORDER" record -q -o storage.dat "$top_builddir/examples/07_storage" 20
		is "some columns have the same values as all; two statements, and threads, have their own" \
			"$($python -B "$top_srcdir/tests/cli/sql_tables.py" "$extension" storage.dat 2>&1)" True
	else
		skip "columns of tables" "no Python that loads extensions of SQLite"
	fi
	# This uses the extension, because the command reads the whole file to find losses.
	if [ "$python" ] && command -v strace >/dev/null; then
		last=$("$RECORDER" sql --list many.dat 'SELECT max(ts) FROM count')
		# bytes CONDITION: the bytes of the file that a query reads, without those that every query reads
		bytes()
		{
			strace -f -o reads -e trace=pread64 $python -c '
import sqlite3, sys
db = sqlite3.connect(":memory:")
db.enable_load_extension(True)
db.load_extension(sys.argv[1])
db.execute("SELECT recorder_open(?)", ("many.dat",))
print(*db.execute("SELECT count(*) FROM count WHERE " + sys.argv[2]).fetchone())' "$extension" "$1"
			awk '{ sum += $NF } END { print (sum > 1000000 ? "many" : "few") }' reads
		}
		is "a lower limit of the time: what is before it is not read" "$(bytes "ts > $last - 1")" $'1\nfew'
		is "without it the file is read" "$(bytes "+ts > $last - 1")" $'1\nmany'
	else
		skip "what a query reads" "no strace"
	fi
	is "a table of the same name is kept, and no table is made" "$(printf '%s\n' ".load $extension" 'CREATE TEMP TABLE Count (x);' \
		"SELECT recorder_open('trace.dat');" 'SELECT type, name FROM temp.sqlite_master;' 'DROP TABLE Count;' \
		"SELECT recorder_open('trace.dat');" 'SELECT count(*) FROM temp.count;' | sqlite3 2>&1 | sed -E 's/^.*(there is already)/\1/')" \
		$'there is already a table Count\ntable|Count\ntrace.dat\n3000'
	is "a trigger may have the name of a table" "$(printf '%s\n' ".load $extension" 'CREATE TEMP TABLE x (y);' \
		'CREATE TEMP TRIGGER x AFTER INSERT ON x BEGIN SELECT 1; END;' "SELECT recorder_open('trace.dat');" | sqlite3 2>&1)" trace.dat
	is "a connection stays as protected as it was" "$(printf '%s\n' ".load $extension" '.dbconfig defensive on' \
		"SELECT recorder_open('trace.dat');" '.dbconfig defensive' "DELETE FROM temp.sqlite_master;" | sqlite3 2>&1 | sed 's/^.*: //' | tr -s ' ')" \
		$' defensive on\ntrace.dat\n defensive on\ntable sqlite_temp_master may not be modified'
	is "tables outlive a transaction that is rolled back" "$(printf '%s\n' ".load $extension" "SELECT recorder_open('trace.dat');" \
		'BEGIN; CREATE TEMP TABLE x (y); ROLLBACK; SELECT count(*) FROM count;' 'DROP TABLE temp.count;' 'SELECT 1 FROM count;' | sqlite3 2>&1 | sed 's/^.*: //')" \
		$'trace.dat\n3000\ncount'
	is "tables that are made within it do not" "$(printf '%s\n' ".load $extension" 'BEGIN;' "SELECT recorder_open('trace.dat');" \
		'SELECT count(*) FROM count;' 'ROLLBACK;' 'SELECT 1 FROM count;' | sqlite3 2>&1 | grep -v '^ ' | sed 's/^.*: //')" \
		$'trace.dat\n3000\ncount'
	like "a statement that writes cannot open a file" "$(printf '%s\n' ".load $extension" \
		"CREATE TABLE x AS SELECT recorder_open('trace.dat');" | sqlite3 2>&1)" 'cannot open savepoint'
	like "a file that is missing" "$(printf '%s\n' ".load $extension" "SELECT recorder_open('missing.dat');" | sqlite3 2>&1)" \
		"missing.dat: .*No such file"
	ok "a program that runs out of memory" $CC $CFLAGS_FOR_TEST -I"$top_srcdir" "$top_srcdir/tests/cli/sql_memory.c" \
		-o sql_memory -lsqlite3
	is "without memory no table is made" "$(./sql_memory "$extension" trace.dat)" "some failed"
	like "it exports its entry alone" "$(nm -D --defined-only "$extension" | awk '{ print $3 }' | tr '\n' ' ')" \
		'^sqlite3_recordersql_init $'
else
	skip "the extension of SQLite" "configured without shared libraries"
fi

# ---- losses are never silent

ok "a program that overwrites" env RECORDER_BUFFER_KB=64 RECORDER_ENABLE='*' RECORDER_KEEP=1 "$producer" 1 100000
ok "its last events" "$RECORDER" recover -o lost.dat --all
run "$RECORDER" sql --list lost.dat 'SELECT count(*) > 0, max(number) FROM count'
is "a query that reads the trace" "$status $out" "0 1|99999"
lost=$("$RECORDER" sql --list lost.dat 'SELECT sum(lost) FROM losses' 2>/dev/null)
is "what is lost and what is there is all of it" "$((lost + $("$RECORDER" sql --list lost.dat 'SELECT count(*) FROM count' 2>/dev/null)))" 100000
like "is followed by what is missing" "$err" "^recorder sql: lost.dat: $lost events were lost at 1 place"
run "$RECORDER" sql --list lost.dat 'SELECT 1'
is "one that does not is not" "$err" ""

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder sql gives the same rows as report --json, imported into plain tables by a script, for the files that tests/golden
# can make, for recordings, for files that are cut off or damaged, for a file that grows, and for two queries at once.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/oracle/made_files.sh"

cd "$TMP" || exit 1
compare=$top_srcdir/tests/oracle/sql_json.py

# agree NAME QUERIES FILE...: recorder sql and the plain tables give the same rows, in QUERIES queries or more
agree()
{
	local name=$1 least=$2

	shift 2
	run python3 -B "$compare" "$RECORDER" "$@"
	diag "$out$err"
	is "$name" "$status" 0
	ok "$name: $(tail -n 1 <<<"$out")" test "$(sed -nE 's/^.* ([0-9]+) queries, [1-9][0-9]* rows$/\1/p' <<<"$out")" -ge "$least"
}

# ---- whole files

files=
for _ in 1 2; do
	choose
	files="$files $chosen"
done
[ "${REPORT_FILES-}" != all ] || files=$made
# shellcheck disable=SC2046
agree "made files" 500 v6-kernel.dat v6-fields.dat $(printf '%s.dat ' $files)

ok "a program with extreme values" env RECORDER_SUBBUF_KB=64 RECORDER_BUFFER_KB=512 "$RECORDER" record -q -o edge.dat "$top_builddir/tests/programs/extremes"
ok "a program with spans, counters and states" "$RECORDER" record -q -o storage.dat "$top_builddir/examples/07_storage" 20
agree "recordings" 100 edge.dat storage.dat

# ---- files that are cut off, and hostile files

# variants NAME COUNT FILE: makes NAME.N.dat, cut anywhere, or with changed bits; the same ones each time
variants()
{
	python3 - "$@" <<'END'
import random
import sys
kind, count, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
chance, whole = random.Random(path), open(path, "rb").read()
for i in range(count):
    data = bytearray(whole)
    if kind == "cut":
        data = data[:chance.randrange(len(data) // 4, len(data))]
    else:
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    open(f"{kind}.{i}.{path}", "wb").write(data)
END
}

count=2
[ "${REPORT_FILES-}" != all ] || count=60
for name in v6-lost v7-zstd v6-kernel; do
	variants cut $count "$name.dat"
	variants flip $count "$name.dat"
done
agree "files that are cut off anywhere" 100 cut.*.dat
agree "files with bits flipped" 100 flip.*.dat

head -c 40000 v6-lost.dat >cut.dat
run "$RECORDER" sql --list cut.dat 'SELECT count(*) > 100 FROM events; SELECT 2'
is "of a file that is cut off, the rest" "$status $out" $'1 1\n2'
like "and this is reported once" "$(grep -c truncated <<<"$err") $err" \
	"^1 recorder sql: cut.dat: truncated: the CPU 1 data should end at [0-9]+, the file ends at 40000; results cover only the rest"
run "$RECORDER" sql v6-latency.dat 'SELECT count(*) FROM events'
is "the text of a latency tracer is no table" "$status $err" "1 recorder sql: v6-latency.dat: has the text of a latency tracer and no events; see 'recorder report'"

# From the middle of the pages on, times are 2^63 ns later, which SQL has as negative numbers.
python3 - v6-lost.dat <<'END' >late.dat
import struct
import sys
data = bytearray(open(sys.argv[1], "rb").read())
pages = [at for at in range(4096, len(data) - 4095, 4096) if 4e9 < struct.unpack_from("<Q", data, at)[0] < 6e9]
for at in pages[len(pages) // 2:]:
    data[at + 7] |= 0x80
sys.stdout.buffer.write(data)
END
run "$RECORDER" sql --list late.dat 'SELECT count(*), min(ts) < 0, max(ts) > 0 FROM events WHERE +ts < 0 OR +ts > 0'
like "times from 2^63 on are negative numbers" "$out" "^[0-9]{3}\|1\|1$"
like "and this is reported" "$err" "late.dat: times go back at 1 place; a condition on ts may miss events"

# ---- a file that changes

query='SELECT count(*), min(ts), max(ts), sum(tid) FROM events;'
# ask QUERY: $answer is the answer of the session, one line
ask()
{
	echo "$1" >&8
	read -r answer <&9
}

# session FILE: a shell whose input is descriptor 8, and whose output is 9
session()
{
	rm -f in out
	mkfifo in out
	"$RECORDER" sql --list "$1" <in >out 2>messages &
	shell=$!
	exec 8>in 9<out
}

end_session()
{
	exec 8>&- 9<&-
	wait $shell
	status=$?
}

head -c 40000 v6-lost.dat >grows.dat
session grows.dat
ask "$query"
first=$answer
tail -c +40001 v6-lost.dat >>grows.dat
ask "$query"
is "a session of a file that grows keeps to what it had opened" "$answer" "$first"
end_session
like "which is some of it" "$first" "^[0-9]{3}\\|"
is "the next one has all" "$("$RECORDER" sql --list grows.dat "$query" 2>&1 | grep -v lost)" "$("$RECORDER" sql --list v6-lost.dat "$query" 2>/dev/null)"

cp v6-lost.dat shrinks.dat
session shrinks.dat
ask "$query"
whole=$answer
truncate -s 20000 shrinks.dat
ask "$query"
ok "a file that is cut while it is open: events are missing" test "${answer%%|*}" -lt "${whole%%|*}"
end_session
like "which is reported" "$(cat messages)" "shrinks.dat: [0-9]+ damaged pages; results may lack their events"
is "the session ends normally, with a failure" "$status" 1

# ---- two queries at once

queries="SELECT a.ts, count(*) FROM events a JOIN events b ON b.tid = a.tid AND b.ts > a.ts AND b.ts < a.ts + 20000 GROUP BY 1; $query"
"$RECORDER" sql --list storage.dat "$queries" >alone
"$RECORDER" sql --list storage.dat "$queries" >one &
one=$!
"$RECORDER" sql --list storage.dat "$queries" >two
wait $one
ok "two sessions at once: the first one has the rows of one alone" cmp alone one
ok "and the second one" cmp alone two
ok "which are some" test "$(wc -l <alone)" -gt 10

done_testing

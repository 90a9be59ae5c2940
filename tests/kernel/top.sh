#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder top: the times of threads are the sums of what lies between switches in the text of trace-cmd report.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

ok "a recording with switches" "$RECORDER" record -q -b 65536 -o trace.dat -e sched "$top_builddir/tests/programs/stalls" chain
trace-cmd report -t trace.dat >text 2>/dev/null
"$RECORDER" top --json trace.dat >rows
ok "times and numbers" python3 "$top_srcdir/tests/kernel/top.py" text <rows
like "the program's process has its threads' times" "$(cat rows)" '"kind": "process", "name": "stalls", "pid": [0-9]+, "events": [0-9]+, "running": [1-9]'
ok "as text" "$RECORDER" top -n 3 trace.dat
like "the first line" "$(sed -n 1p <<<"$out")" '^[0-9]+ events in [0-9]+\.[0-9]{6} s$'
like "the first thread" "$(sed -n '/  thread$/{n;p}' <<<"$out")" '^ +[0-9]+\.[0-9]{3} [mun]?s +[0-9.]+% +[0-9.]+ [mun]?s +[0-9]+  .*-[0-9]+$'


# ---- a program without librecorder: its threads are one process

cat >threads.py <<'END'
import sys, threading, time
def live():
    while True:
        time.sleep(0.01)
threading.Thread(target=live, daemon=True).start()
print("ready", flush=True)
sys.stdin.readline()
threading.Thread(target=live, daemon=True).start()
sys.stdin.readline()
END
mkfifo in
python3 threads.py <in >ready &
program=$!
exec {input}>in
wait_until grep -q ready ready
"$RECORDER" record -q -o trace.dat -e sched -P $program -u none -c &
recorder=$!
wait_until traces $recorder
# How often each thread has gone to sleep.
sleeps()
{
	awk '/^Pid:/ { tid = $2 } /^voluntary/ { print tid, $2 }' /proc/$program/task/*/status
}
sleeps >before
echo >&"$input"
# The two earlier threads, and the one that begins now, have gone to sleep since the recording began.
have_slept()
{
	[ "$(sleeps | awk 'NR == FNR { before[$1] = $2; next } $2 > before[$1]' before - | wc -l)" = 3 ]
}
ok "a second thread" wait_until have_slept
kill -INT $recorder
wait $recorder
echo >&"$input"
wait $program
"$RECORDER" top --json trace.dat >rows
is "the three threads belong to the process, also the one that began later" "$(grep -c "\"thread\", .*\"pid\": $program," rows)" 3
is "and have one row" "$(grep -c "\"process\", \"name\": \"python3\", \"pid\": $program," rows)" 1

done_testing

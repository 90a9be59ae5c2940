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

done_testing

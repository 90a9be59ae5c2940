#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The storage server of the examples with the scheduler's events: recorder sql and the page have the same states of its threads, to
# the nanosecond, and the same wakers.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
. "$top_srcdir/tests/tracefs.sh"

record -q -b 20000 -e sched_switch -e sched_waking -e sched_wakeup -e sched_wakeup_new "$top_builddir/examples/07_storage" 20
is "the storage server is recorded" "$status$err" 0
run "$RECORDER" sql --json out.dat "select count(*) as nr from losses"
is "no event is lost" "$out" '[{"nr":0}]'
ok "sql: sched" "$RECORDER" sql --json out.dat "select tid, ts, dur, state, waker from sched where pid is not null"
cp .out sched.json
ok "sql: the threads that wrote events" "$RECORDER" sql --json out.dat "select distinct tid from events where system = 'storage'"
cp .out writers.json
ok "view" "$RECORDER" view out.dat
while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view timeout 400 python3 -B "$top_srcdir/tests/view/storage_kernel.py" "$TMP" 2>&1 ||
	echo "not ok both are compared")

done_testing

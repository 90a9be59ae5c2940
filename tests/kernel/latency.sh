#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder latency of the kernel's events: system calls and wake-ups, compared with what a script computes from report --json.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"
cd "$TMP" || exit 1

# agrees NAME FILE KIND ARG: latency.py computes the same figures for ARG as recorder latency
agrees()
{
	"$RECORDER" report --json "$2" >events.json 2>/dev/null
	"$RECORDER" latency --json "$2" "$5" >answer.json 2>stderr.txt
	# shellcheck disable=SC2086
	is "$1" "$(python3 "$top_srcdir/tests/cli/latency.py" events.json answer.json $3 $4 2>&1)" ""
}
count()
{
	python3 -c 'import json; print(json.load(open("answer.json"))["count"])'
}

read=$(printf '#include <sys/syscall.h>\nSYS_read\n' | $CC -E - | tail -n 1)
ok "system calls of dd" "$RECORDER" record -q -b 65536 -o calls.dat -e raw_syscalls dd if=/dev/zero of=/dev/null bs=64 count=2000
agrees "read, by its number" calls.dat call "$((read))" sys_read
ok "all of them" test "$(count)" -ge 2000
ok "both kinds of events" "$RECORDER" record -q -F -b 65536 -o both.dat -e raw_syscalls -e syscalls:sys_enter_read \
	-e syscalls:sys_exit_read dd if=/dev/zero of=/dev/null bs=64 count=20000
"$RECORDER" latency --json both.dat sys_read >answer.json
once=$(count)
# The dynamic loader reads, too.
ok "each call counts once" test "$once" -ge 20000 -a "$once" -lt 20100
ok "events of this call alone" "$RECORDER" record -q -b 65536 -o own.dat -e syscalls:sys_enter_read -e syscalls:sys_exit_read \
	dd if=/dev/zero of=/dev/null bs=64 count=2000
"$RECORDER" latency --json own.dat sys_read >answer.json
ok "are calls, too" test "$(count)" -ge 2000
ok "wake-ups of a chain of processes" "$RECORDER" record -q -b 65536 -o sched.dat -e sched "$top_builddir/tests/programs/stalls" chain
agrees "from each to when the thread runs" sched.dat wakeup "" wakeup
ok "there are some" test "$(count)" -gt 3

done_testing

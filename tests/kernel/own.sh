#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The events of the recorder's own threads are left out of the file, except for switches, events that concern others and
# interrupts; tracefs is not configured for this. --no-filter keeps them.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"

# Notes the threads of the recorder that started it, and what its instance filters; then does some work.
cat >work <<'END'
#!/bin/bash
ls /proc/$PPID/task >tids
cat /sys/kernel/tracing/instances/recorder-$PPID-*[0-9]/set_event_notrace_pid >notrace
for i in {1..50}; do /bin/true; done
END
chmod +x work

# own EVENT: the number of events of this name by the recorder's threads in out.dat
own()
{
	"$RECORDER" report out.dat | sed -nE "s/^.*-([0-9]+) +\\[[0-9]+\\].* ($1): .*$/\\1/p" | grep -cwFf tids
}

events=(-e raw_syscalls -e sched_switch -e sched_waking -e sched_wakeup -e sched_wakeup_new -e sched_process_exit)
record "${events[@]}" ./work
is "a recording" "$status" 0 || diag "$err"
ok "of several threads" test "$(wc -l <tids)" -gt 2
is "tracefs filters nothing" "$(<notrace)" ""
is "the recorder's system calls are left out" "$(own 'sys_(enter|exit)')" 0
ok "others' are not" test "$("$RECORDER" report out.dat | grep -c 'sys_enter: ')" -gt 1000
ok "its switches are kept" test "$(own sched_switch)" -gt 0
woken=$("$RECORDER" report -I -S out.dat | sed -nE 's/^.*-([0-9]+) +\[[0-9]+\].* sched_waking: comm=.* pid=([0-9]+) .*$/\1 \2/p' |
	grep -wFf tids | awk 'NR == FNR { own[$1] = 1; next } $1 in own && $2 in own' tids - | wc -l)
is "how its threads wake each other is left out" "$woken" 0
ok "the file passes verify" "$RECORDER" verify out.dat
diag "$out"
cp out.dat kernel.dat

record --no-filter "${events[@]}" ./work
ok "--no-filter keeps them" test "$(own 'sys_(enter|exit)')" -gt 0
ok "that file is in order, too" "$RECORDER" verify out.dat
diag "$out"

# The result is the same if the kernel's events are woven with programs' events, and in a raw file.
producer=$top_builddir/tests/programs/producer
for way in "" --raw "--buffers split"; do
	# shellcheck disable=SC2086
	record $way "${events[@]}" bash -c "./work; ls /proc/\$PPID/task >tids; '$producer' 1 1000"
	is "${way:-woven}: the program's events" "$("$RECORDER" report out.dat | grep -c 'count:')" 1000
	is "${way:-woven}: no system calls of the recorder" "$(own 'sys_(enter|exit)')" 0
	ok "${way:-woven}: but its switches" test "$(own sched_switch)" -gt 0
	ok "${way:-woven}: the file passes verify" "$RECORDER" verify out.dat
done

# A killed recorder has already noted its threads.
sh -c 'echo $$ >pid; exec "$@"' sh "$RECORDER" record -o out.dat "${events[@]}" sh -c 'echo >begun; exec sleep 1000' 2>log &
wait_until test -e begun
pid=$(<pid)
ls "/proc/$pid/task" >tids
child=$(pgrep -P "$pid")
# The first pages may have calls of the recorder alone.
taskset -c 0 sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done'
ok "others' calls are recorded" wait_until has_size out.dat.spool.cpu0 65536
kill -KILL "$pid"
wait 2>/dev/null
kill "$child"
ok "recover a killed one" "$RECORDER" recover out.dat.spool
is "its threads are left out, too" "$(own 'sys_(enter|exit)')" 0
ok "others are not" test "$("$RECORDER" report out.dat | grep -c 'sys_enter: ')" -gt 0
run "$RECORDER" record -q -o next.dat -e sched_switch true

done_testing

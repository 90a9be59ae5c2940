#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# If it is known that events are missing from a file, what they would show is unknown, never guessed: times between
# merged files, threads and CPUs whose switches were not recorded, and threads that were split off.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"
cd "$TMP" || exit 99

notes()
{
	"$RECORDER" report --version "$1" 2>/dev/null | grep '^recorder '
}

# ask FILE QUERY
ask()
{
	"$RECORDER" sql --csv "$1" "$2" | tail -n +2 | tr -d '\r'
}

record()
{
	"$RECORDER" record -q -b 16384 "$@" >out.txt
}

# ---- times

ok "a recording" record -o a.dat -e sched sh -c 'echo $$; sleep 0.05'
ok "a later one" record -o b.dat -e sched sh -c 'echo $$; sleep 0.05'
ok "as one file" "$RECORDER" merge -o m.dat a.dat b.dat
end=$(ask a.dat 'SELECT max(ts) FROM events')
begin=$(ask b.dat 'SELECT min(ts) FROM events')
like "the time between them is noted" "$(notes m.dat)" "; no switches from $((end + 1)) to $((begin - 1)); no events of the kernel from $((end + 1)) to $((begin - 1))"
is "no state is known there" "$(ask m.dat "SELECT count(*) FROM sched WHERE state != 'unknown' AND ts < $begin - 1 AND ts + dur > $end + 1")" 0
like "elsewhere they are" "$(ask m.dat "SELECT count(*) FROM sched WHERE state = 'running' AND ts > $begin")" '^[1-9]'

rm -f piece.*
ok "a recording in pieces" "$RECORDER" split -i a.dat -o piece -r -e $(($(ask a.dat 'SELECT count(*) FROM events') / 8 + 1))
ok "as one file again" "$RECORDER" merge -o whole.dat piece.*
unlike "lacks no time" "$(notes whole.dat)" '; no '
states='SELECT ts, dur, tid, state, cpu, waker FROM sched ORDER BY ts, tid'
is "its states are those of the recording" "$(ask whole.dat "$states" | cksum)" "$(ask a.dat "$states" | cksum)"

rm -f piece.*
"$RECORDER" split -i a.dat -o head -e 12 >head.txt
ok "pieces of one event, so most have no switch" "$RECORDER" split -i head.1 -o piece -r -e 1
ok "as one file again" "$RECORDER" merge -o whole.dat piece.*
unlike "lacks no switches" "$(notes whole.dat)" '; no '

# distances FILE EVENT FIELD: the number of times from each event to the next one with the same value, and of those left out
distances()
{
	"$RECORDER" latency --json "$1" "$2" "$2" -k "$3" 2>/dev/null | sed -E 's/.*"count":([0-9]+),.*"cut":([0-9]+),.*/\1 \2/'
}

# gap EVENT FIELD: of m.dat, the times that do not span the gap between a.dat and b.dat count, and others are left out
gap()
{
	local first second whole

	read -r first _ <<<"$(distances a.dat "$@")"
	read -r second _ <<<"$(distances b.dat "$@")"
	whole=$(distances m.dat "$@")
	like "no time between events of $1 spans what was not recorded" "$whole" "^$((first + second)) [1-9]"
}

gap sched_waking pid
gap sched_switch next_pid

export RECORDER top_builddir
ok "recordings of switches within one of interrupts" "$RECORDER" record -q -o i.dat -e irq sh -c '
	"$RECORDER" record -q -o a.dat -e sched sleep 0.02 && "$RECORDER" record -q -o b.dat -e sched sleep 0.02'
ok "as one file" "$RECORDER" merge -o m.dat a.dat b.dat i.dat
unlike "it has events of the kernel at all times" "$(notes m.dat)" "no events of the kernel from [1-9]"
gap sched_switch next_pid

ok "a program before, and after, two recordings of the kernel" "$RECORDER" record -q -o p.dat sh -c '
	"$top_builddir/examples/01_first_event" && "$RECORDER" record -q -o a.dat -e sched sleep 0.02 &&
	"$RECORDER" record -q -o b.dat -e sched sleep 0.02 && "$top_builddir/examples/01_first_event"'
ok "as one file" "$RECORDER" merge -o m.dat a.dat b.dat p.dat
end=$(ask a.dat 'SELECT max(ts) FROM events')
begin=$(ask b.dat 'SELECT min(ts) FROM events')
like "the program's file has no events of the kernel" "$(notes m.dat)" \
	"; no events of the kernel from .*$((end + 1)) to $((begin - 1))"

# ---- threads

ok "a command's switches, in the first's time and after it" "$RECORDER" record -q -o f.dat -e sched -F \
	taskset -c 0 "$RECORDER" record -q -o w.dat -e sched sleep 0.02
like "only some" "$(notes f.dat)" '; switches of some threads alone: [0-9]'
ok "with a whole recording" "$RECORDER" merge -o m.dat w.dat f.dat
like "are noted for the times before and after it" "$(notes m.dat)" '; switches of some threads alone: [0-9 ]+ from [0-9]+ to [0-9]+, [0-9]+ to [0-9]+;'
from=$(ask w.dat 'SELECT min(ts) FROM events') to=$(ask w.dat 'SELECT max(ts) FROM events')
listed=$(notes m.dat | sed -E 's/.*some threads alone: ([0-9 ]+) from.*/\1/; s/ /,/g')
is "states of others are known in its time alone" \
	"$(ask m.dat "SELECT count(*) FROM sched WHERE state IN ('running', 'runnable') AND tid NOT IN ($listed) AND (ts < $from OR ts + dur > $to + 1)")" 0
sleep 1000 &
ok "two buffers, one of a process" record -o b.dat -e sched -B one -e sched -P $! --duration 100ms
kill $!
unlike "all switches are there" "$(notes b.dat)" 'switches of some'

# ---- a thread, split off

ok "a command" record -o a.dat -e sched sh -c 'echo $$; for i in 1 2 3; do sleep 0.02; done'
tid=$(cat out.txt)
ok "split off" "$RECORDER" split -i a.dat -o one --pid "$tid"
like "is listed" "$(notes one.1)" "; switches of some threads alone: $tid and no others;"
states="SELECT ts, dur, state FROM sched WHERE tid = $tid AND state IN ('running', 'sleeping') AND waker > 0 ORDER BY ts"
is "the states of its thread are those of the whole file" "$(ask one.1 "$states")" "$(ask a.dat "$states")"
is "there are no others" "$(ask one.1 "SELECT count(*) FROM sched WHERE tid != $tid AND state != 'unknown'")" 0
other=$(ask f.dat "SELECT tid FROM sched_switch WHERE tid NOT IN ($listed) AND tid > 0 LIMIT 1")
ok "another one, of the command's file" "$RECORDER" split -i f.dat -o other --pid "$other"
ok "top of it" "$RECORDER" top other.1
like "its time is not known" "$out" "(^|"$'\n'") +- +- +- +[0-9]+  .*-$other("$'\n'"|$)"
unlike "does not ask for switches" "$out" "-e sched"

# ---- CPUs

if (($(nproc) == 1)); then
	skip "a CPU that is not recorded" "there is one CPU"
	done_testing
	exit
fi
ok "a CPU" record -o c.dat -M 1 -e sched taskset -c 0 sleep 0.02
like "the others are noted" "$(notes c.dat)" '; CPUs not recorded: 1'
ok "split -C" "$RECORDER" split -i a.dat -o zero -C 0
like "notes them, too" "$(notes zero.1)" '; CPUs not recorded: 1'
is "no thread waits for another CPU" "$(ask zero.1 "SELECT count(*) FROM sched WHERE state = 'runnable' AND cpu > 0")" 0
ok "the rest" "$RECORDER" split -i a.dat -o rest -C "1-$(($(nproc --all) - 1))"
ok "both together" "$RECORDER" merge -o m.dat zero.1 rest.1
unlike "are whole" "$(notes m.dat)" 'CPUs not recorded'

done_testing

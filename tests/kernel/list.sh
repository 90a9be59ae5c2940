#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder list -e: the events of the running kernel, their fields, and filters in force.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"

# names ARGUMENT...: those that are listed
names()
{
	"$RECORDER" list -e "$@" | awk '{ print $2 }' | sort
}

is "all events" "$(names)" "$(sort $tracing/available_events)"
is "those of a system" "$(names sched)" "$(grep '^sched:' $tracing/available_events | sort)"
is "those that match" "$(names 'sched:sched_wak*,irq:irq_handler_*')" \
	"$(grep -E '^(sched:sched_wak|irq:irq_handler_)' $tracing/available_events | sort)"
is "their fields" "$("$RECORDER" list -e --full irq:softirq_entry)" "  off  irq:softirq_entry  unsigned int vec"

# An event that nothing else uses.
event=$tracing/events/sched/sched_kthread_stop
finish()
{
	echo 0 >$event/filter
	tap_exit
}
trap finish EXIT
echo 'pid == 17' >$event/filter
is "a filter in force" "$("$RECORDER" list -e sched:sched_kthread_stop)" "  off  sched:sched_kthread_stop  if pid == 17"
echo 0 >$event/filter
is "without it" "$("$RECORDER" list -e sched:sched_kthread_stop)" "  off  sched:sched_kthread_stop"

fails "none that matches" "$RECORDER" list -e 'nosuch:*'
is "is reported" "$err" "recorder list: the kernel has no event that matches 'nosuch:*'"
fails "no pattern" "$RECORDER" list -e 'a:b:c'
is "is a wrong command line" "$status" 2
fails "--full alone" "$RECORDER" list --full
is "too" "$status" 2

done_testing

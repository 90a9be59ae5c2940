#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder list -e: the events of the running kernel, their fields, and filters in force.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"

# names ARGUMENT...: the events that are listed
names()
{
	"$RECORDER" list -e "$@" | awk '{ print $2 }' | sort
}

is "all events" "$(names)" "$(sort $tracing/available_events)"
is "those of a system" "$(names sched)" "$(grep '^sched:' $tracing/available_events | sort)"
is "those that match" "$(names 'sched:sched_wak*,irq:irq_handler_*')" \
	"$(grep -E '^(sched:sched_wak|irq:irq_handler_)' $tracing/available_events | sort)"
is "an event by its name alone, as record takes it" "$(names sched_switch)" "sched:sched_switch"
is "a word with a wildcard is a system or an event" "$(names '*softirq_raise')" "irq:softirq_raise"
is "all of them by the word that record has for it" "$(names all | wc -l)" "$(wc -l <$tracing/available_events)"
is "without some" "$(names 'irq,!softirq_*')" "$(grep '^irq:' $tracing/available_events | grep -v ':softirq_' | sort)"
is "their fields" "$("$RECORDER" list -e --full irq:softirq_entry)" "  off  irq:softirq_entry  unsigned int vec"

is "trace-cmd's spelling" "$("$RECORDER" list -e irq/softirq_entry)" "$("$RECORDER" list -e irq:softirq_entry)"
is "they begin in one column" "$("$RECORDER" list -e --full irq | sed -E 's/^(  o[nf]+ +[^ ]+ +).*/\1/' | awk '{ print length($0) }' | sort -u | wc -l)" 1
# Tests that change the top level do it one at a time, because others.sh compares all of it. An event that nothing else uses.
exec 9<$tracing
flock 9
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
exec 9<&-

fails "none that matches" "$RECORDER" list -e 'nosuch:*'
is "is reported" "$err" "recorder list: this kernel has no event 'nosuch:*'"
fails "a typing error" "$RECORDER" list -e sched_swich
is "gets a suggestion" "$err" "recorder list: this kernel has no event 'sched_swich'; did you mean sched:sched_switch?"
for pattern in a:b:c '' , sched, '!sched' ':a' 'a:'; do
	fails "no pattern: '$pattern'" "$RECORDER" list -e "$pattern"
	is "  is a wrong command line" "$status" 2
done
fails "--full alone" "$RECORDER" list --full
is "too" "$status" 2

done_testing

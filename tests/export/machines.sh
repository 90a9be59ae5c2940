#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder export of a file that was merged from files of two machines, whose CPUs have the same numbers: no switch is
# invented, and interrupts of one machine are not inside those of the other.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/export/perfetto.sh"
. "$top_srcdir/tests/export/kernel_events.sh"

cd "$TMP" || exit 1
cat >machine.c <<'END'
#define _GNU_SOURCE
#include "tests/export/switches.h"
REC_EVENT(irq, irq_handler_entry, s32(irq), string(name));
REC_EVENT(irq, irq_handler_exit, s32(irq), s32(ret));
REC_EVENT(irq, softirq_entry, u32(vec));
REC_EVENT(irq, softirq_exit, u32(vec));
int main(void)
{
	const int self = switch_here();

	if (!self)
		return 1;
	REC(sched, sched_waking, "before", self + 200000, 120, 0);
	REC(irq, irq_handler_entry, 7, "disk");
	REC(irq, softirq_entry, 1);
	REC(irq, softirq_exit, 1);
	REC(irq, irq_handler_exit, 7, 1);
	REC(sched, sched_switch, "leaves", self, 120, 1, "comes", self + 100000, 120);
	return printf("%d\n", self) < 0;
}
END
kernel_events machine one.dat sched_switch sched_waking irq_handler_entry irq_handler_exit softirq_entry softirq_exit
# The same times on a machine with another boot id. The interrupt has another name there.
sed -E 's/boot [0-9a-f]{8}-/boot 00000000-/; s/disk/wifi/' one.dat >other.dat
ok "the events of two machines" "$RECORDER" merge -o both.dat one.dat other.dat

ok "--perfetto" "$RECORDER" export --perfetto both.dat -o both.pftrace
is "reports it" "$err" "recorder export: both.dat: merged from files of several machines; states of threads are unknown"
sql switched "select count(*) from sched"
sql events "select name, count(*) from ftrace_event where name glob 'sched_*' group by 1 order by 1"
sql interrupts "select s.name, s.depth from slice s where category = 'irq' and dur >= 0 order by 1"
ask both.pftrace
is "nothing is known to run" "$(answer switched)" 0
is "switches and wakings are events" "$(answer events)" "sched_switch 4;sched_waking 2"
is "each interrupt is on its own" "$(answer interrupts)" "TIMER 0;TIMER 0;disk 0;wifi 0"

ok "--chrome" "$RECORDER" export --chrome both.dat -o both.json
is "interrupts may overlap" \
	"$(python3 "$top_srcdir/tests/export/chrome.py" both.json | awk '$5 ~ /^irq:(TIMER|disk|wifi)$/ { print $1, $5 }' | sort | uniq -c | awk '{ print $1, $2, $3 }' | paste -sd ';')" \
	"2 b irq:TIMER;1 b irq:disk;1 b irq:wifi;2 e irq:TIMER;1 e irq:disk;1 e irq:wifi"

ok "--folded" "$RECORDER" export --folded both.dat -o folded
is "no interrupt is inside another one" "$(sed -nE 's/^CPU [0-9]+;(.*) [0-9]+$/\1/p' folded | sort | paste -sd ' ')" \
	"irq:TIMER irq:disk irq:wifi"

ok "one machine" "$RECORDER" export --perfetto one.dat -o one.pftrace
is "is not reported" "$err" ""
sql switched "select count(*) from sched"
sql interrupts "select s.name, s.depth from slice s where category = 'irq' and dur >= 0 order by 1"
ask one.pftrace
is "its switches are known" "$(answer switched)" 2
is "its interrupts nest" "$(answer interrupts)" "TIMER 1;disk 0"

done_testing

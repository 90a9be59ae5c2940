#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder export --perfetto, read by Perfetto itself: events of every kind of field, threads, texts, losses, the
# kernel's events. Perfetto's answers are compared with what the program wrote, and with recorder report.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/export/perfetto.sh"
. "$top_srcdir/tests/export/kernel_events.sh"

cd "$TMP" || exit 1
# shellcheck disable=SC2086
ok "compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o kinds "$top_srcdir/tests/export/kinds.c" $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -b 4096 -o kinds.dat ./kinds
cp .out tids
ok "export" "$RECORDER" export --perfetto kinds.dat -o kinds.pftrace
arguments()
{
	echo "select replace(a.key, 'debug.', '') || '=' || a.display_value from slice s join args a using(arg_set_id) where s.name = '$1' order by s.ts, a.id"
}
sql counts "select category, name, count(*), sum(dur) from slice group by 1, 2 order by 1, 2"
sql numbers "$(arguments numbers)"
sql texts "$(arguments texts)"
sql others "$(arguments others)"
sql bprint "$(arguments bprint)"
sql hostile "select hex(string_value) from slice s join args a using(arg_set_id) where s.name = 'texts' and a.key = 'debug.s' order by ts"
sql threads "select t.name, t.tid, count(*), sum(extract_arg(s.arg_set_id, 'debug.n')) from slice s join thread_track k on s.track_id = k.id join thread t using(utid) where category = 'load' group by 1, 2 order by 1"
sql process "select p.name, p.pid, count(*) from process p join thread t using(upid) where t.name in ('kinds', 'one', 'two') group by 1, 2"
sql times "select ts from slice where category = 'load' order by ts"
ask kinds.pftrace
is "counts of events" "$(answer counts)" "ftrace bprint 1 0;kinds numbers 1 0;kinds others 2 0;kinds texts 2 0;load tick 40000 0"
is "numbers" "$(answer numbers)" \
	"a=255;b=-128;c=65535;d=-32768;e=4294967295;f=-2147483648;g=18446744073709551615;h=-9223372036854775808;i=2748;j=1;k=4660"
is "decimals, names, arrays" "$(answer others)" \
	"ratio=-0.125;mode=WRITE;list[0]=-1;list[1]=0;list[2]=32767;ratio=2.5;mode=7;list[0]=-1;list[1]=0;list[2]=32767"
like "printf" "$(answer bprint)" '^text=main: text has 42$'
like "texts and bytes" "$(answer texts)" 'n=cut;b=00ff10;s=;n=;b=$'
is "hostile texts" "$(answer hostile)" "223C2F7363726970743E5C200120C3A420FF;"
is "threads, with their names and all their events" "$(answer threads)" \
	"$(sort tids | sed -n 's/^\(one\|two\) \(.*\)/\1 \2 20000 199990000/p' | paste -s -d ';')"
is "their process" "$(answer process)" "kinds $(sed -n 's/^main //p' tids) 3"
is "times" "$(answer times)" \
	"$("$RECORDER" report -t kinds.dat | sed -nE 's/.* ([0-9]+)\.([0-9]{9}): tick: .*/\1\2/p' | sort -n | paste -s -d ';')"
ok "the trace is smaller than the trace.dat" test "$(stat -c %s kinds.pftrace)" -lt "$(stat -c %s kinds.dat)"

# A file of 48 MB is read in 32 MB of address space, most of which the libraries take.
ok "record much" "$RECORDER" record -q -b 65536 -o much.dat "$top_builddir/tests/programs/producer" 2 1000000
ok "memory does not grow with the file" bash -c 'ulimit -v 32000 && "$0" export --perfetto much.dat -o much.pftrace' "$RECORDER"
rm -f much.dat much.pftrace

# ---------------------------------------------------------------------------------------------------- where it goes

ok "to standard output" sh -c '"$0" export --perfetto kinds.dat >out.pftrace' "$RECORDER"
ok "it is the same" cmp kinds.pftrace out.pftrace
ok "and with -o -" sh -c '"$0" export --perfetto kinds.dat -o - | cmp - kinds.pftrace' "$RECORDER"
fails "no format" "$RECORDER" export kinds.dat
is "usage" "$status $err" "2 recorder export: no format is given, such as --perfetto (see 'recorder export --help')"
head -c 100000 kinds.dat >half.dat
echo before >half.pftrace
fails "a file that ends early" "$RECORDER" export --perfetto half.dat -o half.pftrace
like "is reported" "$err" '^recorder export: half.dat: '
ok "a disk that is full" test -c /dev/full
fails "is an error" sh -c '"$0" export --perfetto kinds.dat >/dev/full' "$RECORDER"
is "and reported" "$err" "recorder export: standard output: cannot write: No space left on device"

# ----------------------------------------------------------------------------------------------------------- losses

ok "a recording with losses" "$top_builddir/examples/02_flight_recorder" lost.dat
ok "export it" "$RECORDER" export --perfetto lost.dat -o lost.pftrace
sql lost "select sum(extract_arg(arg_set_id, 'debug.lost')) from slice s join track t on s.track_id = t.id where t.name = 'lost events'"
sql there "select count(*) from slice s join thread_track t on s.track_id = t.id"
ask lost.pftrace
is "rows and lost events are all that were written" "$(($(answer there) + $(answer lost)))" 461262

# ------------------------------------------------------------------------------------------------ the kernel's events

# events FILE REGEX: "NAME COUNT;..." of the events that report prints, without names that match
events()
{
	"$RECORDER" report "$1" | sed -nE 's/^.*\[[0-9]+\] +[0-9]+\.[0-9]+: ([a-z_]+): .*/\1/p' |
		grep -vE "^($2)\$" | sort | uniq -c |
		sed -E 's/^ *([0-9]+) (.*)/\2 \1/' | paste -s -d ';'
}
counts="select name, count(*) from ftrace_event where name != 'sched_switch' group by 1 order by 1"

"$top_builddir/tests/golden/mkdat" v6-kernel >made.dat
ok "export a made file" "$RECORDER" export --perfetto made.dat -o made.pftrace
sql counts "$counts"
ask made.pftrace
is "counts of its events" "$(answer counts)" "$(events made.dat sched_switch)"

# The same file with trace_puts() instead of trace_printk().
sed 's/name: bprint$/name: bputs /; s/const char \* fmt/const char * str/; s/REC->fmt/REC->str/' made.dat >puts.dat
ok "it has events of trace_puts()" grep -q ': bputs: ' <("$RECORDER" report puts.dat)
for file in made puts; do
	ok "texts of the kernel, $file" "$RECORDER" export --perfetto $file.dat -o $file.pftrace
	sql texts "select distinct extract_arg(arg_set_id, 'text') from ftrace_event where name in ('print', 'bprint', 'bputs') order by 1"
	ask $file.pftrace
	"$RECORDER" report $file.dat | sed -nE 's/.*: b?(print|puts): +(.*)/\2/p' | sort -u >$file.texts
	is "are those of the lines" "$(answer texts)" "$(LC_ALL=C sort $file.texts | paste -sd ';')"
	ok "--chrome" "$RECORDER" export --chrome $file.dat -o $file.json
	is "has them, too" "$(python3 "$top_srcdir/tests/export/chrome.py" $file.json | sed -nE 's/.* ftrace:b?(print|puts) - text="(.*)"$/\2/p' | LC_ALL=C sort -u | paste -sd ';')" "$(answer texts)"
done

# A program writes the scheduler's events. The kernel's work at the end of a switch is still in the task that is left.
cat >switches.c <<'END'
#define _GNU_SOURCE
#include "tests/export/switches.h"
REC_EVENT(tlb, tlb_flush, s32(reason));
int main(void)
{
	const int self = switch_here();

	if (!self)
		return 1;
	REC(sched, sched_switch, "leaves", self, 120, 1, "comes", self + 100000, 120);
	REC(tlb, tlb_flush, 0);
	REC(sched, sched_waking, "before", self + 200000, 120, 0);
	return printf("%d\n", self) < 0;
}
END
kernel_events switches switches.dat sched_switch sched_waking tlb_flush
ok "export" "$RECORDER" export --perfetto switches.dat -o switches.pftrace
sql switched "select t.tid - $tid from sched s join thread t using(utid) order by s.ts"
sql others "select name from ftrace_event where name != 'sched_switch' order by ts"
ask switches.pftrace
is "an event of the task that a switch has left is no switch back" "$(answer switched)" "0;100000"
is "it is there" "$(answer others)" "tlb_flush;sched_waking"

if [ "$(id -u)" = 0 ]; then
	ok "record the kernel" "$RECORDER" record -q -e sched -e irq -o kernel.dat -- ./kinds
	cp .out tids
	ok "export it" "$RECORDER" export --perfetto kernel.dat -o kernel.pftrace
	sql counts "$counts"
	sql switches "select count(*) from ftrace_event where name = 'sched_switch'"
	sql running "select count(*) from sched join thread using(utid) where name in ('one', 'two')"
	sql forks "select extract_arg(arg_set_id, 'parent_comm'), count(*) from ftrace_event where name = 'sched_process_fork' and extract_arg(arg_set_id, 'parent_comm') = 'kinds' group by 1"
	sql interrupts "select count(*) from slice s join track k on s.track_id = k.id where s.category = 'irq' and s.dur >= 0 and k.name glob 'CPU *, interrupts*'"
	sql woken "select count(*) from thread_state where waker_utid is not null"
	sql tids "select distinct name from thread where tid in ($(sed -nE 's/^(one|two|main) //p' tids | paste -s -d ,)) order by 1"
	ask kernel.pftrace
	is "counts of events" "$(answer counts)" "$(events kernel.dat 'sched_switch|tick|numbers|texts|others|bprint')"
	# A switch by a hidden thread is shown when the next task is seen.
	ok "no switch is missing" test "$(answer switches)" -ge "$("$RECORDER" report kernel.dat | grep -c ': sched_switch: ')"
	ok "the threads are seen to run" test "$(answer running)" -gt 1
	like "fields of events are columns" "$(answer forks)" '^kinds [12]$'
	is "interrupts are slices of their CPU" "$(answer interrupts)" \
		"$("$RECORDER" report kernel.dat | grep -cE ': (irq_handler|softirq)_exit: ')"
	ok "wakers are known" test "$(answer woken)" -gt 0
	like "names" "$(answer tids)" '^kinds;one;two$'
else
	skip "the kernel's events" "needs root"
fi

done_testing

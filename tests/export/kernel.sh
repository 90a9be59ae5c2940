#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The kernel's spans of a real recording: system calls with the events of raw_syscalls and of syscalls, interrupts, timers.
# Names, numbers and durations are those of report's lines, in report --spans, in recorder sql and in Perfetto.

. "$top_srcdir/tests/tap.sh"

[ "$(id -u)" = 0 ] || skip_all "needs root"
. "$top_srcdir/tests/export/perfetto.sh"
cd "$TMP" || exit 1

ok "record" "$RECORDER" record -q -F -e raw_syscalls -e syscalls -e irq -e timer -o kernel.dat -- \
	python3 -c 'import os, time; [os.getppid() or os.stat("/") for i in range(50)]; time.sleep(0.3)'
ok "report" "$RECORDER" report -t kernel.dat
sed -nE 's/^ *.*-([0-9]+) +\[([0-9]+)\] +([0-9]+)\.([0-9]{9}): ([a-z0-9_]+): +(.*)$/\1 \2 \3\4 \5 \6/p' .out >lines
is "no event is lost" "$(grep -c EVENTS .out)" 0

# Begin and end of each call, from the lines: "NAME BEGIN END". A call that has no end is not here.
awk '$4 ~ /^sys_enter_/ { name[$1] = substr($4, 11); begin[$1] = $3 }
	$4 ~ /^sys_exit_/ && $1 in name { print name[$1], begin[$1], $3; delete name[$1] }' lines | sort >named
# In the report's lines, calls of raw_syscalls have numbers. The other event of the call has the name.
awk '$4 == "sys_enter" { begin[$1] = $3 }
	$4 ~ /^sys_enter_/ { name[$1] = substr($4, 11) }
	$4 == "sys_exit" && $1 in begin { print name[$1], begin[$1], $3; delete begin[$1]; delete name[$1] }' lines | sort >raw
ok "there are calls" test "$(grep -c '^getppid ' named)" -ge 50

"$RECORDER" report --spans -t kernel.dat >spans
# The kernel writes sys_enter_rt_sigreturn, but no sys_exit_rt_sigreturn.
is "report --spans: no other call is cut" "$(grep -E 'syscalls:.*(cut|lost inside)' spans | grep -v ':rt_sigreturn(); cut')" ""
# Some calls have another name in the kernel's events of syscalls than programs have for them: newuname is uname.
as_called()
{
	sed -E 's/^new(uname|stat|fstat|lstat)( |$)/\1\2/; s/^sendfile64( |$)/sendfile\1/; s/^umount( |$)/umount2\1/'
}
# calls SYSTEM: names of the spans that began.
calls()
{
	sed -nE "s,.*\\|  *$1:([a-z0-9_]+)\\(.*\\) *(\\{|;|= .*;|; /\\* end not seen \\*/)\$,\\1,p" spans | as_called |
		grep -v '^rt_sigreturn$' | sort | uniq -c
}
calls raw_syscalls >got
calls syscalls >expected
ok "report --spans: every call twice, by the same name" diff got expected
ok "report --spans: there are calls" test -s got
ok "sql" "$RECORDER" sql --csv kernel.dat "select name, ts, ts + dur from syscalls where state = 'whole'"
tail -n +2 .out | tr -d '\r' | tr , ' ' | as_called | sort >got
cat named raw | as_called | sort >expected
is "sql: names, begins and ends are those of the lines" "$(comm -13 expected got)" ""
# The kernel writes only one end of rt_sigreturn, so its row may be cut.
names()
{
	as_called <"$1" | cut -d ' ' -f 1 | grep -v '^rt_sigreturn$' | sort | uniq -c
}
names raw >expected.names
names got >got.names
ok "sql: every call once" diff expected.names got.names

ok "export" "$RECORDER" export --perfetto kernel.dat -o kernel.pftrace
sql calls "select category, name, ts, ts + dur from slice where category in ('syscalls', 'raw_syscalls') and dur >= 0 and extract_arg(arg_set_id, 'debug.incomplete') is null"
sql interrupts "select distinct category || ':' || name from slice where category in ('irq', 'timer') and extract_arg(arg_set_id, 'debug.incomplete') is null order by 1"
ask kernel.pftrace
answer calls | tr ';' '\n' | grep -E '^(raw_)?syscalls ' | cut -d ' ' -f 2- | as_called | sort >perfetto
ok "Perfetto: every call twice, as in the lines" diff expected perfetto
# Names are those of the begins' lines; a function that has no name there is a number.
{
	sed -nE 's/.* irq_handler_entry irq=[0-9]+ name=(.*)/irq:\1/p; s/.* softirq_entry vec=[0-9]+ \[action=(.*)\]/irq:\1/p' lines
	sed -nE 's/.* hrtimer_expire_entry .*function=([a-zA-Z_][^ ]*).*/timer:\1/p; s/.* timer_expire_entry .*function=([a-zA-Z_][^ ]*).*/timer:\1/p' lines
} | sed 's,/.*,,' | sort -u >expected
answer interrupts | tr ';' '\n' | sort -u >got
is "Perfetto: interrupts and timers have names of the lines" "$(comm -13 expected got | grep -vE ':(softirq|timer_expire|hrtimer_expire|irq_handler)$')" ""

# A call has two events at its begin, and two at its end; its time is counted once. The thread is in a call most of the time.
ok "export --folded" "$RECORDER" export --folded kernel.dat -o folded
like "folded: there are calls" "$(<folded)" ':clock_nanosleep [0-9]+'
"$RECORDER" report -t kernel.dat | sed -nE 's/^ *(.*)-([0-9]+) +\[[0-9]+\] +([0-9]+)\.([0-9]{9}): .*/\2 \3\4 \1/p' >threads
is "folded: no thread has more time than it was there for" "$(awk '
	FILENAME == "threads" {
		tid = $1; at = $2; sub(/^[^ ]+ [^ ]+ /, "")
		if (tid in last) there[$0] += at - last[tid]
		last[tid] = at
		next
	}
	{ own = $NF; sub(/;.*/, ""); if (!/^CPU /) spent[$0] += own }
	END { for (name in spent) if (spent[name] > there[name]) print name, spent[name], there[name] }' threads folded)" ""

ok "top" "$RECORDER" top --json kernel.dat
is "top: every call once" "$(sed -nE 's/.*"name": "(raw_)?syscalls:getppid", "count": ([0-9]+),.*/\2/p' <<<"$out")" "$(grep -c '^getppid ' named)"
ok "diff" "$RECORDER" diff --all --json kernel.dat kernel.dat
is "diff: every call once" "$(grep -oE '"kind": "span", "name": "(raw_)?syscalls:getppid", "statistic": "median"' <<<"$out" | wc -l)" 1
ok "record one system" "$RECORDER" record -q -F -e raw_syscalls -o raw.dat -- python3 -c 'import os; [os.getppid() for i in range(50)]'
run "$RECORDER" diff --all --json kernel.dat raw.dat
like "diff compares calls of both with those of one" "$out" \
	'"kind": "span", "name": "syscalls:getppid", "statistic": "median", "a": [0-9]+[0-9.]*, "b": [0-9]+'

done_testing

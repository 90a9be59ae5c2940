#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Spans that longjmp(), the end of a thread or SIGKILL interrupt: recorder sql, report --spans, Perfetto and the plugin
# for KernelShark show the same ones as open or cut, with the same times. docs/MEANING.md has the table.

. "$top_srcdir/tests/tap.sh"

marks=$top_builddir/tests/oracle/kshark_marks
[ -x "$marks" ] || skip_all "tests/oracle/kshark_marks is not built"
. "$top_srcdir/tests/export/perfetto.sh"
cd "$TMP" || exit 1
# shellcheck disable=SC2086
ok "compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o interrupted "$top_srcdir/tests/export/interrupted.c" $LDADD_FOR_TEST

# states_of FILE: name and state of each span of report --spans
states_of()
{
	sed -nE '/begin not seen/{s/.*(io:[a-z]+).*/\1 no_begin/p;d}
		/cut: end not seen|events lost inside/{s/.*(io:[a-z]+).*/\1 cut/p;d}
		/end not seen/s/.*(io:[a-z]+).*/\1 open/p' "$1" | sort
}

# compare NAME: NAME.dat in all views; sets $spans: "NAME STATE" of those that are not whole, by time
compare()
{
	"$RECORDER" sql --csv "$1.dat" "select ts, ts + dur, system || ':' || name, replace(state, ' ', '_') from spans" |
		tail -n +2 | tr -d '\r' | tr , ' ' | sort >expected
	spans=$(grep -v ' whole$' expected | cut -d ' ' -f 3- | paste -s -d ';')
	ok "$1: KernelShark" "$marks" "$1.dat"
	awk '$1 == "bar" { print $4, $5, $6, $7 }' .out | sort >got
	ok "$1: KernelShark shows what recorder sql does" diff expected got
	ok "$1: report --spans" "$RECORDER" report --spans -t "$1.dat"
	cp .out lines
	states_of lines >got
	cut -d ' ' -f 3- expected | grep -v ' whole$' | sort >wanted
	ok "$1: report --spans has the same states" diff wanted got
	ok "$1: export" "$RECORDER" export --perfetto "$1.dat" -o "$1.pftrace"
	sql slice "select ts, ts + dur, category || ':' || name, dur, coalesce(extract_arg(arg_set_id, 'debug.incomplete'), 'whole') from slice where category = 'io' and name != 'after'"
	ask "$1.pftrace"
	# In Perfetto an open span has no end.
	answer slice | tr ';' '\n' | awk '{ state = $5 == "whole" ? "whole" : $5 == "cut:" ? "cut" : /begin/ ? "no_begin" : "open"
		if ($4 < 0) { state = "open"; $2 = "-" } print $1, $2, $3, state }' | sort >got
	awk '$4 == "open" { $2 = "-" } { print }' expected | sort >wanted
	ok "$1: Perfetto shows the same" diff wanted got
}

ok "jump: record" "$RECORDER" record -q -o jump.dat ./interrupted jump
compare jump
is "jump: the inner span is cut" "$spans" "io:inner cut"
ok "thread: record" "$RECORDER" record -q -o thread.dat ./interrupted thread
compare thread
is "thread: its spans are open" "$spans" "io:outer open;io:inner open"

# If the kernel recorded its end, the thread's spans and its work for a task end there.
if can_trace; then
	ok "end: record" "$RECORDER" record -q -F -c -o end.dat -e sched:sched_switch ./interrupted thread
	end=$("$RECORDER" report -t end.dat | sed -nE 's/^ *ends-.* ([0-9]+)\.([0-9]{9}): sched_switch:.*\] [XZ] ==>.*/\1\2/p')
	like "end: the thread's last switch is there" "$end" '^[0-9]+$'
	"$RECORDER" export --perfetto end.dat -o end.pftrace
	sql ends "select name, ts + dur from slice where category = 'task' or (category = 'io' and dur != 0 and extract_arg(arg_set_id, 'debug.incomplete') is not null) order by name"
	ask end.pftrace
	is "end: Perfetto shows spans and task until then" "$(answer ends)" "ends $end;inner $end;outer $end"
	"$RECORDER" export --chrome end.dat -o end.json
	is "end: Chrome's JSON does, too" "$(python3 -B - end.json "$end" <<-'END'
		import decimal, json, sys
		events = json.load(open(sys.argv[1]), parse_float=decimal.Decimal)["traceEvents"]
		print([one["ph"] for one in events if one.get("cat") == "task"], {int((one["ts"] + one["dur"]) * 1000) - int(sys.argv[2])
		      for one in events if "incomplete" in one.get("args", {})})
	END
	)" "['b', 'e'] {0}"
else
	skip "the end of a thread" "only root may trace the kernel"
fi

run "$RECORDER" record -q -o kill.dat ./interrupted kill
compare kill
is "kill: the program's spans are open" "$spans" "io:outer open;io:inner open"
is "kill: until its last event" "$(awk '$4 == "open" { print $2 }' expected | sort -u)" \
	"$("$RECORDER" report -t kill.dat | sed -nE 's/.* ([0-9]+)\.([0-9]{9}): after:.*/\1\2/p')"

done_testing

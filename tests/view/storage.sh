#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One recording of the storage server of the examples in every view: recorder sql, report --spans, Perfetto, the page of
# recorder view, the plugin for KernelShark. All show the same spans, counters, states, flows and tasks, to the
# nanosecond; storage.py has the table of what each view has.

. "$top_srcdir/tests/tap.sh"

marks=$top_builddir/tests/oracle/kshark_marks
n=40

command -v chromium >/dev/null || skip_all "chromium is not installed"
[ -e "$top_builddir/.libs/plugin-recorder.so" ] ||
	skip_all "libkshark is not installed, or the build has no shared libraries"
. "$top_srcdir/tests/export/perfetto.sh"
cd "$TMP" || exit 1

ok "the storage server is recorded" "$RECORDER" record -q -o storage.dat "$top_builddir/examples/07_storage" $n
is "it reports what it did" "$out" "$n requests, $((n / 10)) failed"
ok "report" "$RECORDER" report -t storage.dat
cp .out events
ok "report --spans" "$RECORDER" report --spans -t storage.dat
cp .out spans
for table in spans counters states flows tasks reply; do
	ok "sql: $table" "$RECORDER" sql --json storage.dat "select * from $table order by ts"
	cp .out "$table.json"
done
ok "the plugin for KernelShark" "$marks" storage.dat
cp .out marks
ok "view" "$RECORDER" view -o storage.html storage.dat
ok "export" "$RECORDER" export --perfetto storage.dat -o storage.pftrace

# A query is on one line.
sql slice "select s.id, s.category, s.name, s.ts, s.dur, s.depth, s.parent_id, k.name, t.tid from slice s \
join track k on s.track_id = k.id left join thread_track h on s.track_id = h.id left join thread t using(utid) \
order by s.ts, s.id"
sql argument "select s.id, substr(a.key, 7), a.display_value from slice s join args a using(arg_set_id) \
where a.key like 'debug.%' order by s.id, a.id"
sql counter "select c.ts, k.name, c.value from counter c \
join process_counter_track k on c.track_id = k.id order by c.ts, c.id"
sql flow "select slice_out, slice_in from flow"
ask storage.pftrace

while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view timeout 400 python3 -B "$top_srcdir/tests/view/storage.py" "$TMP" $n 2>&1 ||
	echo "not ok all views are compared")

done_testing

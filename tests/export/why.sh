#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder export --perfetto --why: the tracks have the paths that recorder why prints.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/export/perfetto.sh"

# shellcheck disable=SC2086
$CC $CFLAGS_FOR_TEST -o "$TMP/waits" "$top_srcdir/tests/view/waits.c" $LDADD_FOR_TEST || exit 99
cd "$TMP" || exit 1
run "$RECORDER" record -q --compression none ./waits
is "a recording" "$status$err" 0
ok "with the scheduler's events" python3 -B "$top_srcdir/tests/view/as_kernel.py" trace.dat "$out" sched_switch sched_waking

# paths N: the pieces of the N slowest, a line each
paths()
{
	"$RECORDER" why --span io:request --slowest "$1" --json | python3 -c '
import json, sys
for line in sys.stdin:
    span = json.loads(line)
    for piece in span["path"]:
        print(span["id"], *(piece[key] if piece[key] not in ("", None) else "-" for key in ("class", "begin", "dur", "task", "tid", "by", "what")), sep="|")
'
}
tracks="select printf('%s|%s|%d|%d|%s|%d|%s|%s', substr(t.name, 1, instr(t.name, ',') - 1), s.name, s.ts, s.dur,
	extract_arg(s.arg_set_id, 'debug.task'), extract_arg(s.arg_set_id, 'debug.tid'),
	ifnull(extract_arg(s.arg_set_id, 'debug.by'), '-'), ifnull(extract_arg(s.arg_set_id, 'debug.what'), '-'))
	from slice s join track t on s.track_id = t.id join track g on t.parent_id = g.id
	where g.name = 'why io:request' order by -instr('4321', substr(t.name, 1, 1)), s.ts"
tracks=${tracks//[$'\n\t']/ }
for nr in 1 3; do
	ok "export, the slowest $nr" "$RECORDER" export --perfetto --why io:request --slowest $nr -o why.pftrace
	sql marks "$tracks"
	sql tracks "select count(*) from track t join track g on t.parent_id = g.id where g.name = 'why io:request'"
	sql spans "select count(*) from slice where name = 'request'"
	ask why.pftrace
	is "a track for each" "$(answer tracks)" $nr
	ok "there are pieces" test "$(paths $nr | wc -l)" -ge $nr
	is "the pieces are those of why" "$(answer marks | tr ';' '\n' | sort)" "$(paths $nr | sort)"
	is "beside the spans" "$(answer spans)" 4
done
# In Perfetto's file the date is an offset between clocks; `why` adds it to each time that it prints.
run "$RECORDER" record -q --date --compression none -o dated.dat ./waits
is "a recording with its date" "$status$err" 0
for name in trace dated; do
	ok "export of $name" "$RECORDER" export --perfetto --why io:request --slowest 4 "$name.dat" -o why.pftrace
	sql marks "select min(s.ts), max(s.ts + s.dur) from slice s join track t on s.track_id = t.id join track g on t.parent_id = g.id where g.name = 'why io:request' group by t.id order by 1"
	sql spans "select ts, ts + dur from slice where name = 'request' order by 1"
	ask why.pftrace
	is "$name: the pieces are where the spans are" "$(answer marks)" "$(answer spans)"
done
ok "without --why" "$RECORDER" export --perfetto -o why.pftrace
sql tracks "select count(*) from track where name like 'why %'"
ask why.pftrace
is "there are none" "$(answer tracks)" 0

# refused STATUS TEXT ARGUMENT...: export fails with this status and text, and leaves existing files unchanged
refused()
{
	local want=$1 text=$2

	shift 2
	echo old >old
	run "$RECORDER" export -o old "$@"
	is "export $*: the status" "$status" "$want"
	is "the line" "$err" "recorder export: $text"
	is "the file is as it was" "$(<old)" old
}
run "$RECORDER" why --span io:nothing
refused "$status" "${err#recorder why: }" --perfetto --why io:nothing
refused 2 "--why is for --perfetto: --chrome has no tracks for it" --chrome --why io:request
refused 2 "--slowest needs --why SYSTEM:NAME" --perfetto --slowest 2

done_testing

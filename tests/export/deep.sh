#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# More nested spans than Perfetto nests on a track (512), and than a reader awaits (1024): tests/export/deep.c. Each span
# of recorder sql is a slice in Perfetto, with the same times and fields.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/export/perfetto.sh"
cd "$TMP" || exit 1
# shellcheck disable=SC2086
ok "compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o deep "$top_srcdir/tests/export/deep.c" $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -o deep.dat ./deep
deep=$(sed -n 's/^deep //p' .out)
deeper=$(sed -n 's/^deeper //p' .out)
open=$(sed -n 's/^open //p' .out)
# The span `after` of the last case is inside all others.
given_up=$((1100 - 1024)) given_up_open=$((3001 - 1024))
ok "export" "$RECORDER" export --perfetto deep.dat -o deep.pftrace
is "the spans that are given up are counted" "$err" \
	"recorder export: deep.dat: the ends of $((given_up + given_up_open)) spans and states were not awaited: too many were open"

thread="join thread_track k on s.track_id = k.id join thread t using (utid)"
state="coalesce(extract_arg(s.arg_set_id, 'debug.incomplete'), 'whole')"
sql begins "select ts, tid from slice s $thread"
sql whole "select ts, dur, s.name, tid, coalesce(extract_arg(s.arg_set_id, 'debug.number'), '-'), coalesce(extract_arg(s.arg_set_id, 'debug.last'), '-') from slice s $thread where dur >= 0 and not $state glob 'cut:*'"
sql cut "select ts, dur from slice s $thread where tid = $open and $state glob 'cut:*'"
sql nested "select tid, max(s.depth) from slice s $thread group by 1 order by 1"
sql after "select tid, s.depth from slice s $thread where s.name = 'after' order by 1"
sql last "select ts + dur from slice s $thread where tid = $deeper and extract_arg(s.arg_set_id, 'debug.number') = $given_up"
sql given "select count(*), ts + dur from slice s $thread where tid = $deeper and extract_arg(s.arg_set_id, 'debug.incomplete') = 'cut: too many spans were open' group by 2"
ask deep.pftrace

# each WHAT: an answer's line for each of the program's three cases, in the order of their process ids
each()
{
	printf '%s\n' "$deep $1" "$deeper $1" "$open $1" | sort -n | paste -sd ';'
}

# spans WHERE COLUMNS: of recorder sql
spans()
{
	"$RECORDER" sql --csv deep.dat "select $2 from spans where $1" 2>/dev/null | tail -n +2 | tr -d '\r' | tr , ' ' | sort
}

# same WHAT NAME WHERE COLUMNS: the answer NAME has the same lines
same()
{
	answer "$2" | tr ';' '\n' | sort >got
	spans "$3" "$4" >wanted
	ok "$1" diff wanted got
	ok "$1: some" test -s wanted
}
same "every span has a slice" begins true "ts, tid"
same "spans whose end was seen have their times and fields" whole "state in ('whole', 'no begin')" \
	"ts, dur, name, tid, coalesce(json_extract(args, '$.number'), '-'), coalesce(json_extract(args, '$.last'), '-')"
is "512 slices nest, the deeper ones are on tracks of their own" "$(answer nested)" "$(each 511)"
is "a later span is in none of them, unless they are open" "$(answer after)" "$(each 0)"
is "a span that was given up ends with the last one inside it" "$(answer given)" "$given_up $(answer last)"
answer cut | tr ';' '\n' | sort >got
spans "state = 'cut' and tid = $open" "ts, dur" >wanted
is "if nothing ends, those that are deeper than 512 have their times" "$(wc -l <got) $(comm -23 got wanted | wc -l)" "$((given_up_open - 512)) 0"

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Lanes lose begins and ends of spans (tests/export/lost.c). Each span has a number in its begin and in its end: no span
# that is shown as whole has two different numbers. Spans without losses are whole. report --spans marks the same spans.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1
# shellcheck disable=SC2086
ok "compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o lost "$top_srcdir/tests/export/lost.c" $LDADD_FOR_TEST

# lose MODE HOW: HOW.dat has the events of `lost HOW` that lanes of 64 KiB keep
lose()
{
	ok "$2, $1: run" env RECORDER_MODE="$1" RECORDER_BUFFER_KB=64 RECORDER_ENABLE='*' RECORDER_KEEP=1 ./lost "$2"
	ok "$2, $1: recover" "$RECORDER" recover -q -o "$2.dat" --all
	like "$2, $1: some are lost" "$("$RECORDER" report "$2.dat")" 'EVENTS DROPPED'
}

# spans FILE WHERE: name, numbers and state of each, by time
spans()
{
	"$RECORDER" sql --csv "$1" "select name, coalesce(json_extract(args, '$.begun'), '-'), coalesce(json_extract(args, '$.ended'), '-'),
		state from spans where $2 order by ts" 2>/dev/null | tail -n +2 | tr -d '\r' | tr , ' '
}

lose overwrite handover
is "overwrite: the two spans are not one" "$(spans handover.dat true | paste -s -d ';')" "rpc 7 7 cut;rpc 1 2 cut;rpc 8 8 whole"
# Span 7 is before the first event of the other thread that is in the file.
like "overwrite: report --spans marks it" "$("$RECORDER" report --spans handover.dat | grep -A 1 'ended=2\b')" 'events lost inside'

# In a merged file, the times of losses are in the clock of the result, whichever file they are from.
ok "a file without losses" "$RECORDER" record -q -o none.dat "$top_builddir/tests/programs/producer" 1 10
ok "merge with it" "$RECORDER" merge -o merged.dat none.dat handover.dat
is "merged: the two spans are not one" "$(spans merged.dat true | paste -s -d ';')" "rpc 7 7 cut;rpc 1 2 cut;rpc 8 8 whole"
ok "times of the TSC: run" env RECORDER_CLOCK=tsc RECORDER_MODE=overwrite RECORDER_BUFFER_KB=64 RECORDER_ENABLE='*' RECORDER_KEEP=1 ./lost
ok "times of the TSC: recover" "$RECORDER" recover -q --raw -o tsc.dat --all
ok "times of the TSC: merge" "$RECORDER" merge -o merged.dat tsc.dat tsc.dat
is "times of the TSC, merged: the two spans are not one" "$(spans merged.dat true | paste -s -d ';')" \
	"rpc 7 7 cut;rpc 7 7 cut;rpc 1 2 cut;rpc 1 2 cut;rpc 8 8 whole;rpc 8 8 whole"

lose discard handover
is "discard: the two spans are not one" "$(spans handover.dat true | paste -s -d ';')" "rpc 7 7 whole;rpc 1 2 cut;rpc 8 8 cut"

lose discard tail
is "discard: a span whose end its lane has lost at the end is marked" "$(spans tail.dat true)" "work 5 - cut"

for mode in overwrite discard; do
	lose "$mode" storm
	is "storm, $mode: a whole span has one number" "$(spans storm.dat "state = 'whole'" | awk '$2 != $3')" ""
	is "storm, $mode: spans on one thread are whole" "$(spans storm.dat "name = 'work'" | grep -c whole | awk '{ print ($1 > 50) }')" 1
	is "storm, $mode: there are marked ones" "$(spans storm.dat "state = 'cut'" | awk 'END { print (NR > 0) }')" 1
	is "storm, $mode: no span is open over a loss" "$(spans storm.dat "state = 'open' and ts < (select max(ts) from losses)")" ""
	ok "storm, $mode: export" "$RECORDER" export --chrome -o storm.json storm.dat
	ok "storm, $mode: export --folded" "$RECORDER" export --folded -o storm.folded storm.dat
	is "storm, $mode: reports the losses, which a stack does not show" "$err" \
		"recorder export: storm.dat: $("$RECORDER" sql --list storm.dat "select sum(lost) || ' events were lost at ' || count(*) ||
			iif(count(*) = 1, ' place', ' places') from losses" 2>/dev/null); results may lack them"
	is "storm, $mode: the export marks as many as cut" "$(grep -o '"incomplete":"cut' storm.json | wc -l)" \
		"$(spans storm.dat "state = 'cut'" | wc -l)"
done
# After the last loss of the overwritten lanes nothing is missing.
lose overwrite storm
is "what follows the last loss is whole, or open" \
	"$(spans storm.dat "ts > (select max(ts) from losses) and state in ('cut', 'no begin')")" ""

done_testing

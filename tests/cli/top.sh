#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder top: numbers of events and durations of spans are those that the plain report gives, added up by awk.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

cat >spans.c <<'END'
#include <librecorder/event.h>
REC_EVENT(io, request_begin, u32(n));
REC_EVENT(io, request_end);
REC_EVENT(io, step_begin, u32(n));
REC_EVENT(io, step_end);
REC_EVENT(io, note, u32(n));
int main(void)
{
	for (unsigned int i = 0; i < 30; i++) {
		REC(io, request_begin, i);
		for (unsigned int k = 0; k < 3; k++) {
			REC(io, step_begin, k);
			REC(io, note, k);
			REC(io, step_end);
		}
		REC(io, request_end);
	}
	REC(io, step_begin, 99);
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program with spans" $CC $CFLAGS_FOR_TEST spans.c $LDADD_FOR_TEST -o spans
ok "is recorded" "$RECORDER" record -q -u 'io:*' -o trace.dat ./spans
ok "top" "$RECORDER" top --json
rows=$out

# sums NAME: number, sum, and maximum of the durations of a span of this one thread
sums()
{
	"$RECORDER" report -t trace.dat | awk -v begin="$1_begin:" -v end="$1_end:" '
		{ time = $3; sub(/:$/, "", time); split(time, part, "."); ns = part[1] * 1000000000 + part[2] }
		$4 == begin { since = ns }
		$4 == end { n++; sum += ns - since; if (ns - since > max) max = ns - since }
		END { printf "%d %d %d", n, sum, max }'
}

# row NAME KEY...: values of a span's row
row()
{
	python3 -c 'import json, sys
row = [r for r in map(json.loads, sys.stdin) if r["kind"] == sys.argv[1] and r["name"] == sys.argv[2]][0]
print(*[row[key] for key in sys.argv[3:]])' "$@" <<<"$rows"
}

is "outer spans" "$(row span io:request count dur max)" "$(sums request)"
is "inner ones, without the one that does not end" "$(row span io:step count dur max)" "$(sums step)"
is "own time" "$(row span io:request own)" "$(($(row span io:request dur) - $(row span io:step dur)))"
is "inner spans have nothing inside" "$(row span io:step own)" "$(row span io:step dur)"
is "events" "$(row event io:note events) $(row event io:step_begin events) $(row event io:request_end events)" "90 91 30"
is "the thread" "$(row thread spans events)" 331
is "the process" "$(row process spans events)" 331
unlike "no times of threads without switches" "$rows" running
is "the order of events" "$(grep -c . <<<"$rows") $(sed -n 's/.*"kind": "event", "name": "\([^"]*\)".*/\1/p' <<<"$rows" | head -1)" "9 io:step_begin"
ok "as text" "$RECORDER" top -n 2 trace.dat
like "what to record for times" "$(sed -n 1p <<<"$out")" '^331 events in 0\.[0-9]{6} s; for times of threads record sched_switch and sched_waking, too: -e sched$'
like "two rows of a list" "$out" $'event\n +91 +[0-9.]+  io:step_begin\n +90 +[0-9.]+  io:(note|step_end)\n\\.\\.\\. and 3 more'

# ---- a clock that does not count nanoseconds

ok "an older file" "$RECORDER" convert --file-version 6 -i trace.dat -o older.dat
sed 's/\[mono\]/[tick]/g' older.dat >ticks.dat
ok "times of another clock" "$RECORDER" top ticks.dat
like "are ticks" "$(sed -n 1p <<<"$out")" '^331 events in [0-9]+ ticks; '
like "as numbers" "$out" " $(row span io:request dur) +$(row span io:request own) +30 .*  io:request"$'(\n|$)'
unlike "without units" "$out" '[0-9] [num]?s([^a-z]|$)'
like "and without rates" "$out" $'\n +90 +-  io:note(\n|$)'
is "this is reported" "$err" "recorder top: ticks.dat: the clock 'tick' does not count nanoseconds; times are in its ticks"
"$top_builddir/tests/golden/mkdat" v6-boot >boot.dat
run "$RECORDER" top boot.dat
like "the clock boot counts nanoseconds" "$(sed -n 1p <<<"$out")" '^100 events in [0-9]+\.[0-9]{6} s;'
unlike "so nothing is reported" "$err" nanoseconds

# ---- damaged and cut files

cp older.dat damaged.dat
python3 - damaged.dat <<'END'
import os, sys
with open(sys.argv[1], "r+b") as file:
    file.seek(os.path.getsize(sys.argv[1]) - 4096 + 600)
    file.write(bytes(64))
END
fails "a damaged page" "$RECORDER" top --json damaged.dat
like "is reported" "$err" '^recorder top: damaged.dat: the record at byte [0-9]+ of the page does not fit$'
rows=$out
ok "what it still has is printed" test "$(row thread spans events)" -gt 10
fails "as text, too" "$RECORDER" top damaged.dat
like "the thread" "$out" '  spans-[0-9]+'
head -c 12000 trace.dat >cut.dat
fails "a file that is cut" "$RECORDER" top cut.dat
fails "an invalid file" "$RECORDER" top /dev/null
like "it is named" "$err" '^recorder top: /dev/null: '

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder diff: recordings of a program before and after a known change: the reported changes, their order, and the
# exit status.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

cat >work.c <<'END'
#include <librecorder/event.h>
#include <stdlib.h>
#include <time.h>
REC_EVENT(work, same_begin, u32(n));
REC_EVENT(work, same_end);
REC_EVENT(work, step_begin, u32(n));
REC_EVENT(work, step_end);
REC_EVENT(work, retry, u32(n));
REC_EVENT(work, new, u32(n));
/* By the processor time of the thread, so that other programs do not make it longer. */
static void burn(long ns)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((now.tv_sec - from.tv_sec) * 1000000000 + now.tv_nsec - from.tv_nsec < ns);
}
/* work STEP_NS RETRIES NEW */
int main(int argc, char **argv)
{
	if (argc < 4)
		return 1;
	for (unsigned int i = 0; i < 400; i++) {
		REC(work, same_begin, i);
		burn(20000);
		REC(work, same_end);
		REC(work, step_begin, i);
		burn(atol(argv[1]));
		REC(work, step_end);
		for (int k = 0; k < atoi(argv[2]); k++)
			REC(work, retry, i);
		if (atoi(argv[3]))
			REC(work, new, i);
	}
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program" $CC $CFLAGS_FOR_TEST work.c $LDADD_FOR_TEST -o work
ok "before" "$RECORDER" record -q -u 'work:*' -o a.dat ./work 20000 2 0
ok "slower in one span" "$RECORDER" record -q -u 'work:*' -o slow.dat ./work 200000 2 0
ok "more events, and new ones" "$RECORDER" record -q -u 'work:*' -o events.dat ./work 20000 3 1

ok "a file and itself" "$RECORDER" diff a.dat a.dat
like "nothing changed" "$out" '^0 of [0-9]+ comparisons changed, 1 run against 1'

run "$RECORDER" diff a.dat slow.dat
is "a slower span: the status" "$status" 1
like "it is first" "$(sed -n 2p <<<"$out")" '^ +(\+[0-9]+\.[0-9]%|x[0-9.]+)  work:step, median: [0-9.]+ us -> [0-9.]+ us; '
unlike "no change of the other one by much is before it" "$(sed -n 2p <<<"$out")" 'work:same'
run "$RECORDER" diff --json slow.dat a.dat
is "the other way round: the status" "$status" 1
ok "its JSON" python3 -c '
import json, sys
first = json.loads(sys.stdin.readline())
assert (first["kind"], first["name"], first["changed"]) == ("span", "work:step", True), first
assert -1 < first["low"] <= first["change"] <= first["high"] < -0.5, first
assert first["b"] < first["a"] / 2 and first["effect"] < -0.5 and first["adjusted"] < 0.05, first
assert first["values"] == [400, 400] and first["units"] == [12, 12], first
' <<<"$out"

# A clock that does not count nanoseconds.
for name in a slow; do
	"$RECORDER" convert --file-version 6 -i $name.dat -o $name.six
	sed 's/\[mono\]/[tick]/g' $name.six >$name.ticks
done
run "$RECORDER" diff a.ticks slow.ticks
is "times of another clock: the status" "$status" 1
like "they are numbers" "$(sed -n 2p <<<"$out")" ' work:step, median: [0-9.]+ -> [0-9.]+; '
is "this is reported" "$err" "recorder diff: a.ticks: the clock 'tick' does not count nanoseconds; times are in its ticks
recorder diff: slow.ticks: the clock 'tick' does not count nanoseconds; times are in its ticks"

# Numbers of events do not depend on the machine.
run "$RECORDER" diff --json a.dat events.dat
is "more events: the status" "$status" 1
ok "which ones" python3 -c '
import json, sys
rows = {r["name"]: r for r in map(json.loads, sys.stdin) if r["kind"] == "events"}
assert set(rows) == {"work:retry", "work:new"}, rows
assert rows["work:retry"]["a"] == 800 and rows["work:retry"]["b"] == 1200 and rows["work:retry"]["change"] == 0.5, rows
assert rows["work:new"]["a"] == 0 and rows["work:new"]["b"] == 400 and rows["work:new"]["change"] is None, rows
' <<<"$out"
run "$RECORDER" diff a.dat events.dat
like "as text" "$out" $'\n     new  work:new, count: 0 -> 400; effect \\+1\\.00, p '
run "$RECORDER" diff --threshold 5000 a.dat slow.dat
is "a threshold above all changes: the status" "$status" 0
run "$RECORDER" diff --threshold 60% --json a.dat events.dat
unlike "a threshold above one" "$out" 'work:retry'
like "and below the other" "$out" 'work:new'
run "$RECORDER" diff --all --json a.dat a.dat
ok "all comparisons, none of which changed" python3 -c '
import json, sys
rows = [json.loads(line) for line in sys.stdin]
assert {"work:same", "work:step"} <= {r["name"] for r in rows}, rows
assert not any(r["changed"] for r in rows), rows
' <<<"$out"

# ---- sides that were not recorded alike

sed -i 's/^REC_EVENT(work, new.*/&\nREC_EVENT(rare, once, u32(n));\nREC_EVENT(work, seldom);/; s/^	return 0/	REC(rare, once, 1);\n	REC(work, seldom);\n&/' work.c
# shellcheck disable=SC2086
ok "a program with a system of its own" $CC $CFLAGS_FOR_TEST work.c $LDADD_FOR_TEST -o rare
ok "is recorded" "$RECORDER" record -q -o rare.dat ./rare 20000 2 0
ok "files without a change" "$RECORDER" diff a.dat a.dat
is "nothing is on one side alone" "$err" ""
run "$RECORDER" diff a.dat rare.dat
is "the events that only one side has" "$err" "recorder diff: side B has events that side A lacks: rare:*, work:seldom"
run "$RECORDER" diff --threshold 5000 a.dat rare.dat
is "they alone are no change" "$status $err" "0 recorder diff: side B has events that side A lacks: rare:*, work:seldom"
run "$RECORDER" diff rare.dat a.dat
is "the other way round" "$err" "recorder diff: side A has events that side B lacks: rare:*, work:seldom"
run "$RECORDER" diff a.dat events.dat
is "a change is not named twice" "$err" ""

# ---- several runs

for i in 1 2 3; do
	ok "run $i" "$RECORDER" record -q -u 'work:*' -o "b$i.dat" ./work 200000 3 0
	ok "run $i before" "$RECORDER" record -q -u 'work:*' -o "a$i.dat" ./work 20000 2 0
done
run "$RECORDER" diff --all --json a1.dat a2.dat a3.dat -- b1.dat b2.dat b3.dat
is "several runs: the status" "$status" 1
ok "the units are runs" python3 -c '
import json, sys
# Three durations a side may be too few to show a change, if other programs disturb the runs.
rows = {r["name"]: r for r in map(json.loads, sys.stdin)}
step, retry = rows["work:step"], rows["work:retry"]
assert step["units"] == [3, 3] and step["values"] == [1200, 1200] and step["b"] > step["a"], step
assert (retry["a"], retry["b"], retry["changed"]) == (800, 1200, True), retry
' <<<"$out"
like "as text" "$("$RECORDER" diff a1.dat a2.dat a3.dat -- b1.dat b2.dat b3.dat | sed -n 1p)" '^[1-9][0-9]* of [0-9]+ comparisons changed, 3 runs against 3$'
ok "the same runs on both sides" "$RECORDER" diff a1.dat a2.dat a3.dat -- a3.dat a1.dat a2.dat

# ---- failures have a status of their own

head -c 20000 a.dat >cut.dat
run "$RECORDER" diff a.dat cut.dat
is "a file that is cut: the status" "$status" 2
like "it is named" "$err" '^recorder diff: cut\.dat: '
run "$RECORDER" diff a.dat /dev/null
is "an invalid file: the status" "$status" 2
run bash -c '"$RECORDER" diff a.dat slow.dat >/dev/full'
is "a full disk: the status" "$status" 2
like "it is reported" "$err" '^recorder diff: cannot write to standard output: '

done_testing

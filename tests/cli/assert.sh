#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder assert: which expressions hold on a trace with known figures, and the output.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

cat >known.c <<'END'
#include <librecorder/event.h>
#include <librecorder/span.h>
REC_EVENT(io, submit, u64(id), s32(delta));
REC_EVENT(io, complete, u64(id), string(path));
REC_SPAN(io, request, u32(n));
REC_TIMED(io, flush);
int main(void)
{
	uint64_t start;

	for (unsigned int i = 0; i < 200; i++) {
		REC_BEGIN(io, request, i);
		REC(io, submit, i, (int)i - 50);
		REC(io, complete, i, "<&\"'\033[2J\377");
		REC_END(io, request);
	}
	start = REC_TIMED_START(io, flush);
	while (rec_clock_mono() < start + 2000)
		continue;
	REC_TIMED_END(io, flush, start);
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program with known figures" $CC $CFLAGS_FOR_TEST known.c $LDADD_FOR_TEST -o known
ok "is recorded" "$RECORDER" record -q -u 'io:*' -o trace.dat ./known
exact=$("$RECORDER" sql --list trace.dat "SELECT max(dur) FROM spans WHERE name = 'request'")

# holds EXPRESSION, breaks EXPRESSION, undecided EXPRESSION
holds()
{
	run "$RECORDER" assert trace.dat "$1"
	is "holds: $1" "$status ${out%%$'\n'*}" "0 ok: $1"
}
breaks()
{
	run "$RECORDER" assert trace.dat "$1"
	is "does not hold: $1" "$status ${out%%$'\n'*}" "1 FAILED: $1"
}
undecided()
{
	run "$RECORDER" assert trace.dat "$1"
	is "cannot be decided: $1" "$status ${out%%$'\n'*}" "1 UNDECIDED: $1"
}

holds 'count(io:submit) == 200'
holds 'count(submit)==200&&count(io:request)==200'
holds 'min(io:submit.delta) == -50 && max(io:submit.delta) == 149'
holds 'mean(io:submit.delta) == 49.5 && sum(io:submit.delta) == 9900'
holds 'p50(io:submit.delta) == 49 && p99(io:submit.delta) == 147 && p99.9(io:submit.delta) == 149'
holds 'percentile(0, io:submit.delta) == -50 && percentile(12.5, io:submit.delta) == -26'
holds "max(io:request) == $exact && max(latency(io:request)) == ${exact}ns"
holds 'count(latency(io:submit, io:complete, id)) == 200 && count(latency(io:submit, io:complete)) == 200'
holds 'p99(latency(io:submit, io:complete, id)) <= max(latency(io:submit, io:complete, id))'
holds 'count(latency(io:submit, io:submit)) == 199'
holds 'lost == 0'
holds 'rate(io:submit) > 0 && rate(io:submit) * 2 == rate(io:submit) + rate(io:complete)'
holds '1 + 2 * 3 == 7 && (1 + 2) * 3 == 9 && 7 - 2 - 1 == 4 && 8 / 4 / 2 == 1 && -3 < - 2'
holds '1us == 1000ns && 1ms == 1000us && 1s == 1000 * 1ms && 1m == 60s && 1.5us == 1500'
holds '1 == 1 || 1 == 2 && 1 == 3'
breaks '(1 == 1 || 1 == 2) && 1 == 3'
holds '!(1 == 2) && !!(1 < 2) && 1 != 2 && 2 >= 2 && 2 <= 2'
breaks '1 < 1'
breaks '!(lost == 0)'
undecided 'max(latency(io:complete, io:submit, id)) < 1s'
undecided '1 / 0 > 1'
undecided '!(max(latency(io:complete, io:submit, id)) < 1s)'
holds 'count(latency(io:complete, io:submit, id)) == 0 || max(latency(io:complete, io:submit, id)) < 1s'
breaks 'lost > 0 && max(latency(io:complete, io:submit, id)) < 1s'
ok "all of several" "$RECORDER" assert 'lost == 0' 'count(io:submit) == 200'
fails "one of several" "$RECORDER" assert 'lost == 0' 'count(io:submit) == 201' '1 == 1'
is "does not hold" "$status $(grep -c '^ok: ' <<<"$out") $(grep -c '^FAILED: ' <<<"$out")" "1 2 1"

# ---- what offends

run "$RECORDER" assert trace.dat 'max(io:submit.delta) < 148'
is "the figure, the events over the limit, and those around them" "$(sed -E 's/ +known-[0-9]+ +\[[0-9]+\] +[0-9.]+: / /; s/at [0-9.]+$/at T/; s/ path=.*//' <<<"$out" | tr -s ' ')" \
	"FAILED: max(io:submit.delta) < 148
 max(io:submit.delta) = 149
 the largest of max(io:submit.delta):
 149 at T
 request_end: 
 request_begin: n=199
 > submit: id=199 delta=149
 complete: id=199
 148 at T
 request_end: 
 request_begin: n=198
 > submit: id=198 delta=148
 complete: id=198"
run "$RECORDER" assert trace.dat 'max(io:request) < 1ns'
is "five spans at most" "$(grep -cE '^    [0-9.]+ [num]?s at ' <<<"$out")" 5
is "the largest first" "$(sed -nE 's/^    ([0-9.]+ [num]?s) at .*/\1/p' <<<"$out" | head -n 1)" "$(sed -nE 's/^  max\(io:request\) = //p' <<<"$out")"
is "with the events inside" "$(grep -c '^    > ' <<<"$out")" 20
run "$RECORDER" assert trace.dat 'min(io:submit.delta) >= -48 && lost == 0'
is "the smallest ones" "$(sed -nE 's/^    (-[0-9]+) at .*/\1/p' <<<"$out" | tr '\n' ' ')" "-50 -49 "
for each in '!(max(io:submit.delta) > 147)=149 148' 'max(io:submit.delta) == 147=149 148' 'min(io:submit.delta) == -48=-50 -49' \
	'min(io:submit.delta) != -50=-50' '!(min(io:submit.delta) <= -49)=-50 -49' '147 >= max(io:submit.delta)=149 148' \
	'2 * max(io:submit.delta) < 296=149 148' '48 >= -min(io:submit.delta)=-50 -49' 'max(io:submit.delta) / -0.5 > -296=149 148' \
	'300 / max(io:submit.delta) > 2.03=149 148' '300 / min(io:submit.delta) < -6.1=-50' '1 - max(io:submit.delta) > -147=149 148' \
	'0 * max(io:submit.delta) > 1=' 'max(io:submit.delta) - min(io:submit.delta) < 198=149 148 -50 -49' \
	'max(io:submit.delta) - max(latency(io:complete, io:submit, id)) < 1='; do
	run "$RECORDER" assert trace.dat "${each%=*}"
	is "what offends: ${each%=*}" "$(sed -nE 's/^    (-?[0-9]+) at .*/\1/p' <<<"$out" | paste -sd ' ')" "${each##*=}"
done
run "$RECORDER" assert trace.dat 'max(io:submit.delta) - min(io:submit.delta) < 198'
is "of each function" "$(sed -nE 's/^  (the .*):$/\1/p' <<<"$out" | paste -sd ';')" \
	"the largest of max(io:submit.delta);the smallest of min(io:submit.delta)"
run "$RECORDER" assert trace.dat 'count(io:submit) == 0'
is "the first events" "$(grep -cE '^    event at ' <<<"$out")" 5

# Later events are shown only if they are near: the search for others would read the rest of the trace.
"$top_builddir/tests/golden/mkdat" v6-bare | python3 -c '
import struct, sys

def page(ts, id):
    event = struct.pack("<IHBBiQiI4s", 1000 << 5 | 7, 16384, 0, 0, 7, id, 0, 4 << 16 | 24, b"abc")
    return (struct.pack("<QQ", ts, len(event)) + event).ljust(4096, b"\0")

data = sys.stdin.buffer.read()
table = data.index(b"flyrecord\0") + 10
(start,) = struct.unpack_from("<Q", data, table)
for name, gap in (("near.dat", 10**6), ("far.dat", 10**9)):
    pages = page(10**9, 4) + page(10**9 + gap, 5) + page(10**9 + 2 * gap, 6)
    head = data[:table] + struct.pack("<QQ", start, len(pages)) + data[table + 16 : start]
    open(name, "wb").write(head + pages)
'
for each in "near.dat=4 5 6" "far.dat=4 5"; do
	fails "an event of ${each%%=*}" "$RECORDER" assert "${each%%=*}" --sql 'SELECT ts, tid FROM submit WHERE id = 5'
	is "is shown with those around it" "$(sed -nE 's/^ .* submit: +id=([0-9]).*/\1/p' <<<"$out" | paste -sd ' ')" "${each#*=}"
done

# ---- limits without a unit

# limit EXPRESSION: the lines of limits that are printed, and those on standard error
limit()
{
	run "$RECORDER" assert trace.dat "$1"
	sed -n 's/^  [0-9.]* = //p' <<<"$out"
	echo "$err"
}
missing()
{
	echo "recorder assert: '$1': $2 is $2 ns; for milliseconds write $2ms"
}
for each in 'max(io:flush) < 5' '!(5 >= max(io:flush))' 'lost == 0 && max(io:flush) + min(io:flush) < 5'; do
	is "a limit that lacks its unit: $each" "$(limit "$each")" "5 ns"$'\n'"$(missing "$each" 5)"
done
is "half a nanosecond" "$(limit 'p99(io:flush) > 0.5')" "0.5 ns"$'\n'"$(missing 'p99(io:flush) > 0.5' 0.5)"
is "a limit that may be meant" "$(limit 'max(io:flush) > 1500')" "1.500 us"
shortest=$("$RECORDER" sql --list trace.dat "SELECT min(dur) FROM spans WHERE name = 'request'")
is "so may a short one of short durations" "$(limit 'max(io:request) < 7')" \
	"7 ns$([ "$shortest" -lt 1000 ] || printf '\n%s' "$(missing 'max(io:request) < 7' 7)")"
for each in 'max(io:flush) > 5ns' 'max(io:flush) > 0' 'max(io:submit.delta) > 5' 'count(io:flush) < 5' 'lost < 5' '1 < 5'; do
	is "no limit without a unit: $each" "$(limit "$each")" ""
done

# ---- queries

ok "a query without rows" "$RECORDER" assert trace.dat --sql 'SELECT * FROM submit WHERE delta > 149'
is "holds" "${out%%$'\n'*}" "ok: SELECT * FROM submit WHERE delta > 149"
fails "a query with rows" "$RECORDER" assert trace.dat --sql 'SELECT ts, tid, id FROM submit WHERE delta > 130' 'lost == 0'
like "shows them" "$out" $'FAILED: SELECT ts, .*\n  ts=[0-9]+ tid=[0-9]+ id=181\n'
like "with the events there" "$out" $'\n    > .* submit: +id=181 delta=131\n'
like "and how many more there are" "$out" $'\n  9 more rows$'
fails "a query with bytes" "$RECORDER" assert trace.dat --sql "SELECT x'0041ff' AS bytes, NULL AS n, 1.5 AS x, 'a' AS t"
is "shows them as SQL writes them" "$(sed -n 2p <<<"$out")" "  bytes=x'0041ff' n=NULL x=1.5 t=a"
fails "no query" "$RECORDER" assert trace.dat --sql 'CREATE TABLE x(y)'
is "is a wrong command line" "$status" 2
fails "two queries in one" "$RECORDER" assert trace.dat --sql 'SELECT 1 WHERE 0; SELECT * FROM submit'
like "are refused" "$err" "^recorder assert: --sql takes one query; repeat --sql for more: 'SELECT 1"
ok "a semicolon at the end is not one" "$RECORDER" assert trace.dat --sql 'SELECT 1 WHERE 0; '
fails "a query that is wrong" "$RECORDER" assert trace.dat --sql 'SELECT absent FROM submit'
like "is reported" "$err" "^recorder assert: --sql 'SELECT absent FROM submit': no such column: absent$"

# ---- JUnit

fails "JUnit's XML" "$RECORDER" assert --junit out.xml trace.dat 'lost == 0' 'count(complete) < 2 && 1 < 2' \
	--sql "SELECT path FROM complete WHERE id = 3"
is "has each assertion, and what offends, whatever texts have" "$(python3 -c '
import xml.etree.ElementTree as tree
root = tree.parse("out.xml").getroot()
print(root.tag, root.get("tests"), root.get("failures"), root.get("errors"))
assert float(root.get("time")) >= sum(float(case.get("time")) for case in root) >= 0
for case in root:
    failure = case.find("failure")
    print(case.get("classname"), case.get("name"), failure is not None and failure.get("message"))
text = root[2].find("failure").text
print("path=<&\"" in text, "\x1b" in text, "> " in root[1].find("failure").text)
')" "testsuite 3 2 0
trace.dat lost == 0 False
trace.dat count(complete) < 2 && 1 < 2 does not hold
trace.dat SELECT path FROM complete WHERE id = 3 does not hold
True False True"
fails "a trace that is missing" "$RECORDER" assert missing.dat 'lost == 0'
is "has the status of a trace that cannot be read" "$status" 1
is "is reported by its name" "$err" "recorder assert: missing.dat: cannot open: No such file or directory"
fails "also for CI" "$RECORDER" assert --junit unread.xml missing.dat 'lost == 0' --sql 'SELECT * FROM losses'
is "which has an error for each" "$(python3 -c '
import xml.etree.ElementTree as tree
root = tree.parse("unread.xml").getroot()
print(root.get("tests"), root.get("failures"), root.get("errors"), len(root.findall("testcase/error")))')" "2 0 2 2"
fails "an expression about what the trace does not have" "$RECORDER" assert --junit absent.xml trace.dat 'p99(no:span) < 1ms'
is "has the status of an invalid one" "$status" 2
is "and is an error for CI" "$(python3 -c '
import xml.etree.ElementTree as tree
root = tree.parse("absent.xml").getroot()
print(root.get("tests"), root.get("failures"), root.get("errors"), len(root.findall("testcase/error")))')" "1 0 1 1"
fails "a mistake in an expression" "$RECORDER" assert --junit mistake.xml trace.dat 'lost =='
ok "is no result" test ! -e mistake.xml
fails "a file that cannot be written" "$RECORDER" assert --junit missing/out.xml trace.dat 'lost == 0'
like "is reported" "$err" "^recorder assert: cannot write 'missing/out.xml': No such file or directory$"

# ---- what is wrong, and where

# wrong COLUMN REASON EXPRESSION
wrong()
{
	run "$RECORDER" assert trace.dat "$3"
	is "wrong: $3" "$status $err" "2 recorder assert: '$3': $2 (column $1)
  $3
  $(printf '%*s' "$1" '^')"
}
wrong 1 "expected a number, a duration, lost, or a function such as p99(...)" '== 1'
wrong 10 "expected a number, a duration, lost, or a function such as p99(...)" 'lost ==  '
wrong 5 "expected a comparison, such as < 5ms" 'lost'
wrong 6 "expected an operator, or the end" 'lost = 0'
wrong 7 "expected an operator, or the end" '1 < 2 < 3'
wrong 12 "expected )" 'min(submit < 3'
wrong 5 "expected (" 'max < 3'
wrong 1 "unknown function 'median'; count, rate, sum, mean, min, max, p50, p99.9 or percentile expected" 'median(io:request) < 3'
wrong 1 "unknown function 'p101'; count, rate, sum, mean, min, max, p50, p99.9 or percentile expected" 'p101(io:request) < 3'
wrong 12 "expected a percentile from 0 to 100" 'percentile(x, io:request) < 3'
wrong 15 "expected ," 'percentile(50 io:request) < 3'
wrong 5 "expected the name of a span, an event or a field" 'max() < 3'
wrong 10 "unknown unit; ns, us, ms, s or m expected" 'lost == 3h'
wrong 9 "expected a number or a duration such as 200us" 'lost == 1.2.3'
wrong 1 "expected a comparison, such as p99(io:request) < 5ms" 'lost && 1 == 1'
wrong 11 "expected a comparison, such as p99(io:request) < 5ms" '1 == 1 && 3'
wrong 6 "expected a number, not a comparison" '1 + (1 < 2) < 3'
wrong 5 "the trace has no span 'io:nothing'" 'p99(io:nothing) < 3'
wrong 5 "'io:submit' is an event, not a span: give the event that ends it, too" 'p99(io:submit) < 3'
wrong 5 "the trace describes no event 'io:nothing'" 'min(io:nothing.x) < 3'
wrong 15 "io:submit has no field 'nothing'" 'min(io:submit.nothing) < 3'
wrong 24 "the trace describes no event 'nothing'" 'max(latency(io:submit, nothing)) < 3'
wrong 37 "io:complete has no field 'delta'" 'max(latency(io:submit, io:complete, delta)) < 3'
run "$RECORDER" assert trace.dat "$(printf '(%.0s' {1..300})"
is "too many levels" "$status" 2
like "are refused" "$err" ': too many levels \(column 201\)'
fails "no assertion" "$RECORDER" assert trace.dat
is "is a wrong command line, too" "$status" 2
fails "a file that is no trace" "$RECORDER" assert known.c 'lost == 0'
like "is named" "$err" '^recorder assert: known.c: '

# ---- losses are never silent, cut files

ok "a program that overwrites" env RECORDER_BUFFER_KB=64 RECORDER_ENABLE='*' RECORDER_KEEP=1 "$top_builddir/tests/programs/producer" 1 100000
ok "its last events" "$RECORDER" recover -o lost.dat --all
ok "what does not ask for losses holds" "$RECORDER" assert lost.dat 'count(count) > 0 && lost + count(count) == 100000'
like "and names what is missing" "$err" '^recorder assert: lost.dat: [0-9]+ events were lost at 1 place; results may lack them$'
fails "losses are refused" "$RECORDER" assert lost.dat 'lost == 0'
like "with their place" "$out" $'\n  [0-9]+ events lost on CPU [0-9]+ before [0-9.]+\n    > .* count: '
size=$(stat -c %s trace.dat)
bad=0
for part in 1 20 50 80 95 99; do
	head -c $((size * part / 100)) trace.dat >cut.dat
	run "$RECORDER" assert cut.dat 'lost == 0'
	[ "$status" = 1 ] && [ -n "$err" ] || { bad=$((bad + 1)); diag "$part %: status $status, $err"; }
done
is "files that end early are not without losses" $bad 0

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder hist: counts, sums and distributions, compared with what a script computes from report --json.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

cat >keys.c <<'END'
#include <librecorder/event.h>
enum { OP_READ, OP_SAME = OP_READ, OP_WRITE = 7 };
REC_EVENT(io, submit, u64(id), s32(delta), named(op, OP_READ, OP_SAME, OP_WRITE), string(path), real(part, 2), array(u8, bytes, 2));
REC_EVENT(io, close, u16(fd));
REC_EVENT(mix, large, u64(n), s8(cpu));
REC_EVENT(mix, small, s32(n), string(comm));
REC_EVENT(odd, real, f32(single), f64(twice), real(part, 2));
REC_EVENT(odd, array, array(u8, bytes, 2), string(n), array(u16, path, 1), real(id, 1));
int main(void)
{
	static const char *const paths[] = { "", "a\"b\\<i>&'", "\033[2J", "\377", "x,y" };
	static const unsigned char bytes[2];
	for (int i = 0; i < 2000; i++) {
		REC(io, submit, (unsigned long)i * i * i, i % 11 - 5, i % 3 ? OP_READ : OP_WRITE, paths[i % 5], i / 7.0, bytes);
		if (i % 4 == 0)
			REC(io, close, i % 9);
		REC(mix, large, -1ul - (unsigned long)i, i % 3 - 1);
		REC(mix, small, -i, i % 2 ? "odd" : "even");
	}
	REC(io, submit, -1ul, 0, 3, "largest", 0, bytes);
	for (int i = 0; i < 6; i++)
		REC(odd, real, i < 2 ? -0.1f : 0.25f, (double[]){ 0.0, -0.0, 1.0 / 3, __builtin_inf(), __builtin_nan(""), -__builtin_nan("") }[i], i / 4 - 1.5);
	REC(odd, array, bytes, "text", (unsigned short[]){ 1 }, 2);
	return 0;
}
END
# shellcheck disable=SC2086
ok "a program with keys" $CC $CFLAGS_FOR_TEST keys.c $LDADD_FOR_TEST -o keys
ok "is recorded" "$RECORDER" record -q -u 'io:*' -u 'mix:*' -u 'odd:*' -o trace.dat ./keys
"$RECORDER" report --json trace.dat >events.json

cat >counts.py <<'END'
"""counts.py EVENTS ANSWER EVENT KEYS VALUE: what hist --json must print. Prints what differs.

VALUE may be "", or FIELD/SCALE for a real(), of which EVENTS have the stored numbers.
"""
import json
import sys
events = [json.loads(line) for line in open(sys.argv[1])]
answer = json.load(open(sys.argv[2]))
name, keys = sys.argv[3], sys.argv[4].split(",")
value, _, scale = sys.argv[5].partition("/")
rows = {}
hits = 0
for event in events:
    if event["event"] != name and name not in ("*", event["system"] + ":*"):
        continue
    key = []
    for field in keys:
        word, _, form = field.partition(".")
        if word == "event":
            part = event["system"] + ":" + event["event"]
        elif word in ("cpu", "comm") and word not in event["fields"]:
            part = event[word]
        elif word == "common_pid":
            part = event["pid"]
        else:
            part = event["fields"][word]
            part = event.get("names", {}).get(word, part) if not form and isinstance(part, int) else part
        if form == "log2":
            part = (part & (1 << 64) - 1) - 1
            part = part.bit_length() if part > 0 else 0
        key.append(part)
    rows.setdefault(json.dumps(key), []).append(event["fields"][value] if value else 0)
    hits += 1
names = [field.partition(".")[0] for field in keys]
made = {json.dumps([row["key"][n] for n in names]): [row["hitcount"], row.get("sum", 0)] for row in answer["rows"]}


def total(values):
    """A sum of more than 64 bits is rounded, and so is one of numbers with decimals."""
    if scale:
        return sum(values) / int(scale)
    return sum(values) if -1 << 63 <= sum(values) < 1 << 64 else float(sum(values))


expected = {key: [len(values), total(values)] for key, values in rows.items()}
if made != expected:
    print("rows:", {k: (made.get(k), expected.get(k)) for k in made.keys() | expected.keys() if made.get(k) != expected.get(k)})
if [answer["hits"], answer["entries"], answer["dropped"]] != [hits, len(rows), 0]:
    print("totals:", answer["hits"], answer["entries"], answer["dropped"], "not", hits, len(rows))
counts = [row["hitcount"] for row in answer["rows"]]
if counts != sorted(counts):
    print("not in order")
END

# counts NAME EVENT KEYS [VALUE [SCALE]]
counts()
{
	local value=()

	[ -z "${4:-}" ] || value=(-v "$4")
	"$RECORDER" hist --json -e "$2" -k "$3" "${value[@]}" >answer.json
	is "$1" "$(python3 counts.py events.json answer.json "${2#io:}" "$3" "${4:-}${5:+/$5}" 2>&1)" ""
}
counts "by a number" io:submit delta
counts "by a number, with a sum that is negative" io:submit op delta
counts "by a text of any bytes" io:submit path
counts "by several, with a sum of 64 bits" io:submit path,op,delta id
counts "with a sum beyond 64 bits" io:submit event id
counts "by thread, CPU and name" io:submit common_pid,cpu,comm
counts "in powers of two" io:submit id.log2
counts "negative numbers, too" io:submit delta.log2
counts "by names that are fields of some events" 'mix:*' cpu,comm
counts "with a sum of fields of several types" 'mix:*' comm n
counts "by a field of several types" 'mix:*' n
counts "with a sum of numbers with decimals" io:submit op part 100
counts "in one row" io:submit event part 100
counts "by the event" '*' event
"$RECORDER" hist --json -e '*:*' >default.json
is "which is the default" "$(python3 counts.py events.json default.json '*' event '' 2>&1)" ""
"$RECORDER" hist --json -e 'io:submit if delta < 0 && op == OP_READ' -k delta >answer.json
is "with a filter" "$(python3 -c 'import json; print(json.load(open("answer.json"))["hits"])')" \
	"$("$RECORDER" report -F 'io:submit if delta < 0 && op == OP_READ' trace.dat | grep -c submit:)"

# ---- text

ok "as text" "$RECORDER" hist -e io:submit -k op,delta -v delta
like "as the kernel prints it" "$out" $'\\{ op: OP_READ +, delta:          4 \\} hitcount: +[0-9]+  delta: +[0-9]+\n'
like "with totals" "$out" $'\n\nTotals:\n    Hits: 2001\n    Entries: 23\n    Dropped: 0$'
like "hexadecimal" "$("$RECORDER" hist -e io:close -k fd.hex)" '\{ fd: 8 \} hitcount: +[0-9]+'
like "powers of two" "$("$RECORDER" hist -e io:close -k fd.log2)" '\{ fd: ~ 2\^3  \} hitcount: +[0-9]+'
like "names of threads" "$("$RECORDER" hist -e io:close -k common_pid.execname)" '\{ common_pid: keys +\[ +[0-9]+\] \} hitcount: +500'
is "events without a field are dropped" "$("$RECORDER" hist -e 'io:*' -k fd | tail -n 3 | tr -s ' \n' ' ')" " Hits: 500 Entries: 9 Dropped: 2001 "
ok "as a picture" "$RECORDER" hist --svg -e io:submit -k path
is "it is XML, whatever texts have" "$(python3 -c '
import sys, xml.etree.ElementTree as tree
root = tree.fromstring(sys.stdin.buffer.read())
print(sum(text.get("class") == "label" for text in root.iter("{http://www.w3.org/2000/svg}text")), "a\"b\\<i>&" in "".join(root.itertext()))
' <<<"$out")" "6 True"

# ---- numbers with decimals

reals()
{
	"$RECORDER" hist -e odd:real -k "$1" 2>&1 | grep -o "{.*" | tr -s ' '
}
is "decimals" "$(reals part)" $'{ part: -0.5 } hitcount: 2\n{ part: -1.5 } hitcount: 4'
is "a float" "$(reals single)" $'{ single: -0.1 } hitcount: 2\n{ single: 0.25 } hitcount: 4'
is "a double: -0 is 0" "$(reals twice)" \
	$'{ twice: 0.3333333333333333 } hitcount: 1\n{ twice: inf } hitcount: 1\n{ twice: 0 } hitcount: 2\n{ twice: nan } hitcount: 2'
is "as JSON, in which infinity is null" "$("$RECORDER" hist --json -e odd:real -k single,part,twice | python3 -c '
import json, sys
print(sorted([row["hitcount"], *row["key"].values()] for row in json.load(sys.stdin)["rows"] if row["key"]["twice"] != None))
print(sum(row["hitcount"] for row in json.load(open("/dev/fd/3"))["rows"] if row["key"]["twice"] is None))' \
	3< <("$RECORDER" hist --json -e odd:real -k single,part,twice))" \
	$'[[1, 0.25, -1.5, 0.3333333333333333], [2, -0.1, -1.5, 0]]\n3'
# sums EVENT KEYS VALUE
sums()
{
	"$RECORDER" hist -e "$1" -k "$2" -v "$3" | sed -n 's/^{ //p' | tr -s ' '
}
is "sums of decimals, floats and doubles" "$(sums odd:real event part; sums odd:real part single; sums odd:real part,single twice)" \
	$'event: odd:real } hitcount: 6 part: -7\npart: -0.5 } hitcount: 2 single: 0.5
part: -1.5 } hitcount: 4 single: 0.29999999701976776\npart: -1.5, single: -0.1 } hitcount: 2 twice: 0
part: -1.5, single: 0.25 } hitcount: 2 twice: inf\npart: -0.5, single: 0.25 } hitcount: 2 twice: nan'
is "of whole numbers and decimals in one row" "$(sums 'io:submit,odd:array' comm id)" \
	"comm: keys } hitcount: 2002 id: $(python3 -c 'print(float(sum(i ** 3 for i in range(2000)) + 2 ** 64 - 1) + 2.0)')"
is "a row without decimals has an exact sum, also beside one with decimals" \
	"$(sums 'io:submit,odd:array' id id | grep -E '^id: (2|18446744073709551615) ')" \
	$'id: 18446744073709551615 } hitcount: 1 id: 18446744073709551615\nid: 2 } hitcount: 1 id: 2'
is "in JSON an infinite sum is null, and so is one that is not a number" \
	"$("$RECORDER" hist --json -e odd:real -k part,single -v twice | grep -oE '"sum":[^}]*' | paste -s -d ' ')" \
	'"sum":0 "sum":null "sum":null'
is "as the report prints them" "$("$RECORDER" report -F odd:real trace.dat | grep -c 'part=-1.50')" 4
if taskset -c 1 true 2>/dev/null; then
	ok "on CPU 1" taskset -c 1 "$RECORDER" record -q -u 'io:*' -o one.dat ./keys
	like "the CPU in powers of two: 1 is 2^0" "$("$RECORDER" hist --json -e io:submit -k cpu,cpu.log2 one.dat)" '"rows":\[\{"key":\{"cpu":1,"cpu":0\},"hitcount":2001\}'
else
	skip "the CPU in powers of two" "CPU 1 may not be used"
fi

# ---- a field alone

for field in delta id; do
	"$RECORDER" hist --json -e io:submit -v $field >answer.json
	# Numbers beyond 63 bits saturate.
	python3 -c '
import json, sys
for line in open("events.json"):
    event = json.loads(line)
    fields = event["fields"]
    if "id" in fields:
        fields["id"] = min(fields["id"], 2**63 - 1)
    print(json.dumps(event))' >saturated.json
	is "how $field is distributed" "$(python3 "$top_srcdir/tests/cli/latency.py" saturated.json answer.json values io:submit $field 2>&1)" ""
done

# ---- what is wrong

# refused STATUS REGEX OPERAND...
refused()
{
	local want=$1 regex=$2

	shift 2
	fails "refused: $*" "$RECORDER" hist "$@"
	is "status" "$status" "$want"
	like "message" "$err" "^recorder hist: $regex"
}
refused 2 'which events\? -e SYSTEM:NAME expected$'
refused 2 "filter 'io:nothing': the file describes no such event .column 1.*"$'\n  io:nothing\n  \\^$' -e io:nothing
refused 2 "filter 'io:submit if id = 3': .*"$'\n  io:submit if id = 3\n +\\^$' -e 'io:submit if id = 3'
refused 2 "filter 'io:submit if nothing == 1': none of these events has a field 'nothing' .column 14.*" -e 'io:submit if nothing == 1'
refused 1 "-k: none of these events has a field 'nothing'$" -e io:submit -k nothing
refused 2 "-k delta.octal: unknown suffix '.octal'; " -e io:submit -k delta.octal
refused 2 '-k: names of fields, separated by commas, expected$' -e io:submit -k delta,
refused 1 '-k bytes: in io:submit it is neither a number nor a text$' -e io:submit -k bytes
refused 1 '-k path: in odd:array it is neither a number nor a text$' -e io:submit,odd:array -k path
refused 1 '-k part: in io:submit it has decimals; only whole numbers take a suffix$' -e '*' -k delta,part.hex
refused 1 '-k id: in odd:array it has decimals; only whole numbers take a suffix$' -e '*' -k id.log2
refused 1 '-v path: in io:submit it is not a number$' -e io:submit -v path
refused 1 '-v id: in odd:array it has decimals, and can only be added up .-k.; ' -e '*' -v id
refused 1 '-v n: in odd:array it is not a number$' -e 'mix:*,odd:array' -k event -v n
refused 1 '-v bytes: in io:submit it is not a number$' -e io:submit -k op -v bytes
while read -r field figures; do
	refused 1 "-v $field: in odd:real it has decimals, .*; for its distribution: recorder sql trace.dat \"[^\"]*\"$" -e odd:real -v "$field"
	query=${err#*\"}
	ok "what the message names works" "$RECORDER" sql --list trace.dat "${query%\"}"
	like "and has minimum, mean and maximum" "$out" "^$figures$"
done <<'END'
single -0\.1[0-9]*\|0\.13[0-9]*\|0\.25
twice 0\.0\|Inf\|Inf
part -1\.5\|-1\.1666[0-9]*\|-0\.5
END
refused 1 "-v: none of these events has a field 'nothing'$" -e io:submit -v nothing
refused 1 'trace.dat: there is nothing to count$' -e 'io:submit if delta > 100'
refused 2 '--json and --svg exclude each other$' --json --svg -e io:submit

# ---- losses are never silent, cut files

ok "a program that overwrites" env RECORDER_BUFFER_KB=64 RECORDER_ENABLE='*' RECORDER_KEEP=1 "$top_builddir/tests/programs/producer" 1 100000
ok "its last events" "$RECORDER" recover -o lost.dat --all
ok "are counted" "$RECORDER" hist --json -e count -k thread lost.dat
like "losses are reported" "$err" '^recorder hist: lost.dat: [0-9]+ events were lost at 1 place; results may lack them$'
is "what is lost and what is there is all of it" "$(python3 -c 'import json, sys; a = json.load(sys.stdin); print(a["hits"] + a["lost"])' <<<"$out")" 100000
bad=0
size=$(stat -c %s trace.dat)
for part in 1 20 50 80 95 99; do
	head -c $((size * part / 100)) trace.dat >cut.dat
	run "$RECORDER" hist -e io:submit cut.dat
	[ "$status" -le 1 ] && [ -n "$err" ] || { bad=$((bad + 1)); diag "$part %: status $status, $err"; }
done
is "files that end early are counted or refused, with a message" $bad 0

ok "patterns that leave events out, and a filter" "$RECORDER" hist -e 'io:*,!io:close if delta > 0' -k op --json trace.dat
without=$out
ok "the same by name" "$RECORDER" hist -e 'io:submit if delta > 0' -k op --json trace.dat
is "are the same events" "${without#*,\"hits\"}" "${out#*,\"hits\"}"
like "which exist" "$out" '"hits":[1-9]'

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder report -F: the grammar of record's filters, on every kind of field, in both spellings; what is refused; and
# losses between events that the filters leave out.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

cat >kv.c <<'EOF'
#include <librecorder/event.h>
enum { OP_GET = 1, OP_PUT = 7 };
REC_EVENT(kv, get, s32(status), named(op, OP_GET, OP_PUT), flag(hit), real(load, 2), array(u16, list, 3), string(key));
REC_EVENT(store, write, array(u8, hash, 5), array(s8, steps, 2), bytes(value));
REC_EVENT(kv, idle, s64(status), u32(n));
REC_EVENT(net, sent, u32(n));
int main(void)
{
	for (int i = 0; i < 6; i++) {
		const uint16_t list[3] = { (uint16_t)i, 10, (uint16_t)(60000 + i) };
		REC(kv, get, i - 3, i & 1 ? OP_PUT : OP_GET, i == 2, -150 + i * 100, list, i < 3 ? "a.db" : "b.txt");
		REC(kv, idle, -i, (uint32_t)i);
	}
	REC(net, sent, 4);
	REC(store, write, (const uint8_t[5]){ 7, 0, 255, 34, 1 }, (const int8_t[2]){ -128, 0 }, "a\0\377", (size_t)3);
	return 0;
}
EOF
# shellcheck disable=SC2086
ok "a program" $CC $CFLAGS_FOR_TEST kv.c $LDADD_FOR_TEST -o kv
ok "is recorded" "$RECORDER" record -q -u '*' -o trace.dat ./kv

# shown FILTER...: "event: number of lines" of what passes.
shown()
{
	local args=() each

	for each; do
		args+=(-F "$each")
	done
	"$RECORDER" report "${args[@]}" 2>&1 | sed -n 's/.*: \(get\|idle\|sent\): .*/\1/p' | sort | uniq -c | awk '{ printf "%s%s %s", n++ ? ", " : "", $2, $1 }'
}
passes()
{
	is "$1" "$(shown "$1")" "$2"
}

passes 'kv/get:status == -2' 'get 1'
passes 'kv:get:status < 0' 'get 3'
passes 'kv:get if status < 0' 'get 3'
passes 'get: status<0' 'get 3'
passes 'kv:status < 0' 'get 3, idle 5'
passes 'status < 0' 'get 3, idle 5'
passes 'status != 0' 'get 5, idle 5'
passes '!(status != 0)' 'get 1, idle 1, sent 1'
passes 'kv/get' 'get 6'
passes 'net,kv/idle' 'idle 6, sent 1'
passes 'kv' 'get 6, idle 6'
passes 'kv/.*: n >= 4' 'idle 2'
passes '*:* if n == 4' 'idle 1, sent 1'
passes 'kv:get if op == OP_PUT' 'get 3'
passes "op != 'OP_PUT'" 'get 3'
passes 'op == 7' 'get 3'
passes 'hit == true' 'get 1'
passes 'hit == false || hit == 1' 'get 6'
passes 'load < -0.25' 'get 2'
passes 'load == 150.00' 'get 1'
passes 'list[0] == 3' 'get 1'
passes 'list[2] > 60003' 'get 2'
# Arrays of bytes are numbers, too: libtraceevent takes them for texts.
for filter in 'hash[2] == 255' 'hash[1] == 0 && hash[4] == 1' 'steps[0] == -128' 'steps[0] < 0'; do
	is "$filter" "$("$RECORDER" report -F "$filter" | grep -c ' write: ')" 1
done
is "hash[2] < 0" "$("$RECORDER" report -F 'hash[2] < 0' | grep -c ' write: ')" 0
is "bytes in JSON" "$("$RECORDER" report --json -F store/write | grep -o '"hash".*')" \
	'"hash":[7,0,255,34,1],"steps":[-128,0],"value":[97,0,255]}}'
is "and in CSV" "$("$RECORDER" report --csv -F store/write | tail -n 1 | grep -o ',7 .*')" ',7 0 255 34 1,-128 0,97 0 255'
passes 'key == "a.db"' 'get 3'
passes 'key ~ "*.txt" && status > 0' 'get 2'
passes 'key =~ "^a.*b$"' 'get 3'
passes 'key =~ "\.d"' 'get 3'
passes 'key !~ "db"' 'get 3'
passes 'comm == "kv" && status == 0' 'get 1, idle 1'
passes 'COMM ~ "nobody*"' ''
pid=$("$RECORDER" report | sed -n 's/^ *kv-\([0-9]*\).*/\1/p' | head -n 1)
passes "pid == $pid && n == 4" 'idle 1, sent 1'
passes "pid != $pid" ''
cpu=$("$RECORDER" report | sed -n 's/.*\[0*\([0-9][0-9]*\)\].*sent.*/\1/p')
passes "net:sent: cpu == $cpu" 'sent 1'
time=$("$RECORDER" report -t | sed -n 's/.* \([0-9]*\.[0-9]*\): sent.*/\1/p')
passes "ts == $time" 'sent 1'
passes "ts < $time" 'get 6, idle 6'
passes 'kv:*,!kv:idle if status > 0' 'get 2'
passes 'kv:*,!kv:idle' 'get 6'
passes 'kv, !idle' 'get 6'
passes 'kv/*,!kv/get: n >= 4' 'idle 2'
passes '*:*,!net:*,!kv:idle if !(status > 0)' 'get 4'
is "one of several is enough" "$(shown 'hit == true' 'net/sent')" 'get 1, sent 1'
is "without one" "$(shown)" 'get 6, idle 6, sent 1'

# wrong FILTER REASON: refused with this reason, and a caret below its column.
wrong()
{
	local reason=$2 column

	fails "refused: $1" "$RECORDER" report -F "$1"
	column=$(sed -n 's/.*(column \([0-9]*\))$/\1/p' <<<"$err")
	like "  it is reported" "$(head -n 1 <<<"$err")" "$reason \\(column $column\\)$"
	is "  and shown" "$(tail -n +2 <<<"$err")" "  $1"$'\n'"$(printf "%$((column + 2))s" ^)"
	is "  as a wrong command line" "$status" 2
}
wrong 'kv:get if statsu < 0' "none of these events has a field 'statsu'"
wrong 'nothing == 1 || status == 0' "none of these events has a field 'nothing'"
wrong 'kv:get:status ==' "expected a number"
wrong 'kv/get:key == a.db' "expected a text in quotes: key == .a\.db.; mind that the shell removes quotes"
wrong 'comm == worker-a' "expected a text in quotes: comm == .worker-a.; mind that the shell removes quotes"
wrong 'store/write:hash[5] == 1' "expected the number of an element, from 0 to 4, and \]"
wrong 'kv/put:status == 1' "the file describes no such event"
wrong 'kv/get:status == 99999999999' "99999999999 is out of range for a signed number of 32 bits"
wrong 'kv/get:list == 1' "field 'list' is an array: compare an element, list\[0\] to list\[2\]"
# Without a pattern: other events lack the field, but the reason is that of the event that has it.
wrong 'hit == yes' "expected true, false or a number"
wrong 'op == OP_HEAD' "'OP_HEAD' is not a value of 'op'; its values are OP_GET, OP_PUT"
wrong 'n == 99999999999' "99999999999 is out of range for an unsigned number of 32 bits"
wrong 'n == x' "expected a number"
wrong 'load == 1.555' "'1.555' is not a number with at most 2 decimals"
wrong 'list[77] == 3' "expected the number of an element, from 0 to 2, and \]"
wrong 'key == "a.db" && value == "x"' "field 'value' is of bytes, which filters cannot compare"
wrong 'n == 3.5 && hit == yes' "'3.5' is not a whole number"
wrong 'nothing == 1 || hit == yes' "none of these events has a field 'nothing'"
wrong 'load == 0.1x' "'0.1x' is not a number"
passes 'status == 99999999999' ''
wrong 'a b c' "expected events as SYSTEM:NAME or SYSTEM/NAME before the filter"
# wrong_at COLUMN FILTER: refused at this column, whose character is named by the caret.
wrong_at()
{
	wrong "$2" "expected events as SYSTEM:NAME or SYSTEM/NAME before the filter"
	like "  at the pattern that is wrong" "$(head -n 1 <<<"$err")" "\\(column $1\\)$"
}
wrong_at 8 'kv:get,a b if n == 1'
wrong_at 9 'kv:get, :idle if n == 1'
wrong_at 8 'kv:get,!a:b:c'
wrong_at 1 'kv:,net'
wrong_at 8 'kv:get, if n == 1'
fails "a CPU that the file does not have" "$RECORDER" report --cpu 4000
like "is reported" "$err" "^recorder report: --cpu '4000': the file has only CPUs 0 to [0-9]+$"
is "and nothing else is printed" "$out" ""
ok "one of several that it has" "$RECORDER" report --cpu "$cpu,4000"
# The formats are changed so that a field, or the text of a field, lies beyond the end of its record. Such a record
# passes comparisons of that field. Comparisons of tgid and process, which are not in the record, still apply.
python3 - <<'END'
import re
data = open("trace.dat", "rb").read()
for event, field in ((b"sent", b"n"), (b"get", b"key")):
    format = re.search(rb"name: " + event + rb"\n.*?\n\nprint fmt", data, re.DOTALL)
    at = re.search(rb" " + field + rb";\toffset:(\d+);", format[0])
    moved = b"%d" % (int(at[1]) + 1)
    assert len(moved) == len(at[1])
    first = format.start() + at.start(1)
    data = data[:first] + moved + data[first + len(moved):]
open("short.dat", "wb").write(data)
END
for filter in 'net:sent if n == 77' 'net:sent if n == 77 && tgid > 0' 'net:sent if n == 0 && tgid > 0' 'net:sent if tgid == 0 && n == 77' \
	'kv:get if key == "no"' 'kv:get if key == "no" && tgid > 0' 'kv:get if key == "" && process != ""' 'kv:get if tgid == 0 && key == "no"'; do
	case $filter in
	*'tgid == 0'*) passed=0 ;;
	net*) passed=1 ;;
	*) passed=6 ;;
	esac
	is "a record that is too short: $filter" "$("$RECORDER" report -F "$filter" short.dat 2>&1 | grep -c ': \(sent\|get\): ')" $passed
done

# A file of the other byte order has the same events, and its numbers are swapped.
for name in v6-kernel v6-big-kernel; do
	"$top_builddir/tests/golden/mkdat" $name >$name.dat
	for filter in 'common_pid == 1001' 'pid == 1001 && common_pid == 1001' 'common_pid == 1001 || pid == 7' 'pid == 1001 && common_pid != 7'; do
		"$RECORDER" report -t -F "$filter" $name.dat >"$name $filter"
		ok "$name: $filter" test "$(grep -c -- '-1001 ' "$name $filter")" -gt 5
		is "$name: $filter: the same events" "$(<"$name $filter")" "$(<"$name common_pid == 1001")"
	done
done

# ----------------------------------------------------------------------------------------------------------- losses

# Only the first event of each CPU passes, and the losses come later.
"$top_builddir/tests/golden/mkdat" v7-lost >lost.dat
first='io:submit if id == 0'
is "two events pass" "$("$RECORDER" report --summary -F "$first" lost.dat | sed -n '1s/ events.*//p')" 2
losses=$("$RECORDER" report --summary lost.dat | sed -n '1s/.*; //p')
like "the file has losses" "$losses" '^>[1-9]'
is "--summary has them with a filter, too" "$("$RECORDER" report --summary -F "$first" lost.dat | sed -n '1s/.*; //p')" "$losses"
# The rows of CPUs, without the columns that depend on the selected events.
cpus()
{
	"$RECORDER" report --summary "$@" lost.dat | sed '1,/ CPU$/d' | awk '{ print $6, $7 }'
}
is "and so have its CPUs" "$(cpus -F "$first")" "$(cpus)"
is "a CPU without events, but with losses" "$("$RECORDER" report --summary -F "$first && cpu == 1" lost.dat |
	sed '1,/ CPU$/d' | awk '{ print $1, $4, $5, $6, $7 }' | head -n 1)" "0 - - $(cpus | head -n 1)"
like "is not one of the CPUs of the events" "$("$RECORDER" report --summary -F "$first && cpu == 1" lost.dat | head -n 1)" ', 1 CPUs; '
is "--json has each of them" "$("$RECORDER" report --json -F "$first" lost.dat | grep '"lost"')" \
	"$("$RECORDER" report --json lost.dat | grep '"lost"')"
is "--head ends before them" "$("$RECORDER" report --json -F "$first" --head 1 lost.dat | grep -c '"lost"')" 0
is "--tail begins after them" "$("$RECORDER" report --json --tail 1 lost.dat | grep -c '"lost"')" 0

# Thread 7 begins something, 3 events are lost, thread 8 has an event, and thread 7 ends something. What thread 7 began
# may have ended among the lost events, whether the event of thread 8 is selected or not.
"$top_builddir/tests/golden/mkdat" v6-bare | python3 -c '
import struct, sys

def submit(tid, id):
    return struct.pack("<IHBBiQiI4s", 1000 << 5 | 7, 16384, 0, 0, tid, id, 0, 4 << 16 | 24, b"abc")

def tick(tid, n):
    return struct.pack("<IHBBiQ", 1000 << 5 | 4, 16385, 0, 0, tid, n)

def page(ts, events, lost):
    data = b"".join(events)
    flags = 0xffffffffc0000000 if lost else 0
    number = struct.pack("<Q", lost) if lost else b""
    return (struct.pack("<QQ", ts, len(data) | flags) + data + number).ljust(4096, b"\0")

data = sys.stdin.buffer.read()
table = data.index(b"flyrecord\0") + 10
start, size = struct.unpack_from("<QQ", data, table)
assert start + size == len(data)
for name, lost in (("lacks.dat", 3), ("whole.dat", 0)):
    pages = page(10**9, [submit(7, 5)], 0) + page(2 * 10**9, [submit(8, 9), tick(7, 5)], lost)
    head = data[:table] + struct.pack("<QQ", start, len(pages)) + data[table + 16 : start]
    open(name, "wb").write(head + pages)
'
for flags in "" "--pid 7" "-F pid==7"; do
	# shellcheck disable=SC2086
	ok "a profile without losses, $flags" "$RECORDER" profile -H io:submit,id/io:a_name_longer_than_twenty_characters,n $flags whole.dat
	like "has a duration" "$out" 'Event: submit:0x5 \(1\) Total: [1-9]'
	# shellcheck disable=SC2086
	ok "one with a loss, $flags" "$RECORDER" profile -H io:submit,id/io:a_name_longer_than_twenty_characters,n $flags lacks.dat
	unlike "has none" "$out" Total:
	like "and reports the loss" "$err" 'lacks\.dat: 3 events were lost at 1 place; results may lack them'
done

done_testing

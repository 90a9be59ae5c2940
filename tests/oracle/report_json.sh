# SPDX-License-Identifier: MIT
# report --json, --csv and --summary of every file that tests/golden can make. The JSON is compared with trace-cmd's text,
# event by event; CSV and summary with the JSON.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
checks=$top_srcdir/tests/oracle

made=$("$mkdat")
bad=0
for name in $made; do
	"$mkdat" "$name" > "$TMP/$name.dat"
	trace-cmd report -t -R "$TMP/$name.dat" > "$TMP/text" 2> /dev/null
	if ! "$RECORDER" report --json "$TMP/$name.dat" > "$TMP/$name.json" 2> "$TMP/err" ||
		! python3 "$checks/report_json.py" "$TMP/$name.json" "$TMP/text" > "$TMP/out" 2>&1; then
		diag "$name: $(cat "$TMP/err" "$TMP/out")"
		bad=$((bad + 1))
	fi
done
is "--json has what trace-cmd prints, $(echo "$made" | wc -l) made files" $bad 0

bad=0
for name in $made; do
	if ! "$RECORDER" report --csv "$TMP/$name.dat" > "$TMP/$name.csv" 2> "$TMP/err" ||
		! "$RECORDER" report --summary -t "$TMP/$name.dat" > "$TMP/$name.summary" 2>> "$TMP/err" ||
		! python3 "$checks/report_csv.py" "$TMP/$name.json" "$TMP/$name.csv" "$TMP/$name.summary" > "$TMP/out" 2>&1; then
		diag "$name: $(cat "$TMP/err" "$TMP/out")"
		bad=$((bad + 1))
	fi
done
is "--csv and --summary have what --json has, $(echo "$made" | wc -l) made files" $bad 0

# ----------------------------------------------------------------------------------------------------- names, texts

json()
{
	"$RECORDER" report --json "$@" | python3 -c "
import json, sys
for line in sys.stdin.buffer:
    item = json.loads(line.decode('utf-8'))
    $expression"
}

"$mkdat" v6-kernel > "$TMP/k.dat"
expression="print(*item['names']['caller']) if item.get('event') == 'kernel_stack' else None"
is "a stack has its functions" "$(json "$TMP/k.dat" | sort | uniq -c | sed 's/^ *//' | grep -c 'do_')" 1
expression="print(item['text']) if item.get('event') == 'bprint' else None"
is "a text of printk is made from its arguments" "$(json "$TMP/k.dat" | sort -u)" \
	"$("$RECORDER" report "$TMP/k.dat" | sed -n 's/.* bprint:  *//p' | sort -u)"
expression="print('names' in item and 'common_flags' in item['names'])"
is "a number without a name has none" "$(json --head 1 "$TMP/k.dat")" False
# with_ip NAME: the file with a field of 4 bytes that has the name and, in some events, the value of an address.
with_ip()
{
	"$mkdat" "$1" | sed -e 's/field:s32 fd;\toffset:16;\tsize:4;\tsigned:1;/field:u32 ip;\toffset:16;\tsize:4;\tsigned:0;/' \
		-e 's/REC->fd/REC->ip/' -e 's/ffffffff81000000 T/00000000fffff000 T/' -e 's/ffffffff81000100 t/00000000ffffff00 t/' \
		-e 's/ffffffff81000200 T/00000000ffffffff T/' > "$TMP/ip.dat"
}
expression="print(item.get('names')) if item.get('event') == 'submit' and item['fields']['ip'] == 0xfffffffc else None"
with_ip v6-long4
is "an address of 32 bits has its function" "$(json "$TMP/ip.dat" | sort -u)" "{'ip': 'do_two'}"
is "in CSV, too" "$("$RECORDER" report --csv "$TMP/ip.dat" | grep -c '^[^,]*,0,.*,submit,.*,4294967292,do_two')" 1
with_ip v6-plain
is "where addresses have 64 bits, it is a number" "$(json "$TMP/ip.dat" | sort -u)" None

cat > "$TMP/names.c" <<'END'
#include <librecorder/event.h>

enum { IDLE, BUSY };
REC_EVENT(io, submit, s64(low), u64(high), named(state, IDLE, BUSY), real(part, 3), string(path));

int main(void)
{
	REC(io, submit, INT64_MIN, UINT64_MAX, BUSY, -0.125, "quote \" backslash \\ line\n euro \xe2\x82\xac bad \xff\xc3 del \x7f c1 \xc2\x85, end");
	return 0;
}
END
if $CC $CFLAGS_FOR_TEST -o "$TMP/names" "$TMP/names.c" $LDADD_FOR_TEST 2> "$TMP/err" &&
	"$RECORDER" record -q -o "$TMP/names.dat" "$TMP/names" > /dev/null 2> "$TMP/err"; then
	expression="print(item['fields']['low'], item['fields']['high'], item['fields']['state'], item['names']['state'], item['names']['part'])"
	is "64-bit numbers, a name beside its number" "$(json "$TMP/names.dat")" "-9223372036854775808 18446744073709551615 1 BUSY -0.125"
	expression="print(ascii(item['fields']['path']))"
	is "a string with everything in it" "$(json "$TMP/names.dat")" \
		"$(python3 -c 'print(ascii("quote \" backslash \\ line\n euro \u20ac bad \\xff\\xc3 del \x7f c1 \x85, end"))')"
	like "no control character is in the text" "$("$RECORDER" report --json "$TMP/names.dat")" 'del \\u007f c1 \\u0085, end"'
	is "the same in a cell of CSV" "$("$RECORDER" report --csv "$TMP/names.dat" | python3 -c "
import csv, io, sys
rows = list(csv.DictReader(io.StringIO(sys.stdin.buffer.read().decode('utf-8'), newline='')))
print(len(rows), rows[0]['names.state'], ascii(rows[0]['fields.path']))")" \
		"1 BUSY $(python3 -c 'print(ascii("quote \" backslash \\ line\n euro \u20ac bad \\xff\\xc3 del \x7f c1 \x85, end"))')"
else
	fail "a program with names: $(cat "$TMP/err")"
fi

# The threads of a program are one process, which the recording notes.
ok "a program with three threads" "$RECORDER" record -q -o "$TMP/threads.dat" "$top_builddir/tests/programs/producer" 3 100
like "--summary has it as one process" "$("$RECORDER" report --summary "$TMP/threads.dat")" \
	$'  process\n +300 [^\n]* producer-[0-9]+\n\n'

# The name of a kernel instance, NAME-NUMBER, does not name the process of its threads. Threads with events of programs
# there belong to that process, as in the buffers of record --buffers=split.
"$mkdat" v6-instances | sed 's/alpha/dsk-2/g' > "$TMP/named.dat"
python3 - "$TMP/named.dat" << 'END'
import re, struct, sys
data = open(sys.argv[1], "rb").read()
tid = struct.pack("<i", 1001)
# All events of thread 1001 become events sched_switch.
data, nr = re.subn(rb"\x00\x40(..)" + re.escape(tid), lambda found: struct.pack("<H", 300) + found[1] + tid, data, flags=re.DOTALL)
assert nr > 10
open(sys.argv[1], "wb").write(data)
END
processes=$("$RECORDER" report --summary "$TMP/named.dat" | sed -n '/  process$/,/^$/p')
like "a thread of a kernel instance NAME-NUMBER is not of process NUMBER" "$processes" ' worker-1001'
unlike "a thread with events of programs is" "$processes" '-1002'
like "that process has its events" "$processes" $'-2(\n|$)'

# ------------------------------------------------------------------------------------------------- names of threads

# The list of names has other threads instead of 1001 and 1002. So only sched_switch names these two, for the first time
# in the first event, which thread 1001 wrote. No event names thread 777777.
sed 's/1001 worker/4001 worker/; s/1002 a name/4002 a name/' "$TMP/k.dat" > "$TMP/unsaved.dat"
cd "$TMP" || exit 1
is "the text is that of trace-cmd" "$("$RECORDER" report unsaved.dat)" "$(trace-cmd report unsaved.dat 2> /dev/null)"
like "in which a thread has no name in the first event" "$("$RECORDER" report unsaved.dat | sed -n 2p)" '<\.\.\.>-1001 '
named="0 <idle>
1001 prev
1002 fifteen chars..
1003 sh
777777 <...>"
expression="print(item['pid'], item['comm'])"
is "--json: a name from an event, in the whole file" "$(json unsaved.dat | sort -u)" "$named"
is "--csv" "$("$RECORDER" report --csv unsaved.dat | python3 -c '
import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["pid"], row["comm"])' | sort -u)" "$named"
summary=$("$RECORDER" report --summary unsaved.dat)
is "--summary" "$(grep -oE '  [^ ]*(prev|fifteen chars\.\.|<\.\.\.>)-[0-9]+$' <<< "$summary" | sort | uniq -c | tr -s ' ')" \
	" 2 <...>-777777
 2 fifteen chars..-1002
 2 prev-1001"
is "control characters are replaced" "$(sed 's/prev\x00/pr\nv\x00/g' unsaved.dat > controls.dat && json controls.dat | grep 1001 | sort -u)" "1001 pr?v"

# A stack is printed with the event before it, whatever thread that was.
expression="print(item['pid']) if item['event'] != 'kernel_stack' and item['comm'] == 'prev' else None"
events=$(json unsaved.dat | grep -c 1001)
expression="print(item['pid']) if item['event'] != 'kernel_stack' else None"
is "-F by such a name" "$(json -F 'comm == "prev"' unsaved.dat | sort | uniq -c | tr -s ' ')" " $events 1001"
ok "--comm" "$RECORDER" report --json --comm prev unsaved.dat
is "selects the thread" "$out" "$("$RECORDER" report --json --pid 1001 unsaved.dat)"
is "--comm, a saved name after it" "$("$RECORDER" report --json --comm sh,prev unsaved.dat)" \
	"$("$RECORDER" report --json --pid 1001,1003 unsaved.dat)"
ok "split --comm" "$RECORDER" split -i unsaved.dat -o split --comm 'fifteen chars..'
is "selects the thread, and what is about it" "$(json split.1 | sort | uniq -c)" "$(json --pid 1002 unsaved.dat | sort | uniq -c)"

like "top" "$("$RECORDER" top --json unsaved.dat)" '"kind": "thread", "name": "prev", "tid": 1001,'
hist=$("$RECORDER" hist --json -e sched:sched_switch,ftrace:print -k comm unsaved.dat)
like "hist" "$hist" '"key":\{"comm":"prev"\}'
like "hist, another thread" "$hist" '"key":\{"comm":"fifteen chars\.\."\}'
like "hist, a field as a name" "$("$RECORDER" hist -e sched_switch -k next_pid.execname unsaved.dat)" 'fifteen chars\.\. +\[ +1002\]'
is "sql" "$("$RECORDER" sql --list unsaved.dat "SELECT DISTINCT tid, comm FROM events WHERE comm IS NOT NULL ORDER BY tid" | tr '|' ' ')" \
	"$(sed '$d' <<< "$named")"
ok "export" "$RECORDER" export --chrome unsaved.dat -o unsaved.json
like "has the name" "$(< unsaved.json)" '"args":\{"name":"prev"\}'
# Without these events there are no such names.
expression="print(item['pid'], item['comm'])"
is "without an event that names it, a thread has none" \
	"$(sed 's/sched_switch/sched_swatch/' unsaved.dat > nameless.dat && json nameless.dat | grep -E '^100[12]' | sort -u)" "1001 <...>
1002 <...>"
cd - > /dev/null || exit 1

# --------------------------------------------------------------------------------------------------- wrong requests

run "$RECORDER" report --json --csv "$TMP/k.dat"
is "two forms: status" "$status" 2
is "two forms: the reason" "$err" "recorder report: --json and --csv print different things; use one of them"
run bash -c '"$0" report --json "$1" > /dev/full' "$RECORDER" "$TMP/k.dat"
like "--json, a full disk" "$err" "cannot write the report: No space left"
run bash -c 'set -o pipefail; "$0" report --json "$1" | head -1' "$RECORDER" "$TMP/v6-plain.dat"
is "--json, a closed pipe is not a failure" "$status$err" "0"

done_testing

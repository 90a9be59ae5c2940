#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder export --ctf, read by babeltrace2: every event of recorder report, with its time, CPU and thread, and values of
# every kind of field; losses; the directory that it makes.

. "$top_srcdir/tests/tap.sh"

command -v babeltrace2 >/dev/null || skip_all "babeltrace2 is not installed"
cd "$TMP" || exit 1

# theirs DIRECTORY: "ns cpu tid name" of each event
theirs()
{
	babeltrace2 --clock-cycles "$1" 2>err |
		sed -nE 's/^\[0*([0-9]+)\] \([^)]*\) [^:]+:([a-z_]+): \{ cpu_id = ([0-9]+) \}, \{ tid = ([0-9]+), .*/\1 \3 \4 \2/p' | sort
}

ours()
{
	"$RECORDER" report -t "$1" |
		sed -nE 's/^.*-([0-9]+) +\[0*([0-9]+)\] +([0-9]+)\.([0-9]{9}): ([a-z_]+): .*/\3\4 \2 \1 \5/p' | sort
}

# same NAME: compares NAME.dat with the trace made of it
same()
{
	ok "$1: export" "$RECORDER" export --ctf "$1.dat" -o "$1.ctf"
	theirs "$1.ctf" >theirs
	ours "$1.dat" >ours
	ok "$1: there are events" test -s ours
	ok "$1: the same events, times, CPUs and threads" diff ours theirs
}

# shellcheck disable=SC2086
ok "compile" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o kinds "$top_srcdir/tests/export/kinds.c" $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q -b 4096 -o kinds.dat ./kinds
same kinds
babeltrace2 kinds.ctf >text 2>err
is "babeltrace2 has nothing to report" "$(<err)" ""
fields()
{
	sed -nE "s/^.* kinds:$1: .*procname = \"kinds\" \}, \{ (.*) \}\$/\1/p" text
}
is "numbers" "$(fields numbers)" "a = 255, b = -128, c = 65535, d = -32768, e = 4294967295, f = -2147483648, g = 18446744073709551615, h = -9223372036854775808, i = 2748, j = 1, k = 0x1234"
is "decimals, names, arrays" "$(fields others)" 'ratio = -0.125, mode = ( "WRITE" : container = 1 ), _list_length = 3, list = [ [0] = -1, [1] = 0, [2] = 32767 ]
ratio = 2.5, mode = ( <unknown> : container = 7 ), _list_length = 3, list = [ [0] = -1, [1] = 0, [2] = 32767 ]'
is "texts and bytes" "$(fields texts)" "$(printf '%s\n%s' \
	's = "\"</script>\\ \x01 '$'\xc3\xa4 \xff''", n = "cut", _b_length = 3, b = [ [0] = 0, [1] = 255, [2] = 16 ]' \
	's = "", n = "", _b_length = 0, b = [ ]')"
like "printf" "$(<text)" 'ftrace:bprint: [^}]*\}, \{ [^}]*\}, \{ text = "main: text has 42" \}'
is "threads by name" "$(sed -nE 's/.*load:tick.*procname = "([^"]*)".*/\1/p' text | sort | uniq -c | xargs)" "20000 one 20000 two"

# ----------------------------------------------------------------------------------------------- the kernel, losses

for name in v6-plain v7-plain v6-fields v6-kernel v6-lost v6-extends v6-ties v6-big-endian v6-instances; do
	"$top_builddir/tests/golden/mkdat" "$name" >"$name.dat"
	same "$name"
done
if [ "$(id -u)" = 0 ]; then
	ok "record the kernel" "$RECORDER" record -q -e sched -e irq -o kernel.dat -- ./kinds
	same kernel
else
	skip "the kernel's events" "needs root"
fi
ok "a recording with losses" "$top_builddir/examples/02_flight_recorder" lost.dat
same lost
babeltrace2 lost.ctf 2>err >text
is "events and lost events are all that were written" \
	"$(($(wc -l <text) + $(sed -nE 's/.*[Tt]racer discarded ([0-9]+) events.*/\1/p' err)))" 461262

# --------------------------------------------------------------------------------------------------- the directory

fails "no directory is named" "$RECORDER" export --ctf kinds.dat
is "usage" "$status $err" "2 recorder export: --ctf makes a directory: name it with -o"
fails "two formats" "$RECORDER" export --ctf --perfetto kinds.dat -o both
is "usage of both" "$status $err" "2 recorder export: --perfetto and --ctf are given; one format at a time"
mkdir empty
ok "an empty directory" "$RECORDER" export --ctf kinds.dat -o empty/
ok "has the trace" diff -r kinds.ctf empty
fails "another one" "$RECORDER" export --ctf kinds.dat -o empty
is "is reported" "$status $err" "1 recorder export: empty: exists and is not an empty directory"
ok "and left as it is" diff -r kinds.ctf empty
cp kinds.dat other
fails "a file in its place" "$RECORDER" export --ctf kinds.dat -o other
is "is reported, too" "$err" "recorder export: other: exists and is not an empty directory"
fails "a directory that is not there" "$RECORDER" export --ctf kinds.dat -o none/here
is "has its reason" "$err" "recorder export: none/here: cannot write: No such file or directory"
# Some file systems report a failed write only at close().
if strace -qq -o calls -y -e trace=close "$RECORDER" export --ctf kinds.dat -o whole 2>err &&
	number=$(awk '/^close/ { nr++ } /\/cpu[0-9]+>/ { print nr; exit }' calls) && [ -n "$number" ]; then
	fails "close() fails" strace -qq -o calls -y -e trace=close -e inject=close:error=EDQUOT:when="$number" \
		"$RECORDER" export --ctf kinds.dat -o part
	like "of a stream" "$(<calls)" '/cpu[0-9]+>\) += -1 EDQUOT .*\(INJECTED\)'
	is "is reported" "$status $err" "1 recorder export: part: cannot write: Disk quota exceeded"
	ok "and no directory is made" test ! -e part
else
	skip "close() fails" "strace cannot make calls fail here"
fi
is "nothing is left of any" "$(find . -name '*.??????' -type d)" ""

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder merge of files of several clocks: files that are the same except for the known distances of their clocks are
# merged, and each event stands beside its copy; the bound is that of the readings; trace-cmd prints the same.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
cd "$TMP" || exit 99
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# The file is recorded 5 s after the boot of machine A, at this time of day.
day=1700006399999980000
boot_a=1b4e28ba-2fa1-11d2-883f-0016d3cca427
boot_b=9e107d9d-372b-b682-6bd8-1d3542a419d6

# made FILE SHIFT CLOCK NOTES: the events, by a clock that is SHIFT ns ahead of machine A's CLOCK_MONOTONIC
made()
{
	"$mkdat" v6-clocks | python3 "$top_srcdir/tests/oracle/other_clock.py" "$2" "$3" "$4" >"$1"
}

# reading MONO REALTIME BOOTTIME: a reading as a file notes it
reading()
{
	echo "monotonic $1 realtime $2 boottime $3 ns"
}

# times FILE: time, CPU and text of each event, if recorder and trace-cmd print the same
times()
{
	local at=$TMP/.report.$BASHPID

	"$RECORDER" report -t "$1" >"$at" 2>/dev/null && cmp -s "$at" <(trace-cmd report -t "$1" 2>/dev/null) &&
		tail -n +2 "$at" | sed -E 's/^ *[a-z]*\.dat: //; s/^ +//'
}

# copies N FILE: each event of a file N times; those of one time have no order
copies()
{
	local i

	for ((i = 0; i < $1; i++)); do
		times "$2"
	done | sort
}

# same FILE COPIES...: the file has these events
same()
{
	local file=$1

	shift
	cmp -s <(times "$file" | sort) <(copies "$@") && test -n "$(times "$file")"
}

# notes FILE
notes()
{
	"$RECORDER" report --version "$1" 2>/dev/null | grep '^recorder '
}

# has NAME TEXT LINE: the text has this line
has()
{
	is "$1" "$(grep -xF -e "$3" <<<"$2")" "$3"
}

made a.dat 0 mono "recorder 1.0; hidden threads: 12 13; processes: 100 101, 200; time error at most 7 ns; clocks: $(reading 5000000000 $day 5000000000); clocks read within 40 ns; time of day within 2000000 ns; boot $boot_a"
ok "the made file" test "$(times a.dat | wc -l)" -gt 200

# ---- another machine: its clock is 1000 s ahead, and sleep made CLOCK_BOOTTIME differ

made b.dat 1000000000000 mono "recorder 1.0; switches of some threads alone; hidden threads: 13 14; processes: 101 102, 300 301; time error at most 9 ns; clocks: $(reading 1005000000000 $day 2000000000000); clocks read within 60 ns; time of day within 3000000 ns; boot $boot_b"
ok "two machines" "$RECORDER" merge -o out.dat a.dat b.dat
has "how far the second was moved, and the bound" "$out" "b.dat: moved by -1000.000000000 s, by the time of day, within 5000116 ns"
unlike "one file was moved" "$out" "times of different files"
ok "each event is beside its copy, as trace-cmd prints it, too" same out.dat 2 a.dat
is "each machine has buffers of its own" "$("$RECORDER" dump out.dat | sed -nE 's/^buffer "(.+)": .*/\1/p' | xargs)" "a.dat b.dat"
ok "report --clock" "$RECORDER" report --clock out.dat
has "has the bound" "$out" "merged from several clocks: times of different files within 5000116 ns"
like "and the first file's readings" "$out" "MONOTONIC 5.000000000: REALTIME 1700006399.999980000 "
like "and the largest time error" "$out" "time error: at most 9 ns"
notes=$(grep -a -o "recorder 1.0; .*boot $boot_a" out.dat)
like "the hidden threads of both" "$notes" "hidden threads: 12 13 14;"
like "the processes of both; of a thread of two, that of the first" "$notes" "; processes: 101 102, 300 301, 100 101, 200;"
like "some switches are missing" "$notes" "switches of some threads alone"
like "it is of several machines" "$(notes out.dat)" "; several machines$"
ok "states of threads in it" "$RECORDER" sql --csv out.dat "SELECT count(*) FROM sched WHERE state != 'unknown'"
is "there are none" "$(tail -n +2 <<<"$out" | tr -d '\r')" 0
is "because it is of several machines" "$err" "recorder sql: out.dat: merged from files of several machines; states of threads are unknown"
ok "a view of it" "$RECORDER" view -o view.html out.dat
is "has none, either" "$err" "recorder view: out.dat: merged from files of several machines; states of threads are unknown"
"$RECORDER" split -i out.dat -o split >/dev/null
"$RECORDER" merge -o again.dat split* a.dat
like "a part, merged again, is still noted" "$(notes again.dat)" "; several machines$"
unlike "a file of one is not" "$(notes a.dat)" "several machines"
made next.dat 1000000000000 mono "recorder 1.0; clocks: $(reading 1005000000000 $((day + 3600000000000)) 2000000000000); boot $boot_b"
ok "the next boot, an hour later" "$RECORDER" merge -o next_out.dat a.dat next.dat
unlike "at no time are there two" "$(notes next_out.dat)" "several machines"
ok "recorder check" "$RECORDER" check --strict out.dat
ok "woven, if asked for" "$RECORDER" merge --buffers woven -o woven.dat a.dat b.dat
is "one buffer" "$("$RECORDER" dump woven.dat | grep -c '^buffer "[^"]')" 0
ok "with the same events" same woven.dat 2 a.dat
mkdir other && cp b.dat other/a.dat
ok "files of one name" "$RECORDER" merge -o out.dat a.dat other/a.dat
is "have buffers of two names" "$("$RECORDER" dump out.dat | sed -nE 's/^buffer "(.+)": .*/\1/p' | xargs)" "a.dat a.dat#2"
cp b.dat 'a.dat#2' && cp b.dat 'a.dat#3'
ok "and files with the second's name, and the third's" "$RECORDER" merge -o out.dat a.dat 'a.dat#3' other/a.dat 'a.dat#2'
is "have buffers of four names" "$("$RECORDER" dump out.dat | sed -nE 's/^buffer "(.+)": .*/\1/p' | xargs)" "a.dat a.dat#3 a.dat#4 a.dat#2"
ok "the other way around" "$RECORDER" merge -o out.dat b.dat a.dat
has "the first is moved" "$out" "a.dat: moved by 1000.000000000 s, by the time of day, within 5000116 ns"
ok "to the second's clock" same out.dat 2 b.dat

# ---- names of threads

sed -z 's/1001 worker\n/1001 walker\n/; s/1002 a/9992 a/' a.dat >names.dat
ok "files with another name of a thread" "$RECORDER" merge -o out.dat a.dat names.dat
ok "have one of each thread" "$RECORDER" check --strict out.dat
is "that of the first" "$("$RECORDER" dump --cmd-lines out.dat | grep -E '^(1001|9992) ' | sort | cut -c1-11 | xargs)" "1001 worker 9992 a name"

# ---- losses before time 0 of the result

made lost.dat 1000000000000 mono "recorder 1.0; clocks: $(reading 1005000000000 $day 2000000000000); boot $boot_b; events of the kernel lost from 100 to 200; events of programs lost from 300 to 1005000000000"
ok "a file with losses before time 0 of the first" "$RECORDER" merge -o out.dat a.dat lost.dat
like "they begin at time 0" "$("$RECORDER" dump --options out.dat && grep -a -o 'events of.*' out.dat)" "events of programs lost from 0 to 5000000000"

# ---- the time of day was set: half of that is in the bound

made set.dat 1000000000000 mono "recorder 1.0; clocks: $(reading 1005000000000 $((day + 1000)) 7), $(reading 1005000020000 $((day + 19000)) 20007); boot $boot_b"
ok "the time of day was set" "$RECORDER" merge -o out.dat a.dat set.dat
has "the bound has half the change, and what no file states is named" "$out" "set.dat: moved by -1000.000000000 s, by the time of day, within 2001047 ns, plus errors that the files do not state"
has "report --clock, too" "$("$RECORDER" report --clock out.dat)" "merged from several clocks: times of different files within 2001047 ns, plus errors that the files do not state"

# ---- three machines, and files that were merged before

made c.dat 7000000000 mono "recorder 1.0; time error at most 0 ns; clocks: $(reading 12000000000 $day 1); clocks read within 10 ns; time of day within 5000000 ns; boot ${boot_b/9/8}"
ok "three machines" "$RECORDER" merge -o three.dat a.dat b.dat c.dat
has "the second" "$out" "b.dat: moved by -1000.000000000 s, by the time of day, within 5000116 ns"
has "the third" "$out" "c.dat: moved by -7.000000000 s, by the time of day, within 7000057 ns"
has "two that are not the first" "$out" "times of different files: within 12000173 ns"
ok "each event three times" same three.dat 3 a.dat
"$RECORDER" merge -o ab.dat a.dat b.dat >/dev/null
ok "a merged file and another one" "$RECORDER" merge -o three.dat ab.dat c.dat
has "the bounds add up" "$out" "times of different files: within 12000175 ns"
is "the same events" "$(times three.dat | wc -l)" "$(($(times a.dat | wc -l) * 3))"

made nameless.dat 0 mono "a test"
made a2.dat 0 mono "recorder 1.0; clocks: $(reading 5000000000 $day 5000000000); boot $boot_a"
made b2.dat 0 mono "recorder 1.0; clocks: $(reading 5000000000 $((day + 3600000000000)) 5000000000); boot $boot_b"
ok "a file that does not state its machine, and two machines" "$RECORDER" merge -o out.dat nameless.dat a2.dat b2.dat
is "each file has buffers of its own" "$("$RECORDER" dump out.dat | sed -nE 's/^buffer "(.+)": .*/\1/p' | xargs)" "nameless.dat a2.dat b2.dat"

# ---- two clocks of one machine

made boot.dat 3600000000000 boot "recorder 1.0; clocks: $(reading 5000000000 $((day + 77)) 3605000000000); clocks read within 30 ns; boot $boot_a"
made mono.dat 0 mono "recorder 1.0; clocks: $(reading 5000000000 $day 3605000000000); clocks read within 40 ns; boot $boot_a"
ok "CLOCK_BOOTTIME and CLOCK_MONOTONIC of one boot" "$RECORDER" merge -o out.dat mono.dat boot.dat
has "are joined without the time of day" "$out" "boot.dat: moved by -3600.000000000 s, by CLOCK_BOOTTIME, within 100 ns, plus errors that the files do not state"
is "in one buffer" "$("$RECORDER" dump out.dat | grep -c '^buffer "[^"]')" 0
ok "each event is beside its copy" same out.dat 2 mono.dat

made day.dat 3600000000000 boot "recorder 1.0; time error at most 5 ns; clocks: $(reading 5000000000 $day 3605000000000); clocks read within 30 ns; time of day within 1000000 ns; boot $boot_b"
ok "CLOCK_BOOTTIME of another machine" "$RECORDER" merge -o out.dat a.dat day.dat
has "it and the time of day may be a whole bracket apart" "$out" "day.dat: moved by -3600.000000000 s, by the time of day, within 3000112 ns"
made unread.dat 1000000000000 mono "recorder 1.0; time error at most 9 ns; clocks: $(reading 1005000000000 $day 2000000000000); time of day within 3000000 ns; boot $boot_b"
ok "a file without the error of its readings" "$RECORDER" merge -o out.dat a.dat unread.dat
has "has an open bound" "$out" "unread.dat: moved by -1000.000000000 s, by the time of day, within 5000056 ns, plus errors that the files do not state"

# ---- the TSC: its options convert it to CLOCK_MONOTONIC

"$mkdat" v6-tsc | python3 "$top_srcdir/tests/oracle/other_clock.py" 0 x86-tsc "recorder 1.0; clocks: $(reading 5000000000 $day 5000000000); boot $boot_a" >raw.dat
converted=$(times raw.dat | wc -l)
ok "raw times and CLOCK_MONOTONIC of one boot" "$RECORDER" merge -o out.dat raw.dat a.dat
unlike "nothing is moved" "$out" moved
is "all events are there" "$(times out.dat | wc -l)" "$((converted + $(times a.dat | wc -l)))"
ok "the other way around" "$RECORDER" merge -o out2.dat a.dat raw.dat
is "the events are the same" "$(times out2.dat | sort | cksum)" "$(times out.dat | sort | cksum)"
ok "the result and raw times" "$RECORDER" merge -o out2.dat out.dat raw.dat
is "all events are there" "$(times out2.dat | wc -l)" "$((2 * converted + $(times a.dat | wc -l)))"
"$mkdat" v6-tsc >tsc.dat
ok "another program's raw times" "$RECORDER" merge -o out.dat tsc.dat tsc.dat
ok "the result and such times" "$RECORDER" merge -o out2.dat out.dat tsc.dat
is "all events are there" "$(times out2.dat | wc -l)" "$((3 * $(times tsc.dat | wc -l)))"

# ---- one clock: not moved, whatever the time of day was set to

made later.dat 0 mono "recorder 1.0; clocks: $(reading 5000000000 $((day + 900000000000000)) 5000000000); boot $boot_a"
ok "one boot, and the time of day was set by days" "$RECORDER" merge -o out.dat a.dat later.dat
unlike "nothing is moved" "$out" moved
unlike "the boot ids are equal" "$out" "boot id"
ok "each event is beside its copy" same out.dat 2 a.dat
ok "report --clock of one clock" "$RECORDER" report --clock out.dat
unlike "nothing was merged by readings" "$out" merged
made idless.dat 0 mono "recorder 1.0; clocks: $(reading 5000000000 $((day + 59000000000)) 5000000000)"
ok "a file without a boot id" "$RECORDER" merge -o out.dat a.dat idless.dat
has "that is reported" "$out" "idless.dat: assumed to be of the first file's boot: there is no boot id to compare, but the boots began at most 60 s apart"
made idless.dat 0 mono "recorder 1.0; clocks: $(reading 5000000000 $((day + 61000000000)) 5000000000)"
ok "an earlier boot" "$RECORDER" merge -o out.dat a.dat idless.dat
unlike "is another one" "$out" "boot id"

# ---- times of the day

"$mkdat" v6-date | python3 "$top_srcdir/tests/oracle/other_clock.py" 0 mono "recorder 1.0; clocks: $(reading 5000000000 $day 5000000000); boot $boot_a" >date.dat
ok "the first file has times of the day" "$RECORDER" merge -o out.dat date.dat b.dat
is "and so has the result" "$("$RECORDER" report --nodate -t out.dat | sed -n 2p | grep -c ' 5.00000')/$("$RECORDER" report -t out.dat | sed -n 2p | grep -c ' 105.00000')" 1/1
is "as trace-cmd prints it" "$(times out.dat | wc -l)" "$(($(times date.dat | wc -l) + $(times b.dat | wc -l)))"
ok "the second file has them" "$RECORDER" merge -o out.dat a.dat date.dat
is "the result has the first file's" "$(times out.dat | head -1 | grep -c ' 5.00000')" 1

# sorted FILE: the file has events, and the times that recorder report prints never decrease
sorted()
{
	"$RECORDER" report -t "$1" | sed -nE 's/.* ([0-9]+\.[0-9]+): [a-z_]+: .*/\1/p' >stamps
	test -s stamps && sort -c -n stamps
}

# Two files of trace-cmd record --date: no readings, and the second is of an earlier boot.
"$mkdat" v6-date | python3 "$top_srcdir/tests/oracle/other_clock.py" 0 mono "a test" >cmd.dat
sed 's/0x5f5e100/0x0000001/' cmd.dat >cmd_early.dat
ok "times of the day alone, the second file before the first one's boot" "$RECORDER" merge -o out.dat cmd.dat cmd_early.dat
ok "its events come first" sorted out.dat
is "with their times" "$(times out.dat | head -1 | grep -c ' 5.00000')/$(times out.dat | tail -1 | grep -c ' 105.00')" 1/1
is "all of them, as trace-cmd prints them, too" "$(times out.dat | wc -l)" "$(($(times cmd.dat | wc -l) * 2))"
ok "the other way around" "$RECORDER" merge -o out2.dat cmd_early.dat cmd.dat
is "the events are the same" "$(times out2.dat | sort | cksum)" "$(times out.dat | sort | cksum)"

# ---- symbols and printk formats: addresses of two kernels

sed 's/ffffffff81000100 t do_two/ffffffff81000100 t bad_fn/' b.dat >symbols.dat
"$RECORDER" merge -o out.dat a.dat b.dat >/dev/null
is "the symbols of two machines that have the same" "$("$RECORDER" dump --kallsyms out.dat | grep -c do_two)" 1
ok "two machines, and their kernels' symbols differ" "$RECORDER" merge -o out.dat a.dat symbols.dat
is "that is reported on one line" "$err" "recorder merge: the files' kernels have different symbols: the result has addresses instead of symbols"
is "there are none" "$("$RECORDER" dump --kallsyms out.dat | grep -cE 'do_|bad_fn')" 0
is "trace-cmd prints the same" "$(times out.dat | wc -l)" "$(($(times a.dat | wc -l) * 2))"
sed 's/ffffffff81000\(... [tT] do\)/7265630000000\1/' a.dat >without.dat
sed 's/ffffffff81000100 t do_two/ffffffff81000100 t bad_fn/' c.dat >symbols.dat
ok "the first file has no symbols, and those of two other machines differ" "$RECORDER" merge -o out.dat without.dat b.dat symbols.dat
is "there are none of a kernel" "$("$RECORDER" dump --kallsyms out.dat | grep -c ffffffff81)" 0
sed 's/1003 sh/+003 sh/' a.dat >names.dat
ok "a malformed line among the names of threads" "$RECORDER" merge -o out.dat names.dat b.dat
is "the name is that of the second file" "$("$RECORDER" report out.dat | grep -oE '[^ ]+-1003' | sort -u)" sh-1003
sed 's/ffffffff81000100 t do_two/ffffffff81000100 t bad_fn/' a.dat >symbols.dat
ok "one boot: a module came later" "$RECORDER" merge -o out.dat a.dat symbols.dat
is "the symbols of both are there" "$("$RECORDER" dump --kallsyms out.dat | grep -cE 'do_two|bad_fn')" 2
is "a symbol that both files have is there once" "$("$RECORDER" dump --kallsyms out.dat | grep -cE 'do_(one|three)')" 2
sed 's/x=%d s=%s/z=%d t=%s/' b.dat >printk.dat
ok "a printk format of one address differs" "$RECORDER" merge -o out.dat a.dat printk.dat
is "it is left out" "$err" "recorder merge: 1 printk format is left out: the files have different ones at the same address"
is "from both" "$("$RECORDER" dump --printk out.dat | grep -c '=%d')" 0
sed -z 's/0xffffffff82000000 : "x=%d s=%s\\n"/0x1 : "x"\n0x1 : "yyyyyyyyyyyyyyyy"/' a.dat >twice.dat
is "a file of two formats at one address" "$("$RECORDER" dump --printk twice.dat | grep -c '^0x1 : ')/$(stat -c %s twice.dat)" "2/$(stat -c %s a.dat)"
ok "merged with itself" "$RECORDER" merge -o out.dat twice.dat twice.dat
is "keeps both" "$err/$("$RECORDER" dump --printk out.dat | grep -c '^0x1 : ')" /2

# ---- what is refused

echo precious >precious.dat
refused()
{
	local name=$1 regex=$2

	shift 2
	cp precious.dat out.dat
	run "$RECORDER" merge -o out.dat "$@"
	is "$name: status" "$status" 1
	is "$name: one line" "$(wc -l <<<"$err")" 1
	like "$name" "$err" "^recorder merge: $regex"
	is "$name: the output is as before" "$(cat out.dat)" precious
}
made early.dat 1 mono "recorder 1.0; clocks: $(reading 5000000000 $((day - 3600000000000)) 1); boot $boot_b"
refused "events before the first clock's time 0" "early.dat: its events are before time 0 of the first file's clock: give this file first" a.dat early.dat
made before.dat 1 mono "recorder 1.0; clocks: $(reading 5000000000 $((day - 50000000000)) 1); boot $boot_b"
refused "times of the day, and events before the boot of the first" "before.dat: its events are before time 0 of the first file's clock: give this file first" date.dat before.dat
refused "one with readings, and one of times of the day alone" "cmd_early.dat: its events are before time 0 of the first file's clock: give this file first" date.dat cmd_early.dat
ok "that one first" "$RECORDER" merge -o out.dat cmd_early.dat date.dat
ok "the times go forward" sorted out.dat
made local.dat 5 local "recorder 1.0; clocks: $(reading 5000000000 $day 1); boot $boot_b"
refused "a clock without readings" "local.dat: it is of another machine or boot than the first file, and it has no readings of its clock, local" a.dat local.dat
made local_a.dat 5 local "recorder 1.0; clocks: $(reading 5000000000 $day 1); boot $boot_a"
refused "two machines with such a clock" "local.dat: it is of another machine or boot than the first file, and it has no readings of its clock, local" local_a.dat local.dat
refused "two clocks of one machine, one of them without readings" "a.dat: its clock is not that of the first file, and the first file has no readings of its clock, local" local_a.dat a.dat
made none.dat 5 mono "a test"
refused "a file without readings and one of another clock" "none.dat: its clock is not that of the first file, and it has no readings of its clock, mono" boot.dat none.dat

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder merge: every file that tests/golden can make is split and merged again; the result is reported as the file is.
# If files use one id for different events, each event keeps its name. Files whose times have nothing in common are
# refused.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
cd "$TMP" || exit 99
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# events FILE: the lines of recorder's report of a file; nothing if trace-cmd's report is not the same
events()
{
	local at=$TMP/.report.$BASHPID

	"$RECORDER" report -t "$1" >"$at" 2>"$TMP/.ours.err" && cmp -s "$at" <(trace-cmd report -t "$1" 2>/dev/null) &&
		tail -n +2 "$at"
}

# buffers FILE: the names of its buffers, except the top one
buffers()
{
	"$RECORDER" dump "$1" | sed -nE 's/^buffer "(.+)": .*/\1/p' | xargs
}

nr=0
for name in $("$mkdat"); do
	[ "$name" != v6-shifts ] || continue # its times go back on a CPU
	"$mkdat" "$name" >in.dat
	events in.dat >whole || fail "report of $name"
	rm -f part.*
	"$RECORDER" split -i in.dat -o part -r -c -e $(($(wc -l <whole) / 5 + 1)) >/dev/null
	set -- part.*
	[ $# -gt 1 ] || continue
	nr=$((nr + 1))
	for how in "6 none" "7 any"; do
		run "$RECORDER" merge -o out.dat --file-version "${how% *}" --compression "${how#* }" "$@"
		if [ "$status" != 0 ] || ! cmp -s <(events out.dat) whole; then
			fail "$name, merged, $how"
			diag "$err $(cat .ours.err)"
			diag "$(diff <(events out.dat) whole | head -5)"
			broken=yes
		fi
	done
done
is "$nr files are the same after split and merge" "${broken:-no}" no
ok "there were files" test "$nr" -gt 35

# ---- what is noted of the times of pieces

nr_times()
{
	"$RECORDER" report --version out.dat | sed -nE "s/.*; no events of the kernel from ([^;]*).*/\1/p" | grep -o ' to ' | wc -l
}
"$mkdat" v6-plain >in.dat
rm -f part.*
"$RECORDER" split -i in.dat -o part -r -e 1 >/dev/null
ok "all pieces" "$RECORDER" merge -o out.dat part.*
unlike "lack no time" "$("$RECORDER" report --version out.dat)" "; no "
ok "every other piece" "$RECORDER" merge -o out.dat part.*[13579]
ok "lacks the times between them, and no more" test "$(nr_times)" -gt 256
"$RECORDER" split -i part.0002 -o again >/dev/null
ok "a piece of a piece, with the piece before" "$RECORDER" merge -o out.dat part.0001 again.1
is "lacks no time" "$(nr_times)" 0
# ns WHICH FILE: the time of its first (1) or last ($) event
ns()
{
	"$RECORDER" report -t "$2" | sed -nE 's/.* ([0-9]+)\.([0-9]{9}): [a-z_]+: .*/\1\2/p' | sed -n "$1p"
}
rm -f part.*
"$RECORDER" split -i in.dat -o part -r -c -e 20 >/dev/null
ok "all pieces of each CPU" "$RECORDER" merge -o out.dat part.*
unlike "lack no time of them" "$("$RECORDER" report --version out.dat)" "; no "
like "before such a piece, nothing is left out since the last event of any CPU" \
	"$("$RECORDER" report --version part.0003)" "; nothing left out from $(ns '$' part.0002) to $(ns 1 part.0003)"
rm -f part.*
"$RECORDER" split -i in.dat -o part -r -c -e 40 >/dev/null
ok "a piece begins while the one before has events of another CPU" test "$(ns 1 part.0005)" -lt "$(ns '$' part.0004)"
unlike "it does not have all events of its time" "$("$RECORDER" report --version part.0005)" "nothing left out"
"$RECORDER" split -i in.dat -o first 0 5.0001 >/dev/null
"$RECORDER" split -i in.dat -o second 5.0001 >/dev/null
ok "two pieces by time" "$RECORDER" merge -o out.dat first.1 second.1
is "lack no time" "$(nr_times)" 0
"$RECORDER" split -i in.dat -o second 5.00011 >/dev/null
ok "two pieces, and events in between are left out" "$RECORDER" merge -o out.dat first.1 second.1
is "lack this time" "$(nr_times)" 1

# ---- ids

"$mkdat" v6-plain >a.dat
sed 's/name: submit/name: commit/' a.dat >b.dat
ok "two events with one id" "$RECORDER" merge -o out.dat a.dat b.dat
like "the number of events" "$out" "^out.dat: 1200 events of 2 files$"
is "each has its name" "$(events out.dat | grep -c ': submit: ') $(events out.dat | grep -c ': commit: ')" "400 400"
ids()
{
	"$RECORDER" dump --records "$1" | sed -nE 's/^ +[0-9]+  data .*  id ([0-9]+).*/\1/p' | sort -u | wc -l
}
is "the events that are the same have one id" "$(ids out.dat)" "$(($(ids a.dat) + 1))"
ok "recorder check" "$RECORDER" check out.dat
ok "buffers for each file" "$RECORDER" merge --buffers split -o split.dat a.dat b.dat
is "have the files' names" "$("$RECORDER" dump split.dat | sed -nE 's/^buffer "(.+)": .*/\1/p' | xargs)" "a.dat b.dat"
is "and the same events" "$(events split.dat | sed -E 's/^ *[ab]\.dat: //; s/^ +//' | sort | cmp - <(events out.dat | sed -E 's/^ +//' | sort) && echo same)" same
"$mkdat" v7-instances >c.dat
ok "with instances" "$RECORDER" merge -o out.dat a.dat c.dat
is "they stay" "$("$RECORDER" dump out.dat | sed -nE 's/^buffer "(.+)": .*/\1/p' | xargs)" "alpha a_longer_name"
"$mkdat" v6-page64k >large.dat
ok "pages of two sizes" "$RECORDER" merge -o out.dat a.dat large.dat
is "all events are there" "$("$RECORDER" report out.dat | wc -l)" "$(($("$RECORDER" report a.dat | wc -l) + $("$RECORDER" report large.dat | wc -l) - 1))"

"$mkdat" v7-large-instances >large.dat
ok "an event that fits only the pages of an instance" "$RECORDER" merge -o out.dat a.dat large.dat
is "its events are there" "$("$RECORDER" report out.dat | grep -c llllll)" 4
ok "recorder check" "$RECORDER" check out.dat
is "trace-cmd reads them" "$(events out.dat | wc -l)" 1080

# ---- many files: more than may be open at first, with events at the same times

# on_cpu_0 FILE: the lines of the report of the events on CPU 0
on_cpu_0()
{
	"$RECORDER" report -t "$1" | grep -F '[000]'
}

"$mkdat" v6-one >kind0.dat
sed 's/name: submit/name: commit/' kind0.dat >kind1.dat
"$mkdat" v6-ties >kind2.dat
for kind in 0 1 2; do
	on_cpu_0 kind$kind.dat >kind$kind.txt
done
rm -f part.*
for i in $(seq 100 199); do
	kind=$((i % 7 % 3))
	cp kind$kind.dat "part.$i"
	cat kind$kind.txt
done | sed -E 's/.* ([0-9]+\.[0-9]{9}): .*/\1 &/' | LC_ALL=C sort -s -k 1,1 | cut -d ' ' -f 2- >expected
ok "100 files" bash -c 'ulimit -Sn 64; exec "$@"' - "$RECORDER" merge -o out.dat part.*
on_cpu_0 out.dat >ours
ok "there are events" test "$(wc -l <expected)" -gt 1000
ok "they are merged by time, and ties are in the order of the files" cmp expected ours

# ---- what is refused

echo precious >precious.dat
refused()
{
	local name=$1 expected=$2 regex=$3

	shift 3
	cp precious.dat out.dat
	run "$RECORDER" merge "$@"
	is "$name: status" "$status" "$expected"
	like "$name" "$err" "^recorder merge: $regex"
	is "$name: the output is as before" "$(cat out.dat)" precious
}
"$mkdat" v6-big-endian >big.dat
"$mkdat" v6-long4 >long4.dat
"$mkdat" v6-boot >boot.dat
"$mkdat" v6-tsc >tsc.dat
refused "byte orders" 1 "big.dat: its byte order or size of long is not that of the first file" -o out.dat a.dat big.dat
refused "sizes of long" 1 "long4.dat: its byte order or size of long" -o out.dat a.dat long4.dat
refused "clocks" 1 "boot.dat: its clock is not that of the first file" -o out.dat a.dat boot.dat
refused "converted times" 1 "tsc.dat: its clock is not that of the first file" -o out.dat a.dat tsc.dat
for shift in date offset time_shift; do
	"$mkdat" "v6-${shift#time_}" >shift.dat
	refused "option $shift in the second file alone" 1 "shift.dat: only one of this file and the first one .*\(option $shift\)" -o out.dat a.dat shift.dat
	refused "option $shift in the first file alone" 1 "a.dat: only one of this file and the first one .*\(option $shift\)" -o out.dat shift.dat a.dat
	ok "option $shift in both" "$RECORDER" merge -o out.dat shift.dat shift.dat
done
# The times of shift.dat were moved to the clock of a machine with the id 0x1234: that of host.dat.
sed 's/\x88\x77\x66\x55\x44\x33\x22\x11/\x34\x12\x00\x00\x00\x00\x00\x00/' a.dat >host.dat
ok "times that were moved to those of the other file" "$RECORDER" merge -o out.dat host.dat shift.dat
is "each machine has buffers of its own" "$(buffers out.dat)" "host.dat shift.dat"
sed 's/\x88\x77\x66\x55\x44\x33\x22\x11/\x87\x77\x66\x55\x44\x33\x22\x11/' shift.dat >guest.dat
ok "two machines whose times were moved to those of a third" "$RECORDER" merge -o out.dat shift.dat guest.dat
is "have buffers of their own" "$(buffers out.dat)" "shift.dat guest.dat"
ok "two parts of one machine's recording" "$RECORDER" merge -o out.dat shift.dat shift.dat
is "are put together" "$(buffers out.dat)" ""
"$mkdat" v6-clocks >clocks.dat
sed 's/realtime 17000/realtime 17009/g' clocks.dat >later.dat
ok "another boot" "$RECORDER" merge -o out.dat clocks.dat later.dat
like "is joined by the time of day" "$out" "later.dat: moved by 900000.000000000 s, by the time of day, within 50000 ns, plus errors that the files do not state"
refused "an earlier boot" 1 "clocks.dat: its events are before time 0 of the first file's clock: " -o out.dat later.dat clocks.dat
ok "the same boot" "$RECORDER" merge -o out.dat clocks.dat clocks.dat
# The times of other machines were moved to those of the first: they were not booted at the same time.
python3 - <<'END'
import struct
data = open("clocks.dat", "rb").read()
host = data.replace(bytes.fromhex("8877665544332211"), bytes.fromhex("3412000000000000"))
at = data.index(b"CPU: 0\n") - 6
end = data.index(b"Linux test 1.0\0") + 15
shift = struct.pack("<QIIII", 0x1234, 0, 2, 0, 0)
peer = data[:at] + struct.pack("<HI", 12, end - at - 6) + shift.ljust(end - at - 6, b"\0") + data[end:]
open("host.dat", "wb").write(host)
open("peer.dat", "wb").write(peer.replace(b"realtime 17000", b"realtime 17009"))
END
ok "another boot of a machine whose times were moved to those of the first" "$RECORDER" merge -o out.dat host.dat peer.dat
ok "in any order" "$RECORDER" merge -o out.dat peer.dat host.dat
"$mkdat" v6-plain | head -c 20000 >cut.dat
cp cut.dat before.dat
refused "a cut file that the output would replace" 1 "cut.dat: truncated: .*; it is not replaced: name another output$" -o cut.dat a.dat cut.dat
ok "it is as before" cmp cut.dat before.dat
refused "by another name, too" 1 "cut.dat: .*; it is not replaced" -o "$TMP/cut.dat" cut.dat a.dat
cp a.dat whole.dat
ok "a whole file is replaced" "$RECORDER" merge -o whole.dat whole.dat b.dat
ok "by the result" test "$(events whole.dat | wc -l)" = 1200
refused "no output" 2 "missing -o FILE" a.dat b.dat
refused "one file" 2 "missing FILE FILE" -o out.dat a.dat
refused "version 6, compressed" 2 "version 6 has no compression" -o out.dat --file-version 6 --compression zstd a.dat b.dat
refused "no such file" 1 "no.dat: cannot open: No such file" -o out.dat a.dat no.dat
refused "no such directory" 1 "cannot write 'no/out.dat': No such file" -o no/out.dat a.dat b.dat

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder split: of every file that tests/golden can make, the parts together are reported as the whole is, by recorder and
# by trace-cmd, losses included; with trace-cmd's options the parts are those of trace-cmd; selections are those of the
# report's lines.

. "$top_srcdir/tests/tap.sh"

mkdat=$top_builddir/tests/golden/mkdat
cd "$TMP" || exit 99
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# events FILE: the lines of recorder's report of a file that both report alike
events()
{
	local at=$TMP/.report.$BASHPID

	"$RECORDER" report -t "$1" >"$at" 2>"$TMP/.ours.err" && cmp -s "$at" <(trace-cmd report -t "$1" 2>/dev/null) &&
		tail -n +2 "$at"
}

# ---- the parts are the whole

# By default each file is split in one of the three ways, in turn; REPORT_FILES=all: in all.
nr=0
turn=0
for name in $("$mkdat"); do
	"$mkdat" "$name" >in.dat
	events in.dat >whole || fail "report of $name"
	nr=$((nr + 1))
	limit=$(($(wc -l <whole) / 3 + 1))
	for how in "" "-r -e $limit" "-r -c -e $limit"; do
		turn=$((turn + 1))
		[ "${REPORT_FILES-}" = all ] || [ $(((nr + turn) % 3)) = 0 ] || continue
		rm -f part.dat.*
		# shellcheck disable=SC2086
		run "$RECORDER" split -i in.dat -o part.dat $how
		for part in part.dat.*; do
			events "$part" || echo "bad report of $part: $(cat .ours.err)"
		done >parts
		# Parts of each CPU overlap in time.
		case $how in *-c*) sort -o parts parts; sort -o whole whole ;; esac
		if [ "$status" != 0 ] || [ -n "$err" ] || ! cmp -s whole parts; then
			fail "$name, split $how"
			diag "$err"
			diag "$(diff whole parts | head -5)"
			broken=yes
		fi
	done
done
is "the parts of $nr files are the whole" "${broken:-no}" no
ok "there were files" test "$nr" -gt 40

# ---- limits and times are those of trace-cmd

"$mkdat" v6-plain >in.dat
first=5.0001 last=5.00015
for how in "-e 100" "-u 50" "-m 1" "-s 1" "-C 1" "$first" "$first $last" "0 $last" "-e 50 $first" "-c -e 70"; do
	rm -f ours.* theirs.*
	# shellcheck disable=SC2086
	run "$RECORDER" split -i in.dat -o ours $how
	# shellcheck disable=SC2086
	trace-cmd split -i in.dat -o theirs $how >log 2>&1
	is "split $how: as trace-cmd" "$(cmp <(events ours.1) <(events theirs.1) && echo same)" same
	like "split $how: its number of events" "$out" "^ours.1: $(events ours.1 | grep -c .) events"
done

# files HOW...: the names of the written files
files()
{
	rm -f part.*
	run "$RECORDER" split -i in.dat -o part "$@"
	echo part.*
}

is "one file has the number 1" "$(files -e 10)" "part.1"
is "-r has four digits" "$(files -e 200 -r)" "part.0001 part.0002 part.0003"
files -r -c -e 50 >/dev/null
is "-c: each CPU by itself" "$(events part.0002 | grep -c '\[000\]') $(events part.0002 | grep -c '\[001\]')" "50 50"
files -r -u 20 >/dev/null
is "-r -u: all events in order" "$(for part in part.*; do events "$part"; done | cmp - <(events in.dat) && echo same)" same
files -r --size 9 >/dev/null
is "--size: all events in order" "$(for part in part.*; do events "$part"; done | cmp - <(events in.dat) && echo same)" same
is "two pages of 4 KiB a file" "$("$RECORDER" dump --pages part.0001 | grep -c '^  page at ')" 2
by_size=$(files -r -c --size 9)
is "--size -c: two pages of each CPU" "$("$RECORDER" dump --pages part.0001 | grep -c '^  page at ')" 4
is "as -p 2" "$by_size" "$(files -r -p 2)"
files -r -p 1 >/dev/null
is "-p: one page of each CPU" "$("$RECORDER" dump --pages part.0001 | grep -c '^  page at ')" 2
is "and all events in order" "$(for part in part.*; do events "$part" | grep '\[000\]'; done | cmp - <(events in.dat | grep '\[000\]') && echo same)" same
cp in.dat here.dat
ok "the input's name" "$RECORDER" split -i here.dat -e 10
ok "is that of the output" test -s here.dat.1

# ---- selections

"$mkdat" v6-kernel >in.dat
selected()
{
	local regex=$1

	shift
	files "$@" >/dev/null
	is "split $*" "$(cmp <(events part.1) <(events in.dat | grep -E -e "$regex") && echo same)" same
}
selected ' sched_switch: ' --event sched:sched_switch
selected '\[001\].* sched_' --event 'sched' -C 1
"$mkdat" v6-plain >in.dat
selected '-1002 ' --pid 1002
selected '-(1001|1003) ' --pid 1001,1003
comm=$("$RECORDER" report in.dat | sed -nE 's/^ *(.*)-1002 .*/\1/p' | head -1)
selected '-1002 ' --comm "$comm"
like "switches of other threads are missing: the file notes this" "$("$RECORDER" report --version part.1)" \
	'; switches of some threads alone'
files --pid 1001,1002 >/dev/null
mv part.1 some.dat
"$RECORDER" split -i some.dat -o part --pid 1002,1003 >/dev/null
like "of a part, those that both have are noted" "$("$RECORDER" report --version part.1)" \
	'; switches of some threads alone: 1002 and no others'

# Losses of events that are left out come before the next event of their CPU.
"$mkdat" v6-lost >in.dat
files --pid 1002 >/dev/null
is "losses stay" "$(events part.1 | grep -c 'EVENTS DROPPED')" "$(events in.dat | grep -c 'EVENTS DROPPED')"

# A compressed file has compressed parts.
"$RECORDER" convert -i in.dat -o packed.dat
"$RECORDER" split -i packed.dat -o part.packed >/dev/null
like "compressed as before" "$("$RECORDER" dump part.packed.1)" "compression zstd"
is "with the same events" "$(cmp <(events part.packed.1) <(events in.dat) && echo same)" same

# ---- what is refused

"$mkdat" v6-plain >in.dat
is "a file where START is expected: status 2" "$("$RECORDER" split in.dat 2>err; echo $?)" 2
is "with a hint to -i" "$(cat err)" "recorder split: 'in.dat' is a file, where START is expected: did you mean -i in.dat?"
refused()
{
	local name=$1 expected=$2 regex=$3

	shift 3
	rm -f part.*
	run "$RECORDER" split -i in.dat -o part "$@"
	is "$name: status" "$status" "$expected"
	like "$name" "$err" "^recorder split: $regex"
	is "$name: no file" "$(ls part.* 2>/dev/null)" ""
}
refused "two limits" 2 "only one of -s, -m, -u, -e, -p and --size can be given" -e 1 -s 1
refused "-r without a limit" 2 "-r needs one of" -r
refused "no time" 2 "'soon' is not a time as 'recorder report -t' prints it" soon
refused "a negative time" 2 "'5x' is not a time" 0 5x
refused "no CPUs" 2 "'1-' is not a list of CPUs" -C 1-
refused "no threads" 2 "'a' is not a list of threads" --pid a
refused "no pattern" 2 "'a:' is not a pattern of events" --event a:
refused "a CPU that is not there" 1 "the file has none of the CPUs '7'" -C 7
refused "a name that is not there" 1 "no thread of the file is called 'nobody'" --comm nobody
refused "events that are not there" 1 "no event of the file matches 'io:nothing'" --event io:nothing
refused "a time after all" 1 "in.dat: no event is selected" 6
for name in v6-tsc-raw v7-tsc-raw; do
	"$mkdat" $name >in.dat
	refused "$name: seconds of ticks" 1 "in.dat: the clock 'x86-tsc' does not count nanoseconds: use -e, -p or --size" -s 1
done
for name in v6-boot v7-tsc; do
	"$mkdat" $name >in.dat
	ok "$name: seconds" "$RECORDER" split -i in.dat -o part -s 1
done
"$mkdat" v6-plain >in.dat
head -c 20000 in.dat >cut.dat
fails "a file that is cut" "$RECORDER" split -i cut.dat -o part
like "is reported" "$err" "^recorder split: cut.dat: truncated: .*; the rest of the file was read$"
is "what is left is written, and trace-cmd reads it" "$(trace-cmd report -t part.1 2>&1 | cmp - <("$RECORDER" report -t cut.dat 2>/dev/null) && echo same)" same
fails "no event of what is left is selected" "$RECORDER" split -i cut.dat -o none 6
like "is reported, too" "$err" "recorder split: cut.dat: no event is selected$"
fails "no such directory" "$RECORDER" split -i in.dat -o no/part
like "is named" "$err" "^recorder split: cannot write 'no/part.1': No such file"

# ---- the output would replace a file that is cut: another program may read more of it

"$mkdat" v6-plain | head -c 20000 >x.1
cp x.1 before
fails "the output would replace a cut file" "$RECORDER" split -i x.1 -o x
like "it is refused" "$err" "^recorder split: x.1: truncated: .*; it is not replaced: name another output$"
ok "the file is as before" cmp x.1 before
cp x.1 x.0001
fails "so it is with -r" "$RECORDER" split -i x.0001 -o x -r -e 20
like "on one line" "$err" "^recorder split: x.0001: .*; it is not replaced: name another output$"
ok "and this file is as before" cmp x.0001 before
"$mkdat" v6-plain >x.1
ok "a whole file is replaced" "$RECORDER" split -i x.1 -o x

done_testing

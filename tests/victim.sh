# SPDX-License-Identifier: MIT
# shellcheck shell=bash
#
# To be sourced after tests/tap.sh: tests/programs/victim, which writes numbered events and counts them in a file.
#
#	begin FILE [COMMAND...]	starts one by COMMAND... (empty: as it is) that writes without end; when it has begun its
#				pid is in $pid
#	begin_to FILE EVENTS	one that writes this many, and waits to be killed; when it has written them
#	written FILE		how many it has written, 0 before it has begun, recorded or not
#	has_written FILE EVENTS	it has written this many: for wait_until
#	is_last NAME FILE FILE	the number of the last event in the second file, a report or numbers, is the last that the program has
#				written. It may have been killed after it wrote an event, before it counted that.
#	go_on FILE EVENTS	waits until it has written this many more
#	briefly NAME COMMAND...	the command, which records, succeeds with --duration: 1 s, or longer if the program wrote nothing
#				in that time because other programs had the CPUs
#	end PID...		kills it, and waits until it is gone
#	large_lanes		programs that begin after this lose nothing while a recorder is stopped for ten seconds
#	numbers FILE		which numbers a recording holds: "first last count", and how many are missing in between
#	equal_events A B		whether two recordings hold the same events, at the same times

victim=$top_builddir/tests/programs/victim

written()
{
	echo $(($(od -A n -t u8 -N 8 "$1" 2>/dev/null)))
}

has_written()
{
	[ "$(written "$1")" -ge "$2" ]
}

is_last()
{
	local last

	last=$(sed -nE '$s/.*[^0-9]([0-9]+)$|^([0-9]+)$/\1\2/p' "$3")
	ok "$1 ($last)" test "${last:-none}" -ge $(($(written "$2") - 1)) -a "${last:-none}" -le "$(written "$2")"
}

go_on()
{
	wait_until has_written "$1" $(($(written "$1") + $2))
}

# Prints the pid of the descendant of process $1 whose program is file $2, or of the process itself.
find_pid()
{
	local child

	if [ "$(readlink "/proc/$1/exe")" = "$2" ]; then
		echo "$1"
		return
	fi
	for child in $(pgrep -P "$1"); do
		find_pid "$child" "$2"
	done
}

begin()
{
	local file=$1

	shift
	rm -f "$file"
	"$@" "$victim" "$file" 1000000000000 &
	wait_until has_written "$file" 1
	pid=$(find_pid $! "$(readlink -f "$victim")")
}

begin_to()
{
	rm -f "$1"
	"$victim" "$1" "$2" &
	pid=$!
	wait_until has_written "$1" "$2"
}

briefly()
{
	local name=$1 time

	shift
	for time in 1 5 20 60; do
		run "$@" --duration $time
		[[ $err == *'nothing was recorded'* ]] || break
	done
	tap_result "$status" "$name" || tap_show_run "$@" --duration $time
}

end()
{
	local each

	kill -KILL "$@" 2>/dev/null
	for each; do
		wait_until is_gone "$each"
	done
}

large_lanes()
{
	export RECORDER_BUFFER_KB=65536 RECORDER_MAX_KB=1048576
}

numbers()
{
	"$RECORDER" report "$1" | sed -n 's/.* seq: .*number=//p' | awk '
		NR == 1 { first = $1 }
		NR > 1 { gap = $1 - last - 1; missing += gap < 0 ? -gap : gap }
		{ last = $1 }
		END { print first + 0, last + 0, NR, missing + 0 }'
}

# error_of FILE: the error bound of the times, in ns, as stated in the file
error_of()
{
	"$RECORDER" dump "$1" | sed -nE 's/.*time error at most ([0-9]+) ns.*/\1/p'
}

# Each recovery compares the clocks anew, so the times of two recoveries may differ, but not by more than the errors
# that the files state.
equal_events()
{
	"$RECORDER" report -t "$1" >"$1.text"
	"$RECORDER" report -t "$2" >"$2.text"
	paste -d '\n' "$1.text" "$2.text" | awk -v error=$(($(error_of "$1") + $(error_of "$2"))) '
		function time() { if (!match($0, / [0-9]+\.[0-9]+: /)) return 0
				  text = substr($0, RSTART, RLENGTH - 2); sub(/\./, "", text)
				  return text + 0 }
		{ at = time(); line = $0; sub(/ [0-9]+\.[0-9]+: /, "", line) }
		NR % 2 { then = at; other = line; next }
		line != other || at - then > error || then - at > error { print NR / 2 ": " other " at " then "\n" line " at " at; bad = 1 }
		END { exit bad || NR == 0 }'
}

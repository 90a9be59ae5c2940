#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A selected program ends normally, and so removes its buffer, while the recorder searches: the recorder is stopped after
# each of its calls that examine or open the file, the program ends, and the recorder continues. The other program that
# was selected is recorded all the same.

. "$top_srcdir/tests/tap.sh"

told=$top_builddir/tests/programs/told
cd "$TMP" || exit 1
command -v strace >/dev/null || skip_all "strace is not installed"
strace -qq -f -o trace -e inject=write:delay_enter=1:when=1 true 2>/dev/null || skip_all "strace cannot trace here"
mkfifo one two || exit 1
export RECORDER_ENABLE='*:*'

# begin_two: starts two programs that read their words from descriptors 6 and 7; their pids are in $first and $second, the
# names of their buffers in $gone and $stays.
begin_two()
{
	exec 6<>one 7<>two
	"$told" <one >/dev/null 6>&- 7>&- &
	first=$!
	"$told" <two >/dev/null 6>&- 7>&- &
	second=$!
	echo go >&7
	wait_until has_written
	gone=$(cd "$RECORDER_DIR" && echo "$first"-*.rec)
	stays=$(cd "$RECORDER_DIR" && echo "$second"-*.rec)
}

has_written()
{
	"$RECORDER" ps -P "$first,$second" 2>/dev/null | grep -c told | grep -qx 2 &&
		"$RECORDER" stat -P "$second" | grep -q '^entries: 30$'
}

is_stopped()
{
	grep -q 'stopped by SIGSTOP' calls
}

# stopped_or COMMAND...: a recorder was stopped, or the command succeeds: for wait_until
stopped_or()
{
	is_stopped || "$@"
}

# begin_recorder CALL NUMBER ARGUMENT...: a recorder that stops after its CALL with this NUMBER for the first program's
# file; its pid is in $recorder, that of strace in $tracer.
begin_recorder()
{
	rm -f pid
	: >calls
	strace -qq -f -o calls -P "$gone" -e trace="$1" -e "inject=$1:signal=SIGSTOP:when=$2" \
		sh -c 'echo $$ >pid; exec "$@"' sh "$RECORDER" "${@:3}" 2>err 6>&- 7>&- &
	tracer=$!
	wait_until test -s pid
	recorder=$(<pid)
}

# The first program ends, and the recorder continues.
vanish()
{
	exec 6>&-
	wait_until is_gone "$first"
	kill -CONT "$recorder"
}

# of_second FILE: the number of events of the second program in the file
of_second()
{
	"$RECORDER" report "$1" | grep -c "told-$second "
}

end_second()
{
	exec 7>&-
	wait "$second"
}

# has_both SPOOL: the recorder has opened both files, and opens neither again
has_both()
{
	is_attached "$1" "$gone" && is_attached "$1" "$stays"
}

# record_without CALL NUMBER: false if the recorder does not make so many calls.
record_without()
{
	local file=record-$1-$2.dat

	begin_two
	begin_recorder "$1" "$2" record -P told -o "$file"
	wait_until stopped_or has_both "$file.spool"
	is_stopped || return
	vanish
	ok "record, stopped after $1 $2: the other program is attached to" wait_until is_attached "$file.spool" "$stays" || return
	echo go >&7
	end_second
	wait $tracer
	is "it succeeds" "$? $(grep cannot err)" "0 "
	is "and has the events of the other program" "$(of_second "$file")" 30
	rm -f "$RECORDER_DIR"/*.rec
}

# snapshot_without CALL NUMBER: likewise
snapshot_without()
{
	local file=snapshot-$1-$2.dat

	begin_two
	begin_recorder "$1" "$2" snapshot -P told -o "$file"
	wait_until stopped_or is_gone $recorder
	is_stopped || return
	vanish
	wait $tracer
	is "snapshot, stopped after $1 $2: it succeeds" "$? $(grep cannot err)" "0 "
	is "and has the events of the other program" "$(of_second "$file")" 30
	end_second
}

for command in record snapshot; do
	for call in newfstatat openat; do
		number=1
		while ${command}_without $call $number; do
			number=$((number + 1))
		done
		exec 6>&- 7>&-
		wait
		rm -f "$RECORDER_DIR"/*.rec
		ok "$command: $call is called for the file more than once" test $number -gt 2
	done
done

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs come and go: fork, clone, vfork, spawn, exec, daemons, closed descriptors, changed roots and users. Every
# event is recorded, in a lane of its own process, both when recorded from the start and when attached to while running.

. "$top_srcdir/tests/tap.sh"

family=$top_builddir/tests/programs/family
cd "$TMP" || exit 1

# The steps in $1, sorted, on one line.
steps()
{
	"$RECORDER" report "$1" | sed -n 's/.* step: .*what=//p' | sort | paste -sd, -
}

# The number of steps in $1 whose field `process` is not the id of the thread that recorded them.
strangers()
{
	"$RECORDER" report "$1" | sed -n 's/^ *[^ ]*-\([0-9]*\) .* step: .*process=\([0-9]*\) .*/\1 \2/p' | awk '$1 != $2' | grep -c .
}

# Records the program `family` with deed $1; the recorded steps must be $2.
recorded()
{
	ok "$1" "$RECORDER" record -o "$1.dat" "$family" "$1"
	like "$1: nothing is lost" "$err" "; 0 lost"
	is "$1: every step" "$(steps "$1.dat")" "$2"
	is "$1: each in its own process" "$(strangers "$1.dat")" 0
}

recorded fork "child,grandchild,parent,parent too"
recorded clone "clone,clone of clone,parent,parent too"
ok "rec_printf in a clone" test "$("$RECORDER" report clone.dat | grep -c 'do_clone: printed by clone')" -eq 1
recorded clone-first "clone"
# The child of vfork runs on its parent's thread, and its events are recorded as the parent's.
recorded vfork "leaf,parent,parent too,vfork"
ok "a child of vfork that writes first" "$RECORDER" record -o vfork-first.dat "$family" vfork-first
like "its event is lost, with the reason" "$err" \
	"1 of threads without a lane \(a process in this program's memory, such as a child of vfork, wrote them before its thread had a lane\)"
is "its parent's event is not" "$(steps vfork-first.dat)" parent
recorded spawn "leaf,parent"
recorded exec "before exec,leaf"
recorded argument ""
is "both come back from a fork in an argument" "$("$RECORDER" report argument.dat | grep -c ' seen: ')" 2
recorded closefrom "after,before,child"
recorded clearenv "before,child"
# A child that has no descriptor to open its buffer with has no buffer, and continues; its parent's lanes are unchanged.
recorded nofile "after,before"
like "the child is reported" "$err" "recorder record: 1 process was not recorded: Too many open files"

if [ "$(id -u)" = 0 ]; then
	recorded chroot "after,before"
	like "chroot: the child is reported" "$err" "recorder record: 1 process was not recorded: No such file or directory"
	recorded setuid "after,before"
	like "setuid: the child is reported" "$err" "recorder record: 1 process was not recorded: Permission denied"
	# The buffer is drained and removed before another one appears, for which the directory is scanned again.
	ok "setuid, then another" "$RECORDER" record -o another.dat sh -c \
		'"$0" setuid; while ls "$RECORDER_DIR" | grep -q "\.rec$"; do sleep 0.01; done; "$0" leaf' "$family"
	like "setuid, then another: the child is reported" "$err" "recorder record: 1 process was not recorded: Permission denied"
else
	skip "chroot, setuid" "not root"
fi

# A hundred children forked in a signal handler, and the parent's events that the signals interrupted: the parent's
# numbers have no gap.
ok "forks in a signal handler" "$RECORDER" record -b 16384 -o handler.dat "$family" handler
like "nothing is lost" "$err" "; 0 lost"
is "every child" "$("$RECORDER" report handler.dat | grep -c 'what=in handler')" 100
is "comes back from the handler" "$("$RECORDER" report handler.dat | grep -c 'what=after handler')" 100
is "all in their own processes" "$(strangers handler.dat)" 0
parent=$("$RECORDER" report handler.dat | sed -n 's/.*process=\([0-9]*\) what=parent$/\1/p')
is "the parent's events are all there" "$("$RECORDER" report handler.dat | grep -- "-$parent .* tracer=0" |
	sed 's/.*number=//' | awk '$1 != NR - 1 { holes++ } END { print (NR > 0) + 0, holes + 0 }')" "1 0"

ok "forks while threads trace, come and go" "$RECORDER" record -o threads.dat "$family" threads
like "nothing is lost" "$err" "; 0 lost"
is "every child" "$("$RECORDER" report threads.dat | grep -c 'what=child')" 60
is "every tracer" "$("$RECORDER" report threads.dat | grep -c ' count: ')" 12000
is "in their order" "$("$RECORDER" report threads.dat | sed -nE 's/.* tracer=([0-9]+) number=/\1 /p' |
	awk '$2 != next_of[$1]++ { bad++ } END { print NR, bad + 0 }')" "12000 0"

# A limit on address space that leaves no room for a buffer: the program runs.
fails "no room for a buffer" bash -c "ulimit -v 60000; exec '$RECORDER' record -q -o limit.dat '$family' leaf"
like "is reported" "$err" "nothing was recorded, .*: no room for buffers in"

# ----------------------------------------------------------------------------------- attached while it runs

# Starts deeds $2..., which wait for FIFO $1, and attaches to them.
attached()
{
	local name=$1

	shift
	mkfifo "$name.fifo"
	"$family" wait "$name.fifo" "$@" &
	pid=$!
	wait_until eval '"$RECORDER" ps -P $pid >/dev/null 2>&1'
	"$RECORDER" record -P $pid -o "$name.dat" 2>"$name.err" &
	recorder=$!
	wait_until is_attached "$name.dat.spool" "$family"
}

# Lets them begin, and run to their end while the recorder is stopped: it finds none of them alive.
hurry()
{
	kill -STOP "$recorder"
	: >"$1.fifo"
	wait_until eval '! "$RECORDER" ps -P family >/dev/null 2>&1'
	kill -CONT "$recorder"
}

# The recording ends when the last of the processes has ended, even if its ancestors ended before.
done_with()
{
	wait "$pid"
	is "$1: the program ends" $? 0
	wait "$recorder"
	is "$1: and with it the recording" $? 0
	like "$1: nothing is lost" "$(cat "$1.err")" "; 0 lost"
	is "$1: every step" "$(steps "$1.dat")" "$2"
	is "$1: each in its own process" "$(strangers "$1.dat")" 0
	is "$1: no buffer is left" "$(find "$RECORDER_DIR" -name "$pid-*" | wc -l)" 0
}

attached children fork clone heir leaf
hurry children
done_with children "child,clone,clone of clone,grandchild,leaf,parent,parent,parent too,parent too"
# Programs that they start, and programs that replace them, are recorded from the moment when the recorder finds them.
# The parent of `heir` lives until then, so the recorder has the time.
attached images heir patience spawn vfork exec
: >images.fifo
done_with images "before exec,leaf,leaf,leaf,parent,parent,parent too,vfork"
attached alone patience slow-exec
: >alone.fifo
done_with alone "before exec,leaf"
attached daemon daemon
hurry daemon
done_with daemon "daemon,middle,parent"
if [ "$(id -u)" = 0 ]; then
	attached dropped setuid
	hurry dropped
	done_with dropped "after,before"
	like "dropped: the child is reported" "$(cat dropped.err)" "1 process was not recorded: Permission denied"
else
	skip "attached to a program that calls setuid" "not root"
fi

done_testing

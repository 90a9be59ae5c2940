#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Recorders inside other programs (examples/06_recorder.c, 09_kernel_recorder.c): they record a child process, and what it causes in
# the kernel, as `recorder record` does, and only the programs themselves print.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1
embedded=$top_builddir/examples/06_recorder
program=$top_builddir/tests/programs/requests

# events FILE: the number of events of each kind in a file
events()
{
	"$RECORDER" report "$1" | grep -oE ' (submit|done): ' | sort | uniq -c
}

ok "it records" "$embedded" embedded.dat "$program" 1000 fork
is "stdout has only the command's output" "$out" "$("$program" 1000 fork)"
like "the summary goes to its sink" "$err" "^06_recorder: recorded 4000 events from 2 processes, 2 threads; 0 lost"
is "and every line is the program's own" "$(grep -v '^06_recorder: ' <<<"$err")" ""
ok "so does recorder record" "$RECORDER" record -q -o command.dat "$program" 1000 fork
is "both have the same events" "$(events embedded.dat)" "$(events command.dat)"
like "which are these" "$(events embedded.dat)" "2000  submit: "

run "$embedded" status.dat sh -c 'exit 7'
is "the command's status is its own" "$status" 7
like "a recording without events makes a valid file" "$("$RECORDER" report status.dat | head -1)" "cpus="

# Mistakes are reported once, and leave no files.
fails "a command that is not there" "$embedded" none.dat ./nowhere
is "is reported" "$err" "06_recorder: cannot run './nowhere': No such file or directory"
fails "a file that cannot be made" "$embedded" /nowhere/x.dat true
is "is reported, too" "$err" "06_recorder: cannot write '/nowhere/x.dat': No such file or directory"
is "nothing is left of them" "$(ls -A "$RECORDER_DIR"; ls -- *.spool 2>/dev/null)" ""

# This program has no options, so messages name none.
touch taken.dat.spool
fails "a spool that is there already" "$embedded" taken.dat true
is "is reported without options" "$err" "06_recorder: '$TMP/taken.dat.spool' exists already; remove it or choose another output"
is "no session is left" "$(ls -A "$RECORDER_DIR")" ""
rm taken.dat.spool
RECORDER_BUFFER_KB=8 RECORDER_MAX_KB=64 run "$embedded" lost.dat "$top_builddir/tests/programs/producer" 1 200000
like "so are losses" "$err" $'06_recorder:   [0-9]+ overwritten before they were read \\(remedy: larger lanes\\)\n'

# ------------------------------------------------------------------------------------------------ the kernel

if ! can_trace; then
	skip "it records the kernel" "no rights to trace the kernel, or no tracefs"
	done_testing
	exit
fi
embedded=$top_builddir/examples/09_kernel_recorder

# opened FILE: how many processes have opened a file
opened()
{
	"$RECORDER" report "$1" | grep -oE -- '-[0-9]+ +\[[0-9]+\].* sys_enter_openat: .*' | cut -d' ' -f1 | sort | uniq -c | wc -l
}

ok "it records the kernel" "$embedded" kernel.dat syscalls:sys_enter_openat sh -c 'cat /dev/null; cat /dev/null; :'
like "the summary goes to its sink" "$err" "^09_kernel_recorder: recorded [0-9]+ kernel events from [0-9]+ CPUs?; 0 lost"
is "and every line is the program's own" "$(grep -v '^09_kernel_recorder: ' <<<"$err")" ""
is "the events are those of the command and its children" "$(opened kernel.dat)" 3
ok "the file is in order" "$RECORDER" check kernel.dat
run "$embedded" status.dat syscalls:sys_enter_openat sh -c 'exit 7'
is "the command's status is its own" "$status" 7
fails "an event that is not there" "$embedded" none.dat no:such true
like "is reported" "$err" "^09_kernel_recorder: this kernel has no event 'no:such'"
# shellcheck disable=SC2016
fails "a command that is not there" sh -c 'echo $$ >pid; exec "$@"' sh "$embedded" none.dat sched ./nowhere
is "is reported" "$err" "09_kernel_recorder: cannot run './nowhere': No such file or directory"
is "nothing is left of them" "$(ls -- *.spool* /sys/kernel/tracing/instances/recorder-"$(<pid)"-* 2>/dev/null)" ""

done_testing

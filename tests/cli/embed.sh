#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A recorder inside another program (examples/06_recorder.c): it records a child process as `recorder record` does, and
# only the program itself prints.

. "$top_srcdir/tests/tap.sh"

cd "$TMP" || exit 1
embedded=$top_builddir/examples/06_recorder
program=$top_builddir/tests/programs/requests

# events FILE: how many of each kind a file has
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

done_testing

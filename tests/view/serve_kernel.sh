#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view --serve -e: the kernel's events in the page of running programs, from an instance that ends with the command.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
. "$top_srcdir/tests/tracefs.sh"
# shellcheck disable=SC2086
$CC $CFLAGS_FOR_TEST -o "$TMP/ticker" "$top_srcdir/tests/view/ticker.c" $LDADD_FOR_TEST -lpthread || exit 99
has_buffer()
{
	grep -q ticker <<<"$("$RECORDER" ps 2>/dev/null)"
}
mkfifo letters
RECORDER_ENABLE='*' ./ticker <letters &
ticker=$!
# The program runs once the fifo has a writer.
exec {writer}>letters
wait_until has_buffer
# Only the program's switches and wake-ups are recorded, so that they stay in the picture whatever else the machine
# does.
"$RECORDER" view --serve -P "$ticker" -e sched_switch -e sched:sched_waking >address 2>errors {writer}>&- &
server=$!
wait_until test -s address
ok "it traces the kernel in an instance of its own" traces "$server"
is "only the events of the program" "$(cat "$tracing/instances/$(left "$server")/set_event_pid")" "$ticker"

while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view timeout 400 python3 -B "$top_srcdir/tests/view/serve_kernel.py" "$(<address)" letters $ticker 2>&1 ||
	echo "not ok it ends")

exec {writer}>&-
wait "$ticker"
kill -INT "$server"
wait "$server"
is "SIGINT ends the server" "$?" 0
forget_others errors
err=$(<errors)
is "it reports nothing" "$err" ""
is "it leaves no instance" "$(left "$server")" ""
is "and no file" "$(find /dev/shm -maxdepth 1 -name "recorder-view-$server-*")" ""

# ---- command lines

fails "-e without --serve" "$RECORDER" view -e sched
is "is a wrong command line" "$status$err" "2recorder view: -e and -f need --serve"
fails "a program that does not run, and the kernel" "$RECORDER" view --serve -P nosuchprogram -e sched_switch
like "is named" "$err" "^recorder view: .*nosuchprogram"
fails "-f without -e" "$RECORDER" view --serve -f 'pid == 1'
is "is a wrong command line, too" "$status$err" "2recorder view: a filter (-f) needs an -e before it"
"$RECORDER" view --serve -e nosuch:event >address 2>errors &
server=$!
wait "$server"
is "an event that this kernel does not have: the status" "$?" 1
forget_others errors
like "is named" "$(<errors)" "^recorder view: .*'nosuch:event'"
is "and no file is left" "$(find /dev/shm -maxdepth 1 -name "recorder-view-$server-*")" ""
is "nor an instance" "$(left "$server")" ""

# No process reads the address: the write fails, or raises a signal that would end the server at once.
cat >closed.py <<'END'
import os, signal, subprocess, sys
signal.signal(signal.SIGPIPE, signal.SIG_DFL)
reading, writing = os.pipe()
os.close(reading)
server = subprocess.Popen(sys.argv[1:], stdout=writing, stderr=subprocess.PIPE, restore_signals=True)
message = server.communicate()[1].decode()
print(server.pid, server.returncode)
open("errors", "w").write(message)
END
read -r server status <<<"$(python3 closed.py "$RECORDER" view --serve -e sched_switch)"
is "no process reads the address: the status" "$status" 1
forget_others errors
is "one line reports it" "$(wc -l <errors)" 1
like "why" "$(<errors)" "^recorder view: cannot write the address: "
is "no file is left" "$(find /dev/shm -maxdepth 1 -name "recorder-view-$server-*")" ""
is "nor an instance" "$(left "$server")" ""

done_testing

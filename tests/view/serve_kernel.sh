#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view --serve -e: the kernel's events in the page of running programs, from an instance that ends with the command.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
. "$top_srcdir/tests/tracefs.sh"
# shellcheck disable=SC2086
$CC $CFLAGS_FOR_TEST -o "$TMP/ticker" "$top_srcdir/tests/view/ticker.c" $LDADD_FOR_TEST -lpthread || exit 99
mkfifo letters
RECORDER_ENABLE='*' ./ticker <letters &
ticker=$!
# Only the program's, so that they stay in the picture however much else the machine does.
"$RECORDER" view --serve -e sched_switch -f 'prev_comm == "ticker" || next_comm == "ticker"' -e sched:sched_waking -f 'comm == "ticker"' >address 2>errors &
server=$!
wait_until test -s address
ok "it traces the kernel in an instance of its own" traces "$server"

while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view timeout 400 python3 -B "$top_srcdir/tests/view/serve_kernel.py" "$(<address)" letters $ticker 2>&1 ||
	echo "not ok it ends")

wait "$ticker"
kill -INT "$server"
wait "$server"
is "SIGINT ends the server" "$?" 0
err=$(<errors)
forget_others
is "it reports nothing" "$err" ""
is "it leaves no instance" "$(left "$server")" ""
is "and no file" "$(find /dev/shm -maxdepth 1 -name "recorder-view-$server-*")" ""

# ---- command lines

fails "-e without --serve" "$RECORDER" view -e sched
is "is a wrong command line" "$status$err" "2recorder view: -e and -f need --serve"
fails "-f without -e" "$RECORDER" view --serve -f 'pid == 1'
is "is a wrong command line, too" "$status$err" "2recorder view: a filter (-f) needs an -e before it"
fails "an event that this kernel does not have" "$RECORDER" view --serve -e nosuch:event
like "is named" "$(forget_others && echo "$err")" "^recorder view: .*'nosuch:event'"
is "and nothing is left" "$(find /dev/shm -maxdepth 1 -name "recorder-view-*" -newer errors -user "$(id -un)" -empty)" ""

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view: spans that a jump, the death of a thread, SIGKILL or a loss of events interrupts are shown as open or cut, at the
# times that recorder sql and report --spans have for them.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
# shellcheck disable=SC2086
$CC $CFLAGS_FOR_TEST -o "$TMP/interrupted" "$top_srcdir/tests/view/interrupted.c" $LDADD_FOR_TEST -lpthread || exit 99
cd "$TMP" || exit 1

ok "spans that are interrupted" "$RECORDER" record -q -u 'cut:*' -o jump.dat ./interrupted jump
ok "a lane that overflows" env RECORDER_BUFFER_KB=64 RECORDER_ENABLE='*' RECORDER_KEEP=1 ./interrupted lose
ok "its last events" "$RECORDER" recover -q -o lose.dat --all
like "some are lost" "$("$RECORDER" report lose.dat)" 'EVENTS DROPPED'
for name in jump lose; do
	"$RECORDER" report --spans -t $name.dat >$name.spans
	"$RECORDER" sql --json $name.dat "select name, ts, dur, tid, depth, state, args from spans" >$name.json 2>$name.err
	ok "$name: view" "$RECORDER" view $name.dat
done
"$RECORDER" sql --json jump.dat "select pid, value from counters order by ts" >counters.json
while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view timeout 400 python3 -B "$top_srcdir/tests/view/interrupted.py" "$TMP" 2>&1 || echo "not ok it ends")
[ -z "${VIEW_PICTURES-}" ] || cp interrupted*.png "$VIEW_PICTURES"

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view --why: the page has the paths that recorder why prints.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
# shellcheck disable=SC2086
$CC $CFLAGS_FOR_TEST -o "$TMP/waits" "$top_srcdir/tests/view/waits.c" $LDADD_FOR_TEST || exit 99
cd "$TMP" || exit 1

run "$RECORDER" record -q --compression none ./waits
is "a recording" "$status$err" 0
ok "with the scheduler's events" python3 -B "$top_srcdir/tests/view/as_kernel.py" trace.dat "$out" sched_switch sched_waking
"$RECORDER" why --span io:request --slowest 3 --json >spans.json
is "three spans are explained" "$(wc -l <spans.json)" 3
run "$RECORDER" view --why io:request --slowest 3
is "view" "$status$out$err" 0
while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view timeout 400 python3 -B "$top_srcdir/tests/view/why.py" "$TMP/trace.html" spans.json \
	"$TMP/why.png" 2>&1 || echo "not ok it ends")
[ -z "${VIEW_PICTURES-}" ] || cp why.png "$VIEW_PICTURES"

# refused STATUS TEXT ARGUMENT...: view fails with this status and text, and writes no page
refused()
{
	local want=$1 text=$2

	shift 2
	rm -f trace.html
	run "$RECORDER" view "$@"
	is "view $*: the status" "$status" "$want"
	is "the line" "$err" "recorder view: $text"
	ok "no page" test ! -e trace.html
}

run "$RECORDER" why --span io:nothing
unknown=${err#recorder why: }
like "why reports an unknown span" "$unknown" "^the trace has no span 'io:nothing'; "
refused "$status" "$unknown" --why io:nothing
refused 2 "--why needs the whole trace: it cannot be used with --serve; record a FILE first" --serve --why io:request
refused 2 "--slowest needs --why SYSTEM:NAME" --slowest 2

done_testing

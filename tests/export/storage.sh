#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One recording of the storage server of the examples as Chrome's JSON, as folded stacks and as CTF: the same spans,
# counters, states, flows, tasks and events, to the nanosecond, that the lines of recorder report give. tests/view/storage.sh
# does the same for the other views.

. "$top_srcdir/tests/tap.sh"

command -v babeltrace2 >/dev/null || skip_all "babeltrace2 is not installed"
cd "$TMP" || exit 1

ok "the storage server is recorded" "$RECORDER" record -q -o storage.dat "$top_builddir/examples/07_storage" 40
ok "report" "$RECORDER" report -t storage.dat
cp .out events
ok "--chrome" "$RECORDER" export --chrome -o chrome.json storage.dat
ok "--folded" "$RECORDER" export --folded -o folded storage.dat
ok "--ctf" "$RECORDER" export --ctf -o storage.ctf storage.dat
ok "babeltrace2 reads it" babeltrace2 --clock-cycles storage.ctf
cp .out ctf

while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view python3 -B "$top_srcdir/tests/export/formats.py" "$TMP" 2>&1 ||
	echo "not ok all formats are compared")

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view: texts of a recording remain text: random ones in fields, names of threads and messages,
# and names of events and of the file itself.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
# shellcheck disable=SC2086
$CC $CFLAGS_FOR_TEST -o "$TMP/shout" "$top_srcdir/tests/view/shout.c" $LDADD_FOR_TEST -lpthread || exit 99
cd "$TMP" || exit 1

seed=${RECORDER_SEED-1}
repeat_by "RECORDER_SEED=$seed"
python3 -B "$top_srcdir/tests/view/hostile.py" make "$seed" "${RECORDER_TEXTS-150}" >texts

# shown NAME FILE: the page of FILE in a browser
shown()
{
	local line

	ok "$1: view" "$RECORDER" view -o page.html "$2"
	while IFS= read -r line; do
		case $line in
		"ok "*) pass "$1: ${line#ok }" ;;
		"not ok "*) fail "$1: ${line#not ok }" ;;
		*) diag "$line" ;;
		esac
	done < <(PYTHONPATH=$top_srcdir/tests/view timeout 500 python3 -B "$top_srcdir/tests/view/hostile.py" show texts "$TMP/page.html" 2>&1 || echo "not ok it ends")
}

file='<img src=x onerror=window.hacked=1>"&.dat'
run "$RECORDER" record -q -o "$file" ./shout <texts
is "a recording" "$status" 0
shown "texts of a program" "$file"
like "the page states which script may run" "$(<page.html)" "script-src 'sha256-[A-Za-z0-9+/]{43}='; style-src 'sha256-"
unlike "and no text of the recording stands in it" "$(<page.html)" 'window\.hacked'

# The new text has the same length, so that the file stays valid.
sed 's/shout/<b>"\&/g' "$file" >names.dat
shown "names of events" names.dat

done_testing

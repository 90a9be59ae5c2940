#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view: the page in a browser, with the events of a program and, where the kernel can be traced, the kernel's. The
# page's numbers are those of recorder report.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
# shellcheck disable=SC2086
$CC $CFLAGS_FOR_TEST -o "$TMP/story" "$top_srcdir/tests/view/story.c" $LDADD_FOR_TEST -lpthread || exit 99
cd "$TMP" || exit 1

# in_browser NAME: drives the page of NAME.dat
in_browser()
{
	local line

	ok "$1: view" "$RECORDER" view "$1.dat"
	is "$1: it prints nothing" "$out$err" ""
	"$RECORDER" report -t "$1.dat" >"$1.txt"
	mkdir -p "$1"
	while IFS= read -r line; do
		case $line in
		"ok "*) pass "$1: ${line#ok }" ;;
		"not ok "*) fail "$1: ${line#not ok }" ;;
		*) diag "$line" ;;
		esac
	done < <(PYTHONPATH=$top_srcdir/tests/view timeout 500 python3 -B "$top_srcdir/tests/view/page.py" "$1.txt" "$TMP/$1.html" "$1" 2>&1 || echo "not ok it ends")
}

ok "a recording" "$RECORDER" record -q -o program.dat ./story
in_browser program

if can_trace; then
	ok "a recording with the kernel's events" "$RECORDER" record -q -o both.dat -e sched_switch -e sched_waking ./story
	in_browser both
	[ -z "${VIEW_PICTURES-}" ] || cp -r program both "$VIEW_PICTURES"
else
	skip "a recording with the kernel's events" "only root may trace the kernel"
fi

# ---- files

fails "a file that does not exist" "$RECORDER" view nothing.dat
like "is named" "$err" 'nothing\.dat: .*No such file'
is "no page is made" "$(ls nothing.html 2>/dev/null)" ""
fails "a page that cannot be written" "$RECORDER" view -o /nonexistent/x.html program.dat
like "is named" "$err" '/nonexistent/x\.html'
cp program.dat bare
ok "a name without an ending" "$RECORDER" view bare
ok "makes a page" test -s bare.html
printf '<HTML' >kept.html
head -c 20000 program.dat >cut.dat
"$RECORDER" view -o kept.html cut.dat 2>/dev/null
ok "a damaged file does not harm the page that was there, or gives a whole one" grep -qE '^<HTML$|^</html>$' kept.html

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view: every kind of trace.dat becomes a page with as many events as recorder report prints, and one that is damaged
# is reported.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
mkdat=$top_builddir/tests/golden/mkdat
cd "$TMP" || exit 1

pages=()
for name in $("$mkdat"); do
	"$mkdat" "$name" >"$name.dat"
	run "$RECORDER" view "$name.dat"
	is "$name: view" "$status$out$err" 0
	# report prints a line for each event, a first line, and losses.
	events=$("$RECORDER" report -R "$name.dat" 2>/dev/null | grep -cvE '^cpus=|EVENTS DROPPED\]$')
	pages+=("$TMP/$name.html" "$events")
done
ok "there are files" test ${#pages[@]} -gt 40
while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view timeout 400 python3 -B "$top_srcdir/tests/view/files.py" "${pages[@]}" 2>&1 || echo "not ok it ends")

# The last page is changed so that it claims more bytes than a page has.
size=$(stat -c %s v6-plain.dat)
cp v6-plain.dat hurt.dat
printf '\377\377\17\0' | dd of=hurt.dat bs=1 seek=$((size - 4096 + 8)) conv=notrunc status=none
run "$RECORDER" report hurt.dat
is "report finds that a page is damaged" "$status" 1
damage=$err
run "$RECORDER" view hurt.dat
is "view fails, too" "$status" 1
is "and prints what report prints" "${err#recorder view: }" "${damage#recorder report: }"
ok "the page is there" test -s hurt.html

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder view: rows of every kind, drawn where they belong: spans, tasks, spans by key, states, counters, flows.

. "$top_srcdir/tests/tap.sh"

command -v chromium >/dev/null || skip_all "chromium is not installed"
"$top_builddir/tests/view/gallery" >"$TMP/gallery.html" 2>"$TMP/gallery.txt" || exit 99
mkdir "$TMP/pictures"
look=""
while IFS= read -r line; do
	case $line in
	"ok "*) pass "${line#ok }" ;;
	"not ok "*) fail "${line#not ok }" ;;
	"look "*) look=${line#look } ;;
	*) diag "$line" ;;
	esac
done < <(PYTHONPATH=$top_srcdir/tests/view timeout 400 python3 -B "$top_srcdir/tests/view/gallery.py" "$TMP/gallery.html" "$TMP/gallery.txt" "$TMP/pictures" 2>&1 || echo "not ok it ends")
# If not: docs/pictures/make.sh.
if command -v identify >/dev/null; then
	is "README's picture of a page looks as the page does now" "$(identify -format '%[drawn-by]' "$top_srcdir/docs/pictures/view.png")" "$look"
else
	skip "README's picture of a page" "imagemagick is not installed"
fi
[ -z "${VIEW_PICTURES-}" ] || cp "$TMP"/pictures/* "$VIEW_PICTURES"

done_testing

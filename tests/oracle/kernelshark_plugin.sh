#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The plugin for KernelShark draws the spans and counters that recorder sql finds; and a picture of the window shows
# them at their times.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/peer.sh"

plugin=$top_builddir/.libs/plugin-recorder.so
marks=$top_builddir/tests/oracle/kshark_marks
picture=$top_builddir/tests/oracle/kernelshark-plugin.png
[ -e "$plugin" ] || skip_all "libkshark is not installed, or the build has no shared libraries"
# shellcheck disable=SC2086
$CC $CFLAGS_FOR_TEST -o "$TMP/bars" "$top_srcdir/tests/oracle/bars.c" $LDADD_FOR_TEST -lpthread || exit 99
cd "$TMP" || exit 1

# compare NAME: bars and values of NAME.dat against the tables
compare()
{
	ok "$1: what is drawn" "$marks" "$1.dat"
	cp .out "$1.marks"
	"$RECORDER" sql --csv "$1.dat" "select tid, ts, ts + dur, system || ':' || name, replace(state, ' ', '_') from spans" 2>/dev/null | tail -n +2 | tr -d '\r' | tr , ' ' |
		sort >expected
	awk '$1 == "bar" { print $2, $4, $5, $6, $7 }' "$1.marks" | sort >got
	ok "$1: the spans of recorder sql" diff expected got
	ok "$1: some" test -s got
	"$RECORDER" sql --csv "$1.dat" "select ts, system || ':' || name, value from counters" 2>/dev/null | tail -n +2 | tr -d '\r' | tr , ' ' |
		sort >expected
	awk '$1 == "value" { print $3, $4, $5 }' "$1.marks" | sort >got
	ok "$1: its counters" diff expected got
	is "$1: no two of a line overlap" "$(awk '$1 == "bar" { if ($4 < end[$2 " " $3]) n++; end[$2 " " $3] = $5 } END { print n + 0 }' \
		"$1.marks")" 0
}

ok "bars: a recording" "$RECORDER" record -q -o bars.dat ./bars
compare bars
ok "storage: a recording" "$RECORDER" record -q -o storage.dat "$top_builddir/examples/07_storage"
compare storage
# shellcheck disable=SC2086
ok "compile spans that are not whole" $CC -D_GNU_SOURCE $CFLAGS_FOR_TEST -pthread -o meaning "$top_srcdir/tests/export/meaning.c" $LDADD_FOR_TEST
ok "meaning: a recording" "$RECORDER" record -q -o meaning.dat ./meaning
compare meaning
is "meaning: spans that are cut, open, or have no begin" \
	"$(awk '$1 == "bar" && $7 != "whole" { print $6, $7 }' meaning.marks | sort | paste -s -d ';')" \
	"io:request open;io:step cut;io:step no_begin;net:rpc no_begin"
ok "deep: a recording" "$RECORDER" record -q -o deep.dat ./bars deep
ok "deep: what is drawn" "$marks" deep.dat
is "deep: the number of spans that were given up is that of report --spans" "$(sed -n 's/^given_up //p' .out)" \
	"$("$RECORDER" report --spans deep.dat 2>&1 >/dev/null | sed -n 's/.*the ends of \([0-9]*\) spans.*/\1/p')"
like "deep: and there is one" "$out" 'given_up [0-9]'
fails "an invalid file" "$marks" bars
like "is named" "$err" '^kshark_marks: bars: .'

tid=$(awk '{ print $2; exit }' bars.marks)
pixels()
{
	convert "$1" -crop x220+0+0 +repage txt:-
}

window_attempt()
{
	local line

	if ! ok "the window with the plugin" bash "$top_srcdir/tests/oracle/screenshot.sh" -p "$plugin" bars.dat "$picture" --pid "$tid"; then
		[ "$status" != 3 ] || peer_fault=$(head -n 1 <<<"$err")
		return
	fi
	unlike "it is loaded" "$out" 'plugin-recorder.so not found|plugin "recorder"'
	pixels "$picture" >pixels
	while IFS= read -r line; do
		case $line in
		"ok "*) pass "${line#ok }" ;;
		"not ok "*) fail "${line#not ok }" ;;
		*) diag "$line" ;;
		esac
	done < <(python3 -B "$top_srcdir/tests/oracle/bars.py" bars.marks pixels 2>&1 || echo "not ok the pixels are compared")
}
beside_peer "the window" window_attempt

bare_attempt()
{
	if ! ok "the window without it" bash "$top_srcdir/tests/oracle/screenshot.sh" bars.dat bare.png --pid "$tid"; then
		[ "$status" != 3 ] || peer_fault=$(head -n 1 <<<"$err")
		return
	fi
	is "has no bars" "$(pixels bare.png | grep -c "#$(awk '{ print $NF; exit }' bars.marks)")" 0
}
beside_peer "the window without it" bare_attempt

# If not: docs/pictures/make.sh.
for name in packer kernel; do
	is "README's picture $name.png is of this plugin" "$(identify -format '%[drawn-by]' "$top_srcdir/docs/pictures/$name.png")" \
		"$(bash "$top_srcdir/tests/oracle/plugin_look.sh" "$top_srcdir")"
done

done_testing

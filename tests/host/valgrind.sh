#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Programs under valgrind: memcheck reports nothing, and every event is there.

. "$top_srcdir/tests/tap.sh"

command -v valgrind >/dev/null || skip_all "valgrind is not installed"
cd "$TMP" || exit 1

check=(valgrind -q --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,indirect,possible)

# works NAME PATTERN NUMBER COMMAND...: without a message, with NUMBER events.
works()
{
	local name=$1 pattern=$2 number=$3

	shift 3
	ok "$name" "$RECORDER" record -q -o file.dat -- "${check[@]}" "$@"
	is "without a message" "$(cat "$TMP/.err")" ""
	is "with all its events" "$("$RECORDER" report file.dat | grep -c -E " $pattern: ")" "$number"
}

# Two threads and a child, 40 events of one kind and 10 of another each.
works "threads and a fork" '(number|bprint)' 150 "$top_builddir/tests/programs/guest" plain 40
for example in 01_first_event 03_printf 04_fields; do
	ok "$example without valgrind" "$RECORDER" record -q -o plain.dat -- "$top_builddir/examples/$example"
	"$RECORDER" report plain.dat >plain.txt
	number=$(grep -c -E '^ .*\[[0-9]+\]' plain.txt)
	ok "it has events" test "$number" -gt 0
	works "$example" '[a-z_]+' "$number" "$top_builddir/examples/$example"
done
ok "02_flight_recorder" "${check[@]}" "$top_builddir/examples/02_flight_recorder"
is "without a message" "$(cat "$TMP/.err")" ""

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What is different on a terminal: control characters are escaped there, and nowhere else.

. "$top_srcdir/tests/tap.sh"

command -v script >/dev/null || skip_all "script is not installed"
cd "$TMP" || exit 1

# on_terminal COMMAND...: its output on a terminal, without what the terminal does to line feeds; $status is the command's.
on_terminal()
{
	status=0
	script -qec "$(printf '%q ' "$@")" /dev/null </dev/null >"$TMP/.typescript" || status=$?
	out=$(tr -d '\r' <"$TMP/.typescript")
}

cat >strings.c <<'END'
#include <librecorder/event.h>
#include <unistd.h>
REC_EVENT(term, text, string(words), string(more));
int main(void)
{
	char byte;

	REC(term, text, "red\033[31m", "line\nfeed\ttab");
	REC(term, text, "Gr\303\274\303\237e", "\342\202\254\302\23331m\377");
	rec_printf("printed %s", "\033]0;title\a");
	return read(0, &byte, 1) < 0;
}
END
# shellcheck disable=SC2086
ok "compile" $CC $CFLAGS_FOR_TEST -o strings strings.c $LDADD_FOR_TEST
ok "record" "$RECORDER" record -o strings.dat ./strings </dev/null

# ---- report

"$RECORDER" report strings.dat >piped
ok "piped: the strings are as they are" grep -qF $'red\033[31m' piped
ok "piped: line feeds, too" grep -qF $'feed\ttab' piped
on_terminal "$RECORDER" report strings.dat
is "status on a terminal" "$status" 0
escaped=$out
like "an escape character is shown" "$out" 'red\\033\[31m'
like "line feed and tab are shown" "$out" 'line\\nfeed\\ttab'
like "UTF-8 stays" "$out" 'Grüße'
like "control characters of 8 bits and invalid bytes are shown" "$out" '€\\302\\23331m\\377'
like "those of a printf, too" "$out" 'printed \\033\]0;title\\a'
is "each event is one line" "$(grep -c -E ' (text|bprint): ' <<<"$out")/$(wc -l <<<"$out")" 3/4
is "no control character is left" "$(tr -d '\n' <<<"$out" | tr -cd '\000-\037\177')" ""
on_terminal "$RECORDER" report --raw-strings strings.dat
# script's terminal expands nothing but line feeds.
is "--raw-strings: as piped" "$out" "$(cat piped)"
is "--raw-strings piped: the same" "$("$RECORDER" report --raw-strings strings.dat)" "$(cat piped)"
unlike "the escapes differ from that" "$escaped" $'\033'

# ---- pages

mkfifo hold
RECORDER_ENABLE='term:*' ./strings <hold &
program=$!
exec {hold}>hold
has_events()
{
	"$RECORDER" pages -P "$program" | grep -q more=
}
wait_until has_events || exit 1
on_terminal "$RECORDER" pages -P "$program"
like "pages escapes" "$out" 'red\\033\[31m.*line\\nfeed'
unlike "pages: nothing else" "$out" $'\033'
like "piped: pages does not" "$("$RECORDER" pages -P "$program")" $'red\033\\[31m'
exec {hold}>&-
wait "$program"

done_testing

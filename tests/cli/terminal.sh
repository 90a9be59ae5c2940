#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Differences on a terminal only: control characters are escaped; there are colours and a pager.

. "$top_srcdir/tests/tap.sh"

command -v script >/dev/null || skip_all "script is not installed"
cd "$TMP" || exit 1
export PAGER=cat TERM=xterm
unset NO_COLOR LESS

# The text without its colours.
plain()
{
	sed 's/\x1b\[[0-9]*m//g'
}

# on_terminal COMMAND...: its output on a terminal, without what the terminal does to line feeds; $status is the command's.
on_terminal()
{
	status=0
	# %q quotes for bash.
	SHELL=$BASH script -qec "$(printf '%q ' "$@")" /dev/null </dev/null >"$TMP/.typescript" || status=$?
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
on_terminal "$RECORDER" report --color=never strings.dat
is "status on a terminal" "$status" 0
escaped=$out
like "an escape character is shown" "$out" 'red\\033\[31m'
like "line feed and tab are shown" "$out" 'line\\nfeed\\ttab'
like "UTF-8 stays" "$out" 'Grüße'
like "control characters of 8 bits and invalid bytes are shown" "$out" '€\\302\\23331m\\377'
like "those of a printf, too" "$out" 'printed \\033\]0;title\\a'
is "each event is one line" "$(grep -c -E ' (text|bprint): ' <<<"$out")/$(wc -l <<<"$out")" 3/4
is "no control character is left" "$(tr -d '\n' <<<"$out" | tr -cd '\000-\037\177')" ""
on_terminal "$RECORDER" report --raw-strings --color never strings.dat
# script's terminal expands only line feeds.
is "--raw-strings: as piped" "$out" "$(cat piped)"
is "--raw-strings piped: the same" "$("$RECORDER" report --raw-strings strings.dat)" "$(cat piped)"
unlike "the escapes differ from that" "$escaped" $'\033'

# ---- CSV: one event a line, also if a string has line feeds

"$RECORDER" report --csv -F term strings.dat >csv
ok "piped: as it is, in quotes because of the line feed" grep -qF $',red\033[31m,"line' csv
on_terminal "$RECORDER" report --csv -F term strings.dat
like "CSV on a terminal: an escape character is shown, the quotes are those of the file" "$out" 'red\\033\[31m,"line\\nfeed\\ttab"'
like "and so are other control characters, not UTF-8" "$out" ',Grüße,€\\302\\23331m\\377$'
is "each event is one line" "$(wc -l <<<"$out")" 3
is "no control character is left" "$(tr -d '\n' <<<"$out" | tr -cd '\000-\037\177')" ""
on_terminal "$RECORDER" report --csv --raw-strings -F term strings.dat
is "--raw-strings: as piped" "$out" "$(cat csv)"
on_terminal "$RECORDER" sql --csv strings.dat "SELECT words || '\"', more FROM text"
is "rows of sql, too" "$out" $'"words || \'\"\"\'",more\n"red\\033[31m""","line\\nfeed\\ttab"\n"Grüße""",€\\302\\23331m\\377'
is "and piped they are as in the file" "$("$RECORDER" sql --csv strings.dat "SELECT words, more FROM text" | tr -d '\r')" \
	$'words,more\nred\033[31m,"line\nfeed\ttab"\nGr\303\274\303\237e,\342\202\254\302\23331m\377'

# ---- JSON: as piped, because its readers understand the escapes

on_terminal "$RECORDER" report --json -F term strings.dat
like "JSON on a terminal: control characters are escaped, UTF-8 stays" "$out" '"Grüße","more":"€\\u009b31m\\\\xff"'
is "piped: the same" "$("$RECORDER" report --json -F term strings.dat)" "$out"
on_terminal "$RECORDER" sql --json strings.dat "SELECT words, more || char(127) AS more FROM text"
like "objects of sql, too" "$out" '"Grüße","more":"€\\u009b31m\\\\xff\\u007f"'

# ---- names of programs and files: UTF-8 stays, control characters are question marks, also those of 8 bits

cp strings $'Gr\303\274\303\237e\033\302\23331m\2331m'
mkfifo hold
exec 9<>hold
RECORDER_ENABLE='*' $'./Gr\303\274\303\237e\033\302\23331m\2331m' <hold &
hostile=$!
is_listed()
{
	"$RECORDER" ps 2>/dev/null | grep -q started
}
ok "a program with such a name runs" wait_until is_listed
for command in "ps" "list -P $hostile" "stat -P $hostile" "enable -P $hostile term:*"; do
	# shellcheck disable=SC2086
	on_terminal "$RECORDER" $command
	like "$command: the name is shown" "$(plain <<<"$out")" 'Grüße\?\?\?31m\?1m'
done
cp strings $'Gr\303\274\303\237e\033[31m'
on_terminal "$RECORDER" list $'./Gr\303\274\303\237e\033[31m'
like "list FILE: on a terminal, its name with escapes" "$(plain <<<"$out")" '^\./Grüße\\033\[31m'
is "list FILE, piped: its name as it is" "$("$RECORDER" list $'./Gr\303\274\303\237e\033[31m' | head -n 1)" $'./Gr\303\274\303\237e\033[31m'
fails "a message names a file" "$RECORDER" report $'no\302\23331m'
is "and so does it" "$err" "recorder report: no??31m: cannot open: No such file or directory"
echo >&9
wait $hostile
exec 9>&-

# ---- leftovers, which may be those of other users: names of files with control characters, and one of two lines

# is_escaped OPTION...: what is printed has an escaped control character, and none that is not
is_escaped()
{
	on_terminal "$RECORDER" "$@"
	is "$*: no control character" "$(tr -d '\n\t' <<<"$out" | tr -cd '\000-\037\177')" ""
	like "$*: but its escape" "$out" '\\(033|233)'
}

touch -d '1 hour ago' "$RECORDER_DIR"/$'7777777-7-\033]0;title\a.rec'
is_escaped clean -n
is_escaped recover
touch -d '1 hour ago' "$RECORDER_DIR"/$'7777777-8-\n4711 row.rec'
for command in "clean -n" recover; do
	# shellcheck disable=SC2086
	run "$RECORDER" $command
	like "$command, piped: a name with a line feed is on one line" "$out" '7777777-8-\\n4711 row\.rec'
	unlike "which is the only one" "$out" $'\n4711'
done
rm "$RECORDER_DIR"/7777777-*

# ---- lists and parts of a file: names and texts in a file may contain any byte

python3 - "$top_builddir/tests/golden/mkdat" <<'END'
import subprocess, sys
data = subprocess.run([sys.argv[1], "v7-instances"], stdout=subprocess.PIPE, check=True).stdout
for plain, hostile in ((b"Linux test", b"Linux \x1b[1m"), (b"a test\0", b"\x1b]0;a\a\0"), (b"alpha\0", b"\x1b[31m\0"),
                       (b"do_one", b"\x1b[31mX"), (b"x=%d s", b"\x1b[1m s"), (b"\0io\0", b"\0\x1bc\0"), (b"worker", b"\x1b[31mw"), (b"\"zero\"", b"\"\x1b[1m\""),
                       (b"type_len    :", b"type_len \x1b[1m"), (b"overrun: 0", b"\x1b[31mun: 0"), (b"test\0\4", b"\x9b31m\0\4")):
    changed = data.replace(plain, hostile)
    if changed == data or len(changed) != len(data):
        print("not in the file:", plain)
    data = changed
open("hostile.dat", "wb").write(data)
END
for list in --uname --version --stat --events -E -f -P; do
	is_escaped report "$list" hostile.dat
done

# If an event has the name of a table, the name of the event's own table contains the event's system.
cat >taken.c <<'END'
#include <librecorder/event.h>
REC_EVENT(hostile, spans, u64(n));
int main(void)
{
	REC(hostile, spans, 1);
	return 0;
}
END
# shellcheck disable=SC2086
ok "a system that is hostile: compile" $CC $CFLAGS_FOR_TEST -o taken taken.c $LDADD_FOR_TEST
ok "record" "$RECORDER" record -q --compression none -o plain.dat ./taken
ok "its name" python3 -c '
data = open("plain.dat", "rb").read()
assert b"hostile\0" in data
open("taken.dat", "wb").write(data.replace(b"hostile\0", b"\x1b]0;xy\a\0"))'
is_escaped sql taken.dat .tables
is_escaped sql taken.dat .schema
like "piped: the name as it is" "$("$RECORDER" sql taken.dat .tables)" $'\033\\]0;xy\a_spans'

for part in head-event systems events kallsyms printk cmd-lines flyrecord; do
	is_escaped dump --color never "--$part" hostile.dat
done
is_escaped dump --color never --pages hostile.dat
# Messages of libtraceevent about formats quote names of the file.
"$top_builddir/tests/golden/mkdat" v7-unknown | LC_ALL=C sed 's/test\x00/\x1b[1m\x00/g' >unknown.dat
is_escaped report --color never -V6 unknown.dat
like "a message of the library is among this" "$out" '\[\\033\[1m:bad\] function no_such_call not defined'
is "piped: as in the file" "$("$RECORDER" report --uname hostile.dat | tr -cd '\033')" $'\033\033'

# ---- colours

"$RECORDER" report --color=always strings.dat >colored
ok "--color=always colours what is piped" grep -q $'\033\\[36m text:' colored
is "and changes nothing else" "$(sed 's/\x1b\[\(32\|36\|0\)m//g' colored)" "$(cat piped)"
on_terminal "$RECORDER" report strings.dat
like "a terminal has colours" "$out" $'\033\\[36m text:'
is "the text is that without colours" "$(plain <<<"$out")" "$escaped"
NO_COLOR=1 on_terminal "$RECORDER" report strings.dat
is "NO_COLOR" "$out" "$escaped"
NO_COLOR='' on_terminal "$RECORDER" report strings.dat
like "an empty NO_COLOR does not count" "$out" $'\033\\[36m text:'
TERM=dumb on_terminal "$RECORDER" report strings.dat
is "TERM=dumb" "$out" "$escaped"
NO_COLOR=1 on_terminal "$RECORDER" report --color always strings.dat
like "the option is stronger than NO_COLOR" "$out" $'\033\\[36m text:'
fails "another word" "$RECORDER" report --color=sometimes strings.dat
is "status" "$status" 2

# ---- pager

PAGER="sed 's/^/paged: /'" on_terminal "$RECORDER" report --color never strings.dat
is "the pager gets the whole report" "$out" "$(sed 's/^/paged: /' <<<"$escaped")"
is "the status with a pager" "$status" 0
PAGER="sed 's/^/paged: /'" on_terminal "$RECORDER" sql --csv strings.dat "SELECT words FROM text"
like "it gets CSV with escapes, too" "$out" $'\npaged: red\\\\033\\[31m\n'
PAGER="sed 's/^/paged: /'" on_terminal "$RECORDER" report no.dat
is "the status of a failure with a pager" "$status" 1
unlike "a failure before the output needs no pager" "$out" "paged"
is "a pipe has no pager" "$(PAGER="sed 's/^/paged: /'" "$RECORDER" report strings.dat)" "$(cat piped)"
PAGER='' on_terminal "$RECORDER" report --color never strings.dat
is "an empty PAGER means no pager" "$out" "$escaped"
PAGER=no-such-pager on_terminal "$RECORDER" report strings.dat
is "a pager that does not exist is a failure" "$status" 1
like "with a reason" "$out" "recorder: cannot run the pager 'no-such-pager'"

# The end of the file is cut off: the command waits for the pager, and has the same status as without one.
head -c -3000 strings.dat >cut.dat
run "$RECORDER" report cut.dat
piped_status=$status
PAGER="sed 's/^/paged: /'" on_terminal "$RECORDER" report cut.dat
is "the status of a damaged file with a pager" "$status" 1
is "and without" "$piped_status" 1

# A pager that is quit at once, from a report that is larger than a pipe.
cat >many.c <<'END'
#include <librecorder/event.h>
REC_EVENT(term, many, s32(i));
int main(void)
{
	for (int i = 0; i < 20000; i++)
		REC(term, many, i);
	return 0;
}
END
# shellcheck disable=SC2086
ok "compile the other" $CC $CFLAGS_FOR_TEST -o many many.c $LDADD_FOR_TEST
ok "record it" "$RECORDER" record -o many.dat ./many
PAGER='head -n 2 >seen' on_terminal "$RECORDER" report many.dat
is "a pager that was quit: no failure" "$status" 0
is "and nothing is reported" "$out" ""
is "it has shown what it took" "$(head -n 1 seen)" "cpus=$(nproc --all)"
# The status of assert is an answer. Its pager ends before the first of many lines.
expressions=()
for ((i = 0; i < 100; i++)); do
	expressions+=("lost == 1 && $i < $i")
done
PAGER='head -n 1 >seen; :' on_terminal "$RECORDER" assert many.dat "${expressions[@]}" --junit report.xml
is "assert, and a pager that was quit" "$status $(tail -n 1 report.xml)" "1 </testsuite>"
PAGER=true on_terminal "$RECORDER" assert strings.dat "${expressions[@]}" --junit report.xml
is "assert, and a pager that ends at once" "$status $(tail -n 1 report.xml)" "1 </testsuite>"
PAGER=true on_terminal "$RECORDER" diff strings.dat many.dat
is "diff, and a pager that ends at once" "$status" 1
ok "head in a pipe: no failure" bash -o pipefail -c '"$0" report many.dat | head -n 1' "$RECORDER"
is "and nothing is reported about it" "$err" ""

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

# ---- commands that show programs, and the structure of a file

for command in "ps -P $program" "list $program" "stat -P $program" "dump strings.dat"; do
	# shellcheck disable=SC2086
	on_terminal "$RECORDER" $command
	is "$command: status" "$status" 0
	like "$command has colours" "$out" $'\033\\[1m'
	# Only the times differ, because time passes between the two runs.
	# shellcheck disable=SC2086
	is "$command: the text is that of a pipe" "$(plain <<<"$out" | grep -v '^now ts\|^oldest event: ')" \
		"$("$RECORDER" $command | grep -v '^now ts\|^oldest event: ')"
	# shellcheck disable=SC2086
	PAGER="sed 's/^/paged: /'" on_terminal "$RECORDER" $command
	is "$command: all lines go to the pager" "$(grep -vc '^paged: ' <<<"$out") $(($(grep -c '^paged: ' <<<"$out") > 0))" "0 1"
	# shellcheck disable=SC2086
	on_terminal "$RECORDER" $command --color=never
	like "$command --color=never" "$status $out" '^0 .'
	unlike "$command --color=never: no colours" "$out" $'\033'
done
exec {hold}>&-
wait "$program"

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The files that commands write: none replaces the file that its command reads, and each is complete or not written.

. "$top_srcdir/tests/tap.sh"
cd "$TMP" || exit 1

ok "a recording" "$RECORDER" record -q -o trace.dat "$top_builddir/tests/programs/producer" 1 10
cp trace.dat saved.dat
ln -s trace.dat link.dat

# kept NAME COMMAND...: a command that is to replace the recording by its output refuses it
kept()
{
	local name=$1

	shift
	run "$@"
	is "$name: status" "$status" 2
	like "$name: message" "$err" "is the file that is read; it is not replaced: name another output"
	ok "$name: the recording is kept" cmp trace.dat saved.dat
}

kept "verify" "$RECORDER" verify --json trace.dat
kept "verify, by another name" "$RECORDER" verify --json link.dat ./trace.dat
ok "verify: a summary" "$RECORDER" verify --json summary
mv summary before
ok "verify: again" "$RECORDER" verify --json summary
ok "verify: the same" cmp before summary
# The name leads to the file that standard output is: the text comes first.
"$RECORDER" verify --json /dev/stdout trace.dat >both
is "verify: the text and the summary" "$(tail -n 1 both)" "$(<summary)"
like "verify: the text is there" "$(head -n 1 both)" "could not be checked"
is "verify: a pipe" "$("$RECORDER" verify --json /dev/stdout trace.dat | tail -n 1)" "$(<summary)"
ok "verify: a device" "$RECORDER" verify --json /dev/null trace.dat
fails "verify: a full device" "$RECORDER" verify --json /dev/full trace.dat
like "verify: a full device: message" "$err" "cannot write '/dev/full': No space left on device"
# A limit of size that an empty file satisfies stands for a full disk.
fails "verify: no room" bash -c 'trap "" XFSZ; ulimit -f 0; exec "$@" >/dev/null' - "$RECORDER" verify --json summary
ok "verify: the summary that exists is kept" cmp before summary

kept "assert" "$RECORDER" assert trace.dat 'lost == 0' --junit trace.dat
kept "assert, by another name" "$RECORDER" assert 'lost == 0' --junit link.dat
ok "assert: a report" "$RECORDER" assert 'lost == 0' --junit report
cp report before
like "assert: a pipe" "$("$RECORDER" assert 'lost == 0' --junit /dev/stdout | tail -n 1)" "^</testsuite>$"
fails "assert: no room" bash -c 'trap "" XFSZ; ulimit -f 0; exec "$@" >/dev/null' - \
	"$RECORDER" assert 'lost == 0' --junit report
ok "assert: the report that exists is kept" cmp before report

kept "view" "$RECORDER" view -o trace.dat
kept "view, by another name" "$RECORDER" view trace.dat -o link.dat
kept "export" "$RECORDER" export --folded -o trace.dat
kept "export, by another name" "$RECORDER" export --perfetto link.dat -o ./trace.dat

# The name of a device or a pipe: the output could not appear there whole.
mkfifo pipe
ln -s /dev/null piece.1
while read -r output command; do
	# shellcheck disable=SC2086
	fails "${command%% *}: not a regular file" "$RECORDER" $command
	like "${command%% *}: message" "$err" "$output.*: it is not a regular file$"
done <<'END'
/dev/null convert -i trace.dat -o /dev/null
pipe merge trace.dat saved.dat -o pipe
/dev/null view -o /dev/null
pipe export --folded -o pipe
piece.1 split -i trace.dat -o piece -e 5
END

# These commands write files alone.
while read -r command; do
	# shellcheck disable=SC2086
	run "$RECORDER" $command
	is "$command: status" "$status" 2
	is "$command: message" "$err" \
		"recorder ${command%% *}: the output cannot be standard output: name a file, or ./- for a file of this name"
	is "$command: no file" "$out$(ls -d ./-* 2>/dev/null)" ""
done <<'END'
convert -i trace.dat -o -
convert -i trace.dat -
merge trace.dat saved.dat -o -
split -i trace.dat -o - -e 5
view -o -
END
ok "a file whose name is -" "$RECORDER" convert -i trace.dat -o ./-
ok "is written" test -s ./-
rm ./-

# SQLite has databases that are not files.
for name in :memory: 'file:x.db?mode=memory' "$TMP/x.db"; do
	ok "sql: save as $name" "$RECORDER" sql --save "$name" trace.dat
	ok "sql: $name is a file" test -s "./$name" -o -s "$name"
done
fails "sql: save without a name" "$RECORDER" sql --save '' trace.dat
like "sql: the message" "$err" "the name of a database is missing"
fails "sql: .save without a name" "$RECORDER" sql trace.dat .save
like "sql: the message, too" "$err" "the name of a database is missing"

done_testing

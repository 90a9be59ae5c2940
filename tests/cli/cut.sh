#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Commands that answer questions about a file, or draw it, on a file that was cut off. Each prints what it prints for a
# whole file with the remaining events, which recorder convert writes. Then it prints a line that names what is missing,
# and fails. tests/unit/test_cut_files.c shows that these events are the right ones.

. "$top_srcdir/tests/tap.sh"

extension=$top_builddir/.libs/librecorder-sql.so
cd "$TMP" || exit 1
mkdir cut rest

cat >spans.c <<'END_C'
#include <librecorder/event.h>
#include <librecorder/span.h>
REC_SPAN(io, request, u64(id), end(s32(status)));
REC_EVENT(io, note, u32(n));
int main(void)
{
	for (unsigned int id = 0; id < 300; id++) {
		REC_BEGIN(io, request, id);
		REC(io, note, id);
		REC_END(io, request, 0);
	}
	return 0;
}
END_C
# shellcheck disable=SC2086
ok "a program with spans" $CC $CFLAGS_FOR_TEST spans.c $LDADD_FOR_TEST -o spans
ok "is recorded" "$RECORDER" record -q -u 'io:*' -o whole.dat ./spans
ok "as a file without compression" "$RECORDER" convert --compression none -i whole.dat -o plain.dat
# In a file of version 6 the events are at the end.
ok "whose end has events" "$RECORDER" convert --file-version 6 -i plain.dat -o six.dat
head -c $(($(stat -c %s six.dat) - 5000)) six.dat >cut/trace.dat
fails "the end is cut off" "$RECORDER" convert -i cut/trace.dat -o rest/trace.dat
left=$("$RECORDER" hist --json -e 'io:*' rest/trace.dat | sed -E 's/.*"hits":([0-9]+).*/\1/')
ok "some events are left, and some are not" test "$left" -gt 100 -a "$left" -lt 900

# same STATUS NAME ARGUMENT...: what a command prints about the cut file and about the rest, and what it writes to `output`
same()
{
	local wanted=$1 name=$2 command=$3 part bad=""

	shift 2
	for part in rest cut; do
		rm -rf output
		run env -C "$part" "$RECORDER" "$@"
		cp .out "$part.out"
		[ ! -e output ] || mv output "$part.output"
	done
	[ "$status" = "$wanted" ] || bad+=" status $status"
	cmp -s rest.out cut.out && { [ ! -e rest.output ] || diff -r rest.output cut.output >/dev/null; } || bad+=" different results"
	[ -s cut.out ] || [ -s cut.output ] || bad+=" no results"
	[ "$(grep -c 'trace\.dat: truncated: .*, the file ends at [0-9]*; the rest of the file was read$' .err)" = 1 ] || bad+=" no line"
	grep -vq "^recorder $command: " .err && bad+=" other lines"
	is "$name" "$bad" "" || tap_show_run "$RECORDER" "$@"
	rm -rf rest.output cut.output
}

same 1 "hist" hist -e io:note -k n
same 1 "hist of a value" hist -e io:note -v n --json
same 1 "latency" latency io:request
same 1 "latency of pairs" latency --json io:request_begin io:note
same 1 "why" why --span io:request --slowest 3 --json
same 1 "top" top
same 1 "profile" profile
same 2 "diff" diff ../plain.dat trace.dat
same 1 "assert" assert "count(io:note) > 10" --sql "SELECT * FROM note WHERE n > 1000"
same 1 "view" view -o ../output
same 1 "view --why" view --why io:request -o ../output
for format in perfetto chrome folded ctf; do
	same 1 "export --$format" export --$format -o ../output
done

# The commit field of a page is greater than the page.
mkdir both
cp cut/trace.dat both
at=$(($(stat -c %s cut/trace.dat) / 4096 * 4096 - 4096))
printf '\377\377' | dd of=both/trace.dat bs=1 seek=$((at + 8)) conv=notrunc 2>.err || exit 1
# both NAME ARGUMENT...: the command reports damage and the cut
both()
{
	local name=$1

	shift
	rm -rf output
	fails "$name" "$RECORDER" "$@"
	is "reports both" "$(grep -c ': damaged: ' .err) $(grep -c ': truncated: .* the rest of the file was read$' .err)" \
		"1 1" || tap_show_run "$RECORDER" "$@"
}
both "report of a file that is damaged and cut" report both/trace.dat
both "view" view both/trace.dat -o output
both "convert" convert -i both/trace.dat -o output
both "split" split -i both/trace.dat -o output
both "merge" merge -o output rest/trace.dat both/trace.dat
for format in perfetto chrome folded ctf; do
	both "export --$format" export --$format both/trace.dat -o output
done

fails "an assertion that does not fail" "$RECORDER" assert cut/trace.dat 'count(io:note) > 10' --junit junit.xml
like "the cut is an error for JUnit" "$(<junit.xml)" 'tests="2" failures="0" errors="1".* name="the trace is whole">[[:space:]]*<error message="truncated: '
fails "lost events" "$RECORDER" assert cut/trace.dat 'lost == 0'
like "cannot be excluded" "$out" '^FAILED: lost == 0'
fails "a cut file is not without changes" "$RECORDER" diff cut/trace.dat cut/trace.dat
is "the status" "$status" 2

# A format of a file of version 7 seems to be larger than its section: the high byte of its size changes.
ok "a file of version 7" "$RECORDER" convert --file-version 7 --compression none -i rest/trace.dat -o format.dat
at=$(grep -abo -m 1 'name: note$' format.dat | sed 's/:.*//')
printf '\177' | dd of=format.dat bs=1 seek=$((at - 2)) conv=notrunc status=none
fails "a format that lacks its text" "$RECORDER" merge format.dat rest/trace.dat -o merged.dat
like "is reported" "$err" "format.dat: damaged: the event format does not fit its section, .*; the rest of the file was read"

if [ ! -e "$extension" ]; then
	skip "the extension of SQLite" "the build has no shared libraries"
else
	# ask QUERY...: what the extension answers, or its error
	ask()
	{
		printf '%s;\n' ".load $extension" "$@" | sed '1s/;//' | sqlite3 2>&1 | sed -E 's/^.*: stepping, |^[A-Za-z ]*error near line [0-9]+: //'
	}
	like "the extension refuses it" "$(ask "SELECT recorder_open('cut/trace.dat')")" \
		"^cut/trace.dat: truncated: .*; recorder_open\(FILE, 'rest'\) reads the rest$"
	run ask "SELECT recorder_open('cut/trace.dat', 'rest')" "SELECT count(*) FROM events"
	like "or reports what is missing" "$out" '^cut/trace.dat: truncated: the CPU [0-9]+ data should end at [0-9]+, the file ends at [0-9]+'
	is "and reads the rest" "$(sed -n 2p .out)" "$left"
	is "a whole file has no such report" "$(ask "SELECT recorder_open('rest/trace.dat', 'rest')")" rest/trace.dat
	is "another word" "$(ask "SELECT recorder_open('rest/trace.dat', 'all')")" \
		"recorder_open: 'rest' expected after the file name, or nothing"
fi
done_testing

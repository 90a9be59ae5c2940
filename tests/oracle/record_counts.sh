#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Every event that was produced is in the file or counted as lost: in the summary, in the file, in trace-cmd's text.

. "$top_srcdir/tests/tap.sh"

programs=$top_builddir/tests/programs
cd "$TMP" || exit 1
command -v trace-cmd >/dev/null || skip_all "trace-cmd is not installed"

# check NAME PRODUCED FILE: compares record's summary ($err) with two readers of a file with test:count events.
check()
{
	local name=$1 produced=$2 file=$3 recorded lost

	recorded=$(events_in "$err")
	lost=$(lost_in "$err")
	is "$name: recorded + lost = produced" "$((recorded + lost))" "$produced"
	if [ "$lost" -gt 0 ]; then
		is "$name: the reasons add up" "$(sed -n 's/^  \([0-9]*\) .*(larger lanes: -b)$/\1/p' <<<"$err")" "$lost"
	fi
	trace-cmd report "$file" >text 2>warnings
	is "$name: trace-cmd reports no fault" "$(cat warnings)" ""
	ok "$name: something was recorded" test "${recorded:-0}" -gt 0
	is "$name: trace-cmd counts the events" "$(grep -c ' count: ' text)" "$recorded"
	is "$name: trace-cmd counts the losses" \
		"$(sed -n 's/.*\[\([0-9]*\) EVENTS DROPPED\].*/\1/p' text | awk '{ sum += $1 } END { print sum + 0 }')" "$lost"
	ok "$name: recorder report prints what trace-cmd prints" report_is_text "$file"
	# The events of each thread in the file are in order, without repetition.
	is "$name: numbers grow in each thread" "$(awk '{
		match($0, /-[0-9]+ /); tid = substr($0, RSTART, RLENGTH)
		n = $NF; sub(/number=/, "", n)
		if (tid in last && n + 0 <= last[tid]) bad++
		last[tid] = n + 0 } END { print bad + 0 }' <(grep ' count: ' text))" 0
}

report_is_text()
{
	"$RECORDER" report "$1" | cmp - text
}

ok "four threads, large lanes" "$RECORDER" record -b 65536 -o large.dat "$programs/producer" 4 50000
is "they produced" "$out" "produced 200000"
like "nothing is lost" "$err" "recorded 200000 events from 1 process, 4 threads; 0 lost"
check "large lanes" 200000 large.dat
rm -f large.dat

for mode in overwrite discard; do
	for version in 6 7; do
		ok "small lanes, $mode, version $version" "$RECORDER" record -b 64 --mode "$mode" --file-version "$version" \
			-o small.dat "$programs/producer" 4 20000
		check "small lanes, $mode, version $version" 80000 small.dat
	done
	ok "small lanes, $mode, raw" "$RECORDER" record -b 64 --mode "$mode" --raw -o raw.dat "$programs/producer" 4 20000
	check "small lanes, $mode, raw" 80000 raw.dat
done
ok "small lanes, large sub-buffers" "$RECORDER" record -b 1024 --subbuf-size 64 -o small.dat "$programs/producer" 4 20000
check "large sub-buffers" 80000 small.dat

export RECORDER_BUFFER_MAX_KB=1024
for how in '' --raw; do
	# shellcheck disable=SC2086
	ok "lanes that change all the time $how" "$RECORDER" record -b 256 $how -o changed.dat "$programs/changer" 4 25000
	is "it produced $how" "$out" "produced 100000"
	check "changing lanes $how" 100000 changed.dat
done
unset RECORDER_BUFFER_MAX_KB

for how in fork exec; do
	ok "three processes by $how" "$RECORDER" record -b 16384 -o "$how.dat" "$programs/producer" 2 20000 "$how" 3
	like "all of $how's events are there" "$err" "recorded 120000 events from 3 processes, 6 threads; 0 lost"
	check "$how" 120000 "$how.dat"
	is "$how: three processes of two threads with 20000 each" \
		"$(awk '/ count: / { match($0, /-[0-9]+ /); n[substr($0, RSTART, RLENGTH)]++ }
			END { for (t in n) if (n[t] == 20000) good++; print good + 0 }' text)" 6
done

# Many programs that come and go between two checks by the recorder, which finds each while the program makes its buffer
# or after its end.
# shellcheck disable=SC2016
ok "three hundred short programs" "$RECORDER" record -o many.dat sh -c \
	'i=0; while [ $i -lt 150 ]; do "$0" 1 10 & "$0" 1 10 >/dev/null; wait $!; i=$((i + 1)); done' "$programs/producer"
like "each is recorded whole" "$err" "recorded 3000 events from 300 processes, 300 threads; 0 lost"
is "no buffer was skipped" "$(wc -l <<<"$err")" 2

# A program with events of its own and in two shared libraries that share one declaration.
cat >shared.h <<'END'
#include <librecorder/event.h>
REC_EVENT(test, shared, string(from), u64(number));
END
for name in one two; do
	cat >"lib$name.c" <<END
#include "shared.h"
REC_EVENT(test, only_$name, u64(number));
void write_$name(unsigned long number);
void write_$name(unsigned long number)
{
	REC(test, shared, "$name", number);
	REC(test, only_$name, number);
}
END
	# shellcheck disable=SC2086
	ok "lib$name.so is built" $CC $CFLAGS_FOR_TEST -O2 -shared -fPIC "lib$name.c" -o "lib$name.so" \
		-L"$top_builddir/.libs" -lrecorder
done
cat >program.c <<'END'
#include "shared.h"
void write_one(unsigned long number);
void write_two(unsigned long number);
int main(void)
{
	for (unsigned long i = 0; i < 1000; i++) {
		REC(test, shared, "program", i);
		write_one(i);
		write_two(i);
	}
	return 7;
}
END
# shellcheck disable=SC2086
ok "a program with both is built" $CC $CFLAGS_FOR_TEST -O2 program.c -o program -L. -lone -ltwo -L"$top_builddir/.libs" -lrecorder \
	-Wl,-rpath,"$TMP" -Wl,-rpath,"$top_builddir/.libs"
run "$RECORDER" record -o libs.dat ./program
is "the program's status is record's" "$status" 7
like "all events of all libraries are there" "$err" "recorded 5000 events from 1 process, 1 thread; 0 lost"
trace-cmd report libs.dat >text 2>warnings
is "trace-cmd reports no fault in the libraries' events" "$(cat warnings)" ""
is "each library's events are there" \
	"$(grep -oE '(shared|only_one|only_two): +(from=[a-z]*)?' text | sed 's/: */ /' | sort | uniq -c | sed 's/^ *//')" \
	"$(printf '1000 only_one \n1000 only_two \n1000 shared from=one\n1000 shared from=program\n1000 shared from=two')"
is "the events of the libraries can be listed" "$("$RECORDER" list ./libone.so | sort)" \
	"$(printf '  test:only_one  u64(number)\n  test:shared    string(from), u64(number)\n./libone.so')"

done_testing

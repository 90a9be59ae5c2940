#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder snapshot: copies of what lanes hold, one after the other, also while the same program is being recorded.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/victim.sh"
cd "$TMP" || exit 1
export RECORDER_ENABLE='test:*' RECORDER_BUFFER_KB=256

# The number of lost events that a file reports.
lost()
{
	"$RECORDER" report "$1" | sed -n 's/.*\[\([0-9]*\) EVENTS DROPPED\].*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

begin count
wait_until has_written count 50000
before=$(written count)
# While the program waits, all that its lane holds can be copied.
kill -STOP "$pid"
ok "a snapshot" "$RECORDER" snapshot -P "$pid" -o one.dat
like "is reported" "$err" "copied [0-9]+ events from 1 process, 1 thread; [0-9]+ lost"
like "with the times of the report" "$err" \
	"  from $("$RECORDER" report one.dat | sed -n '/number=/{s/.* \([0-9]*\.[0-9]*\): seq.*/\1/p;q}') to [0-9]+\.[0-9]{6}, [0-9]+\.[0-9]{6} seconds"
read -r first last nr missing <<<"$(numbers one.dat)"
# The program counts an event after it has written it.
ok "it reaches to the moment it was asked for" test "$last" -ge $((before - 1))
is "without a gap" "$missing $(lost one.dat)" "0 0"
ok "a full lane is in it" test "$nr" -gt 5000
one=$last
ok "another" "$RECORDER" snapshot -P "$pid" -o again.dat
is "has the whole lane again" "$(numbers again.dat)" "$first $last $nr 0"
fails "one with --new" "$RECORDER" snapshot -P "$pid" --new -o again.dat
like "has nothing that another had" "$err" \
	"nothing was copied, 'again.dat' is unchanged: there is no event since the last snapshot"
is "and leaves the file as it is" "$(numbers again.dat)" "$first $last $nr 0"
kill -CONT "$pid"
go_on count 20000
ok "--new, while the program writes" "$RECORDER" snapshot -P victim --new -o two.dat
read -r first last nr _ <<<"$(numbers two.dat)"
ok "does not repeat it" test "$first" -gt "$one"
is "and reports what is missing in between" $((last - one - nr)) "$(lost two.dat)"
two=$last

# A snapshot while another reader reads the lane.
"$RECORDER" record -P "$pid" -o all.dat 2>err &
recorder=$!
wait_until has_size all.dat.spool 1000000
go_on count 20000
kill -STOP "$pid"
ok "during a recording" "$RECORDER" snapshot -P "$pid" --new -o three.dat
read -r first last nr _ <<<"$(numbers three.dat)"
ok "what was recorded already is in it" test "$nr" -gt 5000
ok "continued from the previous snapshot" test "$first" -gt "$two"
is "with a note of what is missing" $((last - two - nr)) "$(lost three.dat)"
kill -INT $recorder
wait $recorder
is "the recording ends normally" $? 0
read -r _ _ _ missing <<<"$(numbers all.dat)"
is "and reports every event that it lost" "$missing" "$(lost all.dat)"
end "$pid"
fails "a program that is gone" "$RECORDER" snapshot -P "$pid" -o gone.dat
like "is left to recover" "$err" "no running program '$pid' .*'recorder recover' saves what dead ones have left"

begin_to count1 1000
one=$pid
begin_to count2 2000
two=$pid
"$RECORDER" snapshot -q --new -P "$one" -o a.dat 2>a.err &
other=$!
run "$RECORDER" snapshot -q --new -P "$one" -o b.dat
status2=$status err2=$err
wait $other
status=$?
# One of them may begin after the other has ended.
nothing_new="nothing was copied, '[ab].dat' is not written: there is no event since the last snapshot$"
[ $status = 0 ] || like "the one has nothing that the other had" "$(<a.err)" "$nothing_new"
[ $status2 = 0 ] || like "the other has nothing that the one had" "$err2" "$nothing_new"
ok "two at a time" test $((status + status2)) -le 1
nr=0 last=0 nr2=0 last2=0
[ $status != 0 ] || read -r _ last nr _ <<<"$(numbers a.dat)"
[ $status2 != 0 ] || read -r _ last2 nr2 _ <<<"$(numbers b.dat)"
ok "and together have all events" test $((nr + nr2)) -ge 1000 -a $((last > last2 ? last : last2)) -eq 999
is "nothing lost" "$(for file in [ab].dat; do lost $file; done | sort -u)" 0
if [ "$(id -u)" -ne 0 ] || ! unshare -m true 2>/dev/null; then
	skip "a full disk" "only root can mount a small one"
else
	# shellcheck disable=SC2016
	run unshare -m "$BASH" -c 'mkdir -p small && mount -t tmpfs -o size=16k none small &&
		"$1" snapshot -P "$2" -o small/full.dat' full "$RECORDER" "$two"
	is "a full disk is a failure" "$status" 1
	like "is reported" "$err" "No space left on device"
fi
ok "two programs in one file" "$RECORDER" snapshot -P victim -o both.dat
like "are both reported" "$err" "copied 3000 events from 2 processes, 2 threads; 0 lost"
begin_to count3 3000
ok "and again" "$RECORDER" snapshot --raw --new -P victim -o both.dat
like "only what is new" "$err" "copied 3000 events from 1 process, 1 thread; 0 lost"
end "$one" "$two" "$pid"

# Lanes that are resized, dropped and swapped; new threads; and the end of the program during a snapshot.
RECORDER_BUFFER_KB=32 RECORDER_BUFFER_MAX_KB=512 "$top_builddir/tests/programs/changer" 3 1000000000000 &
pid=$!
wait_until eval '"$RECORDER" ps | grep -q changer'
nr=0 events=0
while :; do
	if "$RECORDER" snapshot --new -P "$pid" -o some.$nr.dat 2>err; then
		events=$((events + $(events_in "$(<err)")))
		nr=$((nr + 1))
	else
		# The program may have had no CPU since the last snapshot.
		grep -qE 'no event since the last snapshot|no lane holds an event' err || break
	fi
	# The program dies before the next snapshot or during it.
	if [ "$nr" -ge 5 ] && [ "$events" -gt 1000 ]; then
		kill -KILL "$pid" &
	fi
done
end "$pid"
like "snapshots until the end" "$(cat err)" "no running program"
for some in some.*.dat; do
	"$RECORDER" report "$some" | sed -n 's/.*count: *\(thread=.*\)/\1/p'
done | sort >all
is "no event is in two of them" "$(uniq -d all | wc -l)" 0
ok "and they have many" test "$(wc -l <all)" -gt 1000

# SIGINT and similar signals during a snapshot.
begin_to count3 3000
for signal in INT TERM HUP; do
	run strace -qq -o trace -e trace=pwritev -e inject=pwritev:signal=$signal:when=3 \
		env --default-signal "$RECORDER" snapshot -P "$pid" -o none.dat
	is "SIG$signal ends it" "$status" $((128 + $(kill -l $signal)))
	ok "and nothing is left" test ! -e none.dat -a ! -e none.dat.spool
done
mkdir streams
# shellcheck disable=SC2016
run env TMPDIR="$TMP/streams" strace -qq -o trace -P "$TMP/stream.dat" -e trace=write -e inject=write:signal=TERM:when=1 \
	env --default-signal sh -c 'exec "$@" >stream.dat' sh "$RECORDER" snapshot -P "$pid" -o -
is "SIGTERM ends one to standard output" "$status" $((128 + $(kill -l TERM)))
is "and nothing is left" "$(ls -A streams)" ""
run strace -qq -o trace -e trace=pwritev -e inject=pwritev:signal=HUP:when=3 \
	env --ignore-signal=HUP "$RECORDER" snapshot -P "$pid" -o all.dat
like "if it was ignored at the start, it still is" "$status $err" "^0 copied 3000 events from 1 process, 1 thread; 0 lost"
end "$pid"

fails "no program of this name" "$RECORDER" snapshot -P nobody-has-this-name -o none.dat
like "is reported" "$err" "no running program 'nobody-has-this-name'"
ok "and nothing is left" test ! -e none.dat -a ! -e none.dat.spool
fails "no program" "$RECORDER" snapshot -o none.dat
like "is reported, too" "$err" "missing -P"

# ---- the example of a program that saves its own events: while it is recorded, the recorder has them

ok "a flight recorder that is recorded" "$RECORDER" record -q -o flight.dat "$top_builddir/examples/02_flight_recorder" none.dat
like "says where its events are" "$out" '^request [0-9]+ took [0-9]+ steps: the recorder has its events$'
ok "and saves none" test ! -e none.dat

done_testing

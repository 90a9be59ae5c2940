#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The kernel's clock and that of programs: `recorder clock` finds that they agree on each CPU where they should, and that they
# differ where they should.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"

# The instances for measuring clocks, without those of other tests.
left()
{
	find $tracing/instances -maxdepth 1 -name "recorder-$1-*-clock" 2>/dev/null
}

numbers()
{
	grep -oE "\"$1\":-?[0-9]+" <<<"$out" | cut -d: -f2
}

for clock in '' '-C mono'; do
	# shellcheck disable=SC2086
	ok "clock $clock" "$RECORDER" clock $clock
	diag "$out"
	is "clock $clock: each CPU, and 0 is in it" "$(grep -cE '^CPU [0-9]+: .* 0 included: the clocks differ by at most [0-9]+ ns; 1000 rounds$' <<<"$out")" "$(nproc)"
	# shellcheck disable=SC2086
	ok "clock $clock --json" "$RECORDER" clock $clock --json -n 200
	is "clock $clock --json: each CPU" "$(grep -o '"holds_zero":true' <<<"$out" | wc -l)" "$(nproc)"
	is "clock $clock --json: all rounds" "$(numbers rounds | sort -u)" 200
	paste <(numbers low_ns) <(numbers high_ns) <(numbers bound_ns) >intervals
	is "clock $clock --json: intervals and their bounds" \
		"$(awk '$1 <= 0 && $2 >= 0 && $3 == (-$1 > $2 ? -$1 : $2)' intervals | wc -l)" "$(nproc)"
done

# CLOCK_TAI is some ten seconds ahead of CLOCK_REALTIME, so years from CLOCK_MONOTONIC.
run "$RECORDER" clock -C tai
is "a wrong clock: status" "$status" 1
is "a wrong clock: on each CPU" "$(grep -c '0 excluded: the clocks differ' <<<"$out")" "$(nproc)"
# The clock "counter" counts its own readings, so no offset fits all rounds.
run "$RECORDER" clock -C counter
is "an unusable clock: status" "$status" 1
is "an unusable clock: on each CPU" "$(grep -c 'no offset fits all\|0 excluded' <<<"$out")" "$(nproc)"

cpu=$(taskset -cp $$ | sed 's/.*[:,-] *//')
ok "one CPU" "$RECORDER" clock --cpu "$cpu" -n 10
is "only that one" "$(grep -c '^CPU ' <<<"$out")" 1
like "it" "$out" "CPU $cpu: .*; 10 rounds"
run "$RECORDER" clock --cpu 100000
is "a CPU that is not there: status" "$status" 1
is "a CPU that is not there" "$err" "recorder clock: CPU 100000 does not exist, or this process may not use it"
run "$RECORDER" clock -C sundial
is "no such clock: status" "$status" 1
like "no such clock, with a list of those that exist" "$err" "^recorder clock: this kernel has no clock 'sundial' for an instance; it has: local global .* mono "
if grep -qw x86-tsc $tracing/trace_clock; then
	like "tsc is x86-tsc" "$("$RECORDER" clock -C tsc)" "^the kernel's x86-tsc minus the programs' tsc:"
else
	fails "there is no tsc" "$RECORDER" clock -C tsc
fi
"$RECORDER" clock --json >/dev/null &
pid=$!
wait $pid
is "no instance is left" "$(left $pid)" ""

# A new instance has the options of the top level, which another user may have set.
if strace -o calls true 2>log; then
	inject mkdir signal=STOP:when=1 -clock clock -n 100
	wait_until is_stopped
	for option in nomarkers stacktrace; do
		echo $option >"$(echo $tracing/instances/recorder-$recorder-*-clock)/trace_options"
	done
	kill -CONT $recorder
	wait $recorder
	is "options of others: status" $? 0
	is "options of others: each CPU" "$(grep -cE '^CPU [0-9]+: .*; 100 rounds$' said)" "$(nproc)"
	inject write error=EINVAL:when=1 -clock/trace_marker clock
	wait $recorder
	is "a marker that cannot be written: status" $? 1
	forget_others log
	is "a marker that cannot be written" "$(<log)" "recorder clock: cannot measure: Invalid argument"
else
	skip "options of others" "strace cannot trace here"
fi

# ---- what a recording stores

ok "a recording" "$RECORDER" record -o both.dat -e sched_switch -u '*' "$top_builddir/tests/programs/pinned" 20 20
bound=$(sed -n 's/.*times within \([0-9]*\) ns of CLOCK_MONOTONIC$/\1/p' <<<"$err")
"$RECORDER" report --clock both.dat >said
diag "$(cat said)"
is "its clock" "$(head -1 said)" "clock: mono"
is "its error is what record printed" "$(sed -n 's/^time error: at most \([0-9]*\) ns.*/\1/p' said)" "$bound"
is "each CPU" "$(grep -cE '^CPU [0-9]+: kernel - programs between -?[0-9]+ and -?[0-9]+ ns, 0 included; [0-9]+ rounds$' said)" \
	"$(nproc)"
# 200 at the start and as many at the end.
is "measured twice" "$(grep -oE '[0-9]+ rounds' said | sort -u)" "400 rounds"
ok "trace-cmd still reads the file" trace-cmd report both.dat

ok "a recording of programs alone" "$RECORDER" record -o alone.dat "$top_builddir/tests/programs/pinned" 2 20
"$RECORDER" report --clock alone.dat >said
like "its error" "$(sed -n 2p said)" '^time error: at most [0-9]+ ns from CLOCK_MONOTONIC$'
like "nothing of the kernel's clock" "$(sed -n 3p said)" '^kernel - programs: not measured '

ok "a recording with another clock" "$RECORDER" record -C boot -o boot.dat -e sched_switch -u none true
unlike "nothing is claimed of its error" "$err" 'ns of CLOCK_MONOTONIC'
"$RECORDER" report --clock boot.dat >said
is "its clock" "$(sed -n 1p said)" "clock: boot"
is "no error is known" "$(sed -n 2p said)" "time error: not stated in the file"
like "nor an offset" "$(sed -n 3p said)" '^kernel - programs: not measured '

done_testing

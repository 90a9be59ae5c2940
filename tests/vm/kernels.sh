#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Where kernels differ: mapped rings, sizes of sub-buffers, the clock that programs and kernel have in common. Run in a machine
# of its own (vm.sh), whose clocksource we may choose.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"
. "$top_srcdir/tests/calls.sh"

version=$(uname -r | cut -d . -f 1,2)
source=/sys/devices/system/clocksource/clocksource0

# ---- rings

seq 0 2999 | awk '{ printf "%x\n", $1 }' >expected
if [ "$version" = 6.1 ]; then
	refused "no mapped rings" "this kernel cannot map its rings \\(--drain mmap\\): Linux can since 6\\.10" --drain mmap -e sched touch started
	refused "no sizes of sub-buffers" "this kernel cannot set the size of sub-buffers \\(--subbuf-size\\)" --subbuf-size 16 -e sched touch started
	ways="splice read"
else
	ways="splice mmap"
fi
for way in $ways; do
	for size in '' --subbuf-size=16; do
		[ "$version $size" = "6.1 --subbuf-size=16" ] && continue
		# shellcheck disable=SC2086
		record --drain "$way" $size -b 4096 -e raw_syscalls:sys_enter -f "$mine" "./$calls" 3000
		like "$way $size: each event" "$err" "^recorded 3000 kernel events from 4 CPUs; 0 lost"
		ok "$way $size: these, in order" cmp <(numbers out.dat) expected
		ok "$way $size: nothing is wrong" "$RECORDER" verify out.dat
	done
done

# ---- clocks

cat >look <<'END'
cat /sys/kernel/tracing/instances/recorder-$PPID-*[0-9]/trace_clock
exec "$@"
END
for clock in tsc:x86-tsc hpet:mono; do
	echo "${clock%:*}" >$source/current_clocksource
	is "${clock%:*} is the clock in use" "$(<$source/current_clocksource)" "${clock%:*}"
	record -e sched -u '*' bash look "$top_builddir/tests/programs/pinned" 20 20
	like "${clock%:*}: the kernel uses the same" "$out" "\\[${clock#*:}\\]"
	like "${clock%:*}: the program's events" "$err" 'recorded 800 events from 1 process, 2 threads; 0 lost'
	ok "${clock%:*}: nothing is wrong" "$RECORDER" verify out.dat
	like "${clock%:*}: something was checked" "$out" '"user_events":800,"checked":[1-9]'
	diag "$(tail -n 1 <<<"$out")"
	ok "${clock%:*}: report --clock" "$RECORDER" report --clock out.dat
	is "${clock%:*}: the clocks agree on each CPU" "$(grep -c '^CPU [0-2]: kernel - programs between .* 0 included;' <<<"$out")" 3
	diag "$out"
	ok "${clock%:*}: recorder clock" "$RECORDER" clock -n 100
	is "${clock%:*}: recorder clock, each CPU" "$(grep -c '^CPU [0-2]: .* 0 included:' <<<"$out")" 3
	diag "$out"
done

done_testing

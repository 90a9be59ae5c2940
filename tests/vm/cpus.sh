#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# CPUs that are offline when a recording starts, or go online or offline meanwhile: nothing is lost, and no needless
# message is printed. A CPU that a real-time thread occupies is drained, too. Run in a machine of its own (vm.sh): the last of its four CPUs has not been online yet.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"
. "$top_srcdir/tests/calls.sh"

cpus=/sys/devices/system/cpu
ways="splice read"
[ "$(uname -r | cut -d . -f 1,2)" = 6.1 ] || ways="$ways mmap"

# all NAME EVENTS: each event is recorded, in a file in which nothing is wrong, and only the summary is printed
all()
{
	is "$1: it is recorded" "$status" 0 || diag "$err"
	like "$1: each event" "$err" "^recorded $2 kernel events from [0-9] CPUs; 0 lost"
	is "$1: in three lines" "$(wc -l <<<"$err")" 3
	ok "$1: nothing is wrong" "$RECORDER" verify out.dat
	rm -f out.dat*
}

cat >on <<'EOF'
echo 1 >/sys/devices/system/cpu/cpu3/online
taskset -c 3 "$1" 2000
EOF
cat >off <<'EOF'
taskset -c 2 "$1" 500
echo 0 >/sys/devices/system/cpu/cpu2/online
taskset -c 1 "$1" 500
echo 1 >/sys/devices/system/cpu/cpu2/online
taskset -c 2 "$1" 2000
echo 0 >/sys/devices/system/cpu/cpu2/online
EOF

is "a CPU has not been online yet" "$(<$cpus/online)" 0-2
for way in $ways; do
	record --drain "$way" -b 1000 -e raw_syscalls:sys_enter -f "$mine" bash off "./$calls"
	all "$way, one goes off, comes on and goes off again, another has not been on" 3000
	echo 1 >$cpus/cpu2/online
	record --drain "$way" -b 1000 -e raw_syscalls:sys_enter -f "$mine" bash on "./$calls"
	all "$way, one comes on that was off" 2000
	echo 0 >$cpus/cpu3/online
done

# ---- a real-time thread that never sleeps has a CPU for itself: a ring of 1 MB holds about 15,000 of its calls

taskset -c 1 "./$calls" 0 >made &
busy=$!
chrt -f -p 50 $busy
"$RECORDER" record -q -u none -b 1024 -o out.dat -e raw_syscalls:sys_enter -f "$mine" 2>log &
recorder=$!
ok "beside a real-time thread: its CPU is drained" wait_until has_size out.dat.spool.cpu1 $((50000 * 68))
kill -INT $recorder
wait $recorder
is "beside a real-time thread: the recording ends" $? 0 || diag "$(<log)"
ok "beside a real-time thread: it goes on" kill $busy

# ---- programs as well, whose threads are moved away from a CPU that goes offline

cat >busy <<'EOF'
"$1" 4 20000 &
for i in 1 2 3; do
	echo 0 >/sys/devices/system/cpu/cpu2/online
	echo 1 >/sys/devices/system/cpu/cpu3/online
	echo 1 >/sys/devices/system/cpu/cpu2/online
	echo 0 >/sys/devices/system/cpu/cpu3/online
done
wait
EOF
record -b 4000 -e sched -u '*' env RECORDER_BUFFER_KB=8192 RECORDER_MAX_KB=131072 bash busy "$top_builddir/tests/programs/producer"
is "CPUs come and go under a program: it is recorded" "$status" 0 || diag "$err"
like "CPUs come and go under a program: its events" "$err" "recorded 80000 events from 1 process, [0-9]+ threads; 0 lost"
like "CPUs come and go under a program: the kernel's" "$err" "recorded [0-9]+ kernel events from 4 CPUs; 0 lost"
ok "CPUs come and go under a program: nothing is wrong" "$RECORDER" verify out.dat
diag "$(tail -n 1 <<<"$out")"

# ---- named CPUs

refused "-M, and the CPU is off" "CPU 3 of the mask 'c' \\(-M\\) is offline or does not exist; online are 0-2" -M c -e sched touch started
record -M 6 -e sched_switch true
like "-M, and another is off" "$err" '^recorded [0-9]+ kernel events from 2 CPUs; 0 lost'
run "$RECORDER" clock -n 20
is "recorder clock measures those that are online" "$status $(grep -c '^CPU ' <<<"$out")" "0 3"
run "$RECORDER" clock --cpu 3
is "recorder clock, of one that is offline" "$status $err" "1 recorder clock: CPU 3 does not exist, or this process may not use it"

done_testing

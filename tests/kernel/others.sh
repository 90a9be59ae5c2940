#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Our recordings change nothing for other users of tracing: no control file, no ring that another process has mapped, no
# running session of trace-cmd. This holds during and after a recording, and after the recorder is killed.

. "$top_srcdir/tests/namespaces.sh"
. "$top_srcdir/tests/peer.sh"
[ "$as_root" = yes ] || skip_all "only root may trace the kernel"
. "$top_srcdir/tests/tracefs.sh"

# The number of recorders that are killed, and the seed of the random times.
kills=${RECORDER_KILLS:-20}
RANDOM=${RECORDER_SEED:-1}
diag "RECORDER_SEED=${RECORDER_SEED:-1} RECORDER_KILLS=$kills"
repeat_by "RECORDER_SEED=${RECORDER_SEED:-1} RECORDER_KILLS=$kills"

# ---- the others: an instance with its own settings, and a ring that is mapped

foreign=$tracing/instances/foreign-$$
mkdir "$foreign"
remove_foreign()
{
	# shellcheck disable=SC2046
	kill $(jobs -p) 2>/dev/null
	wait
	rmdir "$foreign"
	leave_mounts
}
trap remove_foreign EXIT

echo 77 >"$foreign/buffer_size_kb"
echo boot >"$foreign/trace_clock"
echo 1 >"$foreign/tracing_cpumask"
echo 'prev_pid > 5' >"$foreign/events/sched/sched_switch/filter"
echo 'stacktrace if prio == 999' >"$foreign/events/sched/sched_wakeup/trigger"
echo 1 >"$foreign/events/sched/sched_process_exec/enable"
echo $$ >"$foreign/set_event_pid"
taskset -c 0 bash -c "echo what is in the ring >'$foreign/trace_marker'"
echo nomarkers >"$foreign/trace_options"
echo 0 >"$foreign/tracing_on"

# Maps the ring of a CPU, and for each line of its input prints a sum of all that is in it. Python's own mmap asks for the
# file's size, which is 0.
cat >mapper.py <<'END'
import ctypes, mmap, os, struct, sys, zlib
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
fd = os.open(sys.argv[1], os.O_RDONLY | os.O_NONBLOCK)
def map_ring(size):
    at = libc.mmap(None, size, mmap.PROT_READ, mmap.MAP_SHARED, fd, 0)
    if at == ctypes.c_void_p(-1).value:
        sys.exit(os.strerror(ctypes.get_errno()))
    return at
meta_size, _, subbuf_size, subbufs = struct.unpack("IIII", ctypes.string_at(map_ring(mmap.PAGESIZE), 16))
size = meta_size + subbuf_size * subbufs
ring = map_ring(size)
for line in sys.stdin:
    bytes = ctypes.string_at(ring, size)
    print(zlib.crc32(bytes), bytes.count(b"what is in the ring"), flush=True)
END
mkfifo to_mapper from_mapper
python3 mapper.py "$foreign/per_cpu/cpu0/trace_pipe_raw" <to_mapper >from_mapper 2>mapper.log &
mapper=$!
exec 7<>to_mapper 8<>from_mapper

# All settings of the top level and of the foreign instance, and the mapped ring. Files that only show activity are left
# out.
state()
{
	(
		cd $tracing && grep -r -s --binary-files=text '' --exclude-dir=instances --exclude-dir=ftrace \
			--exclude={trace,trace_pipe,trace_pipe_raw,snapshot,snapshot_raw,stats,saved_cmdlines,saved_tgids} \
			--exclude={free_buffer,trace_marker,trace_marker_raw,format,id,hist,hist_debug,inject,uprobe_profile} \
			--exclude={enabled_functions,touched_functions,dyn_ftrace_total_info} . \
			"instances/foreign-$$"
	) | sort
	# shellcheck disable=SC2012
	ls -l $tracing "$foreign" $tracing/per_cpu "$foreign/per_cpu" | sed 's/^\([^ ]*\) *[0-9]* \(.*\) [A-Z][a-z][a-z] .*:[0-9][0-9] / \1 \2 /'
	echo >&7
	read -r -t 60 sum <&8
	echo "mapped: $sum"
}

unchanged()
{
	state >after
	ok "$1" diff before after
}

# Tests that change the top level do it one at a time.
exec 9<$tracing
flock 9

state >before
ok "there is something to compare" test "$(wc -l <before)" -gt 1000
like "a mapped ring, too" "$(tail -n 1 before)" '^mapped: [0-9]+ 1$'

# ---- recordings of all kinds

cat >look <<'END'
echo >going; read -r <go
END
mkfifo going go from_nobody
"$RECORDER" record -q -o all.dat -e sched -f 'prev_pid > 0' -e syscalls -e irq -R stacktrace -v -e 'irq:irq*' -F -c -M 1 -b 300 \
	--subbuf-size 8 -C mono -O stacktrace -u '*' taskset -c 0 bash look 2>log &
recorder=$!
read -r -t 60 <>going
unchanged "while we record"
echo 1<>go
wait $recorder
is "which succeeds" "$?" 0 || diag "$(<log)"
record -q -e all true
fails "a wrong filter" "$RECORDER" record -q -o out.dat -e sched_switch -f 'foo == 1' true
fails "a tracer that cannot be had" "$RECORDER" record -q -o out.dat -p frob true
unchanged "after recordings of all kinds"

# ---- killed at any time

# The recorded command is killed when its recorder ends.
bound=(setpriv --pdeathsig KILL)
cat >busy <<'END'
for i in {1..200}; do /bin/true; done
END
# is_swept PID [COMMAND...]: a later recorder, which COMMAND starts, removes the instance of recorder PID. That may take
# several attempts: the process that was about to execute the recorder's command may still exist, with the recorder's
# descriptors, or the sweep of another test may hold the lock.
is_swept()
{
	local recorder=$1

	shift
	"$@" "$RECORDER" record -q -o next.dat true
	! is_left "$recorder"
}
gone=0
for ((i = 0; i < kills; i++)); do
	# The last recorder has an instance when it is killed. Others may have been killed before they made it or after
	# they removed it.
	load=(bash busy)
	[ $i -lt $((kills - 1)) ] || load=(sleep 1000)
	"$RECORDER" record -q -o killed.dat -e sched -e raw_syscalls -u '*' "${bound[@]}" "${load[@]}" 2>/dev/null &
	recorder=$!
	if [ $i -lt $((kills - 1)) ]; then
		# The duration of the sleep does not affect the verdict.
		read -r -t "$(printf '0.%03d' $((RANDOM % 400)))" <>from_nobody
	else
		wait_until is_left $recorder
	fi
	kill -KILL $recorder 2>/dev/null
	wait $recorder 2>/dev/null
	is_left $recorder && gone=$((gone + 1))
	wait_until is_swept $recorder || { fail "killed $i: the next recorders leave its instance"; break; }
	rm -f killed.dat*
done
pass "$kills recorders were killed, $gone of them had an instance then"
ok "some had" test $gone -gt 0
unchanged "after recorders were killed"

"$RECORDER" record -o killed.dat -e sched "${bound[@]}" sleep 1000 2>/dev/null &
recorder=$!
wait_until is_left $recorder
mkdir "$tracing/instances/recorder-$recorder" "$tracing/instances/recorder-$recorder-1-CLOCK" "$tracing/instances/recorder-x-1"
run "$RECORDER" record -q -o next.dat true
ok "a living recorder keeps its instance" is_left $recorder
run in_pids "$RECORDER" record -q -o next.dat true
ok "also when seen from another pid namespace" is_left $recorder
kill -KILL $recorder
wait $recorder 2>/dev/null
ok "a dead recorder's instance is removed from one, too" wait_until is_swept $recorder in_pids
is "what only looks like ours stays" "$(cd $tracing/instances && rmdir -v "recorder-$recorder" "recorder-$recorder-1-CLOCK" \
	recorder-x-1 | wc -l)" 3
rm -f killed.dat*

"$RECORDER" record -q -o killed.dat -e sched "${bound[@]}" sleep 1000 2>/dev/null &
recorder=$!
wait_until is_left $recorder
kill -TERM $recorder
wait $recorder
is "SIGTERM at the beginning leaves nothing" "$(left $recorder)" ""

# ---- processes whose ids differ in the kernel's pid namespace

run unshare --pid --fork --mount-proc "$RECORDER" record -q -o inside.dat -e sched:sched_process_exec true
is "in a pid namespace it is recorded" "$status $err" "0 "
ok "and no process is hidden because of an id that is another's outside" bash -c '! grep -aq "hidden threads:" inside.dat'
run "$RECORDER" record -q -o outside.dat -e sched:sched_process_exec true
ok "outside, the recorder's threads are" grep -aq "hidden threads: [0-9]* [0-9]" outside.dat

# ---- a session of trace-cmd, at the top level

# trace-cmd needs this file, which some machines make read-only.
for file in /proc/sys/kernel/ftrace_enabled $tracing/set_ftrace_{filter,notrace,pid}; do
	[ -e $file ] || continue
	cat $file >"$(basename $file)" 2>log
	mount --bind "$(basename $file)" $file
done
session()
{
	local session status=0

	rm -f session.dat*
	setsid trace-cmd record -q -o session.dat -e sched:sched_process_exec bash look 2>session.log &
	session=$!
	if read -r -t "$peer_seconds" <>going; then
		state >before
		is "a session of trace-cmd continues" "$(cat $tracing/tracing_on)" 1
		record -q -e sched -e irq -u '*' sh -c '/bin/true'
		# If trace-cmd has ended, trace-cmd itself has changed settings.
		unchanged "beside a session of trace-cmd" || is_gone $session || peer_excuses=no
		cp /bin/true seen-by-the-session
		./seen-by-the-session
		echo 1<>go
		wait_until is_gone $session || peer_fault="a session of trace-cmd did not end"
	else
		peer_fault="a session of trace-cmd did not begin"
	fi
	kill -KILL -- -$session 2>/dev/null
	wait $session || status=$?
	[ $status = 0 ] || peer_fault="${peer_fault:-a session of trace-cmd ended} (status $status): $(tail -n 1 session.log)"
	peer_files+=(session.dat)
	like "which has what happened since" "$(trace-cmd report session.dat 2>/dev/null)" "sched_process_exec: .*seen-by-the-session"
}
beside_peer "a session of trace-cmd" session

done_testing

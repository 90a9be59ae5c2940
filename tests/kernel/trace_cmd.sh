#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# With the same options, recorder and trace-cmd record the same events of commands that do the same each time. recorder
# verify finds nothing wrong with recordings by trace-cmd.

. "$top_srcdir/tests/namespaces.sh"
. "$top_srcdir/tests/peer.sh"
[ "$as_root" = yes ] || skip_all "only root may trace the kernel"
. "$top_srcdir/tests/tracefs.sh"

# trace-cmd uses the top level, which only one test may use at a time. Control files that some machines make read-only
# must not affect the result.
exec 9<$tracing
flock 9
for file in /proc/sys/kernel/ftrace_enabled $tracing/set_ftrace_{filter,notrace,pid}; do
	[ -e $file ] || continue
	cat $file >"$(basename $file)" 2>log
	mount --bind "$(basename $file)" $file
done

# The events of a file in order, from the exec of the command on, with the number of a system call (59 is execve on
# x86-64). Stacks are left out, because triggers of other users at the top level may write them.
events()
{
	trace-cmd report "$1" 2>/dev/null | grep -v ': kernel_stack: ' | sed -nE 's/^.*\] +[0-9.]+: ([a-z0-9_]+): *(NR [0-9]+)?.*/\1 \2/p' |
		awk 'begun { print } /execve|NR 59|process_exec/ { begun = 1 }'
}

# same NAME ARGUMENT...
same()
{
	local name=$1

	shift
	same_events "$name" 4 events "$@"
}

calls=$top_builddir/tests/programs/calls

# --proc-map: the text of the option without its first line, which has the pid. Addresses are the same each time, except
# that of the stack, which depends on the length of the environment.
maps()
{
	"$RECORDER" dump --options "$1" | sed -nE 's/^ *procmaps +id 10 +([0-9]+) bytes at ([0-9]+) .*/\1 \2/p' |
		while read -r size at; do
			tail -c +$((at + 1)) "$1" | head -c "$size" | tr -d '\0' | tail -n +2 | sed 's/^[0-9a-f]* \(.*\[stack\]\)$/\1/'
		done
}
under="setarch -R"
same_events "--proc-map" 4 maps --proc-map -F -e sched:sched_process_exec cat /dev/null
under=

# This happens now and then: trace-cmd stops the processes that read its rings before they have begun, so they read
# nothing; and trace-cmd exits with success.
all_lost()
{
	local cpu losses

	under="strace -f -o log -e trace=openat -e inject=openat:signal=USR1"
	for ((cpu = 0; cpu < $(nproc --all); cpu++)); do
		under="$under -P $tracing/per_cpu/cpu$cpu/trace_pipe_raw"
	done
	peer_record theirs.dat -e syscalls -F "$calls" 200 || return
	if [ -n "$(events theirs.dat)" ]; then
		skip "trace-cmd loses all events" "this one does not"
		return
	fi
	losses=$(peer_losses theirs.dat)
	# On a busy machine the signal may also end trace-cmd before it has written its counts.
	if [[ $losses = *" has no statistics: "* ]]; then
		peer_fault=$losses
		return
	fi
	at_once like "trace-cmd loses all events: its own count shows it" "$losses" \
		'^trace-cmd counted [0-9]+ events and recorded 0$'
}
if strace -o log true 2>log; then
	beside_peer "trace-cmd loses all events" all_lost
else
	skip "trace-cmd loses all events" "strace cannot trace here"
fi
under=
same "a system" -e syscalls -F "$calls" 200
same "except some of it" -e syscalls -v -e '*mmap*' -e sys_exit_getppid -F "$calls" 200
same "an event by its name" -e sys_enter -F "$calls" 200
same "with a filter" -e raw_syscalls -f "id == $("$calls" 1) || id == 59" -F "$calls" 200
same "with two" -e raw_syscalls -f "id != $("$calls" 1)" -f 'id != 9' -F "$calls" 200
same "with children" -e sched_process_fork -e sched_process_exec -e sched_process_exit -F -c sh -c '/bin/true; /bin/true; :'
# Only events of one CPU are compared: if the command moves, its beginning is on another CPU.
under='taskset 1'
same "of one CPU" -e raw_syscalls -M 1 -F "$calls" 200
under=

# ---- its own recordings

figure()
{
	grep -oE "\"$1\":[0-9]+" summary | cut -d: -f2
}

# verified NAME CONDITIONS ARGUMENT...: verifies a recording by trace-cmd. CONDITIONS, one on each line, are about the
# figures: "losses -gt 0". The instances in $instances are made for it.
instances=
verified()
{
	beside_peer "verify, $1" verify_attempt "$@"
}

verify_attempt()
{
	local name=$1 conditions=$2 each figure relation number

	shift 2
	for each in $instances; do
		make_instance "$each"
	done
	rm -f summary
	peer_record theirs.dat "$@" || return
	run "$RECORDER" verify --json summary theirs.dat
	at_once is "verify, $name" "$status" 0
	diag "$(cat peer.log) $err $out $(cat summary)"
	ok "verify, $name: there are events" test "$(figure events)" -gt 0
	at_once is "verify, $name: all of them" "$(figure events)" \
		"$(trace-cmd report theirs.dat 2>/dev/null | grep -cE '\] *[0-9.]+: ')"
	while read -r figure relation number; do
		[ -z "$figure" ] || ok "verify, $name: $figure $relation $number" test "$(figure "$figure")" "$relation" "$number"
	done <<<"$conditions"
}

# An instance in which trace-cmd may write all files that it needs. trace-cmd removes it at the end, although it existed
# before.
make_instance()
{
	local file

	mkdir -p $tracing/instances/$1
	for file in $tracing/instances/$1/set_ftrace_{filter,notrace,pid}; do
		[ ! -e $file ] || mountpoint -q $file || mount --bind "$(basename $file)" $file
	done
}

remove_instances()
{
	local name

	for name in $one $two; do
		[ -d $tracing/instances/$name ] || continue
		umount $tracing/instances/$name/set_ftrace_{filter,notrace,pid} 2>log
		rmdir $tracing/instances/$name
	done
	leave_mounts
}

one=recorder-test-one-$$
two=recorder-test-two-$$
trap remove_instances EXIT

cpus=$(nproc)
moves="$top_builddir/tests/programs/pinned 50 20"
# shellcheck disable=SC2086
{
	verified "version 7" "counts -eq $cpus
		switches -ge 100" -e sched -e raw_syscalls $moves
	verified "version 6" "counts -eq $cpus" --file-version 6 -e sched -e raw_syscalls $moves
	for clock in mono x86-tsc counter; do
		grep -qw -e $clock $tracing/trace_clock || continue
		verified "the clock $clock" "" -C $clock -e sched $moves
	done
	instances="$one $two"
	verified "buffers" "counts -eq $((3 * cpus))" -e raw_syscalls -B $one -e sched -B $two -e sched_switch $moves
	instances=$one
	verified "buffers of version 6" "counts -eq $((2 * cpus))" --file-version 6 -e raw_syscalls -B $one -e sched $moves
	instances=
	verified "one CPU" "" -M 1 -e sched $moves
	verified "the date" "" --date -e sched $moves
}
# trace-cmd does not restore the size of a ring, so the top level is not used here.
instances=$one peer_overwrites=yes
verified "losses" "losses -gt 0" -B $one -b 8 -e sched -e raw_syscalls "$calls" 100000
instances= peer_overwrites=
# shellcheck disable=SC2016
mark='for i in 1 2 3 4 5 6 7 8 9; do echo $i >$0/trace_marker; /bin/true; done'
# The markers are programs' events.
verified "markers" "user_events -eq 9" -e sched sh -c "$mark" $tracing
verified "some threads" "user_events -eq 9" -e sched -F -c sh -c "$mark" $tracing

done_testing

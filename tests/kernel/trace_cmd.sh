#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The same options record the same events as trace-cmd's: of commands that do the same each time. And recorder verify finds
# nothing wrong with what trace-cmd has recorded.

. "$top_srcdir/tests/namespaces.sh"
[ "$as_root" = yes ] || skip_all "only root may trace the kernel"
. "$top_srcdir/tests/tracefs.sh"

# trace-cmd has the top level, which tests use one at a time; and what some machines do not let be written is not to matter.
exec 9<$tracing
flock 9
for file in /proc/sys/kernel/ftrace_enabled $tracing/set_ftrace_{filter,notrace,pid}; do
	[ -e $file ] || continue
	cat $file >"$(basename $file)" 2>log
	mount --bind "$(basename $file)" $file
done

# The events of a file in their order, with the number of a system call (59 is execve on x86-64); from where the command
# became itself.
events()
{
	trace-cmd report "$1" 2>/dev/null | sed -nE 's/^.*\] +[0-9.]+: ([a-z0-9_]+): *(NR [0-9]+)?.*/\1 \2/p' |
		awk 'begun { print } /execve|NR 59|process_exec/ { begun = 1 }'
}

# same NAME ARGUMENT...
same()
{
	local name=$1

	shift
	rm -f theirs.dat out.dat
	$under trace-cmd record -q -o theirs.dat "$@" >log 2>&1
	$under "$RECORDER" record -q -o out.dat "$@" >log 2>&1
	events theirs.dat >theirs
	events out.dat >ours
	ok "$name: there are some" test "$(wc -l <ours)" -ge 4
	ok "$name" diff theirs ours
}

calls=$top_builddir/tests/programs/calls
under=
same "a system" -e syscalls -F "$calls" 200
same "but for some of it" -e syscalls -v -e '*mmap*' -e sys_exit_getppid -F "$calls" 200
same "an event by its name" -e sys_enter -F "$calls" 200
same "with a filter" -e raw_syscalls -f "id == $("$calls" 1) || id == 59" -F "$calls" 200
same "with two" -e raw_syscalls -f "id != $("$calls" 1)" -f 'id != 9' -F "$calls" 200
same "with children" -e sched_process_fork -e sched_process_exec -e sched_process_exit -F -c sh -c '/bin/true; /bin/true; :'
# All of it there: a command that moves has a beginning elsewhere.
under='taskset 1'
same "of one CPU" -e raw_syscalls -M 1 -F "$calls" 200

# ---- its own recordings

figure()
{
	grep -oE "\"$1\":[0-9]+" summary | cut -d: -f2
}

# verified NAME ARGUMENT...: recorded by trace-cmd
verified()
{
	local name=$1

	shift
	rm -f theirs.dat summary
	trace-cmd record -q -o theirs.dat "$@" >log 2>&1
	run "$RECORDER" verify --json summary theirs.dat
	is "verify, $name" "$status" 0
	diag "$(cat log) $err $out $(cat summary)"
	ok "verify, $name: there are events" test "$(figure events)" -gt 0
	is "verify, $name: all of them" "$(figure events)" "$(trace-cmd report theirs.dat 2>/dev/null | grep -cE '\] *[0-9.]+: ')"
}

# An instance in which trace-cmd may write what it must. At its end it removes it, though it was there before.
make_instance()
{
	local file

	mkdir -p $tracing/instances/$1
	for file in $tracing/instances/$1/set_ftrace_{filter,notrace,pid}; do
		[ ! -e $file ] || mount --bind "$(basename $file)" $file
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

moves="$top_builddir/tests/programs/pinned 50 20"
# shellcheck disable=SC2086
{
	verified "version 7" -e sched -e raw_syscalls $moves
	is "its statistics were compared" "$(figure counts)" "$(nproc)"
	ok "its switches were looked at" test "$(figure switches)" -ge 100
	verified "version 6" --file-version 6 -e sched -e raw_syscalls $moves
	is "its statistics were compared" "$(figure counts)" "$(nproc)"
	for clock in mono x86-tsc counter; do
		grep -qw -e $clock $tracing/trace_clock || continue
		verified "the clock $clock" -C $clock -e sched $moves
	done
	make_instance $one
	make_instance $two
	verified "buffers" -e raw_syscalls -B $one -e sched -B $two -e sched_switch $moves
	is "the statistics of all were compared" "$(figure counts)" $((3 * $(nproc)))
	make_instance $one
	verified "buffers of version 6" --file-version 6 -e raw_syscalls -B $one -e sched $moves
	is "the statistics of both were compared" "$(figure counts)" $((2 * $(nproc)))
	verified "one CPU" -M 1 -e sched $moves
	verified "the date" --date -e sched $moves
}
# trace-cmd leaves the size of a ring as it has set it: so not that of the top level.
make_instance $one
verified "losses" -B $one -b 8 -e sched -e raw_syscalls "$calls" 100000
ok "there were some" test "$(figure losses)" -gt 0
# shellcheck disable=SC2016
mark='for i in 1 2 3 4 5 6 7 8 9; do echo $i >$0/trace_marker; /bin/true; done'
verified "markers" -e sched sh -c "$mark" $tracing
is "they are programs' events" "$(figure user_events)" 9
verified "some threads" -e sched -F -c sh -c "$mark" $tracing
is "their markers" "$(figure user_events)" 9

done_testing

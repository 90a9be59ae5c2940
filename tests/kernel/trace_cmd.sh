#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The same options record the same events as trace-cmd's: of commands that do the same each time.

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

done_testing

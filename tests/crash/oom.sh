#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A program that the kernel kills because a memory control group is full: its events are recovered, recorded or not.

. "$top_srcdir/tests/tap.sh"

mortal=$top_builddir/tests/programs/mortal
cd "$TMP" || exit 1

# Makes a control group of version 2 or 1 with a limit of 32 MiB, $group; or fails.
make_group()
{
	local v2=/sys/fs/cgroup v1=/sys/fs/cgroup/memory

	if grep -qw memory $v2/cgroup.subtree_control 2>/dev/null; then
		group=$(mktemp -d $v2/recorder-test.XXXXXX) || return
		echo 32M >"$group/memory.max" &&
			{ [ ! -e "$group/memory.swap.max" ] || echo 0 >"$group/memory.swap.max"; } && return
	elif [ -e $v1/memory.limit_in_bytes ]; then
		group=$(mktemp -d $v1/recorder-test.XXXXXX) || return
		echo 32M >"$group/memory.limit_in_bytes" &&
			{ [ ! -e "$group/memory.memsw.limit_in_bytes" ] || echo 32M >"$group/memory.memsw.limit_in_bytes"; } && return
	else
		return 1
	fi
	rmdir "$group"
	return 1
}
make_group 2>/dev/null || skip_all "no memory control group can be made here"
tap_group()
{
	# A group whose last process has just died may be busy for a moment.
	wait_until rmdir "$group"
	tap_exit
}
trap tap_group EXIT

# inside COMMAND...: runs it in the group.
inside()
{
	bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$@"
}

export RECORDER_ENABLE='*'
run inside "$mortal" 5000 1 eat
unset RECORDER_ENABLE
is "the kernel kills a program that takes too much" "$status" 137
ok "what it wrote is recovered" "$RECORDER" recover -o trace.dat --all
like "all of it" "$err" "recovered 5000 events from 1 process, 1 thread; 0 lost"
is "the file has it" "$("$RECORDER" report trace.dat | grep -c ' seq: ')" 5000

# The recorder is outside, its program inside.
run "$RECORDER" record -o trace.dat bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$mortal" 5000 1 eat
is "and one that is recorded" "$status" 137
like "loses nothing, either" "$err" "recorded 5000 events from 1 process, 1 thread; 0 lost"

is_over()
{
	[ -z "$(cat "$group/cgroup.procs")" ]
}

# Both are inside: the kernel decides which one it kills first, and the other may end at any time after that.
inside "$RECORDER" record -q -o both.dat "$mortal" 5000 1 eat >/dev/null 2>&1
wait_until is_over
# If the recorder was killed, the recording is in its spool; otherwise in the program's buffer.
if [ -e both.dat.spool ]; then
	run "$RECORDER" recover both.dat.spool
elif [ ! -e both.dat ]; then
	run "$RECORDER" recover -o both.dat --all
fi
is "nor one whose recorder is in the same group" "$("$RECORDER" report both.dat | grep -c ' seq: ')" 5000

done_testing

#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# tracefs mounted in several places, or not at all, in a mount namespace of our own.

. "$top_srcdir/tests/namespaces.sh"
[ "$as_root" = yes ] || skip_all "only root may trace the kernel"
. "$top_srcdir/tests/tracefs.sh"

unmount()
{
	local each

	for each in $(sed -n 's/^[^ ]* \([^ ]*\) tracefs .*/\1/p' /proc/self/mounts | tac); do
		umount "$each"
	done
}

# records NAME: sched_switch is recorded, after the message
records()
{
	record -e sched_switch true
	is "$1" "$status" 0
	like "$1: events" "$err" 'recorded [1-9][0-9]* kernel events'
	mountpoint -q $tracing || mount -t tracefs nodev $tracing
	is "$1: nothing is left" "$(left "$pid")" ""
}

unmount
records "tracefs is not mounted"
like "it is mounted, and that is reported" "$(head -n 1 <<<"$err")" "^recorder record: tracefs was not mounted; mounted it at $tracing$"
ok "it stays mounted" mountpoint -q $tracing
records "tracefs is mounted"
unlike "then there is no message" "$err" "mounted"

unmount
run "$RECORDER" record -q -o out.dat -u 'a:b' true
fails "if it is not needed it is not mounted" mountpoint -q $tracing
run setpriv --reuid 65534 --regid 65534 --clear-groups "$RECORDER" record -o /dev/shm/out.dat -e sched true
is "a user who may not mount it" "$status" 1
is "the message has the remedy" "$err" "recorder record: no rights to trace the kernel: tracefs is not mounted; mount it: 'sudo mount -t tracefs nodev $tracing'"
run strace -o strace.log -e trace=mount -e inject=mount:error=ENODEV "$RECORDER" record -o out.dat -e sched true
is "a kernel without tracefs" "$status $err" "1 recorder record: this kernel has no tracefs: it was built without tracing (CONFIG_FTRACE)"
run strace -o strace.log -e trace=mount -e inject=mount:error=ENOENT "$RECORDER" record -o out.dat -e sched true
is "a container without /sys" "$status $err" "1 recorder record: tracefs cannot be mounted: there is no '$tracing'; mount sysfs: 'mount -t sysfs nodev /sys'"

mkdir "$TMP/elsewhere"
mount -t tracefs nodev "$TMP/elsewhere"
record -e sched_switch ls $tracing
is "tracefs elsewhere" "$status" 0
is "is used there" "$out" ""
is "and nothing is left there" "$(ls "$TMP/elsewhere/instances" | grep "^recorder-$pid-")" ""
mount -t tmpfs none $tracing
record -e sched_switch ls $tracing
is "something else in its place" "$status $out" "0 "
umount $tracing
umount "$TMP/elsewhere"

done_testing

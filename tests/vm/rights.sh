#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The recorder prints commands that give users access to tracefs. These commands are run, in a machine of our own
# (vm.sh), because tracefs is the same for the whole machine.

. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/tracefs.sh"

chmod 755 "$TMP"
mkdir -m 777 users
cp "$RECORDER" "$top_builddir/tests/programs/producer" users
cd users || exit 1

# as_user COMMAND...: runs the command as user 1000, with the groups 1000 and 77
as_user()
{
	setpriv --reuid 1000 --regid 1000 --groups 1000,77 env RECORDER_DIR= XDG_RUNTIME_DIR= "$@"
}

# both NAME: the kernel's events and a program's are recorded by the user, and nothing is left
both()
{
	run as_user ./recorder record -o both.dat -e sched -u '*' ./producer 2 100
	is "$1: it is recorded" "$status" 0 || diag "$err"
	like "$1: the kernel's events" "$err" 'recorded [1-9][0-9]* kernel events from 4 CPUs; 0 lost'
	like "$1: the program's" "$err" 'recorded 200 events from 1 process, 2 threads; 0 lost'
	ok "$1: nothing is wrong" ./recorder verify both.dat
	is "$1: nothing is left" "$(ls $tracing/instances)" ""
	rm -f both.dat
}

# refused_with NAME: only the program's events are recorded, after a message whose advice is in $hint
refused_with()
{
	run as_user ./recorder record -o user.dat -e sched -u '*' ./producer 2 100
	is "$1: the program is recorded" "$status $(sed -n 's/^\(recorded [0-9]* events\) .*/\1/p' <<<"$err")" "0 recorded 200 events"
	hint=$(sed -n "s/^recorder record: no rights to trace the kernel; .*: '\(.*\)'\$/\1/p" <<<"$err")
	like "$1: the message shows what to do" "$hint" '^sudo sh -c "mount .* && chown .*"$'
	is "$1: nothing is left" "$(ls $tracing/instances)" ""
	rm -f user.dat
}

refused_with "no rights"
given=$hint

# The group may read, and make instances, but what is in them is root's.
mount -o remount,gid=77,mode=750 $tracing
refused_with "tracefs is the group's"
chmod g+w $tracing/instances
refused_with "the group may make instances"
is "the same advice is given" "$hint" "$given"
chmod g-w $tracing/instances

# The commands as printed, except that there is no sudo here.
ok "the advice can be followed" eval "${given#sudo }"
both "given by that"
for way in read mmap; do
	[ "$way $(uname -r | cut -d . -f 1,2)" = 'mmap 6.1' ] && continue
	run as_user ./recorder record --drain $way -o way.dat -p function -l '__x64_sys_get*' -F ./producer 1 10
	like "given by that: functions, by $way" "$err" 'recorded [1-9][0-9]* kernel events? from 4 CPUs; 0 lost'
done
run as_user ./recorder clock -n 20
is "given by that: recorder clock" "$status" 0
run as_user sh -c "echo 1 >$tracing/tracing_on"
ok "the top level is not the user's" test "$status" -ne 0
as_user ./recorder record -q -o killed.dat -e sched setpriv --pdeathsig KILL sleep 1000 2>/dev/null &
wait_until eval "ls $tracing/instances | grep -q '^recorder-'"
recorder=$(ls $tracing/instances | sed -n 's/^recorder-\([0-9]*\)-[0-9]*$/\1/p')
kill -KILL "$recorder"
wait_until is_gone "$recorder"
# The killed one's child has its files open until it is killed, too.
are_swept()
{
	as_user ./recorder record -q -o swept.dat -e sched true 2>/dev/null
	[ -z "$(ls $tracing/instances)" ]
}
wait_until are_swept
both "after one was killed"

# Since Linux 6.10, or in an older kernel with that change, a remount gives the whole of tracefs to the user.
chown 0 $tracing/instances
mount -o remount,uid=1000,gid=0,mode=700 $tracing
if [ "$(uname -r | cut -d . -f 1,2)" != 6.1 ]; then
	both "the user's as a whole"
fi

done_testing

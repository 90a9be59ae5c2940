#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# recorder record --user: the recorder is root, the program is not; its events and the kernel's are in one file.

. "$top_srcdir/tests/namespaces.sh"
[ "$as_root" = yes ] || skip_all "only root has other users"
. "$top_srcdir/tests/told.sh"

name=nobody
uid=$(id -u $name) gid=$(id -g $name)
mkdir -m 755 /run/bin
cp "$told" "$RECORDER" /run/bin
mkdir -m 700 private
cd private || exit 1

ok "a program of another user is recorded" "$RECORDER" record --user $name sh -c \
	'echo "$(id -u) $(id -g) $HOME $USER $LOGNAME" >&2; id -G >&2; stat -c "%u %a" "$RECORDER_DIR" >&2; echo go | /run/bin/told'
is "it has the user's ids and environment" "$(sed -n 1p <<<"$err")" "$uid $gid $(getent passwd $name | cut -d : -f 6) $name $name"
is "their groups" "$(sed -n 2p <<<"$err")" "$(id -G $name)"
is "and a private directory for its buffer" "$(sed -n 3p <<<"$err")" "$uid 700"
is "its events" "$(counts trace.dat)" "get 10 idle 10 put 10"
is "the file is root's" "$(stat -c %u trace.dat)" 0
is "nothing is left" "$(find /dev/shm -name 'session-*' -o -name '*.rec'; ls)" trace.dat
ok "with events that are selected" "$RECORDER" record --user $name -o other.dat -u net sh -c 'echo go | /run/bin/told; exit 0'
is "these alone" "$(counts other.dat)" "idle 10"
run "$RECORDER" record --user $name cat "$TMP/private/trace.dat"
is "it cannot read what is root's" "$status" 1
like "nor is anything recorded" "$err" "Permission denied"

if can_trace; then
	ok "the kernel's events as well" "$RECORDER" record --user $name -o kernel.dat -e sched_process_exec sh -c \
		'echo go | /run/bin/told'
	is "the program's" "$(counts kernel.dat)" "get 10 idle 10 put 10"
	ok "and the kernel's" test "$("$RECORDER" report kernel.dat | grep -c 'sched_process_exec: .*told')" -gt 0
else
	skip "the kernel's events as well" "this kernel has no tracefs"
fi

# A recorder that was killed.
mkfifo in
record_killed()
{
	"$RECORDER" record --user $name -o killed.dat /run/bin/told <in 2>err &
	recorder=$!
	exec {input}>in
	echo go >&"$input"
	# The spool begins with the command's name; the program's own follows when it is attached.
	wait_until is_attached killed.dat.spool /run/bin/told 2
	program=$(pgrep -P $recorder -x told)
	# The program carries out its orders before it ends.
	kill -KILL $recorder
	wait $recorder 2>/dev/null
	exec {input}>&-
	wait_until is_gone "$program"
}
record_killed
ok "recover after a kill" "$RECORDER" recover killed.dat.spool
is "all is there" "$(counts killed.dat)" "get 10 idle 10 put 10"

# The session and the link in it are the user's, who could let it lead anywhere; the spool is root's. So the spool is named.
rm killed.dat
mkdir elsewhere
record_killed
session=$(find /dev/shm -name 'session-*')
told="^recorder recover: '$session' belongs to another user, and its spool is '.*/killed.dat.spool': 'recorder recover .*/killed.dat.spool' makes a file of both"
fails "recover of all, in another directory" env -C elsewhere "$RECORDER" recover --all -o all.dat
like "names the spool" "$err" "$told"$'\nrecorder recover: nothing else to recover$'
fails "and of the program" env -C elsewhere "$RECORDER" recover "$program"
like "as well" "$err" "$told\$"
run "$RECORDER" clean -n
like "clean -n names it" "$err" "^recorder clean: 'recorder recover $TMP/private/killed.dat.spool' still makes a trace.dat of that recording"
ok "spool and session are left" test -s killed.dat.spool -a -d "$session"
ok "recover of the spool" "$RECORDER" recover killed.dat.spool
is "has all" "$(counts killed.dat)" "get 10 idle 10 put 10"
is "neither the spool nor the session is left" "$(ls ./*.spool 2>/dev/null; find /dev/shm -name 'session-*')" ""
rm killed.dat
record_killed
ok "clean" "$RECORDER" clean
like "reports the spool" "$err" "'$TMP/private/killed.dat.spool' is kept: make a trace.dat of it with 'recorder recover', or remove it"
rm killed.dat.spool

run "$RECORDER" record --user 'no such' touch started
is "no such user" "$status $err" "1 recorder record: there is no user 'no such' (--user)"
run setpriv --reuid $uid --regid $gid --clear-groups env HOME=/ /run/bin/recorder record -o /dev/shm/x.dat --user root touch /run/bin/started
is "no other user may" "$status $err" "1 recorder record: only root may run a command as another user (--user)"
run env RECORDER_DIR=/run/bin "$RECORDER" record --user $name touch started
is "a directory of root's is refused" "$status $err" \
	"1 recorder record: cannot use the buffer directory '/run/bin': it belongs to another user, or others may write to it; set RECORDER_DIR to a directory of your own"
ok "nothing was started" test ! -e started -a ! -e /run/bin/started

done_testing

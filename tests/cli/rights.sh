#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Users see and change only their own programs, root those of all; files that others put into a directory mislead
# neither.

. "$top_srcdir/tests/namespaces.sh"
[ "$as_root" = yes ] || skip_all "only root has other users"

# Two users, and copies of the programs where these can read them.
one=40001 two=40002
mkdir -m 755 /run/bin
cp "$victim" "$RECORDER" "$top_builddir/tests/programs/dropper" /run/bin
victim=/run/bin/victim
RECORDER=/run/bin/recorder
mkdir -m 700 /run/user/$two
chown $two:$two /run/user/$two
as()
{
	setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}
# The same for a program that is to be killed: it replaces the shell, so $! is its own pid.
exec_as()
{
	exec setpriv --reuid "$1" --regid "$1" --clear-groups "${@:2}"
}
shm()
{
	echo "/dev/shm/librecorder-$1"
}

large_lanes
begin /dev/shm/zero
zero_pid=$pid
begin /dev/shm/one as $one
one_pid=$pid
begin /dev/shm/two as $two env XDG_RUNTIME_DIR=/run/user/$two
two_pid=$pid

# ---- which programs each user sees

# pids COMMAND...: those that ps shows, in order of their age.
pids()
{
	"$@" 2>&1 | sed -nE 's/^ *([0-9]+) +(started|stopped) .*/\1/p' | sort -n | tr '\n' ' '
}

is "root sees all programs" "$(pids "$RECORDER" ps)" "$(printf '%s\n' "$zero_pid" "$one_pid" "$two_pid" | sort -n | tr '\n' ' ')"
is "a user sees their own" "$(pids as $one "$RECORDER" ps)" "$one_pid "
is "so does another one, in whichever directory" "$(pids as $two "$RECORDER" ps)" "$two_pid "
is "also if it is named" "$(pids as $two env XDG_RUNTIME_DIR=/run/user/$two "$RECORDER" ps)" "$two_pid "
is "and root with a directory of its own" "$(pids env XDG_RUNTIME_DIR=/run/user/$two "$RECORDER" ps | wc -w)" 3
is "root sees only the directory of RECORDER_DIR" "$(pids env RECORDER_DIR="$(shm $one)" "$RECORDER" ps)" ""
is "or the directory of --dir" "$(pids "$RECORDER" ps --dir "$(shm $one)")" "$one_pid "
fails "another user's directory" as $two "$RECORDER" ps --dir "$(shm $one)"
is "is refused with one line" "$err" "recorder ps: cannot use the directory '$(shm $one)': it belongs to another user, or others may write to it"
chmod 755 "$(shm $one)"
fails "also if it can be read" as $two "$RECORDER" ps --dir "$(shm $one)"
is "with one line, too" "$err" "recorder ps: cannot use the directory '$(shm $one)': it belongs to another user, or others may write to it"
for command in "enable -P $one_pid *" "stop -P $one_pid" "record -P $one_pid -o /dev/shm/x.dat" "stat -P $one_pid"; do
	fails "another user's program: $command" eval "as $two $RECORDER $command"
	like "is not found" "$err" "^recorder [a-z]*: no running program '$one_pid' uses librecorder"
	fails "the same by its directory" eval "as $two $RECORDER ${command/ / --dir $(shm $one) }"
	like "is refused" "$err" "it belongs to another user"
done
chmod 700 "$(shm $one)"

ok "root switches a user's program" "$RECORDER" enable -P "$two_pid" '*'
is "that one" "$(head -n 1 <<<"$out")" "$two_pid victim (/run/bin/victim)"
"$RECORDER" record -P victim -o all.dat 2>err &
recorder=$!
wait_until is_attached all.dat.spool "$victim" 3
for each in zero one two; do
	go_on /dev/shm/$each 1000
done
kill -INT $recorder
wait $recorder
is "root records programs of all users by name" $? 0
like "all of them" "$(<err)" "from 3 processes, 3 threads; 0 lost"
ok "root leaves nothing in a user's directory" test -z "$(find "$(shm $one)" /run/user/$two -user 0)"
fails "root records a command into a user's directory" env RECORDER_DIR="$(shm $one)" "$RECORDER" record -o x.dat true
is "which is refused" "$err" "recorder record: cannot use the buffer directory '$(shm $one)': it belongs to another user, or others may write to it; set RECORDER_DIR to a directory of your own"
ok "nothing was made there" test -z "$(find "$(shm $one)" -user 0)"

# ---- directory entries that are not a program's

buffer=$(echo "$(shm $one)"/*.rec)
dir=$(shm $one)
zero_buffer=$(echo "$(shm 0)"/*.rec)
as $one mkfifo "$dir/1-1.rec"
as $one mkdir "$dir/2-2.rec"
as $one ln -s "$zero_buffer" "$dir/3-3.rec"
ln "$zero_buffer" "$dir/4-4.rec"
mknod "$dir/5-5.rec" c 1 3
as $one dd if=/dev/urandom of="$dir/6-6.rec" bs=4096 count=2 2>/dev/null
as $one ln -s "$(shm 0)" "$dir/session-abcdef"
as $one truncate -s 0 "$dir/7-7.rec"
is "root looks into that directory" "$(pids "$RECORDER" ps --dir "$dir")" "$one_pid "
is "its owner does" "$(pids as $one "$RECORDER" ps)" "$one_pid "
is "and all that root sees are three" "$(pids "$RECORDER" ps | wc -w)" 3
ok "root stops all programs there" "$RECORDER" stop --dir "$dir" -P victim
is "which is one" "$(grep -c '  stopped' <<<"$out")" 1
is "root's own is not stopped" "$("$RECORDER" ps -P "$zero_pid" | tail -n 1 | awk '{ print $2 }')" started
fails "root's program by the user's directory" "$RECORDER" stop --dir "$dir" -P "$zero_pid"
like "is not found" "$err" "no running program '$zero_pid' uses librecorder"
as $one mv "$dir" "$dir-away"
as $one mkdir -m 700 "$dir"
ln "$zero_buffer" "$dir/4-4.rec"
fails "a foreign buffer alone" as $one "$RECORDER" ps
like "is reported as one" "$err" \
	"no running program uses librecorder \\(buffers are in '$dir'\\); '4-4.rec' was skipped: (it belongs to another user|Permission denied)"
fails "for root, too" "$RECORDER" ps --dir "$dir"
like "with its owner" "$err" "'4-4.rec' was skipped: it belongs to another user"
rm -r "$dir"
as $one ln -s "$(shm 0)" "$dir"
is "a link in a directory's place is not followed" "$(pids "$RECORDER" ps | wc -w)" 2
fails "also if it is asked for" "$RECORDER" ps --dir "$dir"
is "with one line" "$err" "recorder ps: cannot use the directory '$dir': it is a symbolic link"
rm "$dir"
mkdir -m 700 "$dir"
fails "a name that another user took" as $one "$RECORDER" ps
is "is reported as taken" "$err" "recorder ps: cannot use the directory '$dir': it belongs to another user, or others may write to it"
run as $one env REC_DEBUG=1 /run/bin/dropper 1
like "by the program, too" "$err" "^librecorder: process [0-9]+ records nothing, no buffer in '$dir': the directory belongs to another user, or others may write to it$"
rmdir "$dir"
as $one mv "$dir-away" "$dir"
as $one chmod 770 "$dir"
is "one that others may write to is skipped" "$(pids "$RECORDER" ps | wc -w)" 2
as $one chmod 700 "$dir"
is "until its mode is right again" "$(pids "$RECORDER" ps | wc -w)" 3

# ---- a buffer's file is replaced, and removed, while it is read

ok "start" "$RECORDER" start -P "$one_pid"
"$RECORDER" record -P "$one_pid" -o moved.dat 2>err &
recorder=$!
wait_until has_size moved.dat.spool 100000
as $one mv "$buffer" "$dir/away"
as $one cp "$zero_buffer" "$buffer" 2>/dev/null || as $one dd if=/dev/urandom of="$buffer" bs=4096 count=4 2>/dev/null
wait_until has_size moved.dat.spool 400000
rm "$dir/away"
wait_until has_size moved.dat.spool 700000
end "$one_pid"
wait $recorder
is "the recording continues to the program's end" $? 0
like "without a loss" "$(cat err)" "from 1 process, 1 thread; 0 lost"
is_last "to the last event" /dev/shm/one <("$RECORDER" report moved.dat)

# ---- what a user's killed recorder left, and where its links lead

mkdir -m 700 /run/work /run/theirs
chown $one /run/work
rm -r "$dir"/[1-7]-[1-7].rec "$dir/session-abcdef"
begin_recording()
{
	rm -f /dev/shm/one
	exec_as $one "$RECORDER" record -b 65536 -o /run/work/x.dat "$victim" /dev/shm/one 1000000000000 2>/dev/null &
	recorder=$!
	wait_until has_size /run/work/x.dat.spool 100000
	pid=$(find_pid $recorder "$victim")
	end $recorder "$pid"
	session=$(echo "$dir"/session-*)
}
begin_recording
# A file of a third user: if it were that user's or root's, root would name it, and leave the session (user.sh).
cp /run/work/x.dat.spool /run/theirs/y.spool
chown $two /run/theirs/y.spool
as $one ln -sfn /run/theirs/y.spool "$session/spool"
ok "root recovers all" "$RECORDER" recover --all -q -o all.dat
ok "of that session, too" test ! -e "$session"
like "its events" "$("$RECORDER" report all.dat | tail -n 1)" "seq: +number="
ok "but follows no link in it" test -s /run/theirs/y.spool
rm -f /run/work/x.dat.spool
begin_recording
as $one ln -sfn /run/theirs/y.spool "$session/spool"
ok "root recovers it alone" "$RECORDER" recover -q -o alone.dat "$session"
ok "and follows no link" test -s /run/theirs/y.spool
rm -f /run/work/x.dat.spool
begin_recording
run "$RECORDER" recover --all -q -o all.dat
like "a session with a spool of the same user is taken with that spool alone, which is named" "$err" \
	"'$session' belongs to another user, and its spool is '/run/work/x.dat.spool': 'recorder recover /run/work/x.dat.spool' makes a file of both"
fails "also if it is named" "$RECORDER" recover -q -o all.dat "$session"
like "with the same line" "$err" "'$session' belongs to another user, and its spool is '/run/work/x.dat.spool'"
ok "nothing was taken from it" test -s /run/work/x.dat.spool -a -e "$(echo "$session"/*.rec)"
chown $two /run/work/x.dat.spool
fails "a spool names another user's session" "$RECORDER" recover -o x.dat /run/work/x.dat.spool
is "that is refused" "$err" "recorder recover: '/run/work/x.dat.spool' names the directory '$session', which belongs to another user"
ok "nothing was taken from it" test -e "$session"
chown $one /run/work/x.dat.spool
ok "its owner recovers it" as $one sh -c "cd /run/work && $RECORDER recover -q x.dat.spool"
is_last "all of it" /dev/shm/one <("$RECORDER" report /run/work/x.dat)

# ---- programs that run as another user than the one that started them

cp /run/bin/victim /run/bin/setuid
chown $two /run/bin/setuid
chmod 4755 /run/bin/setuid
mkdir -m 700 /run/mine
chown $one /run/mine
# The caller of such a program decides neither where it writes and what it records, nor what it prints.
(victim=/run/bin/setuid begin /dev/shm/suid as $one env RECORDER_DIR=/run/mine RECORDER_ENABLE='*' REC_DEBUG=1 2>err && echo "$pid" >suid)
suid_pid=$(cat suid)
is "a set-user-id program" "$(ls /run/mine)" ""
ok "has its buffer where its owner's are" test -e "$(echo "$(shm $two)/$suid_pid"-*.rec)"
is "and is its owner's" "$(pids as $two "$RECORDER" ps -P "$suid_pid")" "$suid_pid "
is "not its caller's" "$(pids as $one "$RECORDER" ps -P "$suid_pid")" ""
like "nothing is on" "$("$RECORDER" ps -P "$suid_pid")" " started +0/1 "
end "$suid_pid"

ok "a program that drops its rights" "$RECORDER" record -o drop.dat /run/bin/dropper $two
like "loses only the events of its child, which has no buffer" "$err" "recorded 30 events from 1 process, 2 threads; 0 lost"
is "which it is meant to" "$("$RECORDER" report drop.dat | sed -n 's/.*number=//p' | sort -n | tr '\n' ' ')" "$(seq -s ' ' 0 29) "
ok "and under REC_DEBUG" env REC_DEBUG=1 "$RECORDER" record -q -o drop.dat /run/bin/dropper $two
like "the child reports why, and the recorder that it is missing" "$err" "^librecorder: process [0-9]+ records nothing, no buffer in '$(
	shm 0)/session-[A-Za-z0-9]*': permission denied"$'\n'"recorder record: 1 process was not recorded: Permission denied$"
ok "without a recorder" env RECORDER_ENABLE='*' REC_DEBUG=1 /run/bin/dropper $two
is "the child has its own buffer" "$err" ""

end "$zero_pid" "$two_pid"
done_testing
